/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encode: where mantissas and matrices go in the packed tile, and matrices back into their buffers; positions direct
 * and staged; time, counts and what is refused.
 */
#include "block_rig.h"
#include "cnnvp_tile.h"
#include "units.h"
#include "random.h"

#include <stdbool.h>

#include "test.h"

enum { IMAGES = 3, CHANNELS = 2, HEIGHT = 6, WIDTH = 5, PLANE = HEIGHT * WIDTH, POOLED = 6 };
enum { IMAGE = CHANNELS * PLANE, PACKED = CHANNELS * POOLED, STRIDE = IMAGE + 3 /* values to the next image */ };
/* of an image's 0/1 matrix and positions of two bits, planes filled to 16 bits; to the next image in memory */
enum { MASK = CHANNELS * 4, IDS = CHANNELS * 2, MEMORY_STRIDE = 20 };

static uint64_t cycles_of(uint64_t values)
{
    return (IMAGES + 1u) / 2u * ((values + 2u) / 3u);
}

static void begin(struct block_rig *rig, int timing_only, bool staged)
{
    block_rig_begin(rig, &cnnvp_unit_encode, timing_only);
    fake_set(rig->block, "positions", staged);
    block_rig_start(rig);
}

/* Values of `bytes`, of a tile forward with a pool or of errors: images STRIDE apart, nothing between. */
static void check_values(int timing_only, bool forward, uint32_t mantissa_bits, uint32_t bytes)
{
    uint32_t from[IMAGES * IMAGE], got[IMAGES * STRIDE], want[IMAGES * STRIDE];
    const uint32_t image = forward ? PACKED : IMAGE;
    uint64_t random = 5;
    struct block_rig rig;
    struct cnnvp_tile tile =
        block_rig_tile(forward ? CNNVP_TILE_FORWARD : CNNVP_TILE_BACKWARD, IMAGES, CHANNELS, HEIGHT, WIDTH);
    for (size_t i = 0; i < IMAGES * IMAGE; ++i)
        from[i] = next_bits(&random);
    memset(want, 0xa5, sizeof want);
    memcpy(got, want, sizeof got);
    for (uint32_t n = 0; n < IMAGES && !timing_only; ++n)
        memcpy((uint8_t *)want + n * STRIDE * bytes, (uint8_t *)from + n * image * bytes, image * bytes);
    if (forward) {
        tile.pooled_height = HEIGHT / 2;
        tile.pooled_width = WIDTH / 2;
    }
    tile.flags = mantissa_bits == 0 ? CNNVP_TILE_FLOAT : 0;
    tile.mantissa_bits = mantissa_bits;
    tile.results_image_stride = STRIDE;
    if (!timing_only) {
        tile.mantissas = from;
        tile.values = (float *)(void *)from;
        tile.results = got;
    }
    begin(&rig, timing_only, false);
    block_rig_do(&rig, &tile, cycles_of(image));
    assert_memory_equal(got, want, sizeof got);
    assert_int_equal(fake_count(rig.block, "tiles"), 1);
    assert_int_equal(fake_count(rig.block, "values"), IMAGES * image);
    assert_int_equal(fake_count(rig.block, "matrix_bytes"), 0);
    block_rig_end(&rig);
}

static void test_values(void **state)
{
    (void)state;
    for (int timing_only = 0; timing_only < 2; ++timing_only)
        for (int forward = 0; forward < 2; ++forward) {
            check_values(timing_only, forward != 0, 8, 1);
            check_values(timing_only, forward != 0, 24, 4);
            check_values(timing_only, forward != 0, 0, 4); /* not quantised */
        }
}

/* Packed planes of all images follow each other in the buffers, and MEMORY_STRIDE bytes from image to image in memory.
 * Forward they go there, before backward they come back. */
static void check_matrices(int timing_only, bool forward, bool staged, uint32_t flags)
{
    uint8_t results[IMAGES * PACKED], mask[IMAGES * MEMORY_STRIDE], ids[IMAGES * MEMORY_STRIDE];
    uint64_t random = 6;
    struct block_rig rig;
    struct cnnvp_tile tile =
        block_rig_tile(forward ? CNNVP_TILE_FORWARD : CNNVP_TILE_UNPACK, IMAGES, CHANNELS, HEIGHT, WIDTH);
    begin(&rig, timing_only, staged);
    uint8_t *relu = block_rig_data(&rig, "relu");
    uint8_t *id = block_rig_data(&rig, "id");
    tile.flags = flags | (forward ? CNNVP_TILE_KEEP : CNNVP_TILE_REDUCE); /* of errors nothing will be packed */
    tile.kx = tile.ky = tile.sx = tile.sy = 2;
    tile.pooled_height = HEIGHT / 2;
    tile.pooled_width = WIDTH / 2;
    tile.results_image_stride = PACKED;
    tile.mask_image_stride = tile.positions_image_stride = MEMORY_STRIDE;
    for (uint32_t i = 0; i < sizeof mask && !timing_only; ++i) {
        mask[i] = (uint8_t)next_bits(&random);
        ids[i] = (uint8_t)next_bits(&random);
        relu[i] = (uint8_t)next_bits(&random);
        id[i] = (uint8_t)next_bits(&random);
    }
    if (!timing_only) {
        tile.mantissas = tile.results = results;
        tile.mask = mask;
        tile.positions = ids;
    }
    block_rig_do(&rig, &tile, cycles_of(forward ? PACKED : IMAGE));
    const bool relus = (flags & CNNVP_TILE_RELU) != 0;
    const bool pools = (flags & CNNVP_TILE_POOL) != 0;
    for (uint32_t n = 0; n < IMAGES && !timing_only; ++n) {
        if (relus)
            assert_memory_equal(mask + n * MEMORY_STRIDE, relu + n * MASK, MASK);
        if (pools)
            assert_memory_equal(ids + n * MEMORY_STRIDE, id + n * IDS, IDS);
        if (pools && staged) /* on their way, after the 0/1 matrix */
            assert_memory_equal(ids + n * MEMORY_STRIDE, relu + (relus ? IMAGES * MASK : 0) + n * IDS, IDS);
    }
    assert_int_equal(fake_count(rig.block, "matrix_bytes"), IMAGES * ((relus ? MASK : 0) + (pools ? IDS : 0)));
    assert_int_equal(fake_count(rig.block, "values"), forward ? IMAGES * PACKED : 0);
    const uint64_t way = pools && staged ? IMAGES * IDS : 0; /* written to the ReLU buffer, and read again */
    const uint64_t own = relus ? IMAGES * MASK : 0;
    assert_int_equal(fake_count(block_rig_buffer(&rig, "relu"), "written_bytes"), way + (forward ? 0 : own));
    assert_int_equal(fake_count(block_rig_buffer(&rig, "relu"), "read_bytes"), way + (forward ? own : 0));
    block_rig_end(&rig);
}

static void test_matrices(void **state)
{
    static const uint32_t flags[] = {CNNVP_TILE_RELU, CNNVP_TILE_POOL, CNNVP_TILE_RELU | CNNVP_TILE_POOL};
    (void)state;
    for (int timing_only = 0; timing_only < 2; ++timing_only)
        for (unsigned i = 0; i < 12; ++i)
            check_matrices(timing_only, i % 2 != 0, i / 2 % 2 != 0, flags[i / 4]);
}

static void test_refused(void **state)
{
    struct block_rig rig;
    struct cnnvp_tile large = block_rig_tile(CNNVP_TILE_UNPACK, 1, 2, 1024, 257);
    (void)state;
    block_rig_check_refusals(
        &cnnvp_unit_encode, 1u << CNNVP_TILE_FORWARD | 1u << CNNVP_TILE_BACKWARD | 1u << CNNVP_TILE_UNPACK);
    large.flags = CNNVP_TILE_RELU; /* a matrix of 64 KiB and 256 bytes more */
    begin(&rig, 0, false);
    assert_int_equal(block_rig_try(&rig, &large, CNNVP_DEBUG), CNNVP_E_ADDR);
    assert_int_equal(fake_count(rig.block, "tiles"), 0);
    block_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_matrices), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
