/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm, forward and backward. See batch_norm.h. */
#include "batch_norm.h"

#include "elementary/elementary.h"
#include "stage/sums.h"

#include <math.h>

/* Published for range batch norm (Banner 2018): sigma of a normal distribution from the range of n values. */
#define RANGE_FACTOR 0.54

double cnnvp_norm_range_factor(uint64_t n)
{
    return n > 1u ? RANGE_FACTOR / sqrt(2.0 * cnnvp_elementary_ln((double)n)) : RANGE_FACTOR;
}

static double range_of(const struct cnnvp_extremes *extremes)
{
    return extremes->min <= extremes->max ? (double)extremes->max - (double)extremes->min : 0.0;
}

static void measure(enum cnnvp_norm_form form, float epsilon, const struct cnnvp_extremes *extremes,
                    const struct cnnvp_sums *sums, struct cnnvp_norm *norm)
{
    norm->mean = 0.0;
    norm->sigma = 1.0;
    if (form == CNNVP_NORM_STORED) {
        norm->mean = (double)norm->running_mean;
        norm->sigma = (double)norm->running_sigma;
    } else if (form == CNNVP_NORM_RANGE) {
        norm->mean = cnnvp_sum_mean(sums);
        norm->sigma = cnnvp_norm_range_factor(sums->count) * range_of(extremes) + (double)epsilon;
    } else if (form == CNNVP_NORM_STANDARD) {
        const double n = sums->count != 0 ? (double)sums->count : 1.0;
        norm->mean = cnnvp_sum_mean(sums);
        norm->sigma = sqrt(sums->squares / n + (double)epsilon);
    }
}

static float average(float running, double batch, float weight)
{
    return (float)((double)running + (double)weight * (batch - (double)running));
}

void cnnvp_norm_coefficients(enum cnnvp_norm_form form, float epsilon, float running,
                             const struct cnnvp_extremes *extremes, const struct cnnvp_sums *sums,
                             struct cnnvp_norm *norm)
{
    measure(form, epsilon, extremes, sums, norm);
    const double scale = form == CNNVP_NORM_NONE ? 1.0 : (double)norm->gamma / norm->sigma;
    norm->scale = (float)scale;
    norm->offset = (float)((double)norm->beta - scale * norm->mean);
    if (running != 0.0f && (form == CNNVP_NORM_RANGE || form == CNNVP_NORM_STANDARD)) {
        norm->running_mean = average(norm->running_mean, norm->mean, running);
        norm->running_sigma = average(norm->running_sigma, norm->sigma, running);
    }
    norm->count = sums->count;
    norm->dgamma = norm->dbeta = 0.0;
    norm->dy_at_min = norm->dy_at_max = 0.0f;
}

void cnnvp_norm_coefficients_back(enum cnnvp_norm_form form, struct cnnvp_norm *norm)
{
    const double n = norm->count != 0 ? (double)norm->count : 1.0;
    const double scale = form == CNNVP_NORM_NONE ? 1.0 : (double)norm->gamma / norm->sigma;
    norm->dgamma = form == CNNVP_NORM_NONE ? 0.0 : norm->dgamma / norm->sigma; /* there is no gamma */
    norm->dy_scale = (float)scale;
    norm->x_scale = norm->dy_offset = norm->extreme = 0.0f;
    if (form == CNNVP_NORM_STANDARD) {
        const double slope = -scale * norm->dgamma / n / norm->sigma;
        norm->x_scale = (float)slope;
        norm->dy_offset = (float)(-scale * norm->dbeta / n - slope * norm->mean);
    } else if (form == CNNVP_NORM_RANGE) {
        norm->dy_offset = (float)(-scale * norm->dbeta / n);
        norm->extreme = (float)(-scale * norm->dgamma * cnnvp_norm_range_factor(norm->count));
    }
}

void cnnvp_norm_forward(const struct cnnvp_norm *norm, float *x, uint64_t n)
{
    const float scale = norm->scale;
    const float offset = norm->offset;
    for (uint64_t i = 0; i < n; ++i) {
        const float product = scale * x[i];
        x[i] = product + offset;
    }
}

void cnnvp_norm_reduce(const struct cnnvp_extremes *extremes, uint64_t first, const float *x, const float *dy,
                       uint64_t n, struct cnnvp_norm *norm)
{
    norm->dbeta += cnnvp_sum(dy, n);
    norm->dgamma += cnnvp_sum_of_products(dy, x, n, norm->mean);
    if (extremes->min_at >= first && extremes->min_at - first < n)
        norm->dy_at_min = dy[extremes->min_at - first];
    if (extremes->max_at >= first && extremes->max_at - first < n)
        norm->dy_at_max = dy[extremes->max_at - first];
}

void cnnvp_norm_backward(const struct cnnvp_norm *norm, const struct cnnvp_extremes *extremes, uint64_t first,
                         const float *x, float *dy, uint64_t n)
{
    const struct cnnvp_norm k = *norm;
    for (uint64_t i = 0; i < n; ++i) {
        const float by_error = k.dy_scale * dy[i];
        const float by_value = k.x_scale * x[i];
        const float sum = by_error + by_value;
        dy[i] = sum + k.dy_offset;
    }
    if (k.extreme == 0.0f)
        return;
    if (extremes->max_at >= first && extremes->max_at - first < n)
        dy[extremes->max_at - first] += k.extreme;
    if (extremes->min_at >= first && extremes->min_at - first < n)
        dy[extremes->min_at - first] -= k.extreme;
}
