/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block floating point, one block at a time; cnnvp_bfp.h defines the format. A binary32 is significand * 2^(field -
 * 150) with 24 bits of significand (subnormals have field 1), so its mantissa is the significand shifted right by
 * exponent - (w - 2) + 150 - field.
 */
#include "bfp_kernels.h"
#include "cnnvp_integer.h"

#include <math.h>
#include <string.h>

#define MAGNITUDE UINT32_C(0x7fffffff)
#define INFINITE UINT32_C(0x7f800000)
#define LARGEST UINT32_C(0x7f7fffff)

/* Most values of a kernel call: its counters have 32 bits. */
#define CHUNK ((uint64_t)1 << 20)

bool cnnvp_bfp_format_valid(const struct cnnvp_bfp_format *format)
{
    return format->mantissa_bits >= CNNVP_BFP_MIN_BITS && format->mantissa_bits <= CNNVP_BFP_MAX_BITS &&
           format->rounding <= CNNVP_ROUNDING_FLOOR;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* 2^power as binary64, for -1022 .. 1023. */
static double power_of_two(int32_t power)
{
    const uint64_t bits = (uint64_t)(power + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- exponents ---- */

float cnnvp_bfp_max(const float *values, uint64_t n)
{
    const struct bfp_kernels *kernels = cnnvp_bfp_kernels();
    uint32_t max = 0;
    for (uint64_t i = 0; i < n; i += CHUNK) {
        const uint32_t part = kernels->max_bits(values + i, cnnvp_minimum(CHUNK, n - i));
        max = part > max ? part : max;
    }
    return float_of(max);
}

static int8_t clamp_exponent(int64_t exponent, struct cnnvp_bfp_counts *counts)
{
    if (exponent < CNNVP_BFP_MIN_EXPONENT || exponent > CNNVP_BFP_MAX_EXPONENT) {
        ++counts->exponents_clamped;
        return exponent < 0 ? CNNVP_BFP_MIN_EXPONENT : CNNVP_BFP_MAX_EXPONENT;
    }
    return (int8_t)exponent;
}

int8_t cnnvp_bfp_exponent(float max, struct cnnvp_bfp_counts *counts)
{
    const uint32_t magnitude = bits_of(max) & MAGNITUDE;
    if (magnitude == 0 || magnitude >= INFINITE)
        return CNNVP_BFP_MIN_EXPONENT;
    return clamp_exponent(ilogbf(max), counts);
}

/* ---- conversion to mantissas ---- */

static uint64_t random_of(const struct cnnvp_bfp_format *format, uint64_t index)
{
    return format->rounding == CNNVP_ROUNDING_STOCHASTIC ? cnnvp_round_random(format->seed, index) : 0;
}

static int32_t significand_shift(const struct cnnvp_bfp_format *format, int8_t exponent)
{
    return exponent - ((int32_t)format->mantissa_bits - 2) + 150;
}

static void quantise_narrow(const struct cnnvp_bfp_format *format, int8_t exponent, uint64_t first, const float *values,
                            uint64_t n, int8_t *mantissas, struct cnnvp_bfp_counts *counts)
{
    const struct bfp_kernels *kernels = cnnvp_bfp_kernels();
    const struct bfp_run run = {significand_shift(format, exponent), (1u << (format->mantissa_bits - 1u)) - 1u};
    struct bfp_tally tally = {0};
    for (uint64_t i = 0; i < n; i += CHUNK)
        kernels->floats(&run, format->rounding, format->seed, first + i, values + i, cnnvp_minimum(CHUNK, n - i),
                        mantissas + i, &tally);
    counts->saturated += tally.saturated;
    counts->nonfinite += tally.nonfinite;
}

static void quantise_wide(const struct cnnvp_bfp_format *format, int8_t exponent, uint64_t first, const float *values,
                          uint64_t n, int32_t *mantissas, struct cnnvp_bfp_counts *counts)
{
    const int32_t limit = (int32_t)(UINT32_C(1) << (format->mantissa_bits - 1u)) - 1;
    for (uint64_t i = 0; i < n; ++i) {
        const uint32_t bits = bits_of(values[i]);
        const uint32_t magnitude = bits & MAGNITUDE;
        const bool negative = bits >> 31 != 0;
        if (magnitude >= INFINITE) {
            ++counts->nonfinite;
            mantissas[i] = magnitude > INFINITE ? 0 : negative ? -limit - 1 : limit;
            continue;
        }
        const int32_t field = (int32_t)(magnitude >> 23);
        const uint32_t significand = (magnitude & 0x7fffffu) | (field != 0 ? 0x800000u : 0u);
        mantissas[i] =
            cnnvp_bfp_round(significand, significand_shift(format, exponent) - (field != 0 ? field : 1), negative,
                            format->rounding, random_of(format, first + i), format->mantissa_bits, &counts->saturated);
    }
}

/* ---- conversion with the remainder carried to the next value ---- */

enum { CARRY_BITS = 16 }; /* fraction bits of a remainder, below the unit of mantissas */

/* Converts a finite binary32 to parts of a unit, rounded to nearest even. Values far outside all mantissas are
 * clipped. */
static int64_t parts_of(uint32_t bits, int32_t shift_of_exponent)
{
    const uint32_t field = bits >> 23 & 0xffu;
    const uint64_t significand = (bits & 0x7fffffu) | (field != 0 ? 0x800000u : 0u);
    const int32_t shift = shift_of_exponent - (int32_t)(field != 0 ? field : 1u) - CARRY_BITS;
    uint64_t parts;
    if (shift > 0) {
        const uint64_t half = shift > 30 ? UINT64_MAX : UINT64_C(1) << (shift - 1);
        const uint64_t rest = shift > 30 ? significand : significand & ((half << 1) - 1u);
        parts = shift > 30 ? 0 : significand >> shift;
        parts += rest > half || (rest == half && (parts & 1u) != 0);
    } else {
        const uint32_t left = shift < -30 ? 30u : (uint32_t)-shift;
        parts = significand << left; /* a clipped shift gives at least 2^53 */
    }
    return bits >> 31 != 0 ? -(int64_t)parts : (int64_t)parts;
}

struct carry {
    int32_t shift; /* result of significand_shift */
    int32_t limit; /* largest mantissa */
    int64_t remainder;
};

static int32_t carry_on(struct carry *carry, float value, struct cnnvp_bfp_counts *counts)
{
    const int64_t offset = INT64_C(1) << 60; /* makes the sum positive, so that a right shift is a floor */
    const uint32_t bits = bits_of(value);
    if ((bits & MAGNITUDE) >= INFINITE) {
        ++counts->nonfinite;
        return (bits & MAGNITUDE) > INFINITE ? 0 : bits >> 31 != 0 ? -carry->limit - 1 : carry->limit;
    }
    const int64_t sum = parts_of(bits, carry->shift) + carry->remainder;
    const int64_t mantissa =
        (int64_t)((uint64_t)(sum + (1 << (CARRY_BITS - 1)) + offset) >> CARRY_BITS) - (offset >> CARRY_BITS);
    if (mantissa > carry->limit || mantissa < -carry->limit - 1) {
        ++counts->saturated;
        carry->remainder = 0;
        return mantissa > 0 ? carry->limit : -carry->limit - 1;
    }
    carry->remainder = sum - mantissa * (1 << CARRY_BITS);
    return (int32_t)mantissa;
}

static void quantise_carrying(const struct cnnvp_bfp_format *format, int8_t exponent, const float *values, uint64_t n,
                              void *mantissas, struct cnnvp_bfp_counts *counts)
{
    const bool narrow = cnnvp_bfp_bytes(format->mantissa_bits) == 1u;
    struct carry carry = {significand_shift(format, exponent),
                          (int32_t)(UINT32_C(1) << (format->mantissa_bits - 1u)) - 1, 0};
    for (uint64_t i = 0; i < n; ++i) {
        const int32_t mantissa = carry_on(&carry, values[i], counts);
        if (narrow)
            ((int8_t *)mantissas)[i] = (int8_t)mantissa;
        else
            ((int32_t *)mantissas)[i] = mantissa;
    }
}

void cnnvp_bfp_quantise(const struct cnnvp_bfp_format *format, int8_t exponent, uint64_t first, const float *values,
                        uint64_t n, void *mantissas, struct cnnvp_bfp_counts *counts)
{
    if (format->rounding == CNNVP_BFP_ROUNDING_CARRIED)
        quantise_carrying(format, exponent, values, n, mantissas, counts);
    else if (cnnvp_bfp_bytes(format->mantissa_bits) == 1u)
        quantise_narrow(format, exponent, first, values, n, mantissas, counts);
    else
        quantise_wide(format, exponent, first, values, n, mantissas, counts);
}

/* ---- conversion to binary32 ---- */

/* Rounds a binary64 to binary32, to nearest even, saturating at the largest. */
static float narrowed(double value, uint64_t *saturated)
{
    const double largest = (double)float_of(LARGEST);
    if (value > largest || value < -largest) {
        ++*saturated;
        return value > 0 ? float_of(LARGEST) : -float_of(LARGEST);
    }
    return (float)value;
}

void cnnvp_bfp_dequantise(uint32_t mantissa_bits, int8_t exponent, const void *mantissas, uint64_t n, float *values)
{
    const double unit = power_of_two(exponent - ((int32_t)mantissa_bits - 2));
    const int8_t *narrow = cnnvp_bfp_bytes(mantissa_bits) == 1u ? mantissas : NULL;
    const int32_t *wide = mantissas;
    uint64_t saturated = 0;
    if (narrow != NULL && exponent < CNNVP_BFP_MAX_EXPONENT)
        for (uint64_t i = 0; i < n; ++i)
            values[i] = (float)(narrow[i] * unit);
    else
        for (uint64_t i = 0; i < n; ++i)
            values[i] = narrowed((narrow != NULL ? narrow[i] : wide[i]) * unit, &saturated);
}

void cnnvp_bfp_sums_to_float(int32_t scale, const int32_t *sums, uint64_t n, float *values,
                             struct cnnvp_bfp_counts *counts)
{
    const double unit = power_of_two(scale);
    if (scale <= 96) /* 2^31 * 2^96 is below the largest binary32 */
        for (uint64_t i = 0; i < n; ++i)
            values[i] = (float)(sums[i] * unit);
    else
        for (uint64_t i = 0; i < n; ++i)
            values[i] = narrowed(sums[i] * unit, &counts->saturated);
}

void cnnvp_bfp_wide_to_float(int32_t scale, const int64_t *sums, uint64_t n, float *values,
                             struct cnnvp_bfp_counts *counts)
{
    const double unit = power_of_two(scale);
    for (uint64_t i = 0; i < n; ++i)
        values[i] = narrowed((double)sums[i] * unit, &counts->saturated);
}
