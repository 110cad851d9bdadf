/* SPDX-License-Identifier: Apache-2.0 */
/* Quantised tensors and weights: the imported layers give in float what the definitions of ONNX give in binary64. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "numbers.h"
#include "onnx_builder.h"
#include "onnx_case.h"

#define CHANNELS 3
#define SIDE 7
#define WORDS (CHANNELS * SIDE * SIDE)
#define OUTPUTS 4

static const int64_t maps[4] = {-1, CHANNELS, SIDE, SIDE};

/* 8-bit integers, signed or not; values are kept as they are given modulo 256. */
static void integers(struct builder *b, const char *name, size_t rank, const int64_t *dims, int is_signed,
                     const int *values)
{
    static const float none[OUTPUTS * CHANNELS];
    size_t count = 1;
    for (size_t i = 0; i < rank; ++i)
        count *= (size_t)dims[i];
    assert_true(count <= sizeof none / sizeof none[0]);
    Onnx__TensorProto *tensor = builder_floats(b, name, rank, dims, none);
    uint8_t *bytes = builder_alloc(b, count);
    for (size_t i = 0; i < count; ++i)
        bytes[i] = (uint8_t)values[i];
    tensor->data_type = is_signed ? ONNX__TENSOR_PROTO__DATA_TYPE__INT8 : ONNX__TENSOR_PROTO__DATA_TYPE__UINT8;
    tensor->raw_data.data = bytes;
    tensor->raw_data.len = count;
}

/* Runs what was built on one image. */
static void run(struct builder *b, const float *input, float *output, size_t words)
{
    char name[64];
    size_t size;
    struct cnnvp_graph graph;
    struct cnnvp_floatref reference;
    struct cnnvp_error error = {""};
    uint8_t *bytes = builder_pack(b, &size);
    builder_write(bytes, size, name);
    free(bytes);
    const cnnvp_result result = cnnvp_onnx_import(name, 0, &graph, &error);
    (void)unlink(name);
    if (result != CNNVP_DONE || cnnvp_graph_simplify(&graph, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_int_equal(cnnvp_graph_words(&graph.tensors[graph.outputs[0].tensor]), words);
    assert_int_equal(cnnvp_floatref_new(&graph, &reference, &error), CNNVP_DONE);
    cnnvp_floatref_image(&reference, input);
    memcpy(output, reference.data[graph.outputs[0].tensor], words * sizeof *output);
    cnnvp_floatref_clear(&reference);
    cnnvp_graph_clear(&graph);
    builder_free(b);
}

static void begin(struct builder *b, float input[WORDS], uint64_t seed)
{
    builder_init(b, 13);
    builder_input(b, "x", 4, maps);
    builder_output(b, "y");
    b->random += seed;
    for (size_t i = 0; i < WORDS; ++i)
        input[i] = ((float)(builder_next(b) >> 40) / (float)(1 << 23) - 1.0f) * 10.0f;
}

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

/* Scales and zero points by output channel, of a 1x1 convolution. */
static void weights_have_scales_by_channel(void **state)
{
    (void)state;
    struct builder b;
    float x[WORDS], y[OUTPUTS * SIDE * SIDE];
    static const float scales[OUTPUTS] = {0.5f, 0.01f, 0.125f, 0.3f};
    static const int zeros[OUTPUTS] = {0, -7, 100, 3};
    static const int64_t dims[4] = {OUTPUTS, CHANNELS, 1, 1}, each[1] = {OUTPUTS};
    int w[OUTPUTS * CHANNELS];
    begin(&b, x, 9);
    for (size_t i = 0; i < OUTPUTS * CHANNELS; ++i)
        w[i] = (int)(builder_next(&b) >> 56) - 128;
    integers(&b, "w", 4, dims, 1, w);
    integers(&b, "z", 1, each, 1, zeros);
    (void)builder_floats(&b, "s", 1, each, scales);
    builder_int(&b, builder_node(&b, "DequantizeLinear", "d", "w", "s", "z", NULL), "axis", 0);
    (void)builder_node(&b, "Conv", "y", "x", "d", NULL, NULL);
    run(&b, x, y, OUTPUTS * SIDE * SIDE);
    for (size_t o = 0; o < OUTPUTS; ++o)
        for (size_t p = 0; p < (size_t)SIDE * SIDE; ++p) {
            double sum = 0.0;
            for (size_t c = 0; c < CHANNELS; ++c)
                sum += (double)x[c * SIDE * SIDE + p] * (double)(w[o * CHANNELS + c] - zeros[o]) * (double)scales[o];
            assert_true(fabs((double)y[o * SIDE * SIDE + p] - sum) < 1e-3);
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
    onnx_case_refused(&b, "node \"y\" (Relu): input \"q\" is quantised; a DequantizeLinear is needed in front");

    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &tenth);
    (void)builder_node(&b, "DequantizeLinear", "y", "x", "s", NULL, NULL);
    onnx_case_refused(&b, "input \"x\" is not quantised; the result of a QuantizeLinear is needed");

    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_floats(&b, "s", 0, NULL, &zero);
    (void)builder_node(&b, "QuantizeLinear", "y", "x", "s", NULL, NULL);
    onnx_case_refused(&b, "a scale is 0; 1e-30 to 1e30 is possible");

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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_rounded_and_saturate),
        cmocka_unit_test(weights_have_scales_by_channel),
        cmocka_unit_test(quantised_tensors_stay_among_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
