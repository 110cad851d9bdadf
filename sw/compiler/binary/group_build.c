/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the members and slots of fused groups from layers of the graph, and checks that the layers can be fused. */
#include "group_build.h"

#include <stdlib.h>

#include "binary_internal.h"

/* 1: the tensor has its base's rows and columns, so it is the base or some of its channels. */
static int is_plain(const struct cnnvp_graph *graph, int32_t tensor)
{
    const struct cnnvp_graph_tensor *view = &graph->tensors[tensor];
    const struct cnnvp_graph_tensor *base = &graph->tensors[cnnvp_graph_base(graph, tensor)];
    return view->height == base->height && view->width == base->width;
}

const char *cnnvp_group_why_not(const struct cnnvp_graph *graph, size_t index)
{
    const struct cnnvp_graph_layer *layer = &graph->layers[index];
    if (layer->op == CNNVP_OP_FC || layer->op == CNNVP_OP_SOFTMAX || layer->product != 0)
        return "it reads whole maps";
    if (layer->op == CNNVP_OP_NORM && layer->norm != CNNVP_NORM_STORED)
        return "it takes statistics of whole maps";
    if (layer->permuted != 0)
        return "dimensions change places in it";
    if (layer->placed != 0 || layer->cropped != 0)
        return "it copies a part of a map";
    return NULL;
}

static int is_within(const struct cnnvp_plan_group *group, size_t layer)
{
    return layer >= group->first && layer < group->first + group->count;
}

/* Checks that the tensor can be a slot: no layer outside the group makes or reads it, it is no output of the network,
 * and all members see it with the same rows and columns. */
static cnnvp_result check_slot(const struct cnnvp_graph *graph, const struct cnnvp_plan_group *group, int32_t base,
                               const char *place, struct cnnvp_error *error)
{
    const char *name = graph->tensors[base].name;
    if (cnnvp_graph_is_output(graph, base))
        return cnnvp_config_error(error, place,
                                  "the group makes \"%s\", an output of the network, before its last layer: end it "
                                  "with the layer that makes it",
                                  name);
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const int makes = cnnvp_graph_base(graph, layer->out) == base;
        if (!makes && !cnnvp_graph_reads(graph, layer, base))
            continue;
        if (!is_within(group, i))
            return cnnvp_config_error(
                error, place,
                "the group tears \"%s\" apart: its layers make it, and layer \"%s\", which is "
                "not in the group, %s it too: take that in, or end the group before or with the "
                "layer that makes it",
                name, layer->name, makes ? "makes" : "reads");
        if ((makes && !is_plain(graph, layer->out)) ||
            (cnnvp_graph_base(graph, layer->in) == base && !is_plain(graph, layer->in)) ||
            (cnnvp_graph_base(graph, layer->in2) == base && !is_plain(graph, layer->in2)))
            return cnnvp_config_error(error, place,
                                      "layer \"%s\" sees \"%s\" in other dimensions than it was made in: they cannot "
                                      "be in one group",
                                      layer->name, name);
    }
    return CNNVP_DONE;
}

struct cnnvp_group_ends cnnvp_group_ends(const struct cnnvp_graph *graph, const struct cnnvp_build *build,
                                         const struct cnnvp_plan_group *group, size_t number)
{
    const struct cnnvp_graph_layer *layer = &graph->layers[group->first + number];
    struct cnnvp_group_ends ends = {layer->in, layer->in2, layer->out, 0};
    ends.adds = number + 1 < group->count && cnnvp_group_adds(graph, build, group->first + number);
    if (ends.adds) {
        ends.in2 = layer[1].in == layer->out ? layer[1].in2 : layer[1].in;
        ends.out = layer[1].out;
    }
    return ends;
}

static size_t slot_of(const struct cnnvp_plan_group *group, const int32_t *bases, int32_t base)
{
    for (size_t s = 0; s < group->slot_count; ++s)
        if (bases[s] == base)
            return s;
    return CNNVP_PLAN_NO_SLOT;
}

/* Checks the layer against the group's output: no member reads it, and parts of it have the same rows and columns. */
static cnnvp_result check_given(const struct cnnvp_graph *graph, const struct cnnvp_plan_group *group, size_t index,
                                const char *place, struct cnnvp_error *error)
{
    const struct cnnvp_graph_layer *layer = &graph->layers[index];
    const int32_t last = graph->layers[group->first + group->count - 1].out;
    const int32_t given = cnnvp_graph_base(graph, last);
    const struct cnnvp_graph_tensor *out = &graph->tensors[layer->out];
    if (cnnvp_graph_base(graph, layer->out) == given &&
        (out->height != graph->tensors[last].height || out->width != graph->tensors[last].width))
        return cnnvp_config_error(
            error, place, "layers of the group make parts of \"%s\" in other dimensions", graph->tensors[given].name);
    if (cnnvp_graph_reads(graph, layer, given))
        return cnnvp_config_error(
            error, place, "layer \"%s\" reads \"%s\", of which the group gives a part: end the group before it",
            layer->name, graph->tensors[given].name);
    return CNNVP_DONE;
}

static int is_alike(const struct cnnvp_graph_tensor *a, const struct cnnvp_graph_tensor *b)
{
    return a->channels == b->channels && a->height == b->height && a->width == b->width;
}

int cnnvp_group_adds(const struct cnnvp_graph *graph, const struct cnnvp_build *build, size_t layer)
{
    const struct cnnvp_graph_layer *of = &graph->layers[layer];
    const struct cnnvp_graph_layer *next = of + 1;
    if (of->op != CNNVP_OP_CONV || layer + 1 >= graph->layer_count || next->op != CNNVP_OP_ADD ||
        graph->tensors[of->out].base != CNNVP_GRAPH_NONE || cnnvp_graph_readers(graph, of->out) != 1 ||
        (next->in != of->out && next->in2 != of->out) ||
        build->layers[layer].post_count + build->layers[layer + 1].post_count > CNNVP_LAYER_POSTS ||
        cnnvp_plan_table_words(&build->layers[layer + 1]) != 0)
        return 0;
    const int32_t other = next->in == of->out ? next->in2 : next->in;
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (i != layer && cnnvp_graph_base(graph, graph->layers[i].out) == of->out)
            return 0;
    return is_alike(&graph->tensors[other], &graph->tensors[next->out]) &&
           is_alike(&graph->tensors[of->out], &graph->tensors[next->out]);
}

struct cnnvp_layer cnnvp_group_added(const struct cnnvp_graph *graph, const struct cnnvp_build *build, size_t layer)
{
    const struct cnnvp_layer *addition = &build->layers[layer + 1];
    const int second = graph->layers[layer + 1].in2 == graph->layers[layer].out;
    struct cnnvp_layer both = build->layers[layer];
    both.in2 = second ? addition->in : addition->in2;
    both.out = addition->out;
    both.arithmetic = addition->arithmetic;
    both.operands = addition->operands;
    both.added = (struct cnnvp_layer_addition){
        .tag = addition->tag,
        .first_post = both.post_count,
        .second = (uint32_t)second,
        .format = addition->format,
        .clips = addition->clips,
        .limits = addition->limits};
    for (uint32_t i = 0; i < addition->post_count; ++i)
        both.posts[both.post_count++] = addition->posts[i];
    return both;
}

/* Finds the slots, in the order in which members make them. */
static cnnvp_result find_slots(const struct cnnvp_graph *graph, const struct cnnvp_build *build,
                               struct cnnvp_plan_group *group, int32_t *bases, const char *place,
                               struct cnnvp_error *error)
{
    const int32_t given = cnnvp_graph_base(graph, graph->layers[group->first + group->count - 1].out);
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = group->first; i < group->first + group->count && result == CNNVP_DONE; ++i) {
        const int32_t base = cnnvp_graph_base(graph, graph->layers[i].out);
        result = check_given(graph, group, i, place, error);
        if (i + 1 < group->first + group->count && cnnvp_group_adds(graph, build, i))
            continue;
        if (base == given || slot_of(group, bases, base) != CNNVP_PLAN_NO_SLOT || result != CNNVP_DONE)
            continue;
        result = check_slot(graph, group, base, place, error);
        bases[group->slot_count] = base;
        group->slots[group->slot_count++] = (struct cnnvp_plan_slot){
            .map = cnnvp_binary_shape(graph, base),
            .first = i - group->first - (i > group->first && cnnvp_group_adds(graph, build, i - 1))};
    }
    return result;
}

static void link_member(const struct cnnvp_graph *graph, const struct cnnvp_build *build,
                        struct cnnvp_plan_group *group, const int32_t *bases, size_t number)
{
    const size_t index = group->first + number;
    struct cnnvp_plan_member *member = &group->members[number];
    *member = (struct cnnvp_plan_member){
        .source = index,
        .layer = build->layers[index],
        .in = CNNVP_PLAN_NO_SLOT,
        .in2 = CNNVP_PLAN_NO_SLOT,
        .out = CNNVP_PLAN_NO_SLOT};
    member->done = number > 0 && cnnvp_group_adds(graph, build, index - 1);
    if (member->done)
        return;
    const struct cnnvp_group_ends ends = cnnvp_group_ends(graph, build, group, number);
    if (ends.adds)
        member->layer = cnnvp_group_added(graph, build, index);
    member->in = slot_of(group, bases, cnnvp_graph_base(graph, ends.in));
    if (ends.in2 != CNNVP_GRAPH_NONE)
        member->in2 = slot_of(group, bases, cnnvp_graph_base(graph, ends.in2));
    member->out = slot_of(group, bases, cnnvp_graph_base(graph, ends.out));
    if (member->in != CNNVP_PLAN_NO_SLOT)
        group->slots[member->in].last = number;
    if (member->in2 != CNNVP_PLAN_NO_SLOT)
        group->slots[member->in2].last = number;
    member->layer.in.on_chip |= member->in != CNNVP_PLAN_NO_SLOT;
    member->layer.in2.on_chip |= member->in2 != CNNVP_PLAN_NO_SLOT;
    member->layer.out.on_chip |= member->out != CNNVP_PLAN_NO_SLOT;
}

cnnvp_result cnnvp_group_make(const struct cnnvp_graph *graph, const struct cnnvp_build *build,
                              const struct cnnvp_plan_run *run, struct cnnvp_plan_group *group,
                              struct cnnvp_error *error)
{
    *group = (struct cnnvp_plan_group){
        .first = run->first, .count = run->count, .tile_h = run->tile_h, .tile_w = run->tile_w, .halo = run->halo};
    for (size_t i = run->first; i < run->first + run->count; ++i)
        if (cnnvp_group_why_not(graph, i) != NULL)
            return cnnvp_config_error(error, run->place, "layer \"%s\" cannot go tile by tile in a group: %s",
                                      graph->layers[i].name, cnnvp_group_why_not(graph, i));
    CNNVP_FREED int32_t *bases = calloc(run->count, sizeof *bases);
    group->members = calloc(run->count, sizeof *group->members);
    group->slots = calloc(run->count, sizeof *group->slots);
    cnnvp_result result =
        bases != NULL && group->members != NULL && group->slots != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(error);
    if (result == CNNVP_DONE)
        result = find_slots(graph, build, group, bases, run->place, error);
    for (size_t i = 0; i < run->count && result == CNNVP_DONE; ++i)
        link_member(graph, build, group, bases, i);
    if (result != CNNVP_DONE)
        cnnvp_plan_group_clear(group);
    return result;
}
