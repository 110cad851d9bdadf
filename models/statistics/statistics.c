/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics module of S001: finds the extremes of each channel (C4) for the max-min buffer, whose entries batch
 * norm and the quantiser take. Complete sums come on their way from the PE module, and go on to the sum module; other
 * blocks send what they want the extremes of.
 */
#include "statistics.h"

#include "stage/stage.h"

#define STAGE_DEF "statistics/statistics.def"
#include "stage/stage_tables.inc"

static void add_tile(const struct cnnvp_tile *tile, struct cnnvp_extremes *entries, const struct cnnvp_extremes *apart)
{
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
                cnnvp_extremes_add_apart(image + c * tile->plane, tile->plane, first, apart[c].min_at, apart[c].max_at,
                                         entry);
            else
                cnnvp_extremes_add(image + c * tile->plane, tile->plane, first, entry);
        }
    }
}

static int take_extremes(const struct cnnvp_stage *stage, struct cnnvp_access *access, struct cnnvp_tile *tile)
{
    void *entries;
    void *apart = NULL;
    int status = CNNVP_OK;
    if ((tile->flags & CNNVP_TILE_APART) != 0)
        status = cnnvp_stage_entries(stage, access, PORT_buffer, false, tile->norm_entry, tile->channels,
                                     sizeof(struct cnnvp_extremes), &apart);
    if (status == CNNVP_OK)
        status = cnnvp_stage_entries(stage, access, PORT_buffer, true, tile->entry, cnnvp_stage_entry_span(tile),
                                     sizeof(struct cnnvp_extremes), &entries);
    if (status != CNNVP_OK)
        return status;
    if (cnnvp_stage_computes(stage, access))
        add_tile(tile, entries, apart);
    const uint64_t values = tile->channels * tile->plane;
    const struct cnnvp_stage_work work = {"extremes", STAT_busy_cycles, STAT_values, cnnvp_tile_beats(tile, values),
                                          2u * tile->images * values};
    cnnvp_stage_charge(stage, access, tile, &work);
    cnnvp_stage_count(stage, access, STAT_tiles, 1u);
    return CNNVP_OK;
}

static int statistics_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_stage *stage = self;
    struct cnnvp_tile *tile;
    (void)port;
    int status = cnnvp_stage_tile(access, &tile);
    if (status != CNNVP_OK)
        return status;
    if (tile->kind != CNNVP_TILE_SQUARES)
        status = take_extremes(stage, access, tile);
    if (status != CNNVP_OK || (tile->kind != CNNVP_TILE_STATISTICS && tile->kind != CNNVP_TILE_SQUARES))
        return status;
    return cnnvp_stage_pass(stage, access, PORT_sum, tile, tile->images * tile->channels * tile->plane, 4u);
}

const struct cnnvp_unit cnnvp_unit_statistics = {
    STAGE_UNIT(statistics),
    .summary = "extremes of channels, for batch norm and quantiser",
    .instance_size = sizeof(struct cnnvp_stage),
    .init = cnnvp_stage_init,
    .access = statistics_access,
};
