/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the layers to fuse: dynamic programming over the places between layers, with the cost of each single layer
 * and of each group that fits on chip. The cost of a group follows from the units' times for its transfers and
 * calculations, including those that its tiles repeat. Only the largest tiles that fit are considered: they repeat the
 * least.
 */
#include "group_build.h"

#include <math.h>
#include <string.h>

#include "binary_internal.h"
#include "cnnvp_command.h"
#include "cnnvp_integer.h"

#define LONGEST 40u    /* most layers of a group */
#define MISSES 3u      /* after this many runs in sequence that do not fit, no longer ones are tried */
#define FITTING 2u     /* fitting tile heights that are priced for each width and halo */
#define EDGES 24u      /* most edges of tiles that are tried along an axis */
#define STREAM_PART 8u /* tiles of maps in memory need at least 1 / STREAM_PART of a half */
/* Core cycles for one layer of one tile. The slots of a group cost the core more than a step of a single layer. */
#define TILE_CYCLES 1600.0

/* The first layer that makes a base tensor, and the last one that makes or reads it. */
struct use {
    size_t first_made, last_use;
};

struct search {
    const struct cnnvp_graph *graph;
    const struct cnnvp_target *target;
    struct cnnvp_build *build;
    const struct cnnvp_binary_options *options;
    struct cnnvp_arena arena;       /* owns the arrays below */
    struct use *uses;               /* of each tensor */
    struct cnnvp_tiling *tilings;   /* of each layer */
    struct cnnvp_plan_taken each;   /* cost of a ps, a pJ and a byte by the objective */
    double *best;                   /* least cost of all layers before each place */
    struct cnnvp_plan_run *taken;   /* the last run of that solution; count 1: a single layer */
    struct cnnvp_cost_query *query; /* for transfers */
};

/* ---- cost of a group ---- */

/* Lines that all tiles of one axis calculate, each rounded up to the unit's edge. */
static uint64_t all_lines(const struct cnnvp_group_reach *table, uint32_t tiles, size_t count, size_t member,
                          uint32_t edge)
{
    uint64_t lines = 0;
    for (uint32_t tile = 0; tile < tiles; ++tile)
        lines += (uint64_t)cnnvp_divide_up32(table[tile * count + member].count, edge) * edge;
    return lines;
}

/* The work of the member over all tiles, as a multiple of the layer's work by itself. */
static double repeated(const struct cnnvp_plan_group *group, size_t member, uint32_t rows, uint32_t columns)
{
    const struct cnnvp_tensor *out = &group->members[member].layer.out;
    const uint64_t own = (uint64_t)cnnvp_divide_up32(out->height, rows) * rows *
                         ((uint64_t)cnnvp_divide_up32(out->width, columns) * columns);
    return (double)(all_lines(group->rows, group->tile_rows, group->count, member, rows) *
                    all_lines(group->columns, group->tile_columns, group->count, member, columns)) /
           (double)own;
}

static uint32_t mean_lines(uint64_t lines, uint32_t tiles)
{
    return (uint32_t)((lines + tiles - 1u) / tiles);
}

static void add_moved(struct cnnvp_plan_taken *to, double times, const struct cnnvp_plan_moved *moved, double pj_byte,
                      double pj_word)
{
    to->ps += times * (double)moved->ps;
    to->pj += times * ((double)moved->bytes * pj_byte + (double)moved->words * pj_word);
    to->bytes += times * (double)moved->bytes;
}

/* Adds the loads of all tiles of an operand in memory. */
static void load_operand(const struct search *search, const struct cnnvp_plan_group *group, size_t member,
                         const struct cnnvp_tensor *operand, struct cnnvp_plan_taken *taken)
{
    const struct cnnvp_plan_energy *energy = &search->target->limits.energy;
    const struct cnnvp_layer *layer = &group->members[member].layer;
    uint32_t rows = mean_lines(all_lines(group->rows, group->tile_rows, group->count, member, 1), group->tile_rows);
    uint32_t columns =
        mean_lines(all_lines(group->columns, group->tile_columns, group->count, member, 1), group->tile_columns);
    if (operand->on_chip || operand->channels == 0 || rows == 0 || columns == 0)
        return;
    if (operand == &layer->in && (layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_POOL)) {
        rows = (uint32_t)cnnvp_plan_input_rows(layer, rows);
        columns = (uint32_t)cnnvp_plan_input_columns(layer, columns);
    } else { /* dimensions of 1 are broadcast */
        rows = cnnvp_minimum32(rows, operand->height);
        columns = cnnvp_minimum32(columns, operand->width);
    }
    const struct cnnvp_plan_moved moved = cnnvp_plan_move_box(search->query, operand, operand->channels, rows, columns);
    add_moved(taken, (double)cnnvp_plan_group_tiles(group), &moved, energy->read_byte, energy->input_word);
}

static struct cnnvp_plan_taken transfers_of(const struct search *search, struct cnnvp_plan_group *group)
{
    const struct cnnvp_plan_energy *energy = &search->target->limits.energy;
    const double tiles = (double)cnnvp_plan_group_tiles(group);
    struct cnnvp_plan_taken taken = {0};
    cnnvp_fused_choose_weights(group, &search->target->limits);
    for (size_t i = 0; i < group->count; ++i) {
        const struct cnnvp_layer *layer = &group->members[i].layer;
        if (group->members[i].done)
            continue;
        const struct cnnvp_plan_moved weights = cnnvp_plan_move_line(search->query, cnnvp_fused_weight_bytes(layer));
        add_moved(&taken, group->members[i].stays ? 1 : tiles, &weights, energy->read_byte, energy->weight_word);
        load_operand(search, group, i, &layer->in, &taken);
        load_operand(search, group, i, &layer->in2, &taken);
        if (layer->out.on_chip)
            continue;
        const struct cnnvp_plan_moved results =
            cnnvp_plan_move_box(search->query, &layer->out, layer->out.channels, group->tile_h, group->tile_w);
        add_moved(&taken, tiles, &results, energy->write_byte, energy->output_word);
    }
    return taken;
}

static double results_of(const struct cnnvp_layer *layer)
{
    return (double)layer->out.channels * layer->out.height * layer->out.width;
}

static double cost_of(const struct search *search, const struct cnnvp_plan_taken *taken)
{
    return taken->ps * search->each.ps + taken->pj * search->each.pj + taken->bytes * search->each.bytes;
}

static double group_cost(const struct search *search, struct cnnvp_plan_group *group)
{
    const struct cnnvp_plan_energy *energy = &search->target->limits.energy;
    struct cnnvp_plan_taken taken = transfers_of(search, group);
    double calculation = 0, core = 0;
    for (size_t i = 0; i < group->count; ++i) {
        const struct cnnvp_plan_member *member = &group->members[i];
        const struct cnnvp_plan_finalist *alone = &search->build->finalists[group->first + i].all[0];
        const struct cnnvp_tiling *tiling = &search->tilings[group->first + i];
        const double again = repeated(group, i - (size_t)member->done, 1, 1);
        calculation +=
            (double)alone->compute * repeated(group, i, tiling->rows, tiling->cols) + (double)alone->vector * again;
        if (member->done)
            continue;
        core += (CNNVP_PLAN_LAYER_CYCLES + TILE_CYCLES * (double)cnnvp_plan_group_tiles(group)) *
                search->target->limits.core_ps;
        taken.pj += (again - 1) * cnnvp_plan_macs_pj(&member->layer, energy);
        const double stored = results_of(&member->layer) * (1u << member->layer.out.word_shift) / CNNVP_WORD_BYTES;
        if (member->out != CNNVP_PLAN_NO_SLOT)
            taken.pj += again * stored * (energy->output_word + energy->input_word);
    }
    taken.ps = fmax(calculation, fmax(taken.ps, core)) + (calculation + taken.ps + core) / CNNVP_PLAN_WORK_PART;
    taken.pj += taken.ps * energy->ps;
    return cost_of(search, &taken);
}

/* ---- tiles of a group ---- */

/* 1: tiles of maps in memory have room for the operands of one pass of the unit. */
static int has_room(const struct search *search, const struct cnnvp_plan_group *group)
{
    for (size_t i = 0; i < group->count; ++i) {
        const struct cnnvp_tiling *tiling = &search->tilings[group->first + i];
        const uint64_t room = group->members[i].tile_bytes;
        struct cnnvp_layer least = group->members[i].layer;
        least.group_out = cnnvp_minimum32(least.out.channels, tiling->out);
        least.tile_h = cnnvp_minimum32(cnnvp_plan_group_rows(group, i), tiling->rows);
        least.tile_w = cnnvp_minimum32(cnnvp_plan_group_columns(group, i), tiling->cols);
        least.tile_in =
            cnnvp_plan_is_channelwise(&least) ? least.group_out : cnnvp_minimum32(least.in.channels, tiling->in);
        least.tile_out = least.group_out;
        const uint64_t bytes = cnnvp_plan_use_of(&least, tiling->result_bytes).input_bytes;
        if (bytes > room || (bytes != 0 && room < search->target->limits.input_bytes / STREAM_PART))
            return 0;
    }
    return 1;
}

static int fits(const struct search *search, struct cnnvp_plan_group *group)
{
    uint64_t lack;
    return cnnvp_plan_group_reach(group) == CNNVP_DONE &&
           cnnvp_group_place(search->target, search->build, group, &lack) && has_room(search, group);
}

/* Edges of tiles in descending order: the whole, then parts of it. Parts are rounded up to a multiple of the unit's
 * edge; parts below the edge are also tried without rounding. */
struct edges {
    uint32_t values[EDGES];
    size_t count;
};

static void add_edge(struct edges *edges, uint32_t value)
{
    if (edges->count < EDGES && (edges->count == 0 || value < edges->values[edges->count - 1]))
        edges->values[edges->count++] = value;
}

static struct edges edges_of(uint32_t total, uint32_t unit, uint32_t parts)
{
    struct edges edges = {.count = 0};
    for (uint32_t n = 1; n <= parts; n += (n + 2u) / 3u) {
        const uint32_t part = cnnvp_divide_up32(total, n);
        add_edge(&edges, cnnvp_minimum32(total, cnnvp_divide_up32(part, unit) * unit));
        if (part < unit)
            add_edge(&edges, part);
    }
    return edges;
}

/* Prices the highest tiles of the group's width and halo that fit. *best is the least cost so far. */
static void try_heights(const struct search *search, const struct edges *heights, struct cnnvp_plan_group *group,
                        struct cnnvp_plan_run *run, double *best)
{
    uint32_t fitting = 0;
    /* A tile as high as the map has no rows to keep, so CNNVP_HALO_ROW skips it. */
    for (size_t i = group->halo == CNNVP_HALO_ROW; i < heights->count && fitting < FITTING; ++i) {
        group->tile_h = heights->values[i];
        if (!fits(search, group))
            continue;
        const double cost = group_cost(search, group);
        ++fitting;
        if (cost >= *best)
            continue;
        *best = cost;
        run->tile_h = group->tile_h;
        run->tile_w = group->tile_w;
        run->halo = group->halo;
    }
}

static int is_wanted(const struct search *search, enum cnnvp_group_halo halo)
{
    return search->options->halo == 0 || search->options->halo == (uint32_t)halo + 1u;
}

/* The cost of the run's best tile; INFINITY: none fits. */
static double try_tiles(const struct search *search, struct cnnvp_plan_run *run)
{
    const struct cnnvp_tiling *tiling = &search->tilings[run->first + run->count - 1];
    struct cnnvp_plan_group group;
    struct cnnvp_error said;
    double best = INFINITY;
    run->tile_h = run->tile_w = 1;
    if (cnnvp_group_make(search->graph, search->build, run, &group, &said) != CNNVP_DONE)
        return best;
    const struct cnnvp_tensor *out = &group.members[group.count - 1].layer.out;
    const struct edges heights = edges_of(out->height, tiling->rows, out->height);
    const struct edges widths = edges_of(out->width, tiling->cols, 8);
    for (size_t i = 0; i < widths.count; ++i) {
        group.tile_w = widths.values[i];
        for (enum cnnvp_group_halo halo = CNNVP_HALO_RECOMPUTE; halo <= CNNVP_HALO_FULL; ++halo) {
            /* For tiles as wide as the map CNNVP_HALO_FULL is the same as CNNVP_HALO_ROW. */
            if (!is_wanted(search, halo) || (halo == CNNVP_HALO_FULL && i == 0 && search->options->halo == 0))
                continue;
            group.halo = halo;
            try_heights(search, &heights, &group, run, &best);
        }
    }
    cnnvp_plan_group_clear(&group);
    return best;
}

/* ---- runs ---- */

/* 1: a map that the run makes, other than its output, is also made or read outside the run. */
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

static void offer(struct search *search, size_t end, double cost, const struct cnnvp_plan_run *run)
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
    offer(search, first + 1, search->best[first] + cost_of(search, &alone->taken), &run);
    for (size_t end = first + 1; end <= graph->layer_count && end - first <= LONGEST &&
                                 cnnvp_group_why_not(graph, end - 1) == NULL && misses < MISSES;
         ++end) {
        run = (struct cnnvp_plan_run){.first = first, .count = end - first};
        if (run.count < 2 || is_torn(search, first, end))
            continue;
        const double cost = try_tiles(search, &run);
        misses = isinf(cost) ? misses + 1u : 0;
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

/* The cost of a ps, a pJ and a byte. Traffic also counts a little of the time. */
static struct cnnvp_plan_taken each_of(const struct search *search)
{
    switch (search->target->limits.objective) {
    case CNNVP_OBJECTIVE_TIME:
        return (struct cnnvp_plan_taken){.ps = 1};
    case CNNVP_OBJECTIVE_ENERGY:
        return (struct cnnvp_plan_taken){.pj = 1};
    case CNNVP_OBJECTIVE_EDP:
        return (struct cnnvp_plan_taken){.ps = search->build->power, .pj = 1};
    default:
        return (struct cnnvp_plan_taken){.ps = cnnvp_plan_bytes_a_ps(search->query), .bytes = 1};
    }
}

static cnnvp_result prepare(struct search *search, struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = search->graph;
    const size_t layers = graph->layer_count;
    search->uses = cnnvp_arena_array(&search->arena, graph->tensor_count, sizeof *search->uses);
    search->tilings = cnnvp_arena_array(&search->arena, layers, sizeof *search->tilings);
    search->best = cnnvp_arena_array(&search->arena, layers + 1, sizeof *search->best);
    search->taken = cnnvp_arena_array(&search->arena, layers + 1, sizeof *search->taken);
    search->query = cnnvp_cost_query_new(&search->build->layers[0], graph->layers[0].name, &search->target->limits);
    CNNVP_TRY_MEMORY(!search->arena.failed && search->query != NULL, error);
    note_uses(search);
    for (size_t i = 0; i <= layers; ++i)
        search->best[i] = i == 0 ? 0 : INFINITY;
    search->each = each_of(search);
    for (size_t i = 0; i < layers; ++i)
        CNNVP_TRY(cnnvp_plan_tiling(
            &search->build->layers[i], graph->layers[i].name, &search->target->limits, &search->tilings[i], error));
    return CNNVP_DONE;
}

/* Takes the runs of the solution with the least cost, in the layers' order. Runs whose actual cuts do not fit are left
 * out. */
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

static void clear(struct search *search)
{
    cnnvp_arena_free(&search->arena);
    cnnvp_cost_query_free(search->query);
}

cnnvp_result cnnvp_fused_search(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                const struct cnnvp_binary_options *options, struct cnnvp_build *build,
                                struct cnnvp_plan *plan, struct cnnvp_error *error)
{
    CNNVP_SCOPED(clear) struct search search = {.graph = graph, .target = target, .build = build, .options = options};
    CNNVP_TRY(prepare(&search, error));
    for (size_t i = 0; i < graph->layer_count; ++i)
        search_from(&search, i);
    CNNVP_TRY(cnnvp_cost_query_result(search.query, error));
    return take_runs(&search, plan, error);
}
