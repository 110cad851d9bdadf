/* SPDX-License-Identifier: Apache-2.0 */
/* Versions and domains. */
#include <unistd.h>

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

/* Nodes of one name in two domains: only those of ONNX itself are known. */
static void domains_are_counted_apart(void **state)
{
    (void)state;
    struct builder builder;
    struct cnnvp_onnx_operators operators;
    struct cnnvp_error error = {""};
    char name[64];
    size_t size;
    onnx_case_parse(&builder, 13, "float[N, 2, 6, 6] x a = Relu(x) b = Relu(a) y = Relu(b)");
    builder.graph.node[1]->domain = builder_text(&builder, "com.example");
    uint8_t *bytes = builder_pack(&builder, &size);
    builder_write(bytes, size, name);
    assert_int_equal(cnnvp_onnx_operators(name, &operators, &error), CNNVP_DONE);
    assert_int_equal(operators.count, 2);
    assert_int_equal(operators.all[0].nodes, 2);
    assert_int_equal(operators.all[0].known, 1);
    assert_int_equal(operators.all[1].nodes, 1);
    assert_int_equal(operators.all[1].known, 0);
    cnnvp_onnx_operators_clear(&operators);
    (void)unlink(name);
    free(bytes);
    builder_free(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_versions_are_named),
        cmocka_unit_test(domains_are_counted_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
