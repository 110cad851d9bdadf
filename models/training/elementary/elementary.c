/* SPDX-License-Identifier: Apache-2.0 */
/* Implements elementary.h. */
#include "elementary.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ln 2 in two parts. The first has 32 bits, so that its product with an integer of up to 11 bits is exact. */
static const double ln2_high = 0x1.62e42feep-1;
static const double ln2_low = 0x1.a39ef35793c76p-33;

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* x = k ln 2 + r, |r| <= ln 2 / 2; e^r by its series, whose terms fall below 2^-56 after the thirteenth. */
double cnnvp_elementary_exp(double x)
{
    static const double inverse_ln2 = 1.4426950408889634;
    if (x != x)
        return x;
    if (x > 709.0)
        return (double)INFINITY;
    if (x < -708.0)
        return 0.0;
    const double shifted = x * inverse_ln2;
    const int k = (int)(shifted < 0.0 ? shifted - 0.5 : shifted + 0.5);
    const double r = (x - k * ln2_high) - k * ln2_low;
    double series = 1.0;
    for (int i = 13; i >= 1; --i)
        series = 1.0 + series * r / i;
    return series * from_bits((uint64_t)(k + 1023) << 52);
}

/* x = m 2^k, m in sqrt(1/2) .. sqrt(2); ln m = 2 atanh((m - 1) / (m + 1)) by its series. */
double cnnvp_elementary_ln(double x)
{
    if (x != x || x < 0.0)
        return (double)NAN;
    if (x == 0.0)
        return -(double)INFINITY;
    uint64_t bits = to_bits(x);
    if (bits >> 52 == 0x7ffu)
        return x;
    int k = 0;
    if (bits >> 52 == 0) {
        bits = to_bits(x * 0x1p54);
        k = -54;
    }
    k += (int)(bits >> 52) - 1023;
    double m = from_bits((bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1023) << 52);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        ++k;
    }
    const double s = (m - 1.0) / (m + 1.0);
    const double square = s * s;
    double series = 0.0;
    for (int i = 21; i >= 3; i -= 2) /* (0.1716^2)^10 / 21 is below 2^-54 */
        series = (series + 1.0 / i) * square;
    /* 2 s (1 + series) = f - f^2 / 2 + s (f^2 / 2 + 2 series): f is exact, s is not */
    const double f = m - 1.0;
    const double half_square = 0.5 * f * f;
    const double small = half_square - (s * (half_square + 2.0 * series) + k * ln2_low);
    return k * ln2_high - (small - f);
}
