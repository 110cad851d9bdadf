/* SPDX-License-Identifier: Apache-2.0 */
/* The reference's tensors: block floating point by its definition (S001 C9, Part B 1-14, 1-15; c_api/cnnvp_bfp.h for
 * the carried remainder), or binary64 values. */
#ifndef TRAIN_TENSOR_H
#define TRAIN_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#include "train_reference.h"

/* [images][channels][plane] values: mantissas and exponents of blocks, `numbers` (bits 0), or both. */
struct train_tensor {
    int32_t *mantissas;
    int *exponents;
    double *numbers;
    enum train_block block;
    uint32_t channels;
    uint64_t plane;
};

/* Zeroed memory; exits the program if there is none. */
void *train_room(uint64_t count, size_t size);

/* A tensor of images, or of kernels: one image whose channels are the output channels. `numbers`: also allocates
 * binary64 values. */
struct train_tensor *train_tensor_new(uint32_t bits, int numbers, enum train_block block, uint64_t images,
                                      uint32_t channels, uint64_t plane);
void train_tensor_free(struct train_tensor *tensor);

uint64_t train_hash(uint64_t seed, uint64_t index);
/* floor(log2 |x|), x not 0. */
int train_log2(double x);

/* The exponent of a value's block. */
int train_tensor_exponent(const struct train_tensor *tensor, uint64_t image, uint64_t channel);
double train_tensor_value(const struct train_tensor *tensor, uint32_t bits, uint64_t i);
/* Sets `numbers` to the values of the first n mantissas. */
void train_tensor_numbers(struct train_tensor *tensor, uint32_t bits, uint64_t n);

/* Quantises n values (whole images) with an exponent for each of their blocks. */
void train_tensor_quantise(struct train_tensor *tensor, uint32_t bits, enum train_rounding rounding, uint64_t seed,
                           const double *x, uint64_t n, uint64_t *saturated);
/* Like train_tensor_quantise, with the exponents that the tensor has. */
void train_tensor_round(struct train_tensor *tensor, uint32_t bits, enum train_rounding rounding, uint64_t seed,
                        const double *x, uint64_t n, uint64_t *saturated);

#endif
