/* SPDX-License-Identifier: Apache-2.0 */
/* Exponents from the max-min buffer are those that a sweep over the batch-normed data would find (Part B 1-25). */
#include "block_rig.h"
#include "cnnvp_bfp.h"
#include "random.h"
#include "quantise/quantise.h"
#include "relu/relu.h"
#include "train_whole.h"

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

static void test_refused(void **state)
{
    (void)state;
    block_rig_check_refusals(
        &cnnvp_unit_quantise, 1u << CNNVP_TILE_EXPONENTS | 1u << CNNVP_TILE_FORWARD | 1u << CNNVP_TILE_BACKWARD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_extremes), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
