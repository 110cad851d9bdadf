/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an import, and the helpers that the operators' import functions share. Internal to the onnx_*.c
 * files. */
#pragma once

#include "graph.h"
#include "onnx_read.h"
#include "onnx.h"

/* Elements of dimensions begin .. end - 1. */
static inline long long cnnvp_onnx_product(const int64_t *dims, size_t begin, size_t end)
{
    long long product = 1;
    for (size_t i = begin; i < end; ++i)
        product *= dims[i];
    return product;
}

/* Largest size of one dimension. */
#define CNNVP_ONNX_DIMENSION_MAX (1 << 20)
/* Most elements of a constant that becomes a tensor, or an operand with one value for each word. */
#define CNNVP_ONNX_CONSTANT_MAX (1 << 24)
/* Largest kernel side, stride, dilation and padding: descriptors pack them in 16 bits (descriptors.def). */
#define CNNVP_ONNX_WINDOW_MAX 32767
/* Most dimensions of a tensor. */
#define CNNVP_ONNX_RANK CNNVP_GRAPH_RANK

/* What the file's types and operators say of a tensor's numbers. Each kind is one of those before it, too. */
enum cnnvp_onnx_kind {
    CNNVP_KIND_REAL,
    CNNVP_KIND_WHOLE, /* floats without a fraction */
    CNNVP_KIND_BIT,   /* of them, 0 and 1 */
    CNNVP_KIND_INTEGER,
    CNNVP_KIND_BOOLEAN
};

/* The value of a name: a tensor that the network computes, or a constant. */
struct cnnvp_onnx_value {
    int32_t tensor; /* or CNNVP_GRAPH_NONE */
    const Onnx__TensorProto *constant;
    enum cnnvp_onnx_kind kind; /* of a tensor */
    int counts_images;         /* of a constant: CNNVP_COUNTS_IMAGES, CNNVP_FOLLOWS_IMAGES, or 0 */
};

/* The number of images is a symbol, for which 0 stands. Elements of the constant are that number, or are calculated
 * from it. */
enum { CNNVP_COUNTS_IMAGES = 1, CNNVP_FOLLOWS_IMAGES = 2 };

/* What a DequantizeLinear of a constant was computed from: the quantised integers and their step size, one for the
 * constant or one for each element of `axis`. Layers use it to multiply the integers themselves. */
struct cnnvp_onnx_whole {
    const struct cnnvp_onnx_whole *next;
    const Onnx__TensorProto *made;
    int bytes;    /* 1: the integers have 8 bits */
    int narrow;   /* 1: the integers less their zero points fit in signed 8-bit words */
    int integers; /* 1: the integers have 32 bits or more; `numbers` holds them unless the graph is weightless */
    const int64_t *numbers;
    const float *steps;
    size_t count;
    int64_t axis;
};

/* The nodes of a body or branch, and what surrounds it. */
struct cnnvp_import_scope {
    const Onnx__GraphProto *graph;
    const Onnx__NodeProto *node;            /* in whose place they are */
    const struct cnnvp_import_scope *outer; /* NULL: the file's graph */
};

struct cnnvp_import {
    struct cnnvp_onnx onnx;
    struct cnnvp_graph *graph;
    const struct cnnvp_onnx_sizes *sizes; /* may be NULL */
    struct cnnvp_names names;             /* index in `values` by name */
    struct cnnvp_onnx_value *values;
    size_t value_count;
    const struct cnnvp_onnx_whole *wholes;
    int64_t batch; /* batch size of the network's input in the file; 0: a symbol */
    const Onnx__NodeProto *node;
    int single; /* 1: the whole input is treated as one image; tensors have a leading dimension of 1 that the file does
                   not have */
    int64_t images;       /* `single`: those of the node's inputs, for operators that take them one by one */
    int integers;         /* 1: the network's inputs, or tensors computed from them, have integers of 16 bits or more */
    int32_t zero;         /* a tensor of one 0, made of the network's input; 0: none */
    int mixed;            /* 1: the import failed because a node would mix the images of the batch; `single` may help */
    int kind;             /* `kind` of the node's operator (struct cnnvp_import_operator) */
    uint32_t node_number; /* index of the node in the file */
    uint32_t node_count;  /* nodes whose import has begun */
    unsigned calls;       /* nesting depth of function calls */
    const struct cnnvp_import_scope
        *scope;            /* of the body or branch that is being imported; NULL: of the file's graph */
    size_t inlined;        /* nodes that came from functions, rules and branches */
    size_t constant_bytes; /* bytes taken by computed constants */
    int training;          /* parameters stay separate and may lack values (onnx.h) */
    struct cnnvp_error *error;
    /* The file's own lists while others replace them (`from`, `until`); else NULL. */
    Onnx__ValueInfoProto **outputs, **inputs;
    size_t output_count, input_count;
};

/* Reports "FILE: node "NAME" (OpType): message". */
CNNVP_MUST_USE cnnvp_result cnnvp_import_error(struct cnnvp_import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Allocates a zeroed array of `count` elements in the graph's arena and sets *pointer to it. */
#define CNNVP_IMPORT_ARRAY(import, count, pointer)                                       \
    (*(pointer) = cnnvp_arena_array(&(import)->graph->arena, count, sizeof **(pointer)), \
     *(pointer) != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory((import)->error))
/* A new constant without values; `dims` is copied. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_new_constant(struct cnnvp_import *import, const char *name, int32_t type,
                                                      size_t rank, const int64_t *dims, Onnx__TensorProto **constant);
/* Defines `name` as this constant. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_define_constant(struct cnnvp_import *import, const char *name,
                                                         const Onnx__TensorProto *constant);

/* The value of input `index`; an error if there is no such input or nothing defines it. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_value(struct cnnvp_import *import, size_t index,
                                               struct cnnvp_onnx_value *value);
/* What a name stands for; NULL: not defined yet. The next two give its tensor or CNNVP_GRAPH_NONE, its constant or
 * NULL. */
struct cnnvp_onnx_value *cnnvp_import_known(const struct cnnvp_import *import, const char *name);
int32_t cnnvp_import_known_tensor(const struct cnnvp_import *import, const char *name);
const Onnx__TensorProto *cnnvp_import_known_constant(const struct cnnvp_import *import, const char *name);
/* Input `index` as a computed tensor of that rank (0: any rank up to 4), or as a constant. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_tensor(struct cnnvp_import *import, size_t index, uint32_t rank,
                                                int32_t *tensor);
CNNVP_MUST_USE cnnvp_result cnnvp_import_constant(struct cnnvp_import *import, size_t index,
                                                  const Onnx__TensorProto **tensor);
/* Like cnnvp_import_tensor, for up to CNNVP_ONNX_RANK dimensions. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_any_rank(struct cnnvp_import *import, size_t index, int32_t *tensor);
/* Dimensions of a value in the file's order and number; a batch that is a symbol is 0. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_value_dims(struct cnnvp_import *import, const struct cnnvp_onnx_value *value,
                                                    size_t *rank, int64_t dims[CNNVP_ONNX_RANK]);
/* The dimensions of input `index`. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_dims_of(struct cnnvp_import *import, size_t index, size_t *rank,
                                                 int64_t dims[CNNVP_ONNX_RANK]);
/* Broadcasts two shapes: aligned at the last dimension, and 1 matches every size. *rank and dims become the joint
 * shape. Returns 0 if the shapes do not match. */
int cnnvp_import_join_dims(size_t *rank, int64_t dims[CNNVP_ONNX_RANK], size_t other_rank, const int64_t *other);
/* The type and shape that the file declares for a tensor; NULL: none. */
Onnx__TypeProto *cnnvp_import_type(const struct cnnvp_import *import, const char *name);
/* How often nodes and outputs of the file's graph read this value; nodes in functions and rules do not count. */
size_t cnnvp_import_readers(const struct cnnvp_import *import, const char *name);
/* 1: the node has input `index`. */
int cnnvp_import_has(const struct cnnvp_import *import, size_t index);

/* Reads the constant's elements into the graph's arena; *out is NULL if the graph is weightless. The constant must have
 * `count` elements of a type that cnnvp_import_check_floats accepts. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_floats(struct cnnvp_import *import, const Onnx__TensorProto *tensor,
                                                size_t count, float **out);

/* Input `index`, a constant with one element. With `floats`, its type must be one that cnnvp_import_check_floats
 * accepts. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_number(struct cnnvp_import *import, size_t index, const char *what, int floats,
                                                float *number);

/* An array of `count` times `value`; NULL if the graph is weightless. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_repeat(struct cnnvp_import *import, size_t count, float value, float **values);

/* Before operator set 7, the dimensions of a second operand could start at attribute `axis` of the first operand, and
 * PRelu had one slope for each channel. Appends dimensions of 1 to the constant, so that the operands align at the last
 * dimension. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_old_axis(struct cnnvp_import *import, uint32_t rank,
                                                  const Onnx__TensorProto **constant);

/* Training: records that `input` of the node holds this parameter of the last layer. Does nothing otherwise. */
void cnnvp_import_origin(struct cnnvp_import *import, enum cnnvp_graph_role role, size_t input);
/* Training or weightless: defines a further input of the graph as a parameter without values. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_parameter(struct cnnvp_import *import, const Onnx__ValueInfoProto *info);
/* Training: zeros for a parameter without values. The values are drawn once its layer is known. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_blank(struct cnnvp_import *import, const Onnx__TensorProto *tensor,
                                               size_t count, float **out);
/* onnx_sizes.c: the sizes of an input in the file's order; a batch that stays a symbol is 0. *rank may exceed
 * CNNVP_ONNX_RANK; only the first CNNVP_ONNX_RANK sizes are set. `first`: it is the network's first input. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_sizes(struct cnnvp_import *import, const Onnx__ValueInfoProto *info, int first,
                                               size_t *rank, int64_t dims[CNNVP_ONNX_RANK]);
/* Checks that the names of --shape and --input are inputs of the network. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_check_names(struct cnnvp_import *import);
/* Imports the whole graph of the opened file. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_graph(struct cnnvp_import *import);
void cnnvp_import_clear(struct cnnvp_import *import);

/* Defines `name` as this value. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_define(struct cnnvp_import *import, const char *name,
                                                struct cnnvp_onnx_value value);
/* Adds a layer for the node with a new output tensor of that shape. The tensor becomes the node's first output; with
 * `inner` it is an intermediate result, under a name that the file cannot use. Sets the layer's `in`. An activation
 * starts as identity. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_layer(struct cnnvp_import *import, enum cnnvp_layer_op op, int32_t in,
                                               int inner, uint32_t channels, uint32_t height, uint32_t width,
                                               struct cnnvp_graph_layer **layer);
/* Like cnnvp_import_layer, with the input's shape. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_like(struct cnnvp_import *import, enum cnnvp_layer_op op, int32_t in,
                                              int inner, struct cnnvp_graph_layer **layer);
/* Applies the function `kind` to `in`, as the node's output or (`inner`) as an intermediate result. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_post(struct cnnvp_import *import, int32_t in, enum cnnvp_graph_post_kind kind,
                                              float value, int inner, int32_t *out);
/* Applies the function to `in`, as the node's output. If `in` is a copy with permuted dimensions that nothing but the
 * function reads, the function comes before the copy, so that it can be part of the layer there. Not in functions of
 * the file, whose readers are not known. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_apply(struct cnnvp_import *import, int32_t in, size_t readers,
                                               enum cnnvp_graph_post_kind kind, float value);
/* Copies `in`, read as channels, rows and columns of these sizes, with permuted dimensions: dimension i of the result
 * is dimension from[i] of the input. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_permute(struct cnnvp_import *import, int32_t in, const uint32_t sizes[3],
                                                 const uint32_t from[3], int32_t *out);
/* Elements first .. first + count - 1 of a dimension of a permuted copy, as a permuted copy of channels of what it is a
 * copy of. *done is 0, and nothing has been done, if the elements are no such channels. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_cut_turned(struct cnnvp_import *import, int32_t in, int64_t axis,
                                                    int64_t first, int64_t count, int32_t *out, int *done);
/* Adds a layer that copies `in` to the existing tensor `out`. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_copy(struct cnnvp_import *import, int32_t in, int32_t out,
                                              struct cnnvp_graph_layer **layer);
/* Defines the node's output as a view of `in` with another shape of the same number of words. dims[0] is not used; up
 * to CNNVP_ONNX_RANK dimensions. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_view(struct cnnvp_import *import, int32_t in, uint32_t rank,
                                              const int64_t *dims);
/* Defines `name` as this tensor. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_alias(struct cnnvp_import *import, const char *name, int32_t tensor);
/* A new tensor of shape dims[1..rank-1]: an input of the network, or a result that several layers fill. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_new_tensor(struct cnnvp_import *import, const char *name, uint32_t rank,
                                                    const int64_t *dims, int32_t *tensor);
/* An intermediate view of `in` with another shape; `in` itself if it has this shape already. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_shaped(struct cnnvp_import *import, const char *name, int32_t in,
                                                uint32_t rank, const int64_t *dims, int32_t *view);
/* Makes *in a view with all words in one row if they are many channels of one word each, so that a layer with one scale
 * for all has one parameter. What makes *in and can take the scale is left as it is. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_row(struct cnnvp_import *import, int32_t *in);
/* A view of 4 dimensions in which the dimensions before the axis, the axis, and those after it become one dimension
 * each. *axis becomes the axis of the view, 1 or 2. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_rows(struct cnnvp_import *import, int32_t in, int64_t *axis, int32_t *view);
/* Views the positions of a single row or column as a map: close to a square if the count divides so, else one row. A
 * two-dimensional PE array then keeps more PEs busy; the planner folds longer rows (layer_command.h). */
CNNVP_MUST_USE cnnvp_result cnnvp_import_positions(struct cnnvp_import *import, int32_t *in);
/* Stores the dimensions of a tensor of rank above 4. Returns 0 if there is no memory. */
CNNVP_MUST_USE int cnnvp_import_keep_dims(struct cnnvp_import *import, int32_t tensor, uint32_t rank,
                                          const int64_t *dims);
/* Copies `in` into `out`, from index *at of the axis (1 or higher) on, and advances *at past it. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_append(struct cnnvp_import *import, int32_t in, int32_t out, int64_t axis,
                                                int64_t *at);
/* Interleaves tensors of one shape along the rows or columns: element i of the axis is element i / count of parts[i %
 * count]. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_weave(struct cnnvp_import *import, const int32_t *parts, size_t count,
                                               int64_t axis, int32_t *out);
/* If the tensor has a fixed number format, as the results of softmax have, passes it through a layer that can change
 * the format. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_reformat(struct cnnvp_import *import, int32_t *in);
/* Elements first .. first + count - 1 of an axis (1 or higher): a view for channels, else a copy. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_cut(struct cnnvp_import *import, int32_t in, int64_t axis, int64_t first,
                                             int64_t count, int32_t *out);
/* Selected elements of an axis (1 or higher). The indices must be valid. Each run of consecutive indices becomes one
 * copy. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_gather(struct cnnvp_import *import, int32_t in, int64_t axis,
                                                const int64_t *indices, size_t count, int32_t *out);
/* Repeats the first row or column `before` times in front and the last one `after` times behind. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_repeat_border(struct cnnvp_import *import, int32_t *in, int columns,
                                                       uint32_t before, uint32_t after);
/* Dimensions of a tensor with dims[0] for the batch (0: a symbol), as ONNX counts them. Returns the rank. */
uint32_t cnnvp_import_dims(const struct cnnvp_import *import, int32_t tensor, int64_t dims[4]);
/* Like cnnvp_import_dims, for any rank. */
uint32_t cnnvp_import_all_dims(const struct cnnvp_import *import, int32_t tensor, int64_t dims[CNNVP_ONNX_RANK]);
/* The axis that a node names, as an index of 1 or higher among the `rank` dimensions of a tensor here. Axis 0 of a
 * batch is refused as by cnnvp_import_mixes, which reports "WHAT would mix the images of the batch". */
CNNVP_MUST_USE cnnvp_result cnnvp_import_axis(struct cnnvp_import *import, uint32_t rank, int64_t named, int64_t *axis);
/* The axis that a node names among `rank` dimensions of the file, none of which is the batch. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_axis_of(struct cnnvp_import *import, int64_t named, size_t rank, size_t *axis);
CNNVP_MUST_USE cnnvp_result cnnvp_import_mixes(struct cnnvp_import *import, const char *what);
/* Reads up to `most` integers from an attribute or, as in later operator sets, from input `index`. *count is 0 if both
 * are absent. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_list(struct cnnvp_import *import, const char *attribute, size_t index,
                                              size_t most, int64_t *numbers, size_t *count);
/* Reads a text attribute that must be one of "A, B, C" as its position in that list. *choice holds the default. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_choice(struct cnnvp_import *import, const char *name, const char *texts,
                                                int *choice);
/* One dimension of a window. */
struct cnnvp_import_axis {
    int64_t in, kernel, stride, dilation, before, after, out;
    int64_t extra; /* positions added after the last window (output_padding) */
    int partial;   /* 1: the last window extends past the padded input (ceil_mode) */
};
/* Reads the window's attributes for the last `sides` of depth, rows and columns; the other axes have one position. On
 * entry, axes[].kernel holds the kernel size of the weights (0: take it from the attribute). */
CNNVP_MUST_USE cnnvp_result cnnvp_import_window(struct cnnvp_import *import, size_t sides,
                                                struct cnnvp_import_axis axes[3]);
/* 1: the node is a Conv whose weights the network computes. Imports it as a product of the weights and copies of the
 * input, where the whole input is one image (`single`). */
int cnnvp_import_has_computed_weights(const struct cnnvp_import *import);
CNNVP_MUST_USE cnnvp_result cnnvp_import_convolve(struct cnnvp_import *import);
/* Reads attribute auto_pad. */
enum cnnvp_import_auto_pad { CNNVP_PAD_NOTSET, CNNVP_PAD_VALID, CNNVP_PAD_SAME_UPPER, CNNVP_PAD_SAME_LOWER };
CNNVP_MUST_USE cnnvp_result cnnvp_import_auto_pad(struct cnnvp_import *import, int *choice);
/* Reads an attribute of `count` integers from `low` to CNNVP_ONNX_WINDOW_MAX, if present; `out` holds the defaults. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_ints(struct cnnvp_import *import, const char *name, size_t count, int64_t low,
                                              int64_t *out);
/* x * scale[c] + offset[c], as the node's output or (`inner`) as an intermediate result. A NULL array stands for ones
 * (scale) or zeros (offset). The result is the output of *layer. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_affine(struct cnnvp_import *import, int32_t in, float *scale, float *offset,
                                                int inner, struct cnnvp_graph_layer **layer);
/* Like cnnvp_import_affine, with the same factor and offset for all channels. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_scale(struct cnnvp_import *import, int32_t in, float factor, float offset,
                                               int inner, struct cnnvp_graph_layer **layer);
/* Rounds the results of this layer, the last one, to whole numbers. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_rounded(struct cnnvp_import *import, struct cnnvp_graph_layer *layer,
                                                 int32_t *out);
/* A constant operand: one value for each channel of a tensor, for each element of its last dimension, or for each word
 * of an image. */
enum cnnvp_import_each { CNNVP_EACH_CHANNEL = 0, CNNVP_EACH_LAST = 1, CNNVP_EACH_WORD = 2 };
struct cnnvp_import_numbers {
    enum cnnvp_import_each each;
    size_t count;
    float *values; /* NULL if the graph is weightless */
};
CNNVP_MUST_USE cnnvp_result cnnvp_import_operand(struct cnnvp_import *import, const Onnx__TensorProto *constant,
                                                 int32_t in, struct cnnvp_import_numbers *numbers);
/* x * scale + offset with values for each channel, column or word; NULL as in cnnvp_import_affine. The result is the
 * node's output or (`inner`) an intermediate one. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_line(struct cnnvp_import *import, int32_t in, enum cnnvp_import_each each,
                                              float *scale, float *offset, int inner, int32_t *out);
/* first (operation) second, with broadcasting, as the node's output or (`inner`) as an intermediate result. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_pair(struct cnnvp_import *import, enum cnnvp_layer_arithmetic operation,
                                              int32_t first, int32_t second, int inner, int32_t *out);
/* onnx_kind.c: the kind of the numbers of an input. */
enum cnnvp_onnx_kind cnnvp_import_kind(const struct cnnvp_import *import, size_t index);
/* 1: the input has integers, of which quotients, means and roots have no fraction. */
int cnnvp_import_is_integer(const struct cnnvp_import *import, size_t index);
/* The kind of numbers of this element type. */
enum cnnvp_onnx_kind cnnvp_onnx_kind_of(int type);
/* Imports Div of integers by a constant. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_quotient(struct cnnvp_import *import);
/* Gives a value that is a tensor its kind; the second one does so for the outputs of the node. */
void cnnvp_import_set_kind(struct cnnvp_import *import, struct cnnvp_onnx_value *value, enum cnnvp_onnx_kind kind);
void cnnvp_import_mark_kind(struct cnnvp_import *import);
/* Turns a constant into a tensor of that rank, with leading dimensions of 1. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_constants(struct cnnvp_import *import, const Onnx__TensorProto *constant,
                                                   uint32_t rank, int32_t *out);
/* Input `index` as a tensor. A constant becomes one with leading dimensions of 1, of rank `rank` or more. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_operand_tensor(struct cnnvp_import *import, size_t index, uint32_t rank,
                                                        int32_t *tensor);
/* 1: a constant operand should become a tensor: it has elements where the tensor has a dimension of 1, or it would need
 * too many values, one for each word. */
int cnnvp_import_is_larger(const struct cnnvp_import *import, const Onnx__TensorProto *constant, int32_t in);
/* Repeats the tensor's elements along dimensions of 1 that `dims` has larger, by adding zeros of these dimensions. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_spread(struct cnnvp_import *import, int32_t in, uint32_t rank,
                                                const int64_t *dims, int32_t *out);
/* Expand only records its shape. This replaces such a tensor by one that a layer computes; does nothing for others. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_expanded(struct cnnvp_import *import, int32_t *tensor);
/* Replaces *in by its maximum along the axis (1 or higher), which keeps one element. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_largest(struct cnnvp_import *import, uint32_t axis, int32_t *in);
/* onnx_composite.c: if the node, a product, quotient, inverse or logarithm, ends a function of one number that an
 * exporter has decomposed, imports the function instead and sets *done. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_composite(struct cnnvp_import *import, int *done);
/* onnx_layer_norm.c: if the quotient or product of two tensors ends a decomposed normalisation, imports the
 * normalisation instead and sets *done. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_taken_apart(struct cnnvp_import *import, int32_t numerator, int *done);
/* 1: the constant's shape gives one value for each of `channels` of a tensor of that rank. */
int cnnvp_import_is_per_channel(const Onnx__TensorProto *constant, uint32_t rank, uint32_t channels);
CNNVP_MUST_USE cnnvp_result cnnvp_import_per_channel(struct cnnvp_import *import, const Onnx__TensorProto *constant,
                                                     uint32_t rank, uint32_t channels, float factor, float **values);

/* Records the quantised integers of a constant for its transposed result, too: dimension i of the result is from[i]. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_whole_turns(struct cnnvp_import *import, uint32_t rank, const int64_t *from);
/* Sets layer->steps from the quantised integers of node inputs `weights` and `bias` (SIZE_MAX: none). `axis` is the
 * dimension of the weights that counts the outputs. */
void cnnvp_import_steps(struct cnnvp_import *import, struct cnnvp_graph_layer *layer, size_t weights, int64_t axis,
                        size_t bias);
/* onnx_product.c: the matrix product of two tensors as the node's output. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_product(struct cnnvp_import *import, int32_t first, int32_t second);

/* onnx_sequence.c: the nodes that the outputs of a graph need, as indices in the file, each after the nodes that it
 * reads. The caller clears it, also after an error. */
struct cnnvp_import_sequence {
    uint32_t *nodes;
    uint32_t count;
    uint8_t *reads; /* by input of the graph, 1: an output needs it */
};
CNNVP_MUST_USE cnnvp_result cnnvp_import_sequence(struct cnnvp_import *import, const Onnx__GraphProto *graph,
                                                  struct cnnvp_import_sequence *sequence);
/* 1: the network starts at this tensor (`from`), so the nodes that compute it are not needed. */
int cnnvp_import_begins_at(const struct cnnvp_import *import, const char *name);
void cnnvp_import_sequence_clear(struct cnnvp_import_sequence *sequence);

/* One node. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_node(struct cnnvp_import *import, const Onnx__NodeProto *node);
/* The function of the file that the node calls; NULL: it calls none. */
const Onnx__FunctionProto *cnnvp_import_function_of(const Onnx__ModelProto *model, const Onnx__NodeProto *node);
/* If the node calls a function of the file, imports the function's nodes in its place and sets *done. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_call(struct cnnvp_import *import, int *done);
/* onnx_inline.c: imports a function's body, of operator set `opset`, in place of the node. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_function(struct cnnvp_import *import, const Onnx__FunctionProto *function,
                                                  Onnx__GraphProto *body, uint64_t opset);
/* onnx_rewrite.c: imports the nodes of a rule in place of the node. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_rewrite(struct cnnvp_import *import, const char *rule);
/* onnx_rules.c: imports BatchNormalization as products and sums, for inputs whose first dimension is not a batch. The
 * second function returns 1 if the node computes the statistics from the data. */
cnnvp_result cnnvp_import_norm_apart(struct cnnvp_import *import);
int cnnvp_import_takes_statistics(const struct cnnvp_import *import);
/* Imports Gemm as MatMul and Add: its operands are not a tensor and constants. */
cnnvp_result cnnvp_import_gemm_apart(struct cnnvp_import *import);
/* Imports InstanceNormalization of channels with many words: averages `parts` parts of each channel, then their
 * means. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_instances_apart(struct cnnvp_import *import, int64_t parts);
/* Before operator set 7, attribute axis says which dimension of the first operand the second one's first dimension
 * meets. If the node has it, appends dimensions of 1 to the second operand and sets *done. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_by_axis(struct cnnvp_import *import, int *done);
/* Imports a Gather whose indices the network computes. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_look_up(struct cnnvp_import *import);
/* If all inputs of the node are constants and its operator can be folded, computes its output and sets *done. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_fold(struct cnnvp_import *import, int *done);
/* Refuses to calculate with a constant whose elements depend on the number of images: that is not known yet. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_check_counts(struct cnnvp_import *import);
/* Refuses a Reshape whose shape, input 1, has a size that is not the number of images but is calculated from it. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_check_shape(struct cnnvp_import *import, const int64_t *sizes, size_t count);

/* How an operator treats the first dimension if the whole input is one image (`single`). */
enum cnnvp_import_form {
    CNNVP_FORM_IMAGES, /* as a batch: it is applied to each image separately */
    CNNVP_FORM_WORDS,  /* as any other dimension, but as a batch if its size is 1 */
    CNNVP_FORM_ALL     /* the import function handles it itself */
};

/* Which quantised tensors an operator accepts. */
enum cnnvp_import_words {
    CNNVP_WORDS_FLOATS, /* none: it needs floats */
    CNNVP_WORDS_PASSED,
    CNNVP_WORDS_COMPUTED,
    /* Integers, dequantised first with scale 1: the operator gives the same result for floats, and no result leaves the
     * type's range. */
    CNNVP_WORDS_NUMBERS,
    CNNVP_WORDS_CONDITIONS /* like NUMBERS, and booleans */
};

/* Where the operator's layers run. */
enum cnnvp_import_where { CNNVP_WHERE_ARRAY, CNNVP_WHERE_VECTOR, CNNVP_WHERE_NOWHERE };

/* Values of `kind` for operators that share an import function. */
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
    int kind;         /* import->kind while the function runs; distinguishes operators that share the function */
    const char *rule; /* the rule that replaces the operator; NULL: `function` imports it */
};
#define CNNVP_OPERATOR(operator, domain, where, words, form, function, kind) \
    cnnvp_result cnnvp_operator_##function(struct cnnvp_import *import);
#define CNNVP_RULE(...)
#include "operators.def"

/* The table row of the node's operator; NULL: unknown operator. */
const struct cnnvp_import_operator *cnnvp_import_operator_of(const Onnx__NodeProto *node);

/* onnx_empty.c: the shape of a constant as text, with N for a batch that is a symbol. */
void cnnvp_import_shape_text(const struct cnnvp_import *import, const Onnx__TensorProto *tensor,
                             char text[CNNVP_ONNX_SHAPE_TEXT]);
/* Defines the value `name` of the file as a constant without elements. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_define_empty(struct cnnvp_import *import, const char *name, size_t rank,
                                                      const int64_t *dims);
/* Handles a node with inputs that have no elements: sets *done if that settles its output; an error if it needs
 * elements. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_without_elements(struct cnnvp_import *import,
                                                          const struct cnnvp_import_operator *found, int *done);

/* 1: `names` contains op_type; each name in it has a space on both sides. */
int cnnvp_import_is_one_of(const char *op_type, const char *names);
/* The node of the file's graph that computes `name`, if it has an input and its operator is op_type (NULL: any); else
 * NULL. */
const Onnx__NodeProto *cnnvp_import_maker(const struct cnnvp_import *import, const char *name, const char *op_type);
/* 1: input `index` of the node is a constant with one element. */
int cnnvp_import_one_number(const struct cnnvp_import *import, const Onnx__NodeProto *node, size_t index,
                            float *number);

/* Check the attributes of QuantizeLinear and DequantizeLinear (operator set 21 and later), and that scales are in
 * range. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_check_steps(struct cnnvp_import *import);
CNNVP_MUST_USE cnnvp_result cnnvp_import_check_scales(struct cnnvp_import *import, const float *scales, size_t count);

/* Refuses a constant of an integer type, unless the operator computes with quantised tensors or gives the same result
 * for floats. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_check_floats(struct cnnvp_import *import, const Onnx__TensorProto *tensor);

/* If the node reads quantised tensors and its operator gives the same result for floats, dequantises them first and
 * sets *done. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_as_numbers(struct cnnvp_import *import, int *done);
/* check_whole runs before a node: refuses quantised inputs that the operator does not accept, and stores the
 * quantisation of passed-on inputs in *like. pass_whole runs after the node and gives its outputs that quantisation. */
CNNVP_MUST_USE cnnvp_result cnnvp_import_check_whole(struct cnnvp_import *import, struct cnnvp_graph_tensor *like);
void cnnvp_import_pass_whole(struct cnnvp_import *import, const struct cnnvp_graph_tensor *like);
