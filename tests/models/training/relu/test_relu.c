/* SPDX-License-Identifier: Apache-2.0 */
/* ReLU: values and 0/1 matrix against the rule, time and counts in every timing_only, and what is refused. */
#include "block_rig.h"
#include "training/relu/relu.h"
#include "random.h"

#include <math.h>
#include <stdbool.h>

#include "test.h"

enum { IMAGES = 3, CHANNELS = 2, PLANES = IMAGES * CHANNELS, WIDTH = 7, ALL = PLANES * 3 * WIDTH };

static uint64_t cycles_of(uint32_t values)
{
    return (IMAGES + 1u) / 2u * ((CHANNELS * values + 2u) / 3u); /* images on 2 sets, values on 3 lanes */
}

/* Above 0 the value, else +0: -0, NaN and -infinity too. */
static void fill(float *x, uint32_t n, uint64_t seed)
{
    static const float special[] = {
        1.5f, -2.0f, 0.0f, -0.0f, (float)NAN, 1e-40f, -(float)INFINITY, (float)INFINITY, -(float)NAN};
    const uint32_t specials = sizeof special / sizeof special[0];
    for (uint32_t i = 0; i < n; ++i)
        x[i] = i < specials ? special[i] : next_float(&seed);
}

static void check(int timing_only, uint32_t height, bool keep)
{
    const uint32_t plane = height * WIDTH;
    const uint32_t bytes = (plane + 15u) / 16u * 2u; /* of a plane's bits */
    float x[ALL], y[ALL];
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_FORWARD, IMAGES, CHANNELS, height, WIDTH);
    fill(x, PLANES * plane, height);
    memcpy(y, x, sizeof y);
    tile.flags = CNNVP_TILE_RELU | (keep ? CNNVP_TILE_KEEP : 0);
    tile.values = timing_only ? NULL : y;
    block_rig_begin(&rig, &cnnvp_unit_relu, timing_only);
    block_rig_start(&rig);
    uint8_t *matrix = block_rig_data(&rig, "buffer");
    if (!timing_only)
        memset(matrix, 0xff, 256);
    block_rig_do(&rig, &tile, cycles_of(plane));
    block_rig_expect_next(&rig, &tile, PLANES * plane, 4);
    assert_int_equal(fake_count(rig.block, "values"), PLANES * plane);
    assert_int_equal(fake_count(rig.block, "tiles"), 1);
    assert_int_equal(fake_count(block_rig_buffer(&rig, "buffer"), "write_words"), keep ? PLANES * bytes / 2u : 0);
    for (uint32_t i = 0; i < PLANES * plane && !timing_only; ++i) {
        assert_true(y[i] == (x[i] > 0.0f ? x[i] : 0.0f));
        assert_false(signbit(y[i]));
    }
    for (uint32_t i = 0; i < PLANES * bytes * 8u && keep && !timing_only; ++i) {
        const uint32_t bit = i % (bytes * 8u); /* those after the plane's last are 0 */
        const unsigned positive = bit < plane && x[i / (bytes * 8u) * plane + bit] > 0.0f;
        assert_int_equal((unsigned)matrix[i / 8u] >> i % 8u & 1u, positive);
    }
    block_rig_end(&rig);
}

static void test_values(void **state)
{
    (void)state;
    for (int timing_only = 0; timing_only < 2; ++timing_only)
        for (uint32_t height = 1; height <= 3; ++height) {
            check(timing_only, height, true);
            check(timing_only, height, false);
        }
}

/* Of a tile without ReLU nothing changes, and no time passes. */
static void test_pass(void **state)
{
    float x[] = {-1.0f, 2.0f};
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_FORWARD, 1, 1, 1, 2);
    (void)state;
    tile.flags = CNNVP_TILE_KEEP;
    tile.values = x;
    block_rig_begin(&rig, &cnnvp_unit_relu, 0);
    block_rig_start(&rig);
    assert_int_equal(block_rig_try(&rig, &tile, 0), CNNVP_OK);
    block_rig_expect_next(&rig, &tile, 2, 4);
    assert_true(x[0] == -1.0f && x[1] == 2.0f);
    assert_int_equal(tile.fill, 0);
    assert_int_equal(fake_count(rig.block, "tiles"), 1);
    assert_int_equal(fake_count(rig.block, "busy_cycles"), 0);
    block_rig_end(&rig);
}

static void test_refused(void **state)
{
    struct block_rig rig;
    struct cnnvp_tile large = block_rig_tile(CNNVP_TILE_FORWARD, 1, 2, 1024, 257);
    (void)state;
    block_rig_check_refusals(&cnnvp_unit_relu, 1u << CNNVP_TILE_FORWARD);
    large.flags = CNNVP_TILE_RELU | CNNVP_TILE_KEEP; /* 64 KiB of bits and 256 bytes more */
    block_rig_begin(&rig, &cnnvp_unit_relu, 0);
    block_rig_start(&rig);
    assert_int_equal(block_rig_try(&rig, &large, CNNVP_DEBUG), CNNVP_E_ADDR);
    assert_int_equal(rig.handed_on, 0);
    block_rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_pass), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
