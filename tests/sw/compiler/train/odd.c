/* SPDX-License-Identifier: Apache-2.0 */
#include "odd.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_builder.h"

#define DIMS(...)     \
    (const int64_t[]) \
    {                 \
        __VA_ARGS__   \
    }

static void add_norm(struct builder *b, const char *name, const char *input, int64_t channels)
{
    float ones[64];
    float zeros[64] = {0};
    for (size_t i = 0; i < 64; ++i)
        ones[i] = 1.0f;
    Onnx__NodeProto *node = builder_node(b, "BatchNormalization", name, input, "gamma", "beta", "mean");
    char **inputs = builder_alloc(b, 5 * sizeof *inputs);
    memcpy(inputs, node->input, 4 * sizeof *inputs);
    inputs[4] = builder_text(b, "variance");
    node->input = inputs;
    node->n_input = 5;
    (void)builder_floats(b, "gamma", 1, DIMS(channels), ones);
    (void)builder_floats(b, "beta", 1, DIMS(channels), zeros);
    (void)builder_floats(b, "mean", 1, DIMS(channels), zeros);
    (void)builder_floats(b, "variance", 1, DIMS(channels), ones);
}

void odd_write(char *name, int norm)
{
    struct builder b;
    size_t size;
    builder_init(&b, 13);
    builder_input(&b, "x", 4, DIMS(-1, ODD_CHANNELS, ODD_HEIGHT, ODD_WIDTH));
    builder_random(&b, "w1", 4, DIMS(7, 3, 5, 3), 0.3f);
    builder_random(&b, "b1", 1, DIMS(7), 0.3f);
    Onnx__NodeProto *node = builder_node(&b, "Conv", "c1", "x", "w1", "b1", NULL);
    builder_ints(&b, node, "strides", 2, DIMS(2, 1));
    builder_ints(&b, node, "pads", 4, DIMS(2, 1, 1, 2));
    if (norm)
        add_norm(&b, "n1", "c1", 7);
    (void)builder_node(&b, "Relu", "r1", norm ? "n1" : "c1", NULL, NULL, NULL);
    builder_random(&b, "w2", 4, DIMS(35, 7, 3, 4), 0.2f);
    node = builder_node(&b, "Conv", "c2", "r1", "w2", NULL, NULL);
    builder_ints(&b, node, "strides", 2, DIMS(1, 2));
    builder_ints(&b, node, "pads", 4, DIMS(0, 1, 2, 3));
    node = builder_node(&b, "MaxPool", "p2", "c2", NULL, NULL, NULL);
    builder_ints(&b, node, "kernel_shape", 2, DIMS(2, 2));
    builder_ints(&b, node, "strides", 2, DIMS(2, 2));
    (void)builder_node(&b, "Relu", "r2", "p2", NULL, NULL, NULL);
    (void)builder_node(&b, "Flatten", "f", "r2", NULL, NULL, NULL);
    builder_random(&b, "w3", 2, DIMS(35 * 3 * 5, ODD_CLASSES), 0.1f);
    (void)builder_node(&b, "MatMul", "m", "f", "w3", NULL, NULL);
    node = builder_node(&b, "Softmax", "y", "m", NULL, NULL, NULL);
    builder_int(&b, node, "axis", 1);
    builder_output(&b, "y");
    uint8_t *bytes = builder_pack(&b, &size);
    builder_write(bytes, size, name);
    free(bytes);
    builder_free(&b);
}
