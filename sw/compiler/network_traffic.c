/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where tensors lie in memory, for the statistics of their traffic: the weights of each layer, then the maps. The least
 * that has to cross the off-chip port: weights once, of a map each word once an image, written if a layer makes it,
 * read if one takes it. On chip and within a depth-first chain, maps between the layers need not cross.
 */
#include <stdlib.h>

#include "network.h"

static int is_read(const struct cnnvp_graph *graph, int32_t base)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (cnnvp_graph_base(graph, layer->in) == base ||
            (layer->in2 != CNNVP_GRAPH_NONE && cnnvp_graph_base(graph, layer->in2) == base))
            return 1;
    }
    return 0;
}

static int is_written(const struct cnnvp_graph *graph, int32_t base)
{
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (cnnvp_graph_base(graph, graph->layers[i].out) == base)
            return 1;
    return 0;
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
    const struct cnnvp_image_layer *layer = &network->build.layers[index];
    const struct cnnvp_image_blob *first = &network->build.blobs[layer->first_blob];
    const struct cnnvp_image_blob *last = first + layer->blob_count - 1u;
    struct cnnvp_tensor_info info = {.name = network->graph.layers[index].name,
                                     .kind = "weights",
                                     .address = first->address,
                                     .size = last->address + last->bytes - first->address};
    for (const struct cnnvp_image_blob *blob = first; blob <= last; ++blob)
        info.least_read_bytes += blob->bytes;
    return info;
}

static struct cnnvp_tensor_info map_of(const struct cnnvp_network *network, int32_t tensor)
{
    const struct cnnvp_graph *graph = &network->graph;
    const struct cnnvp_image_tensor *place = &network->build.tensors[tensor];
    const uint64_t bytes = cnnvp_graph_words(&graph->tensors[tensor]) * sizeof(int16_t) * network->images;
    const int is_input = cnnvp_graph_base(graph, graph->input) == tensor;
    const int is_output = cnnvp_graph_is_output(graph, tensor);
    const int handed_on = network->block != 0 && is_handed_on(graph, tensor);
    const int stays = !is_input && !is_output && (network->on_chip || handed_on);
    return (struct cnnvp_tensor_info){
        .name = graph->tensors[tensor].name,
        .kind = is_input ? "input" : is_output ? "output" : "feature",
        .address = place->address - cnnvp_image_frame_lead(place),
        .size = place->image_stride != 0 ? (uint64_t)place->image_stride * network->images
                                         : cnnvp_image_frame_bytes(place),
        .least_read_bytes = is_read(graph, tensor) && !stays ? bytes : 0,
        .least_write_bytes = is_written(graph, tensor) && !stays ? bytes : 0,
    };
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
    *tensors = info;
    *count = 0;
    if (info == NULL)
        return cnnvp_compiler_no_memory(error);
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (network->build.layers[i].blob_count != 0)
            info[(*count)++] = weights_of(network, i);
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i)
        if (graph->tensors[i].base == CNNVP_GRAPH_NONE && network->build.tensors[i].address != 0)
            info[(*count)++] = map_of(network, i);
    qsort(info, *count, sizeof *info, by_address);
    return CNNVP_DONE;
}
