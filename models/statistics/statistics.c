/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics module of S001: finds the extremes of each channel (C4) for the max-min buffer, whose entries batch
 * norm and the quantiser take. Complete sums come on their way from the PE module, and go on to the sum module; other
 * blocks send what they want the extremes of.
 */
#include "statistics.h"
#include "unit/parts.h"

#include "stage/extremes.h"
#include "stage/step.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define UNIT_DEF "statistics/statistics.def"
#include "unit/unit_enums.inc"

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
                cnnvp_extremes_add_apart(
                    image + c * tile->plane, tile->plane, first, apart[c].min_at, apart[c].max_at, entry);
            else
                cnnvp_extremes_add(image + c * tile->plane, tile->plane, first, entry);
        }
    }
}

/* What values that go into one entry together have: a channel of an image, or all of an image. */
struct stepped {
    const struct cnnvp_tile *tile;
    const struct cnnvp_extremes *apart;
    struct cnnvp_extremes *found; /* [images][units] */
    uint64_t units, unit;         /* of an image; values of one */
};

/* Stages: the value and whether it counts; the two comparisons. */
static void fetch(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    const uint64_t u = index / stepped->unit;
    const uint64_t at = stepped->tile->first_value + image * stepped->tile->map + index % stepped->unit;
    value->a = stepped->tile->values[(uint64_t)image * stepped->units * stepped->unit + index];
    value->number = stepped->apart == NULL || (at != stepped->apart[u].min_at && at != stepped->apart[u].max_at);
}

static void compare(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    const uint64_t at = stepped->tile->first_value + image * stepped->tile->map + index % stepped->unit;
    struct cnnvp_extremes *found = &stepped->found[image * stepped->units + index / stepped->unit];
    if (value->number && value->a < found->min && value->a >= -FLT_MAX) {
        found->min = value->a;
        found->min_at = (uint32_t)at;
    }
    if (value->number && value->a > found->max && value->a <= FLT_MAX) {
        found->max = value->a;
        found->max_at = (uint32_t)at;
    }
}

static const struct cnnvp_stages stages = {2, {fetch, compare}};

/* What was found, into the entries, in the order of images and channels. */
static void merge(const struct stepped *stepped, struct cnnvp_extremes *entries)
{
    const struct cnnvp_tile *tile = stepped->tile;
    for (uint32_t n = 0; n < tile->images; ++n)
        for (uint64_t u = 0; u < stepped->units; ++u) {
            const struct cnnvp_extremes *found = &stepped->found[n * stepped->units + u];
            struct cnnvp_extremes *entry =
                &entries[(uint64_t)n * tile->entry_image_stride + u * tile->entry_channel_stride];
            if (found->min > found->max)
                continue;
            if (found->min < entry->min || (found->min <= entry->min && found->min_at < entry->min_at)) {
                entry->min = found->min;
                entry->min_at = found->min_at;
            }
            if (found->max > entry->max || (found->max >= entry->max && found->max_at < entry->max_at)) {
                entry->max = found->max;
                entry->max_at = found->max_at;
            }
        }
}

/* CNNVP_E_NOMEM: nothing has changed. */
static int step_tile(const struct cnnvp_stage *stage, const struct cnnvp_access *access, const struct cnnvp_tile *tile,
                     struct cnnvp_extremes *entries, const struct cnnvp_extremes *apart, uint64_t *cycles)
{
    const uint64_t values = tile->channels * tile->plane;
    const bool together = tile->entry_channel_stride == 0 && apart == NULL;
    struct stepped stepped = {tile, apart, NULL, together ? 1u : tile->channels, together ? values : tile->plane};
    const uint64_t count = tile->images * stepped.units;
    if (cnnvp_stage_computes(stage, access)) {
        stepped.found = malloc((size_t)count * sizeof *stepped.found);
        if (stepped.found == NULL)
            return CNNVP_E_NOMEM;
        for (uint64_t i = 0; i < count; ++i)
            stepped.found[i] = (struct cnnvp_extremes){.min = INFINITY, .max = -INFINITY};
    }
    const int status = cnnvp_stage_take(stage, access, tile, values, 1u, &stages, &stepped, cycles);
    if (status == CNNVP_OK && stepped.found != NULL)
        merge(&stepped, entries);
    free(stepped.found);
    return status;
}

static int take_extremes(const struct cnnvp_stage *stage, struct cnnvp_access *access, struct cnnvp_tile *tile)
{
    void *entries;
    void *apart = NULL;
    const uint64_t values = tile->channels * tile->plane;
    const struct cnnvp_stage_flow of_channels = {values, 1u, cnnvp_reach_channel};
    const struct cnnvp_stage_flow flow = {values, 1u, cnnvp_reach_entry};
    int status = CNNVP_OK;
    if ((tile->flags & CNNVP_TILE_APART) != 0)
        status = cnnvp_stage_entries(stage, access, PORT_buffer, false, tile->norm_entry, tile->channels,
                                     sizeof(struct cnnvp_extremes), &of_channels, &apart);
    if (status == CNNVP_OK)
        status = cnnvp_stage_entries(stage, access, PORT_buffer, true, tile->entry, cnnvp_stage_entry_span(tile),
                                     sizeof(struct cnnvp_extremes), &flow, &entries);
    if (status != CNNVP_OK)
        return status;
    uint64_t cycles = cnnvp_tile_beats(tile, values);
    if (cnnvp_stage_computes_fast(stage, access, tile))
        add_tile(tile, entries, apart);
    else if (tile->stepped != 0 && !cnnvp_stage_asks(access))
        status = step_tile(stage, access, tile, entries, apart, &cycles);
    if (status != CNNVP_OK)
        return status;
    const struct cnnvp_stage_work work = {
        "extremes", STAT_busy_cycles, STAT_values, cycles, 2u * tile->images * values};
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

static void statistics_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = cnnvp_module_lanes(costs);
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, 2u * lanes, "comparisons");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 32u, (params[PARAM_pipeline] + 1u) * lanes, "values");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 64u, 2u * cnnvp_module_sets(costs), "extremes and where they lie");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_statistics = {
    UNIT_TABLES,
    .kind = "statistics",
    .version = "1.0",
    .summary = "extremes of channels, for batch norm and quantiser",
    .instance_size = sizeof(struct cnnvp_stage),
    .init = cnnvp_stage_init,
    .access = statistics_access,
    .costs = statistics_costs,
};
