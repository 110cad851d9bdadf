/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ReLU of S001 (C4): batch norm's result becomes the activation. The 0/1 matrix, one bit a value, goes into the ReLU
 * buffer (C5) for `relu_back`. NaN counts as not positive. Bit i of a plane is bit i mod 8 of byte i / 8.
 */
#include "units.h"

#include <string.h>

#include "training/stage/stage.h"

#define UNIT_DEF "training/relu/relu.def"
#include "unit/unit_enums.inc"

static void rectify(float *x, uint64_t n)
{
    for (uint64_t i = 0; i < n; ++i)
        x[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

/* Rectifies, and stores which values are positive. `matrix` has cnnvp_tile_packed(n, 1) bytes. */
static void rectify_and_keep(float *x, uint64_t n, uint8_t *matrix)
{
    memset(matrix, 0, (size_t)cnnvp_tile_packed(n, 1u));
    for (uint64_t i = 0; i < n; i += 8u) {
        const unsigned bits = n - i < 8u ? (unsigned)(n - i) : 8u;
        unsigned byte = 0;
        for (unsigned b = 0; b < bits; ++b)
            byte |= (unsigned)(x[i + b] > 0.0f) << b;
        matrix[i / 8u] = (uint8_t)byte;
    }
    rectify(x, n);
}

static void activate(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    const uint64_t bytes = cnnvp_tile_packed(tile->plane, 1u);
    const uint64_t planes = (uint64_t)tile->images * tile->channels;
    uint8_t *matrix = call->data[0];
    for (uint64_t p = 0; p < planes; ++p)
        if (matrix != NULL)
            rectify_and_keep(tile->values + p * tile->plane, tile->plane, matrix + p * bytes);
        else
            rectify(tile->values + p * tile->plane, tile->plane);
}

static int relu_plan(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    const uint64_t values = cnnvp_stage_values(tile);
    (void)self;
    if (tile->kind != CNNVP_TILE_FORWARD)
        return CNNVP_E_INVAL;
    plan->counts[0] = (struct cnnvp_stage_count){STAT_tiles, 1u};
    cnnvp_stage_pass(plan, tile, PORT_next, values, 4u);
    if ((tile->flags & CNNVP_TILE_RELU) == 0)
        return CNNVP_OK;
    cnnvp_stage_work(plan, tile, activate, "ReLU", STAT_busy_cycles, STAT_values, values);
    if ((tile->flags & CNNVP_TILE_KEEP) != 0)
        cnnvp_stage_matrix(plan, tile, PORT_buffer, CNNVP_BORROW_WRITE, 0,
                           tile->channels * cnnvp_tile_packed(tile->plane, 1u));
    return CNNVP_OK;
}

static const struct cnnvp_parts_row relu_parts[] = {
    {CNNVP_PART_REGISTER, 33u, 1u, CNNVP_OF_STAGES, "values and their bit"},
};

#include "training/stage/stage_unit.inc"

STAGE_UNIT(relu, struct cnnvp_stage, cnnvp_stage_init, NULL, "ReLU forward, with its 0/1 matrix");
