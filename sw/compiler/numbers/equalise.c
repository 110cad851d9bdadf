/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cross-layer equalisation: scales channels to similar sizes. The weights that make a channel are multiplied by 2^k,
 * and the weights that read it by 2^-k; in float not a bit of the network's results changes. Then one format for a
 * tensor serves channels whose values differ by 10^3, and one format for a layer serves weights that differ by 10^4, as
 * in trained networks (M. Nagel et al., Data-free quantization through weight equalization and bias correction, ICCV
 * 2019).
 *
 * All layers between must be linear for factors 2^k: ReLU, LeakyRelu, pools, copies, and additions, differences and
 * maxima of two maps. The channels that such layers connect have the same k: a family. Other functions and limits, and
 * the network's inputs and outputs, fix k at 0. Networks whose channels have similar sizes stay as they are.
 *
 * k is half of a difference: the unused bits of a channel's values and of the weights that make it, less the unused
 * bits of the weights that read it. No value or weight becomes larger than the largest one. If the weights of each
 * output have their own step, those that make a channel have no unused bits, and their biases have 32 bits.
 *
 * A channel that was always 0 has no size. Weights that read it and are much larger than those beside them, whose step
 * they would set, become no larger than these.
 */
#include <math.h>
#include <stdlib.h>

#include "numbers.h"

/* Networks whose k are all below this stay as they are. */
#define SPREAD_MIN 3

#define POWER_MAX 30
#define LEAST 0x1p-60f

/* Most sweeps. Scaling changes the unused bits of the weights on both sides, so that another sweep can gain more. */
#define SWEEPS 4

/* A mean: the sum of unused bits, and the number of summands. */
struct unused {
    int32_t bits;
    int32_t count;
};

/* Channels with the same k: a union-find set. */
struct family {
    size_t of;     /* parent, or itself */
    int fixed;     /* 1: k is 0 */
    int lives;     /* 1: some value was not 0 */
    int32_t above; /* of a channel that was always 0: bits by which a weight that reads it exceeds those beside it */
    int32_t power; /* k so far */
    int32_t more;  /* what this sweep adds to k */
    int32_t room;  /* most that it may add */
    struct unused made, read;
};

struct equaliser {
    struct cnnvp_graph *graph;
    size_t *first; /* family of each base tensor's first channel */
    struct family *families;
    size_t count;
    float *rows; /* the largest weight of each output of a layer */
};

/* The shape of a layer's weights: [outputs][depth][taps]. Each `group` consecutive outputs read the same channels. */
struct weights {
    size_t outputs, depth, taps, group;
};

static int has_weights(const struct cnnvp_graph_layer *layer)
{
    return (layer->op == CNNVP_OP_CONV && layer->product == 0) || layer->op == CNNVP_OP_FC;
}

static int keeps_scales(const struct cnnvp_graph_layer *layer)
{
    for (uint32_t i = 0; i < layer->post_count; ++i)
        if (layer->posts[i].kind != CNNVP_GRAPH_LEAKY_RELU &&
            (layer->posts[i].kind != CNNVP_GRAPH_MAX || layer->posts[i].value > 0.0f ||
             (layer->posts[i].value < 0.0f && layer->posts[i].value > -INFINITY)))
            return 0;
    return 1;
}

static size_t plane_of(const struct cnnvp_graph_tensor *tensor)
{
    return (size_t)tensor->height * tensor->width;
}

/* 1: the tensor has whole planes of its base, so its channels are channels of the base. */
static int has_channels(const struct cnnvp_graph *graph, int32_t tensor)
{
    const size_t plane = plane_of(&graph->tensors[tensor]);
    return plane == plane_of(&graph->tensors[cnnvp_graph_base(graph, tensor)]) &&
           cnnvp_graph_offset(graph, tensor) % plane == 0;
}

/* The family of a channel. A tensor without channels of its base has the base's first family, which is fixed. */
static struct family *family_of(const struct equaliser *all, int32_t tensor, size_t channel)
{
    const struct cnnvp_graph_tensor *of = &all->graph->tensors[tensor];
    const size_t step = of->channel_step > 1 ? of->channel_step : 1;
    size_t at = all->first[cnnvp_graph_base(all->graph, tensor)];
    at += has_channels(all->graph, tensor) ? cnnvp_graph_offset(all->graph, tensor) / plane_of(of) + channel * step : 0;
    for (; all->families[at].of != at; at = all->families[at].of)
        all->families[at].of = all->families[all->families[at].of].of;
    return &all->families[at];
}

/* The tensor whose channels a layer with weights reads. A fully connected layer that reads a flat view of whole maps
 * reads the channels of these maps. */
static int32_t read_by(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const int32_t base = cnnvp_graph_base(graph, layer->in);
    const int all = cnnvp_graph_words(&graph->tensors[layer->in]) == cnnvp_graph_words(&graph->tensors[base]);
    return layer->op == CNNVP_OP_FC && all ? base : layer->in;
}

static void fix(const struct equaliser *all, int32_t tensor)
{
    if (tensor == CNNVP_GRAPH_NONE)
        return;
    const int32_t base = cnnvp_graph_base(all->graph, tensor);
    for (size_t c = 0; c < all->graph->tensors[base].channels; ++c)
        family_of(all, base, c)->fixed = 1;
}

static void fix_all(const struct equaliser *all, const struct cnnvp_graph_layer *layer)
{
    fix(all, layer->in);
    fix(all, layer->in2);
    fix(all, layer->out);
}

static void join(const struct equaliser *all, int32_t one, int32_t other)
{
    for (size_t c = 0; c < all->graph->tensors[one].channels; ++c) {
        struct family *a = family_of(all, one, c), *b = family_of(all, other, c);
        a->of = b->of;
        b->fixed |= a->fixed;
    }
}

static int are_alike(const struct equaliser *all, int32_t one, int32_t other)
{
    return has_channels(all->graph, one) && has_channels(all->graph, other) &&
           all->graph->tensors[one].channels == all->graph->tensors[other].channels;
}

static void tie_layer(const struct equaliser *all, const struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph *graph = all->graph;
    const int moves = layer->op == CNNVP_OP_POOL || (layer->op == CNNVP_OP_ACTIVATION && layer->permuted == 0);
    const int adds = cnnvp_graph_aligns_operands(layer) && are_alike(all, layer->in2, layer->out);
    if (has_weights(layer)) {
        if (!has_channels(graph, read_by(graph, layer)))
            fix(all, layer->in);
        if (!keeps_scales(layer) || !has_channels(graph, layer->out))
            fix(all, layer->out);
    } else if ((moves || adds) && keeps_scales(layer) && are_alike(all, layer->in, layer->out)) {
        join(all, layer->in, layer->out);
        if (adds)
            join(all, layer->in2, layer->out);
    } else {
        fix_all(all, layer);
    }
}

static void tie(const struct equaliser *all)
{
    const struct cnnvp_graph *graph = all->graph;
    for (size_t i = 0; i < graph->tensor_count; ++i) {
        const int32_t tensor = (int32_t)i;
        if (graph->tensors[i].whole != 0 || graph->tensors[i].scores != 0 || cnnvp_graph_is_input(graph, tensor) ||
            cnnvp_graph_is_output(graph, tensor) || cnnvp_graph_is_weights(graph, tensor))
            fix(all, tensor);
    }
    for (size_t i = 0; i < graph->layer_count; ++i)
        tie_layer(all, &graph->layers[i]);
}

/* Counts the unused bits of a magnitude that is `part` of the largest one. Magnitudes near 0 do not count. */
static void count_bits(struct family *family, struct unused *unused, float part)
{
    if (!(part > LEAST))
        return;
    const int32_t bits = ilogbf(1.0f / part);
    unused->bits += bits;
    ++unused->count;
    if (unused == &family->made)
        family->room = bits < family->room ? bits : family->room;
}

/* Counts a tensor's values. They count for k in the first sweep only: half of their unused bits stay for values that
 * the calibration has not seen. In all sweeps they limit how much k may grow. */
static void count_values(const struct equaliser *all, int32_t tensor, int first)
{
    const struct cnnvp_graph_tensor *of = &all->graph->tensors[tensor];
    const float most = of->channel_max != NULL ? cnnvp_float_kernels()->largest(of->channel_max, of->channels) : 0.0f;
    for (size_t c = 0; c < of->channels && most > 0.0f; ++c) {
        struct family *family = family_of(all, tensor, c);
        const struct unused made = family->made;
        family->lives |= of->channel_max[c] > 0.0f;
        count_bits(family, &family->made, of->channel_max[c] / most);
        family->made = first ? family->made : made;
    }
}

static struct weights weights_of(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph_tensor *in = &graph->tensors[read_by(graph, layer)];
    const size_t outputs = graph->tensors[layer->out].channels;
    if (layer->op == CNNVP_OP_FC)
        return (struct weights){outputs, in->channels, plane_of(in), outputs};
    return (struct weights){
        outputs, in->channels / layer->groups, (size_t)layer->kx * layer->ky, outputs / layer->groups};
}

/* The family of the channel that is input number `input` of an output. */
static struct family *input_of(const struct equaliser *all, const struct cnnvp_graph_layer *layer,
                               const struct weights *weights, size_t output, size_t input)
{
    return family_of(all, read_by(all->graph, layer), output / weights->group * weights->depth + input);
}

/* Sets `rows` to the largest weights of each output that read values other than 0. Returns the largest of all. */
static float find_rows(const struct equaliser *all, const struct cnnvp_graph_layer *layer,
                       const struct weights *weights)
{
    const float *at = layer->weights;
    for (size_t o = 0; o < weights->outputs; ++o) {
        all->rows[o] = 0.0f;
        for (size_t i = 0; i < weights->depth; ++i, at += weights->taps) {
            const struct family *family = input_of(all, layer, weights, o, i);
            if (family->lives || family->fixed)
                all->rows[o] = fmaxf(all->rows[o], cnnvp_float_kernels()->largest(at, weights->taps));
        }
    }
    return cnnvp_float_kernels()->largest(all->rows, weights->outputs);
}

static void count_weights(const struct equaliser *all, const struct cnnvp_graph_layer *layer)
{
    const struct weights weights = weights_of(all->graph, layer);
    const size_t each = weights.depth * weights.taps;
    const struct cnnvp_float_kernels *kernels = cnnvp_float_kernels();
    for (size_t o = 0; o < weights.outputs; ++o)
        all->rows[o] = kernels->largest(layer->weights + o * each, each);
    const float most = kernels->largest(all->rows, weights.outputs);
    const int alike = layer->scaled == 0 && has_channels(all->graph, layer->out);
    for (size_t o = 0; o < weights.outputs && alike; ++o) {
        struct family *family = family_of(all, layer->out, o);
        count_bits(family, &family->made, all->rows[o] / most);
    }
    const float read = find_rows(all, layer, &weights);
    for (size_t o = 0; o < weights.outputs && alike; ++o)
        all->rows[o] = read;
    if (layer->scaled != 0 && each == weights.taps) /* one input each: the output's step follows the weights */
        return;
    for (size_t first = 0; first < weights.outputs; first += weights.group)
        for (size_t i = 0; i < weights.depth; ++i) {
            float part = 0.0f;
            for (size_t o = first; o < first + weights.group; ++o)
                if (all->rows[o] > 0.0f)
                    part = fmaxf(part, kernels->largest(layer->weights + o * each + i * weights.taps, weights.taps) /
                                           all->rows[o]);
            struct family *family = input_of(all, layer, &weights, first, i);
            const int32_t above = -ilogbf(1.0f / part);
            family->above = above >= SPREAD_MIN && above > family->above ? above : family->above;
            count_bits(family, &family->read, part);
        }
}

/* Limits k so that no bias becomes larger than the largest bias or result. */
static void limit_by_bias(const struct equaliser *all, const struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph_tensor *out = &all->graph->tensors[layer->out];
    if (layer->bias == NULL || layer->scaled != 0 || !has_channels(all->graph, layer->out))
        return;
    const float most = fmaxf(cnnvp_float_kernels()->largest(layer->bias, out->channels), layer->pre_max_abs);
    for (size_t o = 0; o < out->channels; ++o) {
        struct family *family = family_of(all, layer->out, o);
        const int32_t room = fabsf(layer->bias[o]) > 0.0f ? ilogbf(most / fabsf(layer->bias[o])) : family->room;
        family->room = room < family->room ? room : family->room;
    }
}

/* Chooses what this sweep adds to each family's k. Returns the largest of these. */
static int32_t choose_powers(const struct equaliser *all, int first)
{
    int32_t most = 0;
    for (size_t i = 0; i < all->count; ++i)
        all->families[i].room = INT32_MAX;
    for (size_t i = 0; i < all->graph->tensor_count; ++i)
        count_values(all, (int32_t)i, first);
    for (size_t i = 0; i < all->graph->layer_count; ++i)
        if (has_weights(&all->graph->layers[i])) {
            count_weights(all, &all->graph->layers[i]);
            limit_by_bias(all, &all->graph->layers[i]);
        }
    for (size_t i = 0; i < all->count; ++i) {
        struct family *family = &all->families[i];
        const struct unused made = family->made, read = family->read;
        int32_t more = 0;
        if (family->of == i && family->fixed == 0 && made.count != 0)
            more = read.count == 0 ? made.bits / (2 * made.count)
                                   : (made.bits * read.count - read.bits * made.count) / (2 * made.count * read.count);
        more = family->fixed == 0 && more < family->above ? family->above : more;
        more = more > family->room ? family->room : more;
        more = more > POWER_MAX - family->power ? POWER_MAX - family->power : more;
        family->more = more > 0 ? more : 0;
        family->made = family->read = (struct unused){0, 0};
        family->above = 0;
        most = family->more > most ? family->more : most;
    }
    return most;
}

static cnnvp_result scale_layer(const struct equaliser *all, struct cnnvp_graph_layer *layer)
{
    const struct weights weights = weights_of(all->graph, layer);
    float *bias = NULL;
    if (layer->bias != NULL) { /* several layers may have the same one */
        bias = cnnvp_arena_array(&all->graph->arena, weights.outputs, sizeof *bias);
        if (bias == NULL)
            return CNNVP_FAILED;
    }
    float *at = layer->weights;
    for (size_t o = 0; o < weights.outputs; ++o) {
        const int32_t more = family_of(all, layer->out, o)->more;
        for (size_t i = 0; i < weights.depth; ++i, at += weights.taps) {
            const int32_t power = more - input_of(all, layer, &weights, o, i)->more;
            if (power != 0)
                cnnvp_float_kernels()->scale(at, ldexpf(1.0f, power), weights.taps, at);
        }
        if (bias != NULL)
            bias[o] = ldexpf(layer->bias[o], more);
    }
    layer->bias = bias;
    return CNNVP_DONE;
}

static cnnvp_result scale_all(const struct equaliser *all)
{
    for (size_t i = 0; i < all->graph->layer_count; ++i)
        if (has_weights(&all->graph->layers[i]))
            CNNVP_TRY(scale_layer(all, &all->graph->layers[i]));
    for (size_t i = 0; i < all->graph->tensor_count; ++i) {
        const struct cnnvp_graph_tensor *tensor = &all->graph->tensors[i];
        for (size_t c = 0; tensor->channel_max != NULL && c < tensor->channels; ++c)
            tensor->channel_max[c] = ldexpf(tensor->channel_max[c], family_of(all, (int32_t)i, c)->more);
    }
    for (size_t i = 0; i < all->count; ++i)
        all->families[i].power += all->families[i].more;
    return CNNVP_DONE;
}

/* Stores each channel's k, with which --dump computes the file's values. */
static cnnvp_result keep_powers(const struct equaliser *all)
{
    for (size_t i = 0; i < all->graph->tensor_count; ++i) {
        struct cnnvp_graph_tensor *tensor = &all->graph->tensors[i];
        if (!has_channels(all->graph, (int32_t)i))
            continue;
        int32_t *powers = cnnvp_arena_array(&all->graph->arena, tensor->channels, sizeof *powers);
        if (powers == NULL)
            return CNNVP_FAILED;
        int any = 0;
        for (size_t c = 0; c < tensor->channels; ++c) {
            powers[c] = family_of(all, (int32_t)i, c)->power;
            any |= powers[c] != 0;
        }
        tensor->powers = any ? powers : NULL;
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_equalise_watch(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->tensor_count && !graph->weightless; ++i) {
        struct cnnvp_graph_tensor *tensor = &graph->tensors[i];
        if (tensor->base != CNNVP_GRAPH_NONE)
            continue;
        tensor->channel_max = cnnvp_arena_array(&graph->arena, tensor->channels, sizeof *tensor->channel_max);
        CNNVP_TRY_MEMORY(tensor->channel_max != NULL, error);
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_equalise(struct cnnvp_graph *graph, int *changed, struct cnnvp_error *error)
{
    size_t most = 1;
    struct equaliser all = {.graph = graph};
    CNNVP_FREED size_t *first = calloc(graph->tensor_count + 1, sizeof *first);
    *changed = 0;
    for (size_t i = 0; i < graph->tensor_count && first != NULL; ++i) {
        first[i] = all.count;
        all.count += graph->tensors[i].base == CNNVP_GRAPH_NONE ? graph->tensors[i].channels : 0;
        most = graph->tensors[i].channels > most ? graph->tensors[i].channels : most;
    }
    CNNVP_FREED struct family *families = calloc(all.count + 1, sizeof *families);
    CNNVP_FREED float *rows = calloc(most, sizeof *rows);
    CNNVP_TRY_MEMORY(first != NULL && families != NULL && rows != NULL, error);
    for (size_t i = 0; i < all.count; ++i)
        families[i].of = i;
    all.first = first;
    all.families = families;
    all.rows = rows;
    tie(&all);
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        const int32_t largest = choose_powers(&all, sweep == 0);
        if (largest == 0 || (sweep == 0 && largest < SPREAD_MIN))
            break;
        *changed = 1;
        CNNVP_TRY_MEMORY(scale_all(&all) == CNNVP_DONE, error);
    }
    if (*changed && keep_powers(&all) != CNNVP_DONE)
        return cnnvp_config_no_memory(error);
    for (size_t i = 0; i < graph->tensor_count; ++i)
        graph->tensors[i].channel_max = NULL;
    return CNNVP_DONE;
}
