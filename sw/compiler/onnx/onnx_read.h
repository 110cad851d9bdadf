/* SPDX-License-Identifier: Apache-2.0 */
/* An ONNX file in memory: nodes and attributes unpacked by protobuf-c, tensor data read from the file when it is
 * wanted, external data from files in the same folder or below it. */
#ifndef CNNVP_COMPILER_ONNX_READ_H
#define CNNVP_COMPILER_ONNX_READ_H

#include "compiler.h"
#include "onnx.pb-c.h"

/* A file with the data of tensors, of which exporters make one for all or one for each. */
#define CNNVP_ONNX_FILES 4096
struct cnnvp_onnx_file {
    char *location;
    uint8_t *data;
    size_t size;
};

struct cnnvp_onnx {
    const char *name; /* the caller's, for messages */
    const uint8_t *file;
    size_t size;
    uint64_t hash; /* see cnnvp_onnx_scan */
    Onnx__ModelProto *model;
    uint64_t opset;                /* of the default domain */
    struct cnnvp_onnx_file *files; /* with external data, as they are needed */
};

/* Maps and checks a file: complete, IR 3 or later, opset 6 to 26, one graph with nodes. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_open(const char *file, struct cnnvp_onnx *onnx, struct cnnvp_error *error);
void cnnvp_onnx_close(struct cnnvp_onnx *onnx);

/* 1: an operator set of the default domain whose meaning is known. */
int cnnvp_onnx_knows(int64_t opset);

/* Elements of a tensor; 0 if a dimension is 0 or negative or there are more than 2^31 - 1. */
size_t cnnvp_onnx_elements(const Onnx__TensorProto *tensor);
/* 1: a dimension is 0 and none is negative. */
int cnnvp_onnx_is_empty(const Onnx__TensorProto *tensor);

/* Room for a shape in words, such as "[1,3,4,4]"; what does not fit is left out. */
#define CNNVP_ONNX_SHAPE_TEXT 128
void cnnvp_onnx_shape_text(size_t rank, const int64_t *dims, char text[CNNVP_ONNX_SHAPE_TEXT]);

/* Its data are in another file. */
int cnnvp_onnx_is_external(const Onnx__TensorProto *tensor);

/* 0: it has a shape alone. */
int cnnvp_onnx_has_values(const Onnx__TensorProto *tensor);

/* The data are there, `count` elements of them: in this file or in another one of its folder. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_check(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor,
                                             size_t count, struct cnnvp_error *error);

/* All elements as float (from float, float16, bfloat16, double, bool and integers) or as int64 (from int32, int64);
 * count is cnnvp_onnx_elements. Floats that are not finite are an error. The error says what the tensor holds instead,
 * without naming file or node. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_floats(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor,
                                              float *out, size_t count, struct cnnvp_error *error);
/* The same as float, infinity and what is no number too. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_numbers(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor,
                                               float *out, size_t count, struct cnnvp_error *error);
/* The one element of a tensor; infinity is the largest number. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_number(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor,
                                              float *number, struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_ints(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor,
                                            int64_t *out, size_t count, struct cnnvp_error *error);

/* NULL: the node does not have the attribute. */
const Onnx__AttributeProto *cnnvp_onnx_attribute(const Onnx__NodeProto *node, const char *name);
int64_t cnnvp_onnx_int(const Onnx__NodeProto *node, const char *name, int64_t otherwise);
float cnnvp_onnx_float(const Onnx__NodeProto *node, const char *name, float otherwise);
/* A text of bytes is not terminated: compare with this. */
int cnnvp_onnx_is(const Onnx__NodeProto *node, const char *name, const char *text);

/* onnx_scan.c: a copy that holds only what the compiler looks at. `skeleton` is given back with free(). `hash` is xxh3
 * of the file without the raw data of tensors that have more than 4096 bytes of it: they stay untouched. The error says
 * at which byte the file is damaged. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_scan(const char *name, const uint8_t *file, size_t size, uint8_t **skeleton,
                                            size_t *skeleton_size, uint64_t *hash, struct cnnvp_error *error);

#endif
