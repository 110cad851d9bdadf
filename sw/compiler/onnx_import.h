/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CNNVP_COMPILER_ONNX_IMPORT_H
#define CNNVP_COMPILER_ONNX_IMPORT_H

#include "graph.h"
#include "onnx_sizes.h"

/*
 * Reads an ONNX file into a graph that is not simplified yet. The batch dimension is left out: images run one by one,
 * whatever number the file says. weightless: no tensor data are read but shapes. The graph is cleared if it fails;
 * `file` must live as long as the graph.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_import(const char *file, int weightless, struct cnnvp_graph *graph,
                                              struct cnnvp_error *error);
/* The same with something that settles sizes of its input, NULL for nothing. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_import_sized(const char *file, const struct cnnvp_onnx_sizes *sizes,
                                                    int weightless, struct cnnvp_graph *graph,
                                                    struct cnnvp_error *error);

#endif
