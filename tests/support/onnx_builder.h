/* SPDX-License-Identifier: Apache-2.0 */
/* Makes ONNX files for tests. Names and arrays are kept until builder_free. */
#ifndef ONNX_BUILDER_H
#define ONNX_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "onnx.pb-c.h"

struct builder {
    Onnx__ModelProto model;
    Onnx__GraphProto graph;
    Onnx__OperatorSetIdProto opset;
    Onnx__OperatorSetIdProto *opsets[1];
    void **pieces;
    size_t piece_count;
    uint64_t random;
};

void builder_init(struct builder *builder, int64_t opset);
void builder_free(struct builder *builder);

/* Zeroed memory that lives as long as the builder. */
void *builder_alloc(struct builder *builder, size_t size);
char *builder_text(struct builder *builder, const char *text);

/* Dimension -1: the symbol N. */
void builder_input(struct builder *builder, const char *name, size_t rank, const int64_t *dims);
void builder_output(struct builder *builder, const char *name);

/* Up to four inputs, NULL ends them. The node bears the output's name. */
Onnx__NodeProto *builder_node(struct builder *builder, const char *op_type, const char *output, const char *a,
                              const char *b, const char *c, const char *d);
/* One more input. */
void builder_operand(struct builder *builder, Onnx__NodeProto *node, const char *name);
/* Further outputs, which nothing reads. */
void builder_more_outputs(struct builder *builder, Onnx__NodeProto *node, size_t count);
void builder_int(struct builder *builder, Onnx__NodeProto *node, const char *name, int64_t value);
void builder_float(struct builder *builder, Onnx__NodeProto *node, const char *name, float value);
void builder_string(struct builder *builder, Onnx__NodeProto *node, const char *name, const char *value);
void builder_ints(struct builder *builder, Onnx__NodeProto *node, const char *name, size_t count,
                  const int64_t *values);

/* Declarations and nodes in ONNX's textual syntax, one after the other:
 *
 *     float[N, 4, 6, 6] x   float[2] k = {1, 2.5}   y = Conv <pads = [1, 1, 1, 1], group = 2> (x, w)
 *
 * What has no values is an input of the network. Where there are fewer values than elements the last one counts for the
 * rest; {} are random numbers up to 1 in size, {~0.3} up to 0.3. Types: float, int64, int8, uint8, uint16. */
void builder_parse(struct builder *builder, const char *text);

/* The graph of another builder, which lives as long. */
void builder_branch(struct builder *builder, Onnx__NodeProto *node, const char *name, struct builder *branch);

/* Weights: raw float data. builder_random: uniform between -scale and scale. */
Onnx__TensorProto *builder_floats(struct builder *builder, const char *name, size_t rank, const int64_t *dims,
                                  const float *values);
Onnx__TensorProto *builder_int64s(struct builder *builder, const char *name, size_t count, const int64_t *values);
Onnx__TensorProto *builder_random(struct builder *builder, const char *name, size_t rank, const int64_t *dims,
                                  float scale);
/* The tensor's data lie in that file beside the network, and not in it. */
void builder_outside(struct builder *builder, Onnx__TensorProto *tensor, const char *file);
uint64_t builder_next(struct builder *builder);

/* The file's bytes, to be given back with free(). */
uint8_t *builder_pack(struct builder *builder, size_t *size);
/* Writes the network to a new temporary file and frees the builder; the name is kept in `name` (room 64). */
void builder_save(struct builder *builder, char *name);
/* Writes bytes to a new temporary file; the name is kept in `name` (room 64). */
void builder_write(const uint8_t *bytes, size_t size, char *name);

#endif
