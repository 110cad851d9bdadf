/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an import, and what the functions for each operator use. Between onnx_import.c and the onnx_*.c with the
 * operators. */
#ifndef CNNVP_COMPILER_ONNX_NODE_H
#define CNNVP_COMPILER_ONNX_NODE_H

#include "graph.h"
#include "onnx_read.h"
#include "onnx.h"

/* Largest dimension of anything. */
#define CNNVP_ONNX_DIMENSION_MAX (1 << 20)
/* Most elements of a constant that becomes a tensor, or stands beside one word by word. */
#define CNNVP_ONNX_CONSTANT_MAX (1 << 24)
/* Largest kernel side, stride, dilation and padding: they are packed in 16 bits (descriptors.def). */
#define CNNVP_ONNX_WINDOW_MAX 32767
/* Most dimensions of a tensor. */
#define CNNVP_ONNX_RANK CNNVP_GRAPH_RANK

/* What a name of the graph stands for: a tensor that is computed, or a constant. */
struct cnnvp_onnx_value {
    int32_t tensor; /* or CNNVP_GRAPH_NONE */
    const Onnx__TensorProto *constant;
};

/* The whole numbers that a DequantizeLinear has made a constant of, and what one stands for: one number, or one for
 * each element of the axis. */
struct cnnvp_onnx_whole {
    const struct cnnvp_onnx_whole *next;
    const Onnx__TensorProto *made;
    int bytes;    /* of 8 bits */
    int narrow;   /* less their zero points, too, whatever they are */
    int integers; /* of 32 bits or more: `numbers` has them, unless the graph is weightless */
    const int64_t *numbers;
    const float *steps;
    size_t count;
    int64_t axis;
};

struct cnnvp_import {
    struct cnnvp_onnx onnx;
    struct cnnvp_graph *graph;
    const struct cnnvp_onnx_sizes *sizes; /* may be NULL */
    struct cnnvp_names names;             /* index in values */
    struct cnnvp_onnx_value *values;
    size_t value_count;
    const struct cnnvp_onnx_whole *wholes;
    int64_t batch; /* of the network's input as the file says, 0: a symbol */
    const Onnx__NodeProto *node;
    int single;            /* the whole input is one image: tensors have a dimension of 1 in front of the file's */
    int integers;          /* the network's input, or what it makes, has whole numbers of 16 bits or more */
    int mixed;             /* it would have to be: a node would mix the images of the batch */
    int kind;              /* struct cnnvp_import_operator */
    uint32_t node_number;  /* in the file */
    uint32_t node_count;   /* that were begun */
    unsigned calls;        /* of functions, in one another */
    size_t inlined;        /* nodes that came in place of others */
    size_t constant_bytes; /* of constants that were computed */
    int training;          /* parameters stay apart, and may be without values (onnx.h) */
    struct cnnvp_error *error;
    /* The file's, where others are taken in their place; or NULL. */
    Onnx__ValueInfoProto **outputs, **inputs;
    size_t output_count, input_count;
};

/* "FILE: node "NAME" (OpType): message". */
CNNVP_MUST_USE cnnvp_result cnnvp_import_error(struct cnnvp_import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
CNNVP_MUST_USE cnnvp_result cnnvp_import_no_memory(struct cnnvp_import *import);

/* Memory of the graph for `count` of what *pointer points at, zeroed. */
#define CNNVP_IMPORT_ARRAY(import, count, pointer)                                       \
    (*(pointer) = cnnvp_arena_array(&(import)->graph->arena, count, sizeof **(pointer)), \
     *(pointer) != NULL ? CNNVP_DONE : cnnvp_import_no_memory(import))
/* A constant without values, whose dimensions are copied. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_new_constant(struct cnnvp_import *import, const char *name, int32_t type,
                                                      size_t rank, const int64_t *dims, Onnx__TensorProto **constant);
/* The name becomes that constant. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_define_constant(struct cnnvp_import *import, const char *name,
                                                         const Onnx__TensorProto *constant);

/* The value of input `index`; an error if there is no such input or nothing defines it. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_value(struct cnnvp_import *import, size_t index,
                                               struct cnnvp_onnx_value *value);
/* What a name stands for; NULL: nothing yet. As a computed tensor, or CNNVP_GRAPH_NONE; as a constant, or NULL. */
struct cnnvp_onnx_value *cnnvp_import_known(const struct cnnvp_import *import, const char *name);
int32_t cnnvp_import_known_tensor(const struct cnnvp_import *import, const char *name);
const Onnx__TensorProto *cnnvp_import_known_constant(const struct cnnvp_import *import, const char *name);
/* Input `index` as a computed tensor, rank 0: any up to 4; or as a constant. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_tensor(struct cnnvp_import *import, size_t index, uint32_t rank,
                                                int32_t *tensor);
CNNVP_MUST_USE cnnvp_result cnnvp_import_constant(struct cnnvp_import *import, size_t index,
                                                  const Onnx__TensorProto **tensor);
/* The same of up to CNNVP_ONNX_RANK dimensions. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_any_rank(struct cnnvp_import *import, size_t index, int32_t *tensor);
/* Dimensions of a value as the file counts them, the batch 0 where it is a symbol. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_value_dims(struct cnnvp_import *import, const struct cnnvp_onnx_value *value,
                                                    size_t *rank, int64_t dims[CNNVP_ONNX_RANK]);
/* The same of input `index`. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_dims_of(struct cnnvp_import *import, size_t index, size_t *rank,
                                                 int64_t dims[CNNVP_ONNX_RANK]);
/* The shape that two make together, element by element: aligned at the last dimension, where 1 counts for all; *rank
 * and dims become it. 0: they do not fit to each other. */
int cnnvp_import_join_dims(size_t *rank, int64_t dims[CNNVP_ONNX_RANK], size_t other_rank, const int64_t *other);
/* What the file says of a tensor's type and shape; NULL: nothing. */
Onnx__TypeProto *cnnvp_import_type(const struct cnnvp_import *import, const char *name);
/* 1: a node or the network's output reads that value. */
int cnnvp_import_is_read(const struct cnnvp_import *import, const char *name);
/* 1: input `index` is there. */
int cnnvp_import_has(const struct cnnvp_import *import, size_t index);

/* The constant's elements in the graph's memory; NULL in *out if the graph is weightless. The constant must have
 * `count` elements, of a type that cnnvp_import_check_floats takes. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_floats(struct cnnvp_import *import, const Onnx__TensorProto *tensor,
                                                size_t count, float **out);

/* Input `index`, a constant of one number, of floats alone where `floats` says so. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_number(struct cnnvp_import *import, size_t index, const char *what, int floats,
                                                float *number);

/* As many numbers, each the same; NULL if the graph is weightless. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_repeat(struct cnnvp_import *import, size_t count, float value, float **values);

/* Before operator set 7 a second operand's dimensions could begin at `axis` of the first one's, and slopes were one for
 * each channel: the same constant with ones after. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_old_axis(struct cnnvp_import *import, uint32_t rank,
                                                  const Onnx__TensorProto **constant);

/* Training: input `input` of the node is that parameter of the graph's last layer. Nothing else otherwise. */
void cnnvp_import_origin(struct cnnvp_import *import, enum cnnvp_graph_role role, size_t input);
/* Training, and weightless: a further input of the graph is a parameter without values. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_parameter(struct cnnvp_import *import, const Onnx__ValueInfoProto *info);
/* Training: zeros for a parameter without values; they are drawn when its layer is known. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_blank(struct cnnvp_import *import, const Onnx__TensorProto *tensor,
                                               size_t count, float **out);
/* onnx_sizes.c: an input's sizes as the file counts them, the batch 0 where it stays a symbol. A rank of more than
 * CNNVP_ONNX_RANK has only as many. `first`: of the network's inputs. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_sizes(struct cnnvp_import *import, const Onnx__ValueInfoProto *info, int first,
                                               size_t *rank, int64_t dims[CNNVP_ONNX_RANK]);
/* Names of --shape and --input are those of inputs. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_check_names(struct cnnvp_import *import);
/* The whole file, opened. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_graph(struct cnnvp_import *import);
void cnnvp_import_clear(struct cnnvp_import *import);

/* The node's first output becomes that value. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_define(struct cnnvp_import *import, const char *name,
                                                struct cnnvp_onnx_value value);
/* A layer for the node with a new output tensor of that shape, defined as the node's output; or, `inner`, under a name
 * that the file cannot use, a step on the way to it. `in` is set; an activation leaves all values as they are. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_layer(struct cnnvp_import *import, enum cnnvp_layer_op op, int32_t in,
                                               int inner, uint32_t channels, uint32_t height, uint32_t width,
                                               struct cnnvp_graph_layer **layer);
/* The same with the input's shape. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_like(struct cnnvp_import *import, enum cnnvp_layer_op op, int32_t in,
                                              int inner, struct cnnvp_graph_layer **layer);
/* That function of `in`, as the node's result or a step on the way there. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_post(struct cnnvp_import *import, int32_t in, enum cnnvp_graph_post_kind kind,
                                              float value, int inner, int32_t *out);
/* A copy of `in`, taken as channels, rows and columns of those sizes, in another order: dimension i of the result is
 * from[i]. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_permute(struct cnnvp_import *import, int32_t in, const uint32_t sizes[3],
                                                 const uint32_t from[3], int32_t *out);
/* A layer that copies `in` to `out`, a tensor that is there. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_copy(struct cnnvp_import *import, int32_t in, int32_t out,
                                              struct cnnvp_graph_layer **layer);
/* The output is the input's words in another shape; dims[0] is not used, dims[1..rank-1] have as many words; up to
 * CNNVP_ONNX_RANK dimensions. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_view(struct cnnvp_import *import, int32_t in, uint32_t rank,
                                              const int64_t *dims);
/* The name becomes that tensor. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_alias(struct cnnvp_import *import, const char *name, int32_t tensor);
/* A tensor of that shape, dims[1..rank-1], that is the network's input or that several layers will fill. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_new_tensor(struct cnnvp_import *import, const char *name, uint32_t rank,
                                                    const int64_t *dims, int32_t *tensor);
/* The words of `in` in another shape as a step on the way; `in` itself where it has that shape. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_shaped(struct cnnvp_import *import, const char *name, int32_t in,
                                                uint32_t rank, const int64_t *dims, int32_t *view);
/* The same of 4 dimensions: those before the axis, it, those after it. *axis becomes its number there, 1 or 2. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_rows(struct cnnvp_import *import, int32_t in, int64_t *axis, int32_t *view);
/* Positions of a single row or column, as rows and columns of a map: near to a square where that is without gaps, else
 * one row. An array of PEs in two dimensions has work for more of them; longer rows the planner folds
 * (layer_command.h). */
CNNVP_MUST_USE cnnvp_result cnnvp_import_positions(struct cnnvp_import *import, int32_t *in);
/* Keeps what more than 4 dimensions are; 0: no memory. */
CNNVP_MUST_USE int cnnvp_import_keep_dims(struct cnnvp_import *import, int32_t tensor, uint32_t rank,
                                          const int64_t *dims);
/* `in` becomes the part of `out` that begins at *at of an axis, from 1 on; *at moves after it. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_append(struct cnnvp_import *import, int32_t in, int32_t out, int64_t axis,
                                                int64_t *at);
/* Tensors alike woven together: element i of that axis, the rows or columns, is element i / count of
 * parts[i % count]. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_weave(struct cnnvp_import *import, const int32_t *parts, size_t count,
                                               int64_t axis, int32_t *out);
/* Softmax has a format of its own: its results go through a layer that can change it. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_reformat(struct cnnvp_import *import, int32_t *in);
/* Elements first .. first + count - 1 of an axis, from 1 on: a view of the channels, or a copy. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_cut(struct cnnvp_import *import, int32_t in, int64_t axis, int64_t first,
                                             int64_t count, int32_t *out);
/* Elements of an axis, from 1 on, that are there; those that follow one another are one copy. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_gather(struct cnnvp_import *import, int32_t in, int64_t axis,
                                                const int64_t *indices, size_t count, int32_t *out);
/* The first and the last row, or column, so often once more. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_repeat_border(struct cnnvp_import *import, int32_t *in, int columns,
                                                       uint32_t before, uint32_t after);
/* Dimensions of a tensor as ONNX has them, dims[0] for the batch: 0 where it is a symbol. Returns the rank. */
uint32_t cnnvp_import_dims(const struct cnnvp_import *import, int32_t tensor, int64_t dims[4]);
/* The same of a tensor of any rank. */
uint32_t cnnvp_import_all_dims(const struct cnnvp_import *import, int32_t tensor, int64_t dims[CNNVP_ONNX_RANK]);
/* An axis that a node names among those of a tensor with `rank` dimensions here: from 1 on. The first one is not for
 * images in a batch: that is the error of mixes, "WHAT would mix the images of the batch". */
CNNVP_MUST_USE cnnvp_result cnnvp_import_axis(struct cnnvp_import *import, uint32_t rank, int64_t named, int64_t *axis);
/* The same of `rank` dimensions as the file counts them, none of which stands for images. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_axis_of(struct cnnvp_import *import, int64_t named, size_t rank, size_t *axis);
CNNVP_MUST_USE cnnvp_result cnnvp_import_mixes(struct cnnvp_import *import, const char *what);
/* Numbers from an attribute or, since some operator set, from input `index` (at most `most`). *count is 0 where
 * neither is there. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_list(struct cnnvp_import *import, const char *attribute, size_t index,
                                              size_t most, int64_t *numbers, size_t *count);
/* An attribute that is one of the texts "A, B, C": its number among them. *choice holds what counts without. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_choice(struct cnnvp_import *import, const char *name, const char *texts,
                                                int *choice);
/* One dimension of a window. */
struct cnnvp_import_axis {
    int64_t in, kernel, stride, dilation, before, after, out;
    int64_t extra; /* positions after the last window (output_padding) */
    int partial;   /* the last window ends after the padded input (ceil_mode) */
};
/* The window's shape from the attributes, for the last `sides` of depth, rows and columns; others are one position.
 * They hold the kernel's size from the weights (0: from the attribute). */
CNNVP_MUST_USE cnnvp_result cnnvp_import_window(struct cnnvp_import *import, size_t sides,
                                                struct cnnvp_import_axis axes[3]);
/* The same of auto_pad. */
enum cnnvp_import_auto_pad { CNNVP_PAD_NOTSET, CNNVP_PAD_VALID, CNNVP_PAD_SAME_UPPER, CNNVP_PAD_SAME_LOWER };
CNNVP_MUST_USE cnnvp_result cnnvp_import_auto_pad(struct cnnvp_import *import, int *choice);
/* An attribute of `count` integers from `low` to CNNVP_ONNX_WINDOW_MAX, if it is there; `out` holds what counts
 * without. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_ints(struct cnnvp_import *import, const char *name, size_t count, int64_t low,
                                              int64_t *out);
/* x * scale[c] + offset[c] for the node, or `inner` as a step on the way there; NULL arrays are ones and zeros. The
 * layer's output is the result. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_affine(struct cnnvp_import *import, int32_t in, float *scale, float *offset,
                                                int inner, struct cnnvp_graph_layer **layer);
/* The same with one number for all channels each. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_scale(struct cnnvp_import *import, int32_t in, float factor, float offset,
                                               int inner, struct cnnvp_graph_layer **layer);
/* A constant operand: one number for each channel of a tensor, for each element of its last dimension, or for each word
 * of an image. */
enum cnnvp_import_each { CNNVP_EACH_CHANNEL = 0, CNNVP_EACH_LAST = 1, CNNVP_EACH_WORD = 2 };
struct cnnvp_import_numbers {
    enum cnnvp_import_each each;
    size_t count;
    float *values; /* NULL if the graph is weightless */
};
CNNVP_MUST_USE cnnvp_result cnnvp_import_operand(struct cnnvp_import *import, const Onnx__TensorProto *constant,
                                                 int32_t in, struct cnnvp_import_numbers *numbers);
/* x * scale + offset with such numbers, NULL as above, as the node's result or a step on the way there. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_line(struct cnnvp_import *import, int32_t in, enum cnnvp_import_each each,
                                              float *scale, float *offset, int inner, int32_t *out);
/* first (operation) second, as the node's result or a step on the way there. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_pair(struct cnnvp_import *import, enum cnnvp_layer_arithmetic operation,
                                              int32_t first, int32_t second, int inner, int32_t *out);
/* A constant as a tensor of that rank, dimensions of 1 in front. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_constants(struct cnnvp_import *import, const Onnx__TensorProto *constant,
                                                   uint32_t rank, int32_t *out);
/* The same with dimensions of 1 in front, at least `rank` in all. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_operand_tensor(struct cnnvp_import *import, size_t index, uint32_t rank,
                                                        int32_t *tensor);
/* 1: a constant operand is better a tensor, too: it has positions where the tensor has one for all of them, or would be
 * one number for each word of many dimensions. */
int cnnvp_import_is_larger(const struct cnnvp_import *import, const Onnx__TensorProto *constant, int32_t in);
/* What Expand has only noted is computed. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_expanded(struct cnnvp_import *import, int32_t *tensor);
/* *in becomes the largest along that axis, from 1 on, of which one element is left. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_largest(struct cnnvp_import *import, uint32_t axis, int32_t *in);
/* onnx_layer_norm.c: a quotient or product of two tensors that ends a normalisation becomes that: *done. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_taken_apart(struct cnnvp_import *import, int32_t numerator, int *done);
/* A constant as one number for each of `channels` of a tensor of that rank, if it has a shape for that; NULL if the
 * graph is weightless. */
int cnnvp_import_is_per_channel(const Onnx__TensorProto *constant, uint32_t rank, uint32_t channels);
CNNVP_MUST_USE cnnvp_result cnnvp_import_per_channel(struct cnnvp_import *import, const Onnx__TensorProto *constant,
                                                     uint32_t rank, uint32_t channels, float factor, float **values);

/* What is known of a constant's whole numbers is known of the node's result, too: its dimensions in another order, i
 * being from[i]. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_whole_turns(struct cnnvp_import *import, uint32_t rank, const int64_t *from);
/* What is known of whole numbers whose product the layer is: weights, and a bias in units of theirs and the input's,
 * by inputs of the node; SIZE_MAX: none. `axis` of the weights' dimensions is that of the outputs. */
void cnnvp_import_steps(struct cnnvp_import *import, struct cnnvp_graph_layer *layer, size_t weights, int64_t axis,
                        size_t bias);
/* onnx_product.c: the product of two tensors, matrix by matrix, as the node's output. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_product(struct cnnvp_import *import, int32_t first, int32_t second);

/* onnx_sequence.c: the nodes that a graph's outputs need, by their numbers in the file, each after what it reads.
 * Cleared by the caller, also after an error. */
struct cnnvp_import_sequence {
    uint32_t *nodes;
    uint32_t count;
    uint8_t *reads; /* by input of the graph: 1: it is needed */
};
CNNVP_MUST_USE cnnvp_result cnnvp_import_sequence(struct cnnvp_import *import, const Onnx__GraphProto *graph,
                                                  struct cnnvp_import_sequence *sequence);
/* 1: the network begins at that tensor, whatever makes it in the file (`from`). */
int cnnvp_import_begins_at(const struct cnnvp_import *import, const char *name);
void cnnvp_import_sequence_clear(struct cnnvp_import_sequence *sequence);

/* One node. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_node(struct cnnvp_import *import, const Onnx__NodeProto *node);
/* The file's function that the node calls; NULL: none. */
const Onnx__FunctionProto *cnnvp_import_function_of(const Onnx__ModelProto *model, const Onnx__NodeProto *node);
/* Puts a function's nodes in place of the node, if it calls one: *done. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_call(struct cnnvp_import *import, int *done);
/* onnx_inline.c: a function's body, of an operator set, in place of the node. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_function(struct cnnvp_import *import, const Onnx__FunctionProto *function,
                                                  Onnx__GraphProto *body, uint64_t opset);
/* onnx_rewrite.c: a rule's nodes in place of the node. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_rewrite(struct cnnvp_import *import, const char *rule);
/* BatchNormalization as products and sums, where its input's first dimension counts no images; whether its statistics
 * are the data's own. */
cnnvp_result cnnvp_import_norm_apart(struct cnnvp_import *import);
int cnnvp_import_takes_statistics(const struct cnnvp_import *import);
/* InstanceNormalization of channels with many words, by means of as many parts of them. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_instances_apart(struct cnnvp_import *import, int64_t parts);
/* Gather of a constant by indices that are no constant. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_look_up(struct cnnvp_import *import);
/* Computes the node now, if its output does not depend on the network's input: *done. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_fold(struct cnnvp_import *import, int *done);

/* What an operator makes of the first dimension where the whole input is one image (`single`). */
enum cnnvp_import_form {
    CNNVP_FORM_IMAGES, /* images: each of them on its own */
    CNNVP_FORM_WORDS,  /* a dimension like all others; images where there is one */
    CNNVP_FORM_ALL     /* the operator looks itself */
};

/* What an operator takes of quantised tensors' numbers. */
enum cnnvp_import_words {
    CNNVP_WORDS_FLOATS, /* none: it needs floats */
    CNNVP_WORDS_PASSED,
    CNNVP_WORDS_COMPUTED,
    /* All: what it makes of them it makes of floats, too, no result is a number that the type has not. */
    CNNVP_WORDS_NUMBERS,
    CNNVP_WORDS_CONDITIONS /* and what is true or false */
};

/* Where layers that it becomes run. */
enum cnnvp_import_where { CNNVP_WHERE_ARRAY, CNNVP_WHERE_VECTOR, CNNVP_WHERE_NOWHERE };

/* Kinds of operators that share a function. */
enum { CNNVP_REDUCE_MEAN, CNNVP_REDUCE_MAX, CNNVP_REDUCE_SUM };
enum { CNNVP_PRODUCT_CONV, CNNVP_PRODUCT_MATMUL, CNNVP_PRODUCT_GEMM };
enum { CNNVP_TO_NEAREST, CNNVP_UP, CNNVP_DOWN };

enum cnnvp_import_domain { CNNVP_DOMAIN_ONNX, CNNVP_DOMAIN_ONNXRUNTIME, CNNVP_DOMAIN_QONNX, CNNVP_DOMAINS };

/* One operator: a row of operators.def. */
struct cnnvp_import_operator {
    const char *op_type;
    enum cnnvp_import_domain domain;
    enum cnnvp_import_where where;
    enum cnnvp_import_words words;
    enum cnnvp_import_form form;
    cnnvp_result (*function)(struct cnnvp_import *import);
    int kind;         /* import->kind while the function runs, which others may share */
    const char *rule; /* in place of a function */
};
#define CNNVP_OPERATOR(operator, domain, where, words, form, function, kind) \
    cnnvp_result cnnvp_operator_##function(struct cnnvp_import *import);
#define CNNVP_RULE(...)
#include "operators.def"

/* The node's operator; NULL: none that is known. */
const struct cnnvp_import_operator *cnnvp_import_operator_of(const Onnx__NodeProto *node);

/* onnx_empty.c: the shape of a constant in words, with N for a batch that is a symbol. */
void cnnvp_import_shape_text(const struct cnnvp_import *import, const Onnx__TensorProto *tensor,
                             char text[CNNVP_ONNX_SHAPE_TEXT]);
/* That name, which the file has, becomes a constant without elements. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_define_empty(struct cnnvp_import *import, const char *name, size_t rank,
                                                      const int64_t *dims);
/* A node that has inputs without elements: *done if that settles its output, an error if it needs elements. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_without_elements(struct cnnvp_import *import,
                                                          const struct cnnvp_import_operator *found, int *done);

/* 1: of names with a space on both sides of each. */
int cnnvp_import_is_one_of(const char *op_type, const char *names);
/* The node of the file's graph that makes a value, if it has that operator. */
const Onnx__NodeProto *cnnvp_import_maker(const struct cnnvp_import *import, const char *name, const char *op_type);

/* QuantizeLinear and DequantizeLinear: what operator sets from 21 on let their attributes say is known. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_check_steps(struct cnnvp_import *import);
CNNVP_MUST_USE cnnvp_result cnnvp_import_check_scales(struct cnnvp_import *import, const float *scales, size_t count);

/* Refuses a constant of integers, unless the node computes with quantised numbers. Floats of all sizes are numbers here
 * and count as they are. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_check_floats(struct cnnvp_import *import, const Onnx__TensorProto *tensor);

/* A node that reads quantised tensors and computes the same with floats becomes that: *done. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_as_numbers(struct cnnvp_import *import, int *done);
/* Before a node: which inputs are quantised tensors, and whether its operator takes them. *whole: those of an operator
 * that passes them on. Afterwards: its outputs are quantised too. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_check_whole(struct cnnvp_import *import, struct cnnvp_graph_tensor *like);
void cnnvp_import_pass_whole(struct cnnvp_import *import, const struct cnnvp_graph_tensor *like);

#endif
