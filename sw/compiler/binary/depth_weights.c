/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses which weights of a chain stay in the weight buffer while it runs, and how they are sliced (Part B 4-15). If
 * all weights fit, all stay. Otherwise each half is divided. The lower part takes slices that are loaded for each
 * block, the two halves in turn. In the upper part stay the slices that would be loaded most often.
 *
 * The largest slices are not the fastest, since a layer waits for its first one; small slices cost the core more
 * instructions. So the chain's time is estimated for slices of each power of two, which makes a larger buffer only add
 * choices, from the bounds that the planner of layers has for one block. The estimates also decide whether the
 * scheduler unit issues the chain's instructions, for which all weights have to be on chip before the first block.
 */
#include "binary_internal.h"
#include "cnnvp_integer.h"
#include "plan.h"

#include <math.h>
#include <stdlib.h>

#define SMALLEST_SLICE 64u

/* Core cycles for one block of a layer, by which the guest software takes longer than for a step of a layer, as
 * measured. They are fewer if the guest repeats the instructions of the block before (guest/depth_convolution.c). */
#define BLOCK_CORE 2000u
#define AGAIN_CORE 800u

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

/* A layer of a chain, sliced one way. */
struct sliced {
    struct cnnvp_layer layer;
    struct cnnvp_plan_finalist all;  /* one block whose weights are all loaded */
    struct cnnvp_plan_finalist none; /* one block whose weights stay */
    uint64_t slices;
    double loaded; /* the part of its weights that does not stay */
};

/* The chain in work. */
struct slicing {
    const struct cnnvp_depth_row *row;
    const struct cnnvp_plan_limits *limits;
    struct cnnvp_plan_group *chain;
    struct sliced *sliced; /* of each member */
    struct pieces pieces;
    struct cnnvp_error *error;
};

/* Prices one block of a member, by the planner of layers, with its weights loaded or on chip already. */
static cnnvp_result price_block(const struct slicing *slicing, size_t number, int stay, struct cnnvp_plan_finalist *way)
{
    const struct cnnvp_plan_group *chain = slicing->chain;
    const struct sliced *sliced = &slicing->sliced[number];
    struct cnnvp_plan_limits limits = *slicing->limits;
    struct cnnvp_layer block = sliced->layer;
    block.in.on_chip = number != 0 ? CNNVP_PLACE_SLOT : CNNVP_PLACE_MEMORY;
    block.out.on_chip = chain->levels[number + 1].on_chip ? CNNVP_PLACE_SLOT : CNNVP_PLACE_MEMORY;
    limits.weights_stay = stay;
    const cnnvp_result result =
        cnnvp_plan_again(&block, slicing->row->graph->layers[chain->members[number].source].name, &limits,
                         cnnvp_plan_cut_of(&block), way, slicing->error);
    return result == CNNVP_FAILED ? CNNVP_BAD_INPUT : result;
}

/* Cuts all layers into slices of at most `limit` bytes. Returns 0 if that would divide a layer's input channels more
 * than slices of a whole half do. */
static int cut_weights(struct slicing *slicing, uint64_t limit, cnnvp_result *result)
{
    const struct cnnvp_plan_limits *limits = slicing->limits;
    slicing->pieces.count = 0;
    for (size_t i = 0; i < slicing->chain->count && *result == CNNVP_DONE; ++i) {
        struct sliced *sliced = &slicing->sliced[i];
        struct cnnvp_layer whole = slicing->chain->members[i].layer;
        const size_t before = slicing->pieces.count;
        sliced->layer = whole;
        if (!cnnvp_depth_choose_tiles(limits, limits->weight_bytes, &whole) ||
            !cnnvp_depth_choose_tiles(limits, limit, &sliced->layer) || sliced->layer.tile_in != whole.tile_in)
            return 0;
        *result = add_pieces(&slicing->pieces, &sliced->layer, &slicing->chain->levels[i], i, NULL, slicing->error);
        sliced->slices = slicing->pieces.count - before;
        if (*result == CNNVP_DONE)
            *result = price_block(slicing, i, 0, &sliced->all);
        if (*result == CNNVP_DONE)
            *result = price_block(slicing, i, 1, &sliced->none);
    }
    return *result == CNNVP_DONE;
}

/* Finds how much of each layer's weights is loaded for each block. */
static void sum_loads(struct slicing *slicing)
{
    for (size_t i = 0; i < slicing->chain->count; ++i) {
        struct sliced *sliced = &slicing->sliced[i];
        double bytes = 0, loaded = 0;
        for (size_t k = 0; k < slicing->pieces.count; ++k) {
            const struct cnnvp_piece *piece = &slicing->pieces.all[k];
            bytes += piece->member == i ? (double)piece->bytes : 0;
            loaded += piece->member == i && !piece->stays ? (double)piece->bytes : 0;
        }
        sliced->loaded = bytes > 0 ? loaded / bytes : 0;
    }
}

/* Time of one block: the planner's bound of the units, or the core's time for its work and so many cycles more. */
static double block_ps(const struct slicing *slicing, const struct cnnvp_plan_finalist *way, uint32_t cycles)
{
    const uint64_t core = way->core + (uint64_t)cycles * slicing->limits->core_ps;
    const uint64_t part = core / CORE_PART;
    return (double)(cnnvp_maximum(way->units, core) + part);
}

/* Estimated time of the chain for one image if the guest issues its instructions. */
static double chain_ps(struct slicing *slicing)
{
    double ps = 0;
    for (size_t i = 0; i < slicing->chain->count; ++i) {
        const struct sliced *sliced = &slicing->sliced[i];
        const int again = i < CNNVP_CHAIN_SETS && sliced->slices <= 1 && !(sliced->loaded > 0);
        const double all = block_ps(slicing, &sliced->all, BLOCK_CORE);
        const double none = block_ps(slicing, &sliced->none, again ? AGAIN_CORE : BLOCK_CORE);
        ps += all + ((double)visits_of(&slicing->chain->levels[i]) - 1) *
                        (sliced->loaded * all + (1 - sliced->loaded) * none);
    }
    return ps;
}

/* Estimated time of the chain for one image if all weights stay and the scheduler unit issues its instructions. All
 * weights are loaded and the scheduler's table is written before the first block; then the core has nothing to do. */
static double scheduled_ps(const struct slicing *slicing)
{
    const uint32_t images = slicing->row->build->groups->count > 1u ? 1u : IMAGES;
    double ps = 0;
    for (size_t i = 0; i < slicing->chain->count; ++i) {
        const struct sliced *sliced = &slicing->sliced[i];
        ps += fmax((double)(sliced->all.memory - sliced->none.memory), (double)sliced->all.core) +
              (double)TABLE_CORE * slicing->limits->core_ps / images +
              (double)visits_of(&slicing->chain->levels[i]) * (double)sliced->none.units;
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
    double least = INFINITY;
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
        sum_loads(slicing);
        const double guest_ps = chain_ps(slicing);
        const double unit_ps = cannot == NULL && issue != CNNVP_ISSUE_GUEST ? scheduled_ps(slicing) : INFINITY;
        const int by_unit = unit_ps <= guest_ps || (issue == CNNVP_ISSUE_SCHEDULER && unit_ps < INFINITY);
        const double ps = by_unit ? unit_ps : guest_ps;
        /* The issuer that the user asked for takes precedence over a faster one. */
        if (issue == CNNVP_ISSUE_SCHEDULER && by_unit && !entry->scheduled)
            least = INFINITY;
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
        .error = error};
    uint64_t best;
    CNNVP_TRY_MEMORY(slicing.sliced != NULL, error);
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
