/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of the float reference model. */
#pragma once

#include "numbers.h"

/* 0: out of memory, or a convolution is too large for 32-bit offsets. */
CNNVP_MUST_USE int cnnvp_float_scratch_new(const struct cnnvp_graph *graph, struct cnnvp_float_scratch *scratch);
void cnnvp_float_scratch_free(struct cnnvp_float_scratch *scratch);

/*
 * Computes the layer's results before its posts. Sums start with the bias and add the taps in the order of input
 * channel, row, column. Each product and each sum is rounded; taps in the padding are 0.
 */
void cnnvp_float_conv(const struct cnnvp_float_kernels *kernels, const struct cnnvp_graph *graph,
                      const struct cnnvp_graph_layer *layer, const float *x, float *y,
                      const struct cnnvp_float_scratch *scratch);
