/* SPDX-License-Identifier: Apache-2.0 */
/* ConvTranspose: which weights, strides and paddings are possible. */

#include "test.h"

#include "onnx_case.h"

static const int64_t maps[4] = {-1, 4, 6, 6};

/* x - ConvTranspose - y with weights (4, 2, 3, 3) and an attribute of integers, or a group. */
static void transposed_must_fail(const char *attribute, size_t count, const int64_t *numbers, const char *text)
{
    struct builder b;
    const int64_t dims[4] = {4, 2, 3, 3};
    const float weights[72] = {0.0f};
    onnx_case_begin(&b, "x", 4, maps);
    Onnx__NodeProto *node = builder_node(&b, "ConvTranspose", "y", "x", "w", NULL, NULL);
    (void)builder_floats(&b, "w", 4, dims, weights);
    if (count == 1)
        builder_int(&b, node, attribute, numbers[0]);
    else
        builder_ints(&b, node, attribute, count, numbers);
    onnx_case_refused(&b, text);
}

static void attributes_have_limits(void **state)
{
    (void)state;
    transposed_must_fail("group", 1, (const int64_t[]){3},
                         "weights \"w\" are for 4 input channels in 3 groups; the input has 4, which the groups have");
    transposed_must_fail("strides", 2, (const int64_t[]){33, 32},
                         "strides of 33 x 32 are too large; their product may be");
    transposed_must_fail("pads", 4, (const int64_t[]){9, 0, 9, 0}, "the result has -10 rows or columns; 1 to 1048576");
    transposed_must_fail("kernel_shape", 2, (const int64_t[]){3, 2}, "kernel_shape says 2, the weights have 3");
    transposed_must_fail("output_padding", 3, (const int64_t[]){1, 1, 1}, "output_padding has 3 numbers; 2 are needed");
    transposed_must_fail("output_shape", 2, (const int64_t[]){32767, 0},
                         "output_shape holds 0; 1 to 32767 is possible");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
