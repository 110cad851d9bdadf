/* SPDX-License-Identifier: Apache-2.0 */
/* Floats to mantissas by every variant of the loops, in every width and rounding, against the definition. */
#include "training/bfp/bfp_kernels.h"

#include "bfp_case.h"

enum { N = 97 };

static void test_floats(void **state)
{
    (void)state;
    for (uint32_t run = 0; run < 20000; ++run) {
        float values[N];
        int8_t narrow[N];
        int32_t wide[N];
        const size_t n = 1 + bfp_random() % N;
        const struct cnnvp_bfp_format format = {2 + bfp_random() % 23, bfp_random() % 4, bfp_random()};
        const uint64_t first = bfp_random();
        struct cnnvp_bfp_counts want = {0};
        struct cnnvp_bfp_counts got = {0};
        for (size_t i = 0; i < n; ++i)
            values[i] = bfp_random_float();
        int8_t exponent = bfp_expected_exponent(values, n, &want);
        assert_int_equal(cnnvp_bfp_exponent(cnnvp_bfp_max(values, n), &got), exponent);
        if (run % 5 == 0) /* an exponent from elsewhere, often too small */
            exponent = (int8_t)(exponent < -100 ? -128 : exponent - (int)(bfp_random() % 20));
        for (size_t i = 0; i < n; ++i)
            wide[i] = bfp_expected((double)values[i], exponent, &format, first + i, &want);
        int32_t out[N] = {0};
        cnnvp_bfp_quantise(&format, exponent, first, values, n, out, &got);
        bfp_check_counts(&got, &want);
        for (size_t i = 0; i < n; ++i)
            assert_int_equal(format.mantissa_bits > 8 ? out[i] : ((const int8_t *)out)[i], wide[i]);
        if (format.mantissa_bits > 8)
            continue;
        const struct bfp_kernels *kernels;
        for (size_t v = 0; (kernels = cnnvp_bfp_kernels_variant(v)) != NULL; ++v) {
            const struct bfp_run common = {
                exponent - ((int32_t)format.mantissa_bits - 2) + 150, (1u << (format.mantissa_bits - 1u)) - 1u};
            struct bfp_tally tally = {0};
            kernels->floats(&common, format.rounding, format.seed, first, values, n, narrow, &tally);
            for (size_t i = 0; i < n; ++i)
                assert_int_equal(narrow[i], wide[i]);
            assert_int_equal(tally.saturated, want.saturated);
            assert_int_equal(tally.nonfinite, want.nonfinite);
            uint32_t bits;
            const float max = cnnvp_bfp_max(values, n);
            memcpy(&bits, &max, sizeof bits);
            assert_int_equal(kernels->max_bits(values, n), bits);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_floats)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
