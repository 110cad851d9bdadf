/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one number and softmax: which forms are known. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

static const int64_t maps[4] = {-1, 4, 6, 6};

static void forms_have_limits(void **state)
{
    (void)state;
    struct builder builder;
    onnx_case_begin(&builder, "x", 4, maps);
    builder_int(&builder, builder_node(&builder, "Softmax", "y", "x", NULL, NULL, NULL), "axis", 4);
    onnx_case_refused(&builder, "axis 4 is outside of 4 dimensions");
    struct builder gelu;
    onnx_case_begin(&gelu, "x", 4, maps);
    builder_string(&gelu, builder_node(&gelu, "Gelu", "y", "x", NULL, NULL, NULL), "approximate", "sigmoid");
    onnx_case_refused(&gelu, "approximate is none of none, tanh");
}

/* x = 0.25, 0.5, ... 1.5: Clip is Min(max, Max(x, min)), of attributes and inputs, before and after what it folds with.
 */
static void limits_of_clip(void **state)
{
    static const struct {
        int64_t opset;
        float low, high;
        int then_relu;
        float first, last;
    } cases[] = {
        {6, 0.5f, 1.0f, 0, 0.5f, 1.0f},   {6, 0.5f, -0.5f, 0, -0.5f, -0.5f},
        {13, 0.5f, 1.0f, 0, 0.5f, 1.0f},  {13, 0.5f, -0.5f, 0, -0.5f, -0.5f},
        {13, 3.0f, 2.0f, 0, 2.0f, 2.0f},  {13, 0.75f, 0.75f, 0, 0.75f, 0.75f},
        {13, 0.5f, -0.5f, 1, 0.0f, 0.0f}, {13, 100.0f, 0.375f, 1, 0.375f, 0.375f},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        static const int64_t six[2] = {-1, 6};
        struct builder b;
        struct cnnvp_graph graph;
        float y[6];
        builder_init(&b, cases[i].opset);
        builder_input(&b, "x", 2, six);
        const int by_input = cases[i].opset >= 11;
        Onnx__NodeProto *node =
            builder_node(&b, "Clip", "c", "x", by_input ? "low" : NULL, by_input ? "high" : NULL, NULL);
        if (by_input) {
            (void)builder_floats(&b, "low", 0, NULL, &cases[i].low);
            (void)builder_floats(&b, "high", 0, NULL, &cases[i].high);
        } else {
            builder_float(&b, node, "min", cases[i].low);
            builder_float(&b, node, "max", cases[i].high);
        }
        (void)builder_node(&b, cases[i].then_relu ? "Relu" : "Identity", "y", "c", NULL, NULL, NULL);
        builder_output(&b, "y");
        onnx_case_must_import(&b, &graph);
        onnx_case_run(&graph, y);
        assert_true(fabsf(y[0] - cases[i].first) < 1e-6f && fabsf(y[5] - cases[i].last) < 1e-6f);
        cnnvp_graph_clear(&graph);
        builder_free(&b);
    }
    struct builder b;
    static const int64_t one[2] = {-1, 6};
    builder_init(&b, 6);
    builder_input(&b, "x", 2, one);
    builder_output(&b, "y");
    builder_float(&b, builder_node(&b, "Clip", "y", "x", NULL, NULL, NULL), "max", NAN);
    onnx_case_refused(&b, "node \"y\" (Clip): limit max is no number");
}

/* What an operator is where its node has no attributes, by ONNX's defaults. */
static void functions_without_attributes(void **state)
{
    static const struct {
        const char *op_type;
        struct cnnvp_graph_post post;
    } cases[] = {
        {"Sqrt", {CNNVP_GRAPH_POWER, 0.5f}},
        {"Log", {CNNVP_GRAPH_LOG, 0.0f}},
        {"Elu", {CNNVP_GRAPH_ELU, 1.0f}},
        {"Celu", {CNNVP_GRAPH_CELU, 1.0f}},
        {"Swish", {CNNVP_GRAPH_SWISH, 1.0f}},
        {"Abs", {CNNVP_GRAPH_LEAKY_RELU, -1.0f}},
        {"LeakyRelu", {CNNVP_GRAPH_LEAKY_RELU, 0.01f}},
        {"Selu", {CNNVP_GRAPH_SELU, 1.05070102f}},
        {"Gelu", {CNNVP_GRAPH_GELU, 0.0f}},
        {"Not", {CNNVP_GRAPH_EQUAL, 0.0f}},
        {"Relu", {CNNVP_GRAPH_MAX, 0.0f}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct builder b;
        struct cnnvp_graph graph;
        onnx_case_begin(&b, "x", 4, maps);
        (void)builder_node(&b, cases[i].op_type, "y", "x", NULL, NULL, NULL);
        onnx_case_must_import(&b, &graph);
        assert_int_equal(graph.layers[0].post_count, 1);
        assert_int_equal(graph.layers[0].posts[0].kind, cases[i].post.kind);
        assert_memory_equal(&graph.layers[0].posts[0].value, &cases[i].post.value, sizeof(float));
        cnnvp_graph_clear(&graph);
        builder_free(&b);
    }
}

/* Times what it is of: hard swish if its line is x / 6 + 1 / 2 (graph_fold.c), which the default is not. */
static void hard_sigmoids_gate(void **state)
{
    static const struct {
        float alpha, beta;
        uint32_t gates;
    } cases[] = {{0.16666667f, 0.5f, 1}, {0.2f, 0.5f, 0}, {0.16666667f, 0.4f, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct builder b;
        struct cnnvp_graph graph;
        onnx_case_begin(&b, "x", 4, maps);
        Onnx__NodeProto *node = builder_node(&b, "HardSigmoid", "y", "x", NULL, NULL, NULL);
        builder_float(&b, node, "alpha", cases[i].alpha);
        builder_float(&b, node, "beta", cases[i].beta);
        onnx_case_must_import(&b, &graph);
        assert_int_equal(graph.layers[0].gates, cases[i].gates);
        cnnvp_graph_clear(&graph);
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_have_limits),
        cmocka_unit_test(functions_without_attributes),
        cmocka_unit_test(limits_of_clip),
        cmocka_unit_test(hard_sigmoids_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
