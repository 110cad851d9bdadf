/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_sums.h"

/* ---- sorts ---- */

struct cnnvp_plan_step *cnnvp_plan_step_of(struct cnnvp_plan_sorts *sorts, const struct cnnvp_plan_extent *extent)
{
    const struct cnnvp_image_layer *layer = sorts->layer;
    const struct cnnvp_plan_timing *timing = &sorts->limits->timing;
    const unsigned sort = (extent->channels != layer->group_out ? 4u : 0) | (extent->rows != layer->tile_h ? 2u : 0) |
                          (extent->columns != layer->tile_w ? 1u : 0);
    struct cnnvp_plan_step *step = &sorts->steps[sort];
    if (step->extent.channels != 0)
        return step;
    step->extent = *extent;
    step->store_ps = cnnvp_plan_store_ps(layer, timing, extent);
    step->posts = cnnvp_plan_post_sweeps(layer, timing, extent);
    if (layer->op == CNNVP_OP_POOL) {
        const struct cnnvp_engine_slice slice = {.rows = extent->rows, .columns = extent->columns,
                                                 .in = extent->channels, .out = extent->channels,
                                                 .first = 1, .last = 1};
        step->whole = (struct cnnvp_plan_sweeps){1, cnnvp_engine_cycles(&sorts->limits->engine, layer, &slice)};
    } else if (!cnnvp_plan_has_weights(layer)) {
        step->whole = cnnvp_plan_main_sweeps(layer, timing, extent);
    }
    if (layer->op == CNNVP_OP_ADD)
        step->second_ps = cnnvp_plan_operand_ps(layer, timing, &layer->in2, extent, extent->channels);
    return step;
}

uint64_t cnnvp_plan_input_ps(const struct cnnvp_plan_sorts *sorts, struct cnnvp_plan_step *step, uint32_t depth)
{
    const struct cnnvp_image_layer *layer = sorts->layer;
    uint64_t *known = &step->input_ps[depth != layer->tile_in];
    if (*known == 0)
        *known = cnnvp_plan_operand_ps(layer, &sorts->limits->timing, &layer->in, &step->extent, depth);
    return *known;
}

void cnnvp_plan_work_out(const struct cnnvp_plan_sorts *sorts, const struct cnnvp_engine_slice *slice,
                         struct cnnvp_plan_slice *known)
{
    const struct cnnvp_plan_limits *limits = sorts->limits;
    known->cycles = cnnvp_engine_cycles(&limits->engine, sorts->layer, slice);
    known->weights_ps = cnnvp_plan_weights_ps(
        &limits->timing, cnnvp_plan_slice_bytes(sorts->layer, slice->in, slice->out, slice->last));
}

/* ---- sums ---- */

/* A dimension in tiles: whole ones, and the rest. */
struct tiles {
    uint32_t size[2];
    uint32_t count[2];
};

static struct tiles tiles_of(uint32_t total, uint32_t tile)
{
    return (struct tiles){{tile, total % tile}, {total / tile, total % tile != 0 ? 1u : 0}};
}

/* Sums in the making: times in ps, calculation's in cycles, instructions in numbers. */
struct sums {
    uint64_t compute, loaded, stored;
    uint64_t loads, slices, posts, steps;
};

/* One sort of slices of a step's inputs: how many, which of them is first, last. */
struct depth {
    uint32_t channels;
    uint64_t count;
    int first, last;
};

/* The slices of the inputs in at most three sorts; the number of sorts. */
static unsigned depths_of(uint32_t inputs, uint32_t tile, struct depth sorts[3])
{
    const uint32_t count = (uint32_t)cnnvp_divide_up(inputs, tile);
    const uint32_t rest = inputs - (count - 1u) * tile;
    sorts[0] = (struct depth){count == 1 ? rest : tile, 1, 1, count == 1};
    if (count == 1)
        return 1;
    sorts[1] = (struct depth){rest, 1, 0, 1};
    sorts[2] = (struct depth){tile, count - 2u, 0, 0};
    return count == 2 ? 2 : 3;
}

/* What the layer's tiles load again and again. */
struct habits {
    int inputs_stay; /* all groups use the same inputs, and find them */
    int blobs_stay;  /* a group's tiles find its weights */
    int first_group;
    int first_tiles; /* of each group */
};

/* Steps alike: so many tiles of each of the groups. */
static void add_sliced(struct sums *sums, const struct cnnvp_plan_sorts *sorts, struct cnnvp_plan_step *step,
                       uint64_t groups, uint64_t tiles, const struct habits *habits)
{
    const struct cnnvp_image_layer *layer = sorts->layer;
    const struct cnnvp_plan_extent *extent = &step->extent;
    const uint64_t count = groups * tiles;
    const uint32_t inputs = cnnvp_plan_is_channelwise(layer) ? extent->channels : cnnvp_engine_inputs(layer);
    const struct tiles outputs = tiles_of(extent->channels, layer->tile_out);
    struct depth depths[3];
    const unsigned depth_sorts = depths_of(inputs, layer->tile_in, depths);
    for (unsigned d = 0; d < depth_sorts; ++d) {
        const struct depth *depth = &depths[d];
        for (unsigned o = 0; o < 2; ++o) {
            const uint64_t number = count * depth->count * outputs.count[o];
            if (number == 0)
                continue;
            const struct cnnvp_engine_slice slice = {.rows = extent->rows, .columns = extent->columns,
                                                     .in = depth->channels, .out = outputs.size[o],
                                                     .first = depth->first, .last = depth->last};
            const struct cnnvp_plan_slice *known = cnnvp_plan_slice_of(sorts, step, &slice);
            sums->compute += number * known->cycles;
            sums->slices += number;
            if (habits->blobs_stay && !habits->first_tiles)
                continue;
            const uint64_t blobs = habits->blobs_stay ? number / tiles : number;
            sums->loaded += blobs * known->weights_ps;
            sums->loads += blobs;
        }
        if (habits->inputs_stay && !habits->first_group)
            continue;
        const uint64_t number = depth->count * (habits->inputs_stay ? tiles : count);
        sums->loaded += number * cnnvp_plan_input_ps(sorts, step, depth->channels);
        sums->loads += number;
    }
}

static void add_whole(struct sums *sums, const struct cnnvp_plan_sorts *sorts, struct cnnvp_plan_step *step,
                      uint64_t count)
{
    sums->compute += count * step->whole.cycles;
    sums->slices += count * step->whole.instructions;
    sums->loaded += count * (cnnvp_plan_input_ps(sorts, step, step->extent.channels) + step->second_ps);
    sums->loads += sorts->layer->op == CNNVP_OP_ADD ? 2u * count : count;
}

static void add_group(struct sums *sums, struct cnnvp_plan_sorts *sorts, uint32_t channels, uint64_t groups,
                      struct habits habits)
{
    const struct cnnvp_image_layer *layer = sorts->layer;
    const struct tiles rows = tiles_of(layer->out.height, layer->tile_h);
    const struct tiles columns = tiles_of(layer->out.width, layer->tile_w);
    for (unsigned r = 0; r < 2; ++r) {
        for (unsigned c = 0; c < 2; ++c) {
            const uint64_t tiles = (uint64_t)rows.count[r] * columns.count[c];
            const uint64_t count = groups * tiles;
            const struct cnnvp_plan_extent extent = {channels, rows.size[r], columns.size[c]};
            if (count == 0)
                continue;
            struct cnnvp_plan_step *step = cnnvp_plan_step_of(sorts, &extent);
            if (cnnvp_plan_has_weights(layer))
                add_sliced(sums, sorts, step, groups, tiles, &habits);
            else
                add_whole(sums, sorts, step, count);
            habits.first_tiles = 0;
            sums->steps += count;
            sums->stored += count * step->store_ps;
            sums->posts += count * step->posts.instructions;
        }
    }
}

struct cnnvp_plan_time cnnvp_plan_sums(struct cnnvp_plan_sorts *sorts)
{
    const struct cnnvp_image_layer *layer = sorts->layer;
    const struct cnnvp_plan_limits *limits = sorts->limits;
    const struct cnnvp_plan_timing *timing = &limits->timing;
    const struct cnnvp_plan_counts counts = cnnvp_plan_counts_of(layer);
    const struct tiles groups = tiles_of(layer->out.channels, layer->group_out);
    const int weighted = cnnvp_plan_has_weights(layer);
    struct habits habits = {
        .inputs_stay = counts.tiles * counts.input_slices <= limits->input_halves && !cnnvp_plan_is_channelwise(layer),
        .blobs_stay = weighted && counts.input_slices * counts.output_slices <= limits->weight_halves,
        .first_group = 1,
        .first_tiles = 1,
    };
    struct sums sums = {0};
    for (unsigned g = 0; g < 2; ++g) {
        if (groups.count[g] == 0)
            continue;
        add_group(&sums, sorts, groups.size[g], groups.count[g], habits);
        habits.first_group = 0;
    }
    if (!weighted && counts.blobs != 0) {
        sums.loaded += cnnvp_plan_weights_ps(timing, cnnvp_plan_blob_bytes(layer));
        ++sums.loads;
    }
    const uint64_t step_core = cnnvp_plan_step_core(layer, timing) + timing->store_core;
    const uint64_t core = sums.loads * timing->load_core + sums.slices * timing->calculate_core +
                          sums.posts * timing->post_core + sums.steps * step_core + timing->layer_core;
    return (struct cnnvp_plan_time){
        .compute_ps = sums.compute * timing->cycle,
        .memory_ps = sums.loaded + sums.stored,
        .loaded_ps = sums.loaded,
        .core_ps = core * timing->core,
    };
}

struct cnnvp_plan_time cnnvp_plan_totals(const struct cnnvp_image_layer *layer,
                                         const struct cnnvp_plan_limits *limits)
{
    struct cnnvp_plan_sorts sorts = {.layer = layer, .limits = limits};
    return cnnvp_plan_sums(&sorts);
}

struct cnnvp_plan_time cnnvp_plan_step_sums(const struct cnnvp_plan_sorts *sorts, struct cnnvp_plan_step *step)
{
    const struct habits habits = {.first_group = 1};
    struct sums sums = {0};
    add_sliced(&sums, sorts, step, 1, 1, &habits);
    return (struct cnnvp_plan_time){.compute_ps = sums.compute * sorts->limits->timing.cycle, .memory_ps = sums.loaded};
}

struct cnnvp_plan_time cnnvp_plan_least(struct cnnvp_plan_sorts *sorts)
{
    const struct cnnvp_plan_timing *timing = &sorts->limits->timing;
    struct cnnvp_plan_time time = cnnvp_plan_sums(sorts);
    const uint64_t transfers = later(time.loaded_ps, time.memory_ps - time.loaded_ps);
    time.ps = timing->strict ? time.compute_ps + later(time.loaded_ps, time.memory_ps / 2u)
                             : later(time.compute_ps, transfers);
    if (time.core_ps > timing->lead)
        time.ps = later(time.ps, time.core_ps - timing->lead);
    cnnvp_plan_weigh(&time, timing, timing->lead);
    return time;
}
