/* SPDX-License-Identifier: Apache-2.0 */
/* An ONNX file in memory. protobuf-c unpacks nodes and attributes; tensor data are read from the file when needed.
 * External data come from files in the network's folder or below it. */
#pragma once

#include "compiler.h"
#include "onnx.pb-c.h"

/* A file with external tensor data, and the most such files: exporters write one for all tensors or one for each. */
#define CNNVP_ONNX_FILES 4096
struct cnnvp_onnx_file {
    char *location;
    uint8_t *data;
    size_t size;
};

struct cnnvp_onnx {
    const char *name; /* as the caller gave it, for messages */
    const uint8_t *file;
    size_t size;
    uint64_t hash; /* see cnnvp_onnx_scan */
    Onnx__ModelProto *model;
    uint64_t opset;                /* of the default domain */
    struct cnnvp_onnx_file *files; /* files with external data that have been mapped so far */
};

/* Maps a file and checks it: complete, IR version 3 or later, operator set 6 to 26, and a graph with nodes. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_open(const char *file, struct cnnvp_onnx *onnx, struct cnnvp_error *error);
void cnnvp_onnx_close(struct cnnvp_onnx *onnx);

/* 1: this operator set of the default domain is supported. */
int cnnvp_onnx_knows(int64_t opset);

/* Number of elements; 0 if a dimension is 0 or negative, or if there are more than 2^31 - 1. */
size_t cnnvp_onnx_elements(const Onnx__TensorProto *tensor);
/* 1: a dimension is 0 and none is negative. */
int cnnvp_onnx_is_empty(const Onnx__TensorProto *tensor);

/* Buffer size for a shape as text, such as "[1,3,4,4]". Dimensions that do not fit are left out. */
#define CNNVP_ONNX_SHAPE_TEXT 128
void cnnvp_onnx_shape_text(size_t rank, const int64_t *dims, char text[CNNVP_ONNX_SHAPE_TEXT]);

/* 1: the tensor's data are in another file. */
int cnnvp_onnx_is_external(const Onnx__TensorProto *tensor);

/* 0: the tensor has only a shape. */
int cnnvp_onnx_has_values(const Onnx__TensorProto *tensor);

/* Checks that the file, or a file with external data, holds exactly `count` elements of a supported type. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_check(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor,
                                             size_t count, struct cnnvp_error *error);

/* Reads all elements as float (from float, float16, bfloat16, double, bool and integers) or as int64 (from int32,
 * int64, bool). `count` is cnnvp_onnx_elements. Floats that are not finite are an error. Messages name the tensor but
 * not file or node. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_floats(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor,
                                              float *out, size_t count, struct cnnvp_error *error);
/* Like cnnvp_onnx_floats, but infinities and NaN are allowed. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_numbers(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor,
                                               float *out, size_t count, struct cnnvp_error *error);
/* Reads the only element of a tensor. Infinities become +-FLT_MAX; NaN is an error. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_number(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor,
                                              float *number, struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_ints(const struct cnnvp_onnx *onnx, const Onnx__TensorProto *tensor,
                                            int64_t *out, size_t count, struct cnnvp_error *error);

/* NULL: the node does not have the attribute. */
const Onnx__AttributeProto *cnnvp_onnx_attribute(const Onnx__NodeProto *node, const char *name);
int64_t cnnvp_onnx_int(const Onnx__NodeProto *node, const char *name, int64_t otherwise);
float cnnvp_onnx_float(const Onnx__NodeProto *node, const char *name, float otherwise);
/* Compares a text attribute, whose bytes are not terminated. */
int cnnvp_onnx_is(const Onnx__NodeProto *node, const char *name, const char *text);

/* onnx_scan.c: a copy of the file that holds only what the compiler uses. The caller frees `skeleton`. `hash` is the
 * XXH3 of the file without raw tensor data of more than 4096 bytes, so that these pages are not touched. The error
 * gives the byte at which the file is damaged. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_scan(const char *name, const uint8_t *file, size_t size, uint8_t **skeleton,
                                            size_t *skeleton_size, uint64_t *hash, struct cnnvp_error *error);
