/* SPDX-License-Identifier: Apache-2.0 */
/* Quantised tensors and weights: the imported layers give in float what the definitions of ONNX give in binary64. */
#include "quantise_case.h"

/* Values reach 10 in size, which 8 bits do not with these scales: some saturate. */
static void tensors_are_rounded_and_saturate(void **state)
{
    (void)state;
    static const int zeros[] = {0, 128, 255, -128, 5, 127};
    for (int c = 0; c < 6; ++c) {
        struct builder b;
        float x[WORDS], y[WORDS];
        const int is_signed = c >= 3;
        const double low = is_signed ? -128.0 : 0.0;
        const float scale = c % 2 == 0 ? 0.05f : 0.07f;
        size_t saturated = 0;
        begin(&b, x, (uint64_t)c);
        (void)builder_floats(&b, "s", 0, NULL, &scale);
        integers(&b, "z", 0, NULL, is_signed, &zeros[c]);
        (void)builder_node(&b, "QuantizeLinear", "q", "x", "s", "z", NULL);
        (void)builder_node(&b, "DequantizeLinear", "y", "q", "s", "z", NULL);
        run(&b, x, y, WORDS);
        for (size_t i = 0; i < WORDS; ++i) {
            const double steps = (double)x[i] / (double)scale;
            const double q = nearbyint(steps) + (double)zeros[c];
            if (fabs(steps - floor(steps) - 0.5) < 1e-3)
                continue; /* a tie, or too near one */
            const double kept = fmin(fmax(q, low), low + 255.0);
            saturated += kept != q;
            assert_true(fabs((double)y[i] - (kept - (double)zeros[c]) * (double)scale) < 1e-5);
        }
        assert_true(saturated > 0);
    }
}

/* Weights and biases of other widths count as they are. */
static void floats_of_all_widths_are_numbers(void **state)
{
    (void)state;
    static const uint16_t half = 0xc100; /* -2.5 */
    static const double wide = 0.375;
    struct builder b;
    float x[WORDS], y[WORDS];
    begin(&b, x, 1);
    Onnx__TensorProto *constant = builder_int64s(&b, "h", 1, &(int64_t){0});
    constant->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16;
    constant->raw_data.data = memcpy(builder_alloc(&b, sizeof half), &half, sizeof half);
    constant->raw_data.len = sizeof half;
    constant = builder_int64s(&b, "w", 1, &(int64_t){0});
    constant->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE;
    constant->raw_data.data = memcpy(builder_alloc(&b, sizeof wide), &wide, sizeof wide);
    constant->raw_data.len = sizeof wide;
    (void)builder_node(&b, "Mul", "p", "x", "h", NULL, NULL);
    (void)builder_node(&b, "Add", "y", "p", "w", NULL, NULL);
    run(&b, x, y, WORDS);
    for (size_t i = 0; i < WORDS; ++i)
        assert_true(fabs((double)y[i] - (-2.5 * (double)x[i] + 0.375)) < 1e-5);
}

/* Numbers of 16 bits are limited but not rounded, and need no layer behind one that has limits. */
static void numbers_of_16_bits_keep_their_limits(void **state)
{
    (void)state;
    static const struct {
        const char *nodes;
        double low, high;
        size_t layers;
    } cases[] = {
        {"int16 z = {0} n = Neg(x) q = QuantizeLinear(n, s, z) y = DequantizeLinear(q, s, z)", -3.2768, 3.2767, 1},
        {"uint16 z = {40000} float t = {1e-4} uint16 o = {40000} n = Neg(x) q = QuantizeLinear(n, s, z) "
         "y = DequantizeLinear(q, t, o)",
         -4, 2.5535, 1},
        {"uint16 z = {40000} n = Neg(x) q = QuantizeLinear(n, s, z) r = Flatten(q) f = DequantizeLinear(r, s, z) "
         "y = Neg(f)",
         -2.5535, 4, 0},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; ++n) {
        char network[400];
        float y[24];
        struct cnnvp_graph graph;
        (void)snprintf(network, sizeof network, "float[N, 2, 3, 4] x float s = {1e-4} %s", cases[n].nodes);
        onnx_case_import_text(21, network, &graph);
        assert_true(cases[n].layers == 0 || graph.layer_count == cases[n].layers);
        onnx_case_run(&graph, y);
        for (int k = 0; k < 24; ++k) {
            const double x = n == 2 ? 0.25 * (k + 1) : -0.25 * (k + 1);
            assert_true(fabs((double)y[k] - fmin(fmax(x, cases[n].low), cases[n].high)) < 1e-4);
        }
        cnnvp_graph_clear(&graph);
    }
}

/* A function between two quantisations is one layer from bytes to bytes, with the nearest of all results. */
static void functions_of_quantised_numbers_are_one_layer(void **state)
{
    (void)state;
    static const struct {
        const char *nodes;
        double (*function)(double x);
    } cases[] = {
        {"f = Tanh(a)", tanh},
        {"f = Sin(a)", sin},
        {"f = Cos(a)", cos},
        {"c = Transpose <perm = [0, 1, 3, 2]> (a) e = Tanh(c) f = Transpose <perm = [0, 1, 3, 2]> (e)", tanh},
        /* The scale has another reader, which needs no layer of its own. */
        {"e = Tanh(a) g = QuantizeLinear(e, t, o) h = DequantizeLinear(g, t, o) c = Sub(h, a) d = QuantizeLinear(c, t, "
         "o) "
         "i = DequantizeLinear(d, t, o) f = Add(a, i)",
         NULL},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; ++n) {
        char network[600];
        float y[24];
        struct cnnvp_graph graph;
        size_t functions = 0;
        (void)snprintf(network, sizeof network,
                       "float[N, 2, 3, 4] x float s = {0.05} uint8 z = {3} float t = {0.01} int8 o = {-20} "
                       "q = QuantizeLinear(x, s, z) a = DequantizeLinear(q, s, z) %s "
                       "r = QuantizeLinear(f, t, o) y = DequantizeLinear(r, t, o)",
                       cases[n].nodes);
        onnx_case_import_text(14, network, &graph);
        for (size_t i = 0; i < graph.layer_count; ++i)
            functions += cnnvp_graph_is_quantised_function(&graph.layers[i]) != 0;
        assert_int_equal(functions, 1);
        if (cases[n].function != NULL)
            assert_int_equal(graph.layer_count, 3); /* quantisation, function, scale */
        onnx_case_run(&graph, y);
        for (int k = 0; k < 24 && cases[n].function != NULL; ++k) {
            const double steps = cases[n].function(fmin(0.25 * (k + 1), 0.05 * 252)) / 0.01;
            const double kept = fmin(fmax(nearbyint(steps), -108), 147);
            if (fabs(steps - floor(steps) - 0.5) > 1e-3)
                assert_true(fabs((double)y[k] - 0.01 * kept) < 1e-5);
        }
        cnnvp_graph_clear(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_rounded_and_saturate),
        cmocka_unit_test(functions_of_quantised_numbers_are_one_layer),
        cmocka_unit_test(numbers_of_16_bits_keep_their_limits),
        cmocka_unit_test(floats_of_all_widths_are_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
