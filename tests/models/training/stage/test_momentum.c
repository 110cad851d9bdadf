/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient descent with momentum: the rule step by step to the bit, 8-bit weights, and that stochastic rounding lets
 * small steps count. */
#include "cnnvp_bfp.h"
#include "training/stage/momentum.h"
#include "random.h"

#include <math.h>

#include "test.h"

enum { N = 100 };

static void test_master(void **state)
{
    uint64_t random = 4;
    float values[N], velocity[N] = {0}, gradient[N];
    volatile float v[N] = {0}, w[N];
    (void)state;
    for (int i = 0; i < N; ++i)
        w[i] = values[i] = next_float(&random);
    for (int step = 0; step < 20; ++step) {
        for (int i = 0; i < N; ++i) {
            gradient[i] = next_float(&random);
            v[i] = 0.9f * v[i];
            v[i] = v[i] + gradient[i];
            const volatile float change = 0.05f * v[i];
            w[i] = w[i] - change;
        }
        cnnvp_update_values(0.05f, 0.9f, gradient, N, velocity, values);
        for (int i = 0; i < N; ++i)
            assert_true(values[i] == w[i] && velocity[i] == v[i]);
    }
    float one = 3.0f;
    const float g = 2.0f;
    cnnvp_update_values(0.5f, 0.9f, &g, 1, NULL, &one);
    assert_true(one == 2.0f);
}

/* A minimum of (x - 1)^2 in 8-bit weights: truncation stands still where a step is below a mantissa's, stochastic
 * goes on. */
static void test_narrow(void **state)
{
    const struct cnnvp_bfp_layout layout = {1, 2, N / 2, CNNVP_BFP_BLOCK_CHANNEL};
    double mean[3];
    (void)state;
    for (uint32_t rounding = 0; rounding < 3; ++rounding) {
        struct cnnvp_bfp_counts counts = {0};
        float values[N], gradient[N];
        int8_t m[N], e[2];
        for (int i = 0; i < N; ++i)
            values[i] = 0.6f;
        struct cnnvp_bfp_format format = {8, rounding, 0};
        assert_int_equal(cnnvp_bfp_encode(&format, &layout, values, m, e, &counts), CNNVP_OK);
        for (uint64_t step = 0; step < 1000; ++step) {
            assert_int_equal(cnnvp_bfp_decode(8, &layout, m, e, values), CNNVP_OK);
            for (int i = 0; i < N; ++i)
                gradient[i] = 2.0f * (values[i] - 1.0f);
            format.seed = step;
            cnnvp_update_values(0.002f, 0.0f, gradient, N, NULL, values);
            assert_int_equal(cnnvp_bfp_encode(&format, &layout, values, m, e, &counts), CNNVP_OK);
        }
        assert_int_equal(cnnvp_bfp_decode(8, &layout, m, e, values), CNNVP_OK);
        mean[rounding] = 0;
        for (int i = 0; i < N; ++i)
            mean[rounding] += (double)values[i] / N;
    }
    assert_true(mean[CNNVP_ROUNDING_TRUNCATE] < 0.61);
    assert_true(mean[CNNVP_ROUNDING_NEAREST] < 0.61);
    assert_true(fabs(mean[CNNVP_ROUNDING_STOCHASTIC] - 1.0) < 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_master), cmocka_unit_test(test_narrow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
