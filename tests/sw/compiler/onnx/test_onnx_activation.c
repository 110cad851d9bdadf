/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one number: what they are by default, and Clip. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

/* x = 0.25, 0.5, ... 1.5: Clip is Min(max, Max(x, min)), of attributes and inputs, before and after what it folds with.
 */
static void limits_of_clip(void **state)
{
#define INPUTS(low, high) "float low = {" low "} float high = {" high "} c = Clip(x, low, high) "
    static const struct {
        int64_t opset;
        const char *nodes;
        float first, last;
    } cases[] = {
        {6, "y = Clip <min = 0.5, max = 1.0> (x)", 0.5f, 1.0f},
        {6, "y = Clip <min = 0.5, max = -0.5> (x)", -0.5f, -0.5f},
        {13, INPUTS("0.5", "1") "y = Identity(c)", 0.5f, 1.0f},
        {13, INPUTS("0.5", "-0.5") "y = Identity(c)", -0.5f, -0.5f},
        {13, INPUTS("3", "2") "y = Identity(c)", 2.0f, 2.0f},
        {13, INPUTS("0.75", "0.75") "y = Identity(c)", 0.75f, 0.75f},
        {13, INPUTS("0.5", "-0.5") "y = Relu(c)", 0.0f, 0.0f},
        {13, INPUTS("100", "0.375") "y = Relu(c)", 0.375f, 0.375f},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct cnnvp_graph graph;
        char network[200];
        float y[6];
        (void)snprintf(network, sizeof network, "float[N, 6] x %s", cases[i].nodes);
        onnx_case_import_text(cases[i].opset, network, &graph);
        onnx_case_run(&graph, y);
        assert_true(fabsf(y[0] - cases[i].first) < 1e-6f && fabsf(y[5] - cases[i].last) < 1e-6f);
        cnnvp_graph_clear(&graph);
    }
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
        struct cnnvp_graph graph;
        char network[64];
        (void)snprintf(network, sizeof network, "float[N, 4, 6, 6] x y = %s(x)", cases[i].op_type);
        onnx_case_import_text(14, network, &graph);
        assert_int_equal(graph.layers[0].post_count, 1);
        assert_int_equal(graph.layers[0].posts[0].kind, cases[i].post.kind);
        assert_memory_equal(&graph.layers[0].posts[0].value, &cases[i].post.value, sizeof(float));
        cnnvp_graph_clear(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_without_attributes),
        cmocka_unit_test(limits_of_clip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
