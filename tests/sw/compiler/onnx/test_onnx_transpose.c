/* SPDX-License-Identifier: Apache-2.0 */
/* Transpositions of which one puts back what the other has moved, and those that only look like it. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

/* Runs the network on x[k] = 0.25 (k + 1) and counts its copies with permuted dimensions. */
static size_t count_copies(const char *network, float *output)
{
    struct cnnvp_graph graph;
    size_t copies = 0;
    onnx_case_import_text(14, network, &graph);
    for (size_t i = 0; i < graph.layer_count; ++i)
        copies += graph.layers[i].permuted != 0;
    onnx_case_run(&graph, output);
    cnnvp_graph_clear(&graph);
    return copies;
}

static void what_is_put_back_is_not_copied(void **state)
{
    static const char *const networks[] = {
        "float[N, 2, 3, 4] x float two = {2} t = Transpose <perm = [0, 2, 3, 1]> (x) "
        "u = Transpose <perm = [0, 3, 1, 2]> (t) y = Mul(u, two)",
        "float[N, 2, 3, 4] x float two = {2} t = Transpose <perm = [0, 3, 2, 1]> (x) r = Relu(t) "
        "u = Transpose <perm = [0, 3, 2, 1]> (r) y = Mul(u, two)",
        "float[N, 6, 4] x float two = {2} t = Transpose <perm = [0, 2, 1]> (x) u = Transpose <perm = [0, 2, 1]> (t) "
        "y = Mul(u, two)",
        "float[N, 2, 12, 1] x float two = {2} t = Transpose <perm = [0, 2, 3, 1]> (x) "
        "u = Transpose <perm = [0, 3, 1, 2]> (t) y = Mul(u, two)",
    };
    (void)state;
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; ++i) {
        float y[24];
        assert_int_equal(count_copies(networks[i], y), 0);
        for (int k = 0; k < 24; ++k)
            assert_true(fabs((double)y[k] - 0.5 * (k + 1)) < 1e-6);
    }
}

static void what_is_moved_on_is_copied(void **state)
{
    (void)state;
    float y[48];
    assert_int_equal(count_copies("float[N, 2, 3, 4] x t = Transpose <perm = [0, 2, 3, 1]> (x) "
                                  "y = Transpose <perm = [0, 2, 3, 1]> (t)",
                                  y),
                     2);
    for (int w = 0; w < 4; ++w)
        for (int c = 0; c < 2; ++c)
            for (int h = 0; h < 3; ++h)
                assert_true(fabs((double)y[(w * 2 + c) * 3 + h] - 0.25 * ((c * 3 + h) * 4 + w + 1)) < 1e-6);
    /* The first copy has another reader. */
    assert_int_equal(count_copies("float[N, 2, 3, 4] x t = Transpose <perm = [0, 2, 3, 1]> (x) "
                                  "u = Transpose <perm = [0, 3, 1, 2]> (t) a = Flatten(t) b = Flatten(u) "
                                  "y = Concat <axis = 1> (a, b)",
                                  y),
                     1);
    for (int k = 0; k < 24; ++k) {
        const int c = k % 2, h = k / 8, w = k / 2 % 4;
        assert_true(fabs((double)y[k] - 0.25 * ((c * 3 + h) * 4 + w + 1)) < 1e-6);
        assert_true(fabs((double)y[24 + k] - 0.25 * (k + 1)) < 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_back_is_not_copied),
        cmocka_unit_test(what_is_moved_on_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
