/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradient update of S001 (kind `update`) and the rule, free of any host, that BN-gradient update has as well:
 * stochastic gradient descent with momentum (Part B 1-16, 1-17, 1-26). All in binary32, in this order, each operation
 * rounded:
 *
 *   velocity = momentum * velocity + gradient
 *   value    = value - rate * velocity
 *
 * Gradients come as sums over the batch or as means: whichever the error at the top was scaled for. Weights that are
 * kept in 8 bits alone (the literal reading of S001) are decoded before and quantised behind, by other blocks.
 */
#ifndef CNNVP_UPDATE_H
#define CNNVP_UPDATE_H

#include "cnnvp_tile.h"

extern const struct cnnvp_unit cnnvp_unit_update;

/* `velocity` starts as zeros; NULL: none is kept, momentum does not count. */
void cnnvp_update_values(float rate, float momentum, const float *gradient, uint64_t n, float *velocity, float *values);

#endif
