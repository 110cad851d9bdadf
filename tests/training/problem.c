/* SPDX-License-Identifier: Apache-2.0 */
#include "problem.h"

#include <unistd.h>

#include "test.h"

#include "cnnvp_data.h"
#include "onnx_builder.h"
#include "onnx.h"
#include "random.h"

#define DIMS(...)     \
    (const int64_t[]) \
    {                 \
        __VA_ARGS__   \
    }

static const struct train_layer normed[PROBLEM_LAYERS] = {
    {.inputs = 2,
     .height = 8,
     .width = 8,
     .outputs = 6,
     .side = 3,
     .pad = 1,
     .norm = 1,
     .relu = 1,
     .pool = 1,
     .epsilon = (double)1e-3f},
    {.inputs = 6,
     .height = 4,
     .width = 4,
     .outputs = 37,
     .side = 5,
     .pad = 2,
     .norm = 1,
     .relu = 1,
     .epsilon = (double)1e-3f},
    {.connected = 1, .inputs = 592, .height = 1, .width = 1, .outputs = PROBLEM_CLASSES},
};
static const struct train_layer biased[PROBLEM_LAYERS] = {
    {.inputs = 2, .height = 8, .width = 8, .outputs = 5, .side = 3, .pad = 0, .bias = 1, .relu = 1, .pool = 1},
    {.connected = 1, .inputs = 45, .height = 1, .width = 1, .outputs = 40, .bias = 1, .relu = 1},
    {.connected = 1, .inputs = 40, .height = 1, .width = 1, .outputs = PROBLEM_CLASSES, .bias = 1},
};
static const struct train_layer *const shapes[PROBLEM_KINDS] = {normed, biased};

static void add_norm(struct builder *b, const char *name, const char *input, int64_t channels)
{
    static const char *const parts[] = {"gamma", "beta", "mean", "variance"};
    char text[64];
    Onnx__NodeProto *node = builder_node(b, "BatchNormalization", name, input, NULL, NULL, NULL);
    char **inputs = builder_alloc(b, 5 * sizeof *inputs);
    inputs[0] = node->input[0];
    for (size_t i = 0; i < 4; ++i) {
        (void)snprintf(text, sizeof text, "%s.%s", name, parts[i]);
        builder_input(b, text, 1, DIMS(channels));
        inputs[i + 1] = builder_text(b, text);
    }
    node->input = inputs;
    node->n_input = 5;
    builder_float(b, node, "epsilon", 1e-3f);
}

static void add_convolution(struct builder *b, const char *name, const char *input, const struct train_layer *layer)
{
    char weight[64];
    char bias[64];
    (void)snprintf(weight, sizeof weight, "%s.weight", name);
    (void)snprintf(bias, sizeof bias, "%s.bias", name);
    builder_input(b, weight, 4, DIMS(layer->outputs, layer->inputs, layer->side, layer->side));
    if (layer->bias)
        builder_input(b, bias, 1, DIMS(layer->outputs));
    Onnx__NodeProto *node = builder_node(b, "Conv", name, input, weight, layer->bias ? bias : NULL, NULL);
    builder_ints(b, node, "pads", 4, DIMS(layer->pad, layer->pad, layer->pad, layer->pad));
}

static void add_pool(struct builder *b, const char *name, const char *input)
{
    Onnx__NodeProto *node = builder_node(b, "MaxPool", name, input, NULL, NULL, NULL);
    builder_ints(b, node, "kernel_shape", 2, DIMS(2, 2));
    builder_ints(b, node, "strides", 2, DIMS(2, 2));
}

static void add_matrix(struct builder *b, const char *name, const char *input, const struct train_layer *layer)
{
    char weight[64];
    char bias[64];
    (void)snprintf(weight, sizeof weight, "%s.weight", name);
    (void)snprintf(bias, sizeof bias, "%s.bias", name);
    builder_input(b, weight, 2, DIMS(layer->outputs, layer->inputs));
    if (layer->bias)
        builder_input(b, bias, 1, DIMS(layer->outputs));
    Onnx__NodeProto *node = builder_node(b, "Gemm", name, input, weight, layer->bias ? bias : NULL, NULL);
    builder_int(b, node, "transB", 1);
}

static void make_network(enum problem_kind kind, char *name)
{
    struct builder b;
    const struct train_layer *layers = shapes[kind];
    builder_init(&b, 13);
    builder_input(&b, "x", 4, DIMS(-1, PROBLEM_CHANNELS, PROBLEM_SIDE, PROBLEM_SIDE));
    add_convolution(&b, "c1", "x", &layers[0]);
    if (kind == PROBLEM_NORMED)
        add_norm(&b, "n1", "c1", layers[0].outputs);
    (void)builder_node(&b, "Relu", "r1", kind == PROBLEM_NORMED ? "n1" : "c1", NULL, NULL, NULL);
    add_pool(&b, "p1", "r1");
    if (kind == PROBLEM_NORMED) {
        add_convolution(&b, "c2", "p1", &layers[1]);
        add_norm(&b, "n2", "c2", layers[1].outputs);
        (void)builder_node(&b, "Relu", "r2", "n2", NULL, NULL, NULL);
        (void)builder_node(&b, "Flatten", "f2", "r2", NULL, NULL, NULL);
        add_matrix(&b, "y", "f2", &layers[2]);
    } else {
        (void)builder_node(&b, "Flatten", "f1", "p1", NULL, NULL, NULL);
        add_matrix(&b, "m2", "f1", &layers[1]);
        (void)builder_node(&b, "Relu", "r2", "m2", NULL, NULL, NULL);
        add_matrix(&b, "y", "r2", &layers[2]);
    }
    builder_output(&b, "y");
    builder_save(&b, name);
}

static void make_images(uint64_t seed, uint32_t count, char *text, size_t room)
{
    enum { IMAGE = PROBLEM_CHANNELS * PROBLEM_SIDE * PROBLEM_SIDE };
    static uint8_t images[20 + 256 * IMAGE];
    static uint8_t labels[8 + 256];
    const uint8_t image_header[20] = {
        0, 0, 8, 4, 0, 0, 0, (uint8_t)count, 0, 0, 0, PROBLEM_CHANNELS, 0, 0, 0, PROBLEM_SIDE, 0, 0, 0, PROBLEM_SIDE};
    const uint8_t label_header[8] = {0, 0, 8, 1, 0, 0, 0, (uint8_t)count};
    char image_name[64];
    char label_name[64];
    uint64_t random = seed;
    assert_true(count < 256);
    memcpy(images, image_header, sizeof image_header);
    memcpy(labels, label_header, sizeof label_header);
    for (uint32_t i = 0; i < count; ++i) {
        labels[8 + i] = (uint8_t)(i * 7 % PROBLEM_CLASSES);
        for (uint32_t k = 0; k < IMAGE; ++k) {
            /* classes differ in where they are bright */
            images[20 + i * IMAGE + k] =
                (uint8_t)((next_bits(&random) >> 8 & 127) + (k % 3 == labels[8 + i] ? 100 : 0));
        }
    }
    builder_write(images, 20 + (size_t)count * IMAGE, image_name);
    builder_write(labels, 8 + count, label_name);
    (void)snprintf(text, room, "idx:%s,%s", image_name, label_name);
}

void problem_new(struct problem *problem, enum problem_kind kind, uint64_t seed, uint32_t images,
                 uint32_t evaluation_images)
{
    problem->shapes = shapes[kind];
    make_network(kind, problem->network);
    make_images(seed, images, problem->dataset, sizeof problem->dataset);
    make_images(seed + 1, evaluation_images, problem->evaluation, sizeof problem->evaluation);
}

static void remove_set(char *text)
{
    char *comma = strchr(text, ',');
    *comma = '\0';
    (void)unlink(text + strlen("idx:"));
    (void)unlink(comma + 1);
}

void problem_free(struct problem *problem)
{
    (void)unlink(problem->network);
    remove_set(problem->dataset);
    remove_set(problem->evaluation);
}

void problem_reference(const struct problem *problem, uint64_t seed, uint32_t batch,
                       const struct train_options *options, struct train_net *net)
{
    const struct cnnvp_train_import_options import = {.seed = seed};
    struct cnnvp_graph graph;
    struct cnnvp_error error = {""};
    uint32_t l = 0;
    if (cnnvp_onnx_import_training(problem->network, &import, &graph, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    train_net_new(net, problem->shapes, PROBLEM_LAYERS, batch, options);
    for (size_t i = 0; i < graph.layer_count; ++i) {
        if (graph.layers[i].op != CNNVP_OP_CONV && graph.layers[i].op != CNNVP_OP_FC)
            continue;
        for (uint64_t k = 0; k < train_weight_count(&net->layers[l]); ++k)
            net->layers[l].weights[k] = (double)graph.layers[i].weights[k];
        ++l;
    }
    assert_int_equal(l, PROBLEM_LAYERS);
    cnnvp_graph_clear(&graph);
    /* The first running sigma is that of variance 1. */
    for (l = 0; l < PROBLEM_LAYERS; ++l)
        for (uint32_t c = 0; c < net->layers[l].outputs; ++c)
            net->layers[l].sigma[c] = (double)(float)__builtin_sqrt(1.0 + net->layers[l].epsilon);
    train_net_start(net);
}
