/* SPDX-License-Identifier: Apache-2.0 */
/* What a network that runs depth first says of itself: its chains, and what padding by blocks does to its output. */
#include <stdlib.h>

#include "binary.h"
#include "network.h"

static void add_weights(const struct cnnvp_build *build, const struct cnnvp_layer *layer, struct cnnvp_chain_info *info)
{
    for (uint32_t b = layer->first_blob; b < layer->first_blob + layer->blob_count; ++b) {
        info->weight_bytes += build->blobs.all[b].bytes;
        info->resident_weight_bytes += build->blobs.all[b].stays != 0 ? build->blobs.all[b].bytes : 0;
    }
}

cnnvp_result cnnvp_network_chains(const struct cnnvp_network *network, struct cnnvp_chain_info **chains,
                                  struct cnnvp_error *error)
{
    const struct cnnvp_build *build = &network->build;
    *chains = NULL;
    if (build->depth == NULL)
        return CNNVP_DONE;
    *chains = calloc(build->depth->chain_count + 1, sizeof **chains);
    if (*chains == NULL)
        return cnnvp_compiler_no_memory(error);
    size_t first = 0;
    for (size_t c = 0; c < build->depth->chain_count; ++c) {
        const size_t count = build->depth->chains[c].layer_count;
        const size_t *layers = &build->depth->sources[first];
        const struct cnnvp_binary_level *level = &build->depth->levels[first + c];
        struct cnnvp_chain_info *info = &(*chains)[c];
        *info = (struct cnnvp_chain_info){
            .first_layer = layers[0],
            .last_layer = layers[count - 1],
            .layer_count = count,
            .scheduled = build->depth->chains[c].scheduled != 0,
            .issue_reason = build->depth->issue_reasons[c],
            .blocks = UINT64_C(1) << (level->bits_x + level->bits_y)};
        for (size_t i = 0; i < count; ++i)
            add_weights(build, &build->layers[layers[i]], info);
        first += count;
    }
    return CNNVP_DONE;
}

int cnnvp_network_stays_on_chip(const struct cnnvp_network *network, int32_t tensor)
{
    const struct cnnvp_graph *graph = &network->graph;
    const struct cnnvp_depth *depth = network->build.depth;
    if (network->build.tensors[cnnvp_graph_base(graph, tensor)].on_chip || cnnvp_network_is_fused(network, tensor))
        return 1;
    if (depth == NULL)
        return 0;
    size_t first = 0;
    for (size_t c = 0; c < depth->chain_count; ++c) {
        const size_t last = first + depth->chains[c].layer_count - 1;
        for (size_t i = first; i < last; ++i)
            if (graph->layers[depth->sources[i]].out == tensor)
                return 1;
        first = last + 1;
    }
    return 0;
}
