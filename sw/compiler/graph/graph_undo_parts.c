/* SPDX-License-Identifier: Apache-2.0 */
/* Turns that are undone through copies of parts: Concat, Split, Slice and Pad. */
#include <math.h>

#include "graph_turn.h"

/* A copy of a part of one tensor into part of another one. */
struct copy {
    int32_t in, out;                     /* all channels, rows and columns */
    uint32_t crop[3], size[3], place[3]; /* first of them, number, and first one in `out` */
};

int32_t cnnvp_graph_whole_of(const struct cnnvp_graph *graph, int32_t tensor, uint32_t *first)
{
    const struct cnnvp_graph_tensor *view = &graph->tensors[tensor];
    if (view->base == CNNVP_GRAPH_NONE || view->channel_step > 1)
        return tensor;
    const struct cnnvp_graph_tensor *base = &graph->tensors[view->base];
    if (base->height != view->height || base->width != view->width || base->channels == view->channels)
        return tensor;
    *first += view->base_channel;
    return view->base;
}

/* 1: the layer is such a copy of single words. */
static int is_part(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, struct copy *copy)
{
    *copy = (struct copy){.in = layer->in, .out = layer->out};
    if (layer->op != CNNVP_OP_ACTIVATION || layer->permuted != 0 || layer->lowest != 0)
        return 0;
    const struct cnnvp_graph_tensor *in = &graph->tensors[layer->in];
    copy->in = cnnvp_graph_whole_of(graph, layer->in, &copy->crop[0]);
    copy->crop[1] = layer->crop_row;
    copy->crop[2] = layer->crop_column;
    copy->size[0] = in->channels;
    copy->size[1] = layer->cropped != 0 ? layer->crop_height : in->height;
    copy->size[2] = layer->cropped != 0 ? layer->crop_width : in->width;
    copy->out = cnnvp_graph_whole_of(graph, layer->out, &copy->place[0]);
    copy->place[1] = layer->place_row;
    copy->place[2] = layer->place_column;
    return layer->placed != 0 || layer->concat != 0 || layer->cropped != 0;
}

int32_t cnnvp_graph_copied(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    struct copy copy;
    return is_part(graph, layer, &copy) ? copy.in : CNNVP_GRAPH_NONE;
}

int cnnvp_graph_is_zero(const struct cnnvp_graph_layer *layer)
{
    return layer->op == CNNVP_OP_ACTIVATION && layer->post_count == 2 && layer->posts[0].kind == CNNVP_GRAPH_MAX &&
           layer->posts[1].kind == CNNVP_GRAPH_MIN && !(fabsf(layer->posts[0].value) > 0.0f) &&
           !(fabsf(layer->posts[1].value) > 0.0f);
}

int cnnvp_graph_copies_zeros(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const ptrdiff_t at = cnnvp_graph_maker(graph, layer->in);
    return at >= 0 && cnnvp_graph_is_zero(&graph->layers[at]);
}

/* Finds out if copies of parts make all that the tensor shows, and what they leave out is 0 also when they are turned.
 * *drops_zeros: once they are turned, one copy fills all channels, and the rest is 0 by itself. */
static int are_copies(const struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn, int *drops_zeros)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    const uint32_t channels = turn->order.from[0]; /* which become that */
    size_t words = 0, count = 0;
    struct copy copy;
    *drops_zeros = 0;
    if (!cnnvp_graph_has_sizes(&graph->tensors[base], turn->order.sizes) ||
        cnnvp_graph_words(&graph->tensors[tensor]) != cnnvp_graph_words(&graph->tensors[base]))
        return 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (cnnvp_graph_base(graph, layer->out) != base)
            continue;
        if (!is_part(graph, layer, &copy) || copy.out != base)
            return 0;
        words += (size_t)copy.size[0] * copy.size[1] * copy.size[2];
        if (cnnvp_graph_copies_zeros(graph, layer))
            continue;
        *drops_zeros = ++count == 1 && copy.size[channels] == turn->order.sizes[channels];
    }
    return count != 0 && (*drops_zeros || words == cnnvp_graph_words(&graph->tensors[base]));
}

/* The channels of a part. */
static int32_t channels_of(struct cnnvp_graph *graph, int32_t tensor, uint32_t first, uint32_t count)
{
    return first == 0 && count == graph->tensors[tensor].channels
               ? tensor
               : cnnvp_graph_channel_view(graph, tensor, first, count);
}

/* Makes the layer copy as told. 0: out of memory. */
static int set_copy(struct cnnvp_graph *graph, const struct copy *copy, struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph_tensor in = graph->tensors[copy->in], out = graph->tensors[copy->out];
    layer->cropped = copy->size[1] != in.height || copy->size[2] != in.width;
    layer->crop_row = copy->crop[1];
    layer->crop_column = copy->crop[2];
    layer->crop_height = layer->cropped != 0 ? copy->size[1] : 0;
    layer->crop_width = layer->cropped != 0 ? copy->size[2] : 0;
    layer->placed = copy->size[1] != out.height || copy->size[2] != out.width;
    layer->place_row = copy->place[1];
    layer->place_column = copy->place[2];
    layer->in = channels_of(graph, copy->in, copy->crop[0], copy->size[0]);
    layer->out = channels_of(graph, copy->out, copy->place[0], copy->size[0]);
    return layer->in != CNNVP_GRAPH_NONE && layer->out != CNNVP_GRAPH_NONE;
}

/* Lets a copy of a whole tensor with zeros around read what these are around. */
static void join_zeros(const struct cnnvp_graph *graph, struct copy *copy)
{
    struct copy inner;
    const ptrdiff_t at = cnnvp_graph_maker(graph, copy->in);
    if (at < 0 || copy->crop[0] + copy->crop[1] + copy->crop[2] != 0 ||
        !cnnvp_graph_has_sizes(&graph->tensors[copy->in], copy->size) || !is_part(graph, &graph->layers[at], &inner) ||
        graph->layers[at].concat != 0 || !cnnvp_graph_passes(&graph->layers[at]) || inner.place[0] != 0 ||
        inner.size[0] != copy->size[0])
        return;
    for (uint32_t i = 0; i < 3; ++i) {
        copy->crop[i] = inner.crop[i];
        copy->size[i] = inner.size[i];
        copy->place[i] += inner.place[i];
    }
    copy->in = inner.in;
}

int32_t cnnvp_graph_undo_copies(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_turn *turn)
{
    const int32_t old = cnnvp_graph_base(graph, tensor);
    struct cnnvp_graph_layer layer = {.in = CNNVP_GRAPH_NONE};
    const int turns = turn->look != NULL ? turn->look->turns : 0;
    int drops_zeros, of_channels = 0;
    if (!are_copies(graph, tensor, turn, &drops_zeros))
        return CNNVP_GRAPH_NONE;
    const int32_t made = turn->look != NULL ? tensor : cnnvp_graph_tensor_like(graph, old, "turned", &turn->shape);
    for (size_t i = 0; i < graph->layer_count && made != CNNVP_GRAPH_NONE; ++i) {
        struct copy copy;
        if (cnnvp_graph_base(graph, graph->layers[i].out) != old)
            continue;
        if (drops_zeros && cnnvp_graph_copies_zeros(graph, &graph->layers[i])) {
            if (turn->look == NULL)
                cnnvp_graph_remove(graph, i--);
            continue;
        }
        layer = graph->layers[i];
        (void)is_part(graph, &layer, &copy);
        const size_t layers = graph->layer_count;
        copy.in = cnnvp_graph_undo_other(graph, copy.in, turn);
        i += graph->layer_count - layers; /* inserted in front of it */
        if (copy.in == CNNVP_GRAPH_NONE)
            return CNNVP_GRAPH_NONE;
        of_channels |= copy.size[0] != turn->order.sizes[0] && graph->tensors[layer.in].base == CNNVP_GRAPH_NONE;
        if (turn->look != NULL)
            continue;
        copy.out = made;
        cnnvp_turn_reorder(turn, copy.crop);
        cnnvp_turn_reorder(turn, copy.size);
        cnnvp_turn_reorder(turn, copy.place);
        if (drops_zeros)
            join_zeros(graph, &copy);
        layer.concat = drops_zeros ? 0 : layer.concat;
        if (!set_copy(graph, &copy, &layer))
            return CNNVP_GRAPH_NONE;
        if ((layer.placed | layer.concat | layer.cropped) == 0 && cnnvp_graph_passes(&layer)) { /* some channels */
            cnnvp_graph_remove(graph, i);
            return cnnvp_graph_turn_back(graph, i, &layer, layer.in, old, turn) ? layer.in : CNNVP_GRAPH_NONE;
        }
        graph->layers[i] = layer;
    }
    if (turn->look != NULL) /* parts of channels need no copies unless they are views */
        return turn->look->turns > turns || !of_channels || turn->order.from[0] == 0 ? tensor : CNNVP_GRAPH_NONE;
    return made != CNNVP_GRAPH_NONE &&
                   cnnvp_graph_turn_back(graph, cnnvp_graph_after_makers(graph, made), &layer, made, old, turn)
               ? made
               : CNNVP_GRAPH_NONE;
}

/* Some channels of a tensor that is turned: other ones, or a copy of a part of its rows or columns. */
int32_t cnnvp_graph_undo_part(struct cnnvp_graph *graph, int32_t tensor, int32_t whole, uint32_t first,
                              const struct cnnvp_turn *turn)
{
    const uint32_t *sizes = turn->order.sizes;
    const char *name = graph->tensors[tensor].name;
    struct copy copy = {.crop = {first, 0, 0}, .size = {sizes[0], sizes[1], sizes[2]}};
    if (!cnnvp_graph_has_sizes(&graph->tensors[tensor], sizes))
        return CNNVP_GRAPH_NONE;
    copy.in = cnnvp_graph_undo_other(graph, whole, turn);
    if (copy.in == CNNVP_GRAPH_NONE || turn->look != NULL)
        return copy.in != CNNVP_GRAPH_NONE ? tensor : copy.in;
    cnnvp_turn_reorder(turn, copy.crop);
    cnnvp_turn_reorder(turn, copy.size);
    if (turn->order.from[0] == 0)
        return channels_of(graph, copy.in, copy.crop[0], copy.size[0]);
    copy.out = cnnvp_graph_tensor_like(graph, tensor, "turned", &turn->shape);
    struct cnnvp_graph_layer layer = cnnvp_graph_copy_layer("copy", copy.in, copy.out);
    return copy.out != CNNVP_GRAPH_NONE && set_copy(graph, &copy, &layer) &&
                   cnnvp_graph_insert(graph, cnnvp_graph_after_makers(graph, copy.in), &layer, name) != NULL
               ? copy.out
               : CNNVP_GRAPH_NONE;
}
