/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inner loops of the fast PE module: exact sums of 8 x 8-bit products on the host's vector units.
 *
 * Terms come in quads, four at a time. The panel holds one operand, 64 columns side by side, as bytes that stand for
 * value + 128: [quad][column][4]. The other operand stays where it is, row by row, a quad being four contiguous
 * bytes. So the sums come out too large by 128 times the sum of a row, which the caller takes off. Sums wrap at 32
 * bits on the way; what is left in the end is right where the true sum fits.
 */
#ifndef CNNVP_TRAIN_KERNELS_H
#define CNNVP_TRAIN_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum {
    TRAIN_COLUMNS = 64, /* of a panel */
    TRAIN_ROWS = 12,    /* rows of one call */
    TRAIN_SLACK = 16,
    TRAIN_STAGE = 16 /* columns of one call of `transpose` */
};

/* Columns of a panel that follow each other in a row of the map. */
struct train_segment {
    uint32_t to;     /* column */
    uint32_t length; /* columns */
    uint64_t from;   /* bytes into the planes */
};

struct train_kernels {
    const char *name;
    /* tile[r * 64 + c] = sum over quads q of panel[q][c] . rows[r][offsets[q] .. + 3], c < 16 * vectors; vectors 1
     * .. 4 */
    void (*panel)(const uint8_t *panel, const int8_t *const *rows, const uint32_t *offsets, size_t quads,
                  size_t vectors, int32_t *tile);
    /* Sum of n values, n <= 2^23. */
    int32_t (*sum)(const int8_t *values, size_t n);
    /* sums[i] += values[i]. */
    void (*add)(const int8_t *values, size_t n, int32_t *sums);
    /* out[4 * i + j] = rows[j][i], i < 64: a quad of a panel. */
    void (*interleave)(const uint8_t *rows, uint8_t *out);
    /* out[4 * (to + i) + j] = values[from + i + j] for each segment, i < length, j < 4: a quad of neighbouring terms.
     * Reads and writes up to TRAIN_SLACK bytes more; segments come in the order of `to`. */
    void (*spread)(const uint8_t *values, const struct train_segment *segments, size_t count, uint8_t *out);
    /* results[i] = raw[i] - excess, modulo 2^32, i < n. */
    void (*replace)(const int32_t *raw, int32_t excess, size_t n, int32_t *results);
    /* results[i] += raw[i] - excess, the sum clipped to 32 bits; how many were. */
    uint32_t (*accumulate)(const int32_t *raw, int32_t excess, size_t n, int32_t *results);
    /* panel[q][c] = the four bytes at columns + c * pitch + 4 * q, c < 16: quads that lie column by column. Works on
     * groups of four quads: `pitch` and the memory of both reach up to a multiple of that. */
    void (*transpose)(const uint8_t *columns, size_t pitch, size_t quads, uint8_t *panel);
};

/* The fastest variant that this machine runs. */
const struct train_kernels *cnnvp_train_kernels(void);
/* The index-th variant that this machine runs, NULL after the last. */
const struct train_kernels *cnnvp_train_kernels_variant(size_t index);

#endif
