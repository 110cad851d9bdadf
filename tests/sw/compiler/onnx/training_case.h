/* SPDX-License-Identifier: Apache-2.0 */
/* Networks to be trained. */
#ifndef CNNVP_TESTS_TRAINING_CASE_H
#define CNNVP_TESTS_TRAINING_CASE_H

#include <math.h>
#include <unistd.h>

#include "test.h"

#include "cnnvp_data.h"
#include "numbers.h"
#include "onnx_builder.h"
#include "onnx.h"

#define DIMS(...)     \
    (const int64_t[]) \
    {                 \
        __VA_ARGS__   \
    }

/* Writes the builder's file under a temporary name. */
void write_file(struct builder *b, char *name);

struct cnnvp_graph import(const char *file, int random, uint64_t seed);

/* Conv, BatchNormalization, Relu, MaxPool, Flatten, Gemm, MatMul, Add. Parameters of `blank` are inputs without values;
 * gamma, beta, mean and variance share two initialisers by way of Identity, as exporters write it. */
void make_network(struct builder *b, int blank);

enum { CONV = 0, NORM = 1, RELU = 2, POOL = 3, GEMM = 4, MATMUL = 5, LAYERS = 6 };

#endif
