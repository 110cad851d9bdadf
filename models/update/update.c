/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradient update of S001 (C4): gradients become new weights, 32-bit master copies in the idle half of the intermediate
 * buffer. Their extremes go to the statistics module, for the exponent under which they are quantised.
 */
#include "update.h"
#include "unit/parts.h"

#include "stage/momentum.h"
#include "stage/step.h"

#define UNIT_DEF "update/update.def"
#include "unit/unit_enums.inc"

/* Stages: momentum times velocity; the new velocity; its product with the rate; the weight. */
static void keep(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct cnnvp_tile *tile = context;
    (void)image;
    value->a = tile->errors[index];
    value->b = (tile->flags & CNNVP_TILE_MOMENTUM) != 0 ? tile->momentum * tile->velocities[index] : 0.0f;
}

static void accelerate(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct cnnvp_tile *tile = context;
    (void)image;
    if ((tile->flags & CNNVP_TILE_MOMENTUM) == 0)
        return;
    value->a = value->b + value->a;
    tile->velocities[index] = value->a;
}

static void scale(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct cnnvp_tile *tile = context;
    (void)image;
    value->b = tile->values[index];
    value->c = tile->rate * value->a;
}

static void subtract(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct cnnvp_tile *tile = context;
    (void)image;
    tile->values[index] = value->b - value->c;
}

static const struct cnnvp_stages stages = {4, {keep, accelerate, scale, subtract}};

static int update_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_stage *stage = self;
    struct cnnvp_tile *tile;
    (void)port;
    uint64_t cycles;
    int status = cnnvp_stage_tile(access, &tile);
    if (status != CNNVP_OK)
        return status;
    if (tile->kind != CNNVP_TILE_UPDATE)
        return CNNVP_E_INVAL;
    const uint64_t values = tile->channels * tile->plane;
    const bool momentum = (tile->flags & CNNVP_TILE_MOMENTUM) != 0;
    if (cnnvp_stage_computes_fast(stage, access, tile))
        cnnvp_update_values(tile->rate, tile->momentum, tile->errors, values, momentum ? tile->velocities : NULL,
                            tile->values);
    status = cnnvp_stage_take(stage, access, tile, values, 1u, &stages, tile, &cycles);
    if (status != CNNVP_OK)
        return status;
    const struct cnnvp_stage_work work = {
        "update", STAT_busy_cycles, STAT_values, cycles, (momentum ? 2u : 1u) * values};
    cnnvp_stage_charge(stage, access, tile, &work);
    cnnvp_stage_count(stage, access, STAT_tiles, 1u);
    tile->kind = CNNVP_TILE_EXTREMES;
    const int passed = cnnvp_stage_pass(stage, access, PORT_statistics, tile, values, 4u);
    tile->kind = CNNVP_TILE_UPDATE;
    return passed;
}

static void update_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = cnnvp_module_lanes(costs);
    cnnvp_say_part(costs, CNNVP_PART_FLOAT_MULTIPLIER, 32u, 2u * lanes, "multiply-adds");
    cnnvp_say_part(costs, CNNVP_PART_FLOAT_ADDER, 32u, 2u * lanes, "multiply-adds");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 32u, (params[PARAM_pipeline] + 1u) * lanes, "values");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_update = {
    UNIT_TABLES,
    .kind = "update",
    .version = "1.0",
    .summary = "stochastic gradient descent with momentum on 32-bit master weights",
    .instance_size = sizeof(struct cnnvp_stage),
    .init = cnnvp_stage_init,
    .access = update_access,
    .costs = update_costs,
};
