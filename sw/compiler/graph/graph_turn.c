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

/* ---- a turn of a turn ---- */

/* Parts of dimensions that two turns behind one another keep together, the innermost one first. */
struct parts {
    uint32_t count;
    uint32_t sizes[6];
    uint32_t made[6]; /* dimension of what the first turn makes */
    uint32_t read[6]; /* of what the second one reads */
};

/* Cuts dimensions of the same words, seen in two ways. 0: they have no parts in common. */
static int cut(const uint32_t made[3], const uint32_t read[3], struct parts *parts)
{
    uint32_t i = 2, k = 2, left = made[2], other = read[2];
    for (parts->count = 0;;) {
        const uint32_t size = left < other ? left : other;
        if (left % size != 0 || other % size != 0)
            return 0;
        if (size != 1) {
            parts->sizes[parts->count] = size;
            parts->made[parts->count] = i;
            parts->read[parts->count++] = k;
        }
        left /= size;
        other /= size;
        if (left == 1 && other == 1 && i == 0 && k == 0)
            return 1;
        if (left == 1 && i != 0)
            left = made[--i];
        if (other == 1 && k != 0)
            other = read[--k];
    }
}

/* Lists the parts as dimensions in this order have them, the outermost first. */
static void list_parts(const struct parts *parts, const uint32_t of[6], const uint32_t order[3], uint32_t list[6])
{
    uint32_t count = 0;
    for (uint32_t d = 0; d < 3; ++d)
        for (uint32_t p = parts->count; p-- > 0;)
            if (of[p] == order[d])
                list[count++] = p;
}

/* The permutation from the parts in one order to those in another one. 0: it has more than three dimensions. */
static int join_parts(const struct parts *parts, const uint32_t first[6], const uint32_t last[6], uint32_t sizes[3],
                      uint32_t from[3])
{
    uint32_t place[6], starts[6], begins[7] = {0}, groups = 0;
    for (uint32_t i = 0; i < parts->count; ++i)
        place[first[i]] = i;
    for (uint32_t i = 0; i < parts->count; ++i)
        if (i == 0 || place[last[i]] != place[last[i - 1]] + 1) {
            begins[groups] = i;
            starts[groups++] = place[last[i]];
        }
    begins[groups] = parts->count;
    if (groups < 2 || groups > 3)
        return 0;
    const uint32_t ones = 3 - groups;
    sizes[0] = 1;
    from[0] = 0;
    for (uint32_t g = 0; g < groups; ++g) {
        uint32_t before = 0;
        for (uint32_t k = 0; k < groups; ++k)
            before += starts[k] < starts[g];
        const uint32_t dimension = ones + before;
        sizes[dimension] = 1;
        for (uint32_t i = begins[g]; i < begins[g + 1]; ++i)
            sizes[dimension] *= parts->sizes[last[i]];
        from[ones + g] = dimension;
    }
    return 1;
}

/* Distributes the dimensions of 1 of a permutation so that its result has this shape. 0: it has another one. */
static int make_shape(const uint32_t sizes[3], uint32_t from[3], const struct cnnvp_graph_tensor *shape)
{
    const uint32_t wanted[3] = {shape->channels, shape->height, shape->width};
    uint32_t made[3] = {0}, ones[3], wide = 0, one = 0, next = 0, other = 0;
    for (uint32_t i = 0; i < 3; ++i)
        if (sizes[from[i]] != 1)
            made[wide++] = from[i];
        else
            ones[one++] = from[i];
    for (uint32_t i = 0; i < 3; ++i)
        if (wanted[i] != 1 && (next == wide || sizes[made[next++]] != wanted[i]))
            return 0;
    if (next != wide)
        return 0;
    next = 0;
    for (uint32_t i = 0; i < 3; ++i)
        from[i] = wanted[i] != 1 ? made[next++] : ones[other++];
    return 1;
}

/* The single permutation that does what the layer and then one of its result, read with these sizes, do: of parts of
 * `sizes`, with a result like `shape` if *fits. 0: there is none. */
static int join(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *first, const uint32_t read[3],
                const uint32_t then[3], const struct cnnvp_graph_tensor *shape, uint32_t sizes[3], uint32_t from[3],
                int *fits)
{
    const struct cnnvp_graph_tensor *out = &graph->tensors[first->out];
    const uint32_t made[3] = {out->channels, out->height, out->width};
    struct parts parts;
    uint32_t before[6], after[6], order[3];
    for (uint32_t d = 0; d < 3; ++d)
        order[first->from[d]] = d;
    if (!cut(made, read, &parts))
        return 0;
    list_parts(&parts, parts.made, order, before);
    list_parts(&parts, parts.read, then, after);
    if (!join_parts(&parts, before, after, sizes, from))
        return 0;
    *fits = make_shape(sizes, from, shape);
    return 1;
}

/* ---- turns that undo one another ---- */

struct turn {
    uint32_t sizes[3]; /* of what it reads */
    uint32_t from[3];
    struct cnnvp_graph_tensor shape; /* of its result */
    int *looked_at;
};

static int has_sizes(const struct cnnvp_graph_tensor *tensor, const uint32_t sizes[3])
{
    return tensor->channels == sizes[0] && tensor->height == sizes[1] && tensor->width == sizes[2];
}

/* The turn with the same order of a tensor that may have other sizes. */
static struct turn same_turn(const struct turn *turn, const struct cnnvp_graph_tensor *tensor)
{
    const uint32_t sizes[3] = {tensor->channels, tensor->height, tensor->width};
    struct turn made = *turn;
    if (has_sizes(tensor, turn->sizes))
        return made;
    memcpy(made.sizes, sizes, sizeof sizes);
    made.shape = (struct cnnvp_graph_tensor){
        .rank = 4,
        .channels = sizes[turn->from[0]],
        .height = sizes[turn->from[1]],
        .width = sizes[turn->from[2]],
        .base = CNNVP_GRAPH_NONE};
    return made;
}

/* Numbers for each dimension in the order of the turn's result. */
static void reorder(const struct turn *turn, uint32_t numbers[3])
{
    const uint32_t before[3] = {numbers[0], numbers[1], numbers[2]};
    for (uint32_t i = 0; i < 3; ++i)
        numbers[i] = before[turn->from[i]];
}

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

/* 1: the tensor has a single dimension, whose words lie in the same order however it is turned. */
static int is_line(const struct cnnvp_graph_tensor *tensor)
{
    return (tensor->channels > 1) + (tensor->height > 1) + (tensor->width > 1) < 2;
}

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

/* Windows of a pool over each dimension of a tensor, which the pool may read in another shape. */
struct windows {
    int32_t in;
    uint32_t sizes[3], steps[3];
    struct cnnvp_graph_tensor shape; /* of the result */
};

/* Tells how the pool reads the tensor: a window of rows and columns of it; or it is a map with all of the tensor's
 * channels, or all its channels and rows, as rows. */
static int find_windows(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *pool, struct windows *windows)
{
    const struct cnnvp_graph_tensor *in = &graph->tensors[pool->in], *out = &graph->tensors[pool->out];
    *windows = (struct windows){.in = pool->in, {1, pool->ky, pool->kx}, {1, pool->sy, pool->sx}, .shape = *out};
    if (pool->op != CNNVP_OP_POOL || pool->by_position != 0 || pool->dy != 1 || pool->dx != 1 ||
        (pool->pad_top | pool->pad_left | pool->pad_bottom | pool->pad_right) != 0)
        return 0;
    if (in->base == CNNVP_GRAPH_NONE || in->channels != 1 || pool->kx != 1 || pool->sx != 1)
        return 1;
    const struct cnnvp_graph_tensor *whole = &graph->tensors[in->base];
    if (cnnvp_graph_words(whole) != cnnvp_graph_words(in) || whole->channels == 1)
        return 1;
    windows->in = in->base;
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

/* 1: a pool can have these windows: of rows and columns, or of channels as rows. */
static int can_have(const struct windows *windows)
{
    const uint32_t *sizes = windows->sizes, *steps = windows->steps;
    return (sizes[0] == 1 && steps[0] == 1) || (sizes[1] == 1 && sizes[2] == 1 && steps[1] == 1 && steps[2] == 1);
}

/* A copy of a part of one tensor into part of another one. */
struct copy {
    int32_t in, out;                     /* all channels, rows and columns */
    uint32_t crop[3], size[3], place[3]; /* first of them, number, and first one in `out` */
};

/* Adds the place of a view of some channels, and goes on to what it shows. */
static int32_t whole_of(const struct cnnvp_graph *graph, int32_t tensor, uint32_t *first)
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
    copy->in = whole_of(graph, layer->in, &copy->crop[0]);
    copy->crop[1] = layer->crop_row;
    copy->crop[2] = layer->crop_column;
    copy->size[0] = in->channels;
    copy->size[1] = layer->cropped != 0 ? layer->crop_height : in->height;
    copy->size[2] = layer->cropped != 0 ? layer->crop_width : in->width;
    copy->out = whole_of(graph, layer->out, &copy->place[0]);
    copy->place[1] = layer->place_row;
    copy->place[2] = layer->place_column;
    return layer->placed != 0 || layer->concat != 0 || layer->cropped != 0;
}

/* 1: all words of the layer's result are 0. */
static int is_zero(const struct cnnvp_graph_layer *layer)
{
    return layer->op == CNNVP_OP_ACTIVATION && layer->post_count == 2 && layer->posts[0].kind == CNNVP_GRAPH_MAX &&
           layer->posts[1].kind == CNNVP_GRAPH_MIN && !(fabsf(layer->posts[0].value) > 0.0f) &&
           !(fabsf(layer->posts[1].value) > 0.0f);
}

/* 1: the copy's words are all 0. */
static int copies_zeros(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const ptrdiff_t at = maker_of(graph, layer->in);
    return at >= 0 && is_zero(&graph->layers[at]);
}

/* Copies that make a tensor. */
struct copies {
    size_t count;    /* without those of zeros */
    size_t only;     /* the last of these */
    int drops_zeros; /* 1: once it is turned, one copy fills all its channels, and the rest is 0 by itself */
};

/* Finds the copies if the tensor shows all words of its base, nothing else makes any, and what they leave out is 0 when
 * they are turned, too. 0: it is not so. */
static int find_copies(const struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn, struct copies *copies)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    size_t words = 0;
    struct copy copy;
    *copies = (struct copies){.count = 0};
    if (!has_sizes(&graph->tensors[base], turn->sizes))
        return 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (cnnvp_graph_base(graph, layer->out) != base)
            continue;
        if (!is_part(graph, layer, &copy) || copy.out != base)
            return 0;
        words += (size_t)copy.size[0] * copy.size[1] * copy.size[2];
        if (copies_zeros(graph, layer))
            continue;
        copies->only = i;
        ++copies->count;
    }
    copies->drops_zeros = copies->count == 1 && is_part(graph, &graph->layers[copies->only], &copy) &&
                          copy.size[turn->from[0]] == turn->sizes[turn->from[0]];
    return copies->count != 0 && (copies->drops_zeros || words == cnnvp_graph_words(&graph->tensors[base]));
}

static int can_undo(const struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn, int depth);

static int can_undo_other(const struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn, int depth)
{
    const struct turn other = same_turn(turn, &graph->tensors[tensor]);
    return can_undo(graph, tensor, &other, depth + 1);
}

static int can_undo_copies(const struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn, int depth)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    struct copies copies;
    if (!find_copies(graph, tensor, turn, &copies))
        return 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        struct copy copy;
        if (cnnvp_graph_base(graph, layer->out) == base && !(copies.drops_zeros && copies_zeros(graph, layer)) &&
            !(is_part(graph, layer, &copy) && can_undo_other(graph, copy.in, turn, depth)))
            return 0;
    }
    return 1;
}

static int can_undo_pool(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *pool, const struct turn *turn,
                         int depth)
{
    struct windows windows;
    if (!find_windows(graph, pool, &windows) || !has_sizes(&windows.shape, turn->sizes))
        return 0;
    reorder(turn, windows.sizes);
    reorder(turn, windows.steps);
    return can_have(&windows) && can_undo_other(graph, windows.in, turn, depth);
}

/* The layer that makes the tensor by a turn that can be one with this turn; -1: there is none. */
static ptrdiff_t joins(const struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn, uint32_t sizes[3],
                       uint32_t from[3])
{
    const ptrdiff_t at = maker_of(graph, tensor);
    int fits;
    return at >= 0 && is_turn(&graph->layers[at]) &&
                   join(graph, &graph->layers[at], turn->sizes, turn->from, &turn->shape, sizes, from, &fits)
               ? at
               : -1;
}

/* 1: the tensor is the result of turns that this turn undoes, possibly through layers of single words, copies of parts
 * and pools. */
static int can_undo(const struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn, int depth)
{
    uint32_t first = 0;
    if (cnnvp_graph_put_back(graph, tensor, turn->sizes, turn->from) != CNNVP_GRAPH_NONE ||
        is_line(&graph->tensors[tensor]))
        return 1;
    if (depth == DEPTH || ++*turn->looked_at > LAYERS || !has_sizes(&graph->tensors[tensor], turn->sizes))
        return 0;
    const int32_t whole = whole_of(graph, tensor, &first);
    if (whole != tensor)
        return can_undo_other(graph, whole, turn, depth);
    const ptrdiff_t at = maker_of(graph, tensor);
    const struct cnnvp_graph_layer *layer = at >= 0 ? &graph->layers[at] : NULL;
    uint32_t sizes[3], from[3];
    if (layer != NULL &&
        (can_undo_pool(graph, layer, turn, depth) || (depth > 0 && joins(graph, tensor, turn, sizes, from) >= 0)))
        return 1;
    if (layer == NULL || !is_of_words(graph, layer))
        return can_undo_copies(graph, tensor, turn, depth);
    return has_sizes(&graph->tensors[layer->out], turn->sizes) && can_undo_other(graph, layer->in, turn, depth) &&
           (layer->op != CNNVP_OP_ADD || can_undo_other(graph, layer->in2, turn, depth));
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

static struct cnnvp_graph_layer copy_layer(const char *op_type, int32_t in, int32_t out)
{
    return (struct cnnvp_graph_layer){
        .op = CNNVP_OP_ACTIVATION,
        .op_type = op_type,
        .in = in,
        .in2 = CNNVP_GRAPH_NONE,
        .out = out,
        CNNVP_ONE_TAP,
        .groups = 1,
        .post_count = 1,
        .posts = {{CNNVP_GRAPH_MAX, -INFINITY}}};
}

/* Inserts a layer at `index` that makes `old` by turning `made` back. */
static int turn_back(struct cnnvp_graph *graph, size_t index, const struct cnnvp_graph_layer *layer, int32_t made,
                     int32_t old, const struct turn *turn)
{
    struct cnnvp_graph_layer after = copy_layer(layer->op_type, made, old);
    after.permuted = 1;
    for (uint32_t i = 0; i < 3; ++i)
        after.from[turn->from[i]] = i;
    return cnnvp_graph_insert(graph, index, &after, layer->name) != NULL;
}

static int32_t undo(struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn);

static int32_t undo_other(struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn)
{
    const struct turn other = same_turn(turn, &graph->tensors[tensor]);
    return undo(graph, tensor, &other);
}

/* The index behind the last layer that makes some of the tensor's words. */
static size_t after_makers(const struct cnnvp_graph *graph, int32_t tensor)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    size_t i = graph->layer_count;
    while (i > 0 && cnnvp_graph_base(graph, graph->layers[i - 1].out) != base)
        --i;
    return i;
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
    const ptrdiff_t at = maker_of(graph, copy->in);
    if (at < 0 || copy->crop[0] + copy->crop[1] + copy->crop[2] != 0 ||
        !has_sizes(&graph->tensors[copy->in], copy->size) || !is_part(graph, &graph->layers[at], &inner) ||
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

/* Copies of parts: each copies a part of its turned input to the turned result. */
static int32_t undo_copies(struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn)
{
    const int32_t old = cnnvp_graph_base(graph, tensor);
    const int32_t made = turned_tensor(graph, old, &turn->shape);
    struct cnnvp_graph_layer layer = {.in = CNNVP_GRAPH_NONE};
    struct copies copies;
    (void)find_copies(graph, tensor, turn, &copies);
    const int drops = copies.drops_zeros;
    for (size_t i = 0; i < graph->layer_count && made != CNNVP_GRAPH_NONE; ++i) {
        struct copy copy;
        if (cnnvp_graph_base(graph, graph->layers[i].out) != old)
            continue;
        if (drops && copies_zeros(graph, &graph->layers[i])) {
            cnnvp_graph_remove(graph, i--);
            continue;
        }
        layer = graph->layers[i];
        (void)is_part(graph, &layer, &copy);
        const size_t layers = graph->layer_count;
        copy.in = undo_other(graph, copy.in, turn);
        i += graph->layer_count - layers; /* inserted in front of it */
        copy.out = made;
        reorder(turn, copy.crop);
        reorder(turn, copy.size);
        reorder(turn, copy.place);
        layer.concat = drops ? 0 : layer.concat;
        if (copy.in == CNNVP_GRAPH_NONE)
            return CNNVP_GRAPH_NONE;
        if (drops)
            join_zeros(graph, &copy);
        if (!set_copy(graph, &copy, &layer))
            return CNNVP_GRAPH_NONE;
        if ((layer.placed | layer.concat | layer.cropped) == 0 && cnnvp_graph_passes(&layer)) { /* some channels */
            cnnvp_graph_remove(graph, i);
            return turn_back(graph, i, &layer, layer.in, old, turn) ? layer.in : CNNVP_GRAPH_NONE;
        }
        graph->layers[i] = layer;
    }
    return made != CNNVP_GRAPH_NONE && turn_back(graph, after_makers(graph, made), &layer, made, old, turn)
               ? made
               : CNNVP_GRAPH_NONE;
}

/* Some channels of a tensor that is turned: other ones, or a copy of a part of its rows or columns. */
static int32_t undo_part(struct cnnvp_graph *graph, int32_t tensor, int32_t whole, uint32_t first,
                         const struct turn *turn)
{
    const char *name = graph->tensors[tensor].name;
    struct copy copy = {.crop = {first, 0, 0}, .size = {turn->sizes[0], turn->sizes[1], turn->sizes[2]}};
    copy.in = undo_other(graph, whole, turn);
    reorder(turn, copy.crop);
    reorder(turn, copy.size);
    if (copy.in == CNNVP_GRAPH_NONE || turn->from[0] == 0)
        return copy.in != CNNVP_GRAPH_NONE ? channels_of(graph, copy.in, copy.crop[0], copy.size[0]) : copy.in;
    copy.out = turned_tensor(graph, tensor, &turn->shape);
    struct cnnvp_graph_layer layer = copy_layer("copy", copy.in, copy.out);
    return copy.out != CNNVP_GRAPH_NONE && set_copy(graph, &copy, &layer) &&
                   cnnvp_graph_insert(graph, after_makers(graph, copy.in), &layer, name) != NULL
               ? copy.out
               : CNNVP_GRAPH_NONE;
}

/* The tensor, or if it has other sizes than the turn reads, one with these, which it shows from then on. */
static int32_t as_turned(struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn)
{
    const struct cnnvp_graph_tensor shape = {
        .rank = 4, .channels = turn->sizes[0], .height = turn->sizes[1], .width = turn->sizes[2]};
    if (has_sizes(&graph->tensors[tensor], turn->sizes))
        return tensor;
    const int32_t made = turned_tensor(graph, tensor, &shape);
    graph->tensors[tensor].base = made;
    return made;
}

/* A turn that becomes one with this turn. */
static int32_t undo_turn(struct cnnvp_graph *graph, size_t at, const struct turn *turn, const uint32_t sizes[3],
                         const uint32_t from[3])
{
    struct cnnvp_graph_layer layer = graph->layers[at];
    const int32_t old = layer.out;
    const struct cnnvp_graph_tensor shape = {.rank = 4, .channels = sizes[0], .height = sizes[1], .width = sizes[2]};
    const uint32_t made_sizes[3] = {sizes[from[0]], sizes[from[1]], sizes[from[2]]};
    const struct cnnvp_graph_tensor made = {
        .rank = 4, .channels = made_sizes[0], .height = made_sizes[1], .width = made_sizes[2]};
    layer.in = view_like(graph, layer.in, &shape);
    layer.out = turned_tensor(graph, old, has_sizes(&turn->shape, made_sizes) ? &turn->shape : &made);
    memcpy(layer.from, from, sizeof layer.from);
    const int32_t back = as_turned(graph, old, turn);
    const int32_t result = layer.out != CNNVP_GRAPH_NONE ? view_like(graph, layer.out, &turn->shape) : CNNVP_GRAPH_NONE;
    if (layer.in == CNNVP_GRAPH_NONE || result == CNNVP_GRAPH_NONE || back == CNNVP_GRAPH_NONE)
        return CNNVP_GRAPH_NONE;
    graph->layers[at] = layer;
    return turn_back(graph, at + 1, &layer, result, back, turn) ? result : CNNVP_GRAPH_NONE;
}

static int32_t undo_pool(struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn)
{
    struct cnnvp_graph_layer layer = graph->layers[maker_of(graph, tensor)];
    struct windows windows;
    const int32_t old = layer.out;
    (void)find_windows(graph, &layer, &windows);
    reorder(turn, windows.sizes);
    reorder(turn, windows.steps);
    const int32_t in = undo_other(graph, windows.in, turn);
    if (in == CNNVP_GRAPH_NONE)
        return in;
    struct cnnvp_graph_tensor shape = graph->tensors[in], made = turn->shape;
    const int as_rows = windows.sizes[0] != 1 || windows.steps[0] != 1;
    if (as_rows) { /* channels as rows of a map */
        const uint32_t plane = shape.height * shape.width;
        shape = (struct cnnvp_graph_tensor){.rank = 4, .channels = 1, .height = shape.channels, .width = plane};
        made = (struct cnnvp_graph_tensor){.rank = 4, .channels = 1, .height = made.channels, .width = plane};
    }
    layer.in = as_rows ? view_like(graph, in, &shape) : in;
    layer.ky = windows.sizes[as_rows ? 0 : 1];
    layer.sy = windows.steps[as_rows ? 0 : 1];
    layer.kx = windows.sizes[2];
    layer.sx = windows.steps[2];
    layer.out = turned_tensor(graph, old, &made);
    const int32_t back = as_turned(graph, old, turn);
    if (layer.in == CNNVP_GRAPH_NONE || layer.out == CNNVP_GRAPH_NONE || back == CNNVP_GRAPH_NONE)
        return CNNVP_GRAPH_NONE;
    const size_t at = after_makers(graph, old) - 1;
    graph->layers[at] = layer;
    const int32_t result = view_like(graph, layer.out, &turn->shape);
    return result != CNNVP_GRAPH_NONE && turn_back(graph, at + 1, &layer, result, back, turn)
               ? result
               : CNNVP_GRAPH_NONE;
}

/* What the tensor was before the turns that this turn undoes. Layers on the way work on that, and are turned instead.
 * CNNVP_GRAPH_NONE: out of memory. */
static int32_t undo(struct cnnvp_graph *graph, int32_t tensor, const struct turn *turn)
{
    const int32_t before = cnnvp_graph_put_back(graph, tensor, turn->sizes, turn->from);
    if (before != CNNVP_GRAPH_NONE || is_line(&graph->tensors[tensor]))
        return view_like(graph, before != CNNVP_GRAPH_NONE ? before : tensor, &turn->shape);
    uint32_t first = 0;
    const int32_t whole = whole_of(graph, tensor, &first);
    if (whole != tensor)
        return undo_part(graph, tensor, whole, first, turn);
    const ptrdiff_t maker = maker_of(graph, tensor);
    uint32_t sizes[3], from[3];
    if (maker >= 0 && graph->layers[maker].op == CNNVP_OP_POOL)
        return undo_pool(graph, tensor, turn);
    if (joins(graph, tensor, turn, sizes, from) >= 0)
        return undo_turn(graph, (size_t)maker, turn, sizes, from);
    if (maker < 0 || !is_of_words(graph, &graph->layers[maker]))
        return undo_copies(graph, tensor, turn);
    struct cnnvp_graph_layer layer = graph->layers[maker];
    const int32_t old = layer.out, second = layer.in2;
    layer.in = undo_other(graph, layer.in, turn);
    if (layer.in != CNNVP_GRAPH_NONE && layer.op == CNNVP_OP_ADD)
        layer.in2 = undo_other(graph, second, turn);
    layer.out = turned_tensor(graph, old, &turn->shape);
    if (layer.in == CNNVP_GRAPH_NONE || (layer.op == CNNVP_OP_ADD && layer.in2 == CNNVP_GRAPH_NONE) ||
        layer.out == CNNVP_GRAPH_NONE ||
        (layer.op == CNNVP_OP_NORM && !cnnvp_graph_spread_scale(graph, &layer, turn->shape.channels)))
        return CNNVP_GRAPH_NONE;
    const size_t at = (size_t)maker_of(graph, tensor);
    graph->layers[at] = layer;
    return turn_back(graph, at + 1, &layer, layer.out, old, turn) ? layer.out : CNNVP_GRAPH_NONE;
}

static cnnvp_result undo_turns(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer layer = graph->layers[i];
        const struct cnnvp_graph_tensor *in = &graph->tensors[layer.in];
        int looked_at = 0;
        struct turn turn = {.sizes = {in->channels, in->height, in->width},
                            .shape = graph->tensors[layer.out],
                            .looked_at = &looked_at};
        memcpy(turn.from, layer.from, sizeof turn.from);
        if (!is_turn(&layer) || turn.shape.base != CNNVP_GRAPH_NONE || !can_undo(graph, layer.in, &turn, 0))
            continue;
        const int32_t source = cnnvp_graph_put_back(graph, layer.in, turn.sizes, turn.from);
        if (cnnvp_graph_is_output(graph, layer.out) &&
            cnnvp_graph_is_input(graph, source != CNNVP_GRAPH_NONE ? source : layer.in))
            continue; /* the network copies its input */
        const int32_t before = undo(graph, layer.in, &turn);
        if (before == CNNVP_GRAPH_NONE)
            return cnnvp_compiler_no_memory(error);
        i = (size_t)cnnvp_graph_producer(graph, layer.out);
        graph->tensors[layer.out].base = before;
        cnnvp_graph_remove(graph, i--);
    }
    cnnvp_graph_drop_unused(graph);
    return CNNVP_DONE;
}

/* The layer that makes the operand by a turn and for this reader alone, but for zeros; NULL: there is none. */
static const struct cnnvp_graph_layer *own_turn(const struct cnnvp_graph *graph, int32_t operand)
{
    const struct cnnvp_graph_layer *turn = cnnvp_graph_turning(graph, operand);
    size_t readers = turn != NULL && is_turn(turn) ? cnnvp_graph_readers(graph, operand) : 0;
    for (size_t i = 0; i < graph->layer_count && readers > 1; ++i)
        readers -= is_zero(&graph->layers[i]) && cnnvp_graph_base(graph, graph->layers[i].in) == turn->out;
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
    struct copy copy;
    const struct cnnvp_graph_layer *turn = is_part(graph, layer, &copy) ? own_turn_alike(graph, copy.in) : NULL;
    const ptrdiff_t at = turn == NULL ? maker_of(graph, copy.in) : -1;
    return at >= 0 && is_part(graph, &graph->layers[at], &copy) ? own_turn_alike(graph, copy.in) : turn;
}

/* The turn of all parts of a concatenation; NULL: as for common_turn. */
static const struct cnnvp_graph_layer *turn_of_parts(const struct cnnvp_graph *graph, int32_t base)
{
    const struct cnnvp_graph_layer *turn = NULL;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        if (cnnvp_graph_base(graph, graph->layers[i].out) != base || copies_zeros(graph, &graph->layers[i]))
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
    if (layer->op == CNNVP_OP_ACTIVATION)
        return is_of_words(graph, layer) ? own_turn(graph, layer->in) : NULL;
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
        int looked_at = 0;
        struct turn turn = {.looked_at = &looked_at};
        if (before == NULL || made->base != CNNVP_GRAPH_NONE || is_line(made))
            continue;
        for (uint32_t d = 0; d < 3; ++d)
            turn.from[before->from[d]] = d;
        turn = same_turn(&turn, made);
        if (!can_undo(graph, result, &turn, 0))
            continue;
        if (undo(graph, result, &turn) == CNNVP_GRAPH_NONE)
            return cnnvp_compiler_no_memory(error);
        cnnvp_graph_drop_unused(graph);
        i = (size_t)cnnvp_graph_producer(graph, result);
    }
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
        int looked_at = 0;
        const int32_t whole = cnnvp_graph_base(graph, layer.in);
        const struct turn turn = {
            .sizes = {made->channels, made->height, made->width},
            .from = {2, 0, 1},
            .looked_at = &looked_at,
            .shape = {.rank = 4,
                      .channels = made->width,
                      .height = made->channels,
                      .width = made->height,
                      .base = CNNVP_GRAPH_NONE}};
        if (cnnvp_graph_words(made) != cnnvp_graph_words(&in) || cnnvp_graph_readers(graph, layer.in) != 1 ||
            !can_undo(graph, whole, &turn, 0))
            continue;
        const struct cnnvp_graph_tensor shape = {.rank = 4, .channels = out.width, .height = 1, .width = 1};
        const int32_t maps = undo(graph, whole, &turn), means = turned_tensor(graph, layer.out, &shape);
        if (maps == CNNVP_GRAPH_NONE || means == CNNVP_GRAPH_NONE)
            return cnnvp_compiler_no_memory(error);
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

/* ---- turns of turns ---- */

/* 1: a layer reads windows of the tensor, which may need a border around each of its maps. */
static int has_windows(const struct cnnvp_graph *graph, int32_t tensor)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (cnnvp_graph_base(graph, layer->in) == tensor && (layer->kx > 1 || layer->ky > 1 || layer->placed != 0))
            return 1;
    }
    return 0;
}

cnnvp_result cnnvp_graph_join_turns(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer turn = graph->layers[i];
        const struct cnnvp_graph_layer *first = is_turn(&turn) ? cnnvp_graph_turning(graph, turn.in) : NULL;
        if (first == NULL || !is_turn(first) || graph->tensors[turn.out].base != CNNVP_GRAPH_NONE ||
            cnnvp_graph_readers(graph, first->out) != 1)
            continue;
        const struct cnnvp_graph_tensor *in_shape = &graph->tensors[turn.in];
        const uint32_t read[3] = {in_shape->channels, in_shape->height, in_shape->width};
        struct cnnvp_graph_tensor shape = {.rank = 4, .base = CNNVP_GRAPH_NONE};
        uint32_t sizes[3], from[3];
        int fits = 0;
        if (!join(graph, first, read, turn.from, &graph->tensors[turn.out], sizes, from, &fits))
            continue;
        const int32_t source = first->in;
        int32_t out = turn.out;
        if (!fits) {
            if (has_windows(graph, turn.out) || cnnvp_graph_is_output(graph, turn.out))
                continue;
            shape.channels = sizes[from[0]];
            shape.height = sizes[from[1]];
            shape.width = sizes[from[2]];
            out = turned_tensor(graph, turn.out, &shape);
        }
        shape.channels = sizes[0];
        shape.height = sizes[1];
        shape.width = sizes[2];
        const int32_t in = view_like(graph, source, &shape);
        if (out == CNNVP_GRAPH_NONE || in == CNNVP_GRAPH_NONE)
            return cnnvp_compiler_no_memory(error);
        if (out != turn.out)
            graph->tensors[turn.out].base = out;
        graph->layers[i].in = in;
        graph->layers[i].out = out;
        memcpy(graph->layers[i].from, from, sizeof from);
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
        if (quantiser.out == CNNVP_GRAPH_NONE || !cnnvp_graph_spread_scale(graph, &quantiser, shape.channels))
            return cnnvp_compiler_no_memory(error);
        cnnvp_graph_set_whole(graph, turn.out, &graph->tensors[result]);
        graph->tensors[result].base = turn.out;
        graph->layers[i].in = quantiser.out;
        cnnvp_graph_remove(graph, at);
        if (cnnvp_graph_insert(graph, i++, &quantiser, quantiser.name) == NULL)
            return cnnvp_compiler_no_memory(error);
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_graph_turn(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    CNNVP_TRY(undo_turns(graph, error));
    CNNVP_TRY(turn_results(graph, error));
    CNNVP_TRY(undo_turns(graph, error));
    CNNVP_TRY(pool_before_turns(graph, error));
    CNNVP_TRY(quantise_before_turns(graph, error));
    return turn_by_softmax(graph, error);
}
