/* SPDX-License-Identifier: Apache-2.0 */
/* The float model on graphs of one layer, against results worked out by hand. */
#include <math.h>

#include "test.h"

#include "numbers.h"

static struct cnnvp_graph graph;
static struct cnnvp_error problem;

/* One layer from the input to the output, of maps of these sizes. */
static struct cnnvp_graph_layer *layer_of(enum cnnvp_layer_op op, const uint32_t *in, const uint32_t *out)
{
    graph = (struct cnnvp_graph){.file = "test.onnx"};
    (void)cnnvp_graph_tensor_add(&graph, "x", 4, in[0], in[1], in[2]);
    (void)cnnvp_graph_tensor_add(&graph, "y", 4, out[0], out[1], out[2]);
    struct cnnvp_graph_layer *layer = cnnvp_graph_layer_add(&graph, op, "layer", "Node");
    assert_non_null(layer);
    layer->in = 0;
    layer->out = 1;
    return layer;
}

static void gives(const float *inputs, size_t images, const float *expected)
{
    struct cnnvp_floatref run;
    const size_t words = cnnvp_graph_words(&graph.tensors[1]);
    assert_int_equal(cnnvp_floatref_new_batch(&graph, images, &run, &problem), CNNVP_DONE);
    cnnvp_floatref_images(&run, images, inputs);
    for (size_t i = 0; i < images * words; ++i) {
        cnnvp_floatref_use(&run, i / words);
        const float y = run.data[1][i % words];
        if (!(fabsf(y - expected[i]) <= 1e-6f * fabsf(expected[i])))
            fail_msg("word %zu is %g, not %g", i, (double)y, (double)expected[i]);
    }
    cnnvp_floatref_clear(&run);
    cnnvp_graph_clear(&graph);
}

/* 3x3 windows around each position of a map of 2x2: all have the same four taps, what lies beside them counts or not.
 */
static void pools_count_the_taps_that_they_are_to(void **state)
{
    static const uint32_t size[3] = {1, 2, 2};
    static const float x[4] = {-1, -2, -3, -6};
    (void)state;
    for (int kind = 0; kind < 3; ++kind) {
        const float mean = kind == 1 ? -12.0f / 9 : -3, value = kind == 0 ? -1 : mean;
        const float y[4] = {value, value, value, value};
        struct cnnvp_graph_layer *layer = layer_of(CNNVP_OP_POOL, size, size);
        layer->pool = kind == 0 ? CNNVP_POOL_MAX : CNNVP_POOL_AVERAGE;
        layer->kx = layer->ky = 3;
        layer->pad_top = layer->pad_left = 1;
        layer->by_position = kind == 2;
        layer->count_bottom = layer->count_right = 2;
        gives(x, 1, y);
    }
}

/* The second operand is a row of one channel, 2 and 1. What is divided by 0 is 0. */
static void operands_are_spread(void **state)
{
    static const uint32_t size[3] = {2, 1, 2};
    static const float x[4] = {1, 2, 3, 4};
    static const struct {
        enum cnnvp_layer_arithmetic arithmetic;
        float y[4];
    } cases[] = {{CNNVP_ARITHMETIC_ADD, {3, 3, 5, 5}}, {CNNVP_ARITHMETIC_SUB, {-1, 1, 1, 3}},
                 {CNNVP_ARITHMETIC_MUL, {2, 2, 6, 4}}, {CNNVP_ARITHMETIC_DIV, {0.5f, 2, 1.5f, 4}},
                 {CNNVP_ARITHMETIC_MAX, {2, 2, 3, 4}}, {CNNVP_ARITHMETIC_MIN, {1, 1, 2, 1}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct cnnvp_graph_layer *layer = layer_of(CNNVP_OP_ADD, size, size);
        layer->arithmetic = cases[i].arithmetic;
        layer->in2 = cnnvp_graph_tensor_add(&graph, "b", 4, 1, 1, 2);
        struct cnnvp_floatref run;
        assert_int_equal(cnnvp_floatref_new_batch(&graph, 1, &run, &problem), CNNVP_DONE);
        run.data[2][0] = 2;
        run.data[2][1] = 1;
        cnnvp_floatref_images(&run, 1, x);
        assert_memory_equal(run.data[1], cases[i].y, sizeof cases[i].y);
        run.data[2][0] = 0;
        cnnvp_floatref_images(&run, 1, x);
        if (cases[i].arithmetic == CNNVP_ARITHMETIC_DIV)
            assert_true(run.data[1][0] == 0 && run.data[1][2] == 0);
        cnnvp_floatref_clear(&run);
        cnnvp_graph_clear(&graph);
    }
}

static void dimensions_change_places(void **state)
{
    static const uint32_t in[3] = {2, 1, 3}, out[3] = {3, 2, 1};
    static const float x[6] = {0, 1, 2, 10, 11, 12}, y[6] = {0, 10, 1, 11, 2, 12};
    (void)state;
    struct cnnvp_graph_layer *layer = layer_of(CNNVP_OP_ACTIVATION, in, out);
    layer->permuted = 1;
    layer->from[0] = 2;
    layer->from[1] = 0;
    layer->from[2] = 1;
    gives(x, 1, y);
}

/* The first word is ln 1, the others are ln 3. */
static void softmax_sums_along_its_axis(void **state)
{
    static const uint32_t size[3] = {2, 2, 2};
    const float a = 0, b = logf(3), x[8] = {a, b, b, b, b, b, b, b};
    static const struct {
        enum cnnvp_layer_axis axis;
        float y[8];
    } cases[] = {{CNNVP_AXIS_LAST, {0.25f, 0.75f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f}},
                 {CNNVP_AXIS_ROWS, {0.25f, 0.5f, 0.75f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f}},
                 {CNNVP_AXIS_CHANNELS, {0.25f, 0.5f, 0.5f, 0.5f, 0.75f, 0.5f, 0.5f, 0.5f}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        layer_of(CNNVP_OP_SOFTMAX, size, size)->axis = cases[i].axis;
        gives(x, 1, cases[i].y);
    }
}

/* Of each image, or of both: mean 4 and 8 and deviation 2, or mean 6 and variance 4 + 4. */
static void statistics_are_of_an_image_or_of_all(void **state)
{
    static const uint32_t size[3] = {1, 1, 2};
    static const float x[4] = {2, 6, 6, 10}, of_each[4] = {9, 11, 9, 11};
    const float part = 1 / sqrtf(8), of_all[4] = {10 - 4 * part, 10, 10, 10 + 4 * part};
    float gamma = 1, beta = 10;
    (void)state;
    for (int all = 0; all < 2; ++all) {
        struct cnnvp_graph_layer *layer = layer_of(CNNVP_OP_NORM, size, size);
        layer->norm = all ? CNNVP_NORM_BATCH : CNNVP_NORM_DATA;
        layer->weights = &gamma;
        layer->bias = &beta;
        gives(x, 2, all ? of_all : of_each);
    }
}

/* 3x3 ones on ones: of a map of 4x4, and of four blocks of 2x2, unless the whole is asked for. */
static void blocks_are_padded_by_themselves(void **state)
{
    static const uint32_t size[3] = {1, 4, 4};
    static const float whole[16] = {4, 6, 6, 4, 6, 9, 9, 6, 6, 9, 9, 6, 4, 6, 6, 4};
    float ones[16];
    (void)state;
    for (size_t i = 0; i < 16; ++i)
        ones[i] = 1;
    struct cnnvp_graph_layer *layer = layer_of(CNNVP_OP_CONV, size, size);
    layer->weights = ones;
    layer->kx = layer->ky = 3;
    layer->pad_top = layer->pad_left = 1;
    layer->block_height = layer->block_width = 2;
    struct cnnvp_floatref run;
    assert_int_equal(cnnvp_floatref_new_batch(&graph, 1, &run, &problem), CNNVP_DONE);
    cnnvp_floatref_images(&run, 1, ones);
    for (size_t i = 0; i < 16; ++i)
        assert_true(run.data[1][i] == 4);
    run.ordinary = 1;
    cnnvp_floatref_images(&run, 1, ones);
    assert_memory_equal(run.data[1], whole, sizeof whole);
    cnnvp_floatref_clear(&run);
    cnnvp_graph_clear(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_count_the_taps_that_they_are_to),
        cmocka_unit_test(operands_are_spread),
        cmocka_unit_test(dimensions_change_places),
        cmocka_unit_test(softmax_sums_along_its_axis),
        cmocka_unit_test(blocks_are_padded_by_themselves),
        cmocka_unit_test(statistics_are_of_an_image_or_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
