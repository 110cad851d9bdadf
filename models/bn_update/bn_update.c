/* SPDX-License-Identifier: Apache-2.0 */
/* BN-gradient update of S001. See bn_update.h. */
#include "bn_update.h"
#include "unit/parts.h"

#include "stage/step.h"
#include "stage/momentum.h"

#define UNIT_DEF "bn_update/bn_update.def"
#include "unit/unit_enums.inc"

void cnnvp_bn_update_entry(float rate, float momentum, int velocities, struct cnnvp_norm *norm)
{
    const float dgamma = (float)norm->dgamma;
    const float dbeta = (float)norm->dbeta;
    cnnvp_update_values(rate, momentum, &dgamma, 1u, velocities ? &norm->gamma_velocity : NULL, &norm->gamma);
    cnnvp_update_values(rate, momentum, &dbeta, 1u, velocities ? &norm->beta_velocity : NULL, &norm->beta);
}

struct stepped {
    const struct cnnvp_tile *tile;
    struct cnnvp_norm *norms;
};

/* Gamma and beta in turn. Stages as those of `update`. */
static float *velocity_of(const struct stepped *stepped, uint64_t index)
{
    struct cnnvp_norm *norm = &stepped->norms[index / 2u];
    return index % 2u == 0 ? &norm->gamma_velocity : &norm->beta_velocity;
}

static float *value_of(const struct stepped *stepped, uint64_t index)
{
    struct cnnvp_norm *norm = &stepped->norms[index / 2u];
    return index % 2u == 0 ? &norm->gamma : &norm->beta;
}

static void keep(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    const struct cnnvp_norm *norm = &stepped->norms[index / 2u];
    const bool momentum = (stepped->tile->flags & CNNVP_TILE_MOMENTUM) != 0;
    (void)image;
    value->a = (float)(index % 2u == 0 ? norm->dgamma : norm->dbeta);
    value->b = momentum ? stepped->tile->momentum * *velocity_of(stepped, index) : 0.0f;
}

static void accelerate(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    (void)image;
    if ((stepped->tile->flags & CNNVP_TILE_MOMENTUM) == 0)
        return;
    value->a = value->b + value->a;
    *velocity_of(stepped, index) = value->a;
}

static void scale(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    (void)image;
    value->b = *value_of(stepped, index);
    value->c = stepped->tile->rate * value->a;
}

static void subtract(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    (void)image;
    *value_of(context, index) = value->b - value->c;
}

static uint64_t reach_norm(const struct cnnvp_tile *tile, uint32_t image, uint64_t index)
{
    return cnnvp_reach_value(tile, image, index / 2u);
}

static const struct cnnvp_stages stages = {4, {keep, accelerate, scale, subtract}};

static int bn_update_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_stage *stage = self;
    struct cnnvp_tile *tile;
    void *entries;
    (void)port;
    int status = cnnvp_stage_tile(access, &tile);
    if (status != CNNVP_OK)
        return status;
    if (tile->kind != CNNVP_TILE_NORM_UPDATE)
        return CNNVP_E_INVAL;
    const struct cnnvp_stage_flow flow = {2u * (uint64_t)tile->channels, 1u, reach_norm};
    status = cnnvp_stage_entries(
        stage, access, PORT_buffer, true, tile->norm_entry, tile->channels, sizeof(struct cnnvp_norm), &flow, &entries);
    if (status != CNNVP_OK)
        return status;
    const bool momentum = (tile->flags & CNNVP_TILE_MOMENTUM) != 0;
    if (cnnvp_stage_computes_fast(stage, access, tile))
        for (uint32_t c = 0; c < tile->channels; ++c)
            cnnvp_bn_update_entry(tile->rate, tile->momentum, momentum, (struct cnnvp_norm *)entries + c);
    struct stepped stepped = {tile, entries};
    uint64_t cycles;
    status = cnnvp_stage_take(stage, access, tile, 2u * (uint64_t)tile->channels, 1u, &stages, &stepped, &cycles);
    if (status != CNNVP_OK)
        return status;
    const struct cnnvp_stage_work work = {
        "BN update", STAT_busy_cycles, STAT_values, cycles, (momentum ? 4u : 2u) * (uint64_t)tile->channels};
    cnnvp_stage_charge(stage, access, tile, &work);
    cnnvp_stage_count(stage, access, STAT_channels, tile->channels);
    return CNNVP_OK;
}

static void bn_update_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = cnnvp_module_lanes(costs);
    cnnvp_say_part(costs, CNNVP_PART_FLOAT_MULTIPLIER, 32u, 2u * lanes, "multiply-adds");
    cnnvp_say_part(costs, CNNVP_PART_FLOAT_ADDER, 32u, 2u * lanes, "multiply-adds");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 32u, (params[PARAM_pipeline] + 1u) * lanes, "values");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_bn_update = {
    UNIT_TABLES,
    .kind = "bn_update",
    .version = "1.0",
    .summary = "gamma and beta from the gradients that batch norm's backward has summed up",
    .instance_size = sizeof(struct cnnvp_stage),
    .init = cnnvp_stage_init,
    .access = bn_update_access,
    .costs = bn_update_costs,
};
