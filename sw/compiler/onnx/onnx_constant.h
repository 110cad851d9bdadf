/* SPDX-License-Identifier: Apache-2.0 */
/* Constants as they are computed while a file is read. Between onnx_constant.c and onnx_constant_quantise.c. */
#ifndef CNNVP_COMPILER_ONNX_CONSTANT_H
#define CNNVP_COMPILER_ONNX_CONSTANT_H

#include "onnx_node.h"

#define CNNVP_CONSTANT_RANK CNNVP_ONNX_RANK

struct cnnvp_constant {
    size_t rank;
    int64_t dims[CNNVP_CONSTANT_RANK];
    size_t count;
    int whole; /* integers */
    int64_t *ints;
    float *floats; /* NULL: not read */
};

/* Input `input` of the node. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_read(struct cnnvp_import *import, size_t input, struct cnnvp_constant *read);
/* Memory for rank, dims and whole as they are set; sets count. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_allocate(struct cnnvp_import *import, struct cnnvp_constant *made);
/* The node's output is that constant. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_define(struct cnnvp_import *import, const struct cnnvp_constant *made);

/* The node's output has elements of `from` at other places: element i is from[place(i)]; rank and dims of `to` are set.
 * What was not read stays so. */
CNNVP_MUST_USE cnnvp_result cnnvp_constant_move(struct cnnvp_import *import, const struct cnnvp_constant *from,
                                                struct cnnvp_constant *to,
                                                size_t (*place)(const void *context, size_t i), const void *context);

/* onnx_constant_arithmetic.c: element by element, and Range. */
extern const struct cnnvp_import_operators cnnvp_constant_arithmetic;

cnnvp_result cnnvp_constant_quantize(struct cnnvp_import *import);
cnnvp_result cnnvp_constant_dequantize(struct cnnvp_import *import);

#endif
