/* SPDX-License-Identifier: Apache-2.0 */
/* Reshape keeps the elements of an image; a shape alone is no output. */

#include "test.h"

#include "onnx_case.h"

static const int64_t maps[4] = {-1, 4, 6, 6};

static void shapes_have_limits(void **state)
{
    (void)state;
    struct builder builder, b;
    const int64_t shape[2] = {0, 71};
    (void)onnx_case_node(&builder, 4, "Reshape", "s");
    (void)builder_int64s(&builder, "s", 2, shape);
    onnx_case_must_fail(&builder, "the shape holds 71 elements an image, the input has 72");
    builder_free(&builder);
    (void)onnx_case_node(&builder, 4, "Shape", NULL);
    onnx_case_must_fail(&builder, "the network's output \"y\" is a constant");
    builder_free(&builder);
    const int64_t nine[9] = {0, 2, 2, 6, 6, 1, 1, 1, 1};
    onnx_case_begin(&b, "x", 4, maps);
    (void)builder_int64s(&b, "s", 9, nine);
    (void)builder_node(&b, "Reshape", "y", "x", "s", NULL, NULL);
    onnx_case_refused(&b, "node \"y\" (Reshape): the shape has 9 dimensions; 2 to 8 are possible");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
