/* SPDX-License-Identifier: Apache-2.0 */
/* Max pool of S001 (C4): of quantised activations; the ID buffer keeps the position of each maximum (Part B 1-20). */
#include "max_pool.h"
#include "unit/parts.h"

#include "stage/pool.h"
#include "stage/pool_ids.h"
#include "stage/step.h"

#include <stdlib.h>
#include <string.h>

#define UNIT_DEF "max_pool/max_pool.def"
#include "unit/unit_enums.inc"

/* Pooled planes move up in place: a plane's results are never after its values. */
static void pool_tile(const struct cnnvp_pool_ids *pool, const struct cnnvp_tile *tile, uint8_t *positions)
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
        cnnvp_pool_ids_pack(pool->ids, pooled, bits, positions + p * bytes);
    }
}

/* Windows that have begun: the largest value so far and where it lies. */
struct window {
    int32_t best;
    uint32_t id;
};

struct stepped {
    const struct cnnvp_tile *tile;
    struct window *windows; /* [images][channels][pooled] */
};

/* Stages: the value; its comparison with every window that it lies in, the first one of a window begins it. */
static void fetch(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct cnnvp_tile *tile = ((const struct stepped *)context)->tile;
    const uint64_t at = (uint64_t)image * tile->channels * tile->plane + index;
    value->number =
        tile->mantissa_bits > 8u ? ((const int32_t *)tile->mantissas)[at] : ((const int8_t *)tile->mantissas)[at];
}

static void compare(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    const struct cnnvp_tile *tile = stepped->tile;
    const uint64_t at = (uint64_t)image * tile->channels * tile->plane + index;
    const uint32_t y = (uint32_t)(index % tile->plane / tile->width);
    const uint32_t x = (uint32_t)(index % tile->plane % tile->width);
    struct window *windows = stepped->windows + at / tile->plane * cnnvp_tile_pooled(tile);
    for (uint32_t oy = 0; oy < tile->pooled_height && oy * tile->sy <= y; ++oy)
        for (uint32_t ox = 0; ox < tile->pooled_width && ox * tile->sx <= x; ++ox) {
            const uint32_t ky = y - oy * tile->sy;
            const uint32_t kx = x - ox * tile->sx;
            struct window *window = &windows[(uint64_t)oy * tile->pooled_width + ox];
            if (ky < tile->ky && kx < tile->kx && ((ky == 0 && kx == 0) || value->number > window->best))
                *window = (struct window){value->number, ky * tile->kx + kx};
        }
}

static const struct cnnvp_stages stages = {2, {fetch, compare}};

static void put_bits(uint8_t *packed, uint64_t first, uint32_t bits, uint32_t value)
{
    for (uint32_t b = 0; b < bits; ++b)
        packed[(first + b) / 8u] = (uint8_t)(packed[(first + b) / 8u] | (value >> b & 1u) << (first + b) % 8u);
}

/* The windows' maxima take the place of the values. */
static void put_windows(const struct stepped *stepped, uint8_t *positions)
{
    const struct cnnvp_tile *tile = stepped->tile;
    const uint64_t pooled = cnnvp_tile_pooled(tile);
    const uint32_t bits = cnnvp_tile_position_bits(tile->kx, tile->ky);
    const uint64_t bytes = cnnvp_tile_packed(pooled, bits);
    const uint64_t planes = (uint64_t)tile->images * tile->channels;
    if (positions != NULL)
        memset(positions, 0, (size_t)(planes * bytes));
    for (uint64_t o = 0; o < planes * pooled; ++o) {
        if (tile->mantissa_bits > 8u)
            ((int32_t *)tile->mantissas)[o] = stepped->windows[o].best;
        else
            ((int8_t *)tile->mantissas)[o] = (int8_t)stepped->windows[o].best;
        if (positions != NULL)
            put_bits(positions + o / pooled * bytes, o % pooled * bits, bits, stepped->windows[o].id);
    }
}

/* CNNVP_E_NOMEM: nothing has changed. */
static int step_tile(const struct cnnvp_stage *stage, const struct cnnvp_access *access, const struct cnnvp_tile *tile,
                     uint8_t *positions, uint64_t *cycles)
{
    struct stepped stepped = {tile, NULL};
    const uint64_t planes = (uint64_t)tile->images * tile->channels;
    if (cnnvp_stage_computes(stage, access)) {
        stepped.windows = calloc((size_t)(planes * cnnvp_tile_pooled(tile)), sizeof *stepped.windows);
        if (stepped.windows == NULL)
            return CNNVP_E_NOMEM;
    }
    const int status =
        cnnvp_stage_take(stage, access, tile, tile->channels * tile->plane, 1u, &stages, &stepped, cycles);
    if (status == CNNVP_OK && stepped.windows != NULL)
        put_windows(&stepped, positions);
    free(stepped.windows);
    return status;
}

static int work_on(struct cnnvp_pool_ids *pool, const struct cnnvp_access *access, struct cnnvp_tile *tile)
{
    const struct cnnvp_stage *stage = &pool->stage;
    const uint64_t planes = (uint64_t)tile->images * tile->channels;
    const uint64_t bytes = cnnvp_tile_packed(cnnvp_tile_pooled(tile), cnnvp_tile_position_bits(tile->kx, tile->ky));
    const struct cnnvp_stage_piece piece = {
        PORT_buffer,
        CNNVP_BORROW_WRITE,
        0,
        planes * bytes,
        2u,
        1u,
        {tile->channels * tile->plane, 1u, cnnvp_reach_position},
        cnnvp_stage_streams(tile)};
    const bool keep = (tile->flags & CNNVP_TILE_KEEP) != 0;
    void *positions = NULL;
    int status = stage->timing_only ? CNNVP_OK : cnnvp_pool_ids_reserve(pool, cnnvp_tile_pooled(tile));
    if (status == CNNVP_OK && keep)
        status = cnnvp_stage_borrow(stage, access, &piece, &positions);
    if (status != CNNVP_OK)
        return status;
    uint64_t cycles = cnnvp_tile_beats(tile, tile->channels * tile->plane);
    if (cnnvp_stage_computes_fast(stage, access, tile))
        pool_tile(pool, tile, positions);
    else if (tile->stepped != 0 && !cnnvp_stage_asks(access))
        status = step_tile(stage, access, tile, positions, &cycles);
    if (status != CNNVP_OK)
        return status;
    const struct cnnvp_stage_work work = {"max pool", STAT_busy_cycles, STAT_values, cycles, planes * tile->plane};
    cnnvp_stage_charge(stage, access, tile, &work);
    return CNNVP_OK;
}

static int max_pool_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    struct cnnvp_pool_ids *pool = self;
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
    return cnnvp_stage_pass(
        &pool->stage, access, PORT_next, tile, tile->images * tile->channels * plane, wide ? 4u : 1u);
}

static void max_pool_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = cnnvp_module_lanes(costs);
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 8u, lanes, "comparisons");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 16u, (params[PARAM_pipeline] + 1u) * lanes,
                   "maxima and their positions");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_max_pool = {
    UNIT_TABLES,
    .kind = "max_pool",
    .version = "1.0",
    .summary = "max pool of mantissas, with the positions of the maxima",
    .instance_size = sizeof(struct cnnvp_pool_ids),
    .init = cnnvp_stage_init,
    .fini = cnnvp_pool_ids_fini,
    .access = max_pool_access,
    .costs = max_pool_costs,
};
