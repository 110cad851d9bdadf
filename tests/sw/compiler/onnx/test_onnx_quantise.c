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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_rounded_and_saturate),
        cmocka_unit_test(floats_of_all_widths_are_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
