/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sum module of S001: sums each channel of the PE module's output (C4) into the sum buffer, from which batch norm
 * has the mean. Modelled: sums and, in standard batch norm's second sweep, squares, over a tile at a time.
 */
#include "sum.h"
#include "unit/parts.h"

#include "stage/step.h"
#include "stage/sums.h"

#include <float.h>
#include <stdlib.h>

#define UNIT_DEF "sum/sum.def"
#include "unit/unit_enums.inc"

/* Channels whose images and planes share an entry are summed plane by plane all the same. */
static uint64_t add_tile(const struct cnnvp_tile *tile, struct cnnvp_sums *entries)
{
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
    return nonfinite;
}

/* A plane on its way: eight parts, value i in part i mod 8. */
struct plane {
    double parts[8];
    double sum;
    uint32_t finite, nonfinite;
};

struct stepped {
    const struct cnnvp_tile *tile;
    const struct cnnvp_sums *entries;
    struct plane *planes; /* [images][channels] */
};

static const struct cnnvp_sums *entry_of(const struct cnnvp_tile *tile, const struct cnnvp_sums *entries, uint64_t n,
                                         uint64_t c)
{
    return &entries[n * tile->entry_image_stride + c * tile->entry_channel_stride];
}

/* Stages: the value as binary64, or its distance from the mean; the square; one of eight parts; at a plane's end all of
 * them. */
static void widen(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    const struct cnnvp_tile *tile = stepped->tile;
    value->a = tile->values[(uint64_t)image * tile->channels * tile->plane + index];
    value->number = value->a >= -FLT_MAX && value->a <= FLT_MAX;
    value->wide = value->number ? (double)value->a : 0.0;
    if (tile->kind == CNNVP_TILE_SQUARES && value->number)
        value->wide -= cnnvp_sum_mean(entry_of(tile, stepped->entries, image, index / tile->plane));
}

static void square(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    (void)image;
    (void)index;
    if (stepped->tile->kind == CNNVP_TILE_SQUARES)
        value->wide = value->wide * value->wide;
}

static struct plane *plane_of(const struct stepped *stepped, uint32_t image, uint64_t index)
{
    return &stepped->planes[(uint64_t)image * stepped->tile->channels + index / stepped->tile->plane];
}

static void add(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    struct plane *plane = plane_of(stepped, image, index);
    plane->parts[index % stepped->tile->plane % 8u] += value->wide;
    plane->finite += value->number != 0;
    plane->nonfinite += value->number == 0;
}

static void fold(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value)
{
    const struct stepped *stepped = context;
    struct plane *plane = plane_of(stepped, image, index);
    (void)value;
    if (index % stepped->tile->plane + 1u < stepped->tile->plane)
        return;
    const double even = (plane->parts[0] + plane->parts[4]) + (plane->parts[2] + plane->parts[6]);
    const double odd = (plane->parts[1] + plane->parts[5]) + (plane->parts[3] + plane->parts[7]);
    plane->sum = even + odd;
}

static const struct cnnvp_stages stages = {4, {widen, square, add, fold}};

/* Sums of planes into the entries, in the order of images and channels. Values that were not finite. */
static uint64_t merge(const struct stepped *stepped, struct cnnvp_sums *entries)
{
    const struct cnnvp_tile *tile = stepped->tile;
    uint64_t nonfinite = 0;
    for (uint32_t n = 0; n < tile->images; ++n)
        for (uint32_t c = 0; c < tile->channels; ++c) {
            const struct plane *plane = &stepped->planes[(uint64_t)n * tile->channels + c];
            struct cnnvp_sums *entry =
                &entries[(uint64_t)n * tile->entry_image_stride + (uint64_t)c * tile->entry_channel_stride];
            if (tile->kind == CNNVP_TILE_SQUARES) {
                entry->squares += plane->sum;
                continue;
            }
            entry->sum += plane->sum;
            entry->count += plane->finite;
            entry->nonfinite += plane->nonfinite;
            nonfinite += plane->nonfinite;
        }
    return nonfinite;
}

/* CNNVP_E_NOMEM: nothing has changed. */
static int step_tile(const struct cnnvp_stage *stage, const struct cnnvp_access *access, const struct cnnvp_tile *tile,
                     struct cnnvp_sums *entries, uint64_t *cycles)
{
    struct stepped stepped = {tile, entries, NULL};
    if (cnnvp_stage_computes(stage, access)) {
        stepped.planes = calloc((size_t)tile->images * tile->channels, sizeof *stepped.planes);
        if (stepped.planes == NULL)
            return CNNVP_E_NOMEM;
    }
    const int status =
        cnnvp_stage_take(stage, access, tile, tile->channels * tile->plane, 1u, &stages, &stepped, cycles);
    if (status == CNNVP_OK && stepped.planes != NULL)
        cnnvp_stage_count(stage, access, STAT_nonfinite, merge(&stepped, entries));
    free(stepped.planes);
    return status;
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
    const uint64_t values = tile->channels * tile->plane;
    const struct cnnvp_stage_flow flow = {values, 1u, cnnvp_reach_entry};
    status = cnnvp_stage_entries(stage, access, PORT_buffer, true, tile->entry, cnnvp_stage_entry_span(tile),
                                 sizeof(struct cnnvp_sums), &flow, &entries);
    if (status != CNNVP_OK)
        return status;
    const bool squares = tile->kind == CNNVP_TILE_SQUARES;
    uint64_t cycles = cnnvp_tile_beats(tile, values);
    if (cnnvp_stage_computes_fast(stage, access, tile))
        cnnvp_stage_count(stage, access, STAT_nonfinite, add_tile(tile, entries));
    else if (tile->stepped != 0 && !cnnvp_stage_asks(access))
        status = step_tile(stage, access, tile, entries, &cycles);
    if (status != CNNVP_OK)
        return status;
    const struct cnnvp_stage_work work = {squares ? "squares" : "sums", STAT_busy_cycles,
                                          squares ? STAT_square_values : STAT_values, cycles, tile->images * values};
    cnnvp_stage_charge(stage, access, tile, &work);
    cnnvp_stage_count(stage, access, STAT_tiles, 1u);
    return CNNVP_OK;
}

static void sum_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = cnnvp_module_lanes(costs);
    cnnvp_say_part(costs, CNNVP_PART_FLOAT_ADDER, 64u, 2u * lanes, "distances from the mean, and sums");
    cnnvp_say_part(costs, CNNVP_PART_FLOAT_MULTIPLIER, 64u, lanes, "squares");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 64u, (params[PARAM_pipeline] + 1u) * lanes, "values");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 64u, 8u * cnnvp_module_sets(costs), "partial sums, eight");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_sum = {
    UNIT_TABLES,
    .kind = "sum",
    .version = "1.0",
    .summary = "sums of channels, for batch norm",
    .instance_size = sizeof(struct cnnvp_stage),
    .init = cnnvp_stage_init,
    .access = sum_access,
    .costs = sum_costs,
};
