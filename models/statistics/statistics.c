/* SPDX-License-Identifier: Apache-2.0 */
/* Extremes and sums of channels. See statistics.h. */
#include "statistics.h"

#include <string.h>

enum { LANES = 8 };

static double gather(const double *lanes)
{
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

double cnnvp_sum(const float *x, uint64_t n)
{
    double lanes[LANES] = {0};
    uint64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (unsigned l = 0; l < LANES; ++l)
            lanes[l] += (double)x[i + l];
    for (unsigned l = 0; i < n; ++i, ++l)
        lanes[l] += (double)x[i];
    return gather(lanes);
}

double cnnvp_sum_of_squares(const float *x, uint64_t n, double mean)
{
    double lanes[LANES] = {0};
    uint64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (unsigned l = 0; l < LANES; ++l) {
            const double d = (double)x[i + l] - mean;
            lanes[l] += d * d;
        }
    for (unsigned l = 0; i < n; ++i, ++l) {
        const double d = (double)x[i] - mean;
        lanes[l] += d * d;
    }
    return gather(lanes);
}

double cnnvp_sum_of_products(const float *dy, const float *x, uint64_t n, double mean)
{
    double lanes[LANES] = {0};
    uint64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (unsigned l = 0; l < LANES; ++l)
            lanes[l] += (double)dy[i + l] * ((double)x[i + l] - mean);
    for (unsigned l = 0; i < n; ++i, ++l)
        lanes[l] += (double)dy[i] * ((double)x[i] - mean);
    return gather(lanes);
}

static int is_finite(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & UINT32_C(0x7f800000)) != UINT32_C(0x7f800000);
}

void cnnvp_statistics_clear(struct cnnvp_channel_statistics *channels, uint64_t count)
{
    for (uint64_t c = 0; c < count; ++c)
        channels[c] = (struct cnnvp_channel_statistics){0};
}

static void add_plane(const float *x, uint64_t n, struct cnnvp_channel_statistics *s)
{
    uint64_t finite = 0;
    for (uint64_t i = 0; i < n; ++i) {
        if (!is_finite(x[i]))
            continue;
        if (s->finite + finite == 0 || x[i] < s->min) {
            s->min = x[i];
            s->min_at = s->count + i;
        }
        if (s->finite + finite == 0 || x[i] > s->max) {
            s->max = x[i];
            s->max_at = s->count + i;
        }
        ++finite;
    }
    if (finite == n) {
        s->sum += cnnvp_sum(x, n);
    } else {
        double lanes[LANES] = {0};
        for (uint64_t i = 0; i < n; ++i)
            lanes[i % LANES] += is_finite(x[i]) ? (double)x[i] : 0.0;
        s->sum += gather(lanes);
    }
    s->count += n;
    s->finite += finite;
}

void cnnvp_statistics_add(const struct cnnvp_tensor_shape *shape, const float *values,
                          struct cnnvp_channel_statistics *channels)
{
    for (uint64_t n = 0; n < shape->images; ++n)
        for (uint64_t c = 0; c < shape->channels; ++c)
            add_plane(values + (n * shape->channels + c) * shape->plane, shape->plane, &channels[c]);
}
