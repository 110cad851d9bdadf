/* SPDX-License-Identifier: Apache-2.0 */
/* Versions and domains. */
#include "import_case.h"

static void wrong_versions_are_named(void **state)
{
    (void)state;
    struct builder builder;
    onnx_case_parse(&builder, 13, "float[N, 2, 6, 6] x y = Relu(x)");
    builder.model.ir_version = 2;
    onnx_case_must_fail(&builder, "IR version 2");
    builder.model.ir_version = 3;
    builder.model.n_opset_import = 0;
    onnx_case_must_fail(&builder, "operator set");
    builder.model.n_opset_import = 1;
    builder.graph.node[0]->domain = builder_text(&builder, "com.example");
    onnx_case_must_fail(&builder, "domain \"com.example\"");
    builder_free(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_versions_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
