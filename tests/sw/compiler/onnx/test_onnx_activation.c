/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one number and softmax: which forms are known. */

#include "test.h"

#include "onnx_case.h"

static const int64_t maps[4] = {-1, 4, 6, 6};

static void forms_have_limits(void **state)
{
    (void)state;
    struct builder builder;
    Onnx__NodeProto *node = onnx_case_node(&builder, 4, "Softmax", NULL);
    builder_int(&builder, node, "axis", 0);
    onnx_case_must_fail(&builder, "axis 0 of 4 dimensions would mix the images of the batch; it is supported where");
    builder_free(&builder);
    struct builder gelu;
    onnx_case_begin(&gelu, "x", 4, maps);
    builder_string(&gelu, builder_node(&gelu, "Gelu", "y", "x", NULL, NULL, NULL), "approximate", "sigmoid");
    onnx_case_refused(&gelu, "approximate is none of none, tanh");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
