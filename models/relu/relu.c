/* SPDX-License-Identifier: Apache-2.0 */
/* ReLU of S001 (C4): batch norm's result becomes the activation; the 0/1 matrix goes into the ReLU buffer (C5). */
#include "relu.h"
#include "unit/parts.h"

#include <string.h>

#include "stage/step.h"

#define UNIT_DEF "relu/relu.def"
#include "unit/unit_enums.inc"

void cnnvp_relu_forward(float *x, uint64_t n)
{
    for (uint64_t i = 0; i < n; ++i)
        x[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

void cnnvp_relu_forward_keep(float *x, uint64_t n, uint8_t *matrix)
{
    memset(matrix, 0, (size_t)cnnvp_tile_packed(n, 1u));
    for (uint64_t i = 0; i < n; i += 8u) {
        const unsigned bits = n - i < 8u ? (unsigned)(n - i) : 8u;
        unsigned byte = 0;
        for (unsigned b = 0; b < bits; ++b)
            byte |= (unsigned)(x[i + b] > 0.0f) << b;
        matrix[i / 8u] = (uint8_t)byte;
    }
    cnnvp_relu_forward(x, n);
}

static void activate(const struct cnnvp_tile *tile, uint8_t *matrix)
{
    const uint64_t bytes = cnnvp_tile_packed(tile->plane, 1u);
    const uint64_t planes = (uint64_t)tile->images * tile->channels;
    for (uint64_t p = 0; p < planes; ++p)
        if (matrix != NULL)
            cnnvp_relu_forward_keep(tile->values + p * tile->plane, tile->plane, matrix + p * bytes);
        else
            cnnvp_relu_forward(tile->values + p * tile->plane, tile->plane);
}

struct stepped {
    const struct cnnvp_tile *tile;
    uint8_t *matrix;
};

/* Stages: the comparison with 0; the value, or 0, and its bit. */
static void compare(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    value->a = stepped->tile->values[(uint64_t)image * stepped->tile->channels * stepped->tile->plane + index];
    value->number = value->a > 0.0f;
}

static void choose(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    const struct cnnvp_tile *tile = stepped->tile;
    const uint64_t bit = index % tile->plane;
    if (stepped->matrix != NULL) {
        const uint64_t bytes = cnnvp_tile_packed(tile->plane, 1u);
        uint8_t *plane = stepped->matrix + ((uint64_t)image * tile->channels + index / tile->plane) * bytes;
        if (bit == 0)
            memset(plane, 0, (size_t)bytes);
        plane[bit / 8u] = (uint8_t)(plane[bit / 8u] | (unsigned)value->number << bit % 8u);
    }
    tile->values[(uint64_t)image * tile->channels * tile->plane + index] = value->number ? value->a : 0.0f;
}

static const struct cnnvp_stages stages = {2, {compare, choose}};

static int work_on(const struct cnnvp_stage *stage, const struct cnnvp_access *access, struct cnnvp_tile *tile)
{
    const uint64_t planes = (uint64_t)tile->images * tile->channels;
    const struct cnnvp_stage_piece piece = {
        PORT_buffer,
        CNNVP_BORROW_WRITE,
        0,
        planes * cnnvp_tile_packed(tile->plane, 1u),
        2u,
        1u,
        {tile->channels * tile->plane, 1u, cnnvp_reach_bit},
        cnnvp_stage_streams(tile)};
    const bool keep = (tile->flags & CNNVP_TILE_KEEP) != 0;
    void *matrix = NULL;
    uint64_t cycles;
    int status = keep ? cnnvp_stage_borrow(stage, access, &piece, &matrix) : CNNVP_OK;
    if (status != CNNVP_OK)
        return status;
    if (cnnvp_stage_computes_fast(stage, access, tile))
        activate(tile, matrix);
    struct stepped stepped = {tile, matrix};
    status = cnnvp_stage_take(stage, access, tile, tile->channels * tile->plane, 1u, &stages, &stepped, &cycles);
    if (status != CNNVP_OK)
        return status;
    const struct cnnvp_stage_work work = {"ReLU", STAT_busy_cycles, STAT_values, cycles, planes * tile->plane};
    cnnvp_stage_charge(stage, access, tile, &work);
    return CNNVP_OK;
}

static int relu_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_stage *stage = self;
    struct cnnvp_tile *tile;
    (void)port;
    int status = cnnvp_stage_tile(access, &tile);
    if (status != CNNVP_OK)
        return status;
    if (tile->kind != CNNVP_TILE_FORWARD)
        return CNNVP_E_INVAL;
    cnnvp_stage_count(stage, access, STAT_tiles, 1u);
    if ((tile->flags & CNNVP_TILE_RELU) != 0)
        status = work_on(stage, access, tile);
    if (status != CNNVP_OK)
        return status;
    return cnnvp_stage_pass(stage, access, PORT_next, tile, tile->images * tile->channels * tile->plane, 4u);
}

static void relu_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = cnnvp_module_lanes(costs);
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 33u, (params[PARAM_pipeline] + 1u) * lanes, "values and their bit");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_relu = {
    UNIT_TABLES,
    .kind = "relu",
    .version = "1.0",
    .summary = "ReLU forward, with its 0/1 matrix",
    .instance_size = sizeof(struct cnnvp_stage),
    .init = cnnvp_stage_init,
    .access = relu_access,
    .costs = relu_costs,
};
