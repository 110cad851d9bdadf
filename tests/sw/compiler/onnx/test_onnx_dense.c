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

    const int64_t unequal[4] = {-1, 4, 6, 5};
    onnx_case_begin(&b, "x", 4, unequal);
    (void)builder_node(&b, "MatMul", "y", "x", "x", NULL, NULL);
    onnx_case_refused(
        &b,
        "node \"y\" (MatMul): the operands have other matrices: as many of each, or one of the second one, and as many "
        "columns of the first one as rows of the second one are needed");
    const int64_t features[2] = {-1, 4};
    onnx_case_begin(&b, "x", 2, features);
    (void)builder_node(&b, "MatMul", "y", "x", "x", NULL, NULL);
    onnx_case_refused(
        &b, "node \"y\" (MatMul): a product of two tensors of 2 dimensions would mix the images of the batch");

    const int64_t three[4] = {3, 4, 6, 6}, matrices[4] = {2, 4, 6, 6};
    onnx_case_begin(&b, "x", 4, three);
    (void)builder_random(&b, "w", 4, matrices, 1.0f);
    (void)builder_node(&b, "MatMul", "y", "x", "w", NULL, NULL);
    onnx_case_refused(&b, "node \"y\" (MatMul): constant \"w\" has 4 dimensions; a matrix with as many rows");

    const int64_t others[3] = {3, 6, 6};
    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_random(&b, "w", 3, others, 1.0f);
    (void)builder_node(&b, "MatMul", "y", "x", "w", NULL, NULL);
    onnx_case_refused(&b, "node \"y\" (MatMul): constant \"w\" has 3 dimensions; a matrix with as many rows");
}

/* x - BatchNormalization - y, with further outputs or that attribute. */
static Onnx__NodeProto *begin_norm(struct builder *b, int64_t opset, size_t rank, const int64_t *dims)
{
    static const int64_t four[1] = {4};
    static const float values[4] = {0.5f, 1.0f, 2.0f, 3.0f};
    const char *const names[] = {"scale", "offset", "mean", "variance"};
    builder_init(b, opset);
    builder_input(b, "x", rank, dims);
    for (size_t i = 0; i < 4; ++i)
        (void)builder_floats(b, names[i], 1, four, values);
    Onnx__NodeProto *node = builder_node(b, "BatchNormalization", "y", "x", names[0], names[1], names[2]);
    builder_operand(b, node, names[3]);
    return node;
}

/* Each operator set has its own way to say whose statistics are meant. */
static void whose_statistics_are_taken(void **state)
{
    static const struct {
        int64_t opset;
        size_t outputs;
        const char *attribute;
        int64_t value;
        enum cnnvp_layer_norm_kind norm;
    } cases[] = {
        {6, 0, "is_test", 1, CNNVP_NORM_STORED},        {6, 0, "is_test", 0, CNNVP_NORM_BATCH},
        {6, 4, "consumed_inputs", 0, CNNVP_NORM_BATCH}, {7, 0, "is_test", 0, CNNVP_NORM_STORED},
        {9, 0, "training_mode", 1, CNNVP_NORM_STORED},  {7, 4, "spatial", 1, CNNVP_NORM_BATCH},
        {9, 4, "training_mode", 0, CNNVP_NORM_BATCH},   {13, 4, "training_mode", 0, CNNVP_NORM_BATCH},
        {14, 2, "training_mode", 0, CNNVP_NORM_STORED}, {14, 2, "training_mode", 1, CNNVP_NORM_BATCH},
        {15, 0, "training_mode", 1, CNNVP_NORM_BATCH},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct builder b;
        struct cnnvp_graph graph;
        Onnx__NodeProto *node = begin_norm(&b, cases[i].opset, 4, maps);
        builder_more_outputs(&b, node, cases[i].outputs);
        builder_int(&b, node, cases[i].attribute, cases[i].value);
        builder_output(&b, "y");
        onnx_case_must_import(&b, &graph);
        assert_int_equal(graph.layers[0].norm, cases[i].norm);
        cnnvp_graph_clear(&graph);
        builder_free(&b);
    }
}

/* A whole input that is one image has no batch to take statistics of. */
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_scales_and_transposes),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(whose_statistics_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
