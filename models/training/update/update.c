/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradient update of S001 (C4): applies gradients to the weights, 32-bit master copies in the idle half of the
 * intermediate buffer. The extremes of the new weights go to the statistics module, for the exponent under which they
 * are quantised. If weights are stored in 8 bits only (the literal reading of S001), other blocks decode them before
 * and quantise them after.
 */
#include "cnnvp_tile.h"
#include "units.h"

#include "training/stage/momentum.h"
#include "training/stage/stage.h"

#define UNIT_DEF "training/update/update.def"
#include "unit/unit_enums.inc"

static void descend(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    (void)call;
    const bool momentum = (tile->flags & CNNVP_TILE_MOMENTUM) != 0;
    cnnvp_update_values(tile->rate, tile->momentum, tile->errors, tile->channels * tile->plane,
                        momentum ? tile->velocities : NULL, tile->values);
}

static int update_plan(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    const uint64_t values = tile->channels * tile->plane;
    (void)self;
    if (tile->kind != CNNVP_TILE_UPDATE)
        return CNNVP_E_INVAL;
    cnnvp_stage_work(plan, tile, descend, "update", STAT_busy_cycles, STAT_values,
                     (tile->flags & CNNVP_TILE_MOMENTUM) != 0 ? 2u * values : values);
    plan->counts[0] = (struct cnnvp_stage_count){STAT_tiles, 1u};
    cnnvp_stage_pass(plan, tile, PORT_statistics, values, 4u);
    plan->kind = CNNVP_TILE_EXTREMES;
    return CNNVP_OK;
}

static const struct cnnvp_parts_row update_parts[] = {
    {CNNVP_PART_FLOAT_MULTIPLIER, 32u, 2u, CNNVP_OF_LANES, "multiply-adds"},
    {CNNVP_PART_FLOAT_ADDER, 32u, 2u, CNNVP_OF_LANES, "multiply-adds"},
    {CNNVP_PART_REGISTER, 32u, 1u, CNNVP_OF_STAGES, "values"},
};

#include "training/stage/stage_unit.inc"

STAGE_UNIT(update, struct cnnvp_stage, cnnvp_stage_init, NULL,
           "stochastic gradient descent with momentum on 32-bit master weights");
