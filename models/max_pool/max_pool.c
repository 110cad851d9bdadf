/* SPDX-License-Identifier: Apache-2.0 */
/* Max pool of S001 (C4): of quantised activations; the ID buffer keeps the position of each maximum (Part B 1-20). */
#include "max_pool.h"

#include "bfp/encoder.h"
#include "stage/stage.h"

#include <stdlib.h>
#include <string.h>

#define STAGE_DEF "max_pool/max_pool.def"
#include "stage/stage_tables.inc"

struct max_pool {
    struct cnnvp_stage stage;
    uint8_t *ids; /* of one plane, a byte each */
    uint64_t capacity;
};

static int reserve(struct max_pool *pool, uint64_t values)
{
    if (pool->capacity >= values)
        return CNNVP_OK;
    free(pool->ids);
    pool->ids = malloc((size_t)values);
    pool->capacity = pool->ids == NULL ? 0 : values;
    return pool->ids == NULL ? CNNVP_E_NOMEM : CNNVP_OK;
}

/* Pooled planes move up in place: a plane's results never lie behind its values. */
static void pool_tile(const struct max_pool *pool, const struct cnnvp_tile *tile, uint8_t *positions)
{
    const struct cnnvp_max_pool shape = {tile->height, tile->width, tile->ky, tile->kx, tile->sy, tile->sx};
    const uint64_t pooled = cnnvp_tile_pooled(tile);
    const uint32_t bits = cnnvp_tile_position_bits(tile->kx, tile->ky);
    const uint64_t bytes = cnnvp_tile_packed(pooled, bits);
    const uint64_t planes = (uint64_t)tile->images * tile->channels;
    for (uint64_t p = 0; p < planes; ++p) {
        if (tile->mantissa_bits > 8u)
            cnnvp_max_pool_forward_wide(&shape, (const int32_t *)tile->mantissas + p * tile->plane,
                                        (int32_t *)tile->mantissas + p * pooled, pool->ids);
        else
            cnnvp_max_pool_forward(&shape, (const int8_t *)tile->mantissas + p * tile->plane,
                                   (int8_t *)tile->mantissas + p * pooled, pool->ids);
        if (positions == NULL)
            continue;
        memset(positions + p * bytes, 0, (size_t)bytes);
        cnnvp_encoder_pack_bits(pool->ids, pooled, bits, positions + p * bytes);
    }
}

static int work_on(struct max_pool *pool, const struct cnnvp_access *access, struct cnnvp_tile *tile)
{
    const struct cnnvp_stage *stage = &pool->stage;
    const uint64_t planes = (uint64_t)tile->images * tile->channels;
    const uint64_t bytes = cnnvp_tile_packed(cnnvp_tile_pooled(tile), cnnvp_tile_position_bits(tile->kx, tile->ky));
    const struct cnnvp_stage_piece piece = {PORT_buffer, CNNVP_BORROW_WRITE, 0, planes * bytes, 2u};
    const bool keep = (tile->flags & CNNVP_TILE_KEEP) != 0;
    void *positions = NULL;
    int status = stage->timing_only ? CNNVP_OK : reserve(pool, cnnvp_tile_pooled(tile));
    if (status == CNNVP_OK && keep)
        status = cnnvp_stage_borrow(stage, access, &piece, &positions);
    if (status != CNNVP_OK)
        return status;
    if (cnnvp_stage_computes(stage, access))
        pool_tile(pool, tile, positions);
    const struct cnnvp_stage_work work = {"max pool", STAT_busy_cycles, STAT_values,
                                          cnnvp_tile_beats(tile, tile->channels * tile->plane), planes * tile->plane};
    cnnvp_stage_charge(stage, access, tile, &work);
    return CNNVP_OK;
}

static int max_pool_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    struct max_pool *pool = self;
    struct cnnvp_tile *tile;
    (void)port;
    int status = cnnvp_stage_tile(access, &tile);
    if (status != CNNVP_OK)
        return status;
    if (tile->kind != CNNVP_TILE_FORWARD && tile->kind != CNNVP_TILE_BACKWARD)
        return CNNVP_E_INVAL;
    cnnvp_stage_count(&pool->stage, access, STAT_tiles, 1u);
    const bool forward = tile->kind == CNNVP_TILE_FORWARD; /* backward's errors only pass */
    if (forward && (tile->flags & CNNVP_TILE_POOL) != 0)
        status = work_on(pool, access, tile);
    if (status != CNNVP_OK)
        return status;
    const bool wide = (tile->flags & CNNVP_TILE_FLOAT) != 0 || tile->mantissa_bits > 8u;
    const uint64_t plane = forward ? cnnvp_tile_pooled(tile) : tile->plane;
    return cnnvp_stage_pass(&pool->stage, access, PORT_next, tile, tile->images * tile->channels * plane,
                            wide ? 4u : 1u);
}

static void max_pool_fini(void *self)
{
    struct max_pool *pool = self;
    free(pool->ids);
}

const struct cnnvp_unit cnnvp_unit_max_pool = {
    STAGE_UNIT(max_pool),
    .summary = "max pool of mantissas, with the positions of the maxima",
    .instance_size = sizeof(struct max_pool),
    .init = cnnvp_stage_init,
    .fini = max_pool_fini,
    .access = max_pool_access,
};
