/* SPDX-License-Identifier: Apache-2.0 */
/* Which words have 8 bits, layer by layer of a quantised network. */
#include "test.h"

#include "numbers.h"

enum { X, CONVOLVED, POOLED, MOVED, Y, TENSORS };

static struct cnnvp_graph graph;
static const struct cnnvp_words_options words = {.narrow = 1, .scales = 1, .zeros = 1};

static struct cnnvp_graph_layer *add(enum cnnvp_layer_op op, int32_t in, float limit)
{
    struct cnnvp_graph_layer *layer = cnnvp_graph_layer_add(&graph, op, "layer", "Layer");
    assert_non_null(layer);
    layer->in = in;
    layer->out = in + 1;
    if (limit > 0) {
        layer->posts[0] = (struct cnnvp_graph_post){.kind = CNNVP_GRAPH_MAX, .value = -limit};
        layer->posts[1] = (struct cnnvp_graph_post){.kind = CNNVP_GRAPH_MIN, .value = limit};
        layer->post_count = 2;
    }
    return layer;
}

static void begin(void)
{
    graph = (struct cnnvp_graph){.file = "test.onnx", .weightless = 1};
    for (int i = 0; i < TENSORS; ++i) {
        const int32_t tensor = cnnvp_graph_tensor_add(&graph, "tensor", 4, 2, 4, 4);
        assert_int_equal(tensor, i);
        graph.tensors[tensor].whole = 1;
    }
}

/* Two convolutions, limited to these numbers, and a maximum pool and a copy, without limits, between them. */
static void choose(float first, float second)
{
    begin();
    (void)add(CNNVP_OP_CONV, X, first);
    add(CNNVP_OP_POOL, CONVOLVED, 0)->pool = CNNVP_POOL_MAX;
    (void)add(CNNVP_OP_ACTIVATION, POOLED, 0);
    (void)add(CNNVP_OP_CONV, MOVED, second);
    cnnvp_words_choose(&graph, &words);
}

static void assert_narrow(uint32_t convolved, uint32_t pooled, uint32_t moved, uint32_t y)
{
    assert_int_equal(graph.tensors[CONVOLVED].narrow, convolved);
    assert_int_equal(graph.tensors[POOLED].narrow, pooled);
    assert_int_equal(graph.tensors[MOVED].narrow, moved);
    assert_int_equal(graph.tensors[Y].narrow, y);
    cnnvp_graph_clear(&graph);
}

static void pools_and_copies_keep_8_bits(void **state)
{
    (void)state;
    choose(127, 127);
    assert_narrow(1, 1, 1, 1);
    choose(127, 200);
    assert_narrow(1, 1, 1, 0);
    choose(200, 127);
    assert_narrow(0, 0, 0, 1);
}

/* A limit behind a pool says nothing of what it reads. */
static void what_is_moved_has_words_of_one_size(void **state)
{
    (void)state;
    begin();
    (void)add(CNNVP_OP_CONV, X, 200);
    add(CNNVP_OP_POOL, CONVOLVED, 127)->pool = CNNVP_POOL_MAX;
    (void)add(CNNVP_OP_ACTIVATION, POOLED, 0);
    (void)add(CNNVP_OP_CONV, MOVED, 127);
    cnnvp_words_choose(&graph, &words);
    assert_narrow(0, 0, 0, 1);
}

/* Two convolutions write parts of the copy's result: that which needs more decides, whichever is the first. */
static void the_widest_part_decides(void **state)
{
    (void)state;
    for (int swapped = 0; swapped < 2; ++swapped) {
        begin();
        graph.tensors[CONVOLVED].base = graph.tensors[POOLED].base = Y;
        (void)add(CNNVP_OP_CONV, X, swapped ? 200 : 127);
        struct cnnvp_graph_layer *second = add(CNNVP_OP_CONV, X, swapped ? 127 : 200);
        second->out = POOLED;
        cnnvp_words_choose(&graph, &words);
        assert_int_equal(graph.tensors[Y].narrow, 0);
        second->posts[1].value = graph.layers[0].posts[1].value = 127;
        second->posts[0].value = graph.layers[0].posts[0].value = -128;
        cnnvp_words_choose(&graph, &words);
        assert_int_equal(graph.tensors[Y].narrow, 1);
        cnnvp_graph_clear(&graph);
    }
}

/* Unsigned numbers less 128: 0 .. 255 have room in words with the zero point -128, which all of what is moved has; an
 * output is given as it is, and a pool of averages takes no zero point. */
static void numbers_with_zero_points_have_8_bits(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; ++kind) {
        begin();
        (void)add(CNNVP_OP_NORM, X, 200);
        add(CNNVP_OP_POOL, CONVOLVED, 0)->pool = kind == 3 ? CNNVP_POOL_AVERAGE : CNNVP_POOL_MAX;
        (void)add(CNNVP_OP_ACTIVATION, POOLED, 0);
        (void)add(CNNVP_OP_NORM, MOVED, 127);
        graph.tensors[X].whole = graph.tensors[Y].whole = 0;
        graph.layers[0].posts[0].value = 0;
        graph.layers[0].posts[1].value = 255;
        for (int32_t i = CONVOLVED; i <= MOVED; ++i)
            graph.tensors[i].word_zero = kind == 1 && i == MOVED ? 0 : -128;
        struct cnnvp_graph_output output = {"output", POOLED};
        graph.outputs = &output;
        graph.output_count = kind == 2;
        cnnvp_words_choose(&graph, &words);
        assert_int_equal(graph.tensors[CONVOLVED].word_zero, kind == 0 ? -128 : 0);
        assert_int_equal(graph.tensors[MOVED].word_zero, kind == 0 ? -128 : 0);
        assert_narrow(kind == 0, kind == 0, kind == 0, 0);
    }
}

static void begin_floats(void)
{
    begin();
    for (int i = 0; i < TENSORS; ++i)
        graph.tensors[i].whole = 0;
}

/* x and y = x + f, which a normalisation and the next sum read: 16 bits, but not of an x that a convolution reads, too,
 * or a copy of it. A sum that no normalisation reads has 8. */
static void long_sums_keep_16_bits(void **state)
{
    (void)state;
    enum { NONE, READ, COPIED, SHORT, CASES };
    for (int kind = 0; kind < CASES; ++kind) {
        begin_floats();
        if (kind == COPIED)
            add(CNNVP_OP_ACTIVATION, X, 0)->out = POOLED;
        else if (kind == READ)
            add(CNNVP_OP_CONV, X, 0)->out = POOLED;
        struct cnnvp_graph_layer *sum = add(CNNVP_OP_ADD, X, 0);
        sum->in2 = MOVED;
        sum->out = Y;
        struct cnnvp_graph_layer *norm = add(CNNVP_OP_NORM, Y, 0);
        norm->norm = kind == SHORT ? CNNVP_NORM_STORED : CNNVP_NORM_DATA;
        norm->out = CONVOLVED;
        if (kind == COPIED)
            (void)add(CNNVP_OP_CONV, POOLED, 0);
        else
            (void)add(CNNVP_OP_CONV, CONVOLVED, 0);
        cnnvp_words_choose(&graph, &words);
        assert_int_equal(graph.tensors[X].narrow, kind != NONE);
        assert_int_equal(graph.tensors[MOVED].narrow, kind == SHORT);
        assert_int_equal(graph.tensors[Y].narrow, kind == SHORT);
        cnnvp_graph_clear(&graph);
    }
}

/* After the last product: maps that are only moved have 8 bits, what is calculated and one number a channel 16. */
static void the_last_results_keep_16_bits(void **state)
{
    (void)state;
    enum { MOVES, CALCULATES, NUMBERS, READ, CASES };
    for (int kind = 0; kind < CASES; ++kind) {
        begin_floats();
        for (int32_t i = CONVOLVED; kind == NUMBERS && i <= MOVED; ++i)
            graph.tensors[i].height = graph.tensors[i].width = 1;
        (void)add(CNNVP_OP_CONV, X, 0);
        (void)add(CNNVP_OP_ACTIVATION, CONVOLVED, 0);
        if (kind == MOVES || kind == NUMBERS)
            (void)add(CNNVP_OP_ACTIVATION, POOLED, 0);
        else
            (void)add(CNNVP_OP_NORM, POOLED, 0);
        if (kind == READ)
            (void)add(CNNVP_OP_CONV, MOVED, 0);
        cnnvp_words_choose(&graph, &words);
        assert_int_equal(graph.tensors[X].narrow, 1);
        assert_narrow(kind == MOVES || kind == READ, kind == MOVES || kind == READ, kind == MOVES || kind == READ, 1);
    }
}

/* Floats between a quantised file's numbers, of which all products are. */
static void what_it_calculates_between_keeps_16_bits(void **state)
{
    (void)state;
    for (uint32_t whole = 0; whole <= 1; ++whole) {
        begin_floats();
        graph.tensors[X].whole = 1;
        graph.tensors[MOVED].whole = graph.tensors[Y].whole = whole;
        (void)add(CNNVP_OP_NORM, X, 0);
        (void)add(CNNVP_OP_NORM, CONVOLVED, 0);
        (void)add(CNNVP_OP_NORM, POOLED, 0);
        (void)add(CNNVP_OP_CONV, MOVED, 127);
        assert_int_equal(cnnvp_words_are_quantised(&graph), whole);
        cnnvp_words_choose(&graph, &words);
        assert_narrow(0, whole == 0, whole == 0, 1);
    }
}

/* So are the scores between two products of tensors, which are no products of weights. */
static void what_attention_calculates_keeps_16_bits(void **state)
{
    (void)state;
    begin_floats();
    graph.tensors[X].whole = graph.tensors[Y].whole = 1;
    for (int32_t in = X; in <= POOLED; in += POOLED - X) {
        struct cnnvp_graph_layer *product = add(CNNVP_OP_CONV, in, 0);
        product->product = 1;
        product->in2 = in;
    }
    (void)add(CNNVP_OP_NORM, CONVOLVED, 0);
    (void)add(CNNVP_OP_CONV, X, 127);
    graph.layers[3].out = Y;
    assert_int_equal(cnnvp_words_are_quantised(&graph), 1);
    cnnvp_words_choose(&graph, &words);
    assert_int_equal(graph.tensors[CONVOLVED].narrow, 0);
    cnnvp_graph_clear(&graph);
}

/* Three scaled convolutions, the first two with ReLU, and a maximum pool after the first one. Maps that are never
 * negative have the zero point -128: not without ReLU, nor if an unscaled layer makes or reads them, the host sees them
 * or something is added to them. */
static void maps_without_negative_numbers_have_zero_points(void **state)
{
    (void)state;
    enum { ALL, SIGNED, UNSCALED, SEEN, ADDED, CASES };
    for (int kind = 0; kind < CASES; ++kind) {
        struct cnnvp_graph_output output = {"output", kind == SEEN ? CONVOLVED : Y};
        begin_floats();
        (void)add(CNNVP_OP_CONV, X, 100);
        add(CNNVP_OP_POOL, CONVOLVED, 0)->pool = CNNVP_POOL_MAX;
        (void)add(CNNVP_OP_CONV, POOLED, 100);
        add(kind == ADDED ? CNNVP_OP_ADD : CNNVP_OP_CONV, MOVED, 0)->in2 = kind == ADDED ? X : CNNVP_GRAPH_NONE;
        graph.layers[0].posts[0].value = kind == SIGNED ? -1 : 0;
        graph.layers[2].posts[0].value = 0;
        graph.outputs = &output;
        graph.output_count = 1;
        cnnvp_words_choose(&graph, &words);
        for (size_t i = 0; i < graph.layer_count; ++i)
            graph.layers[i].scaled = kind != UNSCALED || i != 2;
        cnnvp_words_shift(&graph);
        const int first = kind == ALL || kind == ADDED, second = kind != UNSCALED && kind != ADDED;
        assert_int_equal(graph.tensors[X].word_zero, 0);
        assert_int_equal(graph.tensors[CONVOLVED].word_zero, first ? -128 : 0);
        assert_int_equal(graph.tensors[POOLED].word_zero, first ? -128 : 0);
        assert_int_equal(graph.tensors[MOVED].word_zero, second ? -128 : 0);
        assert_int_equal(graph.tensors[Y].word_zero, 0);
        graph.outputs = NULL;
        graph.output_count = 0;
        assert_narrow(1, 1, kind != ADDED, graph.tensors[Y].narrow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_and_copies_keep_8_bits),
        cmocka_unit_test(what_is_moved_has_words_of_one_size),
        cmocka_unit_test(the_widest_part_decides),
        cmocka_unit_test(numbers_with_zero_points_have_8_bits),
        cmocka_unit_test(what_it_calculates_between_keeps_16_bits),
        cmocka_unit_test(what_attention_calculates_keeps_16_bits),
        cmocka_unit_test(long_sums_keep_16_bits),
        cmocka_unit_test(the_last_results_keep_16_bits),
        cmocka_unit_test(maps_without_negative_numbers_have_zero_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
