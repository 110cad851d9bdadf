/* SPDX-License-Identifier: Apache-2.0 */
/* Pad: which lines and channels can be added and taken away. */

#include "test.h"

#include "onnx_case.h"

static const int64_t maps[4] = {-1, 4, 6, 6};

static void lines_have_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t reflect[8] = {0, 0, 6, 0, 0, 0, 0, 0};
    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "p", 8, reflect);
    builder_string(&b, builder_node(&b, "Pad", "y", "x", "p", NULL, NULL), "mode", "reflect");
    onnx_case_refused(&b, "6 and 0 lines cannot be added to 6");

    const int64_t away[8] = {0, 0, -4, 0, 0, 0, -2, 0};
    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "p", 8, away);
    (void)builder_node(&b, "Pad", "y", "x", "p", NULL, NULL);
    onnx_case_refused(&b, "pads take all of dimension 2 away");

    const int64_t border[8] = {0, 0, 1, 1, 0, 0, 1, 1};
    const float lowest = -3.4e38f;
    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "p", 8, border);
    (void)builder_floats(&b, "v", 0, NULL, &lowest);
    (void)builder_node(&b, "Pad", "q", "x", "p", "v", NULL);
    (void)builder_node(&b, "Relu", "y", "q", NULL, NULL, NULL);
    onnx_case_refused(&b, "padding with the lowest number is only known in front of one MaxPool");
}

static void channels_and_batches_have_limits(void **state)
{
    (void)state;
    struct builder b;
    const float huge = 2e30f;
    const int64_t channels[8] = {0, 1, 0, 0, 0, 0, 0, 0}, batch[8] = {1, 0, 0, 0, 0, 0, 0, 0};
    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "p", 8, channels);
    (void)builder_floats(&b, "v", 0, NULL, &huge);
    (void)builder_node(&b, "Pad", "y", "x", "p", "v", NULL);
    onnx_case_refused(&b, "channels can be padded with a number from -1e30 to 1e30 only");

    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "p", 8, batch);
    (void)builder_node(&b, "Pad", "y", "x", "p", NULL, NULL);
    onnx_case_refused(&b, "pads holds 1 and 0 for dimension 0; all but the batch can be padded");

    const int64_t many[8] = {0, 2000, 0, 0, 0, 0, 0, 0};
    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "p", 8, many);
    (void)builder_node(&b, "Pad", "y", "x", "p", NULL, NULL);
    onnx_case_refused(&b, "2000 and 0 channels cannot be added to 4; up to 256 times as many are possible");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_limits),
        cmocka_unit_test(channels_and_batches_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
