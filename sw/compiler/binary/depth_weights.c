/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses which weights of a chain stay in the weight buffer while it runs, and how they are sliced (Part B 4-15). If
 * all weights fit, all stay. Otherwise each half is divided. The lower part takes slices that are loaded for each
 * block, the two halves in turn. In the upper part stay the slices that would be loaded most often.
 *
 * The largest slices are not the fastest, since a layer waits for its first one; small slices cost the core more
 * instructions. So the chain's time is estimated for slices of each power of two, which makes a larger buffer only add
 * choices. The estimates also decide whether the scheduler unit issues the chain's instructions, for which all weights
 * have to be on chip before the first block.
 */
#include "binary_internal.h"
#include "cnnvp_integer.h"
#include "plan.h"

#include <stdlib.h>

#define SMALLEST_SLICE 64u

/* Measured core cycles for one block of a layer, without its slices but with the block's load and store. They are fewer
 * if the guest repeats the instructions of the block before (guest/depth_convolution.c). */
#define BLOCK_CORE 2600u
#define AGAIN_CORE 1400u

/* Measured core cycles to write the scheduler's table of a layer. A network with one chain writes the table once for
 * all images; the estimate divides the cycles among this many. */
#define TABLE_CORE 35000u
#define IMAGES 2u

/* 1 / CORE_PART of the core's work is added to the time of a block. */
#define CORE_PART 64u

/* Slices of weights. */
struct pieces {
    struct cnnvp_piece *all;
    size_t count;
};

static uint64_t visits_of(const struct cnnvp_binary_level *level)
{
    return UINT64_C(1) << (level->bits_x + level->bits_y);
}

/* Adds the weight tiles of a layer, which is number `index` of the chain and reads the level. `weight_tiles` NULL:
 * tiles are tried. */
static cnnvp_result add_pieces(struct pieces *pieces, const struct cnnvp_layer *layer,
                               const struct cnnvp_binary_level *level, size_t index,
                               struct cnnvp_weight_tile *weight_tiles, struct cnnvp_error *error)
{
    for (uint32_t b = 0; b < cnnvp_plan_weight_tile_count(layer); ++b) {
        struct cnnvp_piece *all = cnnvp_grow(pieces->all, pieces->count, sizeof *all);
        CNNVP_TRY_MEMORY(all != NULL, error);
        pieces->all = all;
        pieces->all[pieces->count] = (struct cnnvp_piece){
            .bytes = cnnvp_plan_weight_tile_bytes(layer, b),
            .visits = visits_of(level),
            .number = pieces->count,
            .member = index,
            .first_half = pieces->count % CNNVP_SCRATCHPAD_HALVES,
            .weight_tile = weight_tiles != NULL ? &weight_tiles[b] : NULL};
        ++pieces->count;
    }
    return CNNVP_DONE;
}

/* Places pieces above address `from`, in alternate halves if there is room, so that one can be loaded while the one
 * before is in use. Returns 1 if all have a place. */
static int place(const struct cnnvp_plan_limits *limits, const struct pieces *pieces, uint64_t from)
{
    struct cnnvp_scratchpad buffer = cnnvp_binary_weight_buffer(limits, from);
    return cnnvp_binary_keep(&buffer, pieces->all, pieces->count) == 0;
}

/* Loads of a layer's weights for one block: number, total time and the longest one. Only the calculation of the layer
 * before can hide the longest one. */
struct loads {
    uint64_t count, ps, longest_ps;
};

/* A layer of a chain, sliced one way. */
struct sliced {
    struct cnnvp_layer layer;
    struct loads first; /* for its first block */
    struct loads next;  /* for each further block */
    uint64_t compute_ps;
};

/* The chain in work. */
struct slicing {
    const struct cnnvp_depth_row *row;
    const struct cnnvp_plan_limits *limits;
    struct cnnvp_plan_group *chain;
    struct sliced *sliced; /* of each member */
    struct pieces pieces;
    struct cnnvp_cost_query *query; /* for loads of weights */
    struct cnnvp_error *error;
};

/* Cuts all layers into slices of at most `limit` bytes. Returns 0 if that would divide a layer's input channels more
 * than slices of a whole half do. */
static int cut_weights(struct slicing *slicing, uint64_t limit, cnnvp_result *result)
{
    const struct cnnvp_plan_limits *limits = slicing->limits;
    slicing->pieces.count = 0;
    for (size_t i = 0; i < slicing->chain->count && *result == CNNVP_DONE; ++i) {
        const struct cnnvp_plan_member *member = &slicing->chain->members[i];
        struct cnnvp_layer whole = member->layer;
        struct cnnvp_layer *layer = &slicing->sliced[i].layer;
        *layer = whole;
        if (!cnnvp_depth_choose_tiles(limits, limits->weight_bytes, &whole) ||
            !cnnvp_depth_choose_tiles(limits, limit, layer) || layer->tile_in != whole.tile_in)
            return 0;
        *result = add_pieces(&slicing->pieces, layer, &slicing->chain->levels[i], i, NULL, slicing->error);
        if (*result == CNNVP_DONE)
            *result = cnnvp_plan_compute(layer, slicing->row->graph->layers[member->source].name, limits,
                                         &slicing->sliced[i].compute_ps, slicing->error);
    }
    return *result == CNNVP_DONE;
}

static void add_load(struct loads *loads, uint64_t ps)
{
    ++loads->count;
    loads->ps += ps;
    loads->longest_ps = cnnvp_maximum(loads->longest_ps, ps);
}

static void sum_loads(struct slicing *slicing)
{
    for (size_t i = 0; i < slicing->chain->count; ++i)
        slicing->sliced[i].first = slicing->sliced[i].next = (struct loads){0};
    for (size_t i = 0; i < slicing->pieces.count; ++i) {
        const struct cnnvp_piece *piece = &slicing->pieces.all[i];
        const uint64_t ps = cnnvp_plan_move_line(slicing->query, piece->bytes).ps;
        add_load(&slicing->sliced[piece->member].first, ps);
        if (!piece->stays)
            add_load(&slicing->sliced[piece->member].next, ps);
    }
}

/* Time of a layer for one block, plus a part of the core's work. `before`: time that the layer before calculates. */
static uint64_t block_ps(const struct cnnvp_plan_limits *limits, uint64_t compute, const struct loads *loads,
                         uint64_t slices, uint64_t block_core, uint64_t before)
{
    const uint64_t core =
        (slices * CNNVP_PLAN_COMMAND_CYCLES + loads->count * CNNVP_PLAN_LOAD_CYCLES + block_core) * limits->core_ps;
    const uint64_t waits = loads->longest_ps - cnnvp_minimum(loads->longest_ps, before);
    return cnnvp_maximum(cnnvp_maximum(compute, loads->ps) + waits, core) + core / CORE_PART;
}

/* Estimated time of the chain for one image if the guest issues its instructions. */
static uint64_t chain_ps(struct slicing *slicing)
{
    const struct cnnvp_plan_limits *limits = slicing->limits;
    uint64_t ps = 0, before = 0;
    sum_loads(slicing);
    for (size_t i = 0; i < slicing->chain->count; ++i) {
        const struct sliced *sliced = &slicing->sliced[i];
        const uint64_t compute = sliced->compute_ps;
        const uint64_t slices = cnnvp_maximum(sliced->first.count, 1);
        const int again = i < CNNVP_CHAIN_SETS && slices == 1 && sliced->next.count == 0;
        ps += block_ps(limits, compute, &sliced->first, slices, BLOCK_CORE, before) +
              (visits_of(&slicing->chain->levels[i]) - 1u) *
                  block_ps(limits, compute, &sliced->next, slices, again ? AGAIN_CORE : BLOCK_CORE, before);
        before = compute;
    }
    return ps;
}

/* Estimated time of the chain for one image if all weights stay and the scheduler unit issues its instructions. All
 * weights are loaded and the scheduler's table is written before the first block; then the core has nothing to do. */
static uint64_t scheduled_ps(const struct slicing *slicing)
{
    const uint32_t images = slicing->row->build->groups->count > 1u ? 1u : IMAGES;
    const struct cnnvp_plan_limits *limits = slicing->limits;
    uint64_t ps = 0;
    for (size_t i = 0; i < slicing->chain->count; ++i) {
        const struct sliced *sliced = &slicing->sliced[i];
        const uint64_t slices = cnnvp_maximum(sliced->first.count, 1);
        const uint64_t core = slices * CNNVP_PLAN_COMMAND_CYCLES + sliced->first.count * CNNVP_PLAN_LOAD_CYCLES;
        ps +=
            cnnvp_maximum(sliced->first.ps, core * limits->core_ps) + TABLE_CORE * (uint64_t)limits->core_ps / images +
            visits_of(&slicing->chain->levels[i]) * sliced->compute_ps;
    }
    return ps;
}

static int some_stay(const struct pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; ++i)
        if (pieces->all[i].stays)
            return 1;
    return 0;
}

/* Why the scheduler unit cannot issue the chain; NULL: it can. Loads of weights during the chain depend on what the
 * buffer holds, so only software issues them. */
static const char *scheduler_cannot(const struct cnnvp_depth_row *row, int all)
{
    if (row->target->accelerators[0].scheduler == 0)
        return "the platform has no scheduler with an interrupt line";
    if (row->options->order != NULL)
        return "the order of its blocks comes from a table";
    return all ? NULL : "not all its weights stay on chip, and the scheduler loads none";
}

/* Chooses the fastest size of slices, *best, who issues the chain, and what stays with these slices. */
static cnnvp_result choose_slices(struct slicing *slicing, struct cnnvp_binary_group *entry, uint64_t *best)
{
    const struct cnnvp_depth_row *row = slicing->row;
    const struct cnnvp_plan_limits *limits = slicing->limits;
    struct cnnvp_plan_group *chain = slicing->chain;
    const enum cnnvp_issue issue = row->options->issue;
    uint64_t least = UINT64_MAX;
    cnnvp_result result = CNNVP_DONE;
    *best = limits->weight_bytes;
    for (uint64_t limit = SMALLEST_SLICE; limit < 2u * cnnvp_maximum(limits->weight_bytes, SMALLEST_SLICE);
         limit *= 2u) {
        const uint64_t slice = cnnvp_minimum(limit, limits->weight_bytes);
        if (!cut_weights(slicing, slice, &result)) {
            CNNVP_TRY(result);
            continue;
        }
        const int all = place(limits, &slicing->pieces, 0);
        if (!all)
            (void)place(limits, &slicing->pieces, slice);
        const char *cannot = scheduler_cannot(row, all);
        const uint64_t guest_ps = chain_ps(slicing);
        const uint64_t unit_ps = cannot == NULL && issue != CNNVP_ISSUE_GUEST ? scheduled_ps(slicing) : UINT64_MAX;
        const int by_unit = unit_ps <= guest_ps || (issue == CNNVP_ISSUE_SCHEDULER && unit_ps != UINT64_MAX);
        const uint64_t ps = by_unit ? unit_ps : guest_ps;
        /* The issuer that the user asked for takes precedence over a faster one. */
        if (issue == CNNVP_ISSUE_SCHEDULER && by_unit && !entry->scheduled)
            least = UINT64_MAX;
        if (ps >= least || (issue == CNNVP_ISSUE_SCHEDULER && entry->scheduled && !by_unit))
            continue;
        least = ps;
        *best = slice;
        chain->stream = all ? 0 : slice;
        entry->resident = (uint32_t)some_stay(&slicing->pieces);
        entry->scheduled = !by_unit ? 0 : issue == CNNVP_ISSUE_SCHEDULER ? 2u : 1u;
        chain->issue_reason = issue != CNNVP_ISSUE_FASTER && (by_unit || issue == CNNVP_ISSUE_GUEST) ? "as asked"
                              : cannot != NULL                                                       ? cannot
                                               : "the faster one by the plan's estimate";
    }
    if (issue == CNNVP_ISSUE_SCHEDULER && !entry->scheduled)
        return cnnvp_compiler_error(slicing->error, "--issue scheduler: layer \"%s\" and those after it: %s",
                                    row->graph->layers[chain->first].name, chain->issue_reason);
    return CNNVP_DONE;
}

static void clear(struct slicing *slicing)
{
    free(slicing->pieces.all);
    free(slicing->sliced);
    cnnvp_cost_query_free(slicing->query);
}

cnnvp_result cnnvp_depth_choose_weights(const struct cnnvp_depth_row *row, size_t number, struct cnnvp_error *error)
{
    struct cnnvp_groups *groups = row->build->groups;
    struct cnnvp_plan_group *chain = &groups->plans[number];
    const struct cnnvp_plan_limits *limits = &row->target->limits;
    CNNVP_SCOPED(clear)
    struct slicing slicing = {
        .row = row,
        .limits = limits,
        .chain = chain,
        .sliced = calloc(chain->count, sizeof *slicing.sliced),
        .query = cnnvp_cost_query_new(&row->build->layers[chain->first], row->graph->layers[chain->first].name, limits),
        .error = error};
    uint64_t best;
    CNNVP_TRY_MEMORY(slicing.sliced != NULL && slicing.query != NULL, error);
    CNNVP_TRY(choose_slices(&slicing, &groups->table[number], &best));
    for (size_t i = 0; i < chain->count; ++i) {
        struct cnnvp_layer *chosen = &chain->members[i].layer;
        (void)cnnvp_depth_choose_tiles(limits, best, chosen);
        cnnvp_plan_cut_layer(&row->build->layers[chain->members[i].source], cnnvp_plan_cut_of(chosen));
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_depth_place_weights(const struct cnnvp_target *target, struct cnnvp_build *build, size_t number,
                                       struct cnnvp_error *error)
{
    const struct cnnvp_plan_group *chain = &build->groups->plans[number];
    struct pieces pieces = {0};
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < chain->count && result == CNNVP_DONE; ++i) {
        const struct cnnvp_layer *layer = &build->layers[chain->members[i].source];
        result =
            add_pieces(&pieces, layer, &chain->levels[i], i, &build->weight_tiles.all[layer->first_weight_tile], error);
    }
    if (result == CNNVP_DONE && build->groups->table[number].resident != 0)
        (void)place(&target->limits, &pieces, chain->stream);
    free(pieces.all);
    return result;
}
