/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a graph in float32, image by image: for the choice of number formats, as the reference beside the platform's
 * results, and for --dump. Sums are formed in one fixed order without contraction and the exponential function is this
 * library's own, so the results are the same on every host.
 */
#ifndef CNNVP_COMPILER_FLOATREF_H
#define CNNVP_COMPILER_FLOATREF_H

#include "float_conv.h"

/* Largest magnitudes of a normalisation with statistics of the data. */
struct cnnvp_norm_max {
    float inverse; /* 1 / sigma */
    float scale;
    float offset;
};

struct cnnvp_floatref {
    const struct cnnvp_graph *graph;
    int ordinary;     /* 1: depth-first chains are padded at the edges of maps, as if they ran layer by layer */
    float *block;     /* room for a block's input and output */
    float **data;     /* one for each tensor; views point into their base */
    float *pre_max;   /* one for each layer: largest magnitude before the posts */
    struct cnnvp_norm_max *norm_max; /* one for each layer, over all images so far */
    const struct cnnvp_float_kernels *kernels;
    struct cnnvp_float_scratch scratch;
    int (*stopped)(void); /* asked before each layer: not 0 leaves the rest of an image out; NULL: never */
};

CNNVP_MUST_USE cnnvp_result cnnvp_floatref_new(const struct cnnvp_graph *graph, struct cnnvp_floatref *run,
                                               struct cnnvp_error *error);
void cnnvp_floatref_clear(struct cnnvp_floatref *run);

/* Runs one image; `input` has the words of the graph's input. Afterwards run->data holds all tensors. */
void cnnvp_floatref_image(struct cnnvp_floatref *run, const float *input);

#endif
