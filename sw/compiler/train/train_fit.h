/* SPDX-License-Identifier: Apache-2.0 */
/* Which tiles of a layer fit into the training engine's buffers. */
#ifndef CNNVP_COMPILER_TRAIN_FIT_H
#define CNNVP_COMPILER_TRAIN_FIT_H

#include "train_plan.h"

struct cnnvp_train_fit {
    const struct cnnvp_train_target *target;
    const struct cnnvp_train_plan_options *options;
    const struct cnnvp_train_node *node;
};

/* Forward, or the error of the input: slices of channels of the first operand meet kernels, tile of results by tile. */
int cnnvp_train_product_fits(const struct cnnvp_train_fit *fit, int error, const struct cnnvp_train_tiles *tiles);

/* Maps that go whole through the multi-function module, forward or back: this many at a time, of so many images
 * and channels. */
int cnnvp_train_maps_fit(const struct cnnvp_train_fit *fit, int back, uint32_t images, uint32_t channels);

/* A gradient: its result and the weights, and the maps that it is made of. */
int cnnvp_train_gradient_fits(const struct cnnvp_train_fit *fit, const struct cnnvp_train_tiles *tiles);
int cnnvp_train_operands_fit(const struct cnnvp_train_fit *fit, const struct cnnvp_train_tiles *tiles);
/* Rows at a time of an image of given channels: as many as fit; 0: not even one does. */
uint32_t cnnvp_train_gradient_rows(const struct cnnvp_train_fit *fit, const struct cnnvp_train_tiles *tiles);

/* Rows of weights that are quantised at a time, at most; 0: not even one fits. */
uint32_t cnnvp_train_weight_rows(const struct cnnvp_train_fit *fit);

#endif
