/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the layers that form depth-first chains, by their shapes alone. */

#include "binary_internal.h"
#include "cnnvp_integer.h"

cnnvp_result cnnvp_depth_check_block(uint32_t block, struct cnnvp_error *error)
{
    if (cnnvp_is_power_of_two(block))
        return CNNVP_DONE;
    uint32_t below = 1;
    while (below <= block / 2u)
        below *= 2u;
    if (block == 0)
        return cnnvp_compiler_error(error, "--block 0: the side of a block is a power of two, such as 8");
    return cnnvp_compiler_error(
        error, "--block %u: the side of a block is a power of two, such as %u or %u", block, below, below * 2u);
}

/* The padding before the first position that keeps the map's size: floor before, ceil after (Part B 4-9). */
static uint32_t pad_before(uint32_t kernel, uint32_t dilation)
{
    return (kernel - 1u) * dilation / 2u;
}

static const char *why_no_conv(const struct cnnvp_graph_layer *layer, const struct cnnvp_graph_tensor *in,
                               const struct cnnvp_graph_tensor *out)
{
    if (layer->sx != 1 || layer->sy != 1)
        return "its stride is not 1";
    if (in->height != out->height || in->width != out->width)
        return "its output has another size than its input";
    if (layer->groups != 1 && layer->depthwise == 0)
        return "it has groups";
    if (layer->pad_top != pad_before(layer->ky, layer->dy) || layer->pad_left != pad_before(layer->kx, layer->dx))
        return "its padding is not even around the kernel (of an even kernel, the larger part comes last)";
    return NULL;
}

static const char *why_no_pool(const struct cnnvp_graph_layer *layer, const struct cnnvp_graph_tensor *in,
                               const struct cnnvp_graph_tensor *out, uint32_t block)
{
    if (layer->pool != CNNVP_POOL_MAX)
        return "it is an average pool";
    if (layer->kx != 2 || layer->ky != 2 || layer->sx != 2 || layer->sy != 2 || layer->dx != 1 || layer->dy != 1)
        return "it is no 2x2 pool with stride 2";
    if (layer->pad_top != 0 || layer->pad_left != 0 || out->height * 2u != in->height || out->width * 2u != in->width)
        return "it does not halve both sides";
    if (block < 2)
        return "a block of 1x1 cannot be pooled";
    return NULL;
}

/* Why the layer cannot be part of a chain; NULL: it can. */
static const char *why_not(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer, uint32_t block)
{
    const struct cnnvp_graph_tensor *in = &graph->tensors[layer->in];
    const struct cnnvp_graph_tensor *out = &graph->tensors[layer->out];
    if ((layer->op != CNNVP_OP_CONV || layer->product != 0) && layer->op != CNNVP_OP_POOL)
        return "it is neither a convolution nor a pool";
    const char *reason = layer->op == CNNVP_OP_CONV ? why_no_conv(layer, in, out) : why_no_pool(layer, in, out, block);
    if (reason != NULL)
        return reason;
    return cnnvp_is_power_of_two(in->height) && cnnvp_is_power_of_two(in->width)
               ? NULL
               : "a side of its map is no power of two";
}

/* The only layer that reads the tensor, if it reads all of it; otherwise CNNVP_GRAPH_NONE: the tensor has to be in
 * memory. */
static int32_t only_reader(const struct cnnvp_graph *graph, int32_t tensor)
{
    if (graph->tensors[tensor].base != CNNVP_GRAPH_NONE || cnnvp_graph_readers(graph, tensor) != 1)
        return CNNVP_GRAPH_NONE;
    for (size_t i = 0; i < graph->layer_count; ++i)
        if (graph->layers[i].in == tensor)
            return (int32_t)i;
    return CNNVP_GRAPH_NONE;
}

static cnnvp_result no_chain(const struct cnnvp_graph *graph, uint32_t block, struct cnnvp_error *error)
{
    const struct cnnvp_graph_layer *nearest = NULL;
    for (size_t i = 0; i < graph->layer_count && nearest == NULL; ++i)
        if (graph->layers[i].op == CNNVP_OP_CONV || graph->layers[i].op == CNNVP_OP_POOL)
            nearest = &graph->layers[i];
    if (nearest == NULL)
        return cnnvp_compiler_error(error,
                                    "%s: the depth-first schedule runs convolutions and 2x2 maximum pools, and the "
                                    "network has none; use --schedule layer",
                                    graph->file);
    const struct cnnvp_graph_tensor *in = &graph->tensors[nearest->in];
    return cnnvp_compiler_error(
        error,
        "%s: the depth-first schedule runs convolutions of stride 1 that keep their map's size and 2x2 maximum pools "
        "of stride 2 on maps whose sides are powers of two, and the network has none: layer \"%s\" reads %ux%u and %s; "
        "use --schedule layer",
        graph->file, nearest->name, in->height, in->width, why_not(graph, nearest, block));
}

/* Links the layers of the chains; those of a plan are parts of the maximal ones. */
static cnnvp_result link_layers(struct cnnvp_graph *graph, const struct cnnvp_plan *plan, struct cnnvp_error *error)
{
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *layer = &graph->layers[i];
        const int32_t reader = only_reader(graph, layer->out);
        if (layer->block_height == 0)
            continue;
        if (plan != NULL)
            layer->chained = plan->chained[i];
        else if (reader != CNNVP_GRAPH_NONE && graph->layers[reader].block_height != 0)
            layer->chained = reader;
        if (layer->chained != CNNVP_GRAPH_NONE && layer->chained != reader)
            return cnnvp_config_error(error, plan->chain_places[layer->chained],
                                      "layer \"%s\" is not the one layer that reads what \"%s\" before it makes",
                                      graph->layers[layer->chained].name, layer->name);
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_depth_find(struct cnnvp_graph *graph, uint32_t block, const struct cnnvp_plan *plan,
                              struct cnnvp_error *error)
{
    int found = 0;
    if (plan != NULL && plan->block == 0)
        plan = NULL;
    else if (plan != NULL)
        block = plan->block;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *layer = &graph->layers[i];
        layer->chained = CNNVP_GRAPH_NONE;
        layer->block_height = layer->block_width = 0;
        if (plan != NULL && plan->chain_places[i] == NULL)
            continue;
        const char *reason = why_not(graph, layer, block);
        if (reason != NULL && plan != NULL)
            return cnnvp_config_error(
                error, plan->chain_places[i], "layer \"%s\" cannot run depth first: %s", layer->name, reason);
        if (reason != NULL)
            continue;
        layer->block_height = cnnvp_depth_side(graph->tensors[layer->in].height, block);
        layer->block_width = cnnvp_depth_side(graph->tensors[layer->in].width, block);
        found = 1;
    }
    CNNVP_TRY(link_layers(graph, plan, error));
    return found ? CNNVP_DONE : no_chain(graph, block, error);
}
