/* SPDX-License-Identifier: Apache-2.0 */
#include "chain.h"

#include <math.h>
#include <stdio.h>

enum { LAYERS_MAX = 64 };

/* A layer of sums begins with a convolution or matrix; what follows it belongs to it. 0: none of these. */
static uint32_t take_layers(const struct cnnvp_graph *graph, struct train_layer *layers)
{
    uint32_t count = 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *from = &graph->layers[i];
        const struct cnnvp_graph_tensor *in = &graph->tensors[from->in];
        struct train_layer *layer = count > 0 ? &layers[count - 1] : NULL;
        if (from->op == CNNVP_OP_CONV || from->op == CNNVP_OP_FC) {
            if (count == LAYERS_MAX)
                return 0;
            layers[count++] = (struct train_layer){
                .connected = from->op == CNNVP_OP_FC,
                .inputs = in->channels,
                .height = in->height,
                .width = in->width,
                .outputs = graph->tensors[from->out].channels,
                .side = from->kx,
                .pad = from->pad_top,
                .bias = from->has_bias};
        } else if (layer == NULL) {
            return 0;
        } else if (from->op == CNNVP_OP_NORM) {
            layer->norm = 1;
            layer->epsilon = (double)from->epsilon;
        } else if (from->op == CNNVP_OP_ACTIVATION) {
            layer->relu = 1;
        } else if (from->op == CNNVP_OP_POOL) {
            layer->pool = 1;
        }
    }
    return count;
}

static void take_weights(const struct cnnvp_graph *graph, struct train_net *net)
{
    uint32_t l = 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *from = &graph->layers[i];
        if (from->op != CNNVP_OP_CONV && from->op != CNNVP_OP_FC)
            continue;
        struct train_layer *layer = &net->layers[l++];
        for (uint64_t k = 0; k < train_weight_count(layer); ++k)
            layer->weights[k] = (double)from->weights[k];
        for (uint32_t c = 0; c < layer->outputs; ++c) {
            layer->biases[c] = from->has_bias ? (double)from->bias[c] : 0;
            layer->sigma[c] = sqrt(1 + layer->epsilon);
        }
    }
}

cnnvp_result chain_new(const char *network, const struct cnnvp_train_import_options *import, uint32_t batch,
                       const struct train_options *options, struct train_net *net, struct cnnvp_error *error)
{
    struct train_layer layers[LAYERS_MAX];
    struct cnnvp_graph graph;
    cnnvp_result result = cnnvp_onnx_import_training(network, import, &graph, error);
    if (result != CNNVP_DONE)
        return result;
    const uint32_t count = take_layers(&graph, layers);
    if (count == 0) {
        (void)snprintf(error->text, sizeof error->text, "%s: not a chain of 1 to %d convolutions and matrices", network,
                       (int)LAYERS_MAX);
        result = CNNVP_BAD_INPUT;
    } else {
        train_net_new(net, layers, count, batch, options);
        take_weights(&graph, net);
        train_net_start(net);
    }
    cnnvp_graph_clear(&graph);
    return result;
}
