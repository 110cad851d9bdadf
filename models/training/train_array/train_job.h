/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of the fast PE module on one part of a tile, a matrix product: result[m][n] = sum over k of a[m][k] *
 * b[k][n].
 *
 *   forward, error   m out channel     n (image, y, x)        k (in channel, ky, kx)   a: weights in place
 *   gradient         m out channel     n (in channel, ky, kx) k (image, y, x)          a: errors, packed
 *
 * b is taken from copies of the input planes with borders, as values + 128 (error: also with zeros between the values).
 */
#pragma once

#include "train_kernels.h"
#include "train_tile.h"

struct train_job {
    const struct train_kernels *kernels;
    const struct cnnvp_train_tile *tile;
    const struct cnnvp_train_data *data;
    /* input planes */
    uint8_t *planes;
    uint64_t plane_h, plane_w;
    uint64_t plane_size; /* bytes of a channel */
    uint64_t image_size; /* bytes of all channels of an image */
    /* matrix a: row m is at a + m * row_stride and consists of runs of contiguous terms */
    const int8_t *a;
    uint64_t row_stride;
    uint64_t runs, run_length, run_stride;
    bool packed;         /* a is a copy */
    uint64_t packed_row; /* bytes of a row of the copy */
    uint64_t m, n, k;
    /* quads of four terms: their offsets in a row of a, and their places in the planes of an image for position 0 (-1:
     * no term). */
    uint64_t quads;
    uint32_t *offsets;
    int32_t *places;
    int32_t *term_places; /* the place of each term k */
    /* working memory */
    int8_t *a_copy;
    int64_t *row_sums; /* sums of the m rows of a */
    uint8_t *panel;
    uint64_t panel_bytes;
    uint8_t *stage;     /* columns on their way into the panel */
    int64_t *wide_sums; /* [m][TRAIN_COLUMNS], if k is processed in several chunks */
};

/* Offset of tap (y, x) from the start of a channel's plane, for position 0. */
static inline uint32_t train_tap(const struct train_job *job, uint32_t y, uint32_t x)
{
    const struct cnnvp_train_tile *tile = job->tile;
    const bool error = tile->kind == CNNVP_TRAIN_ERROR;
    return (error ? tile->ky - 1u - y : y) * (uint32_t)job->plane_w + (error ? tile->kx - 1u - x : x);
}

enum {
    TRAIN_CHUNK = 4096, /* most quads of a chunk: 1 MiB, raw sums fit into 32 bits */
    TRAIN_STAGE = 16    /* columns that go into a panel together */
};

/* Fill the input planes; and columns first .. first + count - 1 of a panel with quads from .. to - 1
 * (train_panel.c). */
void cnnvp_train_fill_planes(const struct train_job *job);
void cnnvp_train_fill_panel(const struct train_job *job, uint64_t first, uint64_t count, uint64_t from, uint64_t to);

/* Computes with wide mantissas, by plain loops (train_wide.c). */
void cnnvp_train_compute_wide(const struct cnnvp_train_shape *shape, const struct cnnvp_train_tile *tile,
                              const struct cnnvp_train_data *data, uint64_t *saturated);

/* cnnvp_train_compute with a given variant of the kernels (train_compute.c). */
CNNVP_MUST_USE int cnnvp_train_compute_with(const struct train_kernels *kernels, const struct cnnvp_train_shape *shape,
                                            const struct cnnvp_train_tile *tile, const struct cnnvp_train_data *data,
                                            struct cnnvp_train_scratch *scratch, uint64_t *saturated);
