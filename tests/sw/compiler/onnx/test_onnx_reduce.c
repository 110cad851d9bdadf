/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: over which dimensions, and how large. */

#include "test.h"

#include "onnx_case.h"

static const int64_t maps[4] = {-1, 4, 6, 6};

static void reductions_have_limits(void **state)
{
    (void)state;
    onnx_case_node_refused(
        "ReduceSum", "keepdims", 1,
        "a reduction of all dimensions would mix the images of the batch; it is supported where the first");

    struct builder b;
    const int64_t batch[2] = {2, -4};
    onnx_case_begin(&b, "x", 4, maps);
    builder_ints(&b, builder_node(&b, "ReduceMean", "y", "x", NULL, NULL, NULL), "axes", 2, batch);
    onnx_case_refused(&b, "axis -4 of 4 dimensions would mix the images of the batch");

    const int64_t large[4] = {-1, 200, 200, 4};
    const int64_t rows[2] = {1, 2};
    onnx_case_begin(&b, "x", 4, large);
    builder_ints(&b, builder_node(&b, "ReduceMax", "y", "x", NULL, NULL, NULL), "axes", 2, rows);
    onnx_case_refused(&b, "40000 x 1 words are too many to reduce at once; up to 32767 x 32767 are possible");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
