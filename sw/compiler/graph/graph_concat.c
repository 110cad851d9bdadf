/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Concatenations of channels without copies: layers write their part of the result to its place. A result whose parts
 * follow each other in a larger one is a view of that, as in a dense block, where each layer reads all features before
 * it: they are written once. Parts that lie side by side in one tensor are one part.
 */
#include "graph_edit.h"

/* 1: the layer copies a part of a concatenation of channels. */
static int is_part(const struct cnnvp_graph_layer *layer)
{
    return layer->concat != 0 && layer->placed == 0 && cnnvp_graph_passes(layer);
}

static uint32_t place_of(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *part)
{
    return graph->tensors[part->out].base_channel;
}

/* The tensor that the part is copied to. */
static int32_t result_of(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *part)
{
    return graph->tensors[part->out].base;
}

/* 1: the tensor can become a part of another one: it is no view, a layer makes it, it is no input or output of the
 * network, and its format is not fixed or is that of the other one. */
static int can_move(const struct cnnvp_graph *graph, int32_t tensor, int32_t into)
{
    const uint32_t whole = graph->tensors[tensor].whole & graph->tensors[cnnvp_graph_base(graph, into)].whole;
    if (graph->tensors[tensor].base != CNNVP_GRAPH_NONE || cnnvp_graph_producer(graph, tensor) < 0 ||
        cnnvp_graph_is_input(graph, tensor) || cnnvp_graph_is_output(graph, tensor))
        return 0;
    return whole != 0 || !cnnvp_graph_has_fixed_format(graph, tensor);
}

/* 1: `next` shows the channels of a tensor after those of `view`. */
static int follows(const struct cnnvp_graph *graph, int32_t view, int32_t next)
{
    const struct cnnvp_graph_tensor *a = &graph->tensors[view], *b = &graph->tensors[next];
    return a->base != CNNVP_GRAPH_NONE && a->base == b->base && a->channel_step <= 1 && b->channel_step <= 1 &&
           b->base_channel == a->base_channel + a->channels && a->height == b->height && a->width == b->width;
}

/* The parts from layer `first` on that show all channels of one tensor become one part. */
static void join_views(struct cnnvp_graph *graph, size_t first)
{
    struct cnnvp_graph_layer *part = &graph->layers[first];
    const struct cnnvp_graph_tensor *view = &graph->tensors[part->in];
    uint32_t channels = view->channels;
    size_t end = first + 1;
    if (view->base == CNNVP_GRAPH_NONE || view->base_channel != 0)
        return;
    const struct cnnvp_graph_tensor *all = &graph->tensors[view->base];
    while (end < graph->layer_count && is_part(&graph->layers[end]) &&
           result_of(graph, &graph->layers[end]) == result_of(graph, part) &&
           place_of(graph, &graph->layers[end]) == place_of(graph, part) + channels &&
           follows(graph, graph->layers[end - 1].in, graph->layers[end].in))
        channels += graph->tensors[graph->layers[end++].in].channels;
    if (end == first + 1 || channels != all->channels || view->height != all->height || view->width != all->width)
        return;
    graph->tensors[part->out].channels = channels;
    part->in = view->base;
    for (size_t i = first + 1; i < end; ++i)
        cnnvp_graph_remove(graph, first + 1);
}

/* 1: the parts of the result whose first one is layer `first` follow each other in the one whose copy of that part is
 * layer `other`, in the same order. If `take`, these copies are removed. */
static int holds_parts(struct cnnvp_graph *graph, size_t first, size_t other, int take)
{
    const int32_t result = result_of(graph, &graph->layers[first]), larger = result_of(graph, &graph->layers[other]);
    const uint32_t at = place_of(graph, &graph->layers[other]);
    uint32_t channels = 0;
    for (size_t i = first; i < graph->layer_count && channels < graph->tensors[result].channels; ++i) {
        const struct cnnvp_graph_layer *part = &graph->layers[i];
        if (!is_part(part) || result_of(graph, part) != result)
            continue;
        while (other < graph->layer_count && (!is_part(&graph->layers[other]) || graph->layers[other].in != part->in ||
                                              result_of(graph, &graph->layers[other]) != larger))
            ++other;
        if (other == graph->layer_count || place_of(graph, part) != channels ||
            place_of(graph, &graph->layers[other]) != at + channels)
            return 0;
        channels += graph->tensors[part->in].channels;
        if (take)
            cnnvp_graph_remove(graph, other);
        else
            ++other;
    }
    return channels == graph->tensors[result].channels;
}

/* Makes the result whose first part is layer `first` a view of the last one that has its parts. */
static void share_result(struct cnnvp_graph *graph, size_t first)
{
    const int32_t result = result_of(graph, &graph->layers[first]);
    struct cnnvp_graph_tensor *tensor = &graph->tensors[result];
    for (size_t i = graph->layer_count; --i > first;) {
        const struct cnnvp_graph_layer *part = &graph->layers[i];
        if (!is_part(part) || part->in != graph->layers[first].in || result_of(graph, part) == result)
            continue;
        const int32_t larger = result_of(graph, part);
        const uint32_t at = place_of(graph, part);
        const struct cnnvp_graph_tensor *other = &graph->tensors[larger];
        if (other->height != tensor->height || other->width != tensor->width || other->whole != tensor->whole ||
            other->zero != tensor->zero || !can_move(graph, result, larger) || !holds_parts(graph, first, i, 0))
            continue;
        (void)holds_parts(graph, first, i, 1);
        tensor->base = larger;
        tensor->base_channel = at;
        return;
    }
}

void cnnvp_graph_join_parts(struct cnnvp_graph *graph)
{
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (is_part(&graph->layers[i]))
            join_views(graph, i);
    for (size_t i = graph->layer_count; i-- > 0;)
        if (is_part(&graph->layers[i]) && place_of(graph, &graph->layers[i]) == 0 &&
            graph->tensors[result_of(graph, &graph->layers[i])].base == CNNVP_GRAPH_NONE)
            share_result(graph, i);
    for (size_t i = 0; i < graph->layer_count;) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (!is_part(layer) || !can_move(graph, layer->in, layer->out)) {
            ++i;
            continue;
        }
        graph->tensors[layer->in].base = layer->out;
        cnnvp_graph_remove(graph, i);
    }
}
