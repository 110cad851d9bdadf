/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The depth-first schedule of S004 in its four modules (claims 7 and 8): image division, image zero padding, feature-image
 * convolution, depth-first invocation. A block carries all channels (Part B 4-12). The functions push instructions and
 * return; they sleep only while the instruction queue is full.
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

/* NX and NY (S004 claim 3): interleaves x and y from the low bit on, adds 1, takes them apart; or reads the preset order. After
 * the last block comes the first. */
void cnnvp_next_block(const struct cnnvp_guest *guest, const struct cnnvp_image_level *level,
                      struct cnnvp_division *division);

/* ---- image zero padding (depth_padding.c) ---- */

/* Sets the frame of a block in its slot to zeros. */
void cnnvp_pad_block(struct cnnvp_guest *guest, const struct cnnvp_image_tensor *block);

/* ---- feature-image convolution (depth_convolution.c) ---- */

/* The block in the slot of layer->in gives a part of the next feature: `step` says where that goes. Its epilogue waits. */
void cnnvp_convolve_block(struct cnnvp_guest *guest, const struct cnnvp_image_layer *layer,
                          const struct cnnvp_step *step);

/* ---- depth-first invocation (depth_first.c) ---- */

/* Runs all blocks of the chain for the image in work. */
void cnnvp_depth_first(struct cnnvp_guest *guest, uint32_t chain);

#endif
