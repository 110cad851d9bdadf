/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: over which dimensions, and how large. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

/* Of 2 x 6 x 6 numbers, over the axes that are marked: the definition, number by number. */
static void check(const char *op_type, const int marked[3], int keep)
{
    static const int64_t sizes[3] = {2, 6, 6};
    struct builder b;
    struct cnnvp_graph graph;
    float y[72];
    double expected[72] = {0};
    double counts[72] = {0};
    int64_t axes[3];
    size_t count = 0;
    const float minus = -7.0f;
    for (int64_t d = 0; d < 3; ++d)
        if (marked[d])
            axes[count++] = d + 1;
    Onnx__NodeProto *node = onnx_case_node(&b, 4, "Add", "minus"); /* of both signs */
    node->output[0] = builder_text(&b, "signed");
    (void)builder_floats(&b, "minus", 0, NULL, &minus);
    node = builder_node(&b, op_type, "y", "signed", NULL, NULL, NULL);
    builder_ints(&b, node, "axes", count, axes);
    builder_int(&b, node, "keepdims", keep);
    onnx_case_must_import(&b, &graph);
    onnx_case_run(&graph, y);
    size_t results = 1;
    for (size_t d = 0; d < 3; ++d)
        results *= marked[d] ? 1 : (size_t)sizes[d];
    assert_int_equal(cnnvp_graph_words(&graph.tensors[graph.outputs[0].tensor]), results);
    for (int i = 0; i < 72; ++i) {
        const int index[3] = {i / 36, i / 6 % 6, i % 6};
        const double x = 0.25 * (i + 1) - 7.0;
        size_t at = 0;
        for (size_t d = 0; d < 3; ++d)
            at = marked[d] ? at : at * (size_t)sizes[d] + (size_t)index[d];
        const double old = expected[at];
        const double part =
            strcmp(op_type, "ReduceL1") == 0          ? fabs(x)
            : strcmp(op_type, "ReduceSumSquare") == 0 ? x * x
            : strcmp(op_type, "ReduceL2") == 0        ? x * x
                                                      : x;
        expected[at] = counts[at]++ < 0.5                  ? part
                       : strcmp(op_type, "ReduceMin") == 0 ? fmin(old, part)
                       : strcmp(op_type, "ReduceMax") == 0 ? fmax(old, part)
                                                           : old + part;
    }
    for (size_t i = 0; i < results; ++i) {
        const double right =
            strcmp(op_type, "ReduceMean") == 0 ? expected[i] / counts[i]
            : strcmp(op_type, "ReduceL2") == 0 ? sqrt(expected[i])
            : strcmp(op_type, "ReduceLogSum") == 0
                ? log(fmax(expected[i], 0x1p-149))
                : expected[i];
        if (!(fabs((double)y[i] - right) < 1e-5 * (1.0 + fabs(right))))
            fail_msg("%s over %d%d%d: number %zu is %g, not %g", op_type, marked[0], marked[1], marked[2], i,
                     (double)y[i], right);
    }
    cnnvp_graph_clear(&graph);
    builder_free(&b);
}

static void reductions_are_the_definition(void **state)
{
    static const char *const types[] = {
        "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum"};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i)
        for (int axes = 1; axes < 8; ++axes)
            check(types[i], (const int[3]){axes & 1, axes >> 1 & 1, axes >> 2 & 1}, axes % 2);
}

/* Sums of many rows and numbers on them: one scale for all of them, whose buffer would not hold one for each. */
static void many_sums_have_one_scale(void **state)
{
    static const char *const nodes[] = {
        "y = ReduceSum <keepdims = 0> (x, last)", "a = ReduceMax <axes = [2], keepdims = 0> (x) y = Mul(a, two)",
        "a = ReduceMax <axes = [2], keepdims = 1> (x) y = Sub(two, a)",
        "a = ReduceMax <axes = [2], keepdims = 0> (x) b = Div(a, two) c = Exp(b) y = Div(two, c)"};
    enum { ROWS = 5000 };
    static float y[ROWS];
    (void)state;
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; ++i) {
        struct cnnvp_graph graph;
        char text[256];
        (void)snprintf(text, sizeof text, "float[N, %d, 2] x float two = {2} int64[1] last = {2} %s", ROWS, nodes[i]);
        onnx_case_import_text(13, text, &graph);
        for (size_t k = 0; k < graph.layer_count; ++k)
            if (graph.layers[k].op == CNNVP_OP_NORM)
                assert_int_equal(graph.tensors[graph.layers[k].in].channels, 1);
        assert_int_equal(graph.tensors[graph.outputs[0].tensor].channels, ROWS);
        onnx_case_run(&graph, y);
        for (int k = 0; k < ROWS; ++k) {
            const double largest = 0.5 * (k + 1); /* of 0.25 * (2 * k + 1) and 0.25 * (2 * k + 2) */
            const double wanted =
                i == 0   ? 2 * largest - 0.25
                : i == 1 ? 2 * largest
                : i == 2 ? 2 - largest
                         : 2 / exp(largest / 2);
            if (!(fabs((double)y[k] - wanted) <= 1e-5 * (fabs(wanted) + 1e-6)) && wanted > 1e-30)
                fail_msg("form %zu, number %d: %g in place of %g", i, k, (double)y[k], wanted);
        }
        cnnvp_graph_clear(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions_are_the_definition),
        cmocka_unit_test(many_sums_have_one_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
