/* SPDX-License-Identifier: Apache-2.0 */
#include "tables.h"

#include <math.h>

/* ln 2 in two parts, so that k * ln2_high is exact for |k| < 2^21 */
static const double ln2_high = 0x1.62e42fee00000p-1;
static const double ln2_low = 0x1.a39ef35793c76p-33;

double cnnvp_exp(double x)
{
    if (x > 709.0)
        return x != x ? x : ldexp(1.0, 1023);
    if (x < -700.0)
        return 0.0;
    if (x != x)
        return x;
    /* x = k ln 2 + r, |r| <= 0.35; e^r by its Taylor series, whose next term is below 2^-56 of the sum */
    const double k = floor(x / 0x1.62e42fefa39efp-1 + 0.5);
    const double r = (x - k * ln2_high) - k * ln2_low;
    double sum = 1.0;
    for (int n = 14; n >= 1; --n)
        sum = 1.0 + sum * r / n;
    return ldexp(sum, (int)k);
}

double cnnvp_sigmoid(double x)
{
    /* e^-|x| cannot overflow */
    const double e = cnnvp_exp(x < 0.0 ? x : -x);
    return x < 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
}

double cnnvp_tanh(double x)
{
    const double magnitude = x < 0.0 ? -x : x;
    double value;
    if (magnitude < 0.125) {
        /* Taylor series x - x^3/3 + ...: no cancellation near 0 */
        const double s = x * x;
        return x *
               (1.0 +
                s * (-1.0 / 3.0 +
                     s * (2.0 / 15.0 +
                          s * (-17.0 / 315.0 +
                               s * (62.0 / 2835.0 + s * (-1382.0 / 155925.0 + s * (21844.0 / 6081075.0 +
                                                                                   s * (-929569.0 / 638512875.0))))))));
    }
    const double e = cnnvp_exp(-2.0 * magnitude);
    value = (1.0 - e) / (1.0 + e);
    return x < 0.0 ? -value : value;
}

double cnnvp_erf(double x)
{
    const double magnitude = x < 0.0 ? -x : x;
    if (!(magnitude < 6.0)) /* 1 - erf(6) is below 2^-55 */
        return x < 0.0 ? -1.0 : x > 0.0 ? 1.0 : x;
    /* 2 / sqrt(pi) e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 / (3 * 5) + ...): all terms have the same sign */
    double term = magnitude;
    double sum = magnitude;
    for (int n = 1; term > sum * 0x1p-56; ++n) {
        term *= 2.0 * magnitude * magnitude / (2 * n + 1);
        sum += term;
    }
    sum *= 0x1.20dd750429b6dp+0 * cnnvp_exp(-magnitude * magnitude);
    return x < 0.0 ? -sum : sum;
}

double cnnvp_log(double x)
{
    int exponent;
    double m = frexp(x, &exponent); /* exact: 0.5 <= m < 1 */
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2.0;
        --exponent;
    }
    /* ln m = 2 artanh((m - 1) / (m + 1)), whose argument is below 0.172 in magnitude */
    const double z = (m - 1.0) / (m + 1.0);
    const double square = z * z;
    double sum = 0.0;
    for (int n = 21; n >= 1; n -= 2)
        sum = sum * square + 1.0 / n;
    return exponent * ln2_high + (exponent * ln2_low + 2.0 * z * sum);
}
