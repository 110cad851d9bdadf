/* SPDX-License-Identifier: Apache-2.0 */
#include "training_case.h"

void write_file(struct builder *b, char *name)
{
    size_t size;
    uint8_t *bytes = builder_pack(b, &size);
    builder_write(bytes, size, name);
    free(bytes);
}

struct cnnvp_graph import(const char *file, int random, uint64_t seed)
{
    const struct cnnvp_train_import_options options = {.random_weights = random, .seed = seed};
    struct cnnvp_graph graph;
    struct cnnvp_error error = {""};
    if (cnnvp_onnx_import_training(file, &options, &graph, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return graph;
}

void make_network(struct builder *b, int blank)
{
    builder_init(b, 13);
    builder_input(b, "x", 4, DIMS(-1, 2, 4, 4));
    if (blank) {
        builder_input(b, "conv.w", 4, DIMS(3, 2, 3, 3));
        builder_input(b, "gemm.w", 2, DIMS(5, 12));
        builder_input(b, "gemm.b", 1, DIMS(5));
        builder_input(b, "matmul.w", 2, DIMS(5, 4));
        builder_input(b, "ones", 1, DIMS(3));
        builder_input(b, "zeros", 1, DIMS(3));
    } else {
        (void)builder_random(b, "conv.w", 4, DIMS(3, 2, 3, 3), 1.0f);
        (void)builder_random(b, "gemm.w", 2, DIMS(5, 12), 1.0f);
        (void)builder_random(b, "gemm.b", 1, DIMS(5), 1.0f);
        (void)builder_random(b, "matmul.w", 2, DIMS(5, 4), 1.0f);
        (void)builder_floats(b, "ones", 1, DIMS(3), (const float[]){1, 1, 1});
        (void)builder_floats(b, "zeros", 1, DIMS(3), (const float[]){0, 0, 0});
    }
    (void)builder_random(b, "add.b", 2, DIMS(1, 4), 1.0f);
    Onnx__NodeProto *conv = builder_node(b, "Conv", "conv", "x", "conv.w", NULL, NULL);
    builder_ints(b, conv, "pads", 4, DIMS(1, 1, 1, 1));
    (void)builder_node(b, "Identity", "ones_again", "ones", NULL, NULL, NULL);
    (void)builder_node(b, "Identity", "zeros_again", "zeros", NULL, NULL, NULL);
    Onnx__NodeProto *norm = builder_node(b, "BatchNormalization", "norm", "conv", "ones", "zeros", "zeros_again");
    char **inputs = builder_alloc(b, 5 * sizeof *inputs);
    memcpy(inputs, norm->input, 4 * sizeof *inputs);
    inputs[4] = builder_text(b, "ones_again");
    norm->input = inputs;
    norm->n_input = 5;
    builder_float(b, norm, "epsilon", 0.001f);
    (void)builder_node(b, "Relu", "relu", "norm", NULL, NULL, NULL);
    Onnx__NodeProto *pool = builder_node(b, "MaxPool", "pool", "relu", NULL, NULL, NULL);
    builder_ints(b, pool, "kernel_shape", 2, DIMS(2, 2));
    builder_ints(b, pool, "strides", 2, DIMS(2, 2));
    (void)builder_node(b, "Flatten", "flat", "pool", NULL, NULL, NULL);
    Onnx__NodeProto *gemm = builder_node(b, "Gemm", "gemm", "flat", "gemm.w", "gemm.b", NULL);
    builder_int(b, gemm, "transB", 1);
    (void)builder_node(b, "MatMul", "matmul", "gemm", "matmul.w", NULL, NULL);
    (void)builder_node(b, "Add", "y", "matmul", "add.b", NULL, NULL);
    builder_output(b, "y");
}
