/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates the buffers for data that stay on chip. A tensor that stays whole lies in a half of the input buffer, from
 * the layer that makes it to the last one that reads it. Places are allocated from the top down; the rest serves tiles.
 * Both operands of an addition lie in the same half. With --on-chip all tensors stay except the network's outputs,
 * which leave through the output buffer, and all weight tiles stay in the weight buffer for the whole run.
 */
#include <stdlib.h>

#include "binary_internal.h"
#include "cnnvp_integer.h"
#include "plan.h"

/* ---- weight buffer ---- */

struct cnnvp_scratchpad cnnvp_binary_weight_buffer(const struct cnnvp_plan_limits *limits, uint64_t taken)
{
    return (struct cnnvp_scratchpad){
        .halves = limits->weight_halves, .room = {limits->weight_bytes, limits->weight_bytes}, .taken = {taken, taken}};
}

/* Those that would be loaded most often come first, then the largest. */
static int by_loads(const void *a, const void *b)
{
    const struct cnnvp_piece *x = a;
    const struct cnnvp_piece *y = b;
    if (x->visits != y->visits)
        return x->visits < y->visits ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

uint64_t cnnvp_binary_keep(struct cnnvp_scratchpad *buffer, struct cnnvp_piece *pieces, size_t count)
{
    uint64_t missing = 0, lack = UINT64_MAX;
    if (count != 0)
        qsort(pieces, count, sizeof *pieces, by_loads);
    for (size_t i = 0; i < count; ++i) {
        struct cnnvp_place place = {.bytes = pieces[i].bytes, .end = CNNVP_FOR_EVER};
        struct cnnvp_weight_tile *weight_tile = pieces[i].weight_tile;
        pieces[i].stays = cnnvp_scratchpad_put(buffer, pieces[i].first_half, CNNVP_SCRATCHPAD_ANY, &place, &lack);
        missing += pieces[i].stays ? 0 : cnnvp_binary_align(pieces[i].bytes);
        buffer->taken[place.half] = cnnvp_binary_align(buffer->taken[place.half]);
        if (weight_tile == NULL)
            continue;
        weight_tile->stays = CNNVP_WEIGHT_TILE_PASSES;
        if (pieces[i].stays) {
            weight_tile->stays = CNNVP_WEIGHT_TILE_STAYS;
            weight_tile->chip_half = place.half;
            weight_tile->chip_address = (uint32_t)place.address;
        }
    }
    return missing;
}

void cnnvp_binary_list_pieces(struct cnnvp_weight_tile *weight_tiles, size_t count, struct cnnvp_piece *pieces)
{
    for (size_t i = 0; i < count; ++i)
        pieces[i] = (struct cnnvp_piece){
            .bytes = weight_tiles[i].bytes,
            .visits = weight_tiles[i].stays,
            .number = i,
            .weight_tile = &weight_tiles[i]};
}

static cnnvp_result keep_all(const struct cnnvp_plan_limits *limits, struct cnnvp_weight_tiles *all,
                             struct cnnvp_error *error)
{
    struct cnnvp_scratchpad buffer = cnnvp_binary_weight_buffer(limits, 0);
    CNNVP_FREED struct cnnvp_piece *pieces = calloc(all->count + 1u, sizeof *pieces);
    CNNVP_TRY_MEMORY(pieces != NULL, error);
    cnnvp_binary_list_pieces(all->all, all->count, pieces);
    const uint64_t missing = cnnvp_binary_keep(&buffer, pieces, all->count);
    if (missing == 0)
        return CNNVP_DONE;
    const struct cnnvp_plan_size size = cnnvp_plan_size(
        limits, CNNVP_PLAN_WEIGHTS, limits->weight_bytes + cnnvp_divide_up(missing, limits->weight_halves));
    return cnnvp_compiler_error(error,
                                "the network does not fit on chip: the weight buffer lacks %llu bytes for all "
                                "weights; use -s %s.size=%llu or run it from memory",
                                (unsigned long long)missing, size.instance, (unsigned long long)size.bytes);
}

/* ---- input buffer ---- */

struct lives {
    const struct cnnvp_graph *graph;
    const struct cnnvp_plan_limits *limits;
    const struct cnnvp_plan *plan; /* NULL: all tensors stay */
    struct cnnvp_residents *of;
};

static struct cnnvp_life *life_of(const struct cnnvp_residents *residents, int32_t base)
{
    for (size_t i = 0; i < residents->count; ++i)
        if (residents->all[i].tensor == base)
            return &residents->all[i];
    return NULL;
}

/* A group runs tile by tile, so tensors that its layers make or read live from its first layer to its last one. One
 * that it both makes and reads has no other place than the group's slot. */
static cnnvp_result widen(const struct lives *lives, struct cnnvp_life *life, struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = lives->graph;
    const int is_made = cnnvp_graph_base(graph, graph->layers[life->first].out) == life->tensor;
    life->place.begin = life->first;
    life->place.end = life->last;
    for (size_t i = 0; lives->plan != NULL && i < lives->plan->run_count; ++i) {
        const struct cnnvp_plan_run *run = &lives->plan->runs[i];
        const size_t last = run->first + run->count - 1;
        if (run->first <= life->first && life->first <= last) {
            if (is_made && cnnvp_graph_base(graph, graph->layers[last].out) != life->tensor)
                return cnnvp_config_error(
                    error, lives->plan->on_chip_places[life->tensor],
                    "tensor \"%s\" is made and read within a group, tile by tile: leave it out, or end "
                    "the group with the layer that makes it",
                    graph->tensors[life->tensor].name);
            life->place.begin = run->first;
        }
        if (run->first <= life->last && life->last <= last)
            life->place.end = last;
    }
    return CNNVP_DONE;
}

/* Finds the lives of all tensors that stay, in the order in which the tensors are made. */
static cnnvp_result find_lives(const struct lives *lives, const struct cnnvp_build *build, struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = lives->graph;
    const int32_t input = cnnvp_graph_base(graph, graph->input);
    for (size_t i = 0; i <= graph->layer_count; ++i) {
        const int32_t made = i == 0 ? input : cnnvp_graph_base(graph, graph->layers[i - 1].out);
        if (cnnvp_graph_is_output(graph, made) || life_of(lives->of, made) != NULL ||
            (lives->plan != NULL && !lives->plan->on_chip[made]))
            continue;
        struct cnnvp_life *life = &lives->of->all[lives->of->count++];
        *life = (struct cnnvp_life){.tensor = made, .first = i == 0 ? 0 : i - 1};
        life->place.bytes = cnnvp_binary_align(cnnvp_binary_frame_bytes(&build->tensors[made]));
        for (size_t reader = 0; reader < graph->layer_count; ++reader)
            if (cnnvp_graph_reads(graph, &graph->layers[reader], made))
                life->last = reader;
        CNNVP_TRY(widen(lives, life, error));
    }
    return CNNVP_DONE;
}

/* Finds the tensors that have to lie in one half: both operands of each addition. A tensor that is added to two others
 * ties these, too. */
static void tie_operands(const struct lives *lives)
{
    struct cnnvp_residents *of = lives->of;
    for (size_t i = 0; i < of->count; ++i)
        of->all[i].tied = i;
    for (size_t i = 0; i < lives->graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &lives->graph->layers[i];
        if (layer->op != CNNVP_OP_ADD)
            continue;
        const struct cnnvp_life *a = life_of(of, cnnvp_graph_base(lives->graph, layer->in));
        const struct cnnvp_life *b = life_of(of, cnnvp_graph_base(lives->graph, layer->in2));
        if (a == NULL || b == NULL)
            continue;
        const size_t from = a->tied, to = b->tied;
        for (size_t k = 0; k < of->count; ++k)
            of->all[k].tied = of->all[k].tied == from ? to : of->all[k].tied;
    }
}

/* The half in which the tensor has to lie: that of a tensor that is tied to it and has a place. */
static uint32_t forced_half(const struct lives *lives, const struct cnnvp_life *life)
{
    for (const struct cnnvp_life *other = lives->of->all; other < life; ++other)
        if (other->tied == life->tied)
            return other->place.half;
    return CNNVP_SCRATCHPAD_ANY;
}

/* The half from which the layer that makes the tensor reads. The tensor should lie in the other half. */
static uint32_t source_half(const struct lives *lives, const struct cnnvp_life *life)
{
    const struct cnnvp_graph_layer *maker = &lives->graph->layers[life->first];
    if (cnnvp_graph_base(lives->graph, maker->out) != life->tensor)
        return 1; /* the network's input goes to half 0 */
    const struct cnnvp_life *source = life_of(lives->of, cnnvp_graph_base(lives->graph, maker->in));
    return source != NULL ? source->place.half : 1;
}

static cnnvp_result no_room(const struct lives *lives, const struct cnnvp_life *life, uint64_t lack,
                            struct cnnvp_error *error)
{
    const char *name = lives->graph->tensors[life->tensor].name;
    const struct cnnvp_plan_size size = cnnvp_plan_size(lives->limits, CNNVP_PLAN_INPUT, lives->of->pad.room[0] + lack);
    if (lives->plan != NULL)
        return cnnvp_config_error(error, lives->plan->on_chip_places[life->tensor],
                                  "tensor \"%s\" does not fit on chip: a half of the input buffer lacks %llu bytes "
                                  "beside what else stays there; leave it out, or use -s %s.size=%llu",
                                  name, (unsigned long long)lack, size.instance, (unsigned long long)size.bytes);
    return cnnvp_compiler_error(error,
                                "the network does not fit on chip: a half of the input buffer lacks %llu bytes for "
                                "tensor \"%s\"; use -s %s.size=%llu or run it from memory",
                                (unsigned long long)lack, name, size.instance, (unsigned long long)size.bytes);
}

cnnvp_result cnnvp_binary_place_residents(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                          const struct cnnvp_plan *plan, struct cnnvp_build *build,
                                          struct cnnvp_error *error)
{
    const uint64_t room = target->limits.input_bytes / CNNVP_BINARY_ALIGNMENT * CNNVP_BINARY_ALIGNMENT;
    struct lives lives = {graph, &target->limits, plan, cnnvp_arena_array(&build->arena, 1, sizeof *lives.of)};
    build->residents = lives.of;
    if (lives.of != NULL)
        lives.of->all = cnnvp_arena_array(&build->arena, graph->layer_count + 1, sizeof *lives.of->all);
    CNNVP_TRY_MEMORY(lives.of != NULL && lives.of->all != NULL, error);
    struct cnnvp_scratchpad *pad = &lives.of->pad;
    *pad = (struct cnnvp_scratchpad){.halves = target->limits.input_halves, .room = {room, room}, .from_top = 1};
    CNNVP_TRY(find_lives(&lives, build, error));
    tie_operands(&lives);
    for (size_t i = 0; i < lives.of->count; ++i) {
        struct cnnvp_life *life = &lives.of->all[i];
        uint64_t lack = UINT64_MAX;
        if (!cnnvp_scratchpad_put(pad, (source_half(&lives, life) + 1u) % pad->halves, forced_half(&lives, life),
                                  &life->place, &lack))
            return no_room(&lives, life, lack, error);
    }
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i) {
        const struct cnnvp_life *life = life_of(lives.of, cnnvp_graph_base(graph, i));
        if (life == NULL)
            continue;
        cnnvp_binary_put_on_chip(&build->tensors[i], CNNVP_PLACE_WHOLE, &life->place);
        build->tensors[i].chip_address += (uint32_t)cnnvp_binary_view_offset(graph, build, i);
    }
    return CNNVP_DONE;
}

uint64_t cnnvp_binary_chip_top(const struct cnnvp_target *target, const struct cnnvp_build *build, uint32_t half,
                               size_t first, size_t last)
{
    const uint64_t top = target->limits.input_bytes;
    return build->residents == NULL ? top : cnnvp_scratchpad_free_below(&build->residents->pad, half, first, last, top);
}

/* ---- output buffer ---- */

static cnnvp_result check_outputs(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                  const struct cnnvp_build *build, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_tiling tiling;
        if (graph->layers[i].product != 0)
            return cnnvp_compiler_error(error,
                                        "the network cannot stay on chip: layer \"%s\" multiplies two tensors, and "
                                        "takes one of them as weights, from memory; run it from memory",
                                        graph->layers[i].name);
        CNNVP_TRY(cnnvp_plan_tiling(&build->layers[i], graph->layers[i].name, &target->limits, &tiling, error));
        const uint64_t need = cnnvp_plan_use_of(&build->layers[i], tiling.result_bytes).output_bytes;
        const struct cnnvp_plan_size size = cnnvp_plan_size(&target->limits, CNNVP_PLAN_OUTPUT, need);
        if (need > target->limits.output_bytes)
            return cnnvp_compiler_error(
                error,
                "the network does not fit on chip: layer \"%s\" gives %llu bytes, a half of "
                "the output buffer holds %llu; use -s %s.size=%llu or run it from memory",
                graph->layers[i].name, (unsigned long long)need, (unsigned long long)target->limits.output_bytes,
                size.instance, (unsigned long long)size.bytes);
        if (i + 1 < graph->layer_count && cnnvp_graph_is_output(graph, graph->layers[i].out))
            return cnnvp_compiler_error(
                error, "the network cannot stay on chip: its output is not made by its last layer "
                       "alone; run it from memory");
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_binary_keep_weight_tiles(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                            struct cnnvp_build *build, struct cnnvp_error *error)
{
    CNNVP_TRY(check_outputs(graph, target, build, error));
    return keep_all(&target->limits, &build->weight_tiles, error);
}
