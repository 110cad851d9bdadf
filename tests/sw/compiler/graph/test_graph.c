/* SPDX-License-Identifier: Apache-2.0 */
/* Simplification: results with two readers stay, borders and words without gaps are separated, operands of
 * a fixed format come first. */

#include "test.h"

#include "onnx_case.h"

static const int64_t map4[4] = {-1, 2, 6, 6};

/* A result with two readers is not folded away. */
static void shared_results_stay(void **state)
{
    (void)state;
    struct builder builder;
    struct cnnvp_graph graph;
    const int64_t dims[4] = {2, 2, 1, 1};
    builder_init(&builder, 13);
    builder_input(&builder, "x", 4, map4);
    (void)builder_random(&builder, "w", 4, dims, 1.0f);
    (void)builder_node(&builder, "Conv", "a", "x", "w", NULL, NULL);
    (void)builder_node(&builder, "Relu", "b", "a", NULL, NULL, NULL);
    (void)builder_node(&builder, "Add", "y", "a", "b", NULL, NULL);
    (void)builder_node(&builder, "Relu", "unused", "a", NULL, NULL, NULL);
    builder_output(&builder, "y");
    onnx_case_must_import(&builder, &graph);
    assert_int_equal(graph.layer_count, 3);
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
}

/* One tensor that a padded convolution and a flattening both read: a copy takes the frame. */
static void borders_and_vectors_are_separated(void **state)
{
    (void)state;
    struct builder builder;
    struct cnnvp_graph graph;
    const int64_t conv[4] = {2, 2, 3, 3};
    const int64_t dense[2] = {72, 5};
    const int64_t pads[4] = {1, 1, 1, 1};
    const int64_t both[2] = {5, 5};
    builder_init(&builder, 13);
    builder_input(&builder, "x", 4, map4);
    (void)builder_random(&builder, "w", 4, conv, 1.0f);
    (void)builder_random(&builder, "v", 2, dense, 1.0f);
    (void)builder_random(&builder, "u", 2, both, 1.0f);
    (void)builder_node(&builder, "Relu", "a", "x", NULL, NULL, NULL);
    Onnx__NodeProto *node = builder_node(&builder, "Conv", "b", "a", "w", NULL, NULL);
    builder_ints(&builder, node, "pads", 4, pads);
    (void)builder_node(&builder, "Flatten", "c", "b", NULL, NULL, NULL);
    (void)builder_node(&builder, "MatMul", "d", "c", "v", NULL, NULL);
    (void)builder_node(&builder, "Flatten", "e", "a", NULL, NULL, NULL);
    (void)builder_node(&builder, "MatMul", "f", "e", "v", NULL, NULL);
    (void)builder_node(&builder, "Add", "y", "d", "f", NULL, NULL);
    builder_output(&builder, "y");
    onnx_case_must_import(&builder, &graph);
    assert_int_equal(graph.layer_count, 6);
    assert_string_equal(graph.layers[1].name, "a.copy");
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
}

/* softmax(x) + softmax(x) stays; x + softmax(x) becomes softmax(x) + x, x - softmax(x) cannot. */
static void operands_of_a_fixed_format_come_first(void **state)
{
    (void)state;
    struct builder builder;
    struct cnnvp_graph graph;
    builder_init(&builder, 13);
    builder_input(&builder, "x", 4, map4);
    (void)builder_node(&builder, "Softmax", "a", "x", NULL, NULL, NULL);
    (void)builder_node(&builder, "Softmax", "b", "a", NULL, NULL, NULL);
    (void)builder_node(&builder, "Add", "c", "a", "b", NULL, NULL);
    (void)builder_node(&builder, "Add", "d", "x", "b", NULL, NULL);
    (void)builder_node(&builder, "Sub", "e", "x", "b", NULL, NULL);
    (void)builder_node(&builder, "Mul", "f", "c", "d", NULL, NULL);
    (void)builder_node(&builder, "Mul", "y", "e", "f", NULL, NULL);
    builder_output(&builder, "y");
    onnx_case_must_import(&builder, &graph);
    const int32_t a = graph.layers[0].out, b = graph.layers[1].out;
    const int32_t operands[][2] = {{a, b}, {b, graph.input}, {graph.input, b}};
    for (size_t i = 0; i < 3; ++i) {
        assert_int_equal(cnnvp_graph_base(&graph, graph.layers[2 + i].in), operands[i][0]);
        assert_int_equal(cnnvp_graph_base(&graph, graph.layers[2 + i].in2), operands[i][1]);
    }
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_results_stay),
        cmocka_unit_test(borders_and_vectors_are_separated),
        cmocka_unit_test(operands_of_a_fixed_format_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
