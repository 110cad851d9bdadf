/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_case.h"

#include "test.h"

void graph_case_begin(struct cnnvp_graph *graph, uint32_t channels, uint32_t side)
{
    *graph = (struct cnnvp_graph){.file = "test.onnx", .weightless = 1};
    graph->input = cnnvp_graph_tensor_add(graph, "input", 4, channels, side, side);
    graph->outputs = cnnvp_arena_array(&graph->arena, 2, sizeof *graph->outputs);
    assert_non_null(graph->outputs);
}

static struct cnnvp_graph_layer *add_layer(struct cnnvp_graph *graph, enum cnnvp_layer_op op, int32_t in,
                                           uint32_t channels, uint32_t side)
{
    char name[16];
    (void)snprintf(name, sizeof name, "%zu", graph->tensor_count);
    const int32_t out = cnnvp_graph_tensor_add(graph, name, 4, channels, side, side);
    struct cnnvp_graph_layer *layer = cnnvp_graph_layer_add(graph, op, name, "Node");
    assert_non_null(layer);
    layer->in = in;
    layer->out = out;
    layer->chained = CNNVP_GRAPH_NONE;
    return layer;
}

int32_t graph_case_conv(struct cnnvp_graph *graph, int32_t in, uint32_t channels)
{
    struct cnnvp_graph_layer *layer = add_layer(graph, CNNVP_OP_CONV, in, channels, graph->tensors[in].height);
    layer->kx = layer->ky = 3;
    layer->pad_top = layer->pad_left = layer->pad_bottom = layer->pad_right = 1;
    return layer->out;
}

int32_t graph_case_pool(struct cnnvp_graph *graph, int32_t in)
{
    const uint32_t channels = graph->tensors[in].channels;
    struct cnnvp_graph_layer *layer = add_layer(graph, CNNVP_OP_POOL, in, channels, graph->tensors[in].height / 2);
    layer->pool = CNNVP_POOL_MAX;
    layer->kx = layer->ky = layer->sx = layer->sy = 2;
    return layer->out;
}

int32_t graph_case_add(struct cnnvp_graph *graph, int32_t a, int32_t b)
{
    const struct cnnvp_graph_tensor *map = &graph->tensors[a];
    struct cnnvp_graph_layer *layer = add_layer(graph, CNNVP_OP_ADD, a, map->channels, map->height);
    layer->in2 = b;
    return layer->out;
}

void graph_case_output(struct cnnvp_graph *graph, int32_t tensor)
{
    assert_true(graph->output_count < 2);
    graph->outputs[graph->output_count++] = (struct cnnvp_graph_output){graph->tensors[tensor].name, tensor};
}
