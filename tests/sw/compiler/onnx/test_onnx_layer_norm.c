/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisations that a file has taken apart: which become one layer again, and which are not the same function. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

struct form {
    int64_t mean_axis, square_axis; /* of (N, 4, 6) */
    int squares;                    /* 0: x - mean by Mul, 1: by Pow, 2: a second x - mean, 3: x itself, 4: the cube */
    int inverse;                    /* Reciprocal and Mul in place of Div */
    float epsilon;
    int one; /* it is a normalisation */
};

static const int64_t tokens[3] = {-1, 4, 6};

static void build(struct builder *b, const struct form *form)
{
    const float exponent = form->squares == 4 ? 3.0f : 2.0f;
    const int by_power = form->squares == 1 || form->squares == 4;
    onnx_case_begin(b, "x", 3, tokens);
    (void)builder_floats(b, "eps", 0, NULL, &form->epsilon);
    (void)builder_floats(b, "two", 0, NULL, &exponent);
    builder_ints(b, builder_node(b, "ReduceMean", "m", "x", NULL, NULL, NULL), "axes", 1, &form->mean_axis);
    (void)builder_node(b, "Sub", "d", "x", "m", NULL, NULL);
    (void)builder_node(b, "Sub", "d2", "x", "m", NULL, NULL);
    const char *of = form->squares == 2 ? "d2" : form->squares == 3 ? "x" : "d";
    (void)builder_node(b, by_power ? "Pow" : "Mul", "s", of, by_power ? "two" : of, NULL, NULL);
    builder_ints(b, builder_node(b, "ReduceMean", "v", "s", NULL, NULL, NULL), "axes", 1, &form->square_axis);
    (void)builder_node(b, "Add", "e", "eps", "v", NULL, NULL);
    (void)builder_node(b, "Sqrt", "r", "e", NULL, NULL, NULL);
    if (form->inverse)
        (void)builder_node(b, "Reciprocal", "i", "r", NULL, NULL, NULL);
    (void)builder_node(b, form->inverse ? "Mul" : "Div", "y", "d", form->inverse ? "i" : "r", NULL, NULL);
}

static void what_is_one_normalisation(void **state)
{
    static const struct form forms[] = {
        {-1, -1, 0, 0, 1e-3f, 1}, {2, -1, 1, 0, 1e-3f, 1},  {-1, 2, 2, 1, 1e-2f, 1},  {-1, -1, 0, 1, 0.0f, 1},
        {-2, -2, 0, 0, 1e-3f, 0}, {-1, -2, 1, 0, 1e-3f, 0}, {-1, -1, 3, 0, 1e-3f, 0}, {-1, -1, 4, 0, 40.0f, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        struct builder b;
        struct cnnvp_graph graph;
        float y[24];
        build(&b, &forms[i]);
        onnx_case_must_import(&b, &graph);
        size_t norms = 0;
        for (size_t l = 0; l < graph.layer_count; ++l)
            norms += graph.layers[l].op == CNNVP_OP_NORM && graph.layers[l].norm == CNNVP_NORM_DATA;
        assert_int_equal(norms, forms[i].one);
        assert_true(!forms[i].one || graph.layer_count == 1);
        onnx_case_run(&graph, y);
        for (int k = 0; k < 24; ++k) {
            /* x = 0.25 (k + 1): rows of 6, whose steps are alike, and columns of 4 */
            const int by_rows[2] = {forms[i].mean_axis != -2, forms[i].square_axis != -2};
            double mean = 0;
            double square = 0;
            for (int j = 0; j < 24; ++j)
                mean += (by_rows[0] ? j / 6 == k / 6 : j % 6 == k % 6) ? 0.25 * (j + 1) / (by_rows[0] ? 6 : 4) : 0;
            for (int j = 0; j < 24; ++j) {
                double own = 0;
                for (int n = 0; n < 24; ++n)
                    own += (by_rows[0] ? n / 6 == j / 6 : n % 6 == j % 6) ? 0.25 * (n + 1) / (by_rows[0] ? 6 : 4) : 0;
                const double d = 0.25 * (j + 1) - (forms[i].squares == 3 ? 0 : own);
                if (by_rows[1] ? j / 6 == k / 6 : j % 6 == k % 6)
                    square += (forms[i].squares == 4 ? d * d * d : d * d) / (by_rows[1] ? 6 : 4);
            }
            const double wanted = (0.25 * (k + 1) - mean) / sqrt(square + (double)forms[i].epsilon);
            if (fabs((double)y[k] - wanted) > 1e-4)
                fail_msg("form %zu, element %d: %g in place of %g", i, k, (double)y[k], wanted);
        }
        cnnvp_graph_clear(&graph);
        builder_free(&b);
    }
}

/* What else reads a step on the way keeps it. */
static void steps_that_are_read_stay(void **state)
{
    static const struct form form = {-1, -1, 0, 0, 1e-3f, 1};
    (void)state;
    struct builder b;
    struct cnnvp_graph graph;
    build(&b, &form);
    (void)builder_node(&b, "Relu", "kept", "v", NULL, NULL, NULL);
    builder_output(&b, "kept");
    onnx_case_must_import(&b, &graph);
    assert_int_equal(graph.output_count, 2);
    assert_true(graph.layer_count > 2);
    cnnvp_graph_clear(&graph);
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_one_normalisation),
        cmocka_unit_test(steps_that_are_read_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
