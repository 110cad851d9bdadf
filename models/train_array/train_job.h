/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast PE module's work on one part of a tile: a product of matrices, result[m][n] = sum over k of a[m][k] *
 * b[k][n].
 *
 *   forward, error   m out channel     n (image, y, x)        k (in channel, ky, kx)   a weights where they lie
 *   gradient         m out channel     n (in channel, ky, kx) k (image, y, x)          a errors, packed
 *
 * b comes from copies of the input planes with their borders, values + 128 (error: with zeros between them, too).
 */
#ifndef CNNVP_TRAIN_JOB_H
#define CNNVP_TRAIN_JOB_H

#include "train_kernels.h"
#include "train_tile.h"

struct train_job {
    const struct train_kernels *kernels;
    const struct cnnvp_train_tile *tile;
    const struct cnnvp_train_data *data;
    /* input planes */
    uint8_t *planes;
    uint64_t plane_h, plane_w;
    uint64_t plane_size; /* one channel */
    uint64_t image_size; /* all channels of an image */
    /* matrix a: row m at a + m * row_stride, runs of contiguous terms */
    const int8_t *a;
    uint64_t row_stride;
    uint64_t runs, run_length, run_stride;
    bool packed;         /* a is a copy */
    uint64_t packed_row; /* bytes of its row */
    uint64_t m, n, k;
    /* quads of four terms: where they lie in a row of a, and which k they are, -1 none */
    uint64_t quads;
    uint32_t *offsets;
    int32_t *terms;
    /* working memory */
    int8_t *a_copy;
    int64_t *row_sums;   /* of a, m of them */
    int32_t *tap_sums;   /* error: sums over channels, before they are gathered */
    uint8_t *panel;
    uint64_t panel_bytes; /* of one panel */
    uint64_t panels;      /* that memory is there for */
    uint8_t *stage;      /* rows of bytes on their way into the panel */
    int64_t *wide_sums;  /* [m][TRAIN_COLUMNS], where k is taken in several chunks */
};

enum {
    TRAIN_CHUNK = 4096 /* quads of a panel at most: 1 MiB, and raw sums that fit into 32 bits; a multiple of 4 */
};

/* Fills columns first .. first + count - 1 of quads from .. to - 1. (train_panel.c) */
void cnnvp_train_fill_planes(const struct train_job *job);
void cnnvp_train_fill_panel(const struct train_job *job, uint64_t first, uint64_t count, uint64_t from, uint64_t to);

/* Wide mantissas, by plain loops. (train_wide.c) */
void cnnvp_train_compute_wide(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                              const struct cnnvp_train_data *data, uint64_t *saturated);

/* cnnvp_train_compute on a given variant. (train_compute.c) */
CNNVP_MUST_USE int cnnvp_train_compute_with(const struct train_kernels *kernels, const struct cnnvp_train_shape *shape,
                                            const struct cnnvp_train_tile *tile, const struct cnnvp_train_data *data,
                                            struct cnnvp_train_scratch *scratch, uint64_t *saturated);

#endif
