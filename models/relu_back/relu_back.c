/* SPDX-License-Identifier: Apache-2.0 */
/* ReLU backward of S001 (C4): errors pass where the 0/1 matrix in the ReLU buffer says so. */
#include "relu_back.h"
#include "unit/parts.h"

#include "stage/step.h"

#define UNIT_DEF "relu_back/relu_back.def"
#include "unit/unit_enums.inc"

void cnnvp_relu_backward(const uint8_t *matrix, uint64_t n, float *dy)
{
    for (uint64_t i = 0; i < n; ++i)
        dy[i] = ((unsigned)matrix[i / 8u] >> (i % 8u) & 1u) != 0 ? dy[i] : 0.0f;
}

struct stepped {
    const struct cnnvp_tile *tile;
    const uint8_t *matrix;
};

/* Stages: the value's bit; the error, or 0. */
static void look_up(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    const struct cnnvp_tile *tile = stepped->tile;
    const uint64_t plane = (uint64_t)image * tile->channels + index / tile->plane;
    const uint64_t bit = index % tile->plane;
    value->number = stepped->matrix[plane * cnnvp_tile_packed(tile->plane, 1u) + bit / 8u] >> bit % 8u & 1;
    value->a = tile->values[plane * tile->plane + bit];
}

static void pass(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    stepped->tile->values[(uint64_t)image * stepped->tile->channels * stepped->tile->plane + index] =
        value->number ? value->a : 0.0f;
}

static const struct cnnvp_stages stages = {2, {look_up, pass}};

static int work_on(const struct cnnvp_stage *stage, const struct cnnvp_access *access, struct cnnvp_tile *tile)
{
    const uint64_t planes = (uint64_t)tile->images * tile->channels;
    const uint64_t bytes = cnnvp_tile_packed(tile->plane, 1u);
    const struct cnnvp_stage_piece piece = {
        PORT_buffer,
        CNNVP_BORROW_READ,
        0,
        planes * bytes,
        2u,
        1u,
        {tile->channels * tile->plane, 1u, cnnvp_reach_bit},
        cnnvp_stage_streams(tile)};
    void *matrix;
    uint64_t cycles;
    int status = cnnvp_stage_borrow(stage, access, &piece, &matrix);
    if (status != CNNVP_OK)
        return status;
    if (cnnvp_stage_computes_fast(stage, access, tile))
        for (uint64_t p = 0; p < planes; ++p)
            cnnvp_relu_backward((const uint8_t *)matrix + p * bytes, tile->plane, tile->values + p * tile->plane);
    struct stepped stepped = {tile, matrix};
    status = cnnvp_stage_take(stage, access, tile, tile->channels * tile->plane, 1u, &stages, &stepped, &cycles);
    if (status != CNNVP_OK)
        return status;
    const struct cnnvp_stage_work work = {"ReLU back", STAT_busy_cycles, STAT_values, cycles, planes * tile->plane};
    cnnvp_stage_charge(stage, access, tile, &work);
    return CNNVP_OK;
}

static int relu_back_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_stage *stage = self;
    struct cnnvp_tile *tile;
    (void)port;
    int status = cnnvp_stage_tile(access, &tile);
    if (status != CNNVP_OK)
        return status;
    if (tile->kind != CNNVP_TILE_BACKWARD)
        return CNNVP_E_INVAL;
    cnnvp_stage_count(stage, access, STAT_tiles, 1u);
    if ((tile->flags & CNNVP_TILE_RELU) != 0)
        status = work_on(stage, access, tile);
    if (status != CNNVP_OK)
        return status;
    return cnnvp_stage_pass(stage, access, PORT_next, tile, tile->images * tile->channels * tile->plane, 4u);
}

static void relu_back_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = cnnvp_module_lanes(costs);
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 33u, (params[PARAM_pipeline] + 1u) * lanes, "errors and their bit");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_relu_back = {
    UNIT_TABLES,
    .kind = "relu_back",
    .version = "1.0",
    .summary = "ReLU backward, by the 0/1 matrix",
    .instance_size = sizeof(struct cnnvp_stage),
    .init = cnnvp_stage_init,
    .access = relu_back_access,
    .costs = relu_back_costs,
};
