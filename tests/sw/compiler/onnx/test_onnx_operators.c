/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that are unknown, and versions. */
#include "import_case.h"

static void wrong_versions_are_named(void **state)
{
    (void)state;
    struct builder builder;
    builder_init(&builder, 5);
    builder_input(&builder, "x", 4, map4);
    (void)builder_node(&builder, "Relu", "y", "x", NULL, NULL, NULL);
    builder_output(&builder, "y");
    onnx_case_must_fail(&builder, "operator set 5; sets 6 to 26");
    builder.opset.version = 27;
    onnx_case_must_fail(&builder, "operator set 27; sets 6 to 26");
    builder.opset.version = 13;
    builder.model.ir_version = 2;
    onnx_case_must_fail(&builder, "IR version 2");
    builder.model.ir_version = 3;
    builder.model.n_opset_import = 0;
    onnx_case_must_fail(&builder, "operator set");
    builder_free(&builder);
}

static void unknown_operators_name_the_node(void **state)
{
    (void)state;
    struct builder builder;
    (void)onnx_case_node(&builder, 4, "DeformConv", NULL);
    onnx_case_must_fail(&builder, ": node \"y\" (DeformConv): this operator is not supported");
    builder_free(&builder);
    Onnx__NodeProto *node = onnx_case_node(&builder, 4, "Relu", NULL);
    node->domain = builder_text(&builder, "com.example");
    onnx_case_must_fail(&builder, "domain \"com.example\"");
    builder_free(&builder);
    (void)onnx_case_node(&builder, 4, "Relu", NULL);
    builder.graph.node[0]->input[0] = builder_text(&builder, "z");
    onnx_case_must_fail(&builder, "input \"z\" is neither");
    builder_free(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_versions_are_named),
        cmocka_unit_test(unknown_operators_name_the_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
