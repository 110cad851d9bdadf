/* SPDX-License-Identifier: Apache-2.0 */
/* How many bits words have: a property of each tensor, which all that follows asks for. */
#include "numbers.h"

/* Whole numbers q - zero point that the layer's limits keep within 8 bits. */
static int is_narrow(const struct cnnvp_graph_layer *maker)
{
    float low = INT16_MIN, high = INT16_MAX;
    for (uint32_t i = 0; i < maker->post_count; ++i) {
        low = maker->posts[i].kind == CNNVP_GRAPH_MAX ? maker->posts[i].value : low;
        high = maker->posts[i].kind == CNNVP_GRAPH_MIN ? maker->posts[i].value : high;
    }
    return low >= INT8_MIN && high <= INT8_MAX;
}

/* Copies and maxima: what they read and write has one format, and so words of one size. */
static int moves(const struct cnnvp_graph_layer *layer)
{
    return layer->op == CNNVP_OP_ACTIVATION || (layer->op == CNNVP_OP_POOL && layer->pool == CNNVP_POOL_MAX);
}

/* 1: some that are moved had words of two sizes. */
static int share_words(struct cnnvp_graph *graph)
{
    int changed = 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        struct cnnvp_graph_tensor *in = &graph->tensors[cnnvp_graph_base(graph, layer->in)];
        struct cnnvp_graph_tensor *out = &graph->tensors[cnnvp_graph_base(graph, layer->out)];
        if (moves(layer) && in->narrow != out->narrow) {
            in->narrow = out->narrow = 0;
            changed = 1;
        }
    }
    return changed;
}

/* Whether a quantised layer's weights, whole numbers, have 8 bits; a file's are not looked at where they are left out.
 */
static int are_narrow(const struct cnnvp_graph *graph, const struct cnnvp_graph_layer *layer)
{
    const uint32_t outputs = graph->tensors[layer->out].channels;
    const struct cnnvp_graph_tensor *out = &graph->tensors[layer->out];
    const size_t each = (size_t)(cnnvp_graph_macs(graph, layer) / ((size_t)out->height * out->width * outputs));
    for (size_t o = 0; o < outputs && layer->weights != NULL && !graph->weightless; ++o) {
        const float step = cnnvp_graph_weight_step(graph, layer, o);
        for (size_t i = 0; i < each; ++i)
            if (layer->weights[o * each + i] > (INT8_MAX + 0.5f) * step ||
                layer->weights[o * each + i] < (INT8_MIN - 0.5f) * step)
                return 0;
    }
    return 1;
}

void cnnvp_words_choose(struct cnnvp_graph *graph, int narrow, int scales)
{
    for (size_t i = 0; i < graph->tensor_count; ++i)
        graph->tensors[i].narrow = narrow && graph->tensors[i].whole == 0;
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *layer = &graph->layers[i];
        struct cnnvp_graph_tensor *out = &graph->tensors[cnnvp_graph_base(graph, layer->out)];
        const struct cnnvp_graph_tensor *in = &graph->tensors[cnnvp_graph_base(graph, layer->in)];
        const int quantised = in->whole != 0 || out->whole != 0;
        layer->narrow_weights =
            narrow && (layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_FC) &&
            (!quantised || (scales && cnnvp_graph_is_scaled(graph, layer) && are_narrow(graph, layer)));
        out->narrow |= narrow && out->whole != 0 && (moves(layer) ? in->narrow != 0 : is_narrow(layer));
    }
    /* Nobody's part of a result may need more. Numbers that a quantised file still has to round, or has rounded, are
     * not rounded here. */
    for (size_t i = 0; i < graph->layer_count; ++i) {
        struct cnnvp_graph_tensor *in = &graph->tensors[cnnvp_graph_base(graph, graph->layers[i].in)];
        struct cnnvp_graph_tensor *out = &graph->tensors[cnnvp_graph_base(graph, graph->layers[i].out)];
        if (out->whole != 0 && !moves(&graph->layers[i]) && !is_narrow(&graph->layers[i]))
            out->narrow = 0;
        if (in->whole != out->whole)
            (in->whole != 0 ? out : in)->narrow = 0;
    }
    while (share_words(graph))
        ;
}
