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

static const float tenth = 0.1f;
static const float zero = 0.0f;

static void quantised_tensors_stay_among_themselves(void **state)
{
    (void)state;
    struct builder b;
    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &tenth);
    (void)builder_node(&b, "QuantizeLinear", "q", "x", "s", NULL, NULL);
    (void)builder_node(&b, "Relu", "y", "q", NULL, NULL, NULL);
    onnx_case_refused(&b,
                      "node \"y\" (Relu): input \"q\" is quantised; a DequantizeLinear or a Cast is needed in front");

    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &tenth);
    (void)builder_node(&b, "DequantizeLinear", "y", "x", "s", NULL, NULL);
    onnx_case_refused(&b, "input \"x\" is not quantised; the result of a QuantizeLinear is needed");

    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &zero);
    (void)builder_node(&b, "QuantizeLinear", "y", "x", "s", NULL, NULL);
    onnx_case_refused(&b, "a scale is 0; 1e-30 to 1e30 is possible");

    onnx_case_begin(&b, "x", 4, maps); /* of constants, too */
    (void)builder_floats(&b, "s", 0, NULL, &zero);
    (void)builder_node(&b, "DequantizeLinear", "c", "s", "s", NULL, NULL);
    (void)builder_node(&b, "Add", "y", "x", "c", NULL, NULL);
    onnx_case_refused(&b, "node \"c\" (DequantizeLinear): a scale is 0; 1e-30 to 1e30 is possible");

    const float scales[4] = {0.1f, 0.2f, 0.3f, 0.4f};
    const int64_t four = 4;
    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 1, &four, scales);
    (void)builder_node(&b, "QuantizeLinear", "y", "x", "s", NULL, NULL);
    onnx_case_refused(&b, "input \"s\" has 4 numbers; scales along an axis are supported for weights");

    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &tenth);
    (void)builder_node(&b, "QuantizeLinear", "q", "x", "s", NULL, NULL);
    (void)builder_node(&b, "Concat", "y", "q", "x", NULL, NULL);
    onnx_case_refused(&b, "the inputs are not quantised alike");

    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &tenth);
    builder_int(&b, builder_node(&b, "QuantizeLinear", "y", "x", "s", NULL, NULL), "block_size", 16);
    onnx_case_refused(&b, "block_size is 16; one scale for the tensor or for each element of an axis is supported");

    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &tenth);
    builder_int(&b, builder_node(&b, "QuantizeLinear", "y", "x", "s", NULL, NULL), "output_dtype", 4);
    onnx_case_refused(&b, "output_dtype is 4; 8-bit integers of the zero point's type are supported");

    builder_init(&b, 23);
    builder_input(&b, "x", 4, maps);
    builder_output(&b, "y");
    (void)builder_floats(&b, "s", 0, NULL, &tenth);
    builder_int(&b, builder_node(&b, "QuantizeLinear", "y", "x", "s", NULL, NULL), "precision", 10);
    onnx_case_refused(&b, "precision is 10; 1 (float) is supported");

    builder_init(&b, 21);
    builder_input(&b, "x", 4, maps);
    builder_output(&b, "y");
    (void)builder_floats(&b, "s", 0, NULL, &tenth);
    Onnx__TensorProto *zero = builder_floats(&b, "z", 0, NULL, &tenth);
    zero->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__UINT16;
    zero->raw_data.len = 2;
    (void)builder_node(&b, "QuantizeLinear", "y", "x", "s", "z", NULL);
    onnx_case_refused(&b, "a zero point has 16 bits; it must be of 8 bits");
}

/* Constants of integers, and the nodes that would take them for floats. */
static void integers_are_no_floats(void **state)
{
    (void)state;
    static const char refusal[] =
        "tensor \"c\" has data type 7 where floats are needed; a Cast, or a DequantizeLinear of "
        "quantised numbers, makes floats of it";
    static const char *const operators[] = {"Add", "Mul", "Div", "Max", "Clip"};
    static const int weights[OUTPUTS * CHANNELS] = {1, -2, 3};
    const int64_t dims[4] = {OUTPUTS, CHANNELS, 1, 1}, image[4] = {1, 2, 2, 2}, channel[4] = {1, 1, 2, 2};
    const int64_t pads[8] = {0, 0, 1, 1, 0, 0, 1, 1};
    const int64_t three = 3;
    struct builder b;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; ++i) {
        struct cnnvp_graph graph;
        onnx_case_begin(&b, "x", 4, maps);
        (void)builder_int64s(&b, "c", 1, &three);
        (void)builder_node(&b, operators[i], "y", "x", "c", NULL, NULL);
        onnx_case_refused(&b, refusal);

        onnx_case_begin(&b, "x", 4, maps);
        (void)builder_int64s(&b, "c", 1, &three);
        builder_int(&b, builder_node(&b, "Cast", "f", "c", NULL, NULL, NULL), "to", 1);
        (void)builder_node(&b, operators[i], "y", "x", "f", NULL, NULL);
        onnx_case_must_import(&b, &graph);
        cnnvp_graph_clear(&graph);
        builder_free(&b);
    }

    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "p", 8, pads);
    (void)builder_int64s(&b, "c", 1, &three);
    (void)builder_node(&b, "Pad", "y", "x", "p", "c", NULL);
    onnx_case_refused(&b, refusal);

    onnx_case_begin(&b, "x", 4, maps);
    integers(&b, "c", 4, dims, 1, weights);
    (void)builder_node(&b, "Conv", "y", "x", "c", NULL, NULL);
    onnx_case_refused(&b, "node \"y\" (Conv): tensor \"c\" has data type 3 where floats are needed");

    /* Also beside quantised maps: the constant has no zero point. */
    for (int quantised = 0; quantised < 2; ++quantised) {
        onnx_case_begin(&b, "x", 4, image);
        (void)builder_floats(&b, "s", 0, NULL, &tenth);
        (void)builder_node(&b, "QuantizeLinear", "q", "x", "s", NULL, NULL);
        integers(&b, "c", 4, channel, 0, weights);
        builder_int(&b, builder_node(&b, "Concat", "y", quantised ? "q" : "x", "c", NULL, NULL), "axis", 1);
        onnx_case_refused(&b, "node \"y\" (Concat): tensor \"c\" has data type 2 where floats are needed");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_rounded_and_saturate),
        cmocka_unit_test(quantised_tensors_stay_among_themselves),
        cmocka_unit_test(integers_are_no_floats),
        cmocka_unit_test(floats_of_all_widths_are_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
