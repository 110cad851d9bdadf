/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which layers to fuse: dynamic programming over the places between layers, with the cost of each layer by itself and
 * of each group that fits the chip. A group costs what the units say of its transfers and of its layers' calculations,
 * those that its tiles repeat included. Of a group's tiles the largest that fit are looked at: they repeat the least.
 */
#include "group_build.h"

#include <stdlib.h>
#include <string.h>

#include "binary_internal.h"
#include "cnnvp_integer.h"

#define LONGEST 40u    /* layers of a group */
#define MISSES 3u      /* runs one after the other that do not fit: longer ones will not either */
#define FITTING 2u     /* tiles of a halo that fit and are priced */
#define STREAM_PART 8u /* of a half, for tiles of maps in memory, at the least */

/* What the others do with a map that is its own base. */
struct use {
    size_t first_made, last_use;
};

struct search {
    const struct cnnvp_graph *graph;
    const struct cnnvp_target *target;
    struct cnnvp_build *build;
    const struct cnnvp_binary_options *options;
    struct use *uses;             /* of each tensor */
    struct cnnvp_tiling *tilings; /* of each layer */
    uint64_t *best;               /* cost of the layers before each place */
    struct cnnvp_plan_run *taken; /* the last run before each place; of count 1: a layer by itself */
    struct cnnvp_plan_ask *ask;   /* about transfers */
};

static uint64_t price_of(const struct search *search, uint64_t bound, uint64_t memory)
{
    return search->options->fuse == CNNVP_FUSE_FOR_TIME ? bound : memory + bound / 16u;
}

/* ---- what a group costs ---- */

/* Lines that all tiles of one axis calculate, each rounded up to the unit's edge. */
static uint64_t all_lines(const struct cnnvp_binary_reach *table, uint32_t tiles, size_t count, size_t member,
                          uint32_t edge)
{
    uint64_t lines = 0;
    for (uint32_t tile = 0; tile < tiles; ++tile)
        lines += (uint64_t)cnnvp_divide_up32(table[tile * count + member].count, edge) * edge;
    return lines;
}

/* This many times a layer's own work, in 1024ths. */
static uint64_t repeated(const struct cnnvp_plan_group *group, size_t member, uint32_t rows, uint32_t columns)
{
    const struct cnnvp_binary_tensor *out = &group->members[member].layer.out;
    const uint64_t own = (uint64_t)cnnvp_divide_up32(out->height, rows) * rows *
                         ((uint64_t)cnnvp_divide_up32(out->width, columns) * columns);
    return all_lines(group->rows, group->tile_rows, group->count, member, rows) *
           all_lines(group->columns, group->tile_columns, group->count, member, columns) * 1024u / own;
}

static uint32_t mean_lines(uint64_t lines, uint32_t tiles)
{
    return (uint32_t)((lines + tiles - 1u) / tiles);
}

/* Tiles of an operand that lies in memory. */
static uint64_t operand_ps(const struct search *search, const struct cnnvp_plan_group *group, size_t member,
                           const struct cnnvp_binary_tensor *operand)
{
    const struct cnnvp_binary_layer *layer = &group->members[member].layer;
    uint32_t rows = mean_lines(all_lines(group->rows, group->tile_rows, group->count, member, 1), group->tile_rows);
    uint32_t columns =
        mean_lines(all_lines(group->columns, group->tile_columns, group->count, member, 1), group->tile_columns);
    if (rows == 0 || columns == 0)
        return 0;
    if (layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_POOL) {
        rows = (uint32_t)cnnvp_plan_input_rows(layer, rows);
        columns = (uint32_t)cnnvp_plan_input_columns(layer, columns);
    }
    return (uint64_t)group->tile_rows * group->tile_columns *
           cnnvp_plan_box_ps(search->ask, operand, operand->channels, rows, columns);
}

static uint64_t transfers_ps(const struct search *search, const struct cnnvp_plan_group *group)
{
    const uint64_t tiles = (uint64_t)group->tile_rows * group->tile_columns;
    unsigned char stays[LONGEST];
    uint64_t bytes = 0;
    uint64_t ps = 0;
    (void)cnnvp_fused_choose_weights(group, &search->target->limits, stays);
    for (size_t i = 0; i < group->count; ++i) {
        const struct cnnvp_binary_layer *layer = &group->members[i].layer;
        bytes += cnnvp_fused_weight_bytes(layer) * (stays[i] ? 1u : tiles);
        if (!layer->in.on_chip)
            ps += operand_ps(search, group, i, &layer->in);
        if (layer->op == CNNVP_OP_ADD && !layer->in2.on_chip)
            ps += operand_ps(search, group, i, &layer->in2);
        if (!layer->out.on_chip)
            ps +=
                tiles * cnnvp_plan_box_ps(search->ask, &layer->out, layer->out.channels, group->tile_h, group->tile_w);
    }
    return ps + cnnvp_plan_weights_ps(search->ask, bytes);
}

static uint64_t group_cost(const struct search *search, const struct cnnvp_plan_group *group)
{
    const uint64_t memory = transfers_ps(search, group);
    const uint64_t tiles = (uint64_t)group->tile_rows * group->tile_columns;
    uint64_t calculation = 0;
    uint64_t core = 0;
    for (size_t i = 0; i < group->count; ++i) {
        const struct cnnvp_plan_finalist *alone = &search->build->finalists[group->first + i].all[0];
        const struct cnnvp_tiling *tiling = &search->tilings[group->first + i];
        calculation += (alone->compute * repeated(group, i, tiling->rows, tiling->cols) +
                        alone->vector * repeated(group, i, 1, 1)) /
                       1024u;
        core += alone->core +
                tiles * (CNNVP_PLAN_STEP_CYCLES + 6u * CNNVP_PLAN_COMMAND_CYCLES) * search->target->limits.core_ps;
    }
    const uint64_t bound =
        cnnvp_maximum(calculation, cnnvp_maximum(memory, core)) + (calculation + memory + core) / CNNVP_PLAN_WORK_PART;
    return price_of(search, bound, memory);
}

/* ---- tiles of a group ---- */

/* Whether tiles of maps in memory have room for what one pass of the unit needs. */
static int has_room(const struct search *search, const struct cnnvp_plan_group *group)
{
    if (group->tile_bytes < search->target->limits.input_bytes / STREAM_PART)
        return 0;
    for (size_t i = 0; i < group->count; ++i) {
        const struct cnnvp_tiling *tiling = &search->tilings[group->first + i];
        struct cnnvp_binary_layer least = group->members[i].layer;
        least.group_out = cnnvp_minimum32(least.out.channels, tiling->out);
        least.tile_h = cnnvp_minimum32(cnnvp_plan_group_rows(group, i), tiling->rows);
        least.tile_w = cnnvp_minimum32(cnnvp_plan_group_columns(group, i), tiling->cols);
        least.tile_in =
            cnnvp_plan_is_channelwise(&least) ? least.group_out : cnnvp_minimum32(least.in.channels, tiling->in);
        least.tile_out = least.group_out;
        if (cnnvp_plan_use_of(&least, tiling->result_bytes).input_bytes > group->tile_bytes)
            return 0;
    }
    return 1;
}

static int fits(const struct search *search, struct cnnvp_plan_group *group)
{
    uint64_t top[2];
    uint64_t lack;
    for (uint32_t half = 0; half < 2; ++half)
        top[half] =
            cnnvp_binary_chip_top(search->target, search->build, half, group->first, group->first + group->count - 1);
    return cnnvp_plan_group_reach(group) == CNNVP_DONE &&
           cnnvp_plan_group_place(group, top, search->target->limits.input_halves, &lack) && has_room(search, group);
}

/* Of tiles of that width the highest that fit, by one halo. *best is 0 or the least cost so far. */
static int try_heights(const struct search *search, struct cnnvp_plan_group *group, struct cnnvp_plan_run *run,
                       uint64_t *best)
{
    const uint32_t height = group->members[group->count - 1].layer.out.height;
    uint32_t fitting = 0;
    uint32_t last = 0;
    for (uint32_t parts = 1; fitting < FITTING && last != 1; parts += (parts + 2u) / 3u) {
        group->tile_h = cnnvp_divide_up32(height, parts);
        if (group->tile_h == last)
            continue;
        last = group->tile_h;
        if (group->halo == CNNVP_HALO_ROW && last == height)
            continue; /* nothing to keep */
        if (!fits(search, group))
            continue;
        const uint64_t cost = group_cost(search, group);
        ++fitting;
        if (*best != 0 && cost >= *best)
            continue;
        *best = cost;
        run->tile_h = group->tile_h;
        run->tile_w = group->tile_w;
        run->halo = group->halo;
    }
    return fitting != 0;
}

static int is_wanted(const struct search *search, enum cnnvp_binary_halo halo)
{
    return search->options->halo == 0 || search->options->halo == (uint32_t)halo + 1u;
}

/* The run's best tile; 0: none fits. */
static uint64_t try_tiles(const struct search *search, struct cnnvp_plan_run *run)
{
    struct cnnvp_plan_group group;
    struct cnnvp_error said;
    uint64_t best = 0;
    int any = 0;
    run->tile_h = run->tile_w = 1;
    if (cnnvp_group_make(search->graph, search->build, run, &group, &said) != CNNVP_DONE)
        return 0;
    const uint32_t width = group.members[group.count - 1].layer.out.width;
    for (uint32_t parts = 1; !any && parts <= 8 && parts <= width; parts *= 2u) {
        group.tile_w = cnnvp_divide_up32(width, parts);
        for (enum cnnvp_binary_halo halo = CNNVP_HALO_RECOMPUTE; halo <= CNNVP_HALO_FULL; ++halo) {
            /* As wide as the map, full is row. */
            if (!is_wanted(search, halo) || (halo == CNNVP_HALO_FULL && parts == 1 && search->options->halo == 0))
                continue;
            group.halo = halo;
            any |= try_heights(search, &group, run, &best);
        }
    }
    cnnvp_plan_group_clear(&group);
    return best;
}

/* ---- runs ---- */

/* A map that the run makes, but not its last layer, is of use outside. */
static int is_torn(const struct search *search, size_t first, size_t end)
{
    const struct cnnvp_graph *graph = search->graph;
    const int32_t given = cnnvp_graph_base(graph, graph->layers[end - 1].out);
    for (size_t i = first; i + 1 < end; ++i) {
        const int32_t base = cnnvp_graph_base(graph, graph->layers[i].out);
        if (base != given && (search->uses[base].first_made < first || search->uses[base].last_use >= end))
            return 1;
    }
    return 0;
}

static void offer(struct search *search, size_t end, uint64_t cost, const struct cnnvp_plan_run *run)
{
    if (cost >= search->best[end])
        return;
    search->best[end] = cost;
    search->taken[end] = *run;
}

static void search_from(struct search *search, size_t first)
{
    const struct cnnvp_graph *graph = search->graph;
    const struct cnnvp_plan_finalist *alone = &search->build->finalists[first].all[0];
    uint32_t misses = 0;
    struct cnnvp_plan_run run = {.first = first, .count = 1};
    offer(search, first + 1, search->best[first] + price_of(search, alone->price, alone->memory), &run);
    for (size_t end = first + 1; end <= graph->layer_count && end - first <= LONGEST &&
                                 cnnvp_group_why_not(graph, end - 1) == NULL && misses < MISSES;
         ++end) {
        run = (struct cnnvp_plan_run){.first = first, .count = end - first};
        if (run.count < 2 || is_torn(search, first, end))
            continue;
        const uint64_t cost = try_tiles(search, &run);
        misses = cost == 0 ? misses + 1u : 0;
        if (cost != 0)
            offer(search, end, search->best[first] + cost, &run);
    }
}

static void note_uses(struct search *search)
{
    const struct cnnvp_graph *graph = search->graph;
    for (size_t i = 0; i < graph->tensor_count; ++i)
        search->uses[i] = (struct use){SIZE_MAX, cnnvp_graph_is_output(graph, (int32_t)i) ? SIZE_MAX : 0};
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const int32_t tensors[] = {layer->in, layer->in2, layer->out};
        for (size_t t = 0; t < 3; ++t) {
            if (tensors[t] == CNNVP_GRAPH_NONE)
                continue;
            struct use *use = &search->uses[cnnvp_graph_base(graph, tensors[t])];
            use->last_use = cnnvp_maximum(use->last_use, i);
            if (t == 2 && use->first_made == SIZE_MAX)
                use->first_made = i;
        }
    }
}

static cnnvp_result prepare(struct search *search, struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = search->graph;
    const size_t layers = graph->layer_count;
    search->uses = calloc(graph->tensor_count, sizeof *search->uses);
    search->tilings = calloc(layers, sizeof *search->tilings);
    search->best = malloc((layers + 1) * sizeof *search->best);
    search->taken = calloc(layers + 1, sizeof *search->taken);
    search->ask = cnnvp_plan_ask_new(&search->build->layers[0], graph->layers[0].name, &search->target->limits);
    if (search->uses == NULL || search->tilings == NULL || search->best == NULL || search->taken == NULL ||
        search->ask == NULL)
        return cnnvp_compiler_no_memory(error);
    note_uses(search);
    memset(search->best, 0xff, (layers + 1) * sizeof *search->best);
    search->best[0] = 0;
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < layers && result == CNNVP_DONE; ++i)
        result = cnnvp_plan_tiling(
            &search->build->layers[i], graph->layers[i].name, &search->target->limits, &search->tilings[i], error);
    return result;
}

/* The runs on the way with the least cost, in the layers' order, of which the real cuts fit as well. */
static cnnvp_result take_runs(const struct search *search, struct cnnvp_plan *plan, struct cnnvp_error *error)
{
    size_t count = 0;
    for (size_t end = search->graph->layer_count; end != 0; end -= search->taken[end].count)
        count += search->taken[end].count > 1;
    size_t at = count;
    for (size_t end = search->graph->layer_count; end != 0; end -= search->taken[end].count)
        if (search->taken[end].count > 1)
            plan->runs[--at] = search->taken[end];
    for (size_t i = 0; i < count; ++i) {
        const cnnvp_result result =
            cnnvp_fused_try(search->graph, search->target, &plan->runs[i], search->build, plan, error);
        if (result == CNNVP_DONE)
            plan->runs[plan->run_count++] = plan->runs[i];
        else if (result != CNNVP_BAD_INPUT)
            return result;
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_fused_search(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                const struct cnnvp_binary_options *options, struct cnnvp_build *build,
                                struct cnnvp_plan *plan, struct cnnvp_error *error)
{
    struct search search = {.graph = graph, .target = target, .build = build, .options = options};
    plan->for_traffic = options->fuse == CNNVP_FUSE_FOR_TRAFFIC && target->limits.objective == CNNVP_OBJECTIVE_TIME;
    cnnvp_result result = prepare(&search, error);
    for (size_t i = 0; i < graph->layer_count && result == CNNVP_DONE; ++i)
        search_from(&search, i);
    if (result == CNNVP_DONE)
        result = cnnvp_plan_ask_result(search.ask, error);
    if (result == CNNVP_DONE)
        result = take_runs(&search, plan, error);
    free(search.uses);
    free(search.tilings);
    free(search.best);
    free(search.taken);
    cnnvp_plan_ask_free(search.ask);
    return result;
}
