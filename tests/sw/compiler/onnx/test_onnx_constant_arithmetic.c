/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that a file computes from constants. */
#include "test.h"

#include "onnx_case.h"

#define INTEGERS(op, first, second) \
    "float[N, 6] x int64[2] a = {" first "} int64[2] b = {" second "} s = " op "(a, b) y = Reshape(x, s)"
#define INTEGER(op, first) "float[N, 6] x int64[2] a = {" first "} s = " op "(a) y = Reshape(x, s)"

#define WORDS(op, first, second)                                                                              \
    "float[N, 6] x int32[2] a = {" first "} int32[2] b = {" second "} r = " op "(a, b) s = Cast <to = 7> (r)" \
    "y = Reshape(x, s)"

/* The result is the shape of a Reshape, which [0, 6] alone fits. */
static void integers(void **state)
{
    static const char *const networks[] = {
        INTEGERS("Add", "-4, 2", "4, 4"),
        INTEGERS("Sub", "3, 8", "3, 2"),
        INTEGERS("Mul", "0, -2", "5, -3"),
        INTEGERS("Div", "1, 13", "2, 2"),
        INTEGERS("Div", "-1, -12", "2, -2"),
        INTEGERS("Mod", "14, 20", "7, 7"),
        INTEGERS("Mod", "-7, -8", "7, 14"),
        INTEGERS("Min", "0, 9", "1, 6"),
        INTEGERS("Max", "-3, 6", "0, 5"),
        INTEGER("Neg", "0, -6"),
        INTEGER("Abs", "0, -6"),
        INTEGER("Floor", "0, 6"),
        /* 32 bits wrap: 2^32, -2^32, -2^32 + 6, -2^31 + 2^31 */
        WORDS("Mul", "65536, 3", "65536, 2"),
        WORDS("Add", "-2147483648, 4", "-2147483648, 2"),
        WORDS("Sub", "7, -2147483648", "7, 2147483642"),
        "float[N, 6] x int32[2] a = {-2147483648, 6} int32[2] c = {1, 2} b = Abs(a) r = Add(a, b) q = Div(r, c)"
        "s = Cast <to = 7> (q) y = Reshape(x, s)",
        "float[N, 6] x int64[2] a = {4294967296, 4294967302} r = Cast <to = 6> (a) s = Cast <to = 7> (r) y = "
        "Reshape(x, s)",
    };
    (void)state;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; ++i) {
        struct cnnvp_graph graph;
        onnx_case_import_text(14, networks[i], &graph);
        cnnvp_graph_clear(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(integers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
