/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of a graph, and its editing. */
#include "graph_edit.h"

#include <float.h>
#include <math.h>
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
        .name = copy,
        .rank = rank,
        .channels = channels,
        .height = height,
        .width = width,
        .base = CNNVP_GRAPH_NONE,
        .format = CNNVP_GRAPH_NONE};
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

int32_t cnnvp_graph_format_base(const struct cnnvp_graph *graph, int32_t tensor)
{
    while (tensor != CNNVP_GRAPH_NONE && graph->tensors[tensor].format != tensor) {
        const struct cnnvp_graph_tensor *shape = &graph->tensors[tensor];
        if (shape->format == CNNVP_GRAPH_NONE && shape->base == CNNVP_GRAPH_NONE)
            break;
        tensor = shape->format != CNNVP_GRAPH_NONE ? shape->format : shape->base;
    }
    return tensor;
}

int32_t cnnvp_graph_frac(const struct cnnvp_graph_tensor *tensor, uint32_t c, uint32_t y, uint32_t x)
{
    const uint32_t at[CNNVP_GRAPH_DIMENSIONS] = {c, y, x};
    return tensor->fracs != NULL ? tensor->fracs[at[tensor->fracs_by]] : tensor->frac;
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

int cnnvp_graph_converts(const struct cnnvp_graph_layer *layer)
{
    return layer->op == CNNVP_OP_ACTIVATION && layer->post_count == 1 && cnnvp_graph_passes(layer) &&
           !cnnvp_graph_is_quantised_function(layer);
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

static void use(struct cnnvp_graph *graph, int32_t tensor)
{
    if (tensor != CNNVP_GRAPH_NONE)
        graph->tensors[cnnvp_graph_base(graph, tensor)].used = 1;
}

void cnnvp_graph_drop_unused(struct cnnvp_graph *graph)
{
    for (size_t i = 0; i < graph->tensor_count; ++i)
        graph->tensors[i].used = 0;
    for (size_t i = 0; i < graph->output_count; ++i)
        use(graph, graph->outputs[i].tensor);
    for (size_t i = graph->layer_count; i-- > 0;) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (!graph->tensors[cnnvp_graph_base(graph, layer->out)].used) {
            cnnvp_graph_remove(graph, i);
            continue;
        }
        use(graph, layer->in);
        use(graph, layer->in2);
    }
}

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

/* ---- kinds of layers ---- */

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

int cnnvp_graph_asks_infinity(const struct cnnvp_graph_layer *layer)
{
    return (layer->op == CNNVP_OP_ACTIVATION || layer->op == CNNVP_OP_POOL) && layer->post_count != 0 &&
           layer->posts[0].kind >= CNNVP_GRAPH_ABOVE && fabsf(layer->posts[0].value) >= CNNVP_GRAPH_INFINITE;
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
