/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast PE module's work on one part of a tile: a product of matrices, result[m][n] = sum over k of a[m][k] *
 * b[k][n].
 *
 *   forward, error   m out channel     n (image, y, x)        k (in channel, ky, kx)   a weights where they lie
 *   gradient         m out channel     n (in channel, ky, kx) k (image, y, x)          a errors, packed
 *
 * Where the kernel has several columns and positions follow each other, a is a copy as well, by rows of the kernel: its
 * quads are four columns of one row, zeros after the last, so that a quad of b is four neighbours of the plane.
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
    uint64_t row_quads;  /* of a kernel row, where quads are taken from these; else 0 */
    uint64_t packed_row; /* bytes of its row */
    uint64_t m, n, k;
    /* quads of four terms: where they lie in a row of a, and where in the planes of an image for position 0, -1 none.
     * Where quads are neighbours, one place stands for all four. */
    uint64_t quads;
    uint32_t *offsets;
    int32_t *places;
    int32_t *term_places; /* the same of each k */
    /* working memory */
    int8_t *a_copy;
    int64_t *row_sums; /* of a, m of them */
    int32_t *tap_sums; /* error: sums over channels, before they are gathered */
    uint8_t *panel;
    uint64_t panel_bytes; /* of one panel */
    uint64_t panels;      /* that memory is there for */
    uint8_t *stage;       /* rows of bytes on their way into the panel */
    int64_t *wide_sums;   /* [m][TRAIN_COLUMNS], where k is taken in several chunks */
};

/* Offset of tap (y, x) of a channel from its plane's beginning, for position 0. */
static inline uint32_t train_tap(const struct train_job *job, uint32_t y, uint32_t x)
{
    const struct cnnvp_train_tile *tile = job->tile;
    const bool error = tile->kind == CNNVP_TRAIN_ERROR;
    return (error ? tile->ky - 1u - y : y) * (uint32_t)job->plane_w + (error ? tile->kx - 1u - x : x);
}

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
