/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that crosses the off-chip port with the chip's buffers, all of them together, whatever the schedule.
 *
 * Of a layer by itself: of its maps, as far as they go through memory, each word that it needs or makes once an image;
 * its weights once, and for each batch but the first as much of them as the buffers cannot keep. Where that is more, by
 * the bound of Hong and Kung: m multiplications with a buffer of s words move 2 m / sqrt(s) - 2 s words at least (Smith
 * et al. 2019, matrix products); a word of the input that r taps use is as good as r words (Chen et al. 2020,
 * convolutions).
 *
 * Of the network: its inputs, outputs and weights alone, since maps between layers might stay.
 */
#include <math.h>
#include <string.h>

#include "cnnvp_integer.h"
#include "network.h"

static uint64_t capacity_of(const struct cnnvp_target *target)
{
    return target->limits.input_bytes * target->limits.input_halves +
           target->limits.weight_bytes * target->limits.weight_halves +
           target->limits.output_bytes * target->output_halves;
}

static uint64_t weight_bytes(const struct cnnvp_network *network, size_t layer)
{
    const struct cnnvp_binary_layer *planned = &network->build.layers[layer];
    return planned->blob_count != 0 ? cnnvp_plan_weight_words(planned) * CNNVP_WORD_BYTES : 0;
}

/* What all batches load of `bytes` of weights. */
static uint64_t loads_of(const struct cnnvp_network *network, uint64_t bytes)
{
    const uint64_t room = capacity_of(&network->target);
    const uint64_t batches = cnnvp_divide_up(network->images, network->target.limits.batch);
    return bytes + (batches - 1u) * (bytes > room ? bytes - room : 0);
}

static int stays(const struct cnnvp_network *network, int32_t tensor)
{
    const int32_t base = cnnvp_graph_base(&network->graph, tensor);
    return base != cnnvp_graph_base(&network->graph, network->graph.input) &&
           !cnnvp_graph_is_output(&network->graph, base) && cnnvp_network_stays_on_chip(network, base);
}

/* ---- products ---- */

struct axis {
    uint32_t outs, taps, stride, dilation, pad, size;
};

/* Taps of all results on one axis that lie in the map. */
static double taps_inside(const struct axis *axis)
{
    double sum = 0;
    for (int64_t out = 0; out < axis->outs; ++out) {
        const int64_t first = out * axis->stride - axis->pad; /* line of tap 0 */
        const int64_t begin = first < 0 ? (-first + axis->dilation - 1) / axis->dilation : 0;
        const int64_t end = axis->size > first ? (axis->size - first + axis->dilation - 1) / axis->dilation : 0;
        const int64_t count = (end < axis->taps ? end : axis->taps) - begin;
        sum += count > 0 ? (double)count : 0;
    }
    return sum;
}

/* Taps that can use the same line. */
static double uses_of(const struct axis *axis)
{
    return (double)cnnvp_divide_up(axis->taps, axis->stride / cnnvp_common_divisor(axis->stride, axis->dilation));
}

/* Products of an image in which two operands of the layer meet, taps on padding left out, and the most that a word of
 * the input takes part in for each output channel. */
static double products_of(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, double *uses)
{
    const struct cnnvp_graph_tensor *in = &graph->tensors[layer->in];
    const struct cnnvp_graph_tensor *out = &graph->tensors[layer->out];
    *uses = 1;
    if (layer->op == CNNVP_OP_FC)
        return (double)cnnvp_graph_macs(graph, layer);
    if (layer->op != CNNVP_OP_CONV || layer->groups != 1)
        return 0;
    const struct axis rows = {out->height, layer->ky, layer->sy, layer->dy, layer->pad_top, in->height};
    const struct axis columns = {out->width, layer->kx, layer->sx, layer->dx, layer->pad_left, in->width};
    *uses = uses_of(&rows) * uses_of(&columns);
    return (double)in->channels * out->channels * taps_inside(&rows) * taps_inside(&columns);
}

/* Words of one batch by the bound of Hong and Kung. */
static double reuse_bound(const struct cnnvp_network *network, size_t index)
{
    const double words = (double)capacity_of(&network->target) / CNNVP_WORD_BYTES;
    double uses;
    const double products = products_of(&network->graph, &network->graph.layers[index], &uses);
    return 2.0 * products * network->target.limits.batch / sqrt(uses * words) - 2.0 * words;
}

/* ---- bounds ---- */

/* Words that go through memory for an image. */
static uint64_t words_moved(const struct cnnvp_network *network, const struct cnnvp_graph_layer *layer)
{
    const struct cnnvp_graph *graph = &network->graph;
    uint64_t in = 0, in2 = 0;
    if (!stays(network, layer->in))
        in = cnnvp_network_words_needed(graph, layer, layer->in);
    if (layer->in2 != CNNVP_GRAPH_NONE && !stays(network, layer->in2))
        in2 = cnnvp_network_words_needed(graph, layer, layer->in2);
    const int same =
        layer->in2 != CNNVP_GRAPH_NONE && cnnvp_graph_base(graph, layer->in) == cnnvp_graph_base(graph, layer->in2);
    const uint64_t read = same ? cnnvp_maximum(in, in2) : in + in2;
    return read + (stays(network, layer->out) ? 0 : cnnvp_network_words_made(graph, layer));
}

uint64_t cnnvp_network_layer_bound(const struct cnnvp_network *network, size_t index)
{
    const struct cnnvp_graph_layer *layer = &network->graph.layers[index];
    const uint64_t once = words_moved(network, layer) * CNNVP_WORD_BYTES * network->images +
                          loads_of(network, weight_bytes(network, index));
    if (stays(network, layer->in) || stays(network, layer->out))
        return once;
    /* Batches of fewer images have fewer products: those of full ones. */
    const uint64_t full = network->images / network->target.limits.batch;
    const double reuse = (double)full * reuse_bound(network, index) * CNNVP_WORD_BYTES;
    return reuse > (double)once ? (uint64_t)reuse : once;
}

uint64_t cnnvp_network_bound(const struct cnnvp_network *network, const struct cnnvp_tensor_info *tensors, size_t count)
{
    uint64_t weights = 0;
    uint64_t maps = 0;
    for (size_t i = 0; i < network->graph.layer_count; ++i)
        weights += weight_bytes(network, i);
    for (size_t i = 0; i < count; ++i) {
        maps += strcmp(tensors[i].kind, "input") == 0 ? tensors[i].least_read_bytes : 0;
        maps += strcmp(tensors[i].kind, "output") == 0 ? tensors[i].least_write_bytes : 0;
    }
    return maps + loads_of(network, weights);
}
