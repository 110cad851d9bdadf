/* SPDX-License-Identifier: Apache-2.0 */
/* The reference's sums of products: sums from inputs and weights, errors of the input, gradients of the weights. */
#ifndef TRAIN_PRODUCTS_H
#define TRAIN_PRODUCTS_H

#include "train_tensor.h"

enum train_pass { TRAIN_PASS_FORWARD, TRAIN_PASS_ERROR, TRAIN_PASS_GRADIENT };

/* Side of a map after the layer's sums. */
uint32_t train_out_side(const struct train_layer *layer, uint32_t side);

/* What the arithmetic after the sums is done in. */
double train_narrow(const struct train_net *net, double x);

/* The n results of a pass over this many images. */
void train_products(const struct train_net *net, const struct train_layer *layer, enum train_pass pass, uint32_t images,
                    uint64_t n, double *to);

#endif
