/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses how maps lie in memory: in planes, or in blocks of interleaved channels. With blocks a row of a narrow tile
 * is one long contiguous piece, so bursts load few unneeded bytes. The layout comes from the plan, or it is chosen: for
 * each map the blocks, at most as wide as a burst, with which the plans of the layers around the map have the best
 * score and move fewer bytes than with planes; otherwise planes.
 */
#include <math.h>
#include <string.h>

#include "binary_internal.h"
#include "cnnvp_integer.h"
#include "core_path.h"

#define SMALLEST_PART 8u /* blocks of at most 1 / SMALLEST_PART of the largest ones are not tried */
#define KNOWN 16u        /* plans kept for each layer on average */
#define SWEEPS 2         /* most sweeps over all maps */

/* Blocks that move more bytes have to be better by 1 / BYTES_PART. */
#define BYTES_PART 64.0

/* The core's share of a layer's critical path is rounded to this many steps, so that layers can share plans. */
#define PATH_STEPS 4.0
/* Layers are planned again if the core makes the network slower by more than 1 / CORE_PART. */
#define CORE_PART 64.0
/* A plan by the critical path alone has to be faster by 1 / PATH_PART, since bounds are rough. */
#define PATH_PART 32.0

/* ---- which layouts are possible ---- */

/* Why the layer needs the map in planes; NULL: it does not. */
static const char *planes_only(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, int32_t base)
{
    const int reads = cnnvp_graph_base(graph, layer->in) == base, makes = cnnvp_graph_base(graph, layer->out) == base;
    if (reads && layer->op == CNNVP_OP_FC)
        return "a fully connected layer reads it as one row";
    if ((reads || makes) && layer->permuted != 0)
        return "its dimensions change places";
    if ((reads && layer->cropped != 0) || (makes && layer->placed != 0))
        return "parts of its rows are copied";
    if (layer->product != 0 && cnnvp_graph_base(graph, layer->in2) == base)
        return "it is multiplied with another one, as weights";
    return NULL;
}

/* By base tensor: why the map has to lie in planes; NULL: it can lie in blocks of any number of channels that divides
 * `whole`. */
struct limits {
    const char **why;
    size_t *whole;
};

static void refuse(const struct limits *limits, const struct cnnvp_graph *graph, int32_t tensor, const char *why)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    if (base != CNNVP_GRAPH_NONE && limits->why[base] == NULL)
        limits->why[base] = why;
}

static cnnvp_result find_limits(const struct cnnvp_graph *graph, struct cnnvp_arena *arena, struct limits *limits,
                                struct cnnvp_error *error)
{
    static const char outside[] = "inputs and outputs of the network lie in planes";
    limits->why = cnnvp_arena_array(arena, graph->tensor_count, sizeof *limits->why);
    limits->whole = cnnvp_arena_array(arena, graph->tensor_count, sizeof *limits->whole);
    CNNVP_TRY_MEMORY(!arena->failed, error);
    for (size_t i = 0; i < cnnvp_graph_inputs(graph); ++i)
        refuse(limits, graph, cnnvp_graph_input(graph, i), outside);
    for (size_t i = 0; i < graph->output_count; ++i)
        refuse(limits, graph, graph->outputs[i].tensor, outside);
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const int32_t maps[] = {layer->in, layer->in2, layer->out};
        for (size_t k = 0; k < sizeof maps / sizeof maps[0]; ++k)
            refuse(limits, graph, maps[k], planes_only(graph, layer, cnnvp_graph_base(graph, maps[k])));
    }
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i) {
        const struct cnnvp_graph_tensor *view = &graph->tensors[i];
        const int32_t base = cnnvp_graph_base(graph, i);
        const struct cnnvp_graph_tensor *of = &graph->tensors[base];
        const size_t plane = (size_t)of->height * of->width, offset = cnnvp_graph_offset(graph, i);
        if ((size_t)view->height * view->width != plane || offset % plane != 0 || view->channel_step > 1)
            refuse(limits, graph, i, "it is also read as a map of another shape");
        else
            limits->whole[base] =
                cnnvp_common_divisor(cnnvp_common_divisor(limits->whole[base], view->channels), offset / plane);
    }
    return CNNVP_DONE;
}

/* Why the map cannot lie in blocks of so many channels; NULL: it can. */
static const char *why_not(const struct limits *limits, int32_t base, uint32_t channels)
{
    return limits->why[base] != NULL             ? limits->why[base]
           : limits->whole[base] % channels != 0 ? "its channels, or those of its parts, are no whole blocks"
                                                 : NULL;
}

/* The largest possible blocks of at most `most` channels; 1: only planes are possible. */
static uint32_t largest_blocks(const struct limits *limits, int32_t base, uint32_t most)
{
    uint32_t channels = limits->why[base] == NULL ? most : 1u;
    while (channels > 1 && limits->whole[base] % channels != 0)
        --channels;
    return cnnvp_maximum32(channels, 1u);
}

/* ---- setting layouts ---- */

static void lay_tensor(struct cnnvp_tensor *tensor, uint32_t channels)
{
    tensor->row_stride = tensor->row_stride / tensor->column_stride * channels;
    tensor->column_stride = channels;
}

void cnnvp_layout_set(const struct cnnvp_graph *graph, struct cnnvp_build *build, int32_t base, uint32_t channels)
{
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i)
        if (cnnvp_graph_base(graph, i) == base)
            lay_tensor(&build->tensors[i], channels);
}

cnnvp_result cnnvp_layout_take(const struct cnnvp_graph *graph, const struct cnnvp_plan *plan,
                               struct cnnvp_build *build, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_arena_free) struct cnnvp_arena arena = {0};
    struct limits limits;
    CNNVP_TRY(find_limits(graph, &arena, &limits, error));
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i) {
        const uint32_t channels = plan->blocks[i];
        if (channels <= 1)
            continue;
        const char *why =
            plan->on_chip[i] ? "it stays on chip, where maps lie in planes" : why_not(&limits, i, channels);
        if (why != NULL)
            return cnnvp_config_error(
                error, plan->block_places[i], "tensor \"%s\": blocks of %u channels cannot be: %s",
                graph->tensors[i].name, channels, why);
        cnnvp_layout_set(graph, build, i, channels);
    }
    return CNNVP_DONE;
}

/* ---- choosing layouts ---- */

struct known {
    struct cnnvp_layer layer;
    struct cnnvp_plan_weights weights;
    struct cnnvp_plan_finalists finalists;
};

struct choice {
    const struct cnnvp_graph *graph;
    struct limits possible;
    size_t *first, *touching; /* layers that make or read map i: touching[first[i]] to touching[first[i + 1] - 1] */
    struct cnnvp_build *build;
    struct cnnvp_error *error;
    struct cnnvp_plan_limits limits;
    struct cnnvp_plan_weights *weights; /* of each layer's price */
    uint32_t *blocks;                   /* current layout of each map: channels of a block */
    uint32_t *other;                    /* layouts found from the other start */
    struct known *known;                /* plans so far */
    size_t known_count;
    cnnvp_result result;
};

static int weigh_alike(const struct cnnvp_plan_weights *a, const struct cnnvp_plan_weights *b)
{
    return a->longer == b->longer && a->units == b->units && a->core == b->core;
}

/* The layer with the current layouts of its maps. */
static struct cnnvp_layer laid_out(const struct choice *choice, size_t index)
{
    const struct cnnvp_graph_layer *from = &choice->graph->layers[index];
    struct cnnvp_layer layer = choice->build->layers[index];
    lay_tensor(&layer.in, choice->blocks[cnnvp_graph_base(choice->graph, from->in)]);
    lay_tensor(&layer.out, choice->blocks[cnnvp_graph_base(choice->graph, from->out)]);
    if (from->in2 != CNNVP_GRAPH_NONE)
        lay_tensor(&layer.in2, choice->blocks[cnnvp_graph_base(choice->graph, from->in2)]);
    return layer;
}

/* The plan of such a layer; NULL: planning failed. */
static const struct known *plan_of(struct choice *choice, size_t index)
{
    const struct cnnvp_graph_layer *from = &choice->graph->layers[index];
    const struct cnnvp_layer layer = laid_out(choice, index);
    struct cnnvp_plan_use use;
    choice->limits.weights = choice->weights[index];
    for (size_t i = 0; i < choice->known_count; ++i)
        if (weigh_alike(&choice->known[i].weights, &choice->limits.weights) &&
            cnnvp_plan_are_alike(&choice->known[i].layer, &layer))
            return &choice->known[i];
    if (choice->known_count == KNOWN * choice->graph->layer_count)
        choice->known_count = 0; /* forget all plans */
    struct known *known = &choice->known[choice->known_count];
    known->layer = layer;
    known->weights = choice->limits.weights;
    if (choice->result == CNNVP_DONE)
        choice->result = cnnvp_plan_layer(&layer, from->name, &choice->limits, &known->finalists, &use, choice->error);
    choice->known_count += choice->result == CNNVP_DONE;
    return choice->result == CNNVP_DONE ? known : NULL;
}

/* The bases of the maps that a layer reads and makes, each once. Returns their number. */
static size_t maps_of(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, int32_t maps[3])
{
    const int32_t all[] = {layer->in, layer->in2, layer->out};
    size_t count = 0;
    for (size_t k = 0; k < 3; ++k) {
        const int32_t base = cnnvp_graph_base(graph, all[k]);
        size_t as = 0;
        while (as < count && maps[as] != base)
            ++as;
        if (base != CNNVP_GRAPH_NONE && as == count)
            maps[count++] = base;
    }
    return count;
}

/* Lists the layers of each map, in their order. */
static cnnvp_result find_touching(struct choice *choice, struct cnnvp_arena *arena)
{
    const struct cnnvp_graph *graph = choice->graph;
    int32_t maps[3];
    choice->first = cnnvp_arena_array(arena, graph->tensor_count + 1u, sizeof *choice->first);
    choice->touching = cnnvp_arena_array(arena, 3u * graph->layer_count, sizeof *choice->touching);
    CNNVP_TRY_MEMORY(!arena->failed, choice->error);
    for (size_t i = 0; i < graph->layer_count; ++i)
        for (size_t k = maps_of(graph, &graph->layers[i], maps); k-- > 0;)
            ++choice->first[maps[k]];
    for (size_t i = 0; i < graph->tensor_count; ++i)
        choice->first[i + 1u] += choice->first[i];
    for (size_t i = graph->layer_count; i-- > 0;)
        for (size_t k = maps_of(graph, &graph->layers[i], maps); k-- > 0;)
            choice->touching[--choice->first[maps[k]]] = i;
    return CNNVP_DONE;
}

/* Sums over layers: scores of their plans, bytes of bursts, and the least possible bytes. */
struct worth {
    double score, bytes, least;
};

/* The least bytes that the layer can move: its operands, weights and results, each once. */
static double least_bytes(const struct cnnvp_layer *layer)
{
    const struct cnnvp_tensor *const maps[] = {&layer->in, &layer->out, &layer->in2};
    const size_t count = layer->op == CNNVP_OP_ADD || layer->added.tag != 0 ? 3u : 2u;
    double bytes = (double)cnnvp_plan_weight_words(layer) * CNNVP_WORD_BYTES;
    for (size_t i = 0; i < count; ++i)
        bytes += (double)((uint64_t)maps[i]->channels * maps[i]->height * maps[i]->width << maps[i]->word_shift);
    return bytes;
}

/* Sums over the layers that make or read the map, which lies in blocks of this many channels. */
static struct worth worth_of(struct choice *choice, int32_t base, uint32_t channels)
{
    struct worth worth = {0, 0, 0};
    choice->blocks[base] = channels;
    for (size_t i = choice->first[base]; i < choice->first[base + 1]; ++i) {
        const struct known *known = plan_of(choice, choice->touching[i]);
        if (known == NULL)
            continue;
        worth.score += known->finalists.count != 0 ? known->finalists.all[0].score : INFINITY;
        worth.bytes += known->finalists.all[0].taken.bytes;
        worth.least += least_bytes(&known->layer);
    }
    return worth;
}

/* Chooses the blocks of a map by the scores. Each size tried is about half of the one before; of equal scores the
 * largest blocks win. Returns 1 if the layout changes. */
static int choose_for(struct choice *choice, int32_t base, uint32_t largest)
{
    const uint32_t before = choice->blocks[base];
    const struct worth planes = worth_of(choice, base, 1);
    uint32_t best = 1;
    double score = INFINITY;
    for (uint32_t channels = planes.least < planes.bytes ? largest : 1u;
         channels > 1 && channels > largest / SMALLEST_PART && choice->result == CNNVP_DONE;
         channels = largest_blocks(&choice->possible, base, channels / 2u)) {
        const struct worth blocks = worth_of(choice, base, channels);
        const int is_better = blocks.bytes < planes.bytes ? blocks.score <= planes.score
                                                          : blocks.score < planes.score * (1 - 1 / BYTES_PART);
        if (is_better && blocks.score < score) {
            best = channels;
            score = blocks.score;
        }
    }
    choice->blocks[base] = best;
    return best != before;
}

/* Coordinate descent from the current layouts, one map at a time. Returns the sum of all layers' scores. */
static double descend(struct choice *choice, const uint32_t *largest)
{
    const struct cnnvp_graph *graph = choice->graph;
    double score = 0;
    int changed = 1;
    for (int sweep = 0; sweep < SWEEPS && changed && choice->result == CNNVP_DONE; ++sweep) {
        changed = 0;
        for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i)
            if (largest[i] > 1 && choice->result == CNNVP_DONE)
                changed |= choose_for(choice, i, largest[i]);
    }
    for (size_t i = 0; i < graph->layer_count && choice->result == CNNVP_DONE; ++i) {
        const struct known *known = plan_of(choice, i);
        score += known != NULL && known->finalists.count != 0 ? known->finalists.all[0].score : INFINITY;
    }
    return score;
}

/* Takes the plans of all layers with the current layouts. */
static cnnvp_result take_plans(struct choice *choice)
{
    for (size_t i = 0; i < choice->graph->layer_count && choice->result == CNNVP_DONE; ++i) {
        const struct known *known = plan_of(choice, i);
        if (known != NULL)
            choice->build->finalists[i] = known->finalists;
    }
    return choice->result;
}

/* Takes the better result of two descents: from the current layouts and from planes. From large blocks a descent can
 * get stuck: if a good tile needs smaller blocks in both maps of a layer, changing one map alone gains nothing. */
static cnnvp_result choose(struct choice *choice, const uint32_t *largest)
{
    const struct cnnvp_graph *graph = choice->graph;
    const double first = descend(choice, largest);
    memcpy(choice->other, choice->blocks, graph->tensor_count * sizeof *choice->blocks);
    for (size_t i = 0; i < graph->tensor_count; ++i)
        choice->blocks[i] = largest[i] > 1 ? 1 : choice->blocks[i];
    if (first <= descend(choice, largest))
        memcpy(choice->blocks, choice->other, graph->tensor_count * sizeof *choice->blocks);
    return take_plans(choice);
}

/* Mean power of the network by the plans of all layers. */
static double power_of(const struct choice *choice)
{
    const struct cnnvp_build *build = choice->build;
    struct cnnvp_plan_taken all = {0};
    for (size_t i = 0; i < choice->graph->layer_count; ++i) {
        cnnvp_plan_add(&all, &build->finalists[i].all[0].taken);
        all.pj += choice->limits.batch * cnnvp_plan_macs_pj(&build->layers[i], &choice->limits.energy);
    }
    return all.ps > 0 ? all.pj / all.ps : 0;
}

/* Plans all layers. Objectives other than time start from the layouts that are best for the time, too, and edp weighs
 * time by the power of that plan. */
static cnnvp_result choose_first(struct choice *choice, const uint32_t *largest)
{
    const enum cnnvp_plan_objective objective = choice->limits.objective;
    choice->limits.objective = CNNVP_OBJECTIVE_TIME;
    CNNVP_TRY(choose(choice, largest));
    if (objective == CNNVP_OBJECTIVE_TIME)
        return CNNVP_DONE;
    choice->limits.objective = objective;
    choice->limits.power = power_of(choice);
    choice->known_count = 0;
    return choose(choice, largest);
}

/* Time of all layers' plans by the critical path. */
static cnnvp_result take_path(const struct choice *choice, struct cnnvp_core_stage *stages, double *ps)
{
    const struct cnnvp_build *build = choice->build;
    for (size_t i = 0; i < choice->graph->layer_count; ++i)
        stages[i] = (struct cnnvp_core_stage){
            (double)build->finalists[i].all[0].core, (double)build->finalists[i].all[0].units, 0};
    *ps = cnnvp_core_path(stages, choice->graph->layer_count, choice->limits.queue_ps);
    return *ps < 0 ? cnnvp_compiler_no_memory(choice->error) : CNNVP_DONE;
}

/* What the network costs that takes this time: for the objective edp with its energy, as time that is worth as much. */
static double cost_of(const struct choice *choice, double ps)
{
    double pj = choice->limits.energy.ps * ps;
    if (choice->limits.objective != CNNVP_OBJECTIVE_EDP)
        return ps;
    for (size_t i = 0; i < choice->graph->layer_count; ++i) {
        const struct cnnvp_plan_taken *taken = &choice->build->finalists[i].all[0].taken;
        pj += taken->pj - choice->limits.energy.ps * taken->ps;
    }
    return ps + pj / choice->limits.power;
}

/* The plans of all layers, to go back to. */
struct plans {
    struct cnnvp_plan_finalists *finalists;
    uint32_t *blocks;
};

/* Plans all layers again by the weights of the choice; `largest` NULL: with the same layouts. Takes the new plans, and
 * sets *cost, if they cost less than that by `gain`. */
static cnnvp_result plan_by_path(struct choice *choice, const uint32_t *largest, const struct plans *before,
                                 struct cnnvp_core_stage *stages, double gain, double *cost)
{
    const size_t layers = choice->graph->layer_count, tensors = choice->graph->tensor_count;
    struct cnnvp_plan_finalists *const finalists = choice->build->finalists;
    double path;
    memcpy(before->finalists, finalists, layers * sizeof *finalists);
    memcpy(before->blocks, choice->blocks, tensors * sizeof *choice->blocks);
    CNNVP_TRY(largest != NULL ? choose(choice, largest) : take_plans(choice));
    CNNVP_TRY(take_path(choice, stages, &path));
    if (cost_of(choice, path) < *cost - gain) {
        *cost = cost_of(choice, path);
        return CNNVP_DONE;
    }
    memcpy(finalists, before->finalists, layers * sizeof *finalists);
    memcpy(choice->blocks, before->blocks, tensors * sizeof *choice->blocks);
    return CNNVP_DONE;
}

/* The network does not wait for the core, so the core's work costs less than its time: plans the layers again in which
 * it is long, with two weights of it. The smaller weight has to gain twice as much, since it relies more on the bounds
 * of the core. Layers in which an array calculates most of the time have little to gain, and none gains more than the
 * units' time beyond that of the memory and of the calculations. */
static cnnvp_result hide_core(struct choice *choice, const struct plans *before, struct cnnvp_core_stage *stages,
                              double path)
{
    static const double core[] = {0.25, 0.125};
    double cost = cost_of(choice, path);
    for (size_t n = 0; n < sizeof core / sizeof core[0]; ++n) {
        const double gain = (double)(n + 1) * path / PATH_PART;
        double most = 0;
        for (size_t i = 0; i < choice->graph->layer_count; ++i) {
            const struct cnnvp_plan_finalist *plan = &choice->build->finalists[i].all[0];
            if (plan->core * 2u <= plan->units || plan->compute > plan->units / 4u)
                continue;
            choice->weights[i] = (struct cnnvp_plan_weights){0, 1, core[n]};
            most += (double)plan->units - (double)cnnvp_maximum(plan->memory, plan->compute);
        }
        if (most > gain)
            CNNVP_TRY(plan_by_path(choice, NULL, before, stages, gain, &cost));
    }
    return CNNVP_DONE;
}

/* If the network waits for the core, plans all layers again with prices that include the core's share of the critical
 * path. For the objectives time and edp it plans once more with prices by the critical path alone, the mean of both
 * plans' paths. */
static cnnvp_result choose_by_path(struct choice *choice, const uint32_t *largest, struct cnnvp_arena *arena)
{
    const size_t layers = choice->graph->layer_count;
    const struct cnnvp_plan_finalists *const finalists = choice->build->finalists;
    struct cnnvp_core_stage *stages = cnnvp_arena_array(arena, layers, sizeof *stages);
    const struct plans before = {
        .finalists = cnnvp_arena_array(arena, layers, sizeof *before.finalists),
        .blocks = cnnvp_arena_array(arena, choice->graph->tensor_count, sizeof *before.blocks)};
    double *waits = cnnvp_arena_array(arena, layers, sizeof *waits);
    const int by_time =
        choice->limits.objective == CNNVP_OBJECTIVE_TIME || choice->limits.objective == CNNVP_OBJECTIVE_EDP;
    double units = 0, path;
    CNNVP_TRY_MEMORY(!arena->failed, choice->error);
    for (size_t i = 0; i < layers; ++i)
        units += (double)finalists[i].all[0].units;
    CNNVP_TRY(take_path(choice, stages, &path));
    if (path <= units * (1 + 1 / CORE_PART))
        return by_time ? hide_core(choice, &before, stages, path) : CNNVP_DONE;
    for (size_t i = 0; i < layers; ++i) {
        waits[i] = stages[i].waits;
        choice->weights[i] = cnnvp_core_weights(round(waits[i] * PATH_STEPS) / PATH_STEPS);
    }
    CNNVP_TRY(choose(choice, largest));
    if (!by_time)
        return CNNVP_DONE;
    CNNVP_TRY(take_path(choice, stages, &path));
    double cost = cost_of(choice, path);
    for (size_t i = 0; i < layers; ++i)
        choice->weights[i] = cnnvp_path_weights(round((waits[i] + stages[i].waits) / 2 * PATH_STEPS) / PATH_STEPS);
    return plan_by_path(choice, largest, &before, stages, path / PATH_PART, &cost);
}

/* Takes a remembered plan. If energies did not choose it, they may be others now: those of this target are taken.
 * Returns 0 if there is none. */
static int take_remembered(struct choice *choice, const struct cnnvp_target *target)
{
    const struct cnnvp_plan_finalists *finalists;
    const uint32_t *blocks;
    const int by_energy =
        target->limits.objective == CNNVP_OBJECTIVE_ENERGY || target->limits.objective == CNNVP_OBJECTIVE_EDP;
    struct cnnvp_error ignored;
    if (!cnnvp_plan_memory_recall(choice->graph, target, choice->build, &finalists, &blocks))
        return 0;
    memcpy(choice->blocks, blocks, choice->graph->tensor_count * sizeof *blocks);
    for (size_t i = 0; i < choice->graph->layer_count; ++i) {
        const struct cnnvp_layer layer = laid_out(choice, i);
        choice->build->finalists[i] = finalists[i];
        for (size_t n = 0; !by_energy && n < finalists[i].count; ++n)
            if (cnnvp_plan_again(&layer, choice->graph->layers[i].name, &target->limits, finalists[i].all[n].cut,
                                 &choice->build->finalists[i].all[n], &ignored) != CNNVP_DONE)
                return 0;
    }
    return 1;
}

cnnvp_result cnnvp_layout_choose(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                 struct cnnvp_build *build, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_arena_free) struct cnnvp_arena arena = {0};
    struct choice choice = {.graph = graph, .build = build, .error = error, .limits = target->limits};
    uint32_t *largest = cnnvp_arena_array(&arena, graph->tensor_count, sizeof *largest);
    choice.blocks = cnnvp_arena_array(&arena, graph->tensor_count, sizeof *choice.blocks);
    choice.other = cnnvp_arena_array(&arena, graph->tensor_count, sizeof *choice.other);
    choice.known = cnnvp_arena_array(&arena, KNOWN * graph->layer_count, sizeof *choice.known);
    choice.weights = cnnvp_arena_array(&arena, graph->layer_count, sizeof *choice.weights);
    CNNVP_TRY_MEMORY(!arena.failed, error);
    CNNVP_TRY(find_limits(graph, &arena, &choice.possible, error));
    CNNVP_TRY(find_touching(&choice, &arena));
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i) {
        choice.blocks[i] = 1;
        largest[i] = 1;
        if (graph->tensors[i].base == CNNVP_GRAPH_NONE && build->tensors[i].height * build->tensors[i].width > 1)
            choice.blocks[i] = largest[i] =
                largest_blocks(&choice.possible, i, target->limits.burst_bytes / cnnvp_graph_word_bytes(graph, i));
    }
    for (size_t i = 0; i < graph->layer_count; ++i)
        choice.weights[i] = target->limits.weights;
    if (!take_remembered(&choice, target)) {
        CNNVP_TRY(cnnvp_plan_memory_begin(graph, target, build, error));
        CNNVP_TRY(choose_first(&choice, largest));
        CNNVP_TRY(choose_by_path(&choice, largest, &arena));
        CNNVP_TRY(cnnvp_plan_memory_end(target, build, choice.blocks, error));
    }
    build->power = power_of(&choice);
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i)
        if (choice.blocks[cnnvp_graph_base(graph, i)] > 1)
            lay_tensor(&build->tensors[i], choice.blocks[cnnvp_graph_base(graph, i)]);
    return CNNVP_DONE;
}
