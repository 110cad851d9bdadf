/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX files to graphs, for inference and for training, and trained values back into a copy of the file. */
#ifndef CNNVP_COMPILER_ONNX_H
#define CNNVP_COMPILER_ONNX_H

#include "graph.h"

/* ---- what is said beside the file: sizes of the network's input that it leaves open as symbols, its outputs, and what
 * is to become of it ---- */

/* NULL for the struct: nothing settles them. */
struct cnnvp_onnx_sizes {
    const char *const *shapes; /* each "[NAME=]1x3x320x320": struct cnnvp_network_options */
    size_t shape_count;
    /* Images, whose shapes count, aligned at the last size: of the first input, and by name. */
    const struct cnnvp_array *images; /* may be NULL */
    const struct cnnvp_named_array *named;
    size_t named_count;
    const char *const *until; /* tensors that are the outputs in place of the file's */
    size_t until_count;
    const char *const *from; /* tensors that are inputs in place of what makes them in the file */
    size_t from_count;
    int joins_steps; /* of the graph */
};

/* ---- inference ---- */

/*
 * Reads an ONNX file into a graph that is not simplified yet. The batch dimension is left out: images run one by one,
 * whatever number the file says. weightless: no tensor data are read but shapes. The graph is cleared if it fails;
 * `file` must live as long as the graph. sizes: what settles sizes of its input, NULL for nothing.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_import_sized(const char *file, const struct cnnvp_onnx_sizes *sizes,
                                                    int weightless, struct cnnvp_graph *graph,
                                                    struct cnnvp_error *error);

/* The operators of a file's nodes, those of functions and branches left out, in the order in which they come. */
struct cnnvp_onnx_operator {
    const char *op_type;
    size_t nodes;
    int known; /* 0: no such node can be imported; unless no input reaches it, or no output needs it */
};
struct cnnvp_onnx_operators {
    struct cnnvp_arena arena;
    struct cnnvp_onnx_operator *all;
    size_t count;
};
/* Cleared if it fails; otherwise to be cleared. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_operators(const char *file, struct cnnvp_onnx_operators *operators,
                                                 struct cnnvp_error *error);
void cnnvp_onnx_operators_clear(struct cnnvp_onnx_operators *operators);

/* ---- networks that learn: every parameter is kept apart, and where the file has it ---- */

struct cnnvp_train_import_options {
    int random_weights; /* 1: all parameters are drawn; 0: those that the file has no values for */
    uint64_t seed;
    int weightless;                       /* 1: no values at all (timing-only) */
    const struct cnnvp_onnx_sizes *sizes; /* what settles the input's, or NULL */
};

/*
 * As cnnvp_onnx_import_sized, but:
 * - BatchNormalization is a normalisation with weights gamma, bias beta, and mean, variance, epsilon beside them.
 * - The bias that an Add puts after a matrix product or convolution is that layer's bias.
 * - Parameters may lack values: initialisers with a shape alone, and inputs of the graph other than the first. They are
 *   drawn: kernels and matrices normal with variance 2 / (inputs of an output), gamma and variance 1, beta, bias and
 *   mean 0. Value i of a parameter is cnnvp_normal(hash of seed and its name in the file, i), whatever else is drawn.
 * - Origins of weights, biases, means, variances are set where the file has one value for each.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_import_training(const char *file,
                                                       const struct cnnvp_train_import_options *options,
                                                       struct cnnvp_graph *graph, struct cnnvp_error *error);

/*
 * Writes the file `to`, which appears when it is complete: `from`, from which the graph was imported for training, with
 * the values of the graph's layers. A parameter that several nodes share, or that other nodes compute, becomes one of
 * its own.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_export(const char *from, const char *to, const struct cnnvp_graph *graph,
                                              struct cnnvp_error *error);

#endif
