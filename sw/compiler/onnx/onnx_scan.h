/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A first pass over an ONNX file: a copy of it that holds only what the compiler looks at, for protobuf-c to unpack.
 * The bytes of tensors stay in the file: raw_data in the copy is 16 bytes, offset and length in the file (64-bit, the
 * host's byte order). Graphs in graphs more than 8 deep and types other than tensors are left out, so that
 * no file makes the unpacking recurse deeply.
 */
#ifndef CNNVP_COMPILER_ONNX_SCAN_H
#define CNNVP_COMPILER_ONNX_SCAN_H

#include "compiler.h"

/* `skeleton` is given back with free(). `hash` is xxh3 of the file without the raw data of tensors that have more than
 * 4096 bytes of it: they stay untouched. The error says at which byte the file is damaged. */
CNNVP_MUST_USE cnnvp_result cnnvp_onnx_scan(const char *name, const uint8_t *file, size_t size, uint8_t **skeleton,
                                            size_t *skeleton_size, uint64_t *hash, struct cnnvp_error *error);

#endif
