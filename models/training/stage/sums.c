/* SPDX-License-Identifier: Apache-2.0 */
/* Sums in a fixed order. Implements sums.h. */
#include "sums.h"

#include <string.h>

enum { LANES = 8 };

static double gather(const double *lanes)
{
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

static uint32_t is_finite(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & UINT32_C(0x7f800000)) != UINT32_C(0x7f800000);
}

static uint64_t count_finite(const float *x, uint64_t n)
{
    uint64_t finite = 0;
    while (n != 0) {
        const uint64_t part = n < 4096u ? n : 4096u; /* a 32-bit counter is faster */
        uint32_t count = 0;
        for (uint64_t i = 0; i < part; ++i)
            count += is_finite(x[i]);
        finite += count;
        x += part;
        n -= part;
    }
    return finite;
}

enum sum { OF_VALUES, OF_SQUARES, OF_PRODUCTS };

/* Value i's term of a sum; with `check`, 0 if the value is not finite. */
static inline double term(enum sum sum, int check, const float *dy, const float *x, uint64_t i, double mean)
{
    if (check && !is_finite(x[i]))
        return 0.0;
    const double d = (double)x[i] - mean;
    return sum == OF_VALUES ? (double)x[i] : sum == OF_SQUARES ? d * d : (double)dy[i] * d;
}

static inline double add_up(enum sum sum, int check, const float *dy, const float *x, uint64_t n, double mean)
{
    double lanes[LANES] = {0};
    uint64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (unsigned l = 0; l < LANES; ++l)
            lanes[l] += term(sum, check, dy, x, i + l, mean);
    for (unsigned l = 0; i < n; ++i, ++l)
        lanes[l] += term(sum, check, dy, x, i, mean);
    return gather(lanes);
}

double cnnvp_sum(const float *x, uint64_t n)
{
    return add_up(OF_VALUES, 0, NULL, x, n, 0.0);
}

double cnnvp_sum_of_products(const float *dy, const float *x, uint64_t n, double mean)
{
    return add_up(OF_PRODUCTS, 0, dy, x, n, mean);
}

void cnnvp_sum_add(const float *x, uint64_t n, struct cnnvp_sums *sums)
{
    const uint64_t finite = count_finite(x, n);
    sums->sum += finite == n ? cnnvp_sum(x, n) : add_up(OF_VALUES, 1, NULL, x, n, 0.0);
    sums->count += (uint32_t)finite;
    sums->nonfinite += (uint32_t)(n - finite);
}

double cnnvp_sum_mean(const struct cnnvp_sums *sums)
{
    return sums->count != 0 ? sums->sum / (double)sums->count : 0.0;
}

void cnnvp_sum_add_squares(const float *x, uint64_t n, struct cnnvp_sums *sums)
{
    const double mean = cnnvp_sum_mean(sums);
    sums->squares +=
        count_finite(x, n) == n ? add_up(OF_SQUARES, 0, NULL, x, n, mean) : add_up(OF_SQUARES, 1, NULL, x, n, mean);
}
