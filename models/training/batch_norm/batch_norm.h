/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch norm of S001 (kind `batch_norm`) and its arithmetic, free of any host: forward and backward for training, in
 * range form and in standard form (Part B 1-6, 1-12, 1-26). n values a channel, over all images of the batch.
 *
 *   sigma     standard: sqrt(sum (x - mean)^2 / n + epsilon)     range: C(n) * (max - min) + epsilon
 *             C(n) = 0.54 / sqrt(2 ln n), C(1) = 0.54
 *   forward   y = gamma * (x - mean) / sigma + beta
 *   backward  dbeta = sum dy, dgamma = sum dy * (x - mean) / sigma
 *             standard: dx = gamma / sigma * (dy - dbeta / n - (x - mean) / sigma * dgamma / n)
 *             range:    dx = gamma / sigma * (dy - dbeta / n), and -gamma / sigma * dgamma * C(n) more at the maximum,
 *             as much less at the minimum (the first of equal ones): the true derivative
 *   stored    mean and sigma are the running ones (inference); dx = gamma / sigma * dy
 *   none      y = x + beta, dx = dy: layers without batch norm; beta may be their bias. mean 0, sigma 1, dgamma 0
 *
 * Without values n counts as 1, their mean and range as 0.
 *
 * What works on values is multiply-add alone (S001 D-sum): y = scale * x + offset, dx = dy_scale * dy + x_scale * x
 * + dy_offset, in binary32, products and sums rounded one after the other, in this order. Constants of a channel are
 * made in binary64 and rounded once. An epsilon of 0 with equal values gives infinities: the caller chooses it above 0.
 */
#ifndef CNNVP_BATCH_NORM_H
#define CNNVP_BATCH_NORM_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_batch_norm;

#endif
