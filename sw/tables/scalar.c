/* SPDX-License-Identifier: Apache-2.0 */
#include "tables.h"

#include "training/elementary/elementary.h"

double cnnvp_sigmoid(double x)
{
    /* e^-|x| cannot overflow */
    const double e = cnnvp_elementary_exp(x < 0.0 ? x : -x);
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
    const double e = cnnvp_elementary_exp(-2.0 * magnitude);
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
    sum *= 0x1.20dd750429b6dp+0 * cnnvp_elementary_exp(-magnitude * magnitude);
    return x < 0.0 ? -sum : sum;
}
