/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics module of S001: finds the extremes of each channel (C4; Part B 1-3, 1-13) and their positions, over
 * all images of the batch (1-27), also in backward (1-24). It writes them to the max-min buffer for batch norm and the
 * quantiser. Complete sums of the PE module pass through it to the sum module; other blocks send values only to get
 * their extremes.
 */
#include "cnnvp_tile.h"
#include "units.h"

#include "training/stage/extremes.h"
#include "training/stage/stage.h"

#define UNIT_DEF "training/statistics/statistics.def"
#include "unit/unit_enums.inc"

/* call->data: the entries, and the extremes whose positions are left out (NULL: none). */
static void add_tile(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile)
{
    struct cnnvp_extremes *entries = call->data[0];
    const struct cnnvp_extremes *apart = call->data[1];
    for (uint32_t n = 0; n < tile->images; ++n) {
        const float *image = tile->values + (uint64_t)n * tile->channels * tile->plane;
        const uint64_t first = tile->first_value + n * tile->map;
        struct cnnvp_extremes *of_image = entries + (uint64_t)n * tile->entry_image_stride;
        if (tile->entry_channel_stride == 0 && apart == NULL) {
            cnnvp_extremes_add(image, tile->channels * tile->plane, first, of_image);
            continue;
        }
        for (uint32_t c = 0; c < tile->channels; ++c) {
            struct cnnvp_extremes *entry = &of_image[(uint64_t)c * tile->entry_channel_stride];
            if (apart != NULL)
                cnnvp_extremes_add_apart(
                    image + c * tile->plane, tile->plane, first, apart[c].min_at, apart[c].max_at, entry);
            else
                cnnvp_extremes_add(image + c * tile->plane, tile->plane, first, entry);
        }
    }
}

static int statistics_plan(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan)
{
    const uint64_t values = cnnvp_stage_values(tile);
    (void)self;
    if (tile->kind == CNNVP_TILE_STATISTICS || tile->kind == CNNVP_TILE_SQUARES)
        cnnvp_stage_pass(plan, tile, PORT_sum, values, 4u);
    if (tile->kind == CNNVP_TILE_SQUARES)
        return CNNVP_OK;
    cnnvp_stage_work(plan, tile, add_tile, "extremes", STAT_busy_cycles, STAT_values, 2u * values);
    plan->counts[0] = (struct cnnvp_stage_count){STAT_tiles, 1u};
    cnnvp_stage_entries(plan, tile, PORT_buffer, true, tile->entry, cnnvp_stage_entry_span(tile),
                        sizeof(struct cnnvp_extremes));
    if ((tile->flags & CNNVP_TILE_APART) != 0)
        cnnvp_stage_entries(plan, tile, PORT_buffer, false, tile->norm_entry, tile->channels,
                            sizeof(struct cnnvp_extremes));
    return CNNVP_OK;
}

static const struct cnnvp_parts_row statistics_parts[] = {
    {CNNVP_PART_ADDER, 32u, 2u, CNNVP_OF_LANES, "comparisons"},
    {CNNVP_PART_REGISTER, 32u, 1u, CNNVP_OF_STAGES, "values"},
    {CNNVP_PART_REGISTER, 64u, 2u, CNNVP_OF_SETS, "extremes and where they lie"},
};

#include "training/stage/stage_unit.inc"

STAGE_UNIT(statistics, struct cnnvp_stage, cnnvp_stage_init, NULL,
           "extremes of channels, for batch norm and the quantiser");
