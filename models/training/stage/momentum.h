/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stochastic gradient descent with momentum (Part B 1-16, 1-17, 1-26), the rule of `update` and `bn_update`. All in
 * binary32, in this order, each operation rounded:
 *
 *   velocity = momentum * velocity + gradient
 *   value    = value - rate * velocity
 *
 * Gradients come as sums over the batch or as means: whichever the error at the top was scaled for.
 */
#ifndef CNNVP_STAGE_MOMENTUM_H
#define CNNVP_STAGE_MOMENTUM_H

#include "cnnvp_model.h"

/* `velocity` starts as zeros; NULL: none is kept, momentum does not count. */
void cnnvp_update_values(float rate, float momentum, const float *gradient, uint64_t n, float *velocity, float *values);

#endif
