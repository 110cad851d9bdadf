/* SPDX-License-Identifier: Apache-2.0 */
/* Quantised networks. */
#ifndef CNNVP_TESTS_QUANTISE_CASE_H
#define CNNVP_TESTS_QUANTISE_CASE_H

#include <math.h>
#include <unistd.h>

#include "test.h"

#include "numbers.h"
#include "onnx_builder.h"
#include "onnx_case.h"

#define CHANNELS 3
#define SIDE 7
#define WORDS (CHANNELS * SIDE * SIDE)
#define OUTPUTS 4

static const int64_t maps[4] = {-1, CHANNELS, SIDE, SIDE};

/* 8-bit integers, signed or not; values are kept as they are given modulo 256. */
void integers(struct builder *b, const char *name, size_t rank, const int64_t *dims, int is_signed, const int *values);

/* Runs what was built on one image. */
void run(struct builder *b, const float *input, float *output, size_t words);

void begin(struct builder *b, float input[WORDS], uint64_t seed);

#endif
