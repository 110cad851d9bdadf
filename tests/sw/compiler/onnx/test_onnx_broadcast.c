/* SPDX-License-Identifier: Apache-2.0 */
/* Dimensions of 1 that count for all: which shapes fit to each other. */

#include "test.h"

#include "onnx_case.h"

static const int64_t maps[4] = {-1, 4, 6, 6};

static void expansion_has_limits(void **state)
{
    (void)state;
    struct builder b;
    const int64_t large[4] = {1, 4, 6, 12}, other[4] = {1, 4, 6, 5}, more[5] = {1, 1, 4, 6, 6};
    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "s", 4, large);
    (void)builder_node(&b, "GlobalMaxPool", "g", "x", NULL, NULL, NULL);
    (void)builder_node(&b, "Expand", "e", "g", "s", NULL, NULL);
    (void)builder_node(&b, "Mul", "y", "x", "e", NULL, NULL);
    onnx_case_refused(&b,
                      "dimension 3 of the inputs is 6 and 12; they must be the same, or 1 where one counts for all");

    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "s", 4, other);
    (void)builder_node(&b, "Expand", "y", "x", "s", NULL, NULL);
    onnx_case_refused(&b, "number 5 of the shape does not fit to dimension 3 of the input, 6");

    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "s", 5, more);
    (void)builder_node(&b, "Expand", "e", "x", "s", NULL, NULL);
    (void)builder_node(&b, "LSTM", "y", "e", NULL, NULL, NULL);
    onnx_case_refused(&b, "node \"y\" (LSTM)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expansion_has_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
