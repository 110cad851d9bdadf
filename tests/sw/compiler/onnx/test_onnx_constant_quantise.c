/* SPDX-License-Identifier: Apache-2.0 */
/* Weights in 8 bits. */
#include "quantise_case.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_have_scales_by_channel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
