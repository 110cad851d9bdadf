/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch norm of S001 with its buffer, free of any host: forward and backward for training, in range form and in
 * standard form (Part B 1-6, 1-12, 1-26). n values a channel, over all images of the batch.
 *
 *   sigma     standard: sqrt(sum (x - mean)^2 / n + epsilon)     range: C(n) * (max - min) + epsilon
 *             C(n) = 0.54 / sqrt(2 ln n), C(1) = 0.54
 *   forward   y = gamma * (x - mean) / sigma + beta
 *   backward  dbeta = sum dy, dgamma = sum dy * (x - mean) / sigma
 *             standard: dx = gamma / sigma * (dy - dbeta / n - (x - mean) / sigma * dgamma / n)
 *             range:    dx = gamma / sigma * (dy - dbeta / n), and -gamma / sigma * dgamma * C(n) more at the maximum,
 *             as much less at the minimum (the first of equal ones): the true derivative
 *
 * What works on values is multiply-add alone (S001 D-sum): y = scale * x + offset, dx = dy_scale * dy + x_scale * x
 * + offset, in binary32, products and sums rounded one after the other, in this order. Constants of a channel are
 * made in binary64 and rounded once. An epsilon of 0 with equal values gives infinities: the caller chooses it above 0.
 */
#ifndef CNNVP_BATCH_NORM_H
#define CNNVP_BATCH_NORM_H

#include "statistics/statistics.h"

#include <stdbool.h>

/* The BN buffer's entry of a channel. */
struct cnnvp_batch_norm_channel {
    double mean;
    double sigma;
    float scale;  /* forward: y = scale * x + offset */
    float offset;
    double dgamma; /* after backward */
    double dbeta;
};

/* C(n) of the range form. */
double cnnvp_batch_norm_range_factor(uint64_t n);

/*
 * Forward over the whole batch. `statistics` are those of x (finite values only are meant). Fills `channels` and y;
 * y may be x only if x is not wanted for backward.
 */
void cnnvp_batch_norm_forward(const struct cnnvp_tensor_shape *shape, bool range, double epsilon, const float *x,
                              const struct cnnvp_channel_statistics *statistics, const float *gamma,
                              const float *beta, struct cnnvp_batch_norm_channel *channels, float *y);

/* Backward: dx, and dgamma and dbeta of `channels`. x as in forward; dx may be dy. */
void cnnvp_batch_norm_backward(const struct cnnvp_tensor_shape *shape, bool range, const float *x, const float *dy,
                               const struct cnnvp_channel_statistics *statistics, const float *gamma,
                               struct cnnvp_batch_norm_channel *channels, float *dx);

#endif
