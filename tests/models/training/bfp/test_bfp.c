/* SPDX-License-Identifier: Apache-2.0 */
/* Single runs of values against binary64 (bfp_case.h) and by hand. */
#include <math.h>

#include "bfp_case.h"

/* The figures of C9 and Part B 1-15 by hand, BFP8. */
static void test_by_hand(void **state)
{
    static const float values[] = {1.0f, -1.0f, 0.5f, 1.99f, -1.99f, 0.0117f, -0.0117f, 0.0f};
    static const int8_t truncated[] = {64, -64, 32, 127, -127, 0, 0, 0};
    static const int8_t nearest[] = {64, -64, 32, 127, -127, 1, -1, 0};
    static const int8_t floored[] = {64, -64, 32, 127, -128, 0, -1, 0};
    struct cnnvp_bfp_format format = {8, CNNVP_ROUNDING_TRUNCATE, 0};
    struct cnnvp_bfp_counts counts = {0};
    int8_t m[8];
    (void)state;
    assert_int_equal(cnnvp_bfp_exponent(cnnvp_bfp_max(values, 8), &counts), 0);
    cnnvp_bfp_quantise(&format, 0, 0, values, 8, m, &counts);
    assert_memory_equal(m, truncated, 8);
    format.rounding = CNNVP_ROUNDING_FLOOR;
    cnnvp_bfp_quantise(&format, 0, 0, values, 8, m, &counts);
    assert_memory_equal(m, floored, 8);
    assert_int_equal(counts.saturated, 0);
    format.rounding = CNNVP_ROUNDING_NEAREST;
    cnnvp_bfp_quantise(&format, 0, 0, values, 8, m, &counts);
    assert_memory_equal(m, nearest, 8);
    assert_int_equal(counts.saturated, 0);
    /* rounds to 128: saturates; to -128: stays */
    const float near[] = {1.9999f, -1.9999f};
    cnnvp_bfp_quantise(&format, 0, 0, near, 2, m, &counts);
    assert_int_equal(m[0], 127);
    assert_int_equal(m[1], -128);
    assert_int_equal(counts.saturated, 1);
}

static void test_special(void **state)
{
    const float values[] = {(float)INFINITY, -(float)INFINITY, (float)NAN, 3.0f, -2.5f};
    const float zeros[] = {0.0f, -0.0f};
    const float none[] = {(float)NAN, (float)INFINITY};
    const struct cnnvp_bfp_format format = {8, CNNVP_ROUNDING_NEAREST, 0};
    const struct cnnvp_bfp_layout layout = {1, 1, 5, CNNVP_BFP_BLOCK_TENSOR};
    struct cnnvp_bfp_counts counts = {0};
    int8_t m[5];
    int8_t e;
    (void)state;
    assert_int_equal(cnnvp_bfp_encode(&format, &layout, values, m, &e, &counts), CNNVP_OK);
    assert_int_equal(e, 1);
    assert_int_equal(m[0], 127);
    assert_int_equal(m[1], -128);
    assert_int_equal(m[2], 0);
    assert_int_equal(m[3], 96);
    assert_int_equal(m[4], -80);
    assert_int_equal(counts.nonfinite, 3);
    assert_int_equal(counts.saturated, 0);
    assert_int_equal(cnnvp_bfp_exponent(cnnvp_bfp_max(zeros, 2), &counts), -128);
    assert_int_equal(cnnvp_bfp_exponent(cnnvp_bfp_max(none, 2), &counts), -128);
    assert_int_equal(cnnvp_bfp_exponent(cnnvp_bfp_max(none, 0), &counts), -128);
    assert_int_equal(counts.exponents_clamped, 0);
    assert_int_equal(cnnvp_bfp_exponent(bfp_float_of(1), &counts), -128);
    assert_int_equal(counts.exponents_clamped, 1);
    assert_int_equal(cnnvp_bfp_exponent(bfp_float_of(0x7f7fffff), &counts), 127);
    assert_int_equal(counts.exponents_clamped, 1);
    assert_int_equal(cnnvp_bfp_exponent(-4.0f, &counts), 2);
}

static void test_dequantise(void **state)
{
    (void)state;
    for (uint32_t run = 0; run < 20000; ++run) {
        const uint32_t width = 2 + bfp_random() % 23;
        const int8_t e = (int8_t)((int32_t)(bfp_random() % 256) - 128);
        const int32_t m = (int32_t)(bfp_random() % (1u << width)) - (int32_t)(1u << (width - 1u));
        const double exact = ldexp(m, e - (int)width + 2);
        const float largest = bfp_float_of(0x7f7fffff);
        const float want = exact > (double)largest ? largest : exact < -(double)largest ? -largest : (float)exact;
        float got;
        const int8_t narrow = (int8_t)m;
        cnnvp_bfp_dequantise(width, e, width <= 8 ? (const void *)&narrow : &m, 1, &got);
        assert_memory_equal(&got, &want, sizeof got);
        const int32_t sum = (int32_t)bfp_random();
        const int32_t scale = (int32_t)(bfp_random() % 500) - 300;
        const double value = ldexp(sum, scale);
        struct cnnvp_bfp_counts counts = {0};
        const float wanted = fabs(value) > (double)largest ? (value > 0 ? largest : -largest) : (float)value;
        cnnvp_bfp_sums_to_float(scale, &sum, 1, &got, &counts);
        assert_memory_equal(&got, &wanted, sizeof got);
        assert_int_equal(counts.saturated, fabs(value) > (double)largest);
        const int64_t wide = sum;
        cnnvp_bfp_wide_to_float(scale, &wide, 1, &got, &counts);
        assert_memory_equal(&got, &wanted, sizeof got);
    }
    assert_int_equal(cnnvp_bfp_product_scale(8, 3, 8, -2), 1 - 12);
    assert_int_equal(cnnvp_bfp_product_scale(24, -128, 8, 127), -1 - 28);
}

/* Stochastic rounding has no bias, truncation toward minus infinity has half a step, and order does not matter. */
static void test_stochastic(void **state)
{
    enum { MANY = 1 << 16 };
    float *values = malloc(MANY * sizeof *values);
    int8_t *m = malloc(MANY);
    int8_t *parts = malloc(MANY);
    const struct cnnvp_bfp_format format = {8, CNNVP_ROUNDING_STOCHASTIC, 77};
    struct cnnvp_bfp_counts counts = {0};
    (void)state;
    assert_true(values != NULL && m != NULL && parts != NULL);
    for (int sign = -1; sign <= 1; sign += 2) {
        double sum = 0;
        for (int i = 0; i < MANY; ++i)
            values[i] = (float)sign * 0.3f / 64.0f;
        cnnvp_bfp_quantise(&format, 0, 0, values, MANY, m, &counts);
        for (int i = 0; i < MANY; ++i) {
            assert_true(m[i] == 0 || m[i] == sign);
            sum += m[i];
        }
        /* five standard deviations: sqrt(0.3 * 0.7 / 65536) * 5 = 0.009 */
        assert_true(fabs(sum / MANY - sign * 0.3) < 0.009);
        for (int i = 0; i < MANY; i += 1000)
            cnnvp_bfp_quantise(&format, 0, (uint64_t)i, values + i, (uint64_t)(MANY - i < 1000 ? MANY - i : 1000),
                               parts + i, &counts);
        assert_memory_equal(m, parts, MANY);
    }
    free(values);
    free(m);
    free(parts);
}

/* By the definition, in binary64: a unit's parts are whole numbers below 2^53. */
static int32_t carried(double value, int8_t exponent, uint32_t bits, double *remainder, struct cnnvp_bfp_counts *counts)
{
    if (!isfinite(value)) {
        uint64_t ignored = 0;
        ++counts->nonfinite;
        return isnan(value) ? 0 : bfp_clipped(value > 0 ? 1e300 : -1e300, bits, &ignored);
    }
    const double sum = rint(ldexp(value, (int)bits - 2 - exponent + 16)) + *remainder;
    const double mantissa = floor(sum / 65536.0 + 0.5);
    const uint64_t before = counts->saturated;
    const int32_t result = bfp_clipped(mantissa, bits, &counts->saturated);
    *remainder = counts->saturated != before ? 0 : sum - mantissa * 65536.0;
    return result;
}

static void test_carry(void **state)
{
    enum { N = 200 };
    (void)state;
    for (uint32_t bits = 2; bits <= 24; ++bits)
        for (int round = 0; round < 40; ++round) {
            const struct cnnvp_bfp_format format = {bits, CNNVP_BFP_ROUNDING_CARRIED, 0};
            const int8_t exponent = round % 4 == 0 ? (int8_t)bfp_random() : (int8_t)(round % 4 - 2);
            struct cnnvp_bfp_counts have = {0};
            struct cnnvp_bfp_counts want = {0};
            float values[N];
            int32_t out[N];
            double remainder = 0;
            for (int i = 0; i < N; ++i)
                values[i] = round % 2 == 0 ? bfp_random_float() : ldexpf((float)(bfp_random() % 4001) - 2000.0f, -17);
            cnnvp_bfp_quantise(&format, exponent, 0, values, N, out, &have);
            for (int i = 0; i < N; ++i) {
                const int32_t mantissa = carried((double)values[i], exponent, bits, &remainder, &want);
                assert_int_equal(bits > 8 ? out[i] : ((const int8_t *)out)[i], mantissa);
            }
            bfp_check_counts(&have, &want);
        }
}

/* Values that all vanish by themselves: their mantissas add up to what they do, to half a unit, wherever one stops. */
static void test_carry_keeps_sums(void **state)
{
    enum { N = 1000 };
    const struct cnnvp_bfp_format format = {8, CNNVP_BFP_ROUNDING_CARRIED, 0};
    const struct cnnvp_bfp_format nearest = {8, CNNVP_ROUNDING_NEAREST, 0};
    struct cnnvp_bfp_counts counts = {0};
    float values[N];
    int8_t m[N];
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        double sum = 0;
        int64_t kept = 0;
        for (int i = 0; i < N; ++i)
            values[i] = (float)sign * ldexpf((float)(bfp_random() % 7000), -20); /* below 0.43 units of 2^-6 */
        cnnvp_bfp_quantise(&nearest, 0, 0, values, N, m, &counts);
        for (int i = 0; i < N; ++i)
            assert_int_equal(m[i], 0);
        cnnvp_bfp_quantise(&format, 0, 0, values, N, m, &counts);
        for (int i = 0; i < N; ++i) {
            sum += (double)values[i] * 64.0;
            kept += m[i];
            assert_true(fabs(sum - (double)kept) <= 0.5 + 1e-9);
        }
        assert_true(llabs(kept) > 100);
    }
    assert_int_equal(counts.saturated + counts.nonfinite, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),    cmocka_unit_test(test_special), cmocka_unit_test(test_dequantise),
        cmocka_unit_test(test_stochastic), cmocka_unit_test(test_carry),   cmocka_unit_test(test_carry_keeps_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
