/* SPDX-License-Identifier: Apache-2.0 */
/* Copies with permuted dimensions: which are left out, joined, or read quantised words. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

/* x of 2 maps of 3 x 4, as rows of pixels, and back. */
#define LAST(to, from) #to " = Transpose <perm = [0, 2, 3, 1]> (" #from ") "
#define FIRST(to, from) #to " = Transpose <perm = [0, 3, 1, 2]> (" #from ") "
#define QUANTISED(to, from) #to "q = QuantizeLinear(" #from ", s, z) " #to " = DequantizeLinear(" #to "q, s, z) "
#define MAPS "float[N, 2, 3, 4] x float one = {1} float half = {0.5} float s = {0.25} uint8 z = {100} "

struct counts {
    size_t layers, turns;
    size_t wide; /* turns of words that are not quantised */
};

/* Runs the network on x[k] = 0.25 (k + 1). */
static struct counts run(const char *network, float *output)
{
    struct cnnvp_graph graph;
    onnx_case_import_text(14, network, &graph);
    struct counts counts = {.layers = graph.layer_count};
    for (size_t i = 0; i < graph.layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph.layers[i];
        counts.turns += layer->permuted != 0;
        counts.wide += layer->permuted != 0 && graph.tensors[cnnvp_graph_base(&graph, layer->in)].whole == 0;
    }
    onnx_case_run(&graph, output);
    cnnvp_graph_clear(&graph);
    return counts;
}

static double x_at(int channel, int row, int column)
{
    return 0.25 * ((channel * 3 + row) * 4 + column + 1);
}

/* A network with the channels last between operators that have them first. */
static void what_lies_between_works_on_words_as_they_were(void **state)
{
    (void)state;
    float y[48];
    struct counts counts =
        run(MAPS "a = Sigmoid(x) b = Neg(x) " LAST(c, a) LAST(d, b) "e = Sub(c, d) f = Sigmoid(e) "
                                                                    "g = Mul(f, c) " FIRST(y0, g) "y = Relu(y0)",
            y);
    assert_int_equal(counts.turns, 0);
    for (int k = 0; k < 24; ++k) {
        const double x = 0.25 * (k + 1), sigmoid = 1.0 / (1.0 + exp(-x));
        assert_true(fabs((double)y[k] - sigmoid / (1.0 + exp(-sigmoid - x))) < 1e-4);
    }
    /* What needs the channels last, too, gets one copy. */
    counts = run(MAPS LAST(c, x) "b = Neg(x) " LAST(d, b) "e = Sub(c, d) f = Relu(e) " FIRST(
                     g, f) "v = Flatten(f) w = Flatten(g) y = Concat <axis = 1> (v, w)",
                 y);
    assert_int_equal(counts.turns, 1);
    for (int k = 0; k < 24; ++k) {
        assert_true(fabs((double)y[k] - 2 * x_at(k % 2, k / 8, k / 2 % 4)) < 1e-5);
        assert_true(fabs((double)y[24 + k] - 0.5 * (k + 1)) < 1e-5);
    }
    /* An operand that is no copy keeps both. */
    counts = run(MAPS "float[N, 3, 4, 2] w " LAST(c, x) "e = Add(c, w) " FIRST(y, e), y);
    assert_int_equal(counts.turns, 2);
}

/* A squeeze and excitation with channels last: means of maps, and a factor for each channel. */
static void means_and_factors_of_channels_need_no_turn(void **state)
{
    (void)state;
    float y[24];
    struct counts counts = run(MAPS "a = Sigmoid(x) " LAST(b, a) "m = ReduceMean <axes = [1, 2]> (b) g = Sigmoid(m) "
                                                                 "c = Mul(b, g) " FIRST(d, c) "y = Neg(d)",
                               y);
    assert_int_equal(counts.turns, 0);
    double means[2] = {0, 0};
    for (int k = 0; k < 24; ++k)
        means[k / 12] += 1.0 / (1.0 + exp(-0.25 * (k + 1))) / 12;
    for (int k = 0; k < 24; ++k) {
        const double wanted = 1.0 / (1.0 + exp(-0.25 * (k + 1))) / (1.0 + exp(-means[k / 12]));
        assert_true(fabs((double)y[k] + wanted) < 1e-4);
    }
    /* A factor for each column, and one for each column and channel. */
    counts = run(MAPS "float[N, 1, 4, 1] w " LAST(b, x) "c = Mul(b, w) " FIRST(y, c), y);
    assert_int_equal(counts.turns, 0);
    counts = run(MAPS "float[N, 1, 4, 2] w " LAST(b, x) "c = Mul(b, w) " FIRST(y, c), y);
    assert_int_equal(counts.turns, 2);
    /* The product of a row and a column stays what it is: turned, it would take longer. */
    counts = run("float[N, 2, 12, 1] x float[N, 12, 1, 1] v float[N, 1, 1, 2] w " LAST(
                     b, x) "o = Mul(v, w) c = Add(b, o) " FIRST(y, c),
                 y);
    assert_int_equal(counts.turns, 2);
}

/* Concatenations, paddings, slices and pools of what lies channels last. */
static void parts_and_pools_need_no_turn(void **state)
{
    (void)state;
    float y[96];
    struct counts counts = run(
        MAPS "a = Relu(x) b = Neg(x) " LAST(c, a) LAST(d, b) "e = Concat <axis = 3> (c, d) " FIRST(f, e) "y = Relu(f)",
        y);
    assert_int_equal(counts.turns, 0);
    for (int k = 0; k < 24; ++k) {
        assert_true(fabs((double)y[k] - 0.25 * (k + 1)) < 1e-5);
        assert_true(fabs((double)y[24 + k]) < 1e-5);
    }
    /* Rows and columns of zeros: one copy of the map. */
    counts = run(MAPS "int64[8] pads = {0, 1, 2, 0, 0, 1, 0, 0} a = Neg(x) " LAST(c, a) "e = Pad(c, pads) " FIRST(
                     f, e) "y = Neg(f)",
                 y);
    assert_int_equal(counts.turns, 0);
    assert_int_equal(counts.layers, 3);
    for (int k = 0; k < 60; ++k) {
        const int channel = k / 30, row = k / 6 % 5 - 1, column = k % 6 - 2;
        const double wanted = row >= 0 && row < 3 && column >= 0 ? x_at(channel, row, column) : 0.0;
        assert_true(fabs((double)y[k] - wanted) < 1e-5);
    }
    /* Nothing would make channels of zeros 0. */
    counts = run(MAPS "int64[8] pads = {0, 0, 0, 1, 0, 0, 0, 1} a = Neg(x) " LAST(c, a) "e = Pad(c, pads) " FIRST(
                     f, e) "y = Neg(f)",
                 y);
    assert_int_equal(counts.turns, 2);
    for (int k = 0; k < 48; ++k)
        assert_true(fabs((double)y[k] - (k / 12 % 3 != 0 ? x_at(k / 12 - 1, k / 4 % 3, k % 4) : 0.0)) < 1e-5);
    /* Rows 1 and 2, columns 0 and 2; then the second half of the channels of two such maps. */
    counts = run(MAPS "int64[2] from = {1, 0} int64[2] to = {3, 4} int64[2] at = {1, 2} int64[2] by = {1, 2} "
                      "int64[1] middle = {2} int64[1] all = {4} int64[1] last = {3} "
                      "a = Neg(x) " LAST(c, a) "d = Slice(c, from, to, at, by) b = Relu(x) " LAST(
                          e, b) "g = Slice(e, from, to, at, by) h = Concat <axis = 3> (d, g) "
                                "i = Slice(h, middle, all, last) " FIRST(f, i) "y = Relu(f)",
                 y);
    assert_int_equal(counts.turns, 0);
    for (int k = 0; k < 8; ++k)
        assert_true(fabs((double)y[k] - x_at(k / 4, 1 + k / 2 % 2, 2 * (k % 2))) < 1e-5);
    /* Every second row: one layer. */
    counts = run(MAPS "int64[1] from = {0} int64[1] to = {3} int64[1] at = {1} int64[1] by = {2} "
                      "a = Neg(x) " LAST(c, a) "d = Slice(c, from, to, at, by) " FIRST(f, d) "y = Neg(f)",
                 y);
    assert_int_equal(counts.turns, 0);
    assert_int_equal(counts.layers, 3);
    for (int k = 0; k < 16; ++k)
        assert_true(fabs((double)y[k] - x_at(k / 8, 2 * (k / 4 % 2), k % 4)) < 1e-5);
}

/* The mean of all channels of a position, and the maximum of a column, multiply what they are of. */
static void masks_of_positions_need_no_turn(void **state)
{
    (void)state;
    float y[24];
    struct counts counts = run(
        MAPS "a = Neg(x) " LAST(c, a) "m = ReduceMean <axes = [3]> (c) d = Mul(c, m) " FIRST(f, d) "y = Relu(f)", y);
    assert_int_equal(counts.turns, 0);
    for (int k = 0; k < 24; ++k) {
        const double mean = (x_at(0, k / 4 % 3, k % 4) + x_at(1, k / 4 % 3, k % 4)) / 2;
        assert_true(fabs((double)y[k] - 0.25 * (k + 1) * mean) < 1e-4);
    }
    counts =
        run(MAPS "a = Neg(x) " LAST(c, a) "m = ReduceMax <axes = [1]> (c) d = Mul(c, m) " FIRST(f, d) "y = Relu(f)", y);
    assert_int_equal(counts.turns, 0);
    for (int k = 0; k < 24; ++k)
        assert_true(fabs((double)y[k] - 0.25 * (k + 1) * x_at(k / 12, 0, k % 4)) < 1e-4);
}

/* What is made of turned tensors alone is turned once, behind them. */
static void results_are_turned_instead_of_operands(void **state)
{
    (void)state;
    float y[48];
    struct counts counts = run(MAPS "a = Sigmoid(x) b = Neg(x) " LAST(c, a) LAST(d, b) "e = Sub(c, d) y = Relu(e)", y);
    assert_int_equal(counts.turns, 1);
    for (int k = 0; k < 24; ++k) {
        const double x = x_at(k % 2, k / 8, k / 2 % 4);
        assert_true(fabs((double)y[k] - x - 1 / (1 + exp(-x))) < 1e-4);
    }
    counts = run(MAPS "a = Sigmoid(x) b = Neg(x) " LAST(c, a) LAST(d, b) "y = Concat <axis = 3> (c, d)", y);
    assert_int_equal(counts.turns, 1);
    for (int k = 0; k < 48; ++k) {
        const double x = x_at(k % 2, k / 16, k / 4 % 4);
        assert_true(fabs((double)y[k] - (k % 4 < 2 ? 1 / (1 + exp(-x)) : -x)) < 1e-4);
    }
    /* Twice the same: it would be more words. */
    counts = run(MAPS "a = Sigmoid(x) " LAST(c, a) "y = Concat <axis = 3> (c, c)", y);
    assert_int_equal(counts.turns, 1);
    assert_int_equal(counts.layers, 4);
}

/* Channels last that are shuffled, and half of which go on: channels (c, 2) become (2, c). */
static void a_shuffle_joins_with_the_turn_behind(void **state)
{
    (void)state;
    float y[24];
    const struct counts counts =
        run("float[N, 4, 2, 3] x int64[5] five = {0, 2, 3, 2, 2} int64[4] four = {0, 2, 3, 4} a = Neg(x) " LAST(
                c, a) "d = Reshape(c, five) e = Transpose <perm = [0, 1, 2, 4, 3]> (d) f = Reshape(e, four) "
                      "g, h = Split <axis = 3> (f) " FIRST(i, h) "y = Neg(i)",
            y);
    assert_int_equal(counts.turns, 1);
    for (int k = 0; k < 12; ++k)
        assert_true(fabs((double)y[k] - 0.25 * ((k / 6 == 0 ? 1 : 3) * 6 + k % 6 + 1)) < 1e-5);
}

static void turns_copy_quantised_words(void **state)
{
    (void)state;
    float y[24];
    struct counts counts = run(MAPS QUANTISED(a, x) LAST(b, a) QUANTISED(c, b) "y = Relu(c)", y);
    assert_int_equal(counts.turns, 1);
    assert_int_equal(counts.wide, 0);
    assert_int_equal(counts.layers, 3); /* quantisation, copy, scale */
    for (int k = 0; k < 24; ++k)
        assert_true(fabs((double)y[k] - x_at(k % 2, k / 8, k / 2 % 4)) < 1e-5);
    /* The step after the copy is not that before it: 0.5. */
    counts = run(MAPS "float t = {0.5} " QUANTISED(a, x) LAST(b, a) "q = QuantizeLinear(b, t, z) "
                                                                    "c = DequantizeLinear(q, t, z) y = Relu(c)",
                 y);
    assert_int_equal(counts.turns, 1);
    assert_int_equal(counts.wide, 0);
    for (int k = 0; k < 24; ++k)
        assert_true(fabs((double)y[k] - 0.5 * nearbyint(x_at(k % 2, k / 8, k / 2 % 4) / 0.5)) < 1e-5);
    counts = run(MAPS QUANTISED(a, x) LAST(b, a) QUANTISED(c, b) FIRST(d, c) QUANTISED(e, d) "y = Relu(e)", y);
    assert_int_equal(counts.turns, 0);
    assert_int_equal(counts.layers, 2);
    for (int k = 0; k < 24; ++k)
        assert_true(fabs((double)y[k] - 0.25 * (k + 1)) < 1e-5);
}

/* A turn of words that others read as numbers, too, reads the same numbers. So it does in front of weights without
 * steps, for which the other product's words would need 16 bits. */
/* Steps between turns, of words that are read in other dimensions than a turn made them in. */
static void steps_in_other_dimensions_need_no_turn(void **state)
{
    (void)state;
    float y[24];
    struct counts counts =
        run(MAPS "int64[3] rows = {0, 12, 2} int64[4] maps = {0, 3, 4, 2} " QUANTISED(a, x)
                LAST(b, a) "c = Reshape(b, rows) " QUANTISED(d, c) "e = Reshape(d, maps) " FIRST(f, e)
                    QUANTISED(g, f) "y = Relu(g)",
            y);
    assert_int_equal(counts.turns, 0);
    for (int k = 0; k < 24; ++k)
        assert_true(fabs((double)y[k] - 0.25 * (k + 1)) < 1e-5);
    /* Words of one row, which the turn behind reads as a matrix. */
    counts = run("float[N, 12] x float s = {0.25} uint8 z = {100} int64[3] matrix = {0, 3, 4} " QUANTISED(
                     a, x) "c = Reshape(a, matrix) d = Transpose <perm = [0, 2, 1]> (c) e = Sigmoid(d) f = Mul(a, a) "
                           "g = Flatten(e) y = Concat <axis = 1> (f, g)",
                 y);
    assert_int_equal(counts.turns, 1);
    for (int k = 0; k < 12; ++k) {
        const int at = k % 3 * 4 + k / 3;
        assert_true(fabs(sqrt((double)y[k]) - 0.25 * (k + 1)) < 1e-5);
        assert_true(fabs((double)y[12 + k] - 1 / (1 + exp(-0.25 * (at + 1)))) < 1e-4);
    }
}

/* Rows 0 and 1 of 4, joined with two more columns: as many words, in other dimensions. */
static void parts_of_as_many_words_are_turned_in_their_own_dimensions(void **state)
{
    (void)state;
    float y[24];
    const struct counts counts =
        run("float[N, 3, 4, 2] x float[N, 3, 2, 2] w int64[1] from = {0} int64[1] to = {2} int64[1] at = {1} "
            "a = Neg(x) " LAST(c, a) "d = Slice(c, from, to, at) b = Neg(w) " LAST(
                e, b) "g = Concat <axis = 2> (d, e) " FIRST(f, g) "y = Neg(f)",
            y);
    assert_int_equal(counts.turns, 0);
    for (int k = 0; k < 24; ++k) {
        const int channel = k / 8, row = k / 4 % 2, column = k % 4;
        const int at = column < 2 ? (channel * 4 + row) * 2 + column : 24 + (channel * 2 + row) * 2 + column - 2;
        assert_true(fabs((double)y[k] - 0.25 * (at + 1)) < 1e-5);
    }
}

/* Maps that become the channels of one tensor are written to their places, and turned once. */
static void channels_that_need_no_copy_are_turned_together(void **state)
{
    (void)state;
    float y[24];
    const struct counts counts =
        run("float[N, 1, 3, 4] x a = Neg(x) b = Relu(x) c = Concat <axis = 1> (a, b) " LAST(y, c), y);
    assert_int_equal(counts.turns, 1);
    assert_int_equal(counts.layers, 3);
    for (int k = 0; k < 12; ++k) {
        assert_true(fabs((double)y[2 * k] + 0.25 * (k + 1)) < 1e-5);
        assert_true(fabs((double)y[2 * k + 1] - 0.25 * (k + 1)) < 1e-5);
    }
}

static void scales_that_others_need_stay(void **state)
{
    (void)state;
    float y[48];
    struct counts counts =
        run(MAPS QUANTISED(a, x) LAST(b, a) "c = Flatten(a) d = Flatten(b) y = Concat <axis = 1> (c, d)", y);
    assert_int_equal(counts.layers, 5); /* quantisation, scale, turn, two copies */
    struct cnnvp_graph graph;
    size_t whole = 0;
    onnx_case_import_text(
        14,
        MAPS "float[4, 3] u = {} int8[4, 2, 1, 1] w = {3, -2, 5, 7, 1} int8 o = {0} " QUANTISED(
            a, x) "v = DequantizeLinear(w, s, o) "
                  "c = Conv(a, v) q = QuantizeLinear(c, one, z) d = DequantizeLinear(q, one, z) "
                  "e = Flatten(d) p = MatMul(a, u) f = Flatten(p) y = Concat <axis = 1> (e, f)",
        &graph);
    for (size_t i = 0; i < graph.layer_count; ++i)
        whole += graph.layers[i].op == CNNVP_OP_CONV &&
                 graph.tensors[cnnvp_graph_base(&graph, graph.layers[i].in)].whole != 0;
    assert_int_equal(whole, 1);
    cnnvp_graph_clear(&graph);
}

/* The steps of a tensor with several readers, and again the same: its words stay what they are. */
static void equal_steps_need_no_layer(void **state)
{
    (void)state;
    float y[24];
    const struct counts counts =
        run(MAPS QUANTISED(a, x) "o = DequantizeLinear(aq, s, z) " QUANTISED(b, o) "y = Mul(a, b)", y);
    assert_int_equal(counts.layers, 4); /* quantisation, two scales, product */
    for (int k = 0; k < 24; ++k)
        assert_true(fabs(sqrt((double)y[k]) - 0.25 * (k + 1)) < 1e-5);
}

static void two_turns_become_one(void **state)
{
    (void)state;
    float y[24];
    /* (2, 12) -> (12, 2) -> (3, 4, 2) -> (4, 3, 2): one permutation of (2, 3, 4). */
    struct counts counts = run("float[N, 2, 12] x int64[4] four = {0, 3, 4, 2} a = Transpose <perm = [0, 2, 1]> (x) "
                               "b = Reshape(a, four) c = Transpose <perm = [0, 2, 1, 3]> (b) y = Mul(c, c)",
                               y);
    assert_int_equal(counts.turns, 1);
    for (int k = 0; k < 24; ++k)
        assert_true(fabs(sqrt((double)y[k]) - x_at(k % 2, k / 2 % 3, k / 6)) < 1e-5);
    /* (2, 3, 4) -> (4, 2, 3) -> (2, 4, 3): three dimensions in another order. */
    counts = run("float[N, 2, 3, 4] x a = Transpose <perm = [0, 3, 1, 2]> (x) "
                 "b = Transpose <perm = [0, 2, 1, 3]> (a) y = Mul(b, b)",
                 y);
    assert_int_equal(counts.turns, 1);
    for (int k = 0; k < 24; ++k)
        assert_true(fabs(sqrt((double)y[k]) - x_at(k / 12, k % 3, k / 3 % 4)) < 1e-5);
    /* (4, 6) -> (6, 4) -> (2, 3, 2, 2) -> (2, 2, 2, 3) without parts in common that three dimensions hold. */
    counts = run("float[N, 4, 6] x int64[4] four = {0, 2, 6, 2} a = Transpose <perm = [0, 2, 1]> (x) "
                 "b = Reshape(a, four) c = Transpose <perm = [0, 1, 3, 2]> (b) y = Mul(c, c)",
                 y);
    assert_int_equal(counts.turns, 2);
    for (int k = 0; k < 24; ++k) {
        const int from = k / 12 * 12 + k % 6 * 2 + k / 6 % 2; /* in (6, 4) */
        const int at = from % 4 * 6 + from / 4 + 1;           /* in x */
        assert_true(fabs(sqrt((double)y[k]) - 0.25 * at) < 1e-5);
    }
    /* Three become one: (2, 3, 4) -> (4, 2, 3) -> (2, 4, 3) -> (3, 4, 2). */
    counts = run("float[N, 2, 3, 4] x a = Transpose <perm = [0, 3, 1, 2]> (x) b = Transpose <perm = [0, 2, 1, 3]> (a) "
                 "c = Transpose <perm = [0, 3, 2, 1]> (b) y = Mul(c, c)",
                 y);
    assert_int_equal(counts.turns, 1);
    for (int k = 0; k < 24; ++k)
        assert_true(fabs(sqrt((double)y[k]) - x_at(k % 2, k / 8, k / 2 % 4)) < 1e-5);
}

/* Weights of tokens, whose dimension of channels is the last one. */
static void products_of_quantised_tokens_are_of_whole_numbers(void **state)
{
    (void)state;
    struct cnnvp_graph graph;
    float y[20];
    size_t products = 0;
    onnx_case_import_text(
        14,
        "float[N, 4, 6] x float s = {0.25} uint8 z = {0} int8[6, 5] w = {3, -2, 5, 7, 1} "
        "float[5] ws = {0.5, 0.25, 0.125, 0.5, 1} int8[5] wz = {0} float t = {1} uint8 tz = {100} "
        "xq = QuantizeLinear(x, s, z) xd = DequantizeLinear(xq, s, z) "
        "v = DequantizeLinear <axis = 1> (w, ws, wz) p = MatMul(xd, v) "
        "pq = QuantizeLinear(p, t, tz) y = DequantizeLinear(pq, t, tz)",
        &graph);
    for (size_t i = 0; i < graph.layer_count; ++i) {
        const struct cnnvp_graph_layer *layer = &graph.layers[i];
        products += layer->op == CNNVP_OP_CONV;
        assert_true(layer->op != CNNVP_OP_CONV || (cnnvp_graph_is_scaled(&graph, layer) && layer->steps.in > 0.0f));
    }
    assert_int_equal(products, 1);
    onnx_case_run(&graph, y);
    for (int k = 0; k < 20; ++k) {
        /* w holds 3, -2, 5, 7 and then 1 everywhere */
        static const double steps[5] = {0.5, 0.25, 0.125, 0.5, 1}, first[4] = {3, -2, 5, 7};
        double sum = 0;
        for (int i = 0; i < 6; ++i) {
            const int at = k / 5 * 6 + i + 1;
            sum += 0.25 * at * (i == 0 && k % 5 < 4 ? first[k % 5] : 1) * steps[k % 5];
        }
        assert_true(fabs((double)y[k] - nearbyint(sum)) < 1e-4);
    }
    cnnvp_graph_clear(&graph);
}

/* Attention: x times its own transpose. The product reads the whole numbers of 8 bits, and is scaled once. */
static void products_of_two_tensors_are_of_whole_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *zero;
        uint32_t whole; /* operands that are whole numbers */
    } cases[] = {{"int8 z = {0}", 2}, {"uint8 z = {3}", 0}};
    for (size_t n = 0; n < 2; ++n) {
        char network[500];
        struct cnnvp_graph graph;
        float y[16];
        uint32_t whole = 0;
        (void)snprintf(network, sizeof network,
                       "float[N, 4, 3] x float s = {0.25} %s float t = {0.5} int8 o = {0} "
                       "q = QuantizeLinear(x, s, z) a = DequantizeLinear(q, s, z) "
                       "qt = Transpose <perm = [0, 2, 1]> (q) b = DequantizeLinear(qt, s, z) p = MatMul(a, b) "
                       "r = QuantizeLinear(p, t, o) y = DequantizeLinear(r, t, o)",
                       cases[n].zero);
        onnx_case_import_text(14, network, &graph);
        for (size_t i = 0; i < graph.layer_count; ++i) {
            const struct cnnvp_graph_layer *layer = &graph.layers[i];
            if (layer->product == 0)
                continue;
            whole += graph.tensors[cnnvp_graph_base(&graph, layer->in)].whole;
            whole += graph.tensors[cnnvp_graph_base(&graph, layer->in2)].whole;
        }
        assert_int_equal(whole, cases[n].whole);
        onnx_case_run(&graph, y);
        for (int k = 0; k < 16; ++k) {
            double sum = 0;
            for (int i = 0; i < 3; ++i) {
                const int row = k / 4 * 3 + i + 1, column = k % 4 * 3 + i + 1;
                sum += 0.25 * row * 0.25 * column;
            }
            assert_true(fabs((double)y[k] - 0.5 * nearbyint(sum / 0.5)) < 1e-4);
        }
        cnnvp_graph_clear(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_between_works_on_words_as_they_were),
        cmocka_unit_test(means_and_factors_of_channels_need_no_turn),
        cmocka_unit_test(parts_and_pools_need_no_turn),
        cmocka_unit_test(masks_of_positions_need_no_turn),
        cmocka_unit_test(results_are_turned_instead_of_operands),
        cmocka_unit_test(a_shuffle_joins_with_the_turn_behind),
        cmocka_unit_test(turns_copy_quantised_words),
        cmocka_unit_test(steps_in_other_dimensions_need_no_turn),
        cmocka_unit_test(parts_of_as_many_words_are_turned_in_their_own_dimensions),
        cmocka_unit_test(channels_that_need_no_copy_are_turned_together),
        cmocka_unit_test(scales_that_others_need_stay),
        cmocka_unit_test(equal_steps_need_no_layer),
        cmocka_unit_test(two_turns_become_one),
        cmocka_unit_test(products_of_quantised_tokens_are_of_whole_numbers),
        cmocka_unit_test(products_of_two_tensors_are_of_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
