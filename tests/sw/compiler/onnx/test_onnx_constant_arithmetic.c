/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and weights that a file computes from constants. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

static const int64_t flat[2] = {-1, 6};

/* Two lists of integers; together they are the shape of a Reshape, which [0, 6] alone fits. */
static void begin_ints(struct builder *builder, const char *op_type, const int64_t *a, const int64_t *b)
{
    onnx_case_begin(builder, "x", 2, flat);
    (void)builder_int64s(builder, "a", 2, a);
    if (b != NULL)
        (void)builder_int64s(builder, "b", 2, b);
    (void)builder_node(builder, op_type, "s", "a", b != NULL ? "b" : NULL, NULL, NULL);
    (void)builder_node(builder, "Reshape", "y", "x", "s", NULL, NULL);
}

static void integers(void **state)
{
    static const struct {
        const char *op_type;
        int64_t a[2], b[2];
    } cases[] = {
        {"Add", {-4, 2}, {4, 4}},   {"Sub", {3, 8}, {3, 2}},     {"Mul", {0, -2}, {5, -3}},
        {"Div", {1, 13}, {2, 2}},   {"Div", {-1, -12}, {2, -2}}, {"Mod", {14, 20}, {7, 7}},
        {"Mod", {-7, -8}, {7, 14}}, {"Min", {0, 9}, {1, 6}},     {"Max", {-3, 6}, {0, 5}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct builder builder;
        struct cnnvp_graph graph;
        begin_ints(&builder, cases[i].op_type, cases[i].a, cases[i].b);
        onnx_case_must_import(&builder, &graph);
        cnnvp_graph_clear(&graph);
        builder_free(&builder);
    }
    static const struct {
        const char *op_type;
        int64_t a[2];
    } ones[] = {{"Neg", {0, -6}}, {"Abs", {0, -6}}, {"Floor", {0, 6}}};
    for (size_t i = 0; i < sizeof ones / sizeof *ones; ++i) {
        struct builder builder;
        struct cnnvp_graph graph;
        begin_ints(&builder, ones[i].op_type, ones[i].a, NULL);
        onnx_case_must_import(&builder, &graph);
        cnnvp_graph_clear(&graph);
        builder_free(&builder);
    }
}

static void integers_have_limits(void **state)
{
    static const struct {
        const char *op_type;
        int64_t a[2], b[2];
    } cases[] = {
        {"Add", {0, INT64_MAX}, {0, 1}}, {"Sub", {0, INT64_MIN}, {0, 1}}, {"Mul", {0, INT64_MAX}, {0, 2}},
        {"Div", {0, 6}, {1, 0}},         {"Mod", {0, 6}, {1, 0}},         {"Div", {0, INT64_MIN}, {1, -1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct builder builder;
        begin_ints(&builder, cases[i].op_type, cases[i].a, cases[i].b);
        onnx_case_refused(&builder, "the integers divide by 0 or overflow");
    }
    struct builder builder;
    const int64_t three[3] = {0, 1, 2}, two[2] = {0, 1};
    onnx_case_begin(&builder, "x", 2, flat);
    (void)builder_int64s(&builder, "a", 3, three);
    (void)builder_int64s(&builder, "b", 2, two);
    (void)builder_node(&builder, "Add", "s", "a", "b", NULL, NULL);
    (void)builder_node(&builder, "Reshape", "y", "x", "s", NULL, NULL);
    onnx_case_refused(&builder, "constants of shapes that do not match");
}

/* What x has become more by; `make` leaves a constant c of 6 numbers. */
static void expect_added(void (*make)(struct builder *builder, const void *context), const void *context,
                         const float *expected)
{
    struct builder builder;
    struct cnnvp_graph graph;
    const int64_t square[2] = {6, 6};
    float identity[36] = {0}, y[6];
    for (size_t i = 0; i < 6; ++i)
        identity[i * 7] = 1.0f;
    onnx_case_begin(&builder, "x", 2, flat);
    (void)builder_floats(&builder, "w", 2, square, identity);
    make(&builder, context);
    (void)builder_node(&builder, "MatMul", "m", "x", "w", NULL, NULL);
    (void)builder_node(&builder, "Add", "y", "m", "c", NULL, NULL);
    onnx_case_must_import(&builder, &graph);
    onnx_case_run(&graph, y);
    for (size_t i = 0; i < 6; ++i)
        if (fabsf(y[i] - 0.25f * (float)(i + 1) - expected[i]) > 1e-5f)
            fail_msg("%zu: %g instead of %g", i, (double)(y[i] - 0.25f * (float)(i + 1)), (double)expected[i]);
    cnnvp_graph_clear(&graph);
    builder_free(&builder);
}

struct float_case {
    const char *op_type, *compare; /* compare: c = Where(compare(a, b), a, b) */
    float expected[6];
};

static void make_floats(struct builder *builder, const void *context)
{
    static const float a[6] = {-2.5f, -1.0f, 0.0f, 0.5f, 1.0f, 7.25f}, b = 0.5f;
    static const int64_t six[1] = {6};
    const struct float_case *c = context;
    (void)builder_floats(builder, "a", 1, six, a);
    (void)builder_floats(builder, "b", 0, NULL, &b);
    if (c->compare != NULL) {
        (void)builder_node(builder, c->compare, "k", "a", "b", NULL, NULL);
        (void)builder_node(builder, "Where", "c", "k", "a", "b", NULL);
    } else {
        const int two = strcmp(c->op_type, "Floor") != 0 && strcmp(c->op_type, "Ceil") != 0;
        (void)builder_node(builder, c->op_type, "c", "a", two ? "b" : NULL, NULL, NULL);
    }
}

static void floats(void **state)
{
    static const struct float_case cases[] = {
        {"Sub", NULL, {-3.0f, -1.5f, -0.5f, 0.0f, 0.5f, 6.75f}},
        {"Div", NULL, {-5.0f, -2.0f, 0.0f, 1.0f, 2.0f, 14.5f}},
        {"Min", NULL, {-2.5f, -1.0f, 0.0f, 0.5f, 0.5f, 0.5f}},
        {"Max", NULL, {0.5f, 0.5f, 0.5f, 0.5f, 1.0f, 7.25f}},
        {"Floor", NULL, {-3.0f, -1.0f, 0.0f, 0.0f, 1.0f, 7.0f}},
        {"Ceil", NULL, {-2.0f, -1.0f, 0.0f, 1.0f, 1.0f, 8.0f}},
        {NULL, "Less", {-2.5f, -1.0f, 0.0f, 0.5f, 0.5f, 0.5f}},
        {NULL, "Greater", {0.5f, 0.5f, 0.5f, 0.5f, 1.0f, 7.25f}},
        {NULL, "And", {-2.5f, -1.0f, 0.5f, 0.5f, 1.0f, 7.25f}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        expect_added(make_floats, &cases[i], cases[i].expected);
}

/* A column of 2 and a row of 3 are 6 together; a range from 1 in steps of -0.5. */
static void make_table(struct builder *builder, const void *context)
{
    static const int64_t column[2] = {2, 1}, row[2] = {1, 3}, six[1] = {6};
    static const float a[2] = {10.0f, 20.0f}, b[3] = {1.0f, 2.0f, 3.0f};
    (void)context;
    (void)builder_floats(builder, "a", 2, column, a);
    (void)builder_floats(builder, "b", 2, row, b);
    (void)builder_int64s(builder, "six", 1, six);
    (void)builder_node(builder, "Add", "t", "a", "b", NULL, NULL);
    (void)builder_node(builder, "Reshape", "c", "t", "six", NULL, NULL);
}

static void make_range(struct builder *builder, const void *context)
{
    static const float first = 1.0f, limit = -2.0f, step = -0.5f;
    (void)context;
    (void)builder_floats(builder, "f", 0, NULL, &first);
    (void)builder_floats(builder, "l", 0, NULL, &limit);
    (void)builder_floats(builder, "d", 0, NULL, &step);
    (void)builder_node(builder, "Range", "c", "f", "l", "d", NULL);
}

static void shapes_are_joined(void **state)
{
    (void)state;
    expect_added(make_table, NULL, (const float[]){11.0f, 12.0f, 13.0f, 21.0f, 22.0f, 23.0f});
    expect_added(make_range, NULL, (const float[]){1.0f, 0.5f, 0.0f, -0.5f, -1.0f, -1.5f});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(integers_have_limits),
        cmocka_unit_test(floats),
        cmocka_unit_test(shapes_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
