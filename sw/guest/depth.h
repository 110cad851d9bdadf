/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The depth-first schedule of S004 in its four modules (claims 7 and 8): image division, image zero padding,
 * feature-image convolution, depth-first invocation. A block carries all channels (Part B 4-12). The functions push
 * instructions and return; they sleep only while the instruction queue is full.
 */
#ifndef CNNVP_GUEST_DEPTH_H
#define CNNVP_GUEST_DEPTH_H

#include "layers_internal.h"

/* ---- image division (depth_division.c) ---- */

/* Which block of a feature map is next. All zero: the first one. */
struct cnnvp_division {
    uint32_t x;
    uint32_t y;
    uint32_t number;
};

/* NX and NY (S004 claim 3): interleaves x and y from the low bit on, adds 1, takes them apart; or reads the preset
 * order. After the last block comes the first. */
void cnnvp_next_block(const struct cnnvp_guest *guest, const struct cnnvp_binary_level *level,
                      struct cnnvp_division *division);

/* ---- image zero padding (depth_padding.c) ---- */

/* Sets the frame of a block in its slot to zeros. */
void cnnvp_pad_block(struct cnnvp_guest *guest, const struct cnnvp_tensor *block);

/* ---- feature-image convolution (depth_convolution.c) ---- */

/* A layer's step as it was pushed for the block before, with descriptors that are the layer's own and stand. */
struct cnnvp_repeat {
    uint32_t stands;
    uint32_t window; /* high half of its instruction */
    struct cnnvp_epilogue epilogue;
};

/* The block in the slot of layer->in gives a part of the next feature: `step` says where that goes. Its epilogue
 * waits. `repeat` NULL: the layer shares its descriptors with others. */
void cnnvp_convolve_block(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step,
                          struct cnnvp_repeat *repeat);

/* ---- depth-first invocation (depth_first.c; in hardware depth_scheduler.c) ---- */

/* Features of a chain at most; the compiler's chains are shorter, but a guest does not trust a binary. */
#define CNNVP_DEPTH_LEVELS 256u

struct cnnvp_depth {
    const struct cnnvp_binary_chain *chain;
    const struct cnnvp_binary_level *levels;
    const struct cnnvp_binary_layer *layers;
    struct cnnvp_division division[CNNVP_DEPTH_LEVELS]; /* the block of the feature that is next, or in work */
    uint32_t gathered[CNNVP_DEPTH_LEVELS]; /* S004's counter B_j: positions of the feature's block that are there */
    uint32_t left;                         /* blocks of feature 0 that have not been loaded */
    struct cnnvp_repeat repeats[CNNVP_CHAIN_SETS]; /* of the first layers */
    uint32_t live[CNNVP_CHAIN_SETS];               /* 1: the descriptor of the values of feature 1, 2, .. stands */
};

/* What a step consists of; the functions push instructions. */

/* Layer j calculates on the block at division[j]; its results wait in the output buffer. Positions that it gives. */
uint32_t cnnvp_depth_calculate(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t layer);
/* Loads a block of feature 0. */
void cnnvp_depth_load(struct cnnvp_guest *guest, const struct cnnvp_depth *depth,
                      const struct cnnvp_division *division);
/* The block that layer j has read is free. */
void cnnvp_depth_free(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t layer);
/* Layer j's results are finished and go to their place; gathered[j + 1] counts them already. */
void cnnvp_depth_finish(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t layer);
/* A gathered block of the last feature leaves the chip. */
void cnnvp_depth_emit(struct cnnvp_guest *guest, const struct cnnvp_depth *depth);

/* Runs a chain on the scheduler, after the load of the first block. 0: its instructions do not fit there, and nothing
 * has been done. */
int cnnvp_depth_on_scheduler(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t number);
/* The scheduler's line is up. */
void cnnvp_scheduler_interrupt(struct cnnvp_guest *guest);

/* Runs all blocks of the chain for the image in work. */
void cnnvp_depth_first(struct cnnvp_guest *guest, uint32_t chain);

#endif
