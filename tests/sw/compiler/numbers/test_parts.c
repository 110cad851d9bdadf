/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of joined words: what is joined for the host, or taken apart again, keeps the formats that it has. */
#include <stdio.h>
#include <string.h>

#include "test.h"

#include "numbers.h"
#include "onnx_case.h"

/* x is 1 or -1. All values of a and p are 1000 or -1000, those of q 500, those of b 1. With an eighth to spare that
 * leaves 4, 5 and 14 of 15 bits for fractions. */
#define TIMES(to, of, value) "float[1] " #to "k = {" #value "} " #to " = Mul(" #of ", " #to "k) "
#define MAPS "float[N, 2, 3, 4] x " TIMES(a, x, 1000.0) "b = Neg(x) "
#define LEVELS MAPS TIMES(p, x, 1000.0) TIMES(q, x, 500.0)
#define JOINED(to, axis_, ...) #to " = Concat <axis = " #axis_ "> (" #__VA_ARGS__ ") "
enum { A = 4, B = 14, Q = 5, X = 24 };

static void calibrate(struct cnnvp_graph *graph)
{
    struct cnnvp_floatref run;
    struct cnnvp_error error;
    float x[X];
    for (int i = 0; i < X; ++i)
        x[i] = i % 3 == 0 ? -1.0f : 1.0f;
    assert_int_equal(cnnvp_floatref_new_batch(graph, 1, &run, &error), CNNVP_DONE);
    cnnvp_floatref_images(&run, 1, x);
    for (size_t i = 0; i < graph->tensor_count; ++i)
        graph->tensors[i].max_abs = cnnvp_float_kernels()->largest(run.data[i], cnnvp_graph_words(&graph->tensors[i]));
    for (size_t i = 0; i < graph->layer_count; ++i)
        graph->layers[i].pre_max_abs = run.pre_max[i];
    cnnvp_floatref_clear(&run);
}

static void choose(const char *network, struct cnnvp_graph *graph)
{
    onnx_case_import_text(14, network, graph);
    calibrate(graph);
    cnnvp_formats_choose(graph, 48);
    assert_int_equal(graph->arena.failed, 0);
}

/* The formats of the network's first output. `by` CNNVP_GRAPH_DIMENSIONS: it has one, the first number. */
static void check(const char *network, enum cnnvp_graph_dimension by, const int32_t *fracs, uint32_t count)
{
    struct cnnvp_graph graph;
    choose(network, &graph);
    const struct cnnvp_graph_tensor *y = &graph.tensors[graph.outputs[0].tensor];
    assert_int_equal(y->fracs == NULL, by == CNNVP_GRAPH_DIMENSIONS);
    if (y->fracs == NULL) {
        assert_int_equal(y->frac, fracs[0]);
    } else {
        assert_int_equal(y->fracs_by, by);
        assert_memory_equal(y->fracs, fracs, count * sizeof *fracs);
    }
    cnnvp_graph_clear(&graph);
}

#define CHECK(network, by, ...) \
    check(network, by, (const int32_t[]){__VA_ARGS__}, sizeof(int32_t[]){__VA_ARGS__} / sizeof(int32_t))

static void parts_have_formats(void **state)
{
    (void)state;
    CHECK(MAPS JOINED(y, 1, a, b), CNNVP_GRAPH_CHANNEL, A, A, B, B);
    CHECK(MAPS JOINED(y, 2, a, b), CNNVP_GRAPH_ROW, A, A, A, B, B, B);
    CHECK(MAPS JOINED(y, 3, a, b), CNNVP_GRAPH_COLUMN, A, A, A, A, B, B, B, B);
    CHECK(MAPS JOINED(c, 1, a, b) "y = Transpose <perm = [0, 2, 3, 1]> (c) ", CNNVP_GRAPH_COLUMN, A, A, B, B);
    /* Other layers read a part, too. */
    CHECK(MAPS JOINED(y, 3, b, a) "d = Sigmoid(b) e = Add(d, b) " JOINED(z, 1, d, e), CNNVP_GRAPH_COLUMN, B, B, B, B, A,
          A, A, A);
}

static void what_is_calculated_with_has_one(void **state)
{
    (void)state;
    CHECK(MAPS JOINED(c, 1, a, b) "y = Relu(c)", CNNVP_GRAPH_DIMENSIONS, A);
    CHECK(MAPS JOINED(c, 3, a, b) "d = Sigmoid(c) " JOINED(y, 1, c, d), CNNVP_GRAPH_CHANNEL, A, A, B, B);
    CHECK(MAPS JOINED(c, 1, a, b) "d = Sigmoid(c) " JOINED(y, 1, c, d), CNNVP_GRAPH_CHANNEL, A, A, A, A, B, B, B, B);
}

/* Columns of two levels of boxes and scores: boxes have the format of the larger ones. */
static void the_dimension_that_loses_fewest_bits_counts(void **state)
{
    (void)state;
    CHECK(LEVELS JOINED(c, 3, p, b) JOINED(d, 3, q, b) JOINED(y, 2, c, d), CNNVP_GRAPH_COLUMN, A, A, A, A, B, B, B, B);
    CHECK(LEVELS JOINED(c, 3, p, q) JOINED(d, 3, b, b) JOINED(y, 2, c, d), CNNVP_GRAPH_ROW, A, A, A, B, B, B);
    CHECK(LEVELS JOINED(c, 3, p, q) JOINED(y, 3, c, b), CNNVP_GRAPH_COLUMN, A, A, A, A, Q, Q, Q, Q, B, B, B, B);
}

/* A source that other layers read keeps its format, whatever the words beside its copy have. */
static void sources_keep_their_formats(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    int32_t tensor = 0;
    choose(MAPS JOINED(c, 3, a, b) JOINED(d, 3, b, a) JOINED(y, 2, c, d) "z = Sigmoid(b)", &graph);
    while (strcmp(graph.tensors[tensor].name, "b") != 0)
        ++tensor;
    assert_int_equal(graph.tensors[tensor].frac, B);
    const struct cnnvp_graph_tensor *y = &graph.tensors[graph.outputs[0].tensor];
    for (uint32_t at = 0; y->fracs != NULL && at < 6; ++at)
        assert_int_equal(cnnvp_graph_frac(y, 0, at, at), A);
    cnnvp_graph_clear(&graph);
}

/* b and e, of 1, are joined, and then beside a, of 1000, such that no dimension separates them. What reads b has all
 * its bits: the copy of both drops some. */
static void what_is_joined_again_keeps_its_bits(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    int32_t tensor = 0;
    choose(MAPS "e = Neg(b) " JOINED(c, 1, b, e) JOINED(d, 1, e, a) JOINED(y, 3, c, d) "z = Sigmoid(b)", &graph);
    while (strcmp(graph.tensors[tensor].name, "b") != 0)
        ++tensor;
    assert_int_equal(graph.tensors[tensor].frac, B);
    const struct cnnvp_graph_tensor *y = &graph.tensors[graph.outputs[0].tensor];
    for (uint32_t c = 0; c < 4; ++c) {
        assert_true(cnnvp_graph_frac(y, c, 0, 4) <= B);
        assert_true(c < 2 || cnnvp_graph_frac(y, c, 0, 4) == A);
    }
    cnnvp_graph_clear(&graph);
}

/* r, of at most 2, is joined with a, of 1000. It has the format of s, which another layer reads: 13 of 15 bits. */
static void what_a_part_is_made_from_keeps_its_bits(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    int32_t tensor = 0;
    choose(MAPS "s = Add(x, x) r = Relu(s) t = Sigmoid(s) " JOINED(c, 3, a, r) "n = Neg(c) " JOINED(y, 3, n, t),
           &graph);
    while (strcmp(graph.tensors[tensor].name, "s") != 0)
        ++tensor;
    assert_int_equal(graph.tensors[tensor].frac, 13);
    cnnvp_graph_clear(&graph);
}

/* What was always 0 in the calibration leaves the others their format. */
static void zeros_take_the_format_of_others(void **state)
{
    (void)state;
    CHECK(MAPS TIMES(n, x, 0.0) JOINED(c, 3, a, b) JOINED(d, 3, a, n) JOINED(y, 2, c, d), CNNVP_GRAPH_COLUMN, A, A, A,
          A, B, B, B, B);
    CHECK(MAPS TIMES(n, x, 0.0) JOINED(c, 3, n, b) JOINED(d, 3, a, b) JOINED(y, 2, c, d) "z = Neg(n)",
          CNNVP_GRAPH_COLUMN, A, A, A, A, B, B, B, B);
    /* A frame has the format with the fewest bits, which is one of those beside it. */
    CHECK(MAPS JOINED(c, 3, a, b) "int64[8] l = {0, 0, 0, 1, 0, 0, 0, 1} y = Pad(c, l) ", CNNVP_GRAPH_COLUMN, A, A, A,
          A, A, B, B, B, B, A);
}

/* The header of a compiled network has one number where all words have the same format: here two tensors of 1000. */
static void equal_formats_are_one(void **state)
{
    (void)state;
    for (int axis = 1; axis <= 3; ++axis) {
        char network[512];
        (void)snprintf(network, sizeof network, MAPS TIMES(p, x, 1000.0) "y = Concat <axis = %d> (a, p) ", axis);
        CHECK(network, CNNVP_GRAPH_DIMENSIONS, A);
    }
}

#define NUMBER(name, value) "int64[1] " #name " = {" #value "} "
#define CUT(to, from, first, end) \
    NUMBER(to##i, first) NUMBER(to##j, end) NUMBER(to##l, -1) #to " = Slice(" #from ", " #to "i, " #to "j, " #to "l) "

/* What is taken apart again is read in the part's format, however the parts were moved. */
static void a_slice_has_the_format_of_its_part(void **state)
{
    (void)state;
    CHECK(MAPS JOINED(c, 3, a, b) CUT(y, c, 4, 8) CUT(z, c, 0, 4), CNNVP_GRAPH_DIMENSIONS, B);
    CHECK(MAPS JOINED(c, 1, a, b) "d = Transpose <perm = [0, 2, 3, 1]> (c) " CUT(e, d, 2, 4)
              CUT(f, d, 0, 2) "g = Sigmoid(f) h = Sigmoid(e) " JOINED(y, 3, g, e) JOINED(z, 3, f, h),
          CNNVP_GRAPH_DIMENSIONS, B);
    CHECK(MAPS JOINED(c, 3, a, b) CUT(y, c, 3, 8) CUT(z, c, 0, 3), CNNVP_GRAPH_COLUMN, A, B, B, B, B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_have_formats),
        cmocka_unit_test(what_is_calculated_with_has_one),
        cmocka_unit_test(the_dimension_that_loses_fewest_bits_counts),
        cmocka_unit_test(sources_keep_their_formats),
        cmocka_unit_test(what_is_joined_again_keeps_its_bits),
        cmocka_unit_test(what_a_part_is_made_from_keeps_its_bits),
        cmocka_unit_test(zeros_take_the_format_of_others),
        cmocka_unit_test(equal_formats_are_one),
        cmocka_unit_test(a_slice_has_the_format_of_its_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
