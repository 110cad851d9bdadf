/* SPDX-License-Identifier: Apache-2.0 */
/* What a builder has built: imported, refused, run in float. */
#ifndef ONNX_CASE_H
#define ONNX_CASE_H

#include "onnx.h"
#include "onnx_builder.h"

/* Imports and simplifies; on failure the message is in *error, and there is no graph. */
cnnvp_result onnx_case_import(struct builder *builder, int weightless, struct cnnvp_graph *graph,
                              struct cnnvp_error *error);
/* The same of a file's bytes. */
cnnvp_result onnx_case_import_bytes(const uint8_t *bytes, size_t size, int weightless, struct cnnvp_graph *graph,
                                    struct cnnvp_error *error);
/* Fails the test unless it is taken. */
void onnx_case_must_import(struct builder *builder, struct cnnvp_graph *graph);
/* Fails the test unless it is refused with a message that holds the text. */
void onnx_case_must_fail(struct builder *builder, const char *text);
/* The same with and without weights; frees the builder. */
void onnx_case_refused(struct builder *builder, const char *text);

/* A network of operator set 14 with this input and an output y. */
void onnx_case_begin(struct builder *builder, const char *input, size_t rank, const int64_t *dims);
/* A network of operator set 13 and one node from x (N, 2, 6, 6) or, rank 2, (N, 6), and `weights` (may be NULL) to y.
 */
Onnx__NodeProto *onnx_case_node(struct builder *builder, size_t rank, const char *op_type, const char *weights);

/* The network of a text (builder_parse) whose output is y. */
void onnx_case_parse(struct builder *builder, int64_t opset, const char *network);
void onnx_case_import_text(int64_t opset, const char *network, struct cnnvp_graph *graph);
/* As onnx_case_refused. */
void onnx_case_refused_text(int64_t opset, const char *network, const char *text);

/* Runs x = 0.25, 0.5, ... (in order) through the network in float. */
void onnx_case_run(const struct cnnvp_graph *graph, float *output);

#endif
