/* SPDX-License-Identifier: Apache-2.0 */
/* Import of ONNX files as graphs, for inference and for training, and export of trained values into a copy of the
 * file. */
#pragma once

#include "graph.h"

/* ---- settings beside the file: input sizes that the file leaves open, and where the network begins and ends ---- */

/* A NULL pointer to this struct: no settings. */
struct cnnvp_onnx_sizes {
    const char *const *shapes; /* each "[NAME=]1x3x320x320", as in struct cnnvp_network_options */
    size_t shape_count;
    /* Images of the first input, and of inputs by name. Their shapes settle open sizes; they are aligned at the last
     * dimension. */
    const struct cnnvp_array *images; /* may be NULL */
    const struct cnnvp_named_array *named;
    size_t named_count;
    const char *const *until; /* tensors that become the outputs instead of the file's */
    size_t until_count;
    const char *const *from; /* tensors that become inputs; the nodes that compute them in the file are not imported */
    size_t from_count;
    int joins_steps; /* value of cnnvp_graph.joins_steps */
};

/* ---- inference ---- */

/*
 * Reads an ONNX file into a graph that is not simplified yet. The batch dimension is left out: images run one by one,
 * whatever batch size the file states. With `weightless`, weights have shapes but no values. The graph is cleared on
 * failure. `file` must live as long as the graph. `sizes` settles open sizes of the input; may be NULL.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_import_sized(const char *file, const struct cnnvp_onnx_sizes *sizes,
                                                    int weightless, struct cnnvp_graph *graph,
                                                    struct cnnvp_error *error);

/* The operators of a file's top-level nodes, in the order of their first use. Nodes of functions and branches are not
 * counted. */
struct cnnvp_onnx_operator {
    const char *op_type;
    size_t nodes;
    int known; /* 0: such a node cannot be imported; an error unless no output needs the node */
};
struct cnnvp_onnx_operators {
    struct cnnvp_arena arena;
    struct cnnvp_onnx_operator *all;
    size_t count;
};
/* The list is cleared on failure; otherwise the caller clears it. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_operators(const char *file, struct cnnvp_onnx_operators *operators,
                                                 struct cnnvp_error *error);
void cnnvp_onnx_operators_clear(struct cnnvp_onnx_operators *operators);

/* A hash of the other files that have data of a network's tensors; 0: there is none, or the file is no network. */
uint64_t cnnvp_onnx_data_hash(const char *file);

/* ---- training: every parameter keeps its own values and its place in the file ---- */

struct cnnvp_train_import_options {
    int random_weights; /* 1: all parameters are drawn at random; 0: only parameters that have no values in the file */
    uint64_t seed;
    int weightless;                       /* 1: no values at all (timing-only) */
    const struct cnnvp_onnx_sizes *sizes; /* settings beside the file; may be NULL */
};

/*
 * Like cnnvp_onnx_import_sized, but:
 * - BatchNormalization becomes a normalisation with weights gamma, bias beta, and separate mean, variance and epsilon.
 * - An Add of a constant after a matrix product or convolution becomes the bias of that layer.
 * - Parameters may lack values: initialisers that have only a shape, and all inputs of the graph but the first. They
 *   are drawn: kernels and matrices from a normal distribution with variance 2 / (inputs of one output); gamma and
 *   variance are 1; beta, bias and mean are 0. Value i of a parameter is cnnvp_normal(hash of the seed and the
 *   parameter's name, i), so it does not depend on the other parameters.
 * - Origins of weights, biases, means and variances are set where the file has one value for each channel.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_import_training(const char *file,
                                                       const struct cnnvp_train_import_options *options,
                                                       struct cnnvp_graph *graph, struct cnnvp_error *error);

/*
 * Writes the trained values of the graph's layers into a copy of `from`, the file that the graph was imported from. The
 * file `to` appears only when it is complete. A parameter that several nodes share, or that other nodes compute, is
 * written as a separate parameter of its layer.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_export(const char *from, const char *to, const struct cnnvp_graph *graph,
                                              struct cnnvp_error *error);
