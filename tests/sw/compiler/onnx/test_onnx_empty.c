/* SPDX-License-Identifier: Apache-2.0 */
/* What has no elements is named with its shape. */

#include "test.h"

#include "onnx_case.h"

static const float zero = 0.0f;

/* A constant e without elements as the second operand. */
static void empty_must_fail(const char *op, size_t rank, const int64_t *input, size_t empty_rank, const int64_t *empty,
                            const char *text)
{
    struct builder b;
    onnx_case_begin(&b, "x", rank, input);
    (void)builder_floats(&b, "e", empty_rank, empty, &zero);
    (void)builder_node(&b, op, "y", "x", "e", NULL, NULL);
    onnx_case_refused(&b, text);
}

/* Each with and without weights: timing only once divided by their number of words. */
static void nothing_is_named_with_its_shape(void **state)
{
    (void)state;
    const int64_t fixed[4] = {1, 3, 4, 4};
    const int64_t one[4] = {1, 1, 4, 4};
    const int64_t none[4] = {1, 0, 4, 4};
    const int64_t kernels[4] = {0, 3, 3, 3};
    const int64_t matrix[2] = {3, 0};
    empty_must_fail("Add", 4, fixed, 4, none, "node \"y\" (Add): the shapes [1,3,4,4] and [1,0,4,4] of its inputs do");
    empty_must_fail("Mul", 4, fixed, 4, none, "node \"y\" (Mul): the shapes [1,3,4,4] and [1,0,4,4] of its inputs do");
    empty_must_fail("Add", 4, one, 4, none, "the network's output \"y\" has no elements: its shape is [1,0,4,4]");
    empty_must_fail("Sum", 4, one, 4, none, "the network's output \"y\" has no elements: its shape is [1,0,4,4]");
    empty_must_fail("PRelu", 4, one, 4, none, "the network's output \"y\" has no elements: its shape is [1,0,4,4]");
    empty_must_fail("Conv", 4, fixed, 4, kernels, "node \"y\" (Conv): input \"e\" has no elements: its shape is [0,3");
    empty_must_fail("MatMul", 2, fixed, 2, matrix, "node \"y\" (MatMul): input \"e\" has no elements: its shape");
    empty_must_fail("Concat", 4, fixed, 1, &none[1], "input \"e\" has another shape than the first, not only along");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_named_with_its_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
