/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max pooling of one map, the arithmetic of `max_pool` and `max_pool_back`. The position of each maximum in its window
 * is kept; of equal ones the first in raster order (Part B 1-6). Windows lie wholly in the map; rows and columns that
 * no window covers get no error.
 */
#ifndef CNNVP_STAGE_POOL_H
#define CNNVP_STAGE_POOL_H

#include "stage.h"

/* One map, rows contiguous. */
struct cnnvp_max_pool {
    uint32_t h, w;
    uint32_t ky, kx; /* window, ky * kx <= 256; 2x2: positions have two bits */
    uint32_t sy, sx;
};

/* Size of the result; 0 where the window is larger than the map or something else is out of range. */
uint32_t cnnvp_max_pool_rows(const struct cnnvp_max_pool *pool);
uint32_t cnnvp_max_pool_cols(const struct cnnvp_max_pool *pool);

/* Of mantissas of 1 or 4 bytes. ids[i]: ky * (columns of the window) + kx of the maximum of window i. The pool is valid
 * (rows and columns above). out may be in, or lie before it. */
void cnnvp_max_pool_forward(const struct cnnvp_max_pool *pool, uint32_t bytes, const void *in, void *out, uint8_t *ids);

/* dx, of the map's size: 0 but where maxima were, which get the errors of their windows, added in raster order where
 * windows overlap. An ID outside its window gives CNNVP_E_INVAL, with dx undefined. */
CNNVP_MUST_USE int cnnvp_max_pool_backward(const struct cnnvp_max_pool *pool, const float *dy, const uint8_t *ids,
                                           float *dx);

/* The unit of max pool, and that of its way back: a block with the positions of one plane's maxima. */
struct cnnvp_pool_ids {
    struct cnnvp_stage stage;
    uint8_t *ids; /* of one plane, a byte each */
    uint64_t capacity;
};

/* Makes room for a plane of `values` positions, where there are data; what was there is lost. CNNVP_OK or
 * CNNVP_E_NOMEM. */
CNNVP_MUST_USE int cnnvp_pool_ids_reserve(struct cnnvp_pool_ids *pool, uint64_t values);

/* Bytes of an image's packed positions. */
uint64_t cnnvp_pool_ids_bytes(const struct cnnvp_tile *tile);

/* For struct cnnvp_unit::fini. */
void cnnvp_pool_ids_fini(void *self);

/* n positions of `width` bits (1 .. 8) from and to bytes. Value i lies at bits i * width and up of a little-endian bit
 * string (bit 0 of byte 0 first); the last byte is filled with zeros. */
void cnnvp_pool_ids_pack(const uint8_t *ids, uint64_t n, uint32_t width, uint8_t *packed);
void cnnvp_pool_ids_unpack(const uint8_t *packed, uint64_t n, uint32_t width, uint8_t *ids);

#endif
