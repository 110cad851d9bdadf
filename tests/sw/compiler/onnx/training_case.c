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
    builder_parse(b, "float[N, 2, 4, 4] x");
    builder_parse(b, blank ? "float[3, 2, 3, 3] conv.w float[5, 12] gemm.w float[5] gemm.b float[5, 4] matmul.w "
                             "float[3] ones float[3] zeros"
                           : "float[3, 2, 3, 3] conv.w = {} float[5, 12] gemm.w = {} float[5] gemm.b = {} "
                             "float[5, 4] matmul.w = {} float[3] ones = {1} float[3] zeros = {0}");
    builder_parse(b, "float[1, 4] add.b = {} conv = Conv <pads = [1, 1, 1, 1]> (x, conv.w) "
                     "ones_again = Identity(ones) zeros_again = Identity(zeros) "
                     "norm = BatchNormalization <epsilon = 0.001> (conv, ones, zeros, zeros_again, ones_again) "
                     "relu = Relu(norm) pool = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (relu) "
                     "flat = Flatten(pool) gemm = Gemm <transB = 1> (flat, gemm.w, gemm.b) "
                     "matmul = MatMul(gemm, matmul.w) y = Add(matmul, add.b)");
    builder_output(b, "y");
}
