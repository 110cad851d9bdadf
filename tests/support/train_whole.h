/* SPDX-License-Identifier: Apache-2.0 */
/* The units' functions over whole batches, as the tests of formulas take them. */
#ifndef CNNVP_TEST_WHOLE_H
#define CNNVP_TEST_WHOLE_H

#include "training/batch_norm/batch_norm.h"
#include "training/stage/extremes.h"
#include "training/stage/sums.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* A tensor [images][channels][plane]. */
struct tensor_shape {
    uint64_t images;
    uint64_t channels;
    uint64_t plane;
};

/* A channel's entries in the three buffers. */
struct channel {
    struct cnnvp_extremes extremes;
    struct cnnvp_sums sums;
    struct cnnvp_norm norm;
};

static inline struct cnnvp_extremes no_extremes(void)
{
    return (struct cnnvp_extremes){.min = INFINITY, .max = -INFINITY};
}

static inline void whole_clear(struct channel *channels, uint64_t count)
{
    for (uint64_t c = 0; c < count; ++c)
        channels[c] = (struct channel){.extremes = no_extremes()};
}

/* Takes images first_image .. of a batch in. */
static inline void whole_statistics(const struct tensor_shape *shape, uint64_t first_image, const float *x,
                                    struct channel *channels)
{
    for (uint64_t n = 0; n < shape->images; ++n)
        for (uint64_t c = 0; c < shape->channels; ++c) {
            const float *plane = x + (n * shape->channels + c) * shape->plane;
            cnnvp_extremes_add(plane, shape->plane, (first_image + n) * shape->plane, &channels[c].extremes);
            cnnvp_sum_add(plane, shape->plane, &channels[c].sums);
        }
}

static inline void whole_forward(const struct tensor_shape *shape, bool range, float epsilon, const float *x,
                                 const float *gamma, const float *beta, struct channel *channels, float *y)
{
    memcpy(y, x, shape->images * shape->channels * shape->plane * sizeof *y);
    for (uint64_t c = 0; c < shape->channels; ++c) {
        for (uint64_t n = 0; n < shape->images && !range; ++n)
            cnnvp_sum_add_squares(x + (n * shape->channels + c) * shape->plane, shape->plane, &channels[c].sums);
        channels[c].norm.gamma = gamma[c];
        channels[c].norm.beta = beta[c];
        cnnvp_norm_coefficients(range ? CNNVP_NORM_RANGE : CNNVP_NORM_STANDARD, epsilon, 0.0f, &channels[c].extremes,
                                &channels[c].sums, &channels[c].norm);
    }
    for (uint64_t n = 0; n < shape->images; ++n)
        for (uint64_t c = 0; c < shape->channels; ++c)
            cnnvp_norm_forward(&channels[c].norm, y + (n * shape->channels + c) * shape->plane, shape->plane);
}

/* dx may be dy. */
static inline void whole_backward(const struct tensor_shape *shape, bool range, const float *x, const float *dy,
                                  struct channel *channels, float *dx)
{
    memmove(dx, dy, shape->images * shape->channels * shape->plane * sizeof *dx);
    for (uint64_t c = 0; c < shape->channels; ++c) {
        struct channel *channel = &channels[c];
        for (uint64_t n = 0; n < shape->images; ++n) {
            const uint64_t at = (n * shape->channels + c) * shape->plane;
            cnnvp_norm_reduce(&channel->extremes, n * shape->plane, x + at, dx + at, shape->plane, &channel->norm);
        }
        cnnvp_norm_coefficients_back(range ? CNNVP_NORM_RANGE : CNNVP_NORM_STANDARD, &channel->norm);
        for (uint64_t n = 0; n < shape->images; ++n) {
            const uint64_t at = (n * shape->channels + c) * shape->plane;
            cnnvp_norm_backward(&channel->norm, &channel->extremes, n * shape->plane, x + at, dx + at, shape->plane);
        }
    }
}

#endif
