/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "graph_turn.h"

/* Most layers that are looked at between two turns, and most that lie behind one another. */
#define LAYERS 256
#define DEPTH 32

struct cnnvp_turn cnnvp_turn_of(const struct cnnvp_graph_tensor *tensor, const uint32_t from[3])
{
    const uint32_t sizes[3] = {tensor->channels, tensor->height, tensor->width};
    return (struct cnnvp_turn){
        .order = cnnvp_permutation_of(tensor, from),
        .shape = {.rank = 4,
                  .channels = sizes[from[0]],
                  .height = sizes[from[1]],
                  .width = sizes[from[2]],
                  .base = CNNVP_GRAPH_NONE}};
}

void cnnvp_turn_reorder(const struct cnnvp_turn *turn, uint32_t numbers[3])
{
    const uint32_t before[3] = {numbers[0], numbers[1], numbers[2]};
    for (uint32_t i = 0; i < 3; ++i)
        numbers[i] = before[turn->order.from[i]];
}

ptrdiff_t cnnvp_graph_maker(const struct cnnvp_graph *graph, int32_t tensor)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    const ptrdiff_t at = cnnvp_graph_producer(graph, tensor);
    return at >= 0 && graph->layers[at].out == base &&
                   cnnvp_graph_words(&graph->tensors[tensor]) == cnnvp_graph_words(&graph->tensors[base])
               ? at
               : -1;
}

size_t cnnvp_graph_after_makers(const struct cnnvp_graph *graph, int32_t tensor)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    size_t i = graph->layer_count;
    while (i > 0 && cnnvp_graph_base(graph, graph->layers[i - 1].out) != base)
        --i;
    return i;
}

int cnnvp_graph_turn_back(struct cnnvp_graph *graph, size_t index, const struct cnnvp_graph_layer *layer, int32_t made,
                          int32_t old, const struct cnnvp_turn *turn)
{
    struct cnnvp_graph_layer after = cnnvp_graph_copy_layer(layer->op_type, made, old);
    after.permuted = 1;
    memcpy(after.from, cnnvp_permutation_inverse(&turn->order).from, sizeof after.from);
    return cnnvp_graph_insert(graph, index, &after, layer->name) != NULL;
}

/* The tensor, or if it has other sizes than the turn reads, one with these, which it shows from then on. */
static int32_t as_turned(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn)
{
    const uint32_t *sizes = turn->order.sizes;
    const struct cnnvp_graph_tensor shape = {.rank = 4, .channels = sizes[0], .height = sizes[1], .width = sizes[2]};
    if (cnnvp_graph_has_sizes(&graph->tensors[tensor], sizes))
        return tensor;
    const int32_t made = cnnvp_graph_tensor_like(graph, tensor, "turned", &shape);
    graph->tensors[tensor].base = made;
    return made;
}

/* Changes the layer at `index` to one whose result, in this shape, is what the turn made of the old one. */
static int32_t replace(struct cnnvp_graph *graph, size_t index, struct cnnvp_graph_layer *layer,
                       const struct cnnvp_graph_tensor *shape, const struct cnnvp_turn *turn)
{
    const int32_t old = layer->out, back = as_turned(graph, old, turn);
    layer->out = cnnvp_graph_tensor_like(graph, old, "turned", shape);
    if (layer->in == CNNVP_GRAPH_NONE || layer->out == CNNVP_GRAPH_NONE || back == CNNVP_GRAPH_NONE)
        return CNNVP_GRAPH_NONE;
    graph->layers[index] = *layer;
    const int32_t result = cnnvp_graph_view_like(graph, layer->out, &turn->shape);
    return result != CNNVP_GRAPH_NONE && cnnvp_graph_turn_back(graph, index + 1, layer, result, back, turn)
               ? result
               : CNNVP_GRAPH_NONE;
}

/* ---- layers of single words ---- */

/* 1: each word of the result depends on the operands' words in its own place. */
static int is_of_words(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const size_t words = cnnvp_graph_words(&graph->tensors[layer->out]);
    const int is_whole = cnnvp_graph_words(&graph->tensors[layer->in]) == words;
    if (layer->op == CNNVP_OP_ADD)
        return is_whole || cnnvp_graph_words(&graph->tensors[layer->in2]) == words;
    if (!is_whole)
        return 0;
    if (layer->op == CNNVP_OP_ACTIVATION)
        return layer->placed == 0 && layer->concat == 0 && layer->permuted == 0 && layer->cropped == 0;
    return layer->op == CNNVP_OP_NORM && layer->norm == CNNVP_NORM_STORED && layer->uniform != 0.0f;
}

static int32_t undo_words(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn)
{
    struct cnnvp_graph_layer layer = graph->layers[cnnvp_graph_maker(graph, tensor)];
    const int32_t second = layer.in2;
    struct cnnvp_turn next = *turn; /* of an operand that may have other dimensions */
    ++next.depth;
    if (second != CNNVP_GRAPH_NONE && !cnnvp_graph_has_sizes(&graph->tensors[layer.out], turn->order.sizes))
        return CNNVP_GRAPH_NONE;
    layer.in = second != CNNVP_GRAPH_NONE ? cnnvp_graph_undo_other(graph, layer.in, turn)
                                          : cnnvp_graph_undo(graph, layer.in, &next);
    if (layer.in != CNNVP_GRAPH_NONE && second != CNNVP_GRAPH_NONE)
        layer.in2 = cnnvp_graph_undo_other(graph, second, turn);
    if (layer.in == CNNVP_GRAPH_NONE || (layer.in2 == CNNVP_GRAPH_NONE && second != CNNVP_GRAPH_NONE))
        return CNNVP_GRAPH_NONE;
    if (turn->look != NULL)
        return tensor;
    if (layer.op == CNNVP_OP_NORM && !cnnvp_graph_spread_scale(graph, &layer, turn->shape.channels))
        return CNNVP_GRAPH_NONE;
    return replace(graph, (size_t)cnnvp_graph_maker(graph, tensor), &layer, &turn->shape, turn);
}

/* ---- pools ---- */

/* Windows of a pool over each dimension of a tensor, which the pool may read in another shape. */
struct windows {
    int32_t in;
    uint32_t sizes[3], steps[3];
    struct cnnvp_graph_tensor shape; /* of the result */
};

/* Tells how the pool reads the tensor, its input or what this shows: a window of rows and columns of it; or it is a map
 * with all of the tensor's channels, or all its channels and rows, as rows. */
static int find_windows(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *pool, int32_t tensor,
                        struct windows *windows)
{
    const struct cnnvp_graph_tensor *in = &graph->tensors[pool->in], *out = &graph->tensors[pool->out];
    const struct cnnvp_graph_tensor *whole = &graph->tensors[tensor];
    *windows = (struct windows){.in = tensor, {1, pool->ky, pool->kx}, {1, pool->sy, pool->sx}, .shape = *out};
    if (tensor == pool->in)
        return 1;
    if (in->channels != 1 || pool->kx != 1 || pool->sx != 1 || whole->channels == 1 ||
        cnnvp_graph_words(whole) != cnnvp_graph_words(in))
        return 0;
    windows->shape.height = whole->height;
    windows->shape.width = whole->width;
    if (whole->channels == in->height) {
        const uint32_t sizes[3] = {pool->ky, 1, 1}, steps[3] = {pool->sy, 1, 1};
        memcpy(windows->sizes, sizes, sizeof sizes);
        memcpy(windows->steps, steps, sizeof steps);
        windows->shape.channels = out->height;
        return 1;
    }
    const uint32_t all[3] = {whole->channels, whole->height, 1};
    memcpy(windows->sizes, all, sizeof all);
    memcpy(windows->steps, all, sizeof all);
    windows->shape.channels = windows->shape.height = 1;
    return whole->width == in->width && pool->ky == in->height;
}

/* A pool can have windows of rows and columns, or of channels as rows. */
static int32_t undo_pool(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn)
{
    struct cnnvp_graph_layer layer = graph->layers[cnnvp_graph_maker(graph, tensor)];
    const int32_t seen[3] = {cnnvp_graph_base(graph, layer.in), graph->tensors[layer.in].base, layer.in};
    struct windows windows;
    int fits = 0;
    for (size_t i = 0; i < 3 && !fits; ++i)
        fits = seen[i] != CNNVP_GRAPH_NONE && find_windows(graph, &layer, seen[i], &windows) &&
               cnnvp_graph_has_sizes(&windows.shape, turn->order.sizes);
    if (!fits || layer.by_position != 0 || layer.dy != 1 || layer.dx != 1 ||
        (layer.pad_top | layer.pad_left | layer.pad_bottom | layer.pad_right) != 0)
        return CNNVP_GRAPH_NONE;
    uint32_t *sizes = windows.sizes, *steps = windows.steps;
    cnnvp_turn_reorder(turn, sizes);
    cnnvp_turn_reorder(turn, steps);
    const int as_rows = sizes[0] != 1 || steps[0] != 1;
    if (as_rows && (sizes[1] != 1 || sizes[2] != 1 || steps[1] != 1 || steps[2] != 1))
        return CNNVP_GRAPH_NONE;
    layer.in = cnnvp_graph_undo_other(graph, windows.in, turn);
    if (layer.in == CNNVP_GRAPH_NONE || turn->look != NULL)
        return layer.in != CNNVP_GRAPH_NONE ? tensor : layer.in;
    struct cnnvp_graph_tensor shape = graph->tensors[layer.in], made = turn->shape;
    if (as_rows) {
        const uint32_t plane = shape.height * shape.width;
        shape = (struct cnnvp_graph_tensor){.rank = 4, .channels = 1, .height = shape.channels, .width = plane};
        made = (struct cnnvp_graph_tensor){.rank = 4, .channels = 1, .height = made.channels, .width = plane};
        layer.in = cnnvp_graph_view_like(graph, layer.in, &shape);
    }
    layer.ky = sizes[as_rows ? 0 : 1];
    layer.sy = steps[as_rows ? 0 : 1];
    layer.kx = sizes[2];
    layer.sx = steps[2];
    return replace(graph, (size_t)cnnvp_graph_maker(graph, tensor), &layer, &made, turn);
}

/* ---- turns ---- */

int32_t cnnvp_graph_undo_turn(struct cnnvp_graph *graph, int32_t tensor, int32_t source,
                              const struct cnnvp_permutation *order, const struct cnnvp_turn *turn)
{
    static const uint32_t swaps[3][3] = {{2, 0, 1}, {2, 1, 0}, {0, 2, 1}}; /* of two dimensions, and 1 */
    const size_t at = (size_t)cnnvp_graph_maker(graph, tensor);
    const int three = order->count == 3;
    const uint32_t *sizes = order->sizes + three;
    const struct cnnvp_graph_tensor read = {
        .rank = 4, .channels = three ? order->sizes[0] : 1, .height = sizes[0], .width = sizes[1]};
    struct cnnvp_graph_layer layer = graph->layers[at];
    struct cnnvp_turn joined;
    int fits = 0;
    for (size_t i = 0; i < 3 && !fits; ++i) {
        joined = cnnvp_turn_of(&read, three ? order->from : swaps[i]);
        fits = cnnvp_graph_has_sizes(&turn->shape, cnnvp_permutation_inverse(&joined.order).sizes);
    }
    layer.in = cnnvp_graph_view_like(graph, source, &read);
    memcpy(layer.from, joined.order.from, sizeof layer.from);
    return replace(graph, at, &layer, fits ? &turn->shape : &joined.shape, turn);
}

int32_t cnnvp_graph_undo_other(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn)
{
    const struct cnnvp_graph_tensor *read = &graph->tensors[tensor];
    struct cnnvp_turn other =
        cnnvp_graph_has_sizes(read, turn->order.sizes) ? *turn : cnnvp_turn_of(read, turn->order.from);
    other.depth = turn->depth + 1;
    other.look = turn->look;
    return cnnvp_graph_undo(graph, tensor, &other);
}

/* Undoes the turn before the layers that make the tensor. */
static int32_t undo_before(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn)
{
    uint32_t first = 0;
    if (turn->look != NULL && (turn->depth == DEPTH || --turn->look->left < 0))
        return CNNVP_GRAPH_NONE;
    const int32_t whole = cnnvp_graph_whole_of(graph, tensor, &first);
    if (whole != tensor)
        return cnnvp_graph_undo_part(graph, tensor, whole, first, turn);
    const ptrdiff_t at = cnnvp_graph_maker(graph, tensor);
    if (at >= 0 && graph->layers[at].op == CNNVP_OP_POOL)
        return undo_pool(graph, tensor, turn);
    return at >= 0 && is_of_words(graph, &graph->layers[at])
               ? undo_words(graph, tensor, turn)
               : cnnvp_graph_undo_copies(graph, tensor, turn);
}

/* 1: turns are undone before it. While looking, they are counted. */
static int finds_turns(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn)
{
    struct cnnvp_look own = {.left = LAYERS};
    struct cnnvp_turn looking = *turn;
    looking.look = turn->look != NULL ? turn->look : &own;
    const int turns = looking.look->turns;
    if (undo_before(graph, tensor, &looking) == CNNVP_GRAPH_NONE)
        looking.look->turns = turns;
    return looking.look->turns > turns;
}

int32_t cnnvp_graph_undo(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn)
{
    struct cnnvp_permutation both = {.count = 0}, order = turn->order;
    const int32_t source = cnnvp_graph_see_through(graph, tensor, &order, &both);
    cnnvp_permutation_reduce(&both);
    cnnvp_permutation_reduce(&order);
    /* Of a turn that leaves words in their order, only what it undoes before is worth a change. */
    const uint32_t *sizes = turn->order.sizes;
    const int joins = source != CNNVP_GRAPH_NONE && both.count >= 2 && both.count <= 3 && turn->depth > 0;
    const int is_turn = joins || (source != CNNVP_GRAPH_NONE && both.count < 2);
    const int line = turn->depth >= 0 && (sizes[0] > 1) + (sizes[1] > 1) + (sizes[2] > 1) < 2;
    if (!is_turn && !line && (order.count >= 2 || (finds_turns(graph, tensor, turn) && turn->look == NULL)))
        return undo_before(graph, tensor, turn);
    const int32_t before = is_turn && !joins ? source : tensor;
    if (turn->look == NULL)
        return joins ? cnnvp_graph_undo_turn(graph, tensor, source, &both, turn)
                     : cnnvp_graph_view_like(graph, before, &turn->shape);
    turn->look->turns += is_turn;
    return before;
}

int32_t cnnvp_graph_can_undo(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn, int *turns)
{
    struct cnnvp_look look = {.left = LAYERS};
    struct cnnvp_turn looking = *turn;
    looking.look = &look;
    const int32_t source = cnnvp_graph_undo(graph, tensor, &looking);
    *turns = look.turns;
    return source;
}
