/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where tensors lie in memory, for the statistics of their traffic: the weights of each layer, then the maps. Each has
 * a lower bound of its traffic through the off-chip port: weights once; of a map, each word that the outputs depend on
 * once per image, written if a layer makes it, read if a layer reads it. Maps between layers that stay on chip, or lie
 * within a group, need not cross the port.
 */
#include <stdlib.h>

#include "binary/network_binary.h"
#include "network.h"

/* Words of a base tensor that layers make. What lies beside the parts that layers fill is zero from the start. */
static uint64_t words_written(const struct cnnvp_graph *graph, const struct cnnvp_network_needs *needs, int32_t base)
{
    uint64_t words = 0;
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (cnnvp_graph_base(graph, graph->layers[i].out) == base)
            words += needs->layers[i].made;
    return words;
}

int cnnvp_network_stays_on_chip(const struct cnnvp_network *network, int32_t tensor)
{
    const struct cnnvp_build *build = &network->build;
    return build->tensors[cnnvp_graph_base(&network->graph, tensor)].on_chip ||
           cnnvp_binary_is_inside(&network->graph, build, tensor);
}

static struct cnnvp_tensor_info weights_of(const struct cnnvp_network *network, size_t index)
{
    const struct cnnvp_layer *layer = &network->build.layers[index];
    const struct cnnvp_weight_tile *first = &network->build.weight_tiles.all[layer->first_weight_tile];
    const struct cnnvp_weight_tile *last = &first[layer->weight_tile_count - 1u];
    uint64_t resident = 0;
    struct cnnvp_tensor_info info = {
        .name = network->graph.layers[index].name,
        .kind = "weights",
        .address = first->address,
        .size = (uint64_t)last->address + last->bytes - first->address};
    cnnvp_binary_add_weights(&network->build, layer, &info.least_read_bytes, &resident);
    return info;
}

static const char *kind_of(const struct cnnvp_graph *graph, int32_t tensor)
{
    return cnnvp_graph_is_input(graph, tensor) ? "input" : cnnvp_graph_is_output(graph, tensor) ? "output" : "feature";
}

static struct cnnvp_tensor_info map_of(const struct cnnvp_network *network, const struct cnnvp_network_needs *needs,
                                       int32_t tensor)
{
    const struct cnnvp_graph *graph = &network->graph;
    const struct cnnvp_tensor *place = &network->build.tensors[tensor];
    const int is_input = cnnvp_graph_is_input(graph, tensor);
    const int is_output = cnnvp_graph_is_output(graph, tensor);
    const int stays = !is_input && !is_output && cnnvp_network_stays_on_chip(network, tensor);
    const uint64_t word_bytes = stays ? 0 : (uint64_t)network->images << place->word_shift;
    return (struct cnnvp_tensor_info){
        .name = graph->tensors[tensor].name,
        .kind = kind_of(graph, tensor),
        .address = place->address - cnnvp_binary_frame_lead(place),
        .size = cnnvp_binary_tensor_bytes(&network->build, place),
        .least_read_bytes = is_output && place->on_chip ? 0 : needs->read[tensor] * word_bytes,
        .least_write_bytes = words_written(graph, needs, tensor) * word_bytes,
    };
}

static int by_address(const void *left, const void *right)
{
    const struct cnnvp_tensor_info *a = left;
    const struct cnnvp_tensor_info *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

static int has_weights(const struct cnnvp_network *network, size_t layer)
{
    return network->build.layers[layer].weight_tile_count != 0 && network->build.layers[layer].product == 0;
}

static int has_memory(const struct cnnvp_network *network, size_t tensor)
{
    return network->graph.tensors[tensor].base == CNNVP_GRAPH_NONE && network->build.tensors[tensor].address != 0;
}

cnnvp_result cnnvp_network_tensors(const struct cnnvp_network *network, const struct cnnvp_network_needs *needs,
                                   struct cnnvp_arena *arena, struct cnnvp_work_info *work, struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = &network->graph;
    struct cnnvp_tensor_info *info = cnnvp_arena_array(arena, graph->layer_count + graph->tensor_count, sizeof *info);
    CNNVP_TRY_MEMORY(info != NULL, error);
    work->tensors = info;
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (has_weights(network, i))
            info[work->tensor_count++] = weights_of(network, i);
    for (int32_t i = 0; i < (int32_t)graph->tensor_count; ++i)
        if (has_memory(network, (size_t)i))
            info[work->tensor_count++] = map_of(network, needs, i);
    qsort(info, work->tensor_count, sizeof *info, by_address);
    return CNNVP_DONE;
}

/* ---- for traces ---- */

static int place_by_address(const void *left, const void *right)
{
    const struct cnnvp_place_info *a = left;
    const struct cnnvp_place_info *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

static struct cnnvp_place_info place_of_weight_tile(const struct cnnvp_network *network, size_t index, uint32_t number)
{
    const struct cnnvp_layer *layer = &network->build.layers[index];
    const struct cnnvp_weight_tile *weight_tiles = &network->build.weight_tiles.all[layer->first_weight_tile];
    return (struct cnnvp_place_info){
        .tensor = network->graph.layers[index].name,
        .kind = "weights",
        .address = weight_tiles[number].address,
        .size = weight_tiles[number].bytes,
        .offset = weight_tiles[number].address - weight_tiles->address,
        .channel = cnnvp_plan_has_weights(layer) ? cnnvp_weight_tile_part(layer, number).out : 0};
}

static struct cnnvp_place_info place_of_map(const struct cnnvp_network *network, size_t tensor)
{
    const struct cnnvp_tensor *place = &network->build.tensors[tensor];
    return (struct cnnvp_place_info){
        .tensor = network->graph.tensors[tensor].name,
        .kind = kind_of(&network->graph, (int32_t)tensor),
        .address = place->address - cnnvp_binary_frame_lead(place),
        .size = cnnvp_binary_tensor_bytes(&network->build, place),
        .image_stride = place->image_stride,
        .channel_stride = (uint64_t)place->channel_stride << place->word_shift};
}

cnnvp_result cnnvp_network_places(const struct cnnvp_network *network, struct cnnvp_arena *arena,
                                  struct cnnvp_work_info *work, struct cnnvp_error *error)
{
    const struct cnnvp_graph *graph = &network->graph;
    const size_t most = network->build.weight_tiles.count + graph->tensor_count;
    struct cnnvp_place_info *info = cnnvp_arena_array(arena, most, sizeof *info);
    CNNVP_TRY_MEMORY(info != NULL, error);
    work->places = info;
    for (size_t i = 0; i < graph->layer_count; ++i)
        for (uint32_t b = 0; has_weights(network, i) && b < network->build.layers[i].weight_tile_count; ++b)
            info[work->place_count++] = place_of_weight_tile(network, i, b);
    for (size_t i = 0; i < graph->tensor_count; ++i)
        if (has_memory(network, i))
            info[work->place_count++] = place_of_map(network, i);
    qsort(info, work->place_count, sizeof *info, place_by_address);
    return CNNVP_DONE;
}
