/* SPDX-License-Identifier: Apache-2.0 */
/* Number formats, and the integer reference's own arithmetic against the definition in cnnvp_command.h. */
#include <math.h>

#include "test.h"

#include "cnnvp_command.h"
#include "numbers.h"
#include "reference/reference.h"
#include "onnx_builder.h"

static void words_are_the_nearest(void **state)
{
    (void)state;
    assert_int_equal(cnnvp_quantise(0.5f, 0), 0);
    assert_int_equal(cnnvp_quantise(1.5f, 0), 2);
    assert_int_equal(cnnvp_quantise(2.5f, 0), 2);
    assert_int_equal(cnnvp_quantise(-0.5f, 0), 0);
    assert_int_equal(cnnvp_quantise(-1.5f, 0), -2);
    assert_int_equal(cnnvp_quantise(-2.5f, 0), -2);
    assert_int_equal(cnnvp_quantise(-2.6f, 0), -3);
    assert_int_equal(cnnvp_quantise(1.0f, 14), 16384);
    assert_int_equal(cnnvp_quantise(40000.0f, 0), 32767);
    assert_int_equal(cnnvp_quantise(-40000.0f, 0), -32768);
    assert_int_equal(cnnvp_quantise(INFINITY, 4), 32767);
    assert_int_equal(cnnvp_quantise(-INFINITY, 4), -32768);
    assert_int_equal(cnnvp_quantise(NAN, 4), 0);
    assert_int_equal(cnnvp_quantise(65536.0f * 3, -16), 3);
    struct builder random;
    builder_init(&random, 13);
    for (unsigned i = 0; i < 100000; ++i) {
        const float value = (float)((double)(int64_t)builder_next(&random) / 1e15);
        const int32_t frac = (int32_t)(builder_next(&random) % 12) - 4;
        const double scaled = ldexp((double)value, frac);
        const double nearest = fmin(32767, fmax(-32768, nearbyint(scaled)));
        assert_int_equal(cnnvp_quantise(value, frac), (int16_t)nearest);
    }
    for (int32_t word = -32768; word < 32768; ++word)
        assert_int_equal(cnnvp_quantise(cnnvp_dequantise((int16_t)word, 9), 9), word);
    builder_free(&random);
}

static void fractions_are_the_most_that_fit(void **state)
{
    (void)state;
    assert_int_equal(cnnvp_frac_for(1.0f, 1.0, 2u), 14);
    assert_int_equal(cnnvp_frac_for(0.999f, 1.0, 2u), 15);
    assert_int_equal(cnnvp_frac_for(0.999f, 1.125, 2u), 14);
    assert_int_equal(cnnvp_frac_for(32767.0f, 1.0, 2u), 0);
    assert_int_equal(cnnvp_frac_for(32768.0f, 1.0, 2u), -1);
    assert_int_equal(cnnvp_frac_for(1e-30f, 1.0, 2u), CNNVP_FRAC_MAX);
    assert_int_equal(cnnvp_frac_for(3e38f, 1.0, 2u), CNNVP_FRAC_MIN);
}

/* The reference's rounding, bit by bit, against the definition that the models share. */
static void reference_rounds_as_defined(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 13);
    for (unsigned i = 0; i < 200000; ++i) {
        const int shift = (int)(builder_next(&random) % 112) - 48;
        const int64_t sum = (int64_t)builder_next(&random) >> (builder_next(&random) % 64);
        const uint32_t rounding = (uint32_t)(builder_next(&random) % 2);
        uint64_t saturated = 0;
        if (shift < 0 && (sum > INT64_MAX >> 48 || sum < INT64_MIN >> 48))
            continue;
        assert_int_equal(cnnvp_reference_round(sum, shift, rounding, 0),
                         cnnvp_round_fx16(sum, shift, rounding, 0, &saturated));
        const uint32_t bits = 1 + (uint32_t)(builder_next(&random) % 64);
        assert_int_equal(cnnvp_reference_wrap(sum, bits), cnnvp_wrap(sum, bits));
    }
    assert_int_equal(cnnvp_reference_divide(7, 2, 0, 1, 0), 4);
    assert_int_equal(cnnvp_reference_divide(5, 2, 0, 1, 0), 2);
    assert_int_equal(cnnvp_reference_divide(-5, 2, 0, 0, 0), -2);
    assert_int_equal(cnnvp_reference_divide(-7, 2, 0, 1, 0), -4);
    assert_int_equal(cnnvp_reference_divide(1, 3, -4, 1, 0), 5);
    assert_int_equal(cnnvp_reference_divide(100, 3, 2, 1, 0), 8);
    assert_int_equal(cnnvp_reference_divide(-100, 0, 2, 1, 0), -32768);
    builder_free(&random);
}

static void softmax_sums_to_one(void **state)
{
    (void)state;
    struct builder random;
    builder_init(&random, 13);
    for (unsigned round = 0; round < 200; ++round) {
        struct cnnvp_reference_softmax of;
        int64_t x[16];
        int16_t y[16];
        double sum = 0.0;
        double exact = 0.0;
        for (size_t i = 0; i < 16; ++i) {
            x[i] = (int16_t)((int64_t)builder_next(&random) >> 50);
            exact += exp(ldexp((double)x[i], -11));
        }
        cnnvp_reference_softmax_begin(&of, x, 16, 11);
        for (size_t i = 0; i < 16; ++i) {
            y[i] = cnnvp_reference_softmax_word(&of, x[i], 16, 0);
            sum += ldexp(y[i], -15);
            assert_true(fabs(ldexp(y[i], -15) - exp(ldexp((double)x[i], -11)) / exact) < 1e-4);
        }
        assert_true(fabs(sum - 1.0) < 16 * ldexp(0.5, -15) + 1e-9);
    }
    builder_free(&random);
}

/* Of 8 bits as many more as the largest share leaves room for, up to 15; of 16 all but the sign. */
static void shares_have_the_bits_that_fit(void **state)
{
    (void)state;
    struct cnnvp_graph graph = {.file = "test", .weightless = 1};
    for (int i = 0; i < 2; ++i)
        assert_int_equal(cnnvp_graph_tensor_add(&graph, "t", 4, 1, 4, 4), i);
    struct cnnvp_graph_layer *softmax = cnnvp_graph_layer_add(&graph, CNNVP_OP_SOFTMAX, "softmax", "Softmax");
    softmax->in = 0;
    softmax->out = 1;
    const struct {
        float largest;
        uint32_t narrow;
        int32_t frac, shift;
    } cases[] = {
        {1.0f, 1, 7, 0}, {0.0f, 1, 7, 0}, {0.2f, 1, 9, -2}, {1.0f / 257, 1, 14, -7}, {1.0f / 65536, 1, 22, -15},
        {0.2f, 0, 15, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        int32_t shift, bias_shift;
        graph.tensors[1].narrow = cases[i].narrow;
        graph.tensors[0].max_abs = 1.0f;
        graph.tensors[1].max_abs = cases[i].largest;
        cnnvp_formats_choose(&graph, 32);
        cnnvp_formats_shifts(&graph, softmax, &shift, &bias_shift);
        assert_int_equal(graph.tensors[1].frac, cases[i].frac);
        assert_int_equal(shift, cases[i].shift);
    }
    cnnvp_graph_clear(&graph);
}

/* x -> conv -> pool, add(x, pool): ties, and an addition whose operands have formats of their own. */
static void ties_hold(void **state)
{
    (void)state;
    struct cnnvp_graph graph = {.file = "test"};
    float weights[1] = {0.25f};
    float bias[1] = {100.0f};
    for (int i = 0; i < 5; ++i)
        assert_int_equal(cnnvp_graph_tensor_add(&graph, "t", 4, 1, 4, 4), i);
    struct cnnvp_graph_layer *conv = cnnvp_graph_layer_add(&graph, CNNVP_OP_CONV, "conv", "Conv");
    conv->in = 0;
    conv->out = 1;
    conv->weights = weights;
    conv->bias = bias;
    conv->has_bias = 1;
    conv->pre_max_abs = 3.0f;
    struct cnnvp_graph_layer *pool = cnnvp_graph_layer_add(&graph, CNNVP_OP_POOL, "pool", "MaxPool");
    pool->in = 1;
    pool->out = 2;
    pool->pre_max_abs = 0.1f;
    struct cnnvp_graph_layer *add = cnnvp_graph_layer_add(&graph, CNNVP_OP_ADD, "add", "Add");
    add->in = 0;
    add->in2 = 2;
    add->out = 3;
    add->pre_max_abs = 1000.0f; /* which its limits cut off */
    add->posts[add->post_count++] = (struct cnnvp_graph_post){CNNVP_GRAPH_MIN, 60.0f};
    graph.tensors[0].max_abs = 50.0f;
    graph.tensors[1].max_abs = 3.0f;
    graph.tensors[2].max_abs = 0.1f;
    graph.tensors[3].max_abs = 60.0f;
    cnnvp_formats_choose(&graph, 48);
    assert_int_equal(graph.tensors[0].frac, 9);  /* 56.25 < 64 */
    assert_int_equal(graph.tensors[2].frac, 18); /* 0.1125 < 0.125 */
    assert_int_equal(graph.tensors[1].frac, 18); /* the pool's input as its output */
    assert_int_equal(graph.tensors[3].frac, 8);  /* 67.5 > 64 */
    assert_int_equal(graph.layers[0].weight_frac, 16);
    int32_t shift;
    int32_t bias_shift;
    cnnvp_formats_shifts(&graph, &graph.layers[0], &shift, &bias_shift);
    assert_int_equal(shift, 9 + 16 - 18);
    assert_int_equal(bias_shift, 17); /* 100 * 2^25 has 32 bits; 100 * 2^8 fits */
    cnnvp_formats_shifts(&graph, &graph.layers[2], &shift, &bias_shift);
    assert_int_equal(shift, 18 - 8);
    assert_int_equal(bias_shift, 9 - 18); /* the first operand is shifted by 9 */
    /* The operands the other way round. */
    graph.layers[2].in = 2;
    graph.layers[2].in2 = 0;
    cnnvp_formats_choose(&graph, 48);
    cnnvp_formats_shifts(&graph, &graph.layers[2], &shift, &bias_shift);
    assert_int_equal(graph.tensors[0].frac, 9);
    assert_int_equal(shift, 18 - 8);
    assert_int_equal(bias_shift, 9);
    /* A narrow accumulator: the largest sum, 3 * 1.125, fits 24 bits. */
    cnnvp_formats_choose(&graph, 24);
    assert_int_equal(graph.tensors[0].frac + graph.layers[0].weight_frac, 21);
    cnnvp_graph_clear(&graph);
}

/* add(x, conv(x)): up to 3 bits more than the sum has would be rounded twice, so the convolution's result does not have
 * them, unless another layer reads it, too, or the other operand is finer than the sum itself. */
static void summands_are_rounded_once(void **state)
{
    (void)state;
    static const struct {
        float x, conv, sum;
        int copied, read_twice;
        int32_t frac; /* of the convolution's result */
    } cases[] = {{50.0f, 20.0f, 50.0f, 0, 0, 9},  {50.0f, 20.0f, 50.0f, 1, 0, 9},   {50.0f, 20.0f, 50.0f, 0, 1, 10},
                 {50.0f, 20.0f, 50.0f, 1, 1, 10}, {50.0f, 20.0f, 100.0f, 0, 0, 10}, {50.0f, 7.0f, 50.0f, 0, 0, 9},
                 {50.0f, 3.0f, 50.0f, 0, 0, 13},  {50.0f, 100.0f, 50.0f, 0, 0, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        for (int swapped = 0; swapped < 2; ++swapped) {
            struct cnnvp_graph graph = {.file = "test"};
            float weights[1] = {0.25f};
            for (int t = 0; t < 5; ++t)
                assert_int_equal(cnnvp_graph_tensor_add(&graph, "t", 4, 1, 4, 4), t);
            struct cnnvp_graph_layer *layer = cnnvp_graph_layer_add(&graph, CNNVP_OP_CONV, "conv", "Conv");
            layer->in = 0;
            layer->out = 1;
            layer->weights = weights;
            layer = cnnvp_graph_layer_add(&graph, CNNVP_OP_ACTIVATION, "copy", "Identity");
            layer->in = cases[i].copied ? 1 : 0;
            layer->out = 2;
            layer = cnnvp_graph_layer_add(&graph, CNNVP_OP_ADD, "add", "Add");
            const int32_t summand = cases[i].copied ? 2 : 1;
            layer->in = swapped ? summand : 0;
            layer->in2 = swapped ? 0 : summand;
            layer->out = 3;
            layer = cnnvp_graph_layer_add(&graph, CNNVP_OP_NORM, "norm", "BatchNormalization");
            layer->in = cases[i].read_twice ? 1 : 0;
            layer->out = 4;
            layer->weights = weights;
            layer->bias = weights;
            graph.tensors[0].max_abs = cases[i].x;
            graph.tensors[1].max_abs = cases[i].conv;
            graph.tensors[2].max_abs = cases[i].copied ? cases[i].conv : cases[i].x;
            graph.tensors[3].max_abs = cases[i].sum;
            graph.tensors[4].max_abs = 1.0f;
            cnnvp_formats_choose(&graph, 48);
            assert_int_equal(graph.tensors[1].frac, cases[i].frac);
            assert_int_equal(graph.tensors[0].frac, 9);
            cnnvp_graph_clear(&graph);
        }
}

/* 8-bit words with the zero point -128 hold 0 .. 255 steps; of the largest value 85 % have to fit. */
static void words_with_a_zero_point_hold_twice_as_much(void **state)
{
    (void)state;
    static const struct {
        float largest;
        int32_t zero, frac;
    } cases[] = {{149.0f, 0, 0}, {150.0f, 0, -1}, {299.0f, -128, 0}, {301.0f, -128, -1}, {74.5f, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct cnnvp_graph graph = {.file = "test"};
        assert_int_equal(cnnvp_graph_tensor_add(&graph, "x", 4, 1, 4, 4), 0);
        graph.tensors[0].narrow = graph.tensors[0].fractions = 1;
        graph.tensors[0].word_zero = cases[i].zero;
        graph.tensors[0].max_abs = cases[i].largest;
        cnnvp_formats_choose(&graph, 48);
        assert_int_equal(graph.tensors[0].frac, cases[i].frac);
        cnnvp_graph_clear(&graph);
    }
}

/* conv(x) where x has 47 fraction bits, x times itself, x divided by a larger one: shifts stay what units take,
 * and sums of a narrow accumulator do not wrap. */
static void shifts_stay_in_range(void **state)
{
    (void)state;
    struct cnnvp_graph graph = {.file = "test"};
    float weights[1] = {0.25f};
    float bias[1] = {1.0f};
    for (int i = 0; i < 3; ++i)
        assert_int_equal(cnnvp_graph_tensor_add(&graph, "t", 4, 1, 4, 4), i);
    struct cnnvp_graph_layer *conv = cnnvp_graph_layer_add(&graph, CNNVP_OP_CONV, "conv", "Conv");
    conv->in = 0;
    conv->out = 1;
    conv->weights = weights;
    conv->bias = bias;
    conv->has_bias = 1;
    conv->pre_max_abs = 1.0f;
    struct cnnvp_graph_layer *product = cnnvp_graph_layer_add(&graph, CNNVP_OP_ADD, "product", "Mul");
    product->arithmetic = CNNVP_ARITHMETIC_MUL;
    product->in = product->in2 = 0;
    product->out = 2;
    product->pre_max_abs = 1e9f;
    graph.tensors[0].max_abs = 1e-16f;
    graph.tensors[1].max_abs = 1.0f;
    graph.tensors[2].max_abs = 1e9f;
    cnnvp_formats_choose(&graph, 16);
    assert_int_equal(graph.tensors[0].frac, CNNVP_FRAC_MAX);
    assert_int_equal(graph.tensors[0].frac + graph.layers[0].weight_frac, 14); /* 1.125 * 2^14 < 2^15 */
    int32_t shift;
    int32_t bias_shift;
    cnnvp_formats_shifts(&graph, &graph.layers[0], &shift, &bias_shift);
    assert_int_equal(shift, 0);
    assert_int_equal(bias_shift, 0);
    assert_int_equal(graph.tensors[2].frac, CNNVP_FRAC_MIN);
    cnnvp_formats_shifts(&graph, &graph.layers[1], &shift, &bias_shift);
    assert_int_equal(shift, 63); /* of 2 * 60 + 16 */
    product->arithmetic = CNNVP_ARITHMETIC_DIV;
    graph.tensors[0].frac = CNNVP_FRAC_MIN;
    graph.tensors[2].frac = 47;
    product->pre_frac = 47;
    cnnvp_formats_shifts(&graph, &graph.layers[1], &shift, &bias_shift);
    assert_int_equal(shift, -47);
    graph.tensors[1].frac = CNNVP_FRAC_MAX;
    product->in2 = 1;
    cnnvp_formats_shifts(&graph, &graph.layers[1], &shift, &bias_shift);
    assert_int_equal(shift, -48); /* of -16 - 60 - 47 */
    cnnvp_graph_clear(&graph);
}

/* Tensors that were zero throughout, copied into one and added to one with values: those keep their bits. */
static void zeros_take_no_bits(void **state)
{
    (void)state;
    struct cnnvp_graph graph = {.file = "test"};
    for (int i = 0; i < 7; ++i)
        assert_int_equal(cnnvp_graph_tensor_add(&graph, "t", 4, 1, 4, 4), i);
    const int32_t copies[3][2] = {{0, 2}, {1, 2}, {5, 6}};
    for (int i = 0; i < 3; ++i) {
        struct cnnvp_graph_layer *copy = cnnvp_graph_layer_add(&graph, CNNVP_OP_ACTIVATION, "copy", "Concat");
        copy->in = copies[i][0];
        copy->out = copies[i][1];
    }
    struct cnnvp_graph_layer *add = cnnvp_graph_layer_add(&graph, CNNVP_OP_ADD, "add", "Add");
    add->in = 3;
    add->in2 = 2;
    add->out = 4;
    add->pre_max_abs = 1.0f;
    graph.tensors[1].max_abs = graph.tensors[2].max_abs = graph.tensors[4].max_abs = 1.0f;
    for (int times = 0; times < 2; ++times) {
        cnnvp_formats_choose(&graph, 48);
        for (int i = 0; i < 5; ++i)
            assert_int_equal(graph.tensors[i].frac, 14); /* 1.125 * 2^14 < 2^15 */
        assert_int_equal(graph.tensors[5].frac, CNNVP_FRAC_UNKNOWN);
        assert_int_equal(graph.tensors[6].frac, CNNVP_FRAC_UNKNOWN);
    }
    cnnvp_graph_clear(&graph);
}

/* Small numbers joined with large ones: only the copy has fewer bits where others read them, too; else they have. */
static void copies_have_fewer_bits(void **state)
{
    (void)state;
    struct cnnvp_graph graph = {.file = "test"};
    for (int i = 0; i < 4; ++i)
        assert_int_equal(cnnvp_graph_tensor_add(&graph, "t", 4, 1, 4, 4), i);
    const int32_t copies[3][2] = {{0, 2}, {1, 2}, {0, 3}};
    for (int i = 0; i < 3; ++i) {
        struct cnnvp_graph_layer *copy = cnnvp_graph_layer_add(&graph, CNNVP_OP_ACTIVATION, "copy", "Concat");
        copy->in = copies[i][0];
        copy->out = copies[i][1];
        copy->posts[copy->post_count++] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, -INFINITY};
    }
    graph.tensors[0].max_abs = graph.tensors[1].max_abs = graph.tensors[3].max_abs = 0.5f;
    graph.tensors[2].max_abs = 1000.0f;
    cnnvp_formats_choose(&graph, 48);
    const int32_t two[] = {15, 4, 4, 15}; /* 0.5625 < 1, 1125 < 2048 */
    for (int i = 0; i < 4; ++i)
        assert_int_equal(graph.tensors[i].frac, two[i]);
    graph.layers[0].posts[0].value = 0.0f; /* ReLU is no copy */
    cnnvp_formats_choose(&graph, 48);
    for (int i = 0; i < 4; ++i)
        assert_int_equal(graph.tensors[i].frac, 4);
    cnnvp_graph_clear(&graph);
}

/* A sigmoid, tanh or erf is constant for large arguments, so that these take no bits from smaller ones: neither in the
 * layer itself nor in a tensor that only the function reads. */
static void arguments_of_bounded_functions_saturate(void **state)
{
    (void)state;
    static const struct {
        enum cnnvp_graph_post_kind kind;
        int32_t frac;
    } cases[] = {{CNNVP_GRAPH_SIGMOID, 11}, {CNNVP_GRAPH_TANH, 11}, {CNNVP_GRAPH_ERF, 12}, {CNNVP_GRAPH_SWISH, 4}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        struct cnnvp_graph graph = {.file = "test"};
        for (int i = 0; i < 4; ++i)
            assert_int_equal(cnnvp_graph_tensor_add(&graph, "t", 4, 1, 4, 4), i);
        struct cnnvp_graph_layer *sum = cnnvp_graph_layer_add(&graph, CNNVP_OP_ADD, "sum", "Add");
        sum->in = sum->in2 = 0;
        sum->out = 1;
        sum->pre_max_abs = 1000.0f;
        sum->posts[sum->post_count++] = (struct cnnvp_graph_post){cases[c].kind, 1.0f};
        struct cnnvp_graph_layer *function = cnnvp_graph_layer_add(&graph, CNNVP_OP_ACTIVATION, "function", "F");
        function->in = 0;
        function->out = 2;
        function->pre_max_abs = 1000.0f;
        function->posts[function->post_count++] = (struct cnnvp_graph_post){cases[c].kind, 1.0f};
        graph.tensors[0].max_abs = graph.tensors[3].max_abs = 1000.0f;
        graph.tensors[1].max_abs = graph.tensors[2].max_abs = 1.0f;
        cnnvp_formats_choose(&graph, 48);
        assert_int_equal(graph.layers[0].pre_frac, cases[c].frac); /* 12 * 1.125 < 2^4, 4 * 1.125 < 2^3 */
        assert_int_equal(graph.tensors[0].frac, 4);                /* the sum reads it, too */
        graph.layers[0].in = graph.layers[0].in2 = 3;
        cnnvp_formats_choose(&graph, 48);
        assert_int_equal(graph.tensors[0].frac, cases[c].frac);
        cnnvp_graph_clear(&graph);
    }
}

/* One output of 64 inputs of 1 with weights of 1, and one with weights of 1/4096. With a step for each output, their
 * sums in steps fit the accumulator, and the weights take as many of their bits as fit with it. */
static void sums_in_steps_fit(void **state)
{
    (void)state;
    for (uint32_t acc_bits = 30; acc_bits <= 48; ++acc_bits) {
        struct cnnvp_graph graph = {.file = "test.onnx"};
        float weights[128];
        for (size_t i = 0; i < 128; ++i)
            weights[i] = i < 64 ? 1.0f : 0x1p-12f;
        (void)cnnvp_graph_tensor_add(&graph, "x", 2, 64, 1, 1);
        (void)cnnvp_graph_tensor_add(&graph, "y", 2, 2, 1, 1);
        struct cnnvp_graph_layer *layer = cnnvp_graph_layer_add(&graph, CNNVP_OP_FC, "fc", "Gemm");
        assert_non_null(layer);
        layer->in = 0;
        layer->out = 1;
        layer->weights = weights;
        layer->pre_max_abs = graph.tensors[1].max_abs = 64.0f;
        graph.tensors[0].max_abs = 1.0f;
        cnnvp_formats_choose(&graph, acc_bits);
        for (size_t o = 0; o < 2; ++o) {
            const double x = ldexp(1.0, graph.tensors[0].frac);
            const double weight = (double)weights[64 * o] / (double)layer->steps.weights[o];
            assert_true(64.0 * x * weight < ldexp(1.0, (int)acc_bits - 1));
            assert_true(weight > 32766.0 || 64.0 * x * weight > 0.4 * ldexp(1.0, (int)acc_bits - 1));
            assert_true(weight < 32768.0);
        }
        cnnvp_graph_clear(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_the_nearest),
        cmocka_unit_test(fractions_are_the_most_that_fit),
        cmocka_unit_test(reference_rounds_as_defined),
        cmocka_unit_test(softmax_sums_to_one),
        cmocka_unit_test(shares_have_the_bits_that_fit),
        cmocka_unit_test(ties_hold),
        cmocka_unit_test(summands_are_rounded_once),
        cmocka_unit_test(words_with_a_zero_point_hold_twice_as_much),
        cmocka_unit_test(shifts_stay_in_range),
        cmocka_unit_test(arguments_of_bounded_functions_saturate),
        cmocka_unit_test(zeros_take_no_bits),
        cmocka_unit_test(copies_have_fewer_bits),
        cmocka_unit_test(sums_in_steps_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
