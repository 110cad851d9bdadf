/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons and whole numbers: which layers they become. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

static const int64_t six[2] = {-1, 6};

/* x = 0.25, 0.5, ... 1.5 beside 0.75. */
static void one_number_is_one_layer(void **state)
{
    static const struct {
        const char *node;
        float y[6];
    } cases[] = {
        {"y = Greater(x, c)", {0, 0, 0, 1, 1, 1}},        {"y = GreaterOrEqual(x, c)", {0, 0, 1, 1, 1, 1}},
        {"y = Less(x, c)", {1, 1, 0, 0, 0, 0}},           {"y = LessOrEqual(x, c)", {1, 1, 1, 0, 0, 0}},
        {"y = Equal(x, c)", {0, 0, 1, 0, 0, 0}},          {"y = Greater(c, x)", {1, 1, 0, 0, 0, 0}},
        {"y = GreaterOrEqual(c, x)", {1, 1, 1, 0, 0, 0}}, {"y = Less(c, x)", {0, 0, 0, 1, 1, 1}},
        {"y = LessOrEqual(c, x)", {0, 0, 1, 1, 1, 1}},    {"y = Equal(c, x)", {0, 0, 1, 0, 0, 0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct builder b;
        struct cnnvp_graph graph;
        float y[6];
        onnx_case_parse(&b, 14, "float[N, 6] x float c = {0.75}");
        builder_parse(&b, cases[i].node);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_number_is_one_layer),
        cmocka_unit_test(rounding_is_to_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
