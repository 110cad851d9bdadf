/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_ids.h"

#include <stdlib.h>

int cnnvp_pool_ids_reserve(struct cnnvp_pool_ids *pool, uint64_t values)
{
    if (pool->stage.timing_only || pool->capacity >= values)
        return CNNVP_OK;
    free(pool->ids);
    pool->ids = malloc((size_t)values);
    pool->capacity = pool->ids == NULL ? 0 : values;
    return pool->ids == NULL ? CNNVP_E_NOMEM : CNNVP_OK;
}

uint64_t cnnvp_pool_ids_bytes(const struct cnnvp_tile *tile)
{
    return tile->channels * cnnvp_tile_packed(cnnvp_tile_pooled(tile), cnnvp_tile_position_bits(tile->kx, tile->ky));
}

void cnnvp_pool_ids_fini(void *self)
{
    struct cnnvp_pool_ids *pool = self;
    free(pool->ids);
}

void cnnvp_pool_ids_pack(const uint8_t *ids, uint64_t n, uint32_t width, uint8_t *packed)
{
    uint32_t bits = 0; /* not yet written, from bit 0 */
    uint32_t count = 0;
    for (uint64_t i = 0; i < n; ++i) {
        bits |= (ids[i] & ((1u << width) - 1u)) << count;
        count += width;
        if (count >= 8u) {
            *packed++ = (uint8_t)bits;
            bits >>= 8;
            count -= 8u;
        }
    }
    if (count != 0)
        *packed = (uint8_t)bits;
}

void cnnvp_pool_ids_unpack(const uint8_t *packed, uint64_t n, uint32_t width, uint8_t *ids)
{
    uint32_t bits = 0;
    uint32_t count = 0;
    for (uint64_t i = 0; i < n; ++i) {
        if (count < width) {
            bits |= (uint32_t)*packed++ << count;
            count += 8u;
        }
        ids[i] = (uint8_t)(bits & ((1u << width) - 1u));
        bits >>= width;
        count -= width;
    }
}
