/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sum module of S001: sums each channel of the PE module's output (C4) into the sum buffer, from which batch norm
 * has the mean. Modelled: sums and, in standard batch norm's second sweep, squares, over a tile at a time.
 */
#include "sum.h"

#include "stage/stage.h"

#define STAGE_DEF "sum/sum.def"
#include "stage/stage_tables.inc"

/* Channels whose images and planes share an entry are summed plane by plane all the same. */
static uint64_t add_tile(const struct cnnvp_tile *tile, struct cnnvp_sums *entries)
{
    uint64_t nonfinite = 0;
    for (uint32_t n = 0; n < tile->images; ++n)
        for (uint32_t c = 0; c < tile->channels; ++c) {
            struct cnnvp_sums *entry = &entries[(uint64_t)n * tile->entry_image_stride +
                                                (uint64_t)c * tile->entry_channel_stride];
            const float *plane = tile->values + ((uint64_t)n * tile->channels + c) * tile->plane;
            const uint32_t before = entry->nonfinite;
            if (tile->kind == CNNVP_TILE_SQUARES)
                cnnvp_sum_add_squares(plane, tile->plane, entry);
            else
                cnnvp_sum_add(plane, tile->plane, entry);
            nonfinite += entry->nonfinite - before;
        }
    return nonfinite;
}

static int sum_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct cnnvp_stage *stage = self;
    struct cnnvp_tile *tile;
    void *entries;
    (void)port;
    int status = cnnvp_stage_tile(access, &tile);
    if (status != CNNVP_OK)
        return status;
    if (tile->kind != CNNVP_TILE_STATISTICS && tile->kind != CNNVP_TILE_SQUARES)
        return CNNVP_E_INVAL;
    status = cnnvp_stage_entries(stage, access, PORT_buffer, true, tile->entry, cnnvp_stage_entry_span(tile),
                                 sizeof(struct cnnvp_sums), &entries);
    if (status != CNNVP_OK)
        return status;
    if (cnnvp_stage_computes(stage, access))
        cnnvp_stage_count(stage, access, STAT_nonfinite, add_tile(tile, entries));
    const bool squares = tile->kind == CNNVP_TILE_SQUARES;
    const uint64_t values = tile->channels * tile->plane;
    const struct cnnvp_stage_work work = {squares ? "squares" : "sums", STAT_busy_cycles,
                                          squares ? STAT_square_values : STAT_values,
                                          cnnvp_tile_beats(tile, values), tile->images * values};
    cnnvp_stage_charge(stage, access, tile, &work);
    cnnvp_stage_count(stage, access, STAT_tiles, 1u);
    return CNNVP_OK;
}

const struct cnnvp_unit cnnvp_unit_sum = {
    STAGE_UNIT(sum),
    .summary = "sums of channels, for batch norm",
    .instance_size = sizeof(struct cnnvp_stage),
    .init = cnnvp_stage_init,
    .access = sum_access,
};
