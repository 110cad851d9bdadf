/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies with permuted dimensions, here called turns. Those that undo one another are left out, also where layers of
 * single words lie between them: these then work on the words as they lie before the first turn. What quantises a
 * turned tensor does so before the turn, which then copies 8-bit words.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph_edit.h"

/* Most layers that are looked at between two turns, and most that lie behind one another. */
#define LAYERS 256
#define DEPTH 32

/* Drops dimensions of 1 from a permutation: order[] permutes the other dimensions, and wide[] holds their sizes in the
 * input's order. Returns their number. */
static uint32_t count_wide(const uint32_t sizes[3], const uint32_t from[3], uint32_t order[3], uint32_t wide[3])
{
    uint32_t number[3];
    uint32_t count = 0;
    uint32_t ordered = 0;
    for (uint32_t i = 0; i < 3; ++i) {
        number[i] = count;
        if (sizes[i] != 1)
            wide[count++] = sizes[i];
    }
    for (uint32_t i = 0; i < 3; ++i)
        if (sizes[from[i]] != 1)
            order[ordered++] = number[from[i]];
    return count;
}

const struct cnnvp_graph_layer *cnnvp_graph_turning(const struct cnnvp_graph *graph, int32_t in)
{
    const int32_t base = cnnvp_graph_base(graph, in);
    const struct cnnvp_graph_layer *layer = NULL;
    for (size_t i = graph->layer_count; i-- > 0 && layer == NULL;)
        if (cnnvp_graph_base(graph, graph->layers[i].out) == base)
            layer = &graph->layers[i];
    const int turns = layer != NULL && layer->permuted != 0 && layer->out == base;
    return turns && cnnvp_graph_words(&graph->tensors[in]) == cnnvp_graph_words(&graph->tensors[base]) ? layer : NULL;
}

int32_t cnnvp_graph_put_back(const struct cnnvp_graph *graph, int32_t in, const uint32_t sizes[3],
                             const uint32_t from[3])
{
    uint32_t first[3], second[3], made[3], read[3], wide[3];
    const struct cnnvp_graph_layer *layer = cnnvp_graph_turning(graph, in);
    if (layer == NULL)
        return CNNVP_GRAPH_NONE;
    const struct cnnvp_graph_tensor *source = &graph->tensors[layer->in];
    const uint32_t sources[3] = {source->channels, source->height, source->width};
    const uint32_t count = count_wide(sources, layer->from, first, wide);
    if (count != count_wide(sizes, from, second, read))
        return CNNVP_GRAPH_NONE;
    for (uint32_t i = 0; i < count; ++i)
        made[i] = wide[first[i]];
    for (uint32_t i = 0; i < count; ++i)
        if (made[i] != read[i] || first[second[i]] != i)
            return CNNVP_GRAPH_NONE;
    return layer->in;
}

/* 1: the layer does nothing but to turn. */
static int is_turn(const struct cnnvp_graph_layer *layer)
{
    return layer->op == CNNVP_OP_ACTIVATION && layer->permuted != 0 && layer->placed == 0 && layer->concat == 0 &&
           layer->cropped == 0 && cnnvp_graph_passes(layer);
}

/* ---- turns that undo one another ---- */

struct turn {
    uint32_t sizes[3]; /* of what it reads */
    uint32_t from[3];
    struct cnnvp_graph_tensor shape; /* of its result */
    int looked_at;
};

/* The only layer that makes the tensor's words, if the tensor shows all of them; -1: there is no such layer. */
static ptrdiff_t maker_of(const struct cnnvp_graph *graph, int32_t tensor)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    const ptrdiff_t at = cnnvp_graph_producer(graph, tensor);
    return at >= 0 && graph->layers[at].out == base &&
                   cnnvp_graph_words(&graph->tensors[tensor]) == cnnvp_graph_words(&graph->tensors[base])
               ? at
               : -1;
}

/* 1: the operand has as many words as the result, or a single dimension, whose words lie in the same order however it
 * is turned. */
static int can_be_turned(const struct cnnvp_graph *graph, int32_t operand, size_t words)
{
    const struct cnnvp_graph_tensor *tensor = &graph->tensors[operand];
    return cnnvp_graph_words(tensor) == words ||
           (tensor->channels > 1) + (tensor->height > 1) + (tensor->width > 1) < 2;
}

/* 1: each word of the result depends on the operands' words in its own place. */
static int is_of_words(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const size_t words = cnnvp_graph_words(&graph->tensors[layer->out]);
    const int is_whole = cnnvp_graph_words(&graph->tensors[layer->in]) == words;
    if (layer->op == CNNVP_OP_ADD)
        return can_be_turned(graph, layer->in, words) && can_be_turned(graph, layer->in2, words) &&
               (is_whole || cnnvp_graph_words(&graph->tensors[layer->in2]) == words);
    if (!is_whole)
        return 0;
    if (layer->op == CNNVP_OP_ACTIVATION)
        return layer->placed == 0 && layer->concat == 0 && layer->permuted == 0 && layer->cropped == 0;
    return layer->op == CNNVP_OP_NORM && layer->norm == CNNVP_NORM_STORED && layer->uniform != 0.0f;
}

static int can_undo(const struct cnnvp_graph *graph, int32_t tensor, struct turn *turn, int depth);

/* The same for an operand of a layer of single words. */
static int can_undo_operand(const struct cnnvp_graph *graph, int32_t operand, struct turn *turn, int depth)
{
    const size_t words = (size_t)turn->sizes[0] * turn->sizes[1] * turn->sizes[2];
    return cnnvp_graph_words(&graph->tensors[operand]) != words || can_undo(graph, operand, turn, depth);
}

/* 1: the tensor is the result of turns that this turn undoes, possibly through layers of single words. */
static int can_undo(const struct cnnvp_graph *graph, int32_t tensor, struct turn *turn, int depth)
{
    if (cnnvp_graph_put_back(graph, tensor, turn->sizes, turn->from) != CNNVP_GRAPH_NONE)
        return 1;
    const ptrdiff_t at = maker_of(graph, tensor);
    if (at < 0 || depth == DEPTH || ++turn->looked_at > LAYERS || !is_of_words(graph, &graph->layers[at]))
        return 0;
    const struct cnnvp_graph_layer *layer = &graph->layers[at];
    const struct cnnvp_graph_tensor *out = &graph->tensors[layer->out];
    return out->channels == turn->sizes[0] && out->height == turn->sizes[1] && out->width == turn->sizes[2] &&
           can_undo_operand(graph, layer->in, turn, depth + 1) &&
           (layer->op != CNNVP_OP_ADD || can_undo_operand(graph, layer->in2, turn, depth + 1));
}

/* The tensor in the shape of another one; always the same view, by which layers know that they have an operand in
 * common. */
static int32_t view_like(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_graph_tensor *shape)
{
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i) {
        const struct cnnvp_graph_tensor *view = &graph->tensors[i];
        if ((view->base == tensor || i == tensor) && view->base_channel == 0 && view->channel_step == 0 &&
            view->channels == shape->channels && view->height == shape->height && view->width == shape->width &&
            view->rank == shape->rank && view->dims == shape->dims)
            return i;
    }
    const int32_t view = cnnvp_graph_tensor_add(
        graph, graph->tensors[tensor].name, shape->rank, shape->channels, shape->height, shape->width);
    if (view != CNNVP_GRAPH_NONE) {
        graph->tensors[view].base = tensor;
        graph->tensors[view].dims = shape->dims;
    }
    return view;
}

/* A new tensor of that shape with the numbers of `like`. */
static int32_t turned_tensor(struct cnnvp_graph *graph, int32_t like, const struct cnnvp_graph_tensor *shape)
{
    const struct cnnvp_graph_tensor base = graph->tensors[cnnvp_graph_base(graph, like)];
    const char *name = cnnvp_arena_printf(&graph->arena, "%.200s.turned", graph->tensors[like].name);
    const int32_t made =
        name != NULL ? cnnvp_graph_tensor_add(graph, name, shape->rank, shape->channels, shape->height, shape->width)
                     : CNNVP_GRAPH_NONE;
    if (made != CNNVP_GRAPH_NONE) {
        cnnvp_graph_set_whole(graph, made, &base);
        graph->tensors[made].counts = base.counts;
        graph->tensors[made].dims = shape->dims;
    }
    return made;
}

static int32_t undo(struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn);

/* An operand of a layer of single words, turned. */
static int32_t undo_operand(struct cnnvp_graph *graph, int32_t operand, const struct turn *turn)
{
    const struct cnnvp_graph_tensor tensor = graph->tensors[operand];
    const uint32_t sizes[3] = {tensor.channels, tensor.height, tensor.width};
    if (cnnvp_graph_words(&tensor) == cnnvp_graph_words(&turn->shape))
        return undo(graph, operand, turn);
    const struct cnnvp_graph_tensor shape = {
        .rank = 4, .channels = sizes[turn->from[0]], .height = sizes[turn->from[1]], .width = sizes[turn->from[2]]};
    return view_like(graph, operand, &shape);
}

/* What the tensor was before the turns that this turn undoes. Layers on the way work on that, and are turned instead.
 * CNNVP_GRAPH_NONE: out of memory. */
static int32_t undo(struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn)
{
    const int32_t before = cnnvp_graph_put_back(graph, tensor, turn->sizes, turn->from);
    if (before != CNNVP_GRAPH_NONE)
        return view_like(graph, before, &turn->shape);
    struct cnnvp_graph_layer layer = graph->layers[maker_of(graph, tensor)];
    const int32_t old = layer.out, second = layer.in2;
    layer.in = undo_operand(graph, layer.in, turn);
    if (layer.in != CNNVP_GRAPH_NONE && layer.op == CNNVP_OP_ADD)
        layer.in2 = undo_operand(graph, second, turn);
    layer.out = turned_tensor(graph, old, &turn->shape);
    if (layer.in == CNNVP_GRAPH_NONE || (layer.op == CNNVP_OP_ADD && layer.in2 == CNNVP_GRAPH_NONE) ||
        layer.out == CNNVP_GRAPH_NONE ||
        (layer.op == CNNVP_OP_NORM && !cnnvp_graph_spread_scale(graph, &layer, turn->shape.channels)))
        return CNNVP_GRAPH_NONE;
    struct cnnvp_graph_layer after = {
        .op = CNNVP_OP_ACTIVATION,
        .op_type = layer.op_type,
        .in = layer.out,
        .in2 = CNNVP_GRAPH_NONE,
        .out = old,
        CNNVP_ONE_TAP,
        .groups = 1,
        .permuted = 1,
        .post_count = 1,
        .posts = {{CNNVP_GRAPH_MAX, -INFINITY}}};
    for (uint32_t i = 0; i < 3; ++i)
        after.from[turn->from[i]] = i;
    const size_t at = (size_t)maker_of(graph, tensor);
    graph->layers[at] = layer;
    return cnnvp_graph_insert(graph, at + 1, &after, layer.name) != NULL ? layer.out : CNNVP_GRAPH_NONE;
}

static cnnvp_result undo_turns(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer layer = graph->layers[i];
        const struct cnnvp_graph_tensor *in = &graph->tensors[layer.in];
        struct turn turn = {.sizes = {in->channels, in->height, in->width}, .shape = graph->tensors[layer.out]};
        memcpy(turn.from, layer.from, sizeof turn.from);
        if (!is_turn(&layer) || turn.shape.base != CNNVP_GRAPH_NONE || !can_undo(graph, layer.in, &turn, 0))
            continue;
        const int32_t source = cnnvp_graph_put_back(graph, layer.in, turn.sizes, turn.from);
        if (cnnvp_graph_is_output(graph, layer.out) && source != CNNVP_GRAPH_NONE &&
            cnnvp_graph_is_input(graph, source))
            continue; /* the network copies its input */
        const int32_t before = undo(graph, layer.in, &turn);
        CNNVP_TRY_MEMORY(before != CNNVP_GRAPH_NONE, error);
        i = (size_t)cnnvp_graph_producer(graph, layer.out);
        graph->tensors[layer.out].base = before;
        cnnvp_graph_remove(graph, i--);
    }
    cnnvp_graph_drop_unused(graph);
    return CNNVP_DONE;
}

/* Lets a pool over all rows of channels that lie last, if nothing else reads these, read them as maps, as they lie
 * before they are turned. */
static cnnvp_result pool_before_turns(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer layer = graph->layers[i];
        const struct cnnvp_graph_tensor in = graph->tensors[layer.in], out = graph->tensors[layer.out];
        const struct cnnvp_graph_tensor *made = &graph->tensors[cnnvp_graph_base(graph, layer.in)];
        if (layer.op != CNNVP_OP_POOL || layer.by_position != 0 || in.channels != 1 || layer.ky != in.height ||
            layer.kx != 1 || cnnvp_graph_words(&out) != in.width || made->width != in.width || out.width != in.width ||
            out.base != CNNVP_GRAPH_NONE || cnnvp_graph_is_output(graph, layer.out))
            continue;
        struct turn turn = {
            .sizes = {made->channels, made->height, made->width},
            .from = {2, 0, 1},
            .shape = {.rank = 4,
                      .channels = made->width,
                      .height = made->channels,
                      .width = made->height,
                      .base = CNNVP_GRAPH_NONE}};
        if (cnnvp_graph_words(made) != cnnvp_graph_words(&in) || cnnvp_graph_readers(graph, layer.in) != 1 ||
            !can_undo(graph, layer.in, &turn, 0))
            continue;
        const struct cnnvp_graph_tensor shape = {.rank = 4, .channels = out.width, .height = 1, .width = 1};
        const int32_t maps = undo(graph, layer.in, &turn), means = turned_tensor(graph, layer.out, &shape);
        CNNVP_TRY_MEMORY(maps != CNNVP_GRAPH_NONE && means != CNNVP_GRAPH_NONE, error);
        i = (size_t)cnnvp_graph_producer(graph, layer.out);
        struct cnnvp_graph_layer *pool = &graph->layers[i];
        pool->in = maps;
        pool->out = means;
        pool->ky = pool->sy = turn.shape.height;
        pool->kx = pool->sx = turn.shape.width;
        graph->tensors[layer.out].base = means;
    }
    cnnvp_graph_drop_unused(graph);
    return CNNVP_DONE;
}

/* ---- softmax of what is turned ---- */

/* Lets softmax over the last dimension read what a turn reads whose result nothing else reads. */
static cnnvp_result turn_by_softmax(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *softmax = &graph->layers[i];
        const ptrdiff_t at = softmax->op == CNNVP_OP_SOFTMAX ? maker_of(graph, softmax->in) : -1;
        if (at < 0 || softmax->axis != CNNVP_AXIS_LAST || softmax->permuted != 0)
            continue;
        const struct cnnvp_graph_layer *turn = &graph->layers[at];
        const struct cnnvp_graph_tensor made = graph->tensors[turn->out], read = graph->tensors[softmax->in];
        const int32_t old = softmax->out;
        if (!is_turn(turn) || read.width != made.width || made.width == 1 ||
            graph->tensors[old].base != CNNVP_GRAPH_NONE || cnnvp_graph_readers(graph, turn->out) != 1)
            continue;
        if (read.channels != made.channels || read.height != made.height) {
            softmax->out = turned_tensor(graph, old, &made);
            CNNVP_TRY_MEMORY(softmax->out != CNNVP_GRAPH_NONE, error);
            graph->tensors[old].base = softmax->out;
        }
        softmax->in = turn->in;
        softmax->permuted = 1;
        memcpy(softmax->from, turn->from, sizeof softmax->from);
    }
    cnnvp_graph_drop_unused(graph);
    return CNNVP_DONE;
}

/* ---- quantisation before turns ---- */

/* The layer that quantises the result of the one at `index`, if nothing else reads that; layer_count: there is none. */
static size_t quantiser_after(const struct cnnvp_graph *graph, size_t index)
{
    const int32_t made = graph->layers[index].out;
    size_t i = index + 1;
    while (i < graph->layer_count && cnnvp_graph_base(graph, graph->layers[i].in) != made)
        ++i;
    return i < graph->layer_count && cnnvp_graph_readers(graph, made) == 1 &&
                   cnnvp_graph_only_quantises(&graph->layers[i]) &&
                   graph->tensors[graph->layers[i].out].base == CNNVP_GRAPH_NONE &&
                   cnnvp_graph_words(&graph->tensors[graph->layers[i].in]) == cnnvp_graph_words(&graph->tensors[made])
               ? i
               : graph->layer_count;
}

static cnnvp_result quantise_before_turns(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer turn = graph->layers[i];
        const size_t at = is_turn(&turn) ? quantiser_after(graph, i) : graph->layer_count;
        if (at == graph->layer_count || graph->tensors[turn.out].base != CNNVP_GRAPH_NONE)
            continue;
        struct cnnvp_graph_layer quantiser = graph->layers[at];
        const int32_t result = quantiser.out;
        const struct cnnvp_graph_tensor shape = graph->tensors[turn.in];
        quantiser.in = turn.in;
        quantiser.out = turned_tensor(graph, result, &shape);
        CNNVP_TRY_MEMORY(
            quantiser.out != CNNVP_GRAPH_NONE && cnnvp_graph_spread_scale(graph, &quantiser, shape.channels), error);
        cnnvp_graph_set_whole(graph, turn.out, &graph->tensors[result]);
        graph->tensors[result].base = turn.out;
        graph->layers[i].in = quantiser.out;
        cnnvp_graph_remove(graph, at);
        CNNVP_TRY_MEMORY(cnnvp_graph_insert(graph, i++, &quantiser, quantiser.name) != NULL, error);
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_graph_turn(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    CNNVP_TRY(undo_turns(graph, error));
    CNNVP_TRY(pool_before_turns(graph, error));
    CNNVP_TRY(quantise_before_turns(graph, error));
    return turn_by_softmax(graph, error);
}
