/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of the float pass. */
#ifndef CNNVP_COMPILER_FLOAT_CONV_H
#define CNNVP_COMPILER_FLOAT_CONV_H

#include "numbers.h"

CNNVP_MUST_USE int cnnvp_float_scratch_new(const struct cnnvp_graph *graph, struct cnnvp_float_scratch *scratch);
void cnnvp_float_scratch_free(struct cnnvp_float_scratch *scratch);

/*
 * The layer's results before its posts: bias, then the taps of one input channel after the other, row by row, each
 * product rounded and each sum rounded; a tap in the padding counts 0.
 */
void cnnvp_float_conv(const struct cnnvp_float_kernels *kernels, const struct cnnvp_graph *graph,
                      const struct cnnvp_graph_layer *layer, const float *x, float *y,
                      const struct cnnvp_float_scratch *scratch);

#endif
