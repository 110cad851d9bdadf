/* SPDX-License-Identifier: Apache-2.0 */
/* Networks that are one chain of convolutions and 2x2 maximum pools, as ONNX files, described or random. */
#ifndef TEST_DEPTH_CHAIN_H
#define TEST_DEPTH_CHAIN_H

#include <stdint.h>

#define CHAIN_LAYERS 12

struct chain_layer {
    int pool; /* 2x2 maximum pool; the rest does not matter */
    uint32_t channels;
    uint32_t kx, ky;
    uint32_t dilation;
    int depthwise;
    int relu;
};

struct chain {
    uint32_t channels, height, width; /* of the input */
    uint32_t layer_count;
    struct chain_layer layers[CHAIN_LAYERS];
    int head;    /* a convolution of stride 2 comes first: the input is twice as large on both sides */
    int outputs; /* a fully connected layer follows with this many outputs; 0: none */
    uint64_t seed;
};

/* The worked example of S004: convolution 3x3, pool, twice, on a 16x16 map. */
struct chain chain_worked(uint32_t channels);
struct chain chain_random(uint64_t seed, uint32_t block);

/* Writes the network to a new temporary file; `name` has room for 64. */
void chain_write(const struct chain *chain, char *name);

#endif
