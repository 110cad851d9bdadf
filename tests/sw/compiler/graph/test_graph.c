/* SPDX-License-Identifier: Apache-2.0 */
/* Simplification: results with two readers stay, borders and words without gaps are separated. */

#include "test.h"

#include "onnx_case.h"

/* A result with two readers is not folded away. */
static void shared_results_stay(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    onnx_case_import_text(13,
                          "float[N, 2, 6, 6] x float[2, 2, 1, 1] w = {} a = Conv(x, w) b = Relu(a) y = Add(a, b) "
                          "unused = Relu(a)",
                          &graph);
    assert_int_equal(graph.layer_count, 3);
    cnnvp_graph_clear(&graph);
}

/* One tensor that a padded convolution and a flattening both read: a copy takes the frame. */
static void borders_and_vectors_are_separated(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    onnx_case_import_text(13,
                          "float[N, 2, 6, 6] x float[2, 2, 3, 3] w = {} float[72, 5] v = {} a = Relu(x) "
                          "b = Conv <pads = [1, 1, 1, 1]> (a, w) c = Flatten(b) d = MatMul(c, v) e = Flatten(a) "
                          "f = MatMul(e, v) y = Add(d, f)",
                          &graph);
    assert_int_equal(graph.layer_count, 6);
    assert_string_equal(graph.layers[1].name, "a.copy");
    cnnvp_graph_clear(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_results_stay),
        cmocka_unit_test(borders_and_vectors_are_separated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
