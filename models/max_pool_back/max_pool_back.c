/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Max-pool backward of S001 (C4): errors go where the maxima were, by the positions in the ID buffer; all else is 0,
 * which restores the size of the error matrix.
 */
#include "max_pool_back.h"
#include "unit/parts.h"

#include "stage/pool.h"
#include "stage/pool_ids.h"
#include "stage/step.h"

#include <string.h>

#define UNIT_DEF "max_pool_back/max_pool_back.def"
#include "unit/unit_enums.inc"

/* False where a position lies outside its window: the matrix is not one that max pool has left. */
static bool restore(const struct cnnvp_pool_ids *pool, const struct cnnvp_tile *tile, const uint8_t *positions)
{
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
    return good;
}

struct stepped {
    const struct cnnvp_tile *tile;
    const uint8_t *positions;
    bool stray;     /* a position outside its window has been seen */
    bool drops[64]; /* by set: the plane that is in work has such a one */
};

/* Bits of window o of a plane. */
static uint32_t position_at(const struct stepped *stepped, uint64_t plane, uint64_t o)
{
    const struct cnnvp_tile *tile = stepped->tile;
    const uint32_t bits = cnnvp_tile_position_bits(tile->kx, tile->ky);
    const uint8_t *packed = stepped->positions + plane * cnnvp_tile_packed(cnnvp_tile_pooled(tile), bits);
    uint32_t value = 0;
    for (uint32_t b = 0; b < bits; ++b) {
        const uint64_t bit = o * bits + b;
        value |= ((uint32_t)packed[bit / 8u] >> bit % 8u & 1u) << b;
    }
    return value;
}

static bool has_stray(const struct stepped *stepped, uint64_t plane)
{
    const struct cnnvp_tile *tile = stepped->tile;
    for (uint64_t o = 0; o < cnnvp_tile_pooled(tile); ++o)
        if (position_at(stepped, plane, o) >= tile->kx * tile->ky)
            return true;
    return false;
}

/* Stages: whether the plane's positions are good; the errors of those windows that had their maximum in the place; the
 * place. */
static void check(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    struct stepped *stepped = context;
    const struct cnnvp_tile *tile = stepped->tile;
    bool *drops = &stepped->drops[image % tile->sets];
    if (index % tile->plane == 0) {
        *drops = has_stray(stepped, (uint64_t)image * tile->channels + index / tile->plane);
        stepped->stray |= *drops;
    }
    value->number = *drops;
}

static void gather(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    const struct cnnvp_tile *tile = stepped->tile;
    const uint64_t plane = (uint64_t)image * tile->channels + index / tile->plane;
    const uint32_t y = (uint32_t)(index % tile->plane / tile->width);
    const uint32_t x = (uint32_t)(index % tile->plane % tile->width);
    value->a = 0.0f;
    for (uint32_t oy = 0; !value->number && oy < tile->pooled_height && oy * tile->sy <= y; ++oy)
        for (uint32_t ox = 0; ox < tile->pooled_width && ox * tile->sx <= x; ++ox) {
            const uint32_t ky = y - oy * tile->sy;
            const uint32_t kx = x - ox * tile->sx;
            const uint64_t o = (uint64_t)oy * tile->pooled_width + ox;
            if (ky < tile->ky && kx < tile->kx && position_at(stepped, plane, o) == ky * tile->kx + kx)
                value->a += tile->errors[plane * cnnvp_tile_pooled(tile) + o];
        }
}

static void put(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    stepped->tile->values[(uint64_t)image * stepped->tile->channels * stepped->tile->plane + index] = value->a;
}

static const struct cnnvp_stages stages = {3, {check, gather, put}};

static int work_on(struct cnnvp_pool_ids *pool, const struct cnnvp_access *access, struct cnnvp_tile *tile)
{
    const struct cnnvp_stage *stage = &pool->stage;
    const uint64_t planes = (uint64_t)tile->images * tile->channels;
    const uint64_t bytes = cnnvp_tile_packed(cnnvp_tile_pooled(tile), cnnvp_tile_position_bits(tile->kx, tile->ky));
    const struct cnnvp_stage_piece piece = {
        PORT_buffer,
        CNNVP_BORROW_READ,
        0,
        planes * bytes,
        2u,
        1u,
        {tile->channels * tile->plane, 1u, cnnvp_reach_position},
        cnnvp_stage_streams(tile)};
    void *positions;
    int status = stage->timing_only ? CNNVP_OK : cnnvp_pool_ids_reserve(pool, cnnvp_tile_pooled(tile));
    if (status == CNNVP_OK)
        status = cnnvp_stage_borrow(stage, access, &piece, &positions);
    if (status != CNNVP_OK)
        return status;
    struct stepped stepped = {.tile = tile, .positions = positions};
    uint64_t cycles;
    status = cnnvp_stage_take(stage, access, tile, tile->channels * tile->plane, 1u, &stages, &stepped, &cycles);
    if (status != CNNVP_OK)
        return status;
    const bool stray = cnnvp_stage_computes_fast(stage, access, tile) ? !restore(pool, tile, positions) : stepped.stray;
    if (stray) {
        cnnvp_stage_count(stage, access, STAT_stray_positions, 1u);
        stage->ops->log(stage->host, CNNVP_LOG_WARNING, "positions outside their windows: their errors became 0");
    }
    const struct cnnvp_stage_work work = {"max pool back", STAT_busy_cycles, STAT_values, cycles, planes * tile->plane};
    cnnvp_stage_charge(stage, access, tile, &work);
    return CNNVP_OK;
}

static int max_pool_back_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    struct cnnvp_pool_ids *pool = self;
    struct cnnvp_tile *tile;
    (void)port;
    int status = cnnvp_stage_tile(access, &tile);
    if (status != CNNVP_OK)
        return status;
    if (tile->kind != CNNVP_TILE_BACKWARD)
        return CNNVP_E_INVAL;
    cnnvp_stage_count(&pool->stage, access, STAT_tiles, 1u);
    if ((tile->flags & CNNVP_TILE_POOL) != 0)
        status = work_on(pool, access, tile);
    if (status != CNNVP_OK)
        return status;
    return cnnvp_stage_pass(&pool->stage, access, PORT_next, tile, tile->images * tile->channels * tile->plane, 4u);
}

static void max_pool_back_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = cnnvp_module_lanes(costs);
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 8u, lanes, "comparison of positions");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 40u, (params[PARAM_pipeline] + 1u) * lanes, "errors and positions");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_max_pool_back = {
    UNIT_TABLES,
    .kind = "max_pool_back",
    .version = "1.0",
    .summary = "max pool backward, by the positions of the maxima",
    .instance_size = sizeof(struct cnnvp_pool_ids),
    .init = cnnvp_stage_init,
    .fini = cnnvp_pool_ids_fini,
    .access = max_pool_back_access,
    .costs = max_pool_back_costs,
};
