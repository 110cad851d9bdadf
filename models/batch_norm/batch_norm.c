/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm, forward and backward. See batch_norm.h. */
#include "batch_norm.h"

#include "elementary/elementary.h"

#include <math.h>

/* Published for range batch norm (Banner 2018): sigma of a normal distribution from the range of n values. */
#define RANGE_FACTOR 0.54

double cnnvp_batch_norm_range_factor(uint64_t n)
{
    return n > 1u ? RANGE_FACTOR / sqrt(2.0 * cnnvp_elementary_ln((double)n)) : RANGE_FACTOR;
}

static const float *plane_at(const struct cnnvp_tensor_shape *shape, const float *values, uint64_t image, uint64_t c)
{
    return values + (image * shape->channels + c) * shape->plane;
}

static double sigma_of(const struct cnnvp_tensor_shape *shape, bool range, double epsilon, const float *x,
                       const struct cnnvp_channel_statistics *statistics, uint64_t c, double mean)
{
    const uint64_t n = shape->images * shape->plane;
    double squares = 0.0;
    if (range)
        return cnnvp_batch_norm_range_factor(n) * ((double)statistics[c].max - (double)statistics[c].min) + epsilon;
    for (uint64_t image = 0; image < shape->images; ++image)
        squares += cnnvp_sum_of_squares(plane_at(shape, x, image, c), shape->plane, mean);
    return sqrt(squares / (double)n + epsilon);
}

void cnnvp_batch_norm_forward(const struct cnnvp_tensor_shape *shape, bool range, double epsilon, const float *x,
                              const struct cnnvp_channel_statistics *statistics, const float *gamma,
                              const float *beta, struct cnnvp_batch_norm_channel *channels, float *y)
{
    const double n = (double)(shape->images * shape->plane);
    for (uint64_t c = 0; c < shape->channels; ++c) {
        struct cnnvp_batch_norm_channel *channel = &channels[c];
        *channel = (struct cnnvp_batch_norm_channel){.mean = statistics[c].sum / n};
        channel->sigma = sigma_of(shape, range, epsilon, x, statistics, c, channel->mean);
        const double scale = (double)gamma[c] / channel->sigma;
        channel->scale = (float)scale;
        channel->offset = (float)((double)beta[c] - scale * channel->mean);
    }
    for (uint64_t image = 0; image < shape->images; ++image)
        for (uint64_t c = 0; c < shape->channels; ++c) {
            const float scale = channels[c].scale;
            const float offset = channels[c].offset;
            const float *from = plane_at(shape, x, image, c);
            float *to = y + (image * shape->channels + c) * shape->plane;
            for (uint64_t i = 0; i < shape->plane; ++i) {
                const float product = scale * from[i];
                to[i] = product + offset;
            }
        }
}

/* The constants of dx = dy_scale * dy + x_scale * x + offset, and what the extremes get. */
struct backward {
    float dy_scale;
    float x_scale;
    float offset;
    float extreme;
};

static struct backward constants(bool range, double n, float gamma, const struct cnnvp_batch_norm_channel *channel)
{
    const double scale = (double)gamma / channel->sigma;
    const double slope = range ? 0.0 : -scale * channel->dgamma / n / channel->sigma;
    return (struct backward){
        .dy_scale = (float)scale,
        .x_scale = (float)slope,
        .offset = (float)(-scale * channel->dbeta / n - slope * channel->mean),
        .extreme = range ? (float)(-scale * channel->dgamma * cnnvp_batch_norm_range_factor((uint64_t)n)) : 0.0f,
    };
}

static void reduce(const struct cnnvp_tensor_shape *shape, const float *x, const float *dy, uint64_t c,
                   struct cnnvp_batch_norm_channel *channel)
{
    double products = 0.0;
    channel->dbeta = 0.0;
    for (uint64_t image = 0; image < shape->images; ++image) {
        const float *errors = plane_at(shape, dy, image, c);
        channel->dbeta += cnnvp_sum(errors, shape->plane);
        products += cnnvp_sum_of_products(errors, plane_at(shape, x, image, c), shape->plane, channel->mean);
    }
    channel->dgamma = products / channel->sigma;
}

void cnnvp_batch_norm_backward(const struct cnnvp_tensor_shape *shape, bool range, const float *x, const float *dy,
                               const struct cnnvp_channel_statistics *statistics, const float *gamma,
                               struct cnnvp_batch_norm_channel *channels, float *dx)
{
    const double n = (double)(shape->images * shape->plane);
    for (uint64_t c = 0; c < shape->channels; ++c) {
        reduce(shape, x, dy, c, &channels[c]);
        const struct backward k = constants(range, n, gamma[c], &channels[c]);
        for (uint64_t image = 0; image < shape->images; ++image) {
            const float *values = plane_at(shape, x, image, c);
            const float *errors = plane_at(shape, dy, image, c);
            float *to = dx + (image * shape->channels + c) * shape->plane;
            for (uint64_t i = 0; i < shape->plane; ++i) {
                const float by_error = k.dy_scale * errors[i];
                const float by_value = k.x_scale * values[i];
                const float sum = by_error + by_value;
                to[i] = sum + k.offset;
            }
        }
        if (range) {
            const uint64_t most = statistics[c].max_at;
            const uint64_t least = statistics[c].min_at;
            dx[(most / shape->plane * shape->channels + c) * shape->plane + most % shape->plane] += k.extreme;
            dx[(least / shape->plane * shape->channels + c) * shape->plane + least % shape->plane] -= k.extreme;
        }
    }
}
