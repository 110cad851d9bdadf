/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic with constants becomes numbers of the layer before. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

static const int64_t flat2[2] = {-1, 6};

/* 1 - x / 2 by constants folds into the matrix product before; ReLU and a limit too. */
static void arithmetic_folds(void **state)
{
    (void)state;
    struct builder builder;
    struct cnnvp_graph graph;
    const int64_t square[2] = {6, 6};
    float identity[36] = {0};
    const float two = 2.0f, one = 1.0f, high = 0.7f;
    float y[6];
    for (size_t i = 0; i < 6; ++i)
        identity[i * 7] = 1.0f;
    builder_init(&builder, 13);
    builder_input(&builder, "x", 2, flat2);
    (void)builder_floats(&builder, "w", 2, square, identity);
    (void)builder_floats(&builder, "two", 0, NULL, &two);
    (void)builder_floats(&builder, "one", 0, NULL, &one);
    (void)builder_floats(&builder, "high", 0, NULL, &high);
    (void)builder_node(&builder, "MatMul", "a", "x", "w", NULL, NULL);
    (void)builder_node(&builder, "Div", "b", "a", "two", NULL, NULL);
    (void)builder_node(&builder, "Identity", "b2", "b", NULL, NULL, NULL);
    (void)builder_node(&builder, "Sub", "c", "one", "b2", NULL, NULL);
    (void)builder_node(&builder, "Relu", "d", "c", NULL, NULL, NULL);
    (void)builder_node(&builder, "Clip", "y", "d", "", "high", NULL);
    builder_output(&builder, "y");
    onnx_case_must_import(&builder, &graph);
    assert_int_equal(graph.layer_count, 1);
    assert_int_equal(graph.layers[0].post_count, 2);
    onnx_case_run(&graph, y);
    for (size_t i = 0; i < 6; ++i)
        assert_true(fabsf(y[i] - fminf(0.7f, fmaxf(0.0f, 1 - 0.125f * (float)(i + 1)))) < 1e-6f);
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
