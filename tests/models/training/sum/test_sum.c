/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sum: sums of channels in eight partial sums of a plane, and of squares around the mean, against plain loops to the
 * bit; values that are not finite; time, counts and what is refused.
 */
#include "block_rig.h"
#include "cnnvp_tile.h"
#include "units.h"
#include "random.h"

#include <math.h>
#include <stdbool.h>

#include "test.h"

enum { IMAGES = 3, CHANNELS = 4, PLANE = 19, IMAGE = CHANNELS * PLANE, ALL = IMAGES * IMAGE, ENTRY = 2, ENTRIES = 20 };
enum { CYCLES = (IMAGES + 1) / 2 * ((IMAGE + 2) / 3) };

/* Value i of a plane is in partial sum i mod 8; those are brought together in a tree. */
static double tree(const double *parts)
{
    return ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

static void add_plane(const float *x, bool squares, struct cnnvp_sums *entry)
{
    const double mean = entry->count != 0 ? entry->sum / entry->count : 0.0;
    double sums[8] = {0};
    double around[8] = {0};
    for (uint32_t i = 0; i < PLANE; ++i) {
        const double distance = isfinite(x[i]) ? (double)x[i] - mean : 0.0;
        around[i % 8] += distance * distance;
        sums[i % 8] += isfinite(x[i]) ? (double)x[i] : 0.0;
        entry->count += !squares && isfinite(x[i]);
        entry->nonfinite += !squares && !isfinite(x[i]);
    }
    entry->sum += squares ? 0.0 : tree(sums);
    entry->squares += squares ? tree(around) : 0.0;
}

static uint64_t make(float *x)
{
    uint64_t random = 12;
    uint64_t nonfinite = 0;
    for (int i = 0; i < ALL; ++i) {
        const uint32_t kind = next_bits(&random) % 32;
        x[i] = kind == 0 ? (float)NAN : kind == 1 ? -(float)INFINITY : ldexpf(next_float(&random), 3 * (int)kind);
        nonfinite += isfinite(x[i]) ? 0u : 1u;
    }
    return nonfinite;
}

static void check(int timing_only, uint32_t image_stride, uint32_t channel_stride)
{
    float x[ALL];
    struct cnnvp_sums want[ENTRIES] = {{.sum = 0.0}};
    const uint64_t nonfinite = make(x);
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_STATISTICS, IMAGES, CHANNELS, 1, PLANE);
    tile.entry = ENTRY;
    tile.entry_image_stride = image_stride;
    tile.entry_channel_stride = channel_stride;
    tile.values = timing_only ? NULL : x;
    want[ENTRY] = (struct cnnvp_sums){.sum = 0.1, .count = 3}; /* of earlier tiles */
    block_rig_begin(&rig, &cnnvp_unit_sum, timing_only);
    block_rig_start(&rig);
    if (!timing_only)
        memcpy(block_rig_data(&rig, "buffer"), want, sizeof want);
    block_rig_do(&rig, &tile, CYCLES);
    assert_int_equal(fake_count(rig.block, "nonfinite"), timing_only ? 0 : nonfinite);
    tile.kind = CNNVP_TILE_SQUARES; /* the second sweep, when the means are known */
    block_rig_do(&rig, &tile, CYCLES);
    for (int sweep = 0; sweep < 2; ++sweep)
        for (uint32_t p = 0; p < IMAGES * CHANNELS; ++p)
            add_plane(x + p * PLANE, sweep != 0,
                      &want[ENTRY + p / CHANNELS * image_stride + p % CHANNELS * channel_stride]);
    if (!timing_only)
        assert_memory_equal(block_rig_data(&rig, "buffer"), want, sizeof want);
    assert_int_equal(fake_count(rig.block, "tiles"), 2);
    assert_int_equal(fake_count(rig.block, "values"), ALL);
    assert_int_equal(fake_count(rig.block, "square_values"), ALL);
    assert_int_equal(fake_count(rig.block, "nonfinite"), timing_only ? 0 : nonfinite);
    block_rig_end(&rig);
}

static void test_sums(void **state)
{
    (void)state;
    for (int timing_only = 0; timing_only < 2; ++timing_only) {
        check(timing_only, 0, 1); /* an entry for each channel */
        check(timing_only, CHANNELS, 1);
        check(timing_only, 0, 0);
    }
}

static void test_refused(void **state)
{
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_STATISTICS, 1, 3, 1, 1);
    (void)state;
    block_rig_check_refusals(&cnnvp_unit_sum, 1u << CNNVP_TILE_STATISTICS | 1u << CNNVP_TILE_SQUARES);
    block_rig_begin(&rig, &cnnvp_unit_sum, 0);
    block_rig_start(&rig);
    tile.entry_channel_stride = 1;
    tile.entry = 65536 / sizeof(struct cnnvp_sums) - 2; /* of three entries the last is beyond the buffer */
    assert_int_equal(block_rig_try(&rig, &tile, 0), CNNVP_E_ADDR);
    assert_int_equal(fake_count(rig.block, "tiles"), 0);
    block_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
