/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stochastic gradient descent with momentum (Part B 1-16, 1-17, 1-26): the rule of `update` and `bn_update`. In
 * binary32, in this order, with each operation rounded:
 *
 *   velocity = momentum * velocity + gradient
 *   value    = value - rate * velocity
 *
 * Gradients are sums or means over the batch, depending on the scale of the error at the top.
 */
#pragma once

#include "cnnvp_model.h"

/* Updates n values. `velocity` must start as zeros. NULL: no velocity, and `momentum` is not used. */
void cnnvp_update_values(float rate, float momentum, const float *gradient, uint64_t n, float *velocity, float *values);
