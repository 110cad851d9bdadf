/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number formats: FX16, 16-bit two's complement, value = word * 2^-frac, one frac a tensor.
 *
 * - A tensor gets the largest frac at which every value of the calibration fits with an eighth to spare, before and
 *   after the layer's maximum and minimum posts: nothing saturates on the calibration images. Networks that were never
 *   trained make their values smaller from layer to layer: up to 47 bits, 24 where a function of them is taken.
 * - Where the calibration saw only zeros there is no range to go by: 8 fraction bits.
 * - Maximum pooling and layers that only compare keep the format of their input. The second operand of an addition has
 *   no more fraction bits than the first, the first up to 40 more than the second. Softmax gives 15 fraction bits, and
 *   so do layers that only compare its results.
 * - Normalisation with statistics of the data: 1 / sigma, the scales and the offsets have formats of their own.
 * - Weights: one frac a layer, the largest at which they fit, but so that the largest sum fits the accumulator.
 * - Biases: 16-bit words with a left shift of their own, the smallest (from 0) at which they fit.
 */
#ifndef CNNVP_COMPILER_FORMATS_H
#define CNNVP_COMPILER_FORMATS_H

#include "graph.h"

#define CNNVP_FRAC_MIN (-16)
#define CNNVP_FRAC_MAX 47
#define CNNVP_FRAC_UNKNOWN 8
#define CNNVP_FRAC_SOFTMAX 15

/* Largest frac in CNNVP_FRAC_MIN..MAX at which `largest` fits: largest * margin <= 32767 * 2^-frac. */
int32_t cnnvp_frac_for(float largest, double margin);

/* Nearest word (ties to even), saturated; NaN becomes 0. */
int16_t cnnvp_quantise(float value, int32_t frac);
void cnnvp_quantise_all(const float *values, size_t count, int32_t frac, int16_t *words);
float cnnvp_dequantise(int16_t word, int32_t frac);

/* Fills the members for formats in tensors and layers from max_abs and pre_max_abs. Views get their base's. */
void cnnvp_formats_choose(struct cnnvp_graph *graph, uint32_t acc_bits);

/* epsilon in units of 2^(-2 frac), as vvar takes it. */
uint32_t cnnvp_formats_epsilon(float epsilon, int32_t frac);

/* 1: one of the posts is a table. */
int cnnvp_formats_has_table(const struct cnnvp_graph_layer *layer);

/* A right shift at write-out as units take it: -48 to 63. */
int32_t cnnvp_formats_shift(int32_t shift);

/* Right shift at write-out and left shift of the second addend, for descriptor register `format`. */
void cnnvp_formats_shifts(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, int32_t *shift,
                          int32_t *bias_shift);

#endif
