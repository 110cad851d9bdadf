/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels between two layers with weights, brought to like sizes: the first layer gives a channel times 2^k, the
 * second one takes it times 2^-k, and in float not a bit of what follows changes. One format a layer then serves
 * channels whose weights differ by 10^4, as those of trained depthwise convolutions do (M. Nagel et al., Data-free
 * quantization through weight equalization and bias correction, ICCV 2019).
 *
 * Between the two may be what gives 2^k times as much of 2^k times as much: ReLU, LeakyRelu, pools. Other limits, and
 * maps that others read too, leave a pair as it is. So do channels that are alike: then k would gain nothing.
 */
#include <math.h>

#include "numbers.h"

/* Pairs whose k differ by less stay as they are: 2^4 in weights, and 2^4 in those after. */
#define SPREAD_MIN 4

#define POWER_MAX 30

struct pair {
    struct cnnvp_graph_layer *first;
    struct cnnvp_graph_layer *second;
    uint32_t channels;
    size_t each;  /* weights of an output of `first` */
    size_t depth; /* input channels that an output of `second` reads, */
    size_t taps;  /* with so many weights each; */
    size_t group; /* so many outputs read the same */
};

static int has_weights(const struct cnnvp_graph_layer *layer)
{
    return (layer->op == CNNVP_OP_CONV && layer->product == 0) || layer->op == CNNVP_OP_FC;
}

static int keeps_scales(const struct cnnvp_graph_layer *layer)
{
    for (uint32_t i = 0; i < layer->post_count; ++i)
        if (layer->posts[i].kind != CNNVP_GRAPH_LEAKY_RELU &&
            (layer->posts[i].kind != CNNVP_GRAPH_MAX || layer->posts[i].value < 0.0f || layer->posts[i].value > 0.0f))
            return 0;
    return 1;
}

/* The one layer that reads what this one gives, all of it and channel by channel, or NULL. */
static struct cnnvp_graph_layer *only_reader(struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph_tensor *out = &graph->tensors[layer->out];
    struct cnnvp_graph_layer *reader = NULL;
    size_t uses = 0;
    if (out->base != CNNVP_GRAPH_NONE || out->whole != 0 || cnnvp_graph_is_output(graph, layer->out) ||
        cnnvp_graph_is_weights(graph, layer->out))
        return NULL;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *other = &graph->layers[i];
        const int reads = cnnvp_graph_base(graph, other->in) == layer->out;
        const int reads_too = other->op == CNNVP_OP_ADD && cnnvp_graph_base(graph, other->in2) == layer->out;
        const int makes = cnnvp_graph_base(graph, other->out) == layer->out;
        uses += (size_t)(reads + reads_too + makes);
        reader = reads ? other : reader;
    }
    /* Its maker and its reader. */
    if (uses != 2 || reader == NULL)
        return NULL;
    const struct cnnvp_graph_tensor *in = &graph->tensors[reader->in];
    const int alike = in->channels == out->channels || reader->op == CNNVP_OP_FC;
    return alike && cnnvp_graph_words(in) == cnnvp_graph_words(out) ? reader : NULL;
}

static int find_pair(struct cnnvp_graph *graph, struct cnnvp_graph_layer *first, struct pair *pair)
{
    if (!has_weights(first) || !keeps_scales(first))
        return 0;
    struct cnnvp_graph_layer *second = only_reader(graph, first);
    while (second != NULL && second->op == CNNVP_OP_POOL && keeps_scales(second))
        second = only_reader(graph, second);
    if (second == NULL || !has_weights(second))
        return 0;
    const uint32_t channels = graph->tensors[first->out].channels;
    const size_t words = cnnvp_graph_words(&graph->tensors[second->in]);
    const size_t outputs = graph->tensors[second->out].channels;
    const int conv = second->op == CNNVP_OP_CONV;
    pair->first = first;
    pair->second = second;
    pair->channels = channels;
    pair->each = (size_t)(cnnvp_graph_macs(graph, first) / cnnvp_graph_words(&graph->tensors[first->out]));
    pair->depth = conv ? channels / second->groups : channels;
    pair->taps = conv ? (size_t)second->kx * second->ky : words / channels;
    pair->group = conv ? outputs / second->groups : outputs;
    return 1;
}

/* The weights of `second` that take a channel: `group` pieces of `taps`, `depth` pieces apart. */
static float *second_weights(const struct pair *pair, size_t channel)
{
    const size_t first = channel / pair->depth * pair->group * pair->depth + channel % pair->depth;
    return pair->second->weights + first * pair->taps;
}

static float first_size(const struct pair *pair, size_t channel)
{
    return cnnvp_float_kernels()->largest(pair->first->weights + channel * pair->each, pair->each);
}

static float second_size(const struct pair *pair, size_t channel)
{
    const float *weights = second_weights(pair, channel);
    float largest = 0.0f;
    for (size_t o = 0; o < pair->group; ++o)
        largest = fmaxf(largest, cnnvp_float_kernels()->largest(weights + o * pair->depth * pair->taps, pair->taps));
    return largest;
}

/* The powers that make each channel's weights as large a part of the largest in one layer as in the other. */
static int find_powers(const struct pair *pair, int32_t *powers)
{
    int32_t least = POWER_MAX, most = -POWER_MAX;
    float first = 0.0f, second = 0.0f;
    for (size_t c = 0; c < pair->channels; ++c) {
        first = fmaxf(first, first_size(pair, c));
        second = fmaxf(second, second_size(pair, c));
    }
    for (size_t c = 0; c < pair->channels; ++c) {
        const float before = first_size(pair, c), after = second_size(pair, c);
        powers[c] = 0;
        if (!(before > 0.0f && after > 0.0f && isfinite(first) && isfinite(second)))
            continue;
        const int32_t power = (ilogbf(first) - ilogbf(before) - ilogbf(second) + ilogbf(after)) / 2;
        powers[c] = power > POWER_MAX ? POWER_MAX : power < -POWER_MAX ? -POWER_MAX : power;
        least = powers[c] < least ? powers[c] : least;
        most = powers[c] > most ? powers[c] : most;
    }
    return most - least >= SPREAD_MIN;
}

/* No channel's values or bias become larger than the largest are. */
static void limit_powers(const struct pair *pair, int32_t *powers)
{
    const struct cnnvp_graph_layer *first = pair->first;
    float values = 0.0f, most = 0.0f;
    for (size_t c = 0; c < pair->channels; ++c) {
        values = fmaxf(values, first->channel_max[c]);
        most = fmaxf(most, first->bias != NULL ? fabsf(first->bias[c]) : 0.0f);
    }
    most = fmaxf(most, values);
    for (size_t c = 0; c < pair->channels; ++c) {
        const float value = first->channel_max[c], bias = first->bias != NULL ? fabsf(first->bias[c]) : 0.0f;
        const int32_t room = value > 0.0f && isfinite(values) ? ilogbf(values / value) : 0;
        const int32_t bias_room = bias > 0.0f ? ilogbf(most / bias) : room;
        const int32_t limit = bias_room < room ? bias_room : room;
        powers[c] = powers[c] > limit ? limit : powers[c];
    }
}

static void scale_pair(const struct pair *pair, size_t channel, int32_t power)
{
    const float more = ldexpf(1.0f, power), less = ldexpf(1.0f, -power);
    float *first = pair->first->weights + channel * pair->each;
    cnnvp_float_kernels()->scale(first, more, pair->each, first);
    if (pair->first->bias != NULL)
        pair->first->bias[channel] *= more;
    for (size_t o = 0; o < pair->group; ++o) {
        float *second = second_weights(pair, channel) + o * pair->depth * pair->taps;
        cnnvp_float_kernels()->scale(second, less, pair->taps, second);
    }
}

cnnvp_result cnnvp_equalise_find(struct cnnvp_graph *graph, int *found, struct cnnvp_error *error)
{
    *found = 0;
    for (size_t i = 0; i < graph->layer_count && !graph->weightless; ++i) {
        struct pair pair;
        if (!find_pair(graph, &graph->layers[i], &pair))
            continue;
        float *largest = cnnvp_arena_array(&graph->arena, pair.channels, sizeof *largest);
        int32_t *powers = cnnvp_arena_array(&graph->arena, pair.channels, sizeof *powers);
        if (largest == NULL || powers == NULL)
            return cnnvp_compiler_no_memory(error);
        if (!find_powers(&pair, powers))
            continue;
        pair.first->channel_max = largest;
        *found = 1;
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_equalise(struct cnnvp_graph *graph, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct pair pair;
        if (graph->layers[i].channel_max == NULL || !find_pair(graph, &graph->layers[i], &pair))
            continue;
        int32_t *powers = cnnvp_arena_array(&graph->arena, pair.channels, sizeof *powers);
        if (powers == NULL)
            return cnnvp_compiler_no_memory(error);
        (void)find_powers(&pair, powers);
        limit_powers(&pair, powers);
        for (size_t c = 0; c < pair.channels; ++c)
            scale_pair(&pair, c, powers[c]);
        for (struct cnnvp_graph_layer *layer = pair.first; layer != pair.second; layer = only_reader(graph, layer))
            graph->tensors[layer->out].powers = powers;
        pair.first->channel_max = NULL;
    }
    return CNNVP_DONE;
}
