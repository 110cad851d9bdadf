/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of a graph, and its simplification but for folding (graph_fold.c). */
#include "graph_edit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t cnnvp_graph_tensor_add(struct cnnvp_graph *graph, const char *name, uint32_t rank, uint32_t channels,
                               uint32_t height, uint32_t width)
{
    struct cnnvp_graph_tensor *tensors = cnnvp_grow(graph->tensors, graph->tensor_count, sizeof *tensors);
    if (tensors == NULL || graph->tensor_count >= INT32_MAX)
        return CNNVP_GRAPH_NONE;
    graph->tensors = tensors;
    const char *copy = cnnvp_arena_text(&graph->arena, name);
    if (copy == NULL)
        return CNNVP_GRAPH_NONE;
    graph->tensors[graph->tensor_count] = (struct cnnvp_graph_tensor){
        .name = copy, .rank = rank, .channels = channels, .height = height, .width = width, .base = CNNVP_GRAPH_NONE};
    return (int32_t)graph->tensor_count++;
}

struct cnnvp_graph_layer *cnnvp_graph_layer_add(struct cnnvp_graph *graph, enum cnnvp_layer_op op, const char *name,
                                                const char *op_type)
{
    struct cnnvp_graph_layer *layers = cnnvp_grow(graph->layers, graph->layer_count, sizeof *layers);
    if (layers == NULL)
        return NULL;
    graph->layers = layers;
    struct cnnvp_graph_layer *layer = &graph->layers[graph->layer_count];
    *layer = (struct cnnvp_graph_layer){
        .op = op,
        .name = cnnvp_arena_text(&graph->arena, name),
        .op_type = cnnvp_arena_text(&graph->arena, op_type),
        .in = CNNVP_GRAPH_NONE,
        .in2 = CNNVP_GRAPH_NONE,
        .out = CNNVP_GRAPH_NONE,
        CNNVP_ONE_TAP,
        .groups = 1};
    if (layer->name == NULL || layer->op_type == NULL)
        return NULL;
    ++graph->layer_count;
    return layer;
}

void cnnvp_graph_clear(struct cnnvp_graph *graph)
{
    free(graph->tensors);
    free(graph->layers);
    cnnvp_arena_free(&graph->arena);
    memset(graph, 0, sizeof *graph);
}

int32_t cnnvp_graph_base(const struct cnnvp_graph *graph, int32_t tensor)
{
    while (tensor != CNNVP_GRAPH_NONE && graph->tensors[tensor].base != CNNVP_GRAPH_NONE)
        tensor = graph->tensors[tensor].base;
    return tensor;
}

size_t cnnvp_graph_words(const struct cnnvp_graph_tensor *tensor)
{
    return (size_t)tensor->channels * tensor->height * tensor->width;
}

size_t cnnvp_graph_dims(const struct cnnvp_graph_tensor *tensor, size_t dims[CNNVP_GRAPH_RANK])
{
    const size_t count = tensor->rank - 1u;
    dims[0] = tensor->channels;
    dims[1] = tensor->rank == 3 ? tensor->width : tensor->height;
    dims[2] = tensor->width;
    for (size_t i = 0; i < count && tensor->dims != NULL; ++i)
        dims[i] = (size_t)tensor->dims[i + 1];
    return count;
}

size_t cnnvp_graph_offset(const struct cnnvp_graph *graph, int32_t tensor)
{
    size_t offset = 0;
    for (; graph->tensors[tensor].base != CNNVP_GRAPH_NONE; tensor = graph->tensors[tensor].base)
        offset +=
            (size_t)graph->tensors[tensor].base_channel * graph->tensors[tensor].height * graph->tensors[tensor].width;
    return offset;
}

uint64_t cnnvp_graph_macs(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const uint64_t out = cnnvp_graph_words(&graph->tensors[layer->out]);
    const struct cnnvp_graph_tensor *in = &graph->tensors[layer->in];
    if (layer->op == CNNVP_OP_CONV)
        return out * (in->channels / layer->groups) * layer->kx * layer->ky;
    if (layer->op == CNNVP_OP_FC)
        return out * cnnvp_graph_words(in);
    return 0;
}

const char *cnnvp_graph_op_name(const struct cnnvp_graph_layer *layer)
{
    static const char *const names[] = {
        [CNNVP_OP_CONV] = "conv",      [CNNVP_OP_POOL] = "pool",
        [CNNVP_OP_FC] = "fc",          [CNNVP_OP_ACTIVATION] = "activation",
        [CNNVP_OP_NORM] = "norm",      [CNNVP_OP_ADD] = "add",
        [CNNVP_OP_SOFTMAX] = "softmax"};
    return layer->concat != 0 ? "concat" : layer->product != 0 ? "matmul" : names[layer->op];
}

int cnnvp_graph_is_table(enum cnnvp_graph_post_kind kind)
{
    return kind != CNNVP_GRAPH_MAX && kind != CNNVP_GRAPH_MIN;
}

int cnnvp_graph_has_table(const struct cnnvp_graph_layer *layer)
{
    for (uint32_t i = 0; i < layer->post_count; ++i)
        if (cnnvp_graph_is_table(layer->posts[i].kind))
            return 1;
    return 0;
}

int32_t cnnvp_graph_channel_view(struct cnnvp_graph *graph, int32_t tensor, uint32_t first, uint32_t count)
{
    const struct cnnvp_graph_tensor base = graph->tensors[tensor];
    const uint32_t rank = base.rank > 4 ? 4 : base.rank;
    const int32_t view = cnnvp_graph_tensor_add(graph, base.name, rank, count, base.height, base.width);
    if (view != CNNVP_GRAPH_NONE) {
        graph->tensors[view].base = tensor;
        graph->tensors[view].base_channel = first;
    }
    return view;
}

/* ---- editing ---- */

ptrdiff_t cnnvp_graph_producer(const struct cnnvp_graph *graph, int32_t tensor)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (cnnvp_graph_base(graph, graph->layers[i].out) == base)
            return (ptrdiff_t)i;
    return -1;
}

int cnnvp_graph_is_weights(const struct cnnvp_graph *graph, int32_t tensor)
{
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (graph->layers[i].product != 0 &&
            cnnvp_graph_base(graph, graph->layers[i].in2) == cnnvp_graph_base(graph, tensor))
            return 1;
    return 0;
}

size_t cnnvp_graph_inputs(const struct cnnvp_graph *graph)
{
    return graph->further_count + 1u;
}

int32_t cnnvp_graph_input(const struct cnnvp_graph *graph, size_t input)
{
    return input == 0 ? graph->input : graph->further[input - 1u];
}

int cnnvp_graph_is_input(const struct cnnvp_graph *graph, int32_t tensor)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    for (size_t i = 0; i < cnnvp_graph_inputs(graph); ++i)
        if (cnnvp_graph_base(graph, cnnvp_graph_input(graph, i)) == base)
            return 1;
    return 0;
}

size_t cnnvp_graph_input_words(const struct cnnvp_graph *graph, size_t input)
{
    size_t words = 0;
    for (size_t i = 0; i < input; ++i)
        words += cnnvp_graph_words(&graph->tensors[cnnvp_graph_input(graph, i)]);
    return words;
}

int cnnvp_graph_is_output(const struct cnnvp_graph *graph, int32_t tensor)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    for (size_t i = 0; i < graph->output_count; ++i)
        if (cnnvp_graph_base(graph, graph->outputs[i].tensor) == base)
            return 1;
    return 0;
}

size_t cnnvp_graph_output_words(const struct cnnvp_graph *graph, size_t output)
{
    size_t words = 0;
    for (size_t i = 0; i < output; ++i)
        words += cnnvp_graph_words(&graph->tensors[graph->outputs[i].tensor]);
    return words;
}

size_t cnnvp_graph_readers(const struct cnnvp_graph *graph, int32_t tensor)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    size_t count = 0;
    for (size_t i = 0; i < graph->output_count; ++i)
        count += cnnvp_graph_base(graph, graph->outputs[i].tensor) == base ? 1 : 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        count += cnnvp_graph_base(graph, graph->layers[i].in) == base ? 1 : 0;
        count += cnnvp_graph_base(graph, graph->layers[i].in2) == base ? 1 : 0;
    }
    return count;
}

int cnnvp_graph_moves(const struct cnnvp_graph_layer *layer)
{
    return (layer->op == CNNVP_OP_ACTIVATION && !cnnvp_graph_is_quantised_function(layer)) ||
           (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_MAX);
}

void cnnvp_graph_set_whole(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_graph_tensor *like)
{
    graph->tensors[tensor].whole = like->whole;
    graph->tensors[tensor].zero = like->zero;
    graph->tensors[tensor].word_zero = like->word_zero;
}

int cnnvp_graph_has_fixed_format(const struct cnnvp_graph *graph, int32_t tensor)
{
    for (size_t steps = 0; steps <= graph->layer_count; ++steps) {
        if (graph->tensors[cnnvp_graph_base(graph, tensor)].whole != 0)
            return 1;
        const ptrdiff_t at = cnnvp_graph_producer(graph, tensor);
        if (at < 0)
            return 0;
        const struct cnnvp_graph_layer *layer = &graph->layers[at];
        if (layer->op == CNNVP_OP_SOFTMAX)
            return 1;
        if (!cnnvp_graph_moves(layer))
            return 0;
        for (uint32_t i = 0; i < layer->post_count; ++i)
            if (cnnvp_graph_is_table(layer->posts[i].kind))
                return 0;
        tensor = layer->in;
    }
    return 0;
}

void cnnvp_graph_remove(struct cnnvp_graph *graph, size_t index)
{
    memmove(&graph->layers[index], &graph->layers[index + 1], (graph->layer_count - index - 1) * sizeof *graph->layers);
    --graph->layer_count;
}

void cnnvp_graph_drop_unused(struct cnnvp_graph *graph)
{
    for (size_t i = graph->layer_count; i-- > 0;)
        if (cnnvp_graph_readers(graph, graph->layers[i].out) == 0)
            cnnvp_graph_remove(graph, i);
}

/* ---- grouped convolutions ---- */

struct cnnvp_graph_layer *cnnvp_graph_insert(struct cnnvp_graph *graph, size_t index,
                                             const struct cnnvp_graph_layer *layer, const char *name)
{
    if (cnnvp_graph_layer_add(graph, layer->op, name, layer->op_type) == NULL)
        return NULL;
    const char *copy = graph->layers[graph->layer_count - 1].name;
    memmove(&graph->layers[index + 1], &graph->layers[index], (graph->layer_count - 1 - index) * sizeof *graph->layers);
    graph->layers[index] = *layer;
    graph->layers[index].name = copy;
    return &graph->layers[index];
}

/* The output channels of a layer that is a part of another layer: every `step`th one from `first` on. */
struct part {
    struct cnnvp_graph *graph;
    size_t first, step, count;
    int failed;
};

/* The part of an array that has `size` bytes for each output of the whole layer; NULL stays NULL. */
static void *part_of(struct part *part, const void *whole, size_t size)
{
    if (whole == NULL || part->step == 1)
        return whole != NULL ? (char *)(uintptr_t)whole + part->first * size : NULL;
    char *made = cnnvp_arena_array(&part->graph->arena, part->count, size);
    part->failed |= made == NULL;
    for (size_t i = 0; i < part->count && made != NULL; ++i)
        memcpy(made + i * size, (const char *)whole + (part->first + i * part->step) * size, size);
    return made;
}

/* Splits a grouped convolution. `deep`: groups have one input channel and several outputs; then there is a depthwise
 * convolution for the first output of each group, one for the second and so on, and the channels of each lie apart in
 * the result. Otherwise there is a convolution for each group. */
static cnnvp_result split_groups_of(struct cnnvp_graph *graph, size_t index, int deep, struct cnnvp_error *error)
{
    const struct cnnvp_graph_layer whole = graph->layers[index];
    const uint32_t inputs = graph->tensors[whole.in].channels / whole.groups;
    const uint32_t outputs = graph->tensors[whole.out].channels / whole.groups;
    struct part part = {graph, 0, deep ? outputs : 1, deep ? whole.groups : outputs, 0};
    cnnvp_graph_remove(graph, index);
    for (uint32_t p = 0; p < (deep ? outputs : whole.groups); ++p) {
        char name[256];
        (void)snprintf(name, sizeof name, "%.200s.%u", whole.name, p);
        struct cnnvp_graph_layer made = whole;
        struct cnnvp_graph_steps *steps = &made.steps;
        part.first = deep ? p : (size_t)p * outputs;
        made.groups = deep ? whole.groups : 1;
        made.depthwise = deep != 0;
        if (!deep)
            made.in = cnnvp_graph_channel_view(graph, whole.in, p * inputs, inputs);
        made.out = cnnvp_graph_channel_view(graph, whole.out, (uint32_t)part.first, (uint32_t)part.count);
        if (whole.product != 0)
            made.in2 = cnnvp_graph_channel_view(graph, whole.in2, p * outputs, outputs);
        made.weights = part_of(&part, whole.weights, (size_t)inputs * whole.ky * whole.kx * sizeof *whole.weights);
        made.bias = part_of(&part, whole.bias, sizeof *whole.bias);
        steps->bias = part_of(&part, steps->bias, sizeof *steps->bias);
        if (steps->weight_count > 1)
            steps->weights = part_of(&part, steps->weights, sizeof *steps->weights);
        if (steps->bias_count > 1)
            steps->bias_steps = part_of(&part, steps->bias_steps, sizeof *steps->bias_steps);
        steps->weight_count = steps->weight_count > 1 ? part.count : steps->weight_count;
        steps->bias_count = steps->bias_count > 1 ? part.count : steps->bias_count;
        CNNVP_TRY_MEMORY(!part.failed && made.in != CNNVP_GRAPH_NONE && made.out != CNNVP_GRAPH_NONE &&
                             cnnvp_graph_insert(graph, index + p, &made, name) != NULL,
                         error);
        if (deep)
            graph->tensors[made.out].channel_step = outputs;
    }
    return CNNVP_DONE;
}

/* Most layers that one convolution may become. */
#define SPLIT_MAX 4096u

static cnnvp_result split_groups(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (layer->op != CNNVP_OP_CONV || layer->groups == 1 || layer->depthwise)
            continue;
        const uint32_t multiplier = graph->tensors[layer->out].channels / layer->groups;
        const int deep = graph->tensors[layer->in].channels == layer->groups && layer->product == 0;
        if ((deep ? multiplier : layer->groups) > SPLIT_MAX)
            return cnnvp_compiler_error(error,
                                        "%s: node \"%s\" (%s): %u groups of %u outputs would become too many "
                                        "layers; up to %u are possible",
                                        graph->file, layer->name, layer->op_type, layer->groups, multiplier, SPLIT_MAX);
        CNNVP_TRY(split_groups_of(graph, i, deep, error));
    }
    return CNNVP_DONE;
}

/* ---- concatenations and paddings ---- */

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

/* Removes a concatenation's copy if the layers that make the part can write to its place directly. */
static void place_concatenations(struct cnnvp_graph *graph)
{
    for (size_t i = 0; i < graph->layer_count;) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (layer->concat == 0 || layer->placed != 0 || !can_move(graph, layer->in, layer->out)) {
            ++i;
            continue;
        }
        graph->tensors[layer->in].base = layer->out;
        cnnvp_graph_remove(graph, i);
    }
}

static int pads_itself(const struct cnnvp_graph_layer *window)
{
    return window->pad_top != 0 || window->pad_left != 0 || window->pad_bottom != 0 || window->pad_right != 0;
}

/* 1: the view shows all words of the other tensor with the same channels, rows and columns. */
static int has_all(const struct cnnvp_graph *graph, int32_t view, int32_t tensor)
{
    const struct cnnvp_graph_tensor *all = &graph->tensors[tensor];
    const struct cnnvp_graph_tensor *shown = &graph->tensors[view];
    if (shown->channels != all->channels || shown->height != all->height || shown->width != all->width)
        return 0;
    while (view != tensor && view != CNNVP_GRAPH_NONE &&
           cnnvp_graph_words(&graph->tensors[view]) == cnnvp_graph_words(all))
        view = graph->tensors[view].base;
    return view == tensor;
}

/* Folds paddings into the only layer that reads them: zeros into a convolution, or into an average pool without padding
 * at the top and left; the lowest number into a maximum pool without padding. */
static void fold_paddings(struct cnnvp_graph *graph)
{
    for (size_t i = 0; i + 1 < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer pad = graph->layers[i];
        const struct cnnvp_graph_tensor *in = &graph->tensors[pad.in];
        const struct cnnvp_graph_tensor *out = &graph->tensors[pad.out];
        size_t reader = i + 1;
        while (reader < graph->layer_count && !has_all(graph, graph->layers[reader].in, pad.out))
            ++reader;
        if (pad.placed == 0 || pad.concat != 0 || reader == graph->layer_count ||
            cnnvp_graph_readers(graph, pad.out) != 1)
            continue;
        struct cnnvp_graph_layer *window = &graph->layers[reader];
        const int average = window->op == CNNVP_OP_POOL && window->pool == CNNVP_POOL_AVERAGE &&
                            window->by_position == 0 && window->pad_top == 0 && window->pad_left == 0;
        const int maximum = window->op == CNNVP_OP_POOL && window->pool == CNNVP_POOL_MAX && !pads_itself(window);
        if (pad.lowest != 0 ? !maximum : window->op != CNNVP_OP_CONV && !average)
            continue;
        window->pad_top += pad.place_row;
        window->pad_left += pad.place_column;
        window->pad_bottom += out->height - in->height - pad.place_row;
        window->pad_right += out->width - in->width - pad.place_column;
        window->in = pad.in;
        cnnvp_graph_remove(graph, i--);
    }
}

static cnnvp_result check_paddings(const struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (graph->layers[i].lowest != 0)
            return cnnvp_compiler_error(error,
                                        "%s: node \"%s\" (%s): padding with the lowest number is only known in "
                                        "front of one MaxPool that pads nothing itself",
                                        graph->file, graph->layers[i].name, graph->layers[i].op_type);
    return CNNVP_DONE;
}

/* ---- copies ---- */

static int needs_border(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    if (layer->op != CNNVP_OP_CONV && layer->op != CNNVP_OP_POOL)
        return 0;
    const struct cnnvp_graph_tensor *in = &graph->tensors[layer->in];
    const struct cnnvp_graph_tensor *out = &graph->tensors[layer->out];
    return layer->pad_top != 0 || layer->pad_left != 0 ||
           (out->height - 1) * layer->sy + (layer->ky - 1) * layer->dy - layer->pad_top >= in->height ||
           (out->width - 1) * layer->sx + (layer->kx - 1) * layer->dx - layer->pad_left >= in->width;
}

/* 1: the tensor's base must have no gaps between rows: a fully connected layer reads it as a vector, or the tensor is a
 * view with other rows and columns. */
static int needs_dense(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, int32_t tensor)
{
    const struct cnnvp_graph_tensor *view = &graph->tensors[tensor];
    if (layer != NULL && layer->op == CNNVP_OP_FC)
        return 1;
    for (; view->base != CNNVP_GRAPH_NONE; view = &graph->tensors[view->base])
        if (view->height != graph->tensors[view->base].height || view->width != graph->tensors[view->base].width)
            return 1;
    return 0;
}

/* A layer that copies a tensor: max{x, -infinity}. */
struct cnnvp_graph_layer cnnvp_graph_copy_layer(const char *op_type, int32_t in, int32_t out)
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

int32_t cnnvp_graph_tensor_like(struct cnnvp_graph *graph, int32_t like, const char *suffix,
                                const struct cnnvp_graph_tensor *shape)
{
    const struct cnnvp_graph_tensor base = graph->tensors[cnnvp_graph_base(graph, like)], as = *shape;
    const char *name = cnnvp_arena_printf(&graph->arena, "%.200s.%s", graph->tensors[like].name, suffix);
    const int32_t made = name != NULL ? cnnvp_graph_tensor_add(graph, name, as.rank, as.channels, as.height, as.width)
                                      : CNNVP_GRAPH_NONE;
    if (made != CNNVP_GRAPH_NONE) {
        cnnvp_graph_set_whole(graph, made, &base);
        graph->tensors[made].counts = base.counts;
        graph->tensors[made].dims = as.dims;
    }
    return made;
}

int32_t cnnvp_graph_insert_copy(struct cnnvp_graph *graph, size_t index, int32_t from)
{
    const int32_t to = cnnvp_graph_tensor_like(graph, from, "copy", &graph->tensors[from]);
    const struct cnnvp_graph_layer copy = cnnvp_graph_copy_layer("copy", from, to);
    return to != CNNVP_GRAPH_NONE && cnnvp_graph_insert(graph, index, &copy, graph->tensors[to].name) != NULL
               ? to
               : CNNVP_GRAPH_NONE;
}

int32_t cnnvp_graph_view_like(struct cnnvp_graph *graph, int32_t tensor, const struct cnnvp_graph_tensor *shape)
{
    const struct cnnvp_graph_tensor as = *shape;
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i) {
        const struct cnnvp_graph_tensor *view = &graph->tensors[i];
        if ((view->base == tensor || i == tensor) && view->base_channel == 0 && view->channel_step == 0 &&
            view->channels == as.channels && view->height == as.height && view->width == as.width &&
            view->rank == as.rank && view->dims == as.dims)
            return i;
    }
    const int32_t view =
        cnnvp_graph_tensor_add(graph, graph->tensors[tensor].name, as.rank, as.channels, as.height, as.width);
    if (view != CNNVP_GRAPH_NONE) {
        graph->tensors[view].base = tensor;
        graph->tensors[view].dims = as.dims;
    }
    return view;
}

/* Index of the first layer that reads the base with a border; layer_count: none. */
static size_t border_reader(const struct cnnvp_graph *graph, int32_t base)
{
    size_t i = 0;
    while (i < graph->layer_count &&
           (cnnvp_graph_base(graph, graph->layers[i].in) != base || !needs_border(graph, &graph->layers[i])))
        ++i;
    return i;
}

static int base_is_dense(const struct cnnvp_graph *graph, int32_t base)
{
    for (size_t i = 0; i < graph->output_count; ++i) {
        const int32_t output = graph->outputs[i].tensor;
        if (cnnvp_graph_base(graph, output) == base && needs_dense(graph, NULL, output))
            return 1;
    }
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        const int32_t tensors[] = {layer->in, layer->in2, layer->out};
        for (size_t t = 0; t < 3; ++t)
            if (tensors[t] != CNNVP_GRAPH_NONE && cnnvp_graph_base(graph, tensors[t]) == base &&
                needs_dense(graph, t == 0 ? layer : NULL, tensors[t]))
                return 1;
    }
    return 0;
}

/* Readers that need a border around a tensor that must have no gaps get a copy of their own. */
static cnnvp_result separate_borders(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (int32_t t = 0; t < (int32_t)graph->tensor_count; ++t) {
        if (graph->tensors[t].base != CNNVP_GRAPH_NONE || !base_is_dense(graph, t))
            continue;
        for (size_t i = border_reader(graph, t); i < graph->layer_count; i = border_reader(graph, t)) {
            const int32_t copy = cnnvp_graph_insert_copy(graph, i, graph->layers[i].in);
            CNNVP_TRY_MEMORY(copy != CNNVP_GRAPH_NONE, error);
            graph->layers[i + 1].in = copy;
        }
    }
    return CNNVP_DONE;
}

int cnnvp_graph_aligns_operands(const struct cnnvp_graph_layer *layer)
{
    return layer->op == CNNVP_OP_ADD && layer->arithmetic != CNNVP_ARITHMETIC_MUL &&
           layer->arithmetic != CNNVP_ARITHMETIC_DIV;
}

int cnnvp_graph_passes(const struct cnnvp_graph_layer *layer)
{
    for (uint32_t i = 0; i < layer->post_count; ++i)
        if (layer->posts[i].kind != CNNVP_GRAPH_MAX || layer->posts[i].value > -FLT_MAX)
            return 0;
    return 1;
}

/* 1: the layer only permutes the words of its input, and its result is read only by softmax. */
static int turns(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const int32_t in = cnnvp_graph_base(graph, layer->in);
    return layer->op == CNNVP_OP_ACTIVATION && layer->permuted != 0 && cnnvp_graph_passes(layer) &&
           cnnvp_graph_words(&graph->tensors[in]) == cnnvp_graph_words(&graph->tensors[layer->in]) &&
           graph->tensors[cnnvp_graph_base(graph, layer->out)].scores != 0;
}

/* 1: the layer takes the maximum of whole rows, columns or maps. */
static int takes_line_maximum(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph_tensor *in = &graph->tensors[layer->in], *out = &graph->tensors[layer->out];
    return layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_MAX && cnnvp_graph_passes(layer) &&
           ((in->height > 1 && out->height == 1) || (in->width > 1 && out->width == 1));
}

/* Most layers between a product and the sum with a mask. */
#define FROM_PRODUCT 6

/* 1: the tensor is a product of two tensors, scaled, permuted, masked or with something added. */
static int is_from_product(const struct cnnvp_graph *graph, int32_t tensor, int depth)
{
    const int32_t base = cnnvp_graph_base(graph, tensor);
    for (size_t i = graph->layer_count; i-- > 0 && depth < FROM_PRODUCT;) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (cnnvp_graph_base(graph, layer->out) != base)
            continue;
        return layer->op == CNNVP_OP_CONV
                   ? layer->product != 0
                   : ((layer->op == CNNVP_OP_ADD || layer->op == CNNVP_OP_NORM || layer->op == CNNVP_OP_ACTIVATION) &&
                      is_from_product(graph, layer->in, depth + 1)) ||
                         (layer->op == CNNVP_OP_ADD && is_from_product(graph, layer->in2, depth + 1));
    }
    return 0;
}

/* The operands of a layer whose result is `scores` that may be it, too: a bit mask. What is far below in them is so in
 * the result. */
static unsigned carriers(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    if (!cnnvp_graph_passes(layer) || graph->tensors[cnnvp_graph_base(graph, layer->out)].scores == 0)
        return 0;
    if (layer->op == CNNVP_OP_NORM)
        return layer->norm == CNNVP_NORM_STORED;
    if (layer->op != CNNVP_OP_ADD)
        return 0;
    switch (layer->arithmetic) {
    case CNNVP_ARITHMETIC_ADD:
        return 3;
    case CNNVP_ARITHMETIC_SUB:
        return 1;
    case CNNVP_ARITHMETIC_MUL: /* the other one is 0 where it masks */
        return is_from_product(graph, layer->in, 0) ? 1 : 2;
    default:
        return 0;
    }
}

/* Sets `scores` of a tensor without a fixed format that only softmax reads: directly, through a permutation, or, of
 * results of arithmetic, whose words may saturate, after more arithmetic with masks. Or only maxima of lines read such
 * results. */
static void find_scores_in(struct cnnvp_graph *graph, const struct cnnvp_graph_layer *producer)
{
    const int32_t base = cnnvp_graph_base(graph, producer->out);
    size_t direct = 0, carried = 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (!cnnvp_graph_reads(graph, layer, base))
            continue;
        const unsigned operands = carriers(graph, layer);
        direct += cnnvp_graph_base(graph, layer->in) == base && (layer->op == CNNVP_OP_SOFTMAX || turns(graph, layer));
        carried += takes_line_maximum(graph, layer) != 0;
        carried += (operands & 1u) != 0 && cnnvp_graph_base(graph, layer->in) == base;
        carried += (operands & 2u) != 0 && cnnvp_graph_base(graph, layer->in2) == base;
    }
    const int may_saturate = producer->op == CNNVP_OP_ADD && producer->out == base;
    if (direct + carried != 0)
        graph->tensors[base].scores =
            (carried == 0 || may_saturate) && cnnvp_graph_readers(graph, base) == direct + carried &&
            !cnnvp_graph_has_fixed_format(graph, base);
}

static int is_in_order(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *add)
{
    if (cnnvp_graph_has_fixed_format(graph, add->in2) || cnnvp_graph_has_fixed_format(graph, add->in))
        return cnnvp_graph_has_fixed_format(graph, add->in);
    if (graph->tensors[cnnvp_graph_base(graph, add->out)].scores == 0 || add->steps.in2 > 0.0f)
        return 1;
    const int first = is_from_product(graph, add->in, 0), second = is_from_product(graph, add->in2, 0);
    return first != second
               ? first
               : cnnvp_graph_words(&graph->tensors[add->in]) >= cnnvp_graph_words(&graph->tensors[add->in2]);
}

/* Makes an operand with a fixed format the first one: formats.c only adapts to the first operand's format. Makes a mask
 * the second one: its numbers are large, and a second operand cannot have more fraction bits than the first one. A mask
 * is no product, or else the smaller one. */
static void order_operands(struct cnnvp_graph *graph)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *add = &graph->layers[i];
        if (!cnnvp_graph_aligns_operands(add) || add->arithmetic == CNNVP_ARITHMETIC_SUB || is_in_order(graph, add))
            continue;
        const int32_t second = add->in2;
        add->in2 = add->in;
        add->in = second;
    }
}

cnnvp_result cnnvp_graph_simplify(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    cnnvp_graph_drop_unused(graph);
    CNNVP_TRY(cnnvp_graph_turn(graph, error));
    CNNVP_TRY(cnnvp_graph_fold(graph, error));
    CNNVP_TRY(cnnvp_graph_join_turns(graph, error));
    CNNVP_TRY(split_groups(graph, error));
    fold_paddings(graph);
    place_concatenations(graph);
    CNNVP_TRY(check_paddings(graph, error));
    CNNVP_TRY(separate_borders(graph, error));
    for (size_t i = graph->layer_count; i-- > 0;)
        find_scores_in(graph, &graph->layers[i]);
    order_operands(graph);
    if (graph->layer_count == 0)
        CNNVP_TRY(cnnvp_compiler_error(error, "%s: the network has no layer: nothing to run", graph->file));
    return CNNVP_DONE;
}

int cnnvp_graph_mixes_images(const struct cnnvp_graph *graph)
{
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (graph->layers[i].op == CNNVP_OP_NORM && graph->layers[i].norm == CNNVP_NORM_BATCH)
            return 1;
    return 0;
}

static float at_output(const float *values, size_t count, size_t output)
{
    return values[count == 1 ? 0 : output];
}

/* 1: the tensor has whole numbers of a quantised file. */
static int is_whole(const struct cnnvp_graph *graph, int32_t tensor)
{
    return graph->tensors[cnnvp_graph_base(graph, tensor)].whole != 0;
}

/* 1: the multipliers of all outputs are in a reasonable range, and the steps of the bias are those of the sums. */
static int steps_fit(const struct cnnvp_graph_steps *steps, float result)
{
    const size_t count = steps->bias_count > steps->weight_count ? steps->bias_count : steps->weight_count;
    for (size_t i = 0; i < count; ++i) {
        const float of_sums = steps->in * at_output(steps->weights, steps->weight_count, i);
        const float of_bias = steps->bias_steps != NULL ? at_output(steps->bias_steps, steps->bias_count, i) : of_sums;
        const float multiplier = of_sums / result;
        if (!(multiplier > 1e-30f && multiplier < 1e15f && fabsf(of_bias - of_sums) <= 1e-5f * of_sums))
            return 0;
    }
    return 1;
}

int cnnvp_graph_is_scaled(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph_steps *steps = &layer->steps;
    if ((layer->op != CNNVP_OP_CONV && layer->op != CNNVP_OP_FC) || layer->product != 0)
        return 0;
    const int to_whole = is_whole(graph, layer->out);
    if (!is_whole(graph, layer->in))
        return !to_whole;
    if (steps->weights == NULL || !(steps->in > 0.0f) || (to_whole && !(steps->out > 0.0f)) ||
        !steps_fit(steps, to_whole ? steps->out : 1.0f))
        return 0;
    for (uint32_t i = 0; to_whole && i < layer->post_count; ++i)
        if (cnnvp_graph_is_table(layer->posts[i].kind))
            return 0;
    return 1;
}

float cnnvp_graph_weight_step(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, size_t output)
{
    const float step = at_output(layer->steps.weights, layer->steps.weight_count, output);
    if (is_whole(graph, layer->out))
        return cnnvp_graph_multiplier(layer, output);
    return is_whole(graph, layer->in) ? step * layer->steps.in : step;
}

float cnnvp_graph_multiplier(const struct cnnvp_graph_layer *layer, size_t output)
{
    const struct cnnvp_graph_steps *steps = &layer->steps;
    return steps->in * at_output(steps->weights, steps->weight_count, output) / steps->out;
}

size_t cnnvp_graph_spread(const struct cnnvp_graph_tensor *tensor, size_t c, size_t y, size_t x)
{
    const size_t channel = tensor->channels == 1 ? 0 : c;
    const size_t row = tensor->height == 1 ? 0 : y;
    return (channel * tensor->height + row) * tensor->width + (tensor->width == 1 ? 0 : x);
}

void cnnvp_graph_line(const struct cnnvp_graph_layer *layer, const struct cnnvp_graph_tensor *in, size_t *count,
                      size_t *step)
{
    const int position = in->height == 1 && in->width == 1;
    *count = in->width;
    *step = 1;
    if (layer->permuted != 0) {
        const size_t sizes[3] = {in->channels, in->height, in->width};
        *count = sizes[layer->from[2]];
        for (uint32_t i = layer->from[2] + 1; i < 3; ++i)
            *step *= sizes[i];
        return;
    }
    if (layer->axis == CNNVP_AXIS_CHANNELS || (layer->axis == CNNVP_AXIS_LAST && position)) {
        *count = in->channels;
        *step = (size_t)in->height * in->width;
    } else if (layer->axis == CNNVP_AXIS_ROWS) {
        *count = in->height;
        *step = in->width;
    }
}
