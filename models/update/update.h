/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradient update and BN-gradient update of S001, free of any host: stochastic gradient descent with momentum (Part B
 * 1-16, 1-17, 1-26). All in binary32, in this order, each operation rounded:
 *
 *   velocity = momentum * velocity + gradient
 *   value    = value - rate * velocity
 *
 * The same rule updates kernels, gamma and beta. Gradients come as sums over the batch or as means: whichever the error
 * at the top was scaled for.
 */
#ifndef CNNVP_UPDATE_H
#define CNNVP_UPDATE_H

#include "bfp/bfp.h"

struct cnnvp_update_rule {
    float rate;
    float momentum;
};

/* Of a 32-bit master copy. `velocity` starts as zeros; with momentum 0 it may be NULL. */
void cnnvp_update_master(const struct cnnvp_update_rule *rule, const float *gradient, uint64_t n, float *velocity,
                         float *values);

/*
 * Of weights that are kept in block floating point alone (the literal reading of S001): mantissas become binary32, are
 * updated, and are rounded again by `format`, the block's exponent found anew. `work` holds n floats. format->seed
 * should differ from step to step. Up to 8 mantissa bits; CNNVP_OK or CNNVP_E_INVAL.
 */
CNNVP_MUST_USE int cnnvp_update_narrow(const struct cnnvp_update_rule *rule, const struct cnnvp_bfp_format *format,
                                       const struct cnnvp_bfp_layout *layout, const float *gradient, float *velocity,
                                       float *work, int8_t *mantissas, int8_t *exponents,
                                       struct cnnvp_bfp_counts *counts);

/* BN-gradient update where errors were left unscaled by batch norm: gradient * (gamma / sigma) of the kernel's output
 * channel, `per_channel` values each. */
void cnnvp_update_scale_gradient(const float *factors, uint64_t channels, uint64_t per_channel, float *gradient);

#endif
