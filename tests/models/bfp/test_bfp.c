/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block floating point against an independent reference: binary64 holds every scaled binary32 and every scaled
 * 32-bit sum exactly, so trunc, floor and rint of the C library give the mantissa. Every variant of the loops, every
 * width.
 */
#include "bfp/bfp_kernels.h"

#include <math.h>

#include "test.h"

enum { N = 97 };

static uint64_t random_state = 12345;

static uint32_t next(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 32);
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Any bit pattern, subnormals and values near each other more often than their share. */
static float random_float(void)
{
    const uint32_t bits = next();
    switch (next() % 6) {
    case 0:
        return float_of(bits);
    case 1:
        return float_of(bits & 0x80ffffffu); /* subnormal or tiny */
    case 2:
        return float_of((bits & 0x80000000u) | 0x3f800000u | (bits & 0x7f0000u)); /* few bits: ties */
    case 3:
        return 0.0f;
    default:
        return float_of((bits & 0x81ffffffu) | 0x3e000000u);
    }
}

static double rounded(double scaled, uint32_t rounding)
{
    return rounding == CNNVP_ROUNDING_TRUNCATE  ? trunc(scaled)
           : rounding == CNNVP_ROUNDING_NEAREST ? rint(scaled)
                                                : floor(scaled);
}

static int32_t clipped(double mantissa, uint32_t bits, uint64_t *saturated)
{
    const double limit = ldexp(1.0, (int)bits - 1);
    if (mantissa > limit - 1.0 || mantissa < -limit) {
        ++*saturated;
        return (int32_t)(mantissa > 0 ? limit - 1.0 : -limit);
    }
    return (int32_t)mantissa;
}

/* The mantissa by the definition; stochastic by way of the fraction. */
static int32_t expected(double value, int8_t exponent, const struct cnnvp_bfp_format *format, uint64_t index,
                        struct cnnvp_bfp_counts *counts)
{
    const double scaled = ldexp(value, (int)format->mantissa_bits - 2 - exponent);
    if (!isfinite(value)) {
        uint64_t ignored = 0;
        ++counts->nonfinite;
        return isnan(value) ? 0 : clipped(value > 0 ? 1e300 : -1e300, format->mantissa_bits, &ignored);
    }
    if (format->rounding != CNNVP_ROUNDING_STOCHASTIC)
        return clipped(rounded(scaled, format->rounding), format->mantissa_bits, &counts->saturated);
    /* the significand of 24 bits lies `shift` bits below the point */
    int log = 0;
    (void)frexp(value, &log);
    const int shift = -((log > -126 ? log : -125) - 24 + (int)format->mantissa_bits - 2 - exponent);
    const double magnitude = fabs(scaled);
    double whole = floor(magnitude);
    const uint64_t random = cnnvp_round_random(format->seed, index);
    if (shift > 0 && shift <= 55)
        whole += ldexp(magnitude - whole, shift) > (double)(random & ((UINT64_C(1) << shift) - 1u));
    return clipped(value < 0 ? -whole : whole, format->mantissa_bits, &counts->saturated);
}

static int8_t expected_exponent(const float *values, size_t n, struct cnnvp_bfp_counts *counts)
{
    double max = 0;
    for (size_t i = 0; i < n; ++i)
        if (isfinite(values[i]) && fabs((double)values[i]) > max)
            max = fabs((double)values[i]);
    if (max == 0)
        return -128;
    const int e = ilogb(max);
    counts->exponents_clamped += e < -128;
    return (int8_t)(e < -128 ? -128 : e);
}

static void check_counts(const struct cnnvp_bfp_counts *a, const struct cnnvp_bfp_counts *b)
{
    assert_int_equal(a->saturated, b->saturated);
    assert_int_equal(a->nonfinite, b->nonfinite);
    assert_int_equal(a->exponents_clamped, b->exponents_clamped);
}

static void test_floats(void **state)
{
    (void)state;
    for (uint32_t run = 0; run < 20000; ++run) {
        float values[N];
        int8_t narrow[N];
        int32_t wide[N];
        const size_t n = 1 + next() % N;
        const struct cnnvp_bfp_format format = {2 + next() % 23, next() % 4, next()};
        const uint64_t first = next();
        struct cnnvp_bfp_counts want = {0};
        struct cnnvp_bfp_counts got = {0};
        for (size_t i = 0; i < n; ++i)
            values[i] = random_float();
        int8_t exponent = expected_exponent(values, n, &want);
        assert_int_equal(cnnvp_bfp_exponent(cnnvp_bfp_max(values, n), &got), exponent);
        if (run % 5 == 0) /* an exponent from elsewhere, often too small */
            exponent = (int8_t)(exponent < -100 ? -128 : exponent - (int)(next() % 20));
        for (size_t i = 0; i < n; ++i)
            wide[i] = expected((double)values[i], exponent, &format, first + i, &want);
        int32_t out[N];
        cnnvp_bfp_quantise_wide(&format, exponent, first, values, n, out, &got);
        assert_memory_equal(out, wide, n * sizeof out[0]);
        check_counts(&got, &want);
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
        memset(narrow, 0, sizeof narrow);
        cnnvp_bfp_quantise(&format, exponent, first, values, n, narrow, &got);
        for (size_t i = 0; i < n; ++i)
            assert_int_equal(narrow[i], wide[i]);
    }
}

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
    format.rounding = CNNVP_BFP_ROUNDING_FLOOR;
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
    assert_int_equal(cnnvp_bfp_exponent(float_of(1), &counts), -128);
    assert_int_equal(counts.exponents_clamped, 1);
    assert_int_equal(cnnvp_bfp_exponent(float_of(0x7f7fffff), &counts), 127);
    assert_int_equal(counts.exponents_clamped, 1);
    assert_int_equal(cnnvp_bfp_exponent(-4.0f, &counts), 2);
}

static void test_dequantise(void **state)
{
    (void)state;
    for (uint32_t run = 0; run < 20000; ++run) {
        const uint32_t width = 2 + next() % 23;
        const int8_t e = (int8_t)((int32_t)(next() % 256) - 128);
        const int32_t m = (int32_t)(next() % (1u << width)) - (int32_t)(1u << (width - 1u));
        const double exact = ldexp(m, e - (int)width + 2);
        const float largest = float_of(0x7f7fffff);
        const float want = exact > (double)largest ? largest : exact < -(double)largest ? -largest : (float)exact;
        float got;
        cnnvp_bfp_dequantise_wide(width, e, &m, 1, &got);
        assert_memory_equal(&got, &want, sizeof got);
        if (width <= 8) {
            const int8_t narrow = (int8_t)m;
            cnnvp_bfp_dequantise(width, e, &narrow, 1, &got);
            assert_memory_equal(&got, &want, sizeof got);
        }
        const int32_t sum = (int32_t)next();
        const int32_t scale = (int32_t)(next() % 500) - 300;
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

/* Each block has the exponent of its own maximum; the mantissas come back within half a step. */
static void test_tensors(void **state)
{
    enum { IMAGES = 3, CHANNELS = 5, PLANE = 7, ALL = IMAGES * CHANNELS * PLANE };
    const struct cnnvp_bfp_format format = {8, CNNVP_ROUNDING_NEAREST, 0};
    float values[ALL];
    float back[ALL];
    int8_t m[ALL];
    int8_t e[ALL];
    (void)state;
    for (int i = 0; i < ALL; ++i)
        values[i] = (float)ldexp((double)(int32_t)next(), (int)(next() % 40) - 60);
    for (uint32_t block = 0; block < 3; ++block) {
        const struct cnnvp_bfp_layout layout = {IMAGES, CHANNELS, PLANE, (enum cnnvp_bfp_block)block};
        const uint64_t blocks = block == 0 ? 1 : block == 1 ? IMAGES : CHANNELS;
        struct cnnvp_bfp_counts counts = {0};
        assert_int_equal(cnnvp_bfp_blocks(&layout), blocks);
        assert_int_equal(cnnvp_bfp_encode(&format, &layout, values, m, e, &counts), CNNVP_OK);
        assert_int_equal(cnnvp_bfp_decode(8, &layout, m, e, back), CNNVP_OK);
        for (uint64_t b = 0; b < blocks; ++b) {
            double max = 0;
            for (int i = 0; i < ALL; ++i) {
                const int of = block == 0 ? 0 : block == 1 ? i / (CHANNELS * PLANE) : i / PLANE % CHANNELS;
                const uint64_t mine = (uint64_t)of;
                if (mine != b)
                    continue;
                max = fmax(max, fabs((double)values[i]));
                const double step = ldexp(1.0, e[b] - 6);
                const double error = fabs((double)back[i] - (double)values[i]);
                assert_true(error <= step / 2 || (m[i] == 127 && error <= step));
            }
            assert_int_equal(e[b], ilogb(max));
        }
    }
    const struct cnnvp_bfp_layout empty = {IMAGES, 0, PLANE, CNNVP_BFP_BLOCK_TENSOR};
    const uint64_t many = UINT64_C(1) << 31;
    const struct cnnvp_bfp_layout huge = {many, many, many, CNNVP_BFP_BLOCK_TENSOR};
    const struct cnnvp_bfp_layout one = {1, 1, 1, CNNVP_BFP_BLOCK_TENSOR};
    const struct cnnvp_bfp_format bad[] = {{1, 0, 0}, {25, 0, 0}, {8, 4, 0}, {9, 0, 0}};
    struct cnnvp_bfp_counts counts = {0};
    assert_int_equal(cnnvp_bfp_blocks(&empty), 0);
    assert_int_equal(cnnvp_bfp_blocks(&huge), 0);
    assert_int_equal(cnnvp_bfp_encode(&format, &empty, values, m, e, &counts), CNNVP_E_INVAL);
    for (size_t i = 0; i < 4; ++i)
        assert_int_equal(cnnvp_bfp_encode(&bad[i], &one, values, m, e, &counts), CNNVP_E_INVAL);
    assert_int_equal(cnnvp_bfp_decode(9, &one, m, e, back), CNNVP_E_INVAL);
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
        return isnan(value) ? 0 : clipped(value > 0 ? 1e300 : -1e300, bits, &ignored);
    }
    const double sum = rint(ldexp(value, (int)bits - 2 - exponent + 16)) + *remainder;
    const double mantissa = floor(sum / 65536.0 + 0.5);
    const uint64_t before = counts->saturated;
    const int32_t result = clipped(mantissa, bits, &counts->saturated);
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
            const int8_t exponent = round % 4 == 0 ? (int8_t)next() : (int8_t)(round % 4 - 2);
            struct cnnvp_bfp_counts have = {0};
            struct cnnvp_bfp_counts have_wide = {0};
            struct cnnvp_bfp_counts want = {0};
            float values[N];
            int8_t narrow[N];
            int32_t wide[N];
            double remainder = 0;
            for (int i = 0; i < N; ++i)
                values[i] = round % 2 == 0 ? random_float() : ldexpf((float)(next() % 4001) - 2000.0f, -17);
            cnnvp_bfp_carry_wide(&format, exponent, values, N, wide, &have_wide);
            if (bits <= 8)
                cnnvp_bfp_carry(&format, exponent, values, N, narrow, &have);
            for (int i = 0; i < N; ++i) {
                const int32_t mantissa = carried((double)values[i], exponent, bits, &remainder, &want);
                assert_int_equal(wide[i], mantissa);
                if (bits <= 8)
                    assert_int_equal(narrow[i], mantissa);
            }
            check_counts(&have_wide, &want);
            if (bits <= 8)
                check_counts(&have, &want);
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
            values[i] = (float)sign * ldexpf((float)(next() % 7000), -20); /* below 0.43 units of 2^-6 */
        cnnvp_bfp_quantise(&nearest, 0, 0, values, N, m, &counts);
        for (int i = 0; i < N; ++i)
            assert_int_equal(m[i], 0);
        cnnvp_bfp_carry(&format, 0, values, N, m, &counts);
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
        cmocka_unit_test(test_by_hand),    cmocka_unit_test(test_special),          cmocka_unit_test(test_floats),
        cmocka_unit_test(test_dequantise), cmocka_unit_test(test_tensors),          cmocka_unit_test(test_stochastic),
        cmocka_unit_test(test_carry),      cmocka_unit_test(test_carry_keeps_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
