/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max-pool backward of S001 (C4): errors go to the positions of the maxima, which are in the ID buffer. All other
 * values are 0, which restores the size of the error matrix.
 */
#include "cnnvp_tile.h"
#include "units.h"

#include "training/stage/pool.h"

#include <string.h>

#define UNIT_DEF "training/max_pool_back/max_pool_back.def"
#include "unit/unit_enums.inc"

/* Restores planes of errors. If a position lies outside its window, the matrix is not from max pool, and the plane
 * becomes 0. */
static void restore(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    const struct cnnvp_pool_ids *pool = call->self;
    const uint8_t *positions = call->data[0];
    const struct cnnvp_max_pool shape = {tile->height, tile->width, tile->ky, tile->kx, tile->sy, tile->sx};
    const uint64_t pooled = cnnvp_tile_pooled(tile);
    const uint32_t bits = cnnvp_tile_position_bits(tile->kx, tile->ky);
    const uint64_t bytes = cnnvp_tile_packed(pooled, bits);
    const uint64_t planes = (uint64_t)tile->images * tile->channels;
    bool good = true;
    for (uint64_t p = 0; p < planes; ++p) {
        float *to = tile->values + p * tile->plane;
        cnnvp_pool_ids_unpack(positions + p * bytes, pooled, bits, pool->ids);
        if (cnnvp_max_pool_backward(&shape, tile->errors + p * pooled, pool->ids, to) != CNNVP_OK) {
            memset(to, 0, (size_t)tile->plane * sizeof *to);
            good = false;
        }
    }
    if (good)
        return;
    cnnvp_stage_count(call, STAT_stray_positions, 1u);
    pool->stage.ops->log(pool->stage.host, CNNVP_LOG_WARNING, "positions outside their windows: their errors became 0");
}

static int max_pool_back_plan(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    const uint64_t values = cnnvp_stage_values(tile);
    if (tile->kind != CNNVP_TILE_BACKWARD)
        return CNNVP_E_INVAL;
    plan->counts[0] = (struct cnnvp_stage_count){STAT_tiles, 1u};
    cnnvp_stage_pass(plan, tile, PORT_next, values, 4u);
    if ((tile->flags & CNNVP_TILE_POOL) == 0)
        return CNNVP_OK;
    cnnvp_stage_work(plan, tile, restore, "max pool back", STAT_busy_cycles, STAT_values, values);
    cnnvp_stage_matrix(plan, tile, PORT_buffer, CNNVP_BORROW_READ, 0, cnnvp_pool_ids_bytes(tile));
    return cnnvp_pool_ids_reserve(self, cnnvp_tile_pooled(tile));
}

static const struct cnnvp_parts_row max_pool_back_parts[] = {
    {CNNVP_PART_ADDER, 8u, 1u, CNNVP_OF_LANES, "comparison of positions"},
    {CNNVP_PART_REGISTER, 40u, 1u, CNNVP_OF_STAGES, "errors and positions"},
};

#include "training/stage/stage_unit.inc"

STAGE_UNIT(max_pool_back, struct cnnvp_pool_ids, cnnvp_stage_init, cnnvp_pool_ids_fini,
           "max pool backward, by the positions of the maxima");
