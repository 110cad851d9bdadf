/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer functions of S000, algorithms 1 to 5, with their arguments: layer parameters, input address, output
 * address, parameter address and next-layer storage parameters. Here an address is a box of a tensor, in memory or on
 * chip. The parameter address is the layer's entry in the weight tile table. The next-layer storage parameters are the
 * output tensor's frame (struct cnnvp_tensor).
 *
 * Each function does one step of a layer: as much as the output buffer holds at once (S000 A1 L22, Part B 0-13). The
 * caller, schedule.c, cuts layers into steps. Loop bounds of S000 are last valid indexes (Part B 0-1); here they are
 * counts. S000's loops over 3x3 kernel pieces, h and w run in the PE array; one instruction covers them.
 *
 * All functions push instructions and return. They sleep only while the instruction queue is full.
 */
#ifndef CNNVP_GUEST_LAYERS_H
#define CNNVP_GUEST_LAYERS_H

#include "pipeline.h"

/* One step: it computes the box `output`, with all channels of a group, and stores it as the box `place` of the output
 * tensor. The two are the same except in depth-first order, where `output` is relative to the block. */
struct cnnvp_step {
    struct cnnvp_box output;
    const struct cnnvp_box *place;
    uint32_t seed; /* added to the seed of stochastic rounding */
    uint32_t
        more_images; /* images after the one in work that the step computes, too: of conv, fc and batch statistics */
};

/* A1 convolution, with the bias as P + A (Part B X-9). */
void cnnvp_convolution(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* The same for a layer whose weights are a tensor, that is folded, scaled, or passes results through a table. */
void cnnvp_any_convolution(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* A2 pooling, maximum or average. */
void cnnvp_pooling(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* A3 activation: layer->posts[0] is the function. */
void cnnvp_activation(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* A4 batch normalisation, with stored statistics or with those of the data (three sweeps). */
void cnnvp_normalisation(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* A5 fully connected. step->output.channels counts outputs. */
void cnnvp_fully_connected(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* Elementwise sum, difference, product, quotient, maximum or minimum of two tensors on the vector unit (residual
 * connection, squeeze and excite). */
void cnnvp_addition(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);
/* Softmax over the rows, columns or channels of a tensor. */
void cnnvp_softmax(struct cnnvp_guest *guest, const struct cnnvp_layer *layer, const struct cnnvp_step *step);

#endif
