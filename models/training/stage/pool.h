/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max pooling of one map: the arithmetic of `max_pool` and `max_pool_back`. It keeps the position of each maximum in
 * its window, of equal ones the first in raster order (Part B 1-6). Windows lie inside the map; rows and columns
 * outside all windows get no error.
 */
#pragma once

#include "stage.h"

/* A map with contiguous rows, and the window. */
struct cnnvp_max_pool {
    uint32_t h, w;
    uint32_t ky, kx; /* window, ky * kx <= 256; for 2x2, positions have two bits */
    uint32_t sy, sx;
};

/* Size of the result; 0 if the window is larger than the map or out of range. */
uint32_t cnnvp_max_pool_rows(const struct cnnvp_max_pool *pool);
uint32_t cnnvp_max_pool_cols(const struct cnnvp_max_pool *pool);

/* Pools mantissas of 1 or 4 bytes. ids[i] is ky * (columns of the window) + kx of the maximum of window i. The pool
 * must be valid (see above). out may be in, or lie before it. */
void cnnvp_max_pool_forward(const struct cnnvp_max_pool *pool, uint32_t bytes, const void *in, void *out, uint8_t *ids);

/* Computes dx, of the map's size: 0 except at the maxima, which get the errors of their windows, added in raster order
 * if windows overlap. Returns CNNVP_E_INVAL, with dx undefined, if an ID lies outside its window. */
CNNVP_MUST_USE int cnnvp_max_pool_backward(const struct cnnvp_max_pool *pool, const float *dy, const uint8_t *ids,
                                           float *dx);

/* State of `max_pool` and `max_pool_back`: a block with the positions of the maxima of one plane. */
struct cnnvp_pool_ids {
    struct cnnvp_stage stage;
    uint8_t *ids; /* positions of one plane, a byte each */
    uint64_t capacity;
};

/* Makes room for a plane of `values` positions, except in timing-only; earlier contents are lost. Returns CNNVP_OK or
 * CNNVP_E_NOMEM. */
CNNVP_MUST_USE int cnnvp_pool_ids_reserve(struct cnnvp_pool_ids *pool, uint64_t values);

/* Bytes of an image's packed positions. */
uint64_t cnnvp_pool_ids_bytes(const struct cnnvp_tile *tile);

/* For struct cnnvp_unit::fini. */
void cnnvp_pool_ids_fini(void *self);

/* Packs or unpacks n positions of `width` bits (1 .. 8). Value i is at bits i * width and up of a little-endian bit
 * string (bit 0 of byte 0 first). Padding bits are zero. */
void cnnvp_pool_ids_pack(const uint8_t *ids, uint64_t n, uint32_t width, uint8_t *packed);
void cnnvp_pool_ids_unpack(const uint8_t *packed, uint64_t n, uint32_t width, uint8_t *ids);
