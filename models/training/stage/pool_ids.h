/* SPDX-License-Identifier: Apache-2.0 */
/* The unit of max pool, and that of its way back: a block with the positions of one plane's maxima. */
#ifndef CNNVP_POOL_IDS_H
#define CNNVP_POOL_IDS_H

#include "stage.h"

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
