/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inner loops of the float pass and of quantisation, on the host's vector units. Whatever a variant does side by side,
 * each number is formed by the same operations in the same order: all variants give the same bits, on every host.
 */
#ifndef CNNVP_COMPILER_FLOAT_KERNELS_H
#define CNNVP_COMPILER_FLOAT_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum {
    CNNVP_FLOAT_CHANNELS = 8,   /* output channels of one call of `conv` */
    CNNVP_FLOAT_POSITIONS = 48, /* positions of one call */
    CNNVP_FLOAT_LANE = 16,      /* `conv` takes a multiple of this many positions */
    CNNVP_DOT_LANES = 16        /* partial sums of `dot` that are kept side by side */
};

struct cnnvp_float_kernels {
    const char *name;
    /*
     * sums[o * CNNVP_FLOAT_POSITIONS + p] += weights[o * pitch + s] * planes[offsets[s] + p], s = 0, 1, ... in this
     * order; o < channels, p < positions. Reads planes after the last position that counts, up to the multiple.
     */
    void (*conv)(const float *planes, const uint32_t *offsets, const float *weights, size_t pitch, size_t steps,
                 size_t channels, size_t positions, float *sums);
    /* Lane l sums terms l, l + 16, ...; then the lanes are added by halves. */
    float (*dot)(const float *a, const float *b, size_t count);
    /* y[i] = x[i] * factor */
    void (*scale)(const float *x, float factor, size_t count, float *y);
    /* Largest magnitude, 0 for none; NaN does not count. */
    float (*largest)(const float *values, size_t count);
    /* Nearest words of value * factor (ties to even), saturated; NaN becomes 0. `factor` is a power of two. */
    void (*quantise)(const float *values, size_t count, float factor, int16_t *words);
};

/* The fastest variant that this machine runs. */
const struct cnnvp_float_kernels *cnnvp_float_kernels(void);
/* The index-th variant, NULL after the last; variants that this machine does not run are left out. */
const struct cnnvp_float_kernels *cnnvp_float_kernels_variant(size_t index);

#endif
