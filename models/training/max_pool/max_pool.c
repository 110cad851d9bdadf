/* SPDX-License-Identifier: Apache-2.0 */
/* Max pool of S001 (C4) on quantised activations. The ID buffer keeps the position of each maximum (Part B 1-20). */
#include "cnnvp_tile.h"
#include "units.h"

#include "training/stage/pool.h"

#include <string.h>

#define UNIT_DEF "training/max_pool/max_pool.def"
#include "unit/unit_enums.inc"

/* Pools planes in place: the results of a plane never lie behind its values. */
static void pool_tile(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    const struct cnnvp_pool_ids *pool = call->self;
    uint8_t *positions = call->data[0];
    const struct cnnvp_max_pool shape = {tile->height, tile->width, tile->ky, tile->kx, tile->sy, tile->sx};
    const uint64_t pooled = cnnvp_tile_pooled(tile);
    const uint32_t bits = cnnvp_tile_position_bits(tile->kx, tile->ky);
    const uint64_t bytes = cnnvp_tile_packed(pooled, bits);
    const uint32_t each = cnnvp_bfp_bytes(tile->mantissa_bits);
    char *mantissas = tile->mantissas;
    const uint64_t planes = (uint64_t)tile->images * tile->channels;
    for (uint64_t p = 0; p < planes; ++p) {
        cnnvp_max_pool_forward(
            &shape, each, mantissas + p * tile->plane * each, mantissas + p * pooled * each, pool->ids);
        if (positions == NULL)
            continue;
        memset(positions + p * bytes, 0, (size_t)bytes);
        cnnvp_pool_ids_pack(pool->ids, pooled, bits, positions + p * bytes);
    }
}

static int max_pool_plan(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    const bool forward = tile->kind == CNNVP_TILE_FORWARD; /* backward errors only pass through */
    if (!forward && tile->kind != CNNVP_TILE_BACKWARD)
        return CNNVP_E_INVAL;
    const uint64_t plane = forward ? cnnvp_tile_pooled(tile) : tile->plane;
    plan->counts[0] = (struct cnnvp_stage_count){STAT_tiles, 1u};
    cnnvp_stage_pass(plan, tile, PORT_next, tile->images * tile->channels * plane, cnnvp_stage_mantissa_bytes(tile));
    if (!forward || (tile->flags & CNNVP_TILE_POOL) == 0)
        return CNNVP_OK;
    cnnvp_stage_work(plan, tile, pool_tile, "max pool", STAT_busy_cycles, STAT_values, cnnvp_stage_values(tile));
    if ((tile->flags & CNNVP_TILE_KEEP) != 0)
        cnnvp_stage_matrix(plan, tile, PORT_buffer, CNNVP_BORROW_WRITE, 0, cnnvp_pool_ids_bytes(tile));
    return cnnvp_pool_ids_reserve(self, cnnvp_tile_pooled(tile));
}

static const struct cnnvp_parts_row max_pool_parts[] = {
    {CNNVP_PART_ADDER, 8u, 1u, CNNVP_OF_LANES, "comparisons"},
    {CNNVP_PART_REGISTER, 16u, 1u, CNNVP_OF_STAGES, "maxima and their positions"},
};

#include "training/stage/stage_unit.inc"

STAGE_UNIT(max_pool, struct cnnvp_pool_ids, cnnvp_stage_init, cnnvp_pool_ids_fini,
           "max pool of mantissas, with the positions of the maxima");
