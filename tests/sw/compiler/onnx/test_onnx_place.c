/* SPDX-License-Identifier: Apache-2.0 */
/* Slice and Gather: steps and indices that are possible. */

#include "test.h"

#include "onnx_case.h"

static const int64_t maps[4] = {-1, 4, 6, 6};

/* Elements from `from` to `to` of an axis of x. */
static void slice_must_fail(size_t rank, const int64_t *dims, int64_t from, int64_t to, int64_t axis, int64_t step,
                            const char *text)
{
    struct builder b;
    onnx_case_begin(&b, "x", rank, dims);
    (void)builder_int64s(&b, "a", 1, &from);
    (void)builder_int64s(&b, "e", 1, &to);
    (void)builder_int64s(&b, "c", 1, &axis);
    (void)builder_int64s(&b, "s", 1, &step);
    Onnx__NodeProto *node = builder_node(&b, "Slice", "y", "x", "a", "e", "c");
    char **inputs = builder_alloc(&b, 5 * sizeof *inputs);
    memcpy(inputs, node->input, 4 * sizeof *inputs);
    inputs[4] = builder_text(&b, "s");
    node->input = inputs;
    node->n_input = 5;
    onnx_case_refused(&b, text);
}

static void slices_have_limits(void **state)
{
    (void)state;
    const int64_t rows[3] = {-1, 2, 2000};
    slice_must_fail(4, maps, 0, 4, 1, 0, "a step is 0; 1 to 32767 and -1 to -32767 are possible");
    slice_must_fail(4, maps, 4, 9, 1, 1, "the network's output \"y\" has no elements: its shape is [N,0,6,6]");
    slice_must_fail(3, rows, -1, -3000, 2, -1, "2000 elements with a step of -1 are too many; up to 1024 are possible");
}

static void indices_have_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t outside[2] = {3, 4};
    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "i", 2, outside);
    builder_int(&b, builder_node(&b, "Gather", "y", "x", "i", NULL, NULL), "axis", 1);
    onnx_case_refused(&b, "index 4 is outside of the 4 elements of axis 1");

    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "i", 1, outside);
    (void)builder_node(&b, "Gather", "y", "x", "i", NULL, NULL);
    onnx_case_refused(&b, "axis 0 of 4 dimensions would mix the images of the batch");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_have_limits),
        cmocka_unit_test(indices_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
