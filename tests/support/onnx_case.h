/* SPDX-License-Identifier: Apache-2.0 */
/* Checks on networks of a builder: import, refusal, and a run in float. */
#ifndef ONNX_CASE_H
#define ONNX_CASE_H

#include "onnx.h"
#include "onnx_builder.h"

/* Imports and simplifies. On failure, *error has the message and there is no graph. */
cnnvp_result onnx_case_import(struct builder *builder, int weightless, struct cnnvp_graph *graph,
                              struct cnnvp_error *error);
/* Like onnx_case_import, from the bytes of a file. */
cnnvp_result onnx_case_import_bytes(const uint8_t *bytes, size_t size, int weightless, struct cnnvp_graph *graph,
                                    struct cnnvp_error *error);
/* Fails the test if the import fails. */
void onnx_case_must_import(struct builder *builder, struct cnnvp_graph *graph);
/* Fails the test unless the import is refused with a message that contains `text`. */
void onnx_case_must_fail(struct builder *builder, const char *text);
/* Like onnx_case_must_fail, with and without weights; frees the builder. */
void onnx_case_refused(struct builder *builder, const char *text);

/* Starts a network of operator set 14 with this input and an output y. */
void onnx_case_begin(struct builder *builder, const char *input, size_t rank, const int64_t *dims);
/* A network of operator set 13 with one node from x and `weights` (may be NULL) to y. x is (N, 2, 6, 6) for rank 4,
 * else (N, 6). */
Onnx__NodeProto *onnx_case_node(struct builder *builder, size_t rank, const char *op_type, const char *weights);

/* The network of a text (builder_parse) whose output is y. */
void onnx_case_parse(struct builder *builder, int64_t opset, const char *network);
void onnx_case_import_text(int64_t opset, const char *network, struct cnnvp_graph *graph);
/* Like onnx_case_refused, for the network of a text. */
void onnx_case_refused_text(int64_t opset, const char *network, const char *text);

/* Runs the input 0.25, 0.5, 0.75, ... through the network in float. */
void onnx_case_run(const struct cnnvp_graph *graph, float *output);

#endif
