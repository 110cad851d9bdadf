/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where tensors lie in memory, for the statistics of their traffic: the weights of each layer, then the maps. The least
 * that has to cross the off-chip port: weights once, of a map each word once an image, written if a layer makes it,
 * read if one takes it. On chip and within a depth-first chain, maps between the layers need not cross.
 */
#include <stdlib.h>

#include "network.h"

/* 1: a window touches that line (row or column) of the padded input: line = out * stride + tap * dilation. */
static int is_touched(uint64_t line, uint64_t outs, uint64_t taps, uint64_t stride, uint64_t dilation)
{
    const uint64_t after = line > (outs - 1) * stride ? line - (outs - 1) * stride : 0;
    const uint64_t first = (after + dilation - 1) / dilation;
    const uint64_t last = line / dilation < taps ? line / dilation : taps - 1;
    uint64_t tap = first;
    if (dilation == 1)
        tap += (line - first) % stride;
    else
        while (tap <= last && tap - first < stride && (line - tap * dilation) % stride != 0)
            ++tap;
    return tap <= last && tap - first < stride;
}

/* 1: the layer needs that row of its input, or column. */
static int needs_row(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, uint32_t row)
{
    if (layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_POOL)
        return is_touched((uint64_t)row + layer->pad_top, graph->tensors[layer->out].height, layer->ky, layer->sy,
                          layer->dy);
    return layer->cropped == 0 || (row >= layer->crop_row && row - layer->crop_row < layer->crop_height);
}

static int needs_column(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, uint32_t column)
{
    if (layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_POOL)
        return is_touched((uint64_t)column + layer->pad_left, graph->tensors[layer->out].width, layer->kx, layer->sx,
                          layer->dx);
    return layer->cropped == 0 || (column >= layer->crop_column && column - layer->crop_column < layer->crop_width);
}

/* Positions of each channel of an operand that a layer needs. */
static uint64_t positions_needed(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer,
                                 int32_t operand)
{
    uint64_t rows = 0;
    uint64_t columns = 0;
    for (uint32_t row = 0; row < graph->tensors[operand].height; ++row)
        rows += (uint64_t)needs_row(graph, layer, row);
    for (uint32_t column = 0; column < graph->tensors[operand].width; ++column)
        columns += (uint64_t)needs_column(graph, layer, column);
    return rows * columns;
}

uint64_t cnnvp_network_words_needed(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer,
                                    int32_t operand)
{
    return graph->tensors[operand].channels * positions_needed(graph, layer, operand);
}

uint64_t cnnvp_network_words_made(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    return layer->placed != 0 ? cnnvp_network_words_needed(graph, layer, layer->in)
                              : cnnvp_graph_words(&graph->tensors[layer->out]);
}

/* 1: the operand is all of its base, and the layer needs all of it. */
static int needs_all(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, int32_t operand)
{
    const struct cnnvp_graph_tensor *view = &graph->tensors[operand];
    return cnnvp_graph_words(view) == cnnvp_graph_words(&graph->tensors[cnnvp_graph_base(graph, operand)]) &&
           positions_needed(graph, layer, operand) == (uint64_t)view->height * view->width;
}

/* A 1 for each word of the base that the layer needs. */
static void mark(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, int32_t operand,
                 unsigned char *words)
{
    const struct cnnvp_graph_tensor *view = &graph->tensors[operand];
    const size_t plane = (size_t)view->height * view->width;
    const size_t step = view->channel_step > 1 ? view->channel_step : 1;
    unsigned char *first = words + cnnvp_graph_offset(graph, operand);
    for (uint32_t row = 0; row < view->height; ++row) {
        if (!needs_row(graph, layer, row))
            continue;
        for (uint32_t column = 0; column < view->width; ++column)
            for (size_t c = 0; c < view->channels && needs_column(graph, layer, column); ++c)
                first[c * step * plane + (size_t)row * view->width + column] = 1;
    }
}

/* Words of the base that layers need. */
static cnnvp_result words_read(const struct cnnvp_graph *graph, int32_t base, uint64_t *count,
                               struct cnnvp_error *error)
{
    int parts = 0;
    const size_t all = cnnvp_graph_words(&graph->tensors[base]);
    *count = all;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        for (int second = 0; second < 2; ++second) {
            const int32_t operand = second ? layer->in2 : layer->in;
            if (cnnvp_graph_base(graph, operand) != base)
                continue;
            if (needs_all(graph, layer, operand))
                return CNNVP_DONE;
            parts = 1;
        }
    }
    unsigned char *words = parts ? calloc(all, 1) : NULL;
    if (parts && words == NULL)
        return cnnvp_compiler_no_memory(error);
    *count = 0;
    for (size_t i = 0; i < graph->layer_count && parts; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (cnnvp_graph_base(graph, layer->in) == base)
            mark(graph, layer, layer->in, words);
        if (cnnvp_graph_base(graph, layer->in2) == base)
            mark(graph, layer, layer->in2, words);
    }
    for (size_t i = 0; i < all && parts; ++i)
        *count += words[i];
    free(words);
    return CNNVP_DONE;
}

/* Words of the base that layers make: what lies beside parts that are placed is zero from the start. */
static uint64_t words_written(const struct cnnvp_graph *graph, int32_t base)
{
    uint64_t words = 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (cnnvp_graph_base(graph, layer->out) == base)
            words += cnnvp_network_words_made(graph, layer);
    }
    return words;
}

/* Depth first: the next layer takes it block by block. */
static int is_handed_on(const struct cnnvp_graph *graph, int32_t base)
{
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (cnnvp_graph_base(graph, graph->layers[i].out) == base && graph->layers[i].chained != CNNVP_GRAPH_NONE)
            return 1;
    return 0;
}

static struct cnnvp_tensor_info weights_of(const struct cnnvp_network *network, size_t index)
{
    const struct cnnvp_binary_layer *layer = &network->build.layers[index];
    const struct cnnvp_binary_blob *first = &network->build.blobs.all[layer->first_blob];
    const struct cnnvp_binary_blob *last = first + layer->blob_count - 1u;
    struct cnnvp_tensor_info info = {
        .name = network->graph.layers[index].name,
        .kind = "weights",
        .address = first->address,
        .size = last->address + last->bytes - first->address};
    for (const struct cnnvp_binary_blob *blob = first; blob <= last; ++blob)
        info.least_read_bytes += blob->bytes;
    return info;
}

static cnnvp_result map_of(const struct cnnvp_network *network, int32_t tensor, struct cnnvp_tensor_info *info,
                           struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = &network->graph;
    const struct cnnvp_binary_tensor *place = &network->build.tensors[tensor];
    const int is_input = cnnvp_graph_base(graph, graph->input) == tensor;
    const int is_output = cnnvp_graph_is_output(graph, tensor);
    const int handed_on = network->block != 0 && is_handed_on(graph, tensor);
    const int stays =
        !is_input && !is_output && (place->on_chip || handed_on || cnnvp_network_is_fused(network, tensor));
    uint64_t read = 0;
    const cnnvp_result result = stays ? CNNVP_DONE : words_read(graph, tensor, &read, error);
    *info = (struct cnnvp_tensor_info){
        .name = graph->tensors[tensor].name,
        .kind = is_input    ? "input"
                : is_output ? "output"
                            : "feature",
        .address = place->address - cnnvp_binary_frame_lead(place),
        .size = cnnvp_binary_tensor_bytes(&network->build, place),
        .least_read_bytes = read * CNNVP_WORD_BYTES * network->images,
        .least_write_bytes = stays ? 0 : words_written(graph, tensor) * CNNVP_WORD_BYTES * network->images,
    };
    return result;
}

static int by_address(const void *left, const void *right)
{
    const struct cnnvp_tensor_info *a = left;
    const struct cnnvp_tensor_info *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

cnnvp_result cnnvp_network_tensors(const struct cnnvp_network *network, struct cnnvp_tensor_info **tensors,
                                   size_t *count, struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = &network->graph;
    struct cnnvp_tensor_info *info = calloc(graph->layer_count + graph->tensor_count, sizeof *info);
    cnnvp_result result = CNNVP_DONE;
    *tensors = info;
    *count = 0;
    if (info == NULL)
        return cnnvp_compiler_no_memory(error);
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (network->build.layers[i].blob_count != 0)
            info[(*count)++] = weights_of(network, i);
    for (int32_t i = 0; i < (int32_t)graph->tensor_count && result == CNNVP_DONE; ++i)
        if (graph->tensors[i].base == CNNVP_GRAPH_NONE && network->build.tensors[i].address != 0)
            result = map_of(network, i, &info[(*count)++], error);
    if (result != CNNVP_DONE) {
        free(info);
        *tensors = NULL;
        *count = 0;
        return result;
    }
    qsort(info, *count, sizeof *info, by_address);
    return CNNVP_DONE;
}
