/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies with permuted dimensions, here called turns. Those that undo one another are left out, also where layers of
 * single words lie between them: these then work on the words as they lie before the first turn. What quantises a
 * turned tensor does so before the turn, which then copies 8-bit words.
 */
#include <string.h>

#include "graph_turn.h"

/* The turn that the layer is, if it makes a whole tensor. */
static int find_turn(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, struct cnnvp_turn *turn)
{
    if (!cnnvp_graph_is_turn(layer) || graph->tensors[layer->out].base != CNNVP_GRAPH_NONE)
        return 0;
    *turn = cnnvp_turn_of(&graph->tensors[layer->in], layer->from);
    turn->shape = graph->tensors[layer->out];
    return 1;
}

/* Removes the layer that makes the tensor, which is `before`. Returns the index of the layer before. */
static size_t leave_out(struct cnnvp_graph *graph, int32_t tensor, int32_t before)
{
    const size_t at = (size_t)cnnvp_graph_producer(graph, tensor);
    graph->tensors[tensor].base = before;
    cnnvp_graph_remove(graph, at);
    return at - 1;
}

static cnnvp_result undo_turns(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer layer = graph->layers[i];
        struct cnnvp_turn turn;
        int turns;
        const int32_t source =
            find_turn(graph, &layer, &turn) ? cnnvp_graph_can_undo(graph, layer.in, &turn, &turns) : CNNVP_GRAPH_NONE;
        if (source == CNNVP_GRAPH_NONE ||
            (cnnvp_graph_is_output(graph, layer.out) && cnnvp_graph_is_input(graph, source)))
            continue; /* if it can: the network copies its input */
        const int32_t before = cnnvp_graph_undo(graph, layer.in, &turn);
        CNNVP_TRY_MEMORY(before != CNNVP_GRAPH_NONE, error);
        i = leave_out(graph, layer.out, before);
    }
    cnnvp_graph_drop_unused(graph);
    return CNNVP_DONE;
}

/* The layer that makes the operand by a turn and for this reader alone, but for zeros; NULL: there is none. */
static const struct cnnvp_graph_layer *own_turn(const struct cnnvp_graph *graph, int32_t operand)
{
    const struct cnnvp_graph_layer *turn = cnnvp_graph_turning(graph, operand);
    size_t readers = turn != NULL ? cnnvp_graph_readers(graph, operand) : 0;
    for (size_t i = 0; i < graph->layer_count && readers > 1; ++i)
        readers -= cnnvp_graph_is_zero(&graph->layers[i]) && cnnvp_graph_base(graph, graph->layers[i].in) == turn->out;
    return readers == 1 ? turn : NULL;
}

/* The same if it makes the operand in the operand's dimensions. */
static const struct cnnvp_graph_layer *own_turn_alike(const struct cnnvp_graph *graph, int32_t operand)
{
    const struct cnnvp_graph_layer *turn = own_turn(graph, operand);
    const struct cnnvp_graph_tensor *made = turn != NULL ? &graph->tensors[turn->out] : NULL;
    const struct cnnvp_graph_tensor *read = &graph->tensors[operand];
    return made != NULL && made->channels == read->channels && made->height == read->height ? turn : NULL;
}

/* The same for a copy of a part, which may read a part of the turned tensor. */
static const struct cnnvp_graph_layer *own_turn_of_part(const struct cnnvp_graph *graph,
                                                        const struct cnnvp_graph_layer *layer)
{
    const int32_t in = cnnvp_graph_copied(graph, layer);
    const struct cnnvp_graph_layer *turn = in != CNNVP_GRAPH_NONE ? own_turn_alike(graph, in) : NULL;
    const ptrdiff_t at = turn == NULL && in != CNNVP_GRAPH_NONE ? cnnvp_graph_maker(graph, in) : -1;
    const int32_t inner = at >= 0 ? cnnvp_graph_copied(graph, &graph->layers[at]) : CNNVP_GRAPH_NONE;
    return inner != CNNVP_GRAPH_NONE ? own_turn_alike(graph, inner) : turn;
}

/* The turn of all parts of a concatenation; NULL: as for common_turn. */
static const struct cnnvp_graph_layer *turn_of_parts(const struct cnnvp_graph *graph, int32_t base)
{
    const struct cnnvp_graph_layer *turn = NULL;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        if (cnnvp_graph_base(graph, graph->layers[i].out) != base || cnnvp_graph_copies_zeros(graph, &graph->layers[i]))
            continue;
        const struct cnnvp_graph_layer *other = own_turn_of_part(graph, &graph->layers[i]);
        if (other == NULL || (turn != NULL && memcmp(turn->from, other->from, sizeof turn->from) != 0))
            return NULL;
        turn = other;
    }
    return turn;
}

/* The turn of all operands of a sum, an activation or a concatenation; NULL: they are not turned in the same way, or
 * others read them. */
static const struct cnnvp_graph_layer *common_turn(const struct cnnvp_graph *graph,
                                                   const struct cnnvp_graph_layer *layer)
{
    if (layer->concat != 0)
        return turn_of_parts(graph, cnnvp_graph_base(graph, layer->out));
    if (layer->op == CNNVP_OP_ACTIVATION || cnnvp_graph_only_quantises(layer))
        return cnnvp_graph_copied(graph, layer) == CNNVP_GRAPH_NONE ? own_turn(graph, layer->in) : NULL;
    const struct cnnvp_graph_layer *first = layer->op == CNNVP_OP_ADD ? own_turn(graph, layer->in) : NULL;
    const struct cnnvp_graph_layer *second = first != NULL ? own_turn(graph, layer->in2) : NULL;
    return second != NULL && memcmp(first->from, second->from, sizeof first->from) == 0 ? first : NULL;
}

/* Turns results of single words and concatenations of turned tensors instead of these. */
static cnnvp_result turn_results(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *before = common_turn(graph, &graph->layers[i]);
        const int32_t out = graph->layers[i].out;
        const int32_t result = graph->layers[i].concat != 0 ? cnnvp_graph_base(graph, out) : out;
        const struct cnnvp_graph_tensor *made = &graph->tensors[result];
        if (before == NULL || made->base != CNNVP_GRAPH_NONE)
            continue;
        const struct cnnvp_permutation order = cnnvp_permutation_of(&graph->tensors[before->in], before->from);
        const struct cnnvp_graph_tensor *read =
            graph->layers[i].op == CNNVP_OP_NORM ? &graph->tensors[before->out] : made;
        const struct cnnvp_turn turn = cnnvp_turn_of(read, cnnvp_permutation_inverse(&order).from);
        int turns;
        if (cnnvp_graph_can_undo(graph, result, &turn, &turns) == CNNVP_GRAPH_NONE || turns == 0)
            continue;
        CNNVP_TRY_MEMORY(cnnvp_graph_undo(graph, result, &turn) != CNNVP_GRAPH_NONE, error);
        cnnvp_graph_drop_unused(graph);
        i = (size_t)cnnvp_graph_producer(graph, result);
    }
    return CNNVP_DONE;
}

/* Lets a pool over all rows of channels that lie last, if nothing else reads these, read them as maps, as they lie
 * before they are turned. */
static cnnvp_result pool_before_turns(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    static const uint32_t to_front[3] = {2, 0, 1};
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer layer = graph->layers[i];
        const struct cnnvp_graph_tensor *out = &graph->tensors[layer.out];
        struct cnnvp_turn turn = cnnvp_turn_of(out, to_front);
        int turns = 0;
        turn.depth = -1; /* the pool itself is no layer between turns */
        if (layer.op == CNNVP_OP_POOL && cnnvp_graph_words(out) == out->width && out->base == CNNVP_GRAPH_NONE &&
            !cnnvp_graph_is_output(graph, layer.out) && cnnvp_graph_readers(graph, layer.in) == 1)
            (void)cnnvp_graph_can_undo(graph, layer.out, &turn, &turns);
        if (turns == 0)
            continue;
        const int32_t maps = cnnvp_graph_undo(graph, layer.out, &turn);
        CNNVP_TRY_MEMORY(maps != CNNVP_GRAPH_NONE, error);
        i = leave_out(graph, cnnvp_graph_base(graph, layer.out), maps);
    }
    cnnvp_graph_drop_unused(graph);
    return CNNVP_DONE;
}

/* ---- turns of turns ---- */

cnnvp_result cnnvp_graph_join_turns(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer layer = graph->layers[i];
        struct cnnvp_permutation both = {.count = 0};
        struct cnnvp_turn turn;
        if (!find_turn(graph, &layer, &turn))
            continue;
        const int32_t source = cnnvp_graph_see_through(graph, layer.in, &turn.order, &both);
        cnnvp_permutation_reduce(&both);
        if (source == CNNVP_GRAPH_NONE || both.count < 2 || both.count > 3 || cnnvp_graph_readers(graph, layer.in) != 1)
            continue;
        const int32_t before = cnnvp_graph_undo_turn(graph, layer.in, source, &both, &turn);
        CNNVP_TRY_MEMORY(before != CNNVP_GRAPH_NONE, error);
        (void)leave_out(graph, layer.out, before);
        cnnvp_graph_drop_unused(graph);
        i = (size_t)cnnvp_graph_producer(graph, layer.out);
    }
    return CNNVP_DONE;
}

/* ---- softmax of what is turned ---- */

/* Lets softmax over the last dimension read what a turn reads whose result nothing else reads. */
static cnnvp_result turn_by_softmax(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *softmax = &graph->layers[i];
        const ptrdiff_t at = softmax->op == CNNVP_OP_SOFTMAX ? cnnvp_graph_maker(graph, softmax->in) : -1;
        if (at < 0 || softmax->axis != CNNVP_AXIS_LAST || softmax->permuted != 0)
            continue;
        const struct cnnvp_graph_layer *turn = &graph->layers[at];
        const struct cnnvp_graph_tensor made = graph->tensors[turn->out], read = graph->tensors[softmax->in];
        const int32_t old = softmax->out;
        if (!cnnvp_graph_is_turn(turn) || read.width != made.width || made.width == 1 ||
            graph->tensors[old].base != CNNVP_GRAPH_NONE || cnnvp_graph_readers(graph, turn->out) != 1)
            continue;
        if (read.channels != made.channels || read.height != made.height) {
            softmax->out = cnnvp_graph_tensor_like(graph, old, "turned", &made);
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

cnnvp_result cnnvp_graph_turn(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    CNNVP_TRY(undo_turns(graph, error));
    CNNVP_TRY(turn_results(graph, error));
    CNNVP_TRY(undo_turns(graph, error));
    CNNVP_TRY(pool_before_turns(graph, error));
    return turn_by_softmax(graph, error);
}
