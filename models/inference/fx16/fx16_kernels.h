/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inner loops of the fast arrays: exact sums of 16 x 16-bit products on the host's vector units.
 *
 * One operand is split into bytes, k = 256 * high + low with low in -128 .. 127 and high in -128 .. 128. A product of
 * the other operand with either byte is at most 2^22, a pair of products at most 2^23. So 255 pairs add up in 32 bits
 * without overflow. Then both sums move to 64 bits as 256 * high + low.
 */
#ifndef CNNVP_FX16_KERNELS_H
#define CNNVP_FX16_KERNELS_H

#include "cnnvp_fx16.h"

enum {
    FX16_DIRECT_CHANNELS = 8,   /* most output channels of one call of `direct` */
    FX16_DIRECT_POSITIONS = 48, /* most positions of one call: a multiple of every kind of vector */
    FX16_DOT_POSITIONS = 4,     /* positions of one call of `dot` */
    FX16_DOT_OUTPUTS = 6,       /* most output channels of one call of `dot`, which share a pass over positions */
    FX16_DOT_ALIGN = 32,        /* number of terms is a multiple of this in `dot` */
    FX16_MAX_PAIRS = 255        /* pairs of products that 32 bits hold */
};

struct fx16_kernels {
    const char *name;
    /*
     * sums[o * 48 + p] = sum over steps of weights[o * pitch + step] . (256 * high + low)[offsets[step] + p]. All
     * operands are pairs of 16-bit values, and offsets count pairs. o < `channels`, p < `positions`. Positions are
     * rounded up to a whole vector: the inputs behind are read, and the sums behind are undefined.
     */
    void (*direct)(const int16_t *low, const int16_t *high, const uint32_t *offsets, const int32_t *weights,
                   size_t pitch, size_t steps, size_t channels, size_t positions, int64_t *sums);
    /* sums[o * 4 + p] += sum over n terms of weights[o * weight_pitch + i] * (256 * high + low)[p * pitch + i], for o <
     * `outputs`, p < 4. */
    void (*dot)(const int16_t *weights, size_t weight_pitch, size_t outputs, const int16_t *low, const int16_t *high,
                size_t pitch, size_t n, int64_t *sums);
    /* sums[o] += sum over inputs i of input[i] * weights[i * outputs + o]. */
    void (*matmul)(const int16_t *input, const int16_t *weights, size_t inputs, size_t outputs, int64_t *sums);
    /* sums[i] += weight * input[i * step], i < n. */
    void (*row)(const int16_t *input, size_t step, int32_t weight, size_t n, int64_t *sums);
    /* Splits values: values[i] becomes its low byte, high[i] its high byte, as described above. */
    void (*split)(int16_t *values, size_t n, int16_t *high);
};

/* cnnvp_fx16_compute with a given variant of the kernels (fx16_compute.c). */
CNNVP_MUST_USE int cnnvp_fx16_compute_with(const struct fx16_kernels *kernels, uint32_t acc_bits,
                                           const struct cnnvp_fx16_tile *tile, const struct cnnvp_fx16_data *data,
                                           struct cnnvp_fx16_scratch *scratch);

/* The fastest variant that this machine can run. */
const struct fx16_kernels *cnnvp_fx16_kernels(void);
/* The index-th variant that this machine can run; NULL after the last. */
const struct fx16_kernels *cnnvp_fx16_kernels_variant(size_t index);

/* Two 16-bit values side by side, the operand format of the multiply-add instructions. */
static inline int32_t fx16_pair(int16_t first, int16_t second)
{
    const uint32_t bits = (uint32_t)(uint16_t)first | (uint32_t)(uint16_t)second << 16;
    return (int32_t)bits;
}

#endif
