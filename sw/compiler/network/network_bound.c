/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lower bounds of the traffic through the off-chip port, given the capacity of all buffers together, whatever the
 * schedule.
 *
 * Of a single layer: each needed word of its maps that go through memory, once per image; its weights once, plus, for
 * each further batch, as many as the buffers cannot keep. The bound of Hong and Kung is taken if it is larger: m
 * multiplications with a buffer of s words move at least 2 m / sqrt(s) - 2 s words (Smith et al. 2019, matrix
 * products); an input word that r taps use counts as r words (Chen et al. 2020, convolutions).
 *
 * Of the network: only its inputs, outputs and weights, since maps between layers might stay on chip.
 */
#include <math.h>
#include <string.h>

#include "cnnvp_command.h"
#include "cnnvp_integer.h"
#include "network.h"

static uint64_t capacity_of(const struct cnnvp_target *target)
{
    return target->limits.input_bytes * target->limits.input_halves +
           target->limits.weight_bytes * target->limits.weight_halves +
           target->limits.output_bytes * target->limits.output_halves;
}

static uint64_t weight_bytes(const struct cnnvp_network *network, size_t layer)
{
    const struct cnnvp_layer *planned = &network->build.layers[layer];
    return planned->weight_tile_count != 0 && planned->product == 0
               ? cnnvp_plan_weight_words(planned) * CNNVP_WORD_BYTES
               : 0;
}

/* Bytes that all batches load of `bytes` of weights. */
static uint64_t loads_of(const struct cnnvp_network *network, uint64_t bytes)
{
    const uint64_t room = capacity_of(&network->target);
    const uint64_t batches = cnnvp_divide_up(network->images, network->target.limits.batch);
    return bytes + (batches - 1u) * (bytes > room ? bytes - room : 0);
}

static int stays(const struct cnnvp_network *network, int32_t tensor)
{
    const int32_t base = cnnvp_graph_base(&network->graph, tensor);
    return !cnnvp_graph_is_input(&network->graph, base) && !cnnvp_graph_is_output(&network->graph, base) &&
           cnnvp_network_stays_on_chip(network, base);
}

/* ---- products ---- */

/* Most taps of windows that use the same line. */
static double uses_of(uint32_t taps, uint32_t stride, uint32_t dilation)
{
    return (double)cnnvp_divide_up(taps, stride / cnnvp_common_divisor(stride, dilation));
}

/* Size of the layer's smallest words, of which most fit on chip. */
static uint32_t least_word_bytes(const struct cnnvp_network *network, size_t index)
{
    const struct cnnvp_layer *planned = &network->build.layers[index];
    const uint32_t maps = 1u << (planned->in.word_shift & planned->out.word_shift);
    return cnnvp_minimum32(maps, cnnvp_format_bytes(planned->format, CNNVP_NARROW_B));
}

/* Bytes of one batch by the bound of Hong and Kung. Negative if the bound says nothing. */
static double reuse_bound(const struct cnnvp_network *network, const struct cnnvp_network_needs *needs, size_t index)
{
    const struct cnnvp_graph_layer *layer = &network->graph.layers[index];
    const double bytes = least_word_bytes(network, index);
    const double words = (double)capacity_of(&network->target) / bytes;
    const int is_conv = layer->op == CNNVP_OP_CONV;
    /* Most products of one output channel that use the same input word. */
    const double uses =
        is_conv ? uses_of(layer->ky, layer->sy, layer->dy) * uses_of(layer->kx, layer->sx, layer->dx) : 1;
    const double products = is_conv && layer->groups != 1 ? 0 : needs->layers[index].products;
    return (2.0 * products * network->target.limits.batch / sqrt(uses * words) - 2.0 * words) * bytes;
}

/* ---- bounds ---- */

/* Bytes that a layer reads from memory per image, by base tensor: words that two of its operands share are read
 * once. */
struct reading {
    int32_t bases[4];
    uint64_t bytes[4];
    size_t count;
};

/* 1: the layer loads the tensor from memory. If the tensor stays on chip as a whole, only the first layer that reads it
 * does, and only if it is a network input. */
static int is_loaded(const struct cnnvp_network *network, int32_t base, size_t index)
{
    const struct cnnvp_graph *graph = &network->graph;
    if (network->build.tensors[base].on_chip == 0)
        return !stays(network, base);
    for (size_t i = 0; i < index; ++i)
        if (cnnvp_graph_reads(graph, &graph->layers[i], base))
            return 0;
    return cnnvp_graph_is_input(graph, base);
}

static void read_operand(const struct cnnvp_network *network, size_t index, int32_t operand, uint64_t words,
                         struct reading *reading)
{
    size_t i = 0;
    const int32_t base = cnnvp_graph_base(&network->graph, operand);
    if (base == CNNVP_GRAPH_NONE || !is_loaded(network, base, index))
        return;
    while (i < reading->count && reading->bases[i] != base)
        ++i;
    reading->bases[i] = base;
    reading->bytes[i] = cnnvp_maximum(reading->bytes[i], words << network->build.tensors[base].word_shift);
    reading->count += i == reading->count;
}

static void read_operands(const struct cnnvp_network *network, const struct cnnvp_network_needs *needs, size_t index,
                          struct reading *reading)
{
    const struct cnnvp_graph_layer *layer = &network->graph.layers[index];
    read_operand(network, index, layer->in, needs->layers[index].in, reading);
    read_operand(network, index, layer->in2, needs->layers[index].in2, reading);
}

/* Bytes that a layer moves through memory per image. */
static uint64_t bytes_moved(const struct cnnvp_network *network, const struct cnnvp_network_needs *needs, size_t index)
{
    struct reading reading = {.count = 0};
    const int32_t out = network->graph.layers[index].out;
    uint64_t bytes = stays(network, out) ? 0 : needs->layers[index].made << network->build.tensors[out].word_shift;
    if (!cnnvp_binary_is_added(&network->build, index))
        read_operands(network, needs, index, &reading);
    if (index + 1 < network->graph.layer_count && cnnvp_binary_is_added(&network->build, index + 1))
        read_operands(network, needs, index + 1, &reading);
    for (size_t i = 0; i < reading.count; ++i)
        bytes += reading.bytes[i];
    return bytes;
}

uint64_t cnnvp_network_layer_bound(const struct cnnvp_network *network, const struct cnnvp_network_needs *needs,
                                   size_t index)
{
    const struct cnnvp_graph_layer *layer = &network->graph.layers[index];
    const uint64_t once =
        bytes_moved(network, needs, index) * network->images + loads_of(network, weight_bytes(network, index));
    if (stays(network, layer->in) || stays(network, layer->out))
        return once;
    /* Only full batches count, because shorter ones have fewer products. */
    const uint64_t full = network->images / network->target.limits.batch;
    const double reuse = (double)full * reuse_bound(network, needs, index);
    return reuse > (double)once ? (uint64_t)reuse : once;
}

uint64_t cnnvp_network_bound(const struct cnnvp_network *network, const struct cnnvp_tensor_info *tensors, size_t count)
{
    uint64_t weights = 0, maps = 0;
    for (size_t i = 0; i < network->graph.layer_count; ++i)
        weights += weight_bytes(network, i);
    for (size_t i = 0; i < count; ++i) {
        maps += strcmp(tensors[i].kind, "input") == 0 ? tensors[i].least_read_bytes : 0;
        maps += strcmp(tensors[i].kind, "output") == 0 ? tensors[i].least_write_bytes : 0;
    }
    return maps + loads_of(network, weights);
}
