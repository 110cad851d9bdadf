/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each block of the multi-function module by itself: time, counts and what it hands on of a tile, and what it refuses.
 * Values are compared, and time with narrow buffers, for whole instructions (../multi_function).
 */
#include "block_rig.h"
#include "units.h"

#include <math.h>

#include "test.h"

enum { HEIGHT = 6, WIDTH = 5, CHANNELS = 2, IMAGE = CHANNELS * HEIGHT * WIDTH, SIZE = 65536 };
enum { FORWARD = CNNVP_TILE_FORWARD, BACKWARD = CNNVP_TILE_BACKWARD, STATISTICS = CNNVP_TILE_STATISTICS };

static struct cnnvp_tile tile_of(uint32_t kind, uint32_t flags, uint32_t images, uint32_t channels, uint32_t height,
                                 uint32_t width)
{
    struct cnnvp_tile tile = block_rig_tile((enum cnnvp_tile_kind)kind, images, channels, height, width);
    tile.flags = flags;
    if ((flags & CNNVP_TILE_POOL) != 0) {
        tile.kx = tile.ky = tile.sx = tile.sy = 2;
        tile.pooled_height = height / 2;
        tile.pooled_width = width / 2;
    }
    return tile;
}

/* Three images on two sets of three lanes; what belongs to no image is one. */
static const struct {
    const struct cnnvp_unit *unit;
    uint32_t kind, flags, images, height, width;
    uint64_t cycles;
    const char *counted;
    uint64_t count, next_words;
    uint32_t next_bytes, kinds; /* kinds: those that it takes */
} blocks[] = {
    {&cnnvp_unit_statistics, STATISTICS, 0, 3, HEIGHT, WIDTH, 40, "values", 6 * IMAGE, 3 * IMAGE, 4, UINT32_MAX},
    {&cnnvp_unit_sum, STATISTICS, 0, 3, HEIGHT, WIDTH, 40, "values", 3 * IMAGE, 0, 0,
     1u << STATISTICS | 1u << CNNVP_TILE_SQUARES},
    {&cnnvp_unit_sum, CNNVP_TILE_SQUARES, 0, 3, HEIGHT, WIDTH, 40, "square_values", 3 * IMAGE, 0, 0,
     1u << STATISTICS | 1u << CNNVP_TILE_SQUARES},
    {&cnnvp_unit_batch_norm, FORWARD, CNNVP_TILE_NORM, 3, HEIGHT, WIDTH, 40, "values", 3 * IMAGE, 3 * IMAGE, 4,
     1u << CNNVP_TILE_COEFFICIENTS | 1u << CNNVP_TILE_COEFFICIENTS_BACK | 1u << FORWARD | 1u << BACKWARD},
    {&cnnvp_unit_relu, FORWARD, CNNVP_TILE_RELU, 3, HEIGHT, WIDTH, 40, "values", 3 * IMAGE, 3 * IMAGE, 4,
     1u << FORWARD},
    {&cnnvp_unit_quantise, FORWARD, 0, 3, HEIGHT, WIDTH, 40, "values", 3 * IMAGE, 3 * IMAGE, 1,
     1u << CNNVP_TILE_EXPONENTS | 1u << FORWARD | 1u << BACKWARD},
    {&cnnvp_unit_max_pool, FORWARD, CNNVP_TILE_POOL, 3, HEIGHT, WIDTH, 40, "values", 3 * IMAGE, 3 * CHANNELS * 6, 1,
     1u << FORWARD | 1u << BACKWARD},
    {&cnnvp_unit_encode, BACKWARD, 0, 3, HEIGHT, WIDTH, 40, "values", 3 * IMAGE, 0, 0,
     1u << FORWARD | 1u << BACKWARD | 1u << CNNVP_TILE_UNPACK},
    {&cnnvp_unit_encode, CNNVP_TILE_UNPACK, CNNVP_TILE_RELU | CNNVP_TILE_REDUCE, 3, HEIGHT, WIDTH, 40, "matrix_bytes",
     3 * CHANNELS * 4, 0, 0, 1u << FORWARD | 1u << BACKWARD | 1u << CNNVP_TILE_UNPACK},
    {&cnnvp_unit_max_pool_back, BACKWARD, CNNVP_TILE_POOL, 3, HEIGHT, WIDTH, 40, "values", 3 * IMAGE, 3 * IMAGE, 4,
     1u << BACKWARD},
    {&cnnvp_unit_relu_back, BACKWARD, CNNVP_TILE_RELU, 3, HEIGHT, WIDTH, 40, "values", 3 * IMAGE, 3 * IMAGE, 4,
     1u << BACKWARD},
    {&cnnvp_unit_update, CNNVP_TILE_UPDATE, CNNVP_TILE_MOMENTUM, 1, HEIGHT, WIDTH, 20, "values", 2 * IMAGE, IMAGE, 4,
     1u << CNNVP_TILE_UPDATE},
    {&cnnvp_unit_bn_update, CNNVP_TILE_NORM_UPDATE, 0, 1, 1, 1, 2, "values", 2 * CHANNELS, 0, 0,
     1u << CNNVP_TILE_NORM_UPDATE},
    {&cnnvp_unit_bn_update, CNNVP_TILE_NORM_UPDATE, CNNVP_TILE_MOMENTUM, 1, 1, 1, 2, "values", 4 * CHANNELS, 0, 0,
     1u << CNNVP_TILE_NORM_UPDATE},
    {&cnnvp_unit_softmax, CNNVP_TILE_SOFTMAX, 0, 3, 1, 1, 34, "values", 3 * 3 * CHANNELS, 0, 0,
     1u << CNNVP_TILE_SOFTMAX},
};
enum { BLOCKS = sizeof blocks / sizeof blocks[0] };

static void test_tiles(void **state)
{
    (void)state;
    for (size_t i = 0; i < BLOCKS; ++i) {
        struct block_rig rig;
        struct cnnvp_tile tile =
            tile_of(blocks[i].kind, blocks[i].flags, blocks[i].images, CHANNELS, blocks[i].height, blocks[i].width);
        block_rig_begin(&rig, blocks[i].unit, 1);
        block_rig_start(&rig);
        block_rig_do(&rig, &tile, blocks[i].cycles);
        if (blocks[i].next_words != 0) {
            block_rig_expect_next(&rig, &tile, blocks[i].next_words, blocks[i].next_bytes);
            assert_int_equal(rig.next_kind, blocks[i].kind == CNNVP_TILE_UPDATE ? CNNVP_TILE_EXTREMES : blocks[i].kind);
        } else
            assert_int_equal(rig.handed_on, 0);
        assert_int_equal(fake_count(rig.block, blocks[i].counted), blocks[i].count);
        assert_int_equal(rig.block->counts[0],
                         blocks[i].unit == &cnnvp_unit_bn_update ? CHANNELS
                         : blocks[i].unit == &cnnvp_unit_softmax ? 3
                                                                 : 1); /* channels, images, tiles */
        block_rig_end(&rig);
    }
}

/* Tiles that only pass take no time; where extremes alone are wanted that is what the statistics module gets. */
static void test_passes(void **state)
{
    static const struct {
        const struct cnnvp_unit *unit;
        uint32_t kind, flags, next_kind;
    } passes[] = {
        {&cnnvp_unit_relu, FORWARD, CNNVP_TILE_KEEP, FORWARD},
        {&cnnvp_unit_max_pool, BACKWARD, CNNVP_TILE_POOL, BACKWARD},
        {&cnnvp_unit_statistics, CNNVP_TILE_SQUARES, 0, CNNVP_TILE_SQUARES},
        {&cnnvp_unit_quantise, BACKWARD, CNNVP_TILE_MEASURE, CNNVP_TILE_EXTREMES},
        {&cnnvp_unit_batch_norm, BACKWARD, CNNVP_TILE_REDUCE, CNNVP_TILE_EXTREMES},
    };
    (void)state;
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; ++i) {
        struct block_rig rig;
        struct cnnvp_tile tile = tile_of(passes[i].kind, passes[i].flags, 3, CHANNELS, HEIGHT, WIDTH);
        block_rig_begin(&rig, passes[i].unit, 1);
        block_rig_start(&rig);
        assert_int_equal(block_rig_try(&rig, &tile, 0), CNNVP_OK);
        block_rig_expect_next(&rig, &tile, 3 * IMAGE, passes[i].unit == &cnnvp_unit_max_pool ? 1 : 4);
        assert_int_equal(rig.next_kind, passes[i].next_kind);
        assert_int_equal(tile.kind, passes[i].kind);
        assert_int_equal(tile.waiting_cycles + tile.fill, 0);
        assert_int_equal(fake_count(rig.block, "busy_cycles"), 0);
        block_rig_end(&rig);
    }
}

static void test_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < BLOCKS; ++i)
        block_rig_check_refusals(blocks[i].unit, blocks[i].kinds);
}

/* Tiles whose entries, or packed matrices, reach beyond the block's buffer of 64 KiB. */
static void test_beyond(void **state)
{
    const struct {
        const struct cnnvp_unit *unit;
        struct cnnvp_tile tile;
        uint32_t entry, norm_entry, channel_stride;
    } beyond[] = {
        {&cnnvp_unit_relu, tile_of(FORWARD, CNNVP_TILE_RELU | CNNVP_TILE_KEEP, 1, 2, 1024, 257), 0, 0, 0},
        {&cnnvp_unit_relu_back, tile_of(BACKWARD, CNNVP_TILE_RELU, 1, 2, 1024, 257), 0, 0, 0},
        {&cnnvp_unit_encode, tile_of(CNNVP_TILE_UNPACK, CNNVP_TILE_RELU, 1, 2, 1024, 257), 0, 0, 0},
        {&cnnvp_unit_max_pool, tile_of(FORWARD, CNNVP_TILE_POOL | CNNVP_TILE_KEEP, 1, 1, 1024, 1026), 0, 0, 0},
        {&cnnvp_unit_max_pool_back, tile_of(BACKWARD, CNNVP_TILE_POOL, 1, 1, 1024, 1026), 0, 0, 0},
        {&cnnvp_unit_statistics, tile_of(STATISTICS, 0, 1, 3, 1, 1), SIZE / sizeof(struct cnnvp_extremes) - 2, 0, 1},
        {&cnnvp_unit_statistics, tile_of(STATISTICS, CNNVP_TILE_APART, 1, 3, 1, 1), 0,
         SIZE / sizeof(struct cnnvp_extremes) - 2, 1},
        {&cnnvp_unit_sum, tile_of(STATISTICS, 0, 1, 3, 1, 1), SIZE / sizeof(struct cnnvp_sums) - 2, 0, 1},
        {&cnnvp_unit_bn_update, tile_of(CNNVP_TILE_NORM_UPDATE, 0, 1, 3, 1, 1), 0, SIZE / sizeof(struct cnnvp_norm) - 2,
         0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; ++i) {
        const uint64_t none[FAKE_STATS] = {0};
        struct cnnvp_tile tile = beyond[i].tile;
        struct block_rig rig;
        tile.entry = beyond[i].entry;
        tile.norm_entry = beyond[i].norm_entry;
        tile.entry_channel_stride = beyond[i].channel_stride;
        block_rig_begin(&rig, beyond[i].unit, 0);
        block_rig_start(&rig);
        assert_int_equal(block_rig_try(&rig, &tile, CNNVP_DEBUG), CNNVP_E_ADDR);
        assert_int_equal(block_rig_try(&rig, &tile, 0), CNNVP_E_ADDR);
        assert_int_equal(rig.handed_on, 0);
        assert_memory_equal(rig.block->counts, none, sizeof none);
        block_rig_end(&rig);
    }
}

/* A window of three values has positions of two bits: 3 is none. The plane becomes 0, the others do not. */
static void test_stray(void **state)
{
    const float want[] = {0.0f, 5.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    float errors[] = {5.0f, 6.0f};
    float got[] = {9.0f, 9.0f, 9.0f, 9.0f, 9.0f, 9.0f};
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_BACKWARD, 2, 1, 1, 3);
    (void)state;
    tile.flags = CNNVP_TILE_POOL;
    tile.kx = 3;
    tile.ky = tile.sx = tile.sy = 1;
    tile.pooled_width = 1;
    tile.values = got;
    tile.errors = errors;
    block_rig_begin(&rig, &cnnvp_unit_max_pool_back, 0);
    block_rig_start(&rig);
    uint8_t *positions = block_rig_data(&rig, "buffer");
    positions[0] = 1;
    positions[2] = 3;
    block_rig_do(&rig, &tile, 1);
    assert_memory_equal(got, want, sizeof want);
    assert_int_equal(fake_count(rig.block, "stray_positions"), 1);
    assert_int_equal(rig.block->warnings, 1);
    block_rig_end(&rig);
}

/* Values that saturate or are none, and exponents that have more than 8 bits. */
static void test_events(void **state)
{
    float values[] = {0.5f, 100.0f, -100.0f, INFINITY, NAN};
    int8_t mantissas[5], exponent = 0, exponents[CHANNELS];
    struct block_rig rig;
    struct cnnvp_tile tile = tile_of(FORWARD, 0, 1, 1, 1, 5);
    struct cnnvp_tile made = tile_of(CNNVP_TILE_EXPONENTS, CNNVP_TILE_EACH, 1, CHANNELS, 1, 1);
    struct cnnvp_tile sums = tile_of(STATISTICS, 0, 1, 1, 1, 5);
    (void)state;
    tile.values = sums.values = values;
    tile.mantissas = mantissas;
    tile.exponents = &exponent;
    made.exponents_out = exponents;
    block_rig_begin(&rig, &cnnvp_unit_quantise, 0);
    block_rig_start(&rig);
    block_rig_do(&rig, &tile, 2);
    assert_int_equal(fake_count(rig.block, "saturations"), 2);
    assert_int_equal(fake_count(rig.block, "nonfinite"), 2);
    struct cnnvp_extremes *extremes = block_rig_data(&rig, "max_min");
    extremes[0] = (struct cnnvp_extremes){.min = -1.0f, .max = 4.0f};
    extremes[1] = (struct cnnvp_extremes){.max = 1e-40f};
    block_rig_do(&rig, &made, 1);
    assert_int_equal(exponents[0], 2);
    assert_int_equal(fake_count(rig.block, "exponents"), CHANNELS);
    assert_int_equal(fake_count(rig.block, "extremes"), 2 * CHANNELS);
    assert_int_equal(fake_count(rig.block, "exponents_clamped"), 1);
    block_rig_end(&rig);
    block_rig_begin(&rig, &cnnvp_unit_sum, 0);
    block_rig_start(&rig);
    block_rig_do(&rig, &sums, 2);
    assert_int_equal(fake_count(rig.block, "nonfinite"), 2);
    block_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles),  cmocka_unit_test(test_passes), cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_beyond), cmocka_unit_test(test_stray),  cmocka_unit_test(test_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
