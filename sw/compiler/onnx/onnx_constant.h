/* SPDX-License-Identifier: Apache-2.0 */
/* Constants as they are computed while a file is read. Between the files onnx_constant*.c. */
#ifndef CNNVP_COMPILER_ONNX_CONSTANT_H
#define CNNVP_COMPILER_ONNX_CONSTANT_H

#include "onnx_node.h"

#define CNNVP_CONSTANT_RANK CNNVP_ONNX_RANK

/* Weights of more elements than this are not read for a network that computes nothing. */
#define CNNVP_CONSTANT_SMALL 4096u

struct cnnvp_constant {
    size_t rank;
    int64_t dims[CNNVP_CONSTANT_RANK];
    size_t count;
    int whole;     /* integers */
    int32_t bytes; /* 0, or the type that it is defined with: elements have 8 bits there, and are floats here */
    int64_t *ints;
    float *floats;
};

/* 1: its elements are whole numbers here: integers of 32 or 64 bits, booleans. */
static inline int cnnvp_constant_is_whole(const Onnx__TensorProto *tensor)
{
    return tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 ||
           tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32 ||
           tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
}

/* 1: it is one of 8-bit integers. */
static inline int cnnvp_constant_has_bytes(const Onnx__TensorProto *tensor)
{
    return tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT8 ||
           tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8;
}

/* The zero point less which all numbers of the type, of 8 bits, have 8 bits. */
static inline float cnnvp_constant_middle(const Onnx__TensorProto *tensor)
{
    return tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 ? 128.0f : 0.0f;
}

/* A limit of a slice, counted from the end where it is negative, between low and high. */
static inline int64_t cnnvp_constant_limit(int64_t value, int64_t size, int64_t low, int64_t high)
{
    value += value < 0 ? size : 0;
    return value < low ? low : value > high ? high : value;
}

/* 1: the numbers are there. A network that computes nothing leaves large ones out, and what follows from them. */
int cnnvp_constant_known(const struct cnnvp_constant *constant);
/* Input `input` of the node. Its numbers are not to be changed. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_read(struct cnnvp_import *import, size_t input, struct cnnvp_constant *read);
/* The same with numbers that a shape follows from. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_need(struct cnnvp_import *import, size_t input, struct cnnvp_constant *read);
/* Sets count of what has rank, dims and whole, and gives it memory if what it is made of is known: it is known then, or
 * left out too. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_allocate(struct cnnvp_import *import, struct cnnvp_constant *made,
                                                    int known);
/* That name, which the file has, is that constant; the node's first output is. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_define_as(struct cnnvp_import *import, const char *name,
                                                     const struct cnnvp_constant *made);
CNNVP_MUST_USE cnnvp_result cnnvp_constant_define(struct cnnvp_import *import, const struct cnnvp_constant *made);

/* `count` elements from place `from` on, to place `to` on of one of the same kind. */
void cnnvp_constant_take(struct cnnvp_constant *made, size_t to, const struct cnnvp_constant *data, size_t from,
                         size_t count);

/* Elements of a constant at other places: the first one, and how far each step along a dimension leads. */
struct cnnvp_constant_view {
    size_t rank;
    int64_t dims[CNNVP_CONSTANT_RANK];
    int64_t steps[CNNVP_CONSTANT_RANK];
    int64_t first;
};
/* All elements as they are. */
struct cnnvp_constant_view cnnvp_constant_whole_view(const struct cnnvp_constant *constant);
/* As often as a larger shape of the same or more dimensions has them: a dimension of 1 counts for all. */
struct cnnvp_constant_view cnnvp_constant_spread(const struct cnnvp_constant *constant, size_t rank,
                                                 const int64_t *dims);

/* A view's elements in order. */
struct cnnvp_constant_walk {
    struct cnnvp_constant_view view;
    int64_t index[CNNVP_CONSTANT_RANK];
    int64_t place;
};
static inline struct cnnvp_constant_walk cnnvp_constant_begin(const struct cnnvp_constant_view *view)
{
    return (struct cnnvp_constant_walk){.view = *view, .place = view->first};
}
/* Where the next one is. */
static inline size_t cnnvp_constant_next(struct cnnvp_constant_walk *walk)
{
    const size_t place = (size_t)walk->place;
    for (size_t d = walk->view.rank; d-- > 0;) {
        walk->place += walk->view.steps[d];
        if (++walk->index[d] < walk->view.dims[d])
            break;
        walk->place -= walk->view.steps[d] * walk->view.dims[d];
        walk->index[d] = 0;
    }
    return place;
}

/* That output of the node is what a view shows of a constant. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_show(struct cnnvp_import *import, const struct cnnvp_constant *from,
                                                const struct cnnvp_constant_view *view, size_t output);

/* Input 0 of an operator that only gives words other dimensions or places: a tensor, or a constant, which has a
 * dimension of 1 in front here as tensors of a single image have. */
struct cnnvp_words {
    int32_t tensor; /* or CNNVP_GRAPH_NONE */
    struct cnnvp_constant constant;
    uint32_t front; /* dimensions in front of those of the file */
    uint32_t rank;
    int64_t dims[CNNVP_ONNX_RANK + 1];
};
CNNVP_MUST_USE cnnvp_result cnnvp_words_read(struct cnnvp_import *import, struct cnnvp_words *words);
/* cnnvp_import_axis, among `rank` dimensions. */
CNNVP_MUST_USE cnnvp_result cnnvp_words_axis(struct cnnvp_import *import, const struct cnnvp_words *words,
                                             uint32_t rank, int64_t named, int64_t *axis);
cnnvp_result cnnvp_import_resized(struct cnnvp_import *import);

/* Operators that are computed while the file is read. */
struct cnnvp_constant_operator {
    const char *op_type;
    cnnvp_result (*function)(struct cnnvp_import *import);
    int kind; /* import->kind while the function runs */
};
struct cnnvp_constant_operators {
    const struct cnnvp_constant_operator *list;
    size_t count;
};
/* onnx_constant_place.c: other shapes and places; onnx_constant_arithmetic.c: element by element, and Range;
 * onnx_constant_function.c: functions of one number; onnx_constant_sum.c: over dimensions, and products of matrices. */
extern const struct cnnvp_constant_operators cnnvp_constant_places, cnnvp_constant_arithmetic;
extern const struct cnnvp_constant_operators cnnvp_constant_functions, cnnvp_constant_sums;
#define CNNVP_FOLDING 4
extern const struct cnnvp_constant_operators *const cnnvp_constant_folding[CNNVP_FOLDING];
/* NULL: none of that name. */
const struct cnnvp_constant_operator *cnnvp_constant_find(const char *op_type);

cnnvp_result cnnvp_constant_quantize(struct cnnvp_import *import);
cnnvp_result cnnvp_constant_dequantize(struct cnnvp_import *import);

#endif
