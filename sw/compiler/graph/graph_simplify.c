/* SPDX-License-Identifier: Apache-2.0 */
/* Simplification of a graph but for folding (graph_fold.c), permutations (graph_turn.c) and parts (graph_concat.c). */
#include "graph_edit.h"

#include <stdio.h>
#include <string.h>

/* ---- grouped convolutions ---- */

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

/* ---- paddings ---- */

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

/* Sets `scores` of a tensor without a fixed format that only softmax and comparisons with infinity read: directly,
 * through a permutation, or, of results of arithmetic, whose words may saturate, after more arithmetic with masks. Or
 * only maxima of lines read such results. */
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
        direct += cnnvp_graph_asks_infinity(layer) != 0;
        carried += (operands & 1u) != 0 && cnnvp_graph_base(graph, layer->in) == base;
        carried += (operands & 2u) != 0 && cnnvp_graph_base(graph, layer->in2) == base;
    }
    const int may_saturate = (producer->op == CNNVP_OP_ADD || producer->adds != 0) && producer->out == base;
    if (direct + carried != 0)
        graph->tensors[base].scores =
            (carried == 0 || may_saturate) && cnnvp_graph_readers(graph, base) == direct + carried &&
            !cnnvp_graph_has_fixed_format(graph, base);
}

cnnvp_result cnnvp_graph_simplify(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    cnnvp_graph_drop_unused(graph);
    CNNVP_TRY(cnnvp_graph_turn(graph, error));
    CNNVP_TRY(cnnvp_graph_fold(graph, error));
    CNNVP_TRY(cnnvp_graph_join_turns(graph, error));
    CNNVP_TRY(split_groups(graph, error));
    fold_paddings(graph);
    cnnvp_graph_join_parts(graph);
    CNNVP_TRY(check_paddings(graph, error));
    CNNVP_TRY(separate_borders(graph, error));
    for (size_t i = graph->layer_count; i-- > 0;)
        find_scores_in(graph, &graph->layers[i]);
    if (graph->layer_count == 0)
        CNNVP_TRY(cnnvp_compiler_error(error, "%s: the network has no layer: nothing to run", graph->file));
    return CNNVP_DONE;
}
