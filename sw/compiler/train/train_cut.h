/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles of the training engine besides those of products: whole maps on their way through the multi-function module,
 * gradients, and rows of weights that are quantised anew. Which tiles are looked at depends on the layer alone; of
 * those that fit, the one is taken that needs the least time by a replay (timeline.h).
 */
#ifndef CNNVP_COMPILER_TRAIN_CUT_H
#define CNNVP_COMPILER_TRAIN_CUT_H

#include "train_plan.h"

/* Sizes of about 1, 1/2, 1/3, 1/4, 1/6, 1/8, ... of all, in whole units, down to one. */
struct cnnvp_train_sizes {
    uint64_t all, unit;
    uint64_t now;
    uint32_t step;
};

struct cnnvp_train_sizes cnnvp_train_sizes_of(uint64_t all, uint64_t unit);
/* 0: there is no further one. */
int cnnvp_train_next_size(struct cnnvp_train_sizes *sizes);

/* train_maps.c: images and channels of whole maps, forward, or of their errors. 0: not even one map fits. */
int cnnvp_train_cut_maps(const struct cnnvp_train_target *target, const struct cnnvp_train_node *node,
                         const struct cnnvp_train_plan_options *options, int back, struct cnnvp_train_tiles *tiles);
/* Rows of weights that are quantised at a time; 0: not even one fits. */
uint32_t cnnvp_train_cut_weights(const struct cnnvp_train_target *target, const struct cnnvp_train_node *node);

/* train_gradient.c: channels, images and rows of a gradient. 0: not even the smallest tile fits. */
int cnnvp_train_cut_gradient(const struct cnnvp_train_target *target, const struct cnnvp_train_node *node,
                             const struct cnnvp_train_plan_options *options, int scattered,
                             struct cnnvp_train_tiles *tiles);

#endif
