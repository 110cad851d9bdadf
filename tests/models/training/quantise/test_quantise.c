/* SPDX-License-Identifier: Apache-2.0 */
/* Exponents from the max-min buffer are those that a sweep over the batch-normed data would find (Part B 1-25), and
 * what the block makes of entries. */
#include "block_rig.h"
#include "cnnvp_bfp.h"
#include "random.h"
#include "training/quantise/quantise.h"
#include "training/relu/relu.h"
#include "train_whole.h"

#include <math.h>

#include "test.h"

enum { IMAGES = 4, CHANNELS = 5, PLANE = 9, ALL = IMAGES * CHANNELS * PLANE };

static float maximum_of(const float *values, int c)
{
    float most = 0.0f;
    for (int n = 0; n < IMAGES; ++n) {
        const float plane = cnnvp_bfp_max(values + (n * CHANNELS + c) * PLANE, PLANE);
        most = plane > most ? plane : most;
    }
    return most;
}

static void run(uint64_t seed, bool relu, bool range)
{
    const struct tensor_shape shape = {IMAGES, CHANNELS, PLANE};
    struct channel channels[CHANNELS];
    float x[ALL], y[ALL], dy[ALL], dx[ALL], gamma[CHANNELS], beta[CHANNELS];
    for (int i = 0; i < ALL; ++i) {
        x[i] = 100.0f * next_float(&seed);
        dy[i] = next_float(&seed);
    }
    for (int c = 0; c < CHANNELS; ++c) {
        gamma[c] = next_float(&seed);
        beta[c] = next_float(&seed);
    }
    whole_clear(channels, CHANNELS);
    whole_statistics(&shape, 0, x, channels);
    whole_forward(&shape, range, 1e-5f, x, gamma, beta, channels, y);
    if (relu)
        cnnvp_relu_forward(y, ALL);
    for (int c = 0; c < CHANNELS; ++c) {
        const struct cnnvp_norm *norm = &channels[c].norm;
        assert_true(cnnvp_quantise_extreme(&channels[c].extremes, norm->scale, norm->offset, relu) == maximum_of(y, c));
    }
    whole_backward(&shape, range, x, dy, channels, dx);
    for (int c = 0; c < CHANNELS && range; ++c) {
        struct cnnvp_extremes errors = no_extremes();
        for (int n = 0; n < IMAGES; ++n)
            cnnvp_extremes_add_apart(dy + (n * CHANNELS + c) * PLANE, PLANE, (uint64_t)n * PLANE,
                                     channels[c].extremes.min_at, channels[c].extremes.max_at, &errors);
        assert_true(cnnvp_quantise_extreme_back(&errors, &channels[c].norm) == maximum_of(dx, c));
    }
}

static void test_extremes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 200; ++seed)
        run(seed, seed % 2 != 0, seed % 3 != 0);
}

/* What a channel's extremes become on their way to the quantiser. */
static float mapped(uint32_t flags, float x, const struct cnnvp_norm *norm)
{
    const bool back = (flags & CNNVP_TILE_MAP_BACK) != 0;
    const volatile float product = (back ? norm->dy_scale : norm->scale) * x;
    const float y = product + (back ? norm->dy_offset : norm->offset);
    const float mapped_x = back || (flags & CNNVP_TILE_MAP) != 0 ? y : x;
    return (flags & CNNVP_TILE_RELU) != 0 ? fmaxf(mapped_x, 0.0f) : fabsf(mapped_x);
}

static float largest_of(uint32_t flags, const struct cnnvp_extremes *extremes, const struct cnnvp_norm *norm)
{
    float most = 0.0f; /* of no values */
    if (extremes->min <= extremes->max)
        most = fmaxf(mapped(flags, extremes->min, norm), mapped(flags, extremes->max, norm));
    if ((flags & CNNVP_TILE_MAP_BACK) == 0)
        return most;
    /* the errors apart get their terms */
    const volatile float at_max = norm->dy_scale * norm->dy_at_max;
    const volatile float at_min = norm->dy_scale * norm->dy_at_min;
    most = fmaxf(most, fabsf(at_max + norm->dy_offset + norm->extreme));
    return fmaxf(most, fabsf(at_min + norm->dy_offset - norm->extreme));
}

/* One exponent for all entries, or one for each, with and without batch norm and ReLU between. */
static void check_exponents(uint32_t flags, uint64_t *random)
{
    int8_t exponents[CHANNELS] = {99, 99, 99, 99, 99};
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_EXPONENTS, 1, CHANNELS, 1, 1);
    block_rig_begin(&rig, &cnnvp_unit_quantise, 0);
    block_rig_start(&rig);
    tile.flags = flags;
    tile.entry = 3;
    tile.norm_entry = 2;
    tile.exponents_out = exponents;
    struct cnnvp_extremes *extremes = (struct cnnvp_extremes *)block_rig_data(&rig, "max_min") + tile.entry;
    struct cnnvp_norm *norms = (struct cnnvp_norm *)block_rig_data(&rig, "norm") + tile.norm_entry;
    float largest = 0.0f;
    float each[CHANNELS];
    for (int c = 0; c < CHANNELS; ++c) {
        const float below_zero = -ldexpf(next_float(random) + 1.0f, c);
        extremes[c] = (struct cnnvp_extremes){.min = below_zero * 4.0f, .max = c == 1 ? below_zero : -below_zero};
        norms[c] = (struct cnnvp_norm){
            .scale = next_float(random),
            .offset = next_float(random),
            .dy_scale = next_float(random),
            .dy_offset = next_float(random),
            .extreme = 40.0f * next_float(random),
            .dy_at_min = next_float(random),
            .dy_at_max = next_float(random)};
        if (c == 2)
            extremes[c] = no_extremes();
        each[c] = largest_of(flags, &extremes[c], &norms[c]);
        largest = fmaxf(largest, each[c]);
    }
    block_rig_do(&rig, &tile, 2);
    const bool apart = (flags & CNNVP_TILE_EACH) != 0;
    for (int c = 0; c < CHANNELS; ++c) {
        const float m = apart ? each[c] : largest;
        assert_int_equal(exponents[c], !apart && c > 0 ? 99 : m > 0.0f ? ilogbf(m) : -128);
    }
    assert_int_equal(fake_count(rig.block, "exponents"), apart ? CHANNELS : 1);
    assert_int_equal(fake_count(rig.block, "extremes"), 2 * CHANNELS);
    assert_int_equal(rig.handed_on, 0);
    block_rig_end(&rig);
}

static void test_exponents(void **state)
{
    static const uint32_t maps[] = {
        0, CNNVP_TILE_RELU, CNNVP_TILE_MAP, CNNVP_TILE_MAP | CNNVP_TILE_RELU, CNNVP_TILE_MAP_BACK};
    uint64_t random = 8;
    (void)state;
    for (uint32_t i = 0; i < 400u; ++i)
        check_exponents(maps[i % 5u] | (i / 5u % 2u != 0 ? CNNVP_TILE_EACH : 0), &random);
}

/* Where only the extremes are wanted the tile goes to the statistics module as it is. */
static void test_measure(void **state)
{
    float values[] = {1.5f, -2.0f};
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_BACKWARD, 1, 1, 1, 2);
    (void)state;
    tile.flags = CNNVP_TILE_MEASURE;
    tile.values = values;
    block_rig_begin(&rig, &cnnvp_unit_quantise, 0);
    block_rig_start(&rig);
    assert_int_equal(block_rig_try(&rig, &tile, 0), CNNVP_OK);
    block_rig_expect_next(&rig, &tile, 2, 4);
    assert_int_equal(rig.next_kind, CNNVP_TILE_EXTREMES);
    assert_int_equal(tile.kind, CNNVP_TILE_BACKWARD);
    assert_int_equal(tile.fill, 0);
    block_rig_end(&rig);
}

static void test_refused(void **state)
{
    (void)state;
    block_rig_check_refusals(
        &cnnvp_unit_quantise, 1u << CNNVP_TILE_EXPONENTS | 1u << CNNVP_TILE_FORWARD | 1u << CNNVP_TILE_BACKWARD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_extremes), cmocka_unit_test(test_exponents),
                                       cmocka_unit_test(test_measure), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
