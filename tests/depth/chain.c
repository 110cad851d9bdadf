/* SPDX-License-Identifier: Apache-2.0 */
#include "chain.h"

#include <stdio.h>
#include <stdlib.h>

#include "onnx_builder.h"
#include "random.h"

struct chain chain_worked(uint32_t channels)
{
    struct chain chain = {.channels = channels, .height = 16, .width = 16, .layer_count = 4, .seed = 1};
    for (uint32_t i = 0; i < 4; ++i)
        chain.layers[i] = (struct chain_layer){
            .pool = i % 2 == 1, .channels = channels, .kx = 3, .ky = 3, .dilation = 1, .relu = i % 2 == 0};
    return chain;
}

static struct chain_layer random_layer(uint64_t *state, uint32_t channels, uint32_t height, uint32_t width,
                                       uint32_t block)
{
    struct chain_layer layer = {.channels = channels, .relu = below(state, 3) == 0};
    if (height > 1 && width > 1 && block > 1 && below(state, 5) < 2) {
        layer.pool = 1;
        return layer;
    }
    layer.kx = 1 + below(state, 5);
    layer.ky = 1 + below(state, 5);
    layer.dilation = below(state, 6) == 0 ? 2 : 1;
    layer.depthwise = below(state, 8) == 0;
    if (!layer.depthwise)
        layer.channels = 1 + below(state, 7);
    return layer;
}

struct chain chain_random(uint64_t seed, uint32_t block)
{
    uint64_t state = seed;
    struct chain chain = {.channels = 1 + below(&state, 4), .seed = seed};
    chain.height = 1u << below(&state, 6);
    chain.width = 1u << below(&state, 6);
    chain.layer_count = 1 + below(&state, 7);
    chain.head = below(&state, 5) == 0;
    chain.outputs = below(&state, 3) == 0 ? 5 : 0;
    uint32_t height = chain.height;
    uint32_t width = chain.width;
    uint32_t channels = chain.channels;
    for (uint32_t i = 0; i < chain.layer_count; ++i) {
        chain.layers[i] = random_layer(&state, channels, height, width, block);
        channels = chain.layers[i].channels;
        height /= chain.layers[i].pool ? 2u : 1u;
        width /= chain.layers[i].pool ? 2u : 1u;
    }
    return chain;
}

/* Zeros that keep the size: floor before, ceil after. */
static void set_pads(struct builder *builder, Onnx__NodeProto *node, const struct chain_layer *layer)
{
    const int64_t rows = (int64_t)(layer->ky - 1) * layer->dilation;
    const int64_t columns = (int64_t)(layer->kx - 1) * layer->dilation;
    const int64_t pads[4] = {rows / 2, columns / 2, rows - rows / 2, columns - columns / 2};
    const int64_t dilations[2] = {layer->dilation, layer->dilation};
    builder_ints(builder, node, "pads", 4, pads);
    builder_ints(builder, node, "dilations", 2, dilations);
}

static void add_conv(struct builder *builder, const char *from, const char *to, const struct chain_layer *layer,
                     uint32_t inputs, int stride)
{
    char weights[40];
    char biases[40];
    const uint32_t depth = layer->depthwise ? 1 : inputs;
    (void)snprintf(weights, sizeof weights, "%s_w", to);
    (void)snprintf(biases, sizeof biases, "%s_b", to);
    const int64_t dims[4] = {layer->channels, depth, layer->ky, layer->kx};
    const int64_t count[1] = {layer->channels};
    const int64_t strides[2] = {stride, stride};
    (void)builder_random(builder, weights, 4, dims, 1.5f / (float)(depth * layer->ky * layer->kx));
    (void)builder_random(builder, biases, 1, count, 0.3f);
    Onnx__NodeProto *node = builder_node(builder, "Conv", to, from, weights, biases, NULL);
    set_pads(builder, node, layer);
    builder_ints(builder, node, "strides", 2, strides);
    if (layer->depthwise)
        builder_int(builder, node, "group", layer->channels);
}

static void add_pool(struct builder *builder, const char *from, const char *to)
{
    static const int64_t two[2] = {2, 2};
    Onnx__NodeProto *node = builder_node(builder, "MaxPool", to, from, NULL, NULL, NULL);
    builder_ints(builder, node, "kernel_shape", 2, two);
    builder_ints(builder, node, "strides", 2, two);
}

static void add_tail(struct builder *builder, const char *from, uint32_t words, int64_t outputs)
{
    const int64_t dims[2] = {outputs, words};
    (void)builder_random(builder, "tail_w", 2, dims, 2.0f / (float)words);
    (void)builder_node(builder, "Flatten", "flat", from, NULL, NULL, NULL);
    Onnx__NodeProto *node = builder_node(builder, "Gemm", "tail", "flat", "tail_w", NULL, NULL);
    builder_int(builder, node, "transB", 1);
    builder_output(builder, "tail");
}

void chain_write(const struct chain *chain, char *name)
{
    struct builder builder;
    char from[24] = "x";
    char to[24];
    uint32_t channels = chain->channels;
    uint32_t height = chain->height;
    uint32_t width = chain->width;
    const uint32_t scale = chain->head ? 2 : 1;
    const int64_t dims[4] = {-1, channels, height * scale, width * scale};
    builder_init(&builder, 13);
    builder.random = chain->seed;
    builder_input(&builder, "x", 4, dims);
    if (chain->head) {
        const struct chain_layer head = {.channels = channels, .kx = 2, .ky = 2, .dilation = 1};
        add_conv(&builder, from, "head", &head, channels, 2);
        (void)snprintf(from, sizeof from, "head");
    }
    for (uint32_t i = 0; i < chain->layer_count; ++i) {
        const struct chain_layer *layer = &chain->layers[i];
        (void)snprintf(to, sizeof to, "layer%u", i);
        if (layer->pool)
            add_pool(&builder, from, to);
        else
            add_conv(&builder, from, to, layer, channels, 1);
        channels = layer->channels;
        height /= layer->pool ? 2u : 1u;
        width /= layer->pool ? 2u : 1u;
        (void)snprintf(from, sizeof from, "%s", to);
        if (layer->relu) {
            (void)snprintf(to, sizeof to, "relu%u", i);
            (void)builder_node(&builder, "Relu", to, from, NULL, NULL, NULL);
            (void)snprintf(from, sizeof from, "%s", to);
        }
    }
    if (chain->outputs != 0)
        add_tail(&builder, from, channels * height * width, chain->outputs);
    else
        builder_output(&builder, from);
    builder_save(&builder, name);
}
