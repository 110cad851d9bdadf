/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons and whole numbers: which layers they become, and what is no operand of theirs. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

static const int64_t six[2] = {-1, 6};

/* x = 0.25, 0.5, ... 1.5 beside 0.75. */
static void one_number_is_one_layer(void **state)
{
    static const struct {
        const char *op_type;
        int turned;
        float y[6];
    } cases[] = {
        {"Greater", 0, {0, 0, 0, 1, 1, 1}},        {"GreaterOrEqual", 0, {0, 0, 1, 1, 1, 1}},
        {"Less", 0, {1, 1, 0, 0, 0, 0}},           {"LessOrEqual", 0, {1, 1, 1, 0, 0, 0}},
        {"Equal", 0, {0, 0, 1, 0, 0, 0}},          {"Greater", 1, {1, 1, 0, 0, 0, 0}},
        {"GreaterOrEqual", 1, {1, 1, 1, 0, 0, 0}}, {"Less", 1, {0, 0, 0, 1, 1, 1}},
        {"LessOrEqual", 1, {0, 0, 1, 1, 1, 1}},    {"Equal", 1, {0, 0, 1, 0, 0, 0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct builder b;
        struct cnnvp_graph graph;
        float y[6];
        const float number = 0.75f;
        onnx_case_begin(&b, "x", 2, six);
        (void)builder_floats(&b, "c", 0, NULL, &number);
        (void)builder_node(&b, cases[i].op_type, "y", cases[i].turned ? "c" : "x", cases[i].turned ? "x" : "c", NULL,
                           NULL);
        onnx_case_must_import(&b, &graph);
        assert_int_equal(graph.layer_count, 1);
        onnx_case_run(&graph, y);
        for (int k = 0; k < 6; ++k)
            assert_float_equal(y[k], cases[i].y[k], 0);
        cnnvp_graph_clear(&graph);
        builder_free(&b);
    }
}

/* Numbers that are added to x = 0.25, 0.5, ... make ties and whole numbers of both signs. */
static void rounding_is_to_whole_numbers(void **state)
{
    static const float offsets[] = {0.0f, -1.0f, -2.75f, 99.5f};
    (void)state;
    for (size_t i = 0; i < 3 * (sizeof offsets / sizeof offsets[0]); ++i) {
        static const char *const operators[] = {"Round", "Floor", "Ceil"};
        struct builder b;
        struct cnnvp_graph graph;
        float y[6];
        const float offset = offsets[i / 3];
        onnx_case_begin(&b, "x", 2, six);
        (void)builder_floats(&b, "c", 0, NULL, &offset);
        (void)builder_node(&b, "Add", "a", "x", "c", NULL, NULL);
        (void)builder_node(&b, operators[i % 3], "y", "a", NULL, NULL, NULL);
        onnx_case_must_import(&b, &graph);
        onnx_case_run(&graph, y);
        for (int k = 0; k < 6; ++k) {
            const float x = 0.25f * (float)(k + 1) + offset;
            assert_float_equal(y[k], (i % 3 == 0 ? rintf(x) : i % 3 == 1 ? floorf(x) : ceilf(x)), 0);
        }
        cnnvp_graph_clear(&graph);
        builder_free(&b);
    }
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    struct builder b;
    const float nan = NAN;
    onnx_case_begin(&b, "x", 2, six);
    (void)builder_floats(&b, "c", 0, NULL, &nan);
    (void)builder_node(&b, "Less", "y", "x", "c", NULL, NULL);
    onnx_case_refused(&b, "tensor \"c\" is no number");
    const float last[6] = {0, 0, 0, 0, -INFINITY, NAN};
    onnx_case_begin(&b, "x", 2, six);
    (void)builder_floats(&b, "c", 1, (const int64_t[]){6}, last);
    (void)builder_node(&b, "Where", "y", "x", "x", "c", NULL);
    onnx_case_must_fail(&b, "element 5 of tensor \"c\" is no number");
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_number_is_one_layer),
        cmocka_unit_test(rounding_is_to_whole_numbers),
        cmocka_unit_test(what_is_no_number_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
