/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of single words: rounding, division, tables, softmax. */
#include <math.h>

#include "fx16_reference.h"

static int16_t saturate(int64_t value)
{
    if (value > 32767)
        return 32767;
    return value < -32768 ? (int16_t)-32768 : (int16_t)value;
}

int64_t test_fx16_wrap(int64_t sum, uint32_t bits)
{
    uint64_t value = (uint64_t)sum;
    if (bits < 64) {
        value &= (UINT64_C(1) << bits) - 1;
        if (value >> (bits - 1) != 0)
            value |= ~((UINT64_C(1) << bits) - 1);
    }
    return (int64_t)value;
}

int64_t test_fx16_shift(int64_t value, int shift)
{
    for (; shift > 0; --shift)
        value = (int64_t)((uint64_t)value * 2u);
    for (; shift < 0; ++shift)
        value = value >= 0 ? value / 2 : -((-(value + 1)) / 2) - 1;
    return value;
}

int16_t test_fx16_round(int64_t sum, int shift, uint32_t rounding)
{
    for (; shift < 0; ++shift) {
        if (sum > 32767 || sum < -32768)
            return saturate(sum);
        sum *= 2;
    }
    /* Bit by bit: what is shifted out is kept as "half" and "rest below half" of the magnitude. */
    const int negative = sum < 0;
    uint64_t magnitude = negative ? 0u - (uint64_t)sum : (uint64_t)sum;
    int half = 0;
    int rest = 0;
    for (; shift > 0; --shift) {
        rest |= half;
        half = (int)(magnitude & 1u);
        magnitude >>= 1;
    }
    if (rounding == 1 && half && (rest || (magnitude & 1u) != 0))
        ++magnitude;
    if (magnitude > 65536)
        magnitude = 65536;
    return saturate(negative ? -(int64_t)magnitude : (int64_t)magnitude);
}

int16_t test_fx16_divide(int64_t sum, int64_t divisor, int shift, uint32_t rounding)
{
    if (divisor == 0)
        return sum >= 0 ? 32767 : -32768;
    const int negative = (sum < 0) != (divisor < 0);
    uint64_t top = sum < 0 ? 0u - (uint64_t)sum : (uint64_t)sum;
    uint64_t bottom = divisor < 0 ? 0u - (uint64_t)divisor : (uint64_t)divisor;
    /* Sums of pooling windows: far from 2^63 on both sides, so shifts of either operand are exact. */
    for (; shift < 0; ++shift) {
        if (top / bottom > 65536)
            return negative ? -32768 : 32767;
        top *= 2;
    }
    for (; shift > 0; --shift) {
        if (bottom > (UINT64_C(1) << 61)) {
            top /= 2; /* far below half of the divisor by then */
            continue;
        }
        bottom *= 2;
    }
    uint64_t quotient = top / bottom;
    const uint64_t rest = top % bottom;
    if (rounding == 1 && (2 * rest > bottom || (2 * rest == bottom && (quotient & 1u) != 0)))
        ++quotient;
    if (quotient > 65536)
        quotient = 65536;
    return saturate(negative ? -(int64_t)quotient : (int64_t)quotient);
}

__extension__ typedef unsigned __int128 wide;

int16_t test_fx16_inverse_root(uint64_t sum, uint64_t count, uint64_t epsilon, int exponent, uint32_t rounding)
{
    /* The largest word whose (nearest: less half of a) square, times the variance, is at most 4^exponent: all times 4
     * count. */
    wide left = (wide)sum + (wide)count * epsilon;
    wide right = (wide)count * 4u;
    for (; exponent > 0; --exponent)
        right *= 4u;
    for (; exponent < 0; ++exponent)
        left *= 4u;
    uint64_t word = 0;
    while (word < 32767) {
        const uint64_t twice = 2 * (word + 1) - (rounding == 1 ? 1 : 0);
        if (left * twice * twice > right)
            break;
        ++word;
    }
    return (int16_t)word;
}

int16_t test_fx16_table(const int16_t *table, int16_t x, uint32_t format)
{
    const int64_t last = table[2] - 1;
    int64_t segment = test_fx16_shift((int64_t)x - table[0], -table[1]);
    segment = segment < 0 ? 0 : segment > last ? last : segment;
    const int64_t slope = table[4 + 2 * segment];
    const int64_t intercept = test_fx16_shift(table[5 + 2 * segment], table[3]);
    return test_fx16_round(slope * x + intercept, (int8_t)(format & 0xffu), format >> 16 & 3u);
}

/* e^-d, d with `fraction` fraction bits, as a number with 30: 2^(-d / ln 2) by straight lines between 64 points. */
static uint64_t falling_exponential(uint64_t d, int fraction)
{
    for (; fraction < 0; ++fraction)
        d *= 2;
    if (d > UINT64_C(32) << fraction)
        d = UINT64_C(32) << fraction;
    const uint64_t log2_e = (uint64_t)llroundl(1073741824.0L / logl(2.0L));
    const uint64_t exponent = d * log2_e / (UINT64_C(1) << fraction);
    const uint64_t whole = exponent / (UINT64_C(1) << 30);
    const uint64_t point = exponent / (UINT64_C(1) << 24) % 64;
    const uint64_t between = exponent % (UINT64_C(1) << 24);
    const uint64_t here = (uint64_t)llroundl(1073741824.0L * exp2l(-(long double)point / 64.0L));
    const uint64_t next = (uint64_t)llroundl(1073741824.0L * exp2l(-(long double)(point + 1) / 64.0L));
    return whole >= 31 ? 0 : (here - (here - next) * between / (UINT64_C(1) << 24)) >> whole;
}

void test_fx16_softmax(const int16_t *x, int16_t *y, size_t count, size_t step, int fraction)
{
    int32_t largest = x[0];
    uint64_t sum = 0;
    for (size_t i = 0; i < count; ++i)
        largest = x[i * step] > largest ? x[i * step] : largest;
    for (size_t i = 0; i < count; ++i)
        sum += falling_exponential((uint64_t)(largest - x[i * step]), fraction);
    for (size_t i = 0; i < count; ++i) {
        const uint64_t e = falling_exponential((uint64_t)(largest - x[i * step]), fraction);
        const uint64_t word = (2 * e * 32768 + sum) / (2 * sum);
        y[i * step] = (int16_t)(word > 32767 ? 32767 : word);
    }
}
