/* SPDX-License-Identifier: Apache-2.0 */
/* Builds ONNX files for tests. Names and arrays live until builder_free. */
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

/* A dimension of -1 is the symbol N. */
void builder_input(struct builder *builder, const char *name, size_t rank, const int64_t *dims);
void builder_output(struct builder *builder, const char *name);

/* A node with up to four inputs; NULL ends them. The node has the name of its output. */
Onnx__NodeProto *builder_node(struct builder *builder, const char *op_type, const char *output, const char *a,
                              const char *b, const char *c, const char *d);
/* Adds an input to the node. */
void builder_operand(struct builder *builder, Onnx__NodeProto *node, const char *name);
/* Adds outputs that no node reads. */
void builder_more_outputs(struct builder *builder, Onnx__NodeProto *node, size_t count);
void builder_int(struct builder *builder, Onnx__NodeProto *node, const char *name, int64_t value);
void builder_float(struct builder *builder, Onnx__NodeProto *node, const char *name, float value);
void builder_string(struct builder *builder, Onnx__NodeProto *node, const char *name, const char *value);
void builder_ints(struct builder *builder, Onnx__NodeProto *node, const char *name, size_t count,
                  const int64_t *values);

/* Adds declarations and nodes from a text in ONNX's textual syntax:
 *
 *     float[N, 4, 6, 6] x   float[2] k = {1, 2.5}   y = Conv <pads = [1, 1, 1, 1], group = 2> (x, w)
 *
 * A tensor without values is an input of the network. If there are fewer values than elements, the last one is
 * repeated;
 * {} are random numbers from -1 to 1, {~0.3} from -0.3 to 0.3. Types: float, int64, int8, uint8, uint16. */
void builder_parse(struct builder *builder, const char *text);

/* Adds an attribute with the graph of another builder, which must live as long. */
void builder_branch(struct builder *builder, Onnx__NodeProto *node, const char *name, struct builder *branch);

/* Adds weights as raw data. builder_random: uniform between -scale and scale. */
Onnx__TensorProto *builder_floats(struct builder *builder, const char *name, size_t rank, const int64_t *dims,
                                  const float *values);
Onnx__TensorProto *builder_int64s(struct builder *builder, const char *name, size_t count, const int64_t *values);
Onnx__TensorProto *builder_random(struct builder *builder, const char *name, size_t rank, const int64_t *dims,
                                  float scale);
/* Moves the tensor's data to a file beside the network: only the reference is stored. */
void builder_outside(struct builder *builder, Onnx__TensorProto *tensor, const char *file);
uint64_t builder_next(struct builder *builder);

/* The file's bytes; release with free(). */
uint8_t *builder_pack(struct builder *builder, size_t *size);
/* Writes the network to a new temporary file, frees the builder, and stores the file's name in `name` (64 bytes). */
void builder_save(struct builder *builder, char *name);
/* Writes the bytes to a new temporary file and stores its name in `name` (64 bytes). */
void builder_write(const uint8_t *bytes, size_t size, char *name);

#endif
