/* SPDX-License-Identifier: Apache-2.0 */
/* Exponents from the max-min buffer are those that a sweep over the batch-normed data would find (Part B 1-25). */
#include "batch_norm/batch_norm.h"
#include "quantiser/quantiser.h"
#include "relu/relu.h"
#include "numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { IMAGES = 4, CHANNELS = 5, PLANE = 9, ALL = IMAGES * CHANNELS * PLANE };

static void run(uint64_t seed, bool relu, bool range, enum cnnvp_bfp_block block)
{
    const struct cnnvp_tensor_shape shape = {IMAGES, CHANNELS, PLANE};
    const struct cnnvp_tensor_shape half = {IMAGES / 2, CHANNELS, PLANE};
    const struct cnnvp_bfp_layout layout = {IMAGES, CHANNELS, PLANE, block};
    const struct cnnvp_bfp_format format = {8, CNNVP_ROUNDING_STOCHASTIC, seed};
    struct cnnvp_channel_statistics statistics[CHANNELS];
    struct cnnvp_batch_norm_channel channels[CHANNELS];
    struct cnnvp_bfp_counts counts = {0};
    struct cnnvp_bfp_counts swept = {0};
    float x[ALL], y[ALL], gamma[CHANNELS], beta[CHANNELS], extremes[CHANNELS];
    uint8_t positive[ALL];
    int8_t m[ALL], want[ALL], e[CHANNELS], want_e[CHANNELS];
    for (int i = 0; i < ALL; ++i)
        x[i] = 100.0f * next_float(&seed);
    for (int c = 0; c < CHANNELS; ++c) {
        gamma[c] = next_float(&seed);
        beta[c] = next_float(&seed);
    }
    cnnvp_statistics_clear(statistics, CHANNELS);
    cnnvp_statistics_add(&shape, x, statistics);
    cnnvp_batch_norm_forward(&shape, range, 1e-5, x, statistics, gamma, beta, channels, y);
    if (relu)
        cnnvp_relu_forward(y, ALL, y, positive);
    for (int c = 0; c < CHANNELS; ++c) {
        float most = 0.0f;
        extremes[c] = cnnvp_quantiser_extreme(&statistics[c], channels[c].scale, channels[c].offset, relu);
        for (int n = 0; n < IMAGES; ++n) {
            const float plane = cnnvp_bfp_max(y + (n * CHANNELS + c) * PLANE, PLANE);
            most = plane > most ? plane : most;
        }
        assert_true(extremes[c] == most);
    }
    assert_int_equal(cnnvp_bfp_encode(&format, &layout, y, want, want_e, &swept), CNNVP_OK);
    /* in two groups of images */
    for (uint64_t g = 0; g < 2; ++g) {
        const uint64_t at = g * (IMAGES / 2) * CHANNELS * PLANE;
        assert_int_equal(cnnvp_quantiser_run(&format, &half, block, g * (IMAGES / 2), y + at, extremes, m + at, e,
                                             &counts), CNNVP_OK);
    }
    assert_memory_equal(m, want, sizeof m);
    assert_memory_equal(e, want_e, block == CNNVP_BFP_BLOCK_TENSOR ? 1 : CHANNELS);
    assert_int_equal(counts.saturated, swept.saturated);
}

static void test_extremes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 200; ++seed)
        run(seed, seed % 2 != 0, seed % 3 != 0, seed % 5 < 3 ? CNNVP_BFP_BLOCK_TENSOR : CNNVP_BFP_BLOCK_CHANNEL);
}

static void test_refused(void **state)
{
    const struct cnnvp_tensor_shape shape = {1, 1, 1};
    const struct cnnvp_bfp_format good = {8, 0, 0};
    const struct cnnvp_bfp_format wide = {9, 0, 0};
    const float x = 1.0f;
    struct cnnvp_bfp_counts counts = {0};
    int8_t m, e;
    (void)state;
    assert_int_equal(cnnvp_quantiser_run(&wide, &shape, CNNVP_BFP_BLOCK_TENSOR, 0, &x, &x, &m, &e, &counts),
                     CNNVP_E_INVAL);
    assert_int_equal(cnnvp_quantiser_run(&good, &shape, CNNVP_BFP_BLOCK_IMAGE, 0, &x, &x, &m, &e, &counts),
                     CNNVP_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_extremes), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
