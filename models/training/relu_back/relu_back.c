/* SPDX-License-Identifier: Apache-2.0 */
/* ReLU backward of S001 (C4): errors pass where the 0/1 matrix in the ReLU buffer has ones; the others become 0. */
#include "units.h"

#include "training/stage/stage.h"

#define UNIT_DEF "training/relu_back/relu_back.def"
#include "unit/unit_enums.inc"

static void let_through(const uint8_t *matrix, uint64_t n, float *dy)
{
    for (uint64_t i = 0; i < n; ++i)
        dy[i] = ((unsigned)matrix[i / 8u] >> (i % 8u) & 1u) != 0 ? dy[i] : 0.0f;
}

static void choose(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    const uint64_t bytes = cnnvp_tile_packed(tile->plane, 1u);
    const uint8_t *matrix = call->data[0];
    for (uint64_t p = 0; p < (uint64_t)tile->images * tile->channels; ++p)
        let_through(matrix + p * bytes, tile->plane, tile->values + p * tile->plane);
}

static int relu_back_plan(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    const uint64_t values = cnnvp_stage_values(tile);
    (void)self;
    if (tile->kind != CNNVP_TILE_BACKWARD)
        return CNNVP_E_INVAL;
    plan->counts[0] = (struct cnnvp_stage_count){STAT_tiles, 1u};
    cnnvp_stage_pass(plan, tile, PORT_next, values, 4u);
    if ((tile->flags & CNNVP_TILE_RELU) == 0)
        return CNNVP_OK;
    cnnvp_stage_work(plan, tile, choose, "ReLU back", STAT_busy_cycles, STAT_values, values);
    cnnvp_stage_matrix(plan, tile, PORT_buffer, CNNVP_BORROW_READ, 0,
                       tile->channels * cnnvp_tile_packed(tile->plane, 1u));
    return CNNVP_OK;
}

static const struct cnnvp_parts_row relu_back_parts[] = {
    {CNNVP_PART_REGISTER, 33u, 1u, CNNVP_OF_STAGES, "errors and their bit"},
};

#include "training/stage/stage_unit.inc"

STAGE_UNIT(relu_back, struct cnnvp_stage, cnnvp_stage_init, NULL, "ReLU backward, by the 0/1 matrix");
