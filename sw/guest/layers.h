/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer functions of S000, algorithms 1 to 5, with their arguments: layer parameters, input address, output
 * address, parameter address and next-layer storage parameters. Here an address is a box of a tensor (its place in
 * memory or on chip follows), the parameter address is the layer's entry in the weight tile table, and the next-layer
 * storage parameters are the output tensor's frame (struct cnnvp_tensor).
 *
 * Each function does one step of a layer: what the output buffer holds at once (S000 A1 L22, Part B 0-13); the caller,
 * schedule.c, cuts layers into steps. The loop bounds of S000 are last valid indexes (Part B 0-1); here loops count.
 * The loops over 3x3 kernel pieces, h and w of S000 run in the PE array; one instruction covers them.
 *
 * All functions push instructions and return; they sleep only while the instruction queue is full.
 */
#ifndef CNNVP_GUEST_LAYERS_H
#define CNNVP_GUEST_LAYERS_H

#include "pipeline.h"

/* One step: `output` box of the output tensor, all channels of a group. Its results go to `place` of that tensor, which
 * is `output` but depth first, where that counts from the block on. */
struct cnnvp_step {
    struct cnnvp_box output;
    const struct cnnvp_box *place;
    uint32_t seed; /* added to that of stochastic rounding */
    uint32_t
        more_images; /* of the batch after the one in work: convolution, fully connected and statistics take them */
};

/* A1 convolution, with the bias as P + A (Part B X-9). */
void cnnvp_convolution(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* The same with a tensor as weights, or of positions of one row, which it may fold. */
void cnnvp_any_convolution(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* A2 pooling, maximum or average. */
void cnnvp_pooling(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* A3 activation: layer->posts[0] is the function. */
void cnnvp_activation(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* A4 batch normalisation, with stored statistics or with those of the data (three sweeps). */
void cnnvp_normalisation(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* A5 fully connected. step->output.channels are outputs. */
void cnnvp_fully_connected(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* Sum, difference, product, quotient, maximum or minimum of two tensors (residual connection, squeeze and excite), on
 * the vector unit. */
void cnnvp_addition(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* Softmax over the rows, columns or channels of a tensor. */
void cnnvp_softmax(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);

#endif
