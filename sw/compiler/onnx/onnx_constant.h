/* SPDX-License-Identifier: Apache-2.0 */
/* Constants that are computed while a file is read. Internal to the files onnx_constant*.c and their callers. */
#pragma once

#include "onnx_node.h"

#define CNNVP_CONSTANT_RANK CNNVP_ONNX_RANK

/* A weightless import does not read float constants with more elements than this. */
#define CNNVP_CONSTANT_SMALL 4096u

struct cnnvp_constant {
    size_t rank;
    int64_t dims[CNNVP_CONSTANT_RANK];
    size_t count;
    int whole;     /* 1: 64-bit integers in `ints`; 0: floats in `floats` */
    int32_t bytes; /* ONNX data type if it is an integer type of 8 to 32 bits, else 0. Elements of 8 and 16 bits are
                      read as floats; a result, of either kind, wraps as the type does. */
    int64_t *ints;
    float *floats;
};

/* 1: elements are kept as integers here: the type is INT32, INT64 or BOOL. */
static inline int cnnvp_constant_is_whole(const Onnx__TensorProto *tensor)
{
    return tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 ||
           tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32 ||
           tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
}

/* 1: the type is INT8 or UINT8. */
static inline int cnnvp_constant_has_bytes(const Onnx__TensorProto *tensor)
{
    return tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT8 ||
           tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8;
}

/* The type if it is an integer of 8 to 32 bits, else 0; UINT32 is none, whose elements are floats here. */
static inline int32_t cnnvp_constant_narrow(const Onnx__TensorProto *tensor)
{
    return cnnvp_constant_has_bytes(tensor) || tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT16 ||
                   tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT16 ||
                   tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32
               ? tensor->data_type
               : 0;
}

/* The zero point with which every value of this 8-bit type, less the zero point, fits in a signed 8-bit word. */
static inline float cnnvp_constant_middle(const Onnx__TensorProto *tensor)
{
    return tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 ? 128.0f : 0.0f;
}

/* The larger one; NaN if one is NaN. */
static inline double cnnvp_constant_larger(double a, double b)
{
    return a >= b || a != a ? a : b;
}

/* A start or end of a slice: negative values count from the end; the result is clamped to low .. high. */
static inline int64_t cnnvp_constant_limit(int64_t value, int64_t size, int64_t low, int64_t high)
{
    value += value < 0 ? size : 0;
    return value < low ? low : value > high ? high : value;
}

/* 1: the values are in memory. A weightless import leaves out large float constants and everything computed from
 * them. */
int cnnvp_constant_known(const struct cnnvp_constant *constant);
/* Reads constant input `input` of the node. The values are read-only: they may lie in the file's memory. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_read(struct cnnvp_import *import, size_t input, struct cnnvp_constant *read);
/* Like cnnvp_constant_read, but an error if the values are not known: for constants that decide a shape. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_need(struct cnnvp_import *import, size_t input, struct cnnvp_constant *read);
/* Sets `count` of a constant whose rank, dims and whole are set. Allocates its elements if `known`, unless a weightless
 * import leaves them out. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_allocate(struct cnnvp_import *import, struct cnnvp_constant *made,
                                                    int known);
/* Defines the value `name` of the file, or the node's first output, as this constant. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_define_as(struct cnnvp_import *import, const char *name,
                                                     const struct cnnvp_constant *made);
CNNVP_MUST_USE cnnvp_result cnnvp_constant_define(struct cnnvp_import *import, const struct cnnvp_constant *made);

/* onnx_images.c: marks the constants that a folded node has made of others that depend on the number of images. */
void cnnvp_constant_mark_images(struct cnnvp_import *import);
/* The sizes that constant input `input` gives to a constant: those for one image, as all have the same. A leading 0
 * that stands for the number of images becomes 1. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_of_an_image(struct cnnvp_import *import, size_t input, size_t count,
                                                       int64_t *sizes);

/* Copies `count` elements of `data`, from index `from` on, to index `to` of `made`. Both have the same kind of
 * elements. */
void cnnvp_constant_take(struct cnnvp_constant *made, size_t to, const struct cnnvp_constant *data, size_t from,
                         size_t count);

/* A strided view of a constant's elements: index of the first element, and the index step of each dimension. */
struct cnnvp_constant_view {
    size_t rank;
    int64_t dims[CNNVP_CONSTANT_RANK];
    int64_t steps[CNNVP_CONSTANT_RANK];
    int64_t first;
};
/* All elements in their own shape and order. */
struct cnnvp_constant_view cnnvp_constant_whole_view(const struct cnnvp_constant *constant);
/* The elements broadcast to a larger shape of the same or higher rank: dimensions of 1 have step 0. */
struct cnnvp_constant_view cnnvp_constant_spread(const struct cnnvp_constant *constant, size_t rank,
                                                 const int64_t *dims);

/* Iterates over a view's elements in row-major order. */
struct cnnvp_constant_walk {
    struct cnnvp_constant_view view;
    int64_t index[CNNVP_CONSTANT_RANK];
    int64_t place;
};
static inline struct cnnvp_constant_walk cnnvp_constant_begin(const struct cnnvp_constant_view *view)
{
    return (struct cnnvp_constant_walk){.view = *view, .place = view->first};
}
/* Returns the index of the current element and moves on to the next. */
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

/* Defines output `output` of the node as the elements of `from` that the view selects. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_show(struct cnnvp_import *import, const struct cnnvp_constant *from,
                                                const struct cnnvp_constant_view *view, size_t output);

/* Input 0 of an operator that only reshapes or moves elements: a tensor or a constant. A constant gets a leading
 * dimension of 1, as a tensor has for the batch. */
struct cnnvp_words {
    int32_t tensor; /* or CNNVP_GRAPH_NONE */
    struct cnnvp_constant constant;
    uint32_t front; /* leading dimensions that the file does not have */
    uint32_t rank;
    int64_t dims[CNNVP_ONNX_RANK + 1];
};
CNNVP_MUST_USE cnnvp_result cnnvp_words_read(struct cnnvp_import *import, struct cnnvp_words *words);
/* Like cnnvp_import_axis, for `words` and `rank` dimensions. */
CNNVP_MUST_USE cnnvp_result cnnvp_words_axis(struct cnnvp_import *import, const struct cnnvp_words *words,
                                             uint32_t rank, int64_t named, int64_t *axis);
cnnvp_result cnnvp_import_resized(struct cnnvp_import *import);

/* Operators that are computed on constants while the file is read. */
struct cnnvp_constant_operator {
    const char *op_type;
    cnnvp_result (*function)(struct cnnvp_import *import);
    int kind; /* import->kind while the function runs */
};
struct cnnvp_constant_operators {
    const struct cnnvp_constant_operator *list;
    size_t count;
};
/* The tables. onnx_constant_place.c: reshaping and moving elements; onnx_constant_arithmetic.c: elementwise arithmetic
 * and Range; onnx_constant_function.c: functions of one element; onnx_constant_sum.c: reductions and matrix
 * products. */
extern const struct cnnvp_constant_operators cnnvp_constant_places, cnnvp_constant_arithmetic;
extern const struct cnnvp_constant_operators cnnvp_constant_functions, cnnvp_constant_sums;
#define CNNVP_FOLDING 4
extern const struct cnnvp_constant_operators *const cnnvp_constant_folding[CNNVP_FOLDING];
/* NULL: no table has this operator. */
const struct cnnvp_constant_operator *cnnvp_constant_find(const char *op_type);

cnnvp_result cnnvp_constant_quantize(struct cnnvp_import *import);
cnnvp_result cnnvp_constant_dequantize(struct cnnvp_import *import);
