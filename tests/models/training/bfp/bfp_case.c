/* SPDX-License-Identifier: Apache-2.0 */
#include "bfp_case.h"
#include "random.h"

#include <math.h>

static uint64_t random_state = 12345;

uint32_t bfp_random(void)
{
    return next_bits(&random_state);
}

float bfp_float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float bfp_random_float(void)
{
    const uint32_t bits = bfp_random();
    switch (bfp_random() % 6) {
    case 0:
        return bfp_float_of(bits);
    case 1:
        return bfp_float_of(bits & 0x80ffffffu); /* subnormal or tiny */
    case 2:
        return bfp_float_of((bits & 0x80000000u) | 0x3f800000u | (bits & 0x7f0000u)); /* few bits: ties */
    case 3:
        return 0.0f;
    default:
        return bfp_float_of((bits & 0x81ffffffu) | 0x3e000000u);
    }
}

static double rounded(double scaled, uint32_t rounding)
{
    return rounding == CNNVP_ROUNDING_TRUNCATE  ? trunc(scaled)
           : rounding == CNNVP_ROUNDING_NEAREST ? rint(scaled)
                                                : floor(scaled);
}

int32_t bfp_clipped(double mantissa, uint32_t bits, uint64_t *saturated)
{
    const double limit = ldexp(1.0, (int)bits - 1);
    if (mantissa > limit - 1.0 || mantissa < -limit) {
        ++*saturated;
        return (int32_t)(mantissa > 0 ? limit - 1.0 : -limit);
    }
    return (int32_t)mantissa;
}

int32_t bfp_expected(double value, int8_t exponent, const struct cnnvp_bfp_format *format, uint64_t index,
                     struct cnnvp_bfp_counts *counts)
{
    const double scaled = ldexp(value, (int)format->mantissa_bits - 2 - exponent);
    if (!isfinite(value)) {
        uint64_t ignored = 0;
        ++counts->nonfinite;
        return isnan(value) ? 0 : bfp_clipped(value > 0 ? 1e300 : -1e300, format->mantissa_bits, &ignored);
    }
    if (format->rounding != CNNVP_ROUNDING_STOCHASTIC)
        return bfp_clipped(rounded(scaled, format->rounding), format->mantissa_bits, &counts->saturated);
    /* the significand of 24 bits lies `shift` bits below the point */
    int log = 0;
    (void)frexp(value, &log);
    const int shift = -((log > -126 ? log : -125) - 24 + (int)format->mantissa_bits - 2 - exponent);
    const double magnitude = fabs(scaled);
    double whole = floor(magnitude);
    const uint64_t random = cnnvp_round_random(format->seed, index);
    if (shift > 0 && shift <= 55)
        whole += ldexp(magnitude - whole, shift) > (double)(random & ((UINT64_C(1) << shift) - 1u));
    return bfp_clipped(value < 0 ? -whole : whole, format->mantissa_bits, &counts->saturated);
}

int8_t bfp_expected_exponent(const float *values, size_t n, struct cnnvp_bfp_counts *counts)
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

void bfp_check_counts(const struct cnnvp_bfp_counts *a, const struct cnnvp_bfp_counts *b)
{
    assert_int_equal(a->saturated, b->saturated);
    assert_int_equal(a->nonfinite, b->nonfinite);
    assert_int_equal(a->exponents_clamped, b->exponents_clamped);
}
