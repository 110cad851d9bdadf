/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic with constants becomes numbers of the layer before. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

/* 1 - x / 2 by constants folds into the matrix product before; ReLU and a limit too. */
static void arithmetic_folds(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    float y[6];
    onnx_case_import_text(
        13,
        "float[N, 6] x float two = {2} float one = {1} float high = {0.7} "
        "float[6, 6] w = {1, 0, 0, 0, 0, 0,  0, 1, 0, 0, 0, 0,  0, 0, 1, 0, 0, 0, "
        "                 0, 0, 0, 1, 0, 0,  0, 0, 0, 0, 1, 0,  0, 0, 0, 0, 0, 1} "
        "a = MatMul(x, w) b = Div(a, two) b2 = Identity(b) c = Sub(one, b2) d = Relu(c) "
        "y = Clip(d, , high)",
        &graph);
    assert_int_equal(graph.layer_count, 1);
    assert_int_equal(graph.layers[0].post_count, 2);
    onnx_case_run(&graph, y);
    for (size_t i = 0; i < 6; ++i)
        assert_true(fabsf(y[i] - fminf(0.7f, fmaxf(0.0f, 1 - 0.125f * (float)(i + 1)))) < 1e-6f);
    cnnvp_graph_clear(&graph);
}

/* Small whole exponents are products, others tables. */
static void powers(void **state)
{
    static const float exponents[] = {1.0f, 2.0f, 3.0f, 4.0f, 0.0f, 0.5f, -1.0f, 2.5f, 5.0f, 6.0f, -1.5f};
    (void)state;
    for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; ++i) {
        char network[100];
        struct cnnvp_graph graph;
        float y[6];
        (void)snprintf(network, sizeof network, "float[N, 6] x float e = {%g} p = Pow(x, e) y = Add(p, x)",
                       (double)exponents[i]);
        onnx_case_import_text(14, network, &graph);
        if (i < 4)
            assert_int_equal(graph.layer_count, exponents[i]);
        onnx_case_run(&graph, y);
        for (int k = 0; k < 6; ++k) {
            const float x = 0.25f * (float)(k + 1);
            assert_float_equal(y[k], powf(x, exponents[i]) + x, 1e-5f * fmaxf(1.0f, y[k]));
        }
        cnnvp_graph_clear(&graph);
    }
}

/* Two inputs of that type, one divided by the other: 7 / 2 is 3 then. */
static void integers_are_not_divided_by_tensors(void **state)
{
    static const int32_t types[] = {ONNX__TENSOR_PROTO__DATA_TYPE__INT64, ONNX__TENSOR_PROTO__DATA_TYPE__INT32};
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        struct builder b;
        onnx_case_parse(&b, 14, "float[N, 6] x float[N, 6] z y = Div(x, z)");
        for (size_t k = 0; k < 2; ++k)
            b.graph.input[k]->type->tensor_type->elem_type = types[i];
        onnx_case_refused(
            &b, "node \"y\" (Div): integers can be divided by one constant number; a Cast makes floats of them");
    }
}

/* Means and roots of integers are integers: the mean of 1 and 2 is 1, the root of 3 is 1. */
static void integers_have_no_means_and_roots(void **state)
{
    static const char *const networks[][2] = {
        {"float[N, 6] x y = ReduceMean <axes = [1]> (x)", "a mean of integers is not supported"},
        {"float[N, 6] x float e = {0.5} y = Pow(x, e)", "integers to the power of 0.5 are not supported"},
        {"float[N, 6] x float e = {-1} y = Pow(x, e)", "integers to the power of -1 are not supported"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; ++i) {
        struct builder b;
        onnx_case_parse(&b, 14, networks[i][0]);
        b.graph.input[0]->type->tensor_type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
        onnx_case_refused(&b, networks[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers),
        cmocka_unit_test(arithmetic_folds),
        cmocka_unit_test(integers_are_not_divided_by_tensors),
        cmocka_unit_test(integers_have_no_means_and_roots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
