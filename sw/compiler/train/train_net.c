/* SPDX-License-Identifier: Apache-2.0 */
/* Turns an imported graph into a chain of nodes that the training engine can train; see train_net.h. */
#include "train_net.h"

#include <string.h>

struct chain {
    struct cnnvp_graph *graph;
    struct cnnvp_train_net *net;
    int32_t tensor; /* base tensor that the next layer must read */
    struct cnnvp_error *error;
};

static cnnvp_result refuse(const struct chain *chain, size_t layer, const char *why)
{
    const struct cnnvp_graph_layer *at = &chain->graph->layers[layer];
    return cnnvp_compiler_error(
        chain->error, "%s: node \"%s\" (%s): %s", chain->graph->file, at->name, at->op_type, why);
}

static struct cnnvp_train_node *last_node(const struct chain *chain)
{
    return chain->net->count == 0 ? NULL : &chain->net->nodes[chain->net->count - 1u];
}

static cnnvp_result take_learning(struct chain *chain, size_t index)
{
    const struct cnnvp_graph_layer *layer = &chain->graph->layers[index];
    const struct cnnvp_graph_tensor *in = &chain->graph->tensors[layer->in];
    const struct cnnvp_graph_tensor *out = &chain->graph->tensors[layer->out];
    struct cnnvp_train_node node = {
        .layer = index,
        .norm = CNNVP_TRAIN_NO_LAYER,
        .connected = layer->op == CNNVP_OP_FC,
        .has_bias = layer->has_bias != 0,
        .ci = in->channels,
        .hi = in->height,
        .wi = in->width,
        .co = out->channels,
        .ho = out->height,
        .wo = out->width,
        .ph = out->height,
        .pw = out->width,
        .kx = layer->kx,
        .ky = layer->ky,
        .sx = layer->sx,
        .sy = layer->sy,
        .px = layer->pad_left,
        .py = layer->pad_top,
    };
    if (node.connected) {
        node.ci *= node.hi * node.wi;
        node.hi = node.wi = node.ho = node.wo = node.ph = node.pw = 1;
        node.kx = node.ky = node.sx = node.sy = 1;
        node.px = node.py = 0;
        node.co = (uint32_t)cnnvp_graph_words(out);
    }
    if (layer->groups != 1)
        return refuse(chain, index, "the training engine takes convolutions of one group");
    if (layer->dx != 1 || layer->dy != 1)
        return refuse(chain, index, "the training engine takes kernels without dilation");
    if (layer->pad_left >= layer->kx || layer->pad_top >= layer->ky || layer->pad_right >= layer->kx ||
        layer->pad_bottom >= layer->ky)
        return refuse(chain, index, "the training engine takes paddings smaller than the kernel");
    if (layer->sx > layer->kx || layer->sy > layer->ky)
        return refuse(chain, index, "the training engine takes strides up to the kernel's size");
    if (node.ci > UINT16_MAX || node.co > UINT16_MAX || in->height > UINT16_MAX || in->width > UINT16_MAX)
        return refuse(chain, index, "the training engine takes up to 65535 channels, rows and columns");
    if (layer->post_count != 0)
        return refuse(chain, index, "the training engine has no such function after it");
    chain->net->nodes[chain->net->count++] = node;
    return CNNVP_DONE;
}

static cnnvp_result take_norm(struct chain *chain, size_t index)
{
    struct cnnvp_train_node *node = last_node(chain);
    const struct cnnvp_graph_layer *layer = &chain->graph->layers[index];
    if (layer->norm != CNNVP_NORM_STORED || strcmp(layer->op_type, "BatchNormalization") != 0)
        return refuse(chain, index, "the training engine takes BatchNormalization only");
    if (node == NULL || node->norm != CNNVP_TRAIN_NO_LAYER || node->relu || node->pool)
        return refuse(chain, index, "the training engine takes batch norm directly after a convolution or matrix");
    node->norm = index;
    return CNNVP_DONE;
}

static cnnvp_result take_activation(struct chain *chain, size_t index)
{
    struct cnnvp_train_node *node = last_node(chain);
    const struct cnnvp_graph_layer *layer = &chain->graph->layers[index];
    const int relu = layer->post_count == 1 && layer->posts[0].kind == CNNVP_GRAPH_MAX &&
                     !(layer->posts[0].value < 0) && !(layer->posts[0].value > 0) && !layer->permuted && !layer->placed;
    if (!relu)
        return refuse(chain, index, "ReLU and max pool are what the training engine trains through");
    if (node == NULL)
        return refuse(chain, index, "the training engine begins with a convolution or matrix");
    /* ReLU after the pool is the same function with the same gradient, since both are monotone. A second ReLU changes
     * nothing. */
    node->relu = 1;
    return CNNVP_DONE;
}

static cnnvp_result take_pool(struct chain *chain, size_t index)
{
    struct cnnvp_train_node *node = last_node(chain);
    const struct cnnvp_graph_layer *layer = &chain->graph->layers[index];
    const struct cnnvp_graph_tensor *out = &chain->graph->tensors[layer->out];
    if (layer->pool != CNNVP_POOL_MAX || layer->kx != 2 || layer->ky != 2 || layer->sx != 2 || layer->sy != 2 ||
        layer->dx != 1 || layer->dy != 1 || (layer->pad_left | layer->pad_top) != 0 ||
        out->height * 2u > chain->graph->tensors[layer->in].height ||
        out->width * 2u > chain->graph->tensors[layer->in].width)
        return refuse(chain, index,
                      "the training engine pools by the maximum, windows of 2x2 at stride 2 without padding");
    if (node == NULL || node->connected)
        return refuse(chain, index, "the training engine pools after a convolution");
    if (node->pool)
        return refuse(chain, index, "the training engine pools once after a convolution");
    node->pool = 1;
    node->ph = out->height;
    node->pw = out->width;
    return CNNVP_DONE;
}

static cnnvp_result take(struct chain *chain, size_t index)
{
    const struct cnnvp_graph_layer *layer = &chain->graph->layers[index];
    if (cnnvp_graph_base(chain->graph, layer->in) != chain->tensor || layer->in2 != CNNVP_GRAPH_NONE)
        return refuse(chain, index, "the training engine takes chains: each layer reads what the one before gives");
    if (chain->net->softmax)
        return refuse(
            chain, index,
            "the training engine takes a softmax at the end only; leave out what follows it (of a LogSoftmax, "
            "all): training has the cross-entropy of the sums before it");
    chain->tensor = cnnvp_graph_base(chain->graph, layer->out);
    switch (layer->op) {
    case CNNVP_OP_CONV:
    case CNNVP_OP_FC:
        return take_learning(chain, index);
    case CNNVP_OP_NORM:
        return take_norm(chain, index);
    case CNNVP_OP_ACTIVATION:
        return take_activation(chain, index);
    case CNNVP_OP_POOL:
        return take_pool(chain, index);
    case CNNVP_OP_SOFTMAX:
        if (chain->graph->tensors[layer->in].height != 1 || chain->graph->tensors[layer->in].width != 1)
            return refuse(chain, index, "the training engine's softmax takes one vector an image");
        chain->net->softmax = 1;
        chain->net->softmax_layer = index;
        return CNNVP_DONE;
    default:
        return refuse(chain, index, "the training engine does not train this");
    }
}

/* The last layer must give classes: one vector per image, straight from the sums (and bias). */
static cnnvp_result check_end(struct chain *chain)
{
    const struct cnnvp_train_node *node = last_node(chain);
    if (node == NULL)
        return cnnvp_compiler_error(
            chain->error, "%s: nothing in the network learns: no convolution, no matrix", chain->graph->file);
    if (node->ph != 1 || node->pw != 1 || node->norm != CNNVP_TRAIN_NO_LAYER || node->relu || node->pool)
        return refuse(chain, node->layer,
                      "the training engine ends with a convolution or matrix that gives one number a class");
    if (chain->tensor != cnnvp_graph_base(chain->graph, chain->graph->outputs[0].tensor))
        return cnnvp_compiler_error(chain->error, "%s: the output \"%s\" is not that of the last layer",
                                    chain->graph->file, chain->graph->outputs[0].name);
    chain->net->classes = node->co;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_train_net_make(struct cnnvp_graph *graph, struct cnnvp_train_net *net, struct cnnvp_error *error)
{
    const struct cnnvp_graph_tensor *input = &graph->tensors[graph->input];
    struct chain chain = {.graph = graph, .net = net, .error = error};
    *net = (struct cnnvp_train_net){.channels = input->channels, .height = input->height, .width = input->width};
    if (graph->output_count != 1)
        return cnnvp_compiler_error(
            error, "%s: the network has %zu outputs; the training engine gives one", graph->file, graph->output_count);
    net->nodes = cnnvp_arena_array(&graph->arena, graph->layer_count, sizeof *net->nodes);
    CNNVP_TRY_MEMORY(net->nodes != NULL, error);
    chain.tensor = cnnvp_graph_base(graph, graph->input);
    for (size_t i = 0; i < graph->layer_count; ++i) {
        CNNVP_TRY(take(&chain, i));
    }
    return check_end(&chain);
}

uint64_t cnnvp_train_net_macs(const struct cnnvp_train_node *node)
{
    return cnnvp_train_net_weights(node) * node->ho * node->wo;
}
