/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sum module of S001: sums each channel of the PE module's output (C4) into the sum buffer, from which batch norm
 * takes the mean (Part B 1-3, 1-13), over all images of the batch (1-27). Modelled, a tile at a time: sums and, in the
 * second sweep of standard batch norm, sums of squares.
 */
#include "cnnvp_tile.h"
#include "units.h"

#include "training/stage/stage.h"
#include "training/stage/sums.h"

#define UNIT_DEF "training/sum/sum.def"
#include "unit/unit_enums.inc"

/* Adds a tile, plane by plane, even if images and channels share an entry. */
static void add_tile(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    struct cnnvp_sums *entries = call->data[0];
    uint64_t nonfinite = 0;
    for (uint32_t n = 0; n < tile->images; ++n)
        for (uint32_t c = 0; c < tile->channels; ++c) {
            struct cnnvp_sums *entry =
                &entries[(uint64_t)n * tile->entry_image_stride + (uint64_t)c * tile->entry_channel_stride];
            const float *plane = tile->values + ((uint64_t)n * tile->channels + c) * tile->plane;
            const uint32_t before = entry->nonfinite;
            if (tile->kind == CNNVP_TILE_SQUARES)
                cnnvp_sum_add_squares(plane, tile->plane, entry);
            else
                cnnvp_sum_add(plane, tile->plane, entry);
            nonfinite += entry->nonfinite - before;
        }
    cnnvp_stage_count(call, STAT_nonfinite, nonfinite);
}

static int sum_plan(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    const bool squares = tile->kind == CNNVP_TILE_SQUARES;
    (void)self;
    if (tile->kind != CNNVP_TILE_STATISTICS && !squares)
        return CNNVP_E_INVAL;
    cnnvp_stage_work(plan, tile, add_tile, squares ? "squares" : "sums", STAT_busy_cycles,
                     squares ? STAT_square_values : STAT_values, cnnvp_stage_values(tile));
    plan->counts[0] = (struct cnnvp_stage_count){STAT_tiles, 1u};
    cnnvp_stage_entries(plan, tile, PORT_buffer, true, tile->entry, cnnvp_stage_entry_span(tile),
                        sizeof(struct cnnvp_sums));
    return CNNVP_OK;
}

static const struct cnnvp_parts_row sum_parts[] = {
    {CNNVP_PART_FLOAT_ADDER, 64u, 2u, CNNVP_OF_LANES, "distances from the mean, and sums"},
    {CNNVP_PART_FLOAT_MULTIPLIER, 64u, 1u, CNNVP_OF_LANES, "squares"},
    {CNNVP_PART_REGISTER, 64u, 1u, CNNVP_OF_STAGES, "values"},
    {CNNVP_PART_REGISTER, 64u, 8u, CNNVP_OF_SETS, "partial sums, eight"},
};

#include "training/stage/stage_unit.inc"

STAGE_UNIT(sum, struct cnnvp_stage, cnnvp_stage_init, NULL, "sums of channels, for batch norm");
