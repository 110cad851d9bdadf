/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BN-gradient update of S001: updates gamma and beta in the batch norm buffer with the gradients dgamma and dbeta that
 * batch norm's backward has left there (Part B 1-26), by the rule of stage/momentum.h. Gradients are rounded to
 * binary32 first.
 */
#include "units.h"

#include "training/stage/momentum.h"
#include "training/stage/stage.h"

#define UNIT_DEF "training/bn_update/bn_update.def"
#include "unit/unit_enums.inc"

static void update_entry(float rate, float momentum, int velocities, struct cnnvp_norm *norm)
{
    const float dgamma = (float)norm->dgamma;
    const float dbeta = (float)norm->dbeta;
    cnnvp_update_values(rate, momentum, &dgamma, 1u, velocities ? &norm->gamma_velocity : NULL, &norm->gamma);
    cnnvp_update_values(rate, momentum, &dbeta, 1u, velocities ? &norm->beta_velocity : NULL, &norm->beta);
}

static void update_entries(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    struct cnnvp_norm *norms = call->data[0];
    for (uint32_t c = 0; c < tile->channels; ++c)
        update_entry(tile->rate, tile->momentum, (tile->flags & CNNVP_TILE_MOMENTUM) != 0, &norms[c]);
}

/* Gamma and beta are updated in turn. */
static int bn_update_plan(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    const uint64_t values = 2u * (uint64_t)tile->channels;
    (void)self;
    if (tile->kind != CNNVP_TILE_NORM_UPDATE)
        return CNNVP_E_INVAL;
    cnnvp_stage_work(plan, tile, update_entries, "BN update", STAT_busy_cycles, STAT_values,
                     (tile->flags & CNNVP_TILE_MOMENTUM) != 0 ? 2u * values : values);
    plan->counts[0] = (struct cnnvp_stage_count){STAT_channels, tile->channels};
    plan->values = values;
    cnnvp_stage_entries(plan, tile, PORT_buffer, true, tile->norm_entry, tile->channels, sizeof(struct cnnvp_norm));
    return CNNVP_OK;
}

static const struct cnnvp_parts_row bn_update_parts[] = {
    {CNNVP_PART_FLOAT_MULTIPLIER, 32u, 2u, CNNVP_OF_LANES, "multiply-adds"},
    {CNNVP_PART_FLOAT_ADDER, 32u, 2u, CNNVP_OF_LANES, "multiply-adds"},
    {CNNVP_PART_REGISTER, 32u, 1u, CNNVP_OF_STAGES, "values"},
};

#include "training/stage/stage_unit.inc"

STAGE_UNIT(bn_update, struct cnnvp_stage, cnnvp_stage_init, NULL,
           "update of gamma and beta from the gradients that batch norm has summed up backward");
