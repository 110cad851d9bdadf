/* SPDX-License-Identifier: Apache-2.0 */
/* The training engine as configured, and how a network's layers are cut to fit its buffers. */
#ifndef CNNVP_COMPILER_TRAIN_PLAN_H
#define CNNVP_COMPILER_TRAIN_PLAN_H

#include "binary/train_binary.h"
#include "plan.h"
#include "train_net.h"

struct cnnvp_train_target {
    uint32_t arrays;     /* images, or channels in gradients, at a time */
    uint32_t cols;       /* kernels at a time */
    uint32_t fc_kernels; /* in fully connected layers, forward and error */
    uint32_t rows;       /* PEs of a column */
    uint32_t mantissa_bits;
    uint32_t value_bytes;                          /* of a mantissa */
    int error_rows;                                /* pe_array.gradient: error-rows */
    int stages_positions;                          /* encode.positions: staged */
    uint64_t input_half, weight_half, output_half; /* bytes */
    struct cnnvp_train_zones zones[3];             /* of the input, the weight and the intermediate buffer */
    uint32_t input_halves, weight_halves, output_halves;
    /* Buffers of the multi-function module, bytes. */
    uint64_t max_min, sum, batch_norm, relu, id, output_data;
    uint32_t core_ps;        /* of a cycle */
    cnnvp_units *units;      /* asked what instructions take */
    struct cnnvp_target map; /* memory, element, interrupt controller */
};

/* 1: the configuration's PE array is a training engine. */
int cnnvp_train_target_is(const cnnvp_config *config);
CNNVP_MUST_USE cnnvp_result cnnvp_train_target_read(const cnnvp_config *config, struct cnnvp_train_target *target,
                                                    struct cnnvp_error *error);
/* What the header of a binary says of the engine. */
void cnnvp_train_target_describe(const struct cnnvp_train_target *target, struct cnnvp_train_binary *header);
void cnnvp_train_target_clear(struct cnnvp_train_target *target);

struct cnnvp_train_plan_options {
    enum cnnvp_train_binary_block block;
    uint32_t images; /* of a batch */
    int learns;      /* 0: forward only */
    int narrow;      /* weights are kept in block floating point alone */
    int by_channel;  /* partial sums go to memory for each input channel */
};

/* Blocks of what a layer reads and of its errors: fully connected ones take none of channels. */
enum cnnvp_train_binary_block cnnvp_train_plan_block(const struct cnnvp_train_plan_options *options,
                                                     const struct cnnvp_train_node *node);
/* Exponents of such a tensor of that many channels. */
uint32_t cnnvp_train_plan_exponents(const struct cnnvp_train_plan_options *options, const struct cnnvp_train_node *node,
                                    uint32_t channels);
/* Entries of the max-min buffer that a layer needs at once. */
uint64_t cnnvp_train_plan_entries(const struct cnnvp_train_plan_options *options, const struct cnnvp_train_node *node);
/* Bytes of a map of `values` as a bit string of `width` bits each. */
uint64_t cnnvp_train_plan_packed(uint64_t values, uint64_t width);

struct cnnvp_train_pricer; /* train_price.h */

/* Fills the shape and the tiles of `layer`. first: its images come from the data set. The error names the node whose
 * smallest tile does not fit. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_plan(
    const struct cnnvp_graph *graph, const struct cnnvp_train_node *node, const struct cnnvp_train_target *target,
    const struct cnnvp_train_plan_options *options, int first, struct cnnvp_train_pricer *pricer,
    struct cnnvp_train_layer *layer, struct cnnvp_error *error);

/* ---- which tiles of a layer fit into the buffers (train_fit.c) ---- */

struct cnnvp_train_fit {
    const struct cnnvp_train_target *target;
    const struct cnnvp_train_plan_options *options;
    const struct cnnvp_train_node *node;
};

/* Forward, or the error of the input: slices of channels of the first operand meet kernels, tile of results by tile. */
int cnnvp_train_product_fits(const struct cnnvp_train_fit *fit, int error, const struct cnnvp_train_tiles *tiles);

/* Maps that go whole through the multi-function module, forward or back: this many at a time, of so many images
 * and channels. */
int cnnvp_train_maps_fit(const struct cnnvp_train_fit *fit, int back, uint32_t images, uint32_t channels);

/* A gradient: its result and the weights, and the maps that it is made of. */
int cnnvp_train_gradient_fits(const struct cnnvp_train_fit *fit, const struct cnnvp_train_tiles *tiles);
int cnnvp_train_operands_fit(const struct cnnvp_train_fit *fit, const struct cnnvp_train_tiles *tiles);
/* Rows at a time of an image of given channels: as many as fit; 0: not even one does. */
uint32_t cnnvp_train_gradient_rows(const struct cnnvp_train_fit *fit, const struct cnnvp_train_tiles *tiles);

/* Rows of weights that are quantised at a time, at most; 0: not even one fits. */
uint32_t cnnvp_train_weight_rows(const struct cnnvp_train_fit *fit);

#endif
