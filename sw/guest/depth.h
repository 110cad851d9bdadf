/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The depth-first schedule of S004 in its four modules (claims 7 and 8): image division, image zero padding,
 * feature-image convolution, depth-first invocation. A block has all channels (Part B 4-12). The functions push
 * instructions and return; they sleep only while the instruction queue is full.
 */
#ifndef CNNVP_GUEST_DEPTH_H
#define CNNVP_GUEST_DEPTH_H

#include "layers_internal.h"

/* ---- image division (depth_division.c) ---- */

/* The current block of a feature map. All zero: the first one. */
struct cnnvp_division {
    uint32_t x;
    uint32_t y;
    uint32_t number; /* in the order; in Morton order the bits of x and y, interleaved */
};

/* Goes to the next block: NX and NY of S004 claim 3 (adds 1 to the interleaved bits of x and y, and takes them apart),
 * or the next entry of the preset order. The first block follows the last. */
void cnnvp_next_block(const struct cnnvp_guest *guest, const struct cnnvp_binary_level *level,
                      struct cnnvp_division *division);

/* ---- image zero padding (depth_padding.c) ---- */

/* Zeroes the frame of a block in its slot. */
void cnnvp_pad_block(struct cnnvp_guest *guest, const struct cnnvp_tensor *block);

/* ---- feature-image convolution (depth_convolution.c) ---- */

/* A layer's step as pushed for the block before, if its descriptors stay in registers. */
struct cnnvp_repeat {
    uint32_t stands;
    uint32_t window; /* high half of its instruction */
    struct cnnvp_epilogue epilogue;
};

/* Computes, from the block in the slot of layer->in, a part of the next feature, which goes to step->place. Its
 * epilogue waits. `repeat` is NULL if the layer shares descriptor registers with others. */
void cnnvp_convolve_block(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step,
                          struct cnnvp_repeat *repeat);

/* ---- depth-first invocation (depth_first.c; in hardware depth_scheduler.c) ---- */

struct cnnvp_depth {
    const struct cnnvp_binary_group *chain;
    const struct cnnvp_binary_level *levels;
    const struct cnnvp_binary_layer *layers;
    struct cnnvp_division division[CNNVP_DEPTH_LEVELS]; /* block of each feature that is next or in work */
    uint32_t gathered[CNNVP_DEPTH_LEVELS]; /* S004's counter B_j: positions of each feature's block that are there */
    uint32_t left;                         /* blocks of feature 0 that are still to be loaded */
    struct cnnvp_repeat repeats[CNNVP_CHAIN_SETS]; /* of the first layers */
    uint32_t live[CNNVP_CHAIN_SETS];               /* 1: registers hold the `live` descriptor of feature 1, 2, ... */
    const struct cnnvp_tensor *in, *out;           /* feature 0 and the last feature in memory */
};

/* The parts of a step. These functions push instructions. */

/* Layer j computes on the block division[j]; its results wait in the output buffer. Returns the number of positions
 * computed. */
uint32_t cnnvp_depth_calculate(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t layer);
/* Loads a block of feature 0. */
void cnnvp_depth_load(struct cnnvp_guest *guest, const struct cnnvp_depth *depth,
                      const struct cnnvp_division *division);
/* Records how many positions of a feature are live in its slot; 0: its block is free. */
void cnnvp_depth_note(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t feature, uint32_t positions);
/* Stores layer j's results at their place. gathered[j + 1] must count them already. */
void cnnvp_depth_finish(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t layer);
/* Stores a complete block of the last feature to memory. */
void cnnvp_depth_emit(struct cnnvp_guest *guest, const struct cnnvp_depth *depth);

/* Runs a chain on the scheduler unit; the first block must have been loaded. Returns 0, with nothing done, if the
 * chain's instructions do not fit the scheduler's table. */
int cnnvp_depth_on_scheduler(struct cnnvp_guest *guest, struct cnnvp_depth *depth, uint32_t number);
/* To be called when the scheduler's interrupt line is up. */
void cnnvp_scheduler_interrupt(struct cnnvp_guest *guest);

/* Runs all blocks of the chain for the image in work. `number`: of its group. */
void cnnvp_depth_first(struct cnnvp_guest *guest, uint32_t number);

#endif
