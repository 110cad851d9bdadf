/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inner loops of the fast PE module: exact sums of 8 x 8-bit products on the host's vector units.
 *
 * Terms are processed in quads of four. The panel holds one operand, 64 columns side by side, as bytes that stand for
 * value + 128: [quad][column][4]. The other operand stays in place, row by row; a quad is four contiguous bytes. The
 * sums are therefore too large by 128 times the sum of a row, which the caller subtracts. Intermediate sums wrap at 32
 * bits; the final sum is right if the true sum fits.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    TRAIN_COLUMNS = 64, /* columns of a panel */
    TRAIN_ROWS = 12     /* rows of one call of `panel` */
};

struct train_kernels {
    const char *name;
    /* tile[r * 64 + c] = sum over quads q of panel[q][c] . rows[r][offsets[q] .. + 3], c < 16 * vectors; vectors 1
     * .. 4 */
    void (*panel)(const uint8_t *panel, const int8_t *const *rows, const uint32_t *offsets, size_t quads,
                  size_t vectors, int32_t *tile);
    /* Sum of n values; n is at most 2^23. */
    int32_t (*sum)(const int8_t *values, size_t n);
    /* out[4 * i + j] = rows[j][i], i < 64: makes a quad of a panel. */
    void (*interleave)(const uint8_t *rows, uint8_t *out);
    /* results[i] = raw[i] - excess, modulo 2^32, i < n. */
    void (*replace)(const int32_t *raw, int32_t excess, size_t n, int32_t *results);
    /* results[i] += raw[i] - excess, clipped to 32 bits. Returns how many were clipped. */
    uint32_t (*accumulate)(const int32_t *raw, int32_t excess, size_t n, int32_t *results);
};

/* The fastest variant that this machine can run. */
const struct train_kernels *cnnvp_train_kernels(void);
/* The index-th variant that this machine can run; NULL after the last. */
const struct train_kernels *cnnvp_train_kernels_variant(size_t index);
