/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max pool: maxima of mantissas and their positions against plain loops, with many ties, narrow and wide; time, counts,
 * tiles that only pass, and what is refused.
 */
#include "block_rig.h"
#include "cnnvp_tile.h"
#include "units.h"
#include "random.h"

#include <stdbool.h>

#include "test.h"

enum { IMAGES = 3, CHANNELS = 2, PLANES = IMAGES * CHANNELS, HEIGHT = 6, WIDTH = 7, PLANE = HEIGHT * WIDTH };
/* Windows of 3x2 values every two columns and rows: the last column is in none. Positions have three bits. */
enum { KX = 2, KY = 3, POOLED_W = 3, POOLED_H = 2, POOLED = POOLED_W * POOLED_H, BITS = 3 };
enum { BYTES = (POOLED * BITS + 15) / 16 * 2, CYCLES = (IMAGES + 1) / 2 * (CHANNELS * PLANE / 3) };

static struct cnnvp_tile pooled_tile(void)
{
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_FORWARD, IMAGES, CHANNELS, HEIGHT, WIDTH);
    tile.flags = CNNVP_TILE_POOL;
    tile.kx = KX;
    tile.ky = KY;
    tile.sx = tile.sy = 2;
    tile.pooled_width = POOLED_W;
    tile.pooled_height = POOLED_H;
    return tile;
}

/* Of equal maxima the first in raster order. */
static void expect(const int32_t *in, uint32_t result, int32_t *max, uint32_t *position)
{
    const int32_t *corner =
        in + result / POOLED * PLANE + result % POOLED / POOLED_W * 2 * WIDTH + result % POOLED_W * 2;
    *position = 0;
    for (uint32_t t = 1; t < KX * KY; ++t)
        if (corner[t / KX * WIDTH + t % KX] > corner[*position / KX * WIDTH + *position % KX])
            *position = t;
    *max = corner[*position / KX * WIDTH + *position % KX];
}

static void check(int timing_only, bool wide, bool keep)
{
    int32_t in[PLANES * PLANE], mantissas[PLANES * PLANE];
    uint64_t random = 8;
    struct block_rig rig;
    struct cnnvp_tile tile = pooled_tile();
    for (int i = 0; i < PLANES * PLANE; ++i) {
        in[i] = ((int32_t)(next_bits(&random) % 5) - 2) * (wide ? 4000000 : 63);
        if (wide)
            mantissas[i] = in[i];
        else
            ((int8_t *)mantissas)[i] = (int8_t)in[i];
    }
    tile.flags |= keep ? CNNVP_TILE_KEEP : 0;
    tile.mantissa_bits = wide ? 24 : 8;
    tile.mantissas = timing_only ? NULL : mantissas;
    block_rig_begin(&rig, &cnnvp_unit_max_pool, timing_only);
    block_rig_start(&rig);
    uint8_t *positions = block_rig_data(&rig, "buffer");
    if (!timing_only)
        memset(positions, 0xff, PLANES * BYTES);
    block_rig_do(&rig, &tile, CYCLES);
    block_rig_expect_next(&rig, &tile, PLANES * POOLED, wide ? 4 : 1);
    for (uint32_t r = 0; r < PLANES * POOLED && !timing_only; ++r) {
        int32_t max;
        uint32_t position, kept = 0;
        expect(in, r, &max, &position);
        for (uint32_t b = 0, at = r / POOLED * BYTES * 8 + r % POOLED * BITS; b < BITS; ++b, ++at)
            kept |= ((uint32_t)positions[at / 8] >> at % 8 & 1u) << b;
        assert_int_equal(wide ? mantissas[r] : ((int8_t *)mantissas)[r], max);
        assert_int_equal(kept, keep ? position : 7u);
    }
    assert_int_equal(fake_count(rig.block, "tiles"), 1);
    assert_int_equal(fake_count(rig.block, "values"), PLANES * PLANE);
    assert_int_equal(fake_count(block_rig_buffer(&rig, "buffer"), "write_words"), keep ? PLANES * BYTES / 2 : 0);
    tile.kind = CNNVP_TILE_BACKWARD; /* errors, which only pass */
    assert_int_equal(block_rig_try(&rig, &tile, 0), CNNVP_OK);
    block_rig_expect_next(&rig, &tile, PLANES * PLANE, wide ? 4 : 1);
    assert_int_equal(tile.fill, 0);
    assert_int_equal(fake_count(rig.block, "tiles"), 2);
    block_rig_end(&rig);
}

static void test_windows(void **state)
{
    (void)state;
    for (int timing_only = 0; timing_only < 2; ++timing_only)
        for (unsigned i = 0; i < 4; ++i)
            check(timing_only, i % 2 != 0, i / 2 != 0);
}

static void test_refused(void **state)
{
    struct block_rig rig;
    struct cnnvp_tile large = pooled_tile();
    (void)state;
    block_rig_check_refusals(&cnnvp_unit_max_pool, 1u << CNNVP_TILE_FORWARD | 1u << CNNVP_TILE_BACKWARD);
    large.flags |= CNNVP_TILE_KEEP;
    large.channels = 65536 / (IMAGES * BYTES) + 1; /* more positions than the buffer holds */
    block_rig_begin(&rig, &cnnvp_unit_max_pool, 0);
    block_rig_start(&rig);
    assert_int_equal(block_rig_try(&rig, &large, CNNVP_DEBUG), CNNVP_E_ADDR);
    assert_int_equal(rig.handed_on, 0);
    block_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
