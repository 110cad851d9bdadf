/* SPDX-License-Identifier: Apache-2.0 */
/* Max pool, forward and backward. Implements pool.h. */
#include "pool.h"

#include <stdlib.h>
#include <string.h>

static uint32_t windows(uint32_t size, uint32_t kernel, uint32_t stride)
{
    return kernel == 0 || stride == 0 || kernel > size ? 0 : (size - kernel) / stride + 1u;
}

uint32_t cnnvp_max_pool_rows(const struct cnnvp_max_pool *pool)
{
    return (uint64_t)pool->ky * pool->kx > 256u ? 0 : windows(pool->h, pool->ky, pool->sy);
}

uint32_t cnnvp_max_pool_cols(const struct cnnvp_max_pool *pool)
{
    return (uint64_t)pool->ky * pool->kx > 256u ? 0 : windows(pool->w, pool->kx, pool->sx);
}

/* Serves both widths: one of the inputs is NULL. */
static inline int32_t value_at(const int8_t *narrow, const int32_t *wide, uint64_t i)
{
    return narrow != NULL ? narrow[i] : wide[i];
}

static inline void forward(const struct cnnvp_max_pool *pool, const int8_t *narrow, const int32_t *wide,
                           int8_t *narrow_out, int32_t *wide_out, uint8_t *ids)
{
    const uint32_t rows = cnnvp_max_pool_rows(pool);
    const uint32_t cols = cnnvp_max_pool_cols(pool);
    uint64_t o = 0;
    for (uint32_t y = 0; y < rows; ++y)
        for (uint32_t x = 0; x < cols; ++x, ++o) {
            const uint64_t at = (uint64_t)y * pool->sy * pool->w + (uint64_t)x * pool->sx;
            int32_t best = value_at(narrow, wide, at);
            uint32_t id = 0;
            for (uint32_t ky = 0; ky < pool->ky; ++ky)
                for (uint32_t kx = 0; kx < pool->kx; ++kx) {
                    const int32_t value = value_at(narrow, wide, at + (uint64_t)ky * pool->w + kx);
                    id = value > best ? ky * pool->kx + kx : id;
                    best = value > best ? value : best;
                }
            if (narrow_out != NULL)
                narrow_out[o] = (int8_t)best;
            else
                wide_out[o] = best;
            ids[o] = (uint8_t)id;
        }
}

void cnnvp_max_pool_forward(const struct cnnvp_max_pool *pool, uint32_t bytes, const void *in, void *out, uint8_t *ids)
{
    if (bytes == 1u)
        forward(pool, in, NULL, out, NULL, ids);
    else
        forward(pool, NULL, in, NULL, out, ids);
}

int cnnvp_max_pool_backward(const struct cnnvp_max_pool *pool, const float *dy, const uint8_t *ids, float *dx)
{
    const uint32_t rows = cnnvp_max_pool_rows(pool);
    const uint32_t cols = cnnvp_max_pool_cols(pool);
    uint64_t o = 0;
    memset(dx, 0, (size_t)pool->h * pool->w * sizeof *dx);
    for (uint32_t y = 0; y < rows; ++y)
        for (uint32_t x = 0; x < cols; ++x, ++o) {
            const uint32_t ky = ids[o] / pool->kx;
            const uint32_t kx = ids[o] % pool->kx;
            if (ky >= pool->ky)
                return CNNVP_E_INVAL;
            dx[((uint64_t)y * pool->sy + ky) * pool->w + (uint64_t)x * pool->sx + kx] += dy[o];
        }
    return CNNVP_OK;
}

/* ---- positions ---- */

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
    uint32_t bits = 0; /* bits that are not written yet, from bit 0 on */
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
