/* SPDX-License-Identifier: Apache-2.0 */
/* The reference's sums of products: outputs from inputs and weights, errors of the input, gradients of the weights. */
#ifndef TRAIN_PRODUCTS_H
#define TRAIN_PRODUCTS_H

#include "train_tensor.h"

enum train_pass { TRAIN_PASS_FORWARD, TRAIN_PASS_ERROR, TRAIN_PASS_GRADIENT };

/* Side of a map after the layer's convolution. */
uint32_t train_out_side(const struct train_layer *layer, uint32_t side);

/* Rounds to binary32, the format of the arithmetic after the sums; unchanged if bits is 0. */
double train_narrow(const struct train_net *net, double x);

/* Computes the n results of a pass over this many images. */
void train_products(const struct train_net *net, const struct train_layer *layer, enum train_pass pass, uint32_t images,
                    uint64_t n, double *to);

#endif
