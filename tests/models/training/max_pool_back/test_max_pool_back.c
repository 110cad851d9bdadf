/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max pool backward: errors go to where the maxima were, against plain loops over windows that overlap or leave gaps;
 * positions outside of their windows; time, counts and what is refused.
 */
#include "block_rig.h"
#include "cnnvp_tile.h"
#include "units.h"
#include "random.h"

#include "test.h"

enum { IMAGES = 3, CHANNELS = 2, PLANES = IMAGES * CHANNELS, SIDE = 9, MOST = PLANES * SIDE * SIDE, POSITIONS = 4096 };

struct data {
    float errors[MOST], got[MOST], want[MOST];
    uint8_t packed[POSITIONS]; /* planes of positions, filled to 16 bits */
};

static struct cnnvp_tile random_tile(uint64_t *random)
{
    const uint32_t height = SIDE - next_bits(random) % 4;
    const uint32_t width = SIDE - next_bits(random) % 4;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_BACKWARD, IMAGES, CHANNELS, height, width);
    tile.flags = CNNVP_TILE_POOL;
    tile.ky = 1 + next_bits(random) % 4;
    tile.kx = 1 + next_bits(random) % 4;
    tile.sy = 1 + next_bits(random) % 4;
    tile.sx = 1 + next_bits(random) % 4;
    tile.pooled_height = (height - tile.ky) / tile.sy + 1;
    tile.pooled_width = (width - tile.kx) / tile.sx + 1;
    return tile;
}

static uint32_t bits_of(const struct cnnvp_tile *tile)
{
    uint32_t bits = 1;
    while (1u << bits < tile->kx * tile->ky)
        ++bits;
    return bits;
}

static uint32_t packed_bytes(const struct cnnvp_tile *tile)
{
    return (tile->pooled_height * tile->pooled_width * bits_of(tile) + 15) / 16 * 2;
}

static void put_position(struct data *data, const struct cnnvp_tile *tile, uint32_t plane, uint32_t window, uint32_t id)
{
    for (uint32_t b = 0; b < bits_of(tile); ++b) {
        const uint32_t bit = plane * packed_bytes(tile) * 8 + window * bits_of(tile) + b;
        data->packed[bit / 8] = (uint8_t)(data->packed[bit / 8] | (id >> b & 1u) << bit % 8);
    }
}

/* Errors of a window are added up where its maximum was, windows in raster order. */
static void make(struct data *data, const struct cnnvp_tile *tile, uint64_t *random)
{
    const uint32_t pooled = tile->pooled_height * tile->pooled_width;
    memset(data, 0, sizeof *data);
    for (uint32_t plane = 0; plane < PLANES; ++plane)
        for (uint32_t window = 0; window < pooled; ++window) {
            const uint32_t ky = next_bits(random) % tile->ky;
            const uint32_t kx = next_bits(random) % tile->kx;
            const uint32_t y = window / tile->pooled_width * tile->sy + ky;
            const uint32_t x = window % tile->pooled_width * tile->sx + kx;
            const float error = data->errors[plane * pooled + window] = next_float(random);
            put_position(data, tile, plane, window, ky * tile->kx + kx);
            data->want[plane * tile->plane + y * tile->width + x] += error;
        }
}

static void check(int timing_only, uint64_t seed)
{
    static struct data data;
    struct block_rig rig;
    struct cnnvp_tile tile = random_tile(&seed);
    make(&data, &tile, &seed);
    block_rig_begin(&rig, &cnnvp_unit_max_pool_back, timing_only);
    block_rig_start(&rig);
    if (!timing_only) {
        tile.values = data.got;
        tile.errors = data.errors;
        memcpy(block_rig_data(&rig, "buffer"), data.packed, sizeof data.packed);
    }
    const uint64_t taken = (CHANNELS * tile.plane + 2) / 3; /* cycles of an image's values on 3 lanes */
    block_rig_do(&rig, &tile, (IMAGES + 1) / 2 * taken);
    block_rig_expect_next(&rig, &tile, PLANES * tile.plane, 4);
    if (!timing_only)
        assert_memory_equal(data.got, data.want, PLANES * tile.plane * sizeof data.got[0]);
    assert_int_equal(fake_count(rig.block, "tiles"), 1);
    assert_int_equal(fake_count(rig.block, "values"), PLANES * tile.plane);
    assert_int_equal(fake_count(rig.block, "stray_positions"), 0);
    assert_int_equal(fake_count(block_rig_buffer(&rig, "buffer"), "read_sequential_words"),
                     PLANES * packed_bytes(&tile) / 2);
    block_rig_end(&rig);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; ++seed)
        for (int timing_only = 0; timing_only < 2; ++timing_only)
            check(timing_only, seed);
}

/* A window of three values has positions of two bits: 3 is none. The plane becomes 0, the others do not. */
static void test_stray(void **state)
{
    const float want[] = {0.0f, 5.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    float errors[] = {5.0f, 6.0f};
    float got[] = {9.0f, 9.0f, 9.0f, 9.0f, 9.0f, 9.0f};
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_BACKWARD, 2, 1, 1, 3);
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
    (void)state;
}

static void test_refused(void **state)
{
    struct block_rig rig;
    struct cnnvp_tile large = block_rig_tile(CNNVP_TILE_BACKWARD, 1, 1, 1024, 1026);
    (void)state;
    block_rig_check_refusals(&cnnvp_unit_max_pool_back, 1u << CNNVP_TILE_BACKWARD);
    large.flags = CNNVP_TILE_POOL; /* positions of 64 KiB and 128 bytes more */
    large.kx = large.ky = large.sx = large.sy = 2;
    large.pooled_height = 512;
    large.pooled_width = 513;
    block_rig_begin(&rig, &cnnvp_unit_max_pool_back, 0);
    block_rig_start(&rig);
    assert_int_equal(block_rig_try(&rig, &large, CNNVP_DEBUG), CNNVP_E_ADDR);
    assert_int_equal(rig.handed_on, 0);
    block_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_stray), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
