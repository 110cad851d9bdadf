/* SPDX-License-Identifier: Apache-2.0 */
/* The training engine as configured, and the planning of tiles that fit its buffers. */
#pragma once

#include "binary/train_binary.h"
#include "plan.h"
#include "train_net.h"

struct cnnvp_train_target {
    uint32_t arrays;     /* images at a time, or channels in gradients */
    uint32_t cols;       /* kernels at a time */
    uint32_t fc_kernels; /* kernels at a time in fully connected layers, forward and error */
    uint32_t rows;       /* PEs per column */
    uint32_t mantissa_bits;
    uint32_t value_bytes;                          /* bytes of a mantissa */
    int error_rows;                                /* 1: pe_array.gradient is error-rows */
    int stages_positions;                          /* 1: encode.positions is staged */
    uint64_t input_half, weight_half, output_half; /* bytes */
    struct cnnvp_train_zones zones[3];             /* input, weight and intermediate buffer */
    uint32_t input_halves, weight_halves, output_halves;
    /* Bytes of the multi-function module's buffers. */
    uint64_t max_min, sum, batch_norm, relu, id, output_data;
    uint32_t core_ps;        /* ps of a cycle of the core */
    cnnvp_units *units;      /* units that price instructions */
    struct cnnvp_target map; /* memory, element, interrupt controller */
};

/* 1: the configuration's PE array is a training engine. */
int cnnvp_train_target_is(const cnnvp_config *config);
CNNVP_MUST_USE cnnvp_result cnnvp_train_target_read(const cnnvp_config *config, struct cnnvp_train_target *target,
                                                    struct cnnvp_error *error);
/* Fills in what a binary's header says about the engine. */
void cnnvp_train_target_describe(const struct cnnvp_train_target *target, struct cnnvp_train_binary *header);
void cnnvp_train_target_clear(struct cnnvp_train_target *target);

struct cnnvp_train_plan_options {
    enum cnnvp_train_binary_block block;
    uint32_t images; /* images of a batch */
    int learns;      /* 0: forward only */
    int narrow;      /* weights exist in block floating point only */
    int by_channel;  /* partial sums go to memory and back for each input channel */
};

/* Kind of blocks of a layer's inputs and errors. Fully connected layers have no blocks by channel. */
enum cnnvp_train_binary_block cnnvp_train_plan_block(const struct cnnvp_train_plan_options *options,
                                                     const struct cnnvp_train_node *node);
/* Number of exponents of such a tensor with this many images and channels. */
uint64_t cnnvp_train_plan_exponents(const struct cnnvp_train_plan_options *options, const struct cnnvp_train_node *node,
                                    uint64_t images, uint64_t channels);
/* Entries of the max-min buffer that a layer needs at once. */
uint64_t cnnvp_train_plan_entries(const struct cnnvp_train_plan_options *options, const struct cnnvp_train_node *node);
/* Bytes of a map whose values are packed as `width` bits each. */
uint64_t cnnvp_train_plan_packed(uint64_t values, uint64_t width);

struct cnnvp_train_pricer; /* train_price.h */

/* Fills in the shape and the tiles of `layer`. `first`: its images come from the data set. The error names the node
 * whose smallest tile does not fit. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_plan(
    const struct cnnvp_graph *graph, const struct cnnvp_train_node *node, const struct cnnvp_train_target *target,
    const struct cnnvp_train_plan_options *options, int first, struct cnnvp_train_pricer *pricer,
    struct cnnvp_train_layer *layer, struct cnnvp_error *error);

/* ---- do a layer's tiles fit into the buffers (train_fit.c) ---- */

struct cnnvp_train_fit {
    const struct cnnvp_train_target *target;
    const struct cnnvp_train_plan_options *options;
    const struct cnnvp_train_node *node;
};

/* 1: the tiles of a forward or error pass fit: a slice of channels of the first operand, its kernels, and a tile of
 * results. */
int cnnvp_train_product_fits(const struct cnnvp_train_fit *fit, int error, const struct cnnvp_train_tiles *tiles);

/* 1: this many images and channels of whole maps fit at once in post-processing, forward or backward. */
int cnnvp_train_maps_fit(const struct cnnvp_train_fit *fit, int back, uint32_t images, uint32_t channels);

/* 1: a gradient's result and the weights to update fit (gradient); the maps that it is computed from fit (operands). */
int cnnvp_train_gradient_fits(const struct cnnvp_train_fit *fit, const struct cnnvp_train_tiles *tiles);
int cnnvp_train_operands_fit(const struct cnnvp_train_fit *fit, const struct cnnvp_train_tiles *tiles);
/* Most rows of one image, with the given channels, that fit at a time; 0: not even one. */
uint32_t cnnvp_train_gradient_rows(const struct cnnvp_train_fit *fit, const struct cnnvp_train_tiles *tiles);

/* Most rows of weights that can be quantised at a time; 0: not even one. */
uint32_t cnnvp_train_weight_rows(const struct cnnvp_train_fit *fit);
