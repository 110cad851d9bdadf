/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inner loops of the float reference model and of quantisation, on the host's vector units. All variants compute each
 * number by the same operations in the same order, so they give the same bits on every host.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    CNNVP_FLOAT_CHANNELS = 8,   /* output channels of one call of `conv` */
    CNNVP_FLOAT_POSITIONS = 48, /* positions of one call */
    CNNVP_FLOAT_LANE = 16,      /* the positions of a call of `conv` are a multiple of this */
    CNNVP_DOT_LANES = 16        /* parallel partial sums of `dot` */
};

struct cnnvp_float_kernels {
    const char *name;
    /*
     * sums[o * CNNVP_FLOAT_POSITIONS + p] += weights[o * pitch + s] * planes[offsets[s] + p] for s = 0 .. steps - 1 in
     * this order, o < channels, p < positions. The caller rounds `positions` up to a multiple of CNNVP_FLOAT_LANE, so
     * planes are read after the last position that counts.
     */
    void (*conv)(const float *planes, const uint32_t *offsets, const float *weights, size_t pitch, size_t steps,
                 size_t channels, size_t positions, float *sums);
    /* Lane l sums products l, l + 16, ...; then the lanes are added pairwise, half by half. */
    float (*dot)(const float *a, const float *b, size_t count);
    /* y[i] = x[i] * factor */
    void (*scale)(const float *x, float factor, size_t count, float *y);
    /* Largest magnitude; 0 if there are no values. NaN does not count. */
    float (*largest)(const float *values, size_t count);
    /* The nearest words to value * factor (ties to even), saturated; NaN becomes 0. `factor` is a power of two. */
    void (*quantise)(const float *values, size_t count, float factor, int16_t *words);
};

/* The fastest variant that this host supports. */
const struct cnnvp_float_kernels *cnnvp_float_kernels(void);
/* Variant number `index` of those that this host supports; NULL after the last one. */
const struct cnnvp_float_kernels *cnnvp_float_kernels_variant(size_t index);
