/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products: what Gemm scales and transposes, and shapes that do not fit. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

static const int64_t maps[4] = {-1, 4, 6, 6};

static void gemm_scales_and_transposes(void **state)
{
    (void)state;
    struct builder builder;
    struct cnnvp_graph graph;
    const int64_t dims[2] = {2, 6}, one[1] = {1};
    const float w[12] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}, b[1] = {10};
    float y[2];
    Onnx__NodeProto *node = onnx_case_node(&builder, 2, "Gemm", "w");
    node->input[1] = builder_text(&builder, "w");
    builder.graph.node[0] = node;
    (void)builder_floats(&builder, "w", 2, dims, w);
    (void)builder_floats(&builder, "b", 1, one, b);
    char *inputs[3] = {node->input[0], node->input[1], builder_text(&builder, "b")};
    node->input = inputs;
    node->n_input = 3;
    builder_int(&builder, node, "transB", 1);
    builder_float(&builder, node, "alpha", 4.0f);
    builder_float(&builder, node, "beta", 0.5f);
    onnx_case_must_import(&builder, &graph);
    onnx_case_run(&graph, y);
    assert_true(fabsf(y[0] - (4 * 0.25f + 5)) < 1e-6f);
    assert_true(fabsf(y[1] - (4 * 2 * 1.5f + 5)) < 1e-6f);
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
}

static void shapes_that_do_not_fit_are_named(void **state)
{
    (void)state;
    struct builder builder, b;
    const int64_t matrix[2] = {7, 5};
    (void)onnx_case_node(&builder, 2, "MatMul", "w");
    (void)builder_random(&builder, "w", 2, matrix, 1.0f);
    onnx_case_must_fail(&builder, "shape (7, 5); with 6 inputs it must be (inputs, outputs)");
    builder_free(&builder);
    (void)onnx_case_node(&builder, 4, "Gemm", "w");
    (void)builder_random(&builder, "w", 2, matrix, 1.0f);
    onnx_case_must_fail(&builder, "has 4 dimensions; 2 are needed");
    builder_free(&builder);

    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_node(&b, "MatMul", "y", "x", "x", NULL, NULL);
    onnx_case_refused(&b, "node \"y\" (MatMul): input \"x\" depends on the network's input; a constant is needed");

    const int64_t matrices[4] = {2, 4, 6, 6};
    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_random(&b, "w", 4, matrices, 1.0f);
    (void)builder_node(&b, "MatMul", "y", "x", "w", NULL, NULL);
    onnx_case_refused(
        &b, "node \"y\" (MatMul): matrices that are not the same for all images would mix the images of the batch");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_scales_and_transposes),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
