/* SPDX-License-Identifier: Apache-2.0 */
/* Chains in the network binary: the layers as blocks see them, tables. */
#include <string.h>

#include "binary_internal.h"

/* ---- layers as blocks see them ---- */

static void finish_chain(const struct cnnvp_graph *graph, struct cnnvp_build *build, size_t chain, size_t first)
{
    struct cnnvp_depth *depth = build->depth;
    const size_t count = depth->chains[chain].layer_count;
    const struct cnnvp_binary_level *levels = &depth->levels[first + chain];
    for (size_t i = 0; i < count; ++i) {
        struct cnnvp_binary_layer *layer = &depth->layers[first + i];
        *layer = build->layers[depth->sources[first + i]];
        layer->in = levels[i].block;
        if (levels[i + 1].on_chip != 0)
            layer->out = levels[i + 1].block;
    }
    depth->chains[chain].in = build->tensors[graph->layers[depth->sources[first]].in];
    depth->chains[chain].out = build->tensors[graph->layers[depth->sources[first + count - 1]].out];
}

void cnnvp_depth_complete(const struct cnnvp_graph *graph, struct cnnvp_build *build)
{
    size_t first = 0;
    for (size_t c = 0; c < build->depth->chain_count; ++c) {
        finish_chain(graph, build, c, first);
        first += build->depth->chains[c].layer_count;
    }
}

/* ---- tables ---- */

uint64_t cnnvp_depth_place_tables(struct cnnvp_build *build, uint64_t at)
{
    struct cnnvp_depth *depth = build->depth;
    build->header.chains = (uint32_t)at;
    at += cnnvp_binary_align(depth->chain_count * sizeof *depth->chains);
    const uint64_t levels = at;
    at += cnnvp_binary_align(depth->level_count * sizeof *depth->levels);
    const uint64_t layers = at;
    at += cnnvp_binary_align(depth->layer_count * sizeof *depth->layers);
    size_t first = 0;
    for (size_t c = 0; c < depth->chain_count; ++c) {
        depth->chains[c].layers = (uint32_t)(layers + first * sizeof *depth->layers);
        depth->chains[c].levels = (uint32_t)(levels + (first + c) * sizeof *depth->levels);
        first += depth->chains[c].layer_count;
    }
    for (size_t i = 0, word = 0; i < depth->level_count && depth->orders != NULL; ++i) {
        depth->levels[i].order = (uint32_t)(at + word * sizeof *depth->orders);
        word += (size_t)1 << (depth->levels[i].bits_x + depth->levels[i].bits_y);
    }
    return at + cnnvp_binary_align(depth->order_count * sizeof *depth->orders);
}

void cnnvp_depth_write_tables(const struct cnnvp_build *build, uint8_t *binary)
{
    const struct cnnvp_depth *depth = build->depth;
    if (depth->chain_count == 0)
        return;
    memcpy(binary + (build->header.chains - CNNVP_BINARY_ADDRESS), depth->chains,
           depth->chain_count * sizeof *depth->chains);
    memcpy(binary + (depth->chains[0].levels - CNNVP_BINARY_ADDRESS), depth->levels,
           depth->level_count * sizeof *depth->levels);
    memcpy(binary + (depth->chains[0].layers - CNNVP_BINARY_ADDRESS), depth->layers,
           depth->layer_count * sizeof *depth->layers);
    if (depth->orders != NULL)
        memcpy(binary + (depth->levels[0].order - CNNVP_BINARY_ADDRESS), depth->orders,
               depth->order_count * sizeof *depth->orders);
}
