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

/* Small whole exponents are products, others tables. */
static void powers(void **state)
{
    static const int64_t six[2] = {-1, 6};
    (void)state;
    for (int exponent = 1; exponent <= 4; ++exponent) {
        struct builder b;
        struct cnnvp_graph graph;
        float y[6];
        const float number = (float)exponent;
        onnx_case_begin(&b, "x", 2, six);
        (void)builder_floats(&b, "e", 0, NULL, &number);
        (void)builder_node(&b, "Pow", "p", "x", "e", NULL, NULL);
        (void)builder_node(&b, "Add", "y", "p", "x", NULL, NULL);
        onnx_case_must_import(&b, &graph);
        assert_int_equal(graph.layer_count, exponent);
        onnx_case_run(&graph, y);
        for (int i = 0; i < 6; ++i) {
            const float x = 0.25f * (float)(i + 1);
            float right = 1.0f;
            for (int k = 0; k < exponent; ++k)
                right *= x;
            assert_float_equal(y[i], right + x, 1e-6f);
        }
        cnnvp_graph_clear(&graph);
        builder_free(&b);
    }
    static const float others[] = {0.0f, 0.5f, -1.0f, 2.5f, 5.0f, 6.0f, -1.5f, NAN};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
        struct builder b;
        struct cnnvp_graph graph;
        float y[6];
        onnx_case_begin(&b, "x", 2, six);
        (void)builder_floats(&b, "e", 0, NULL, &others[i]);
        (void)builder_node(&b, "Pow", "y", "x", "e", NULL, NULL);
        if (isnan(others[i])) {
            onnx_case_refused(&b, "exponent \"e\" is not one number");
            continue;
        }
        onnx_case_must_import(&b, &graph);
        onnx_case_run(&graph, y);
        for (int k = 0; k < 6; ++k)
            assert_float_equal(y[k], powf(0.25f * (float)(k + 1), others[i]), 1e-5f * fmaxf(1.0f, y[k]));
        cnnvp_graph_clear(&graph);
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers),
        cmocka_unit_test(arithmetic_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
