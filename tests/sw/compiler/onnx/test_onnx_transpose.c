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
                     1);
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

/* Tokens (4, 6) of a map (6, 4), in parts of 2, 2 and 2 features: the first part of 2 heads of 1 feature (2, 4, 1), the
 * second one as features of 2 heads (2, 1, 4), which is the map's own order, the third one with features first. */
static void parts_of_what_is_moved_are_moved_alone(void **state)
{
    (void)state;
    float y[24];
    assert_int_equal(
        count_copies("float[N, 6, 4] x int64[4] heads = {0, 4, 2, 1} t = Transpose <perm = [0, 2, 1]> (x) "
                     "q, k, v = Split <axis = 2, num_outputs = 3> (t) "
                     "q4 = Reshape(q, heads) q5 = Transpose <perm = [0, 2, 1, 3]> (q4) "
                     "k4 = Reshape(k, heads) k5 = Transpose <perm = [0, 2, 3, 1]> (k4) "
                     "v5 = Transpose <perm = [0, 2, 1]> (v) "
                     "a = Flatten(q5) b = Flatten(k5) c = Flatten(v5) y = Concat <axis = 1> (a, b, c)",
                     y),
        0);
    for (int k = 0; k < 24; ++k)
        assert_true(fabs((double)y[k] - 0.25 * (k + 1)) < 1e-6);
    /* An edge of the words' new dimensions lies within a token; and a part of what are no channels. */
    assert_int_equal(count_copies("float[N, 6, 4] x int64[3] other = {0, 3, 8} t = Transpose <perm = [0, 2, 1]> (x) "
                                  "u = Reshape(t, other) v = Transpose <perm = [0, 2, 1]> (u) y = Flatten(v)",
                                  y),
                     2);
    for (int k = 0; k < 24; ++k) {
        const int at = k % 3 * 8 + k / 3; /* in the tokens */
        const int number = at % 6 * 4 + at / 6 + 1;
        assert_true(fabs((double)y[k] - 0.25 * number) < 1e-6);
    }
    assert_int_equal(count_copies("float[N, 6, 4] x t = Transpose <perm = [0, 2, 1]> (x) "
                                  "a, b = Split <axis = 1, num_outputs = 2> (t) c = Flatten(b) d = Flatten(a) "
                                  "y = Concat <axis = 1> (c, d)",
                                  y),
                     1);
    for (int k = 0; k < 24; ++k) {
        const int at = (k + 12) % 24;
        const int number = at % 6 * 4 + at / 6 + 1;
        assert_true(fabs((double)y[k] - 0.25 * number) < 1e-6);
    }
}

/* Softmax over what a transposition makes the last dimension: over channels c of 0.25 (4 c + w + 1), for each w; also
 * where its input has other dimensions than the copy. */
static void softmax_reads_what_is_turned(void **state)
{
    static const char *const networks[] = {
        "float[N, 3, 4] x t = Transpose <perm = [0, 2, 1]> (x) y = Softmax <axis = -1> (t)",
        "float[N, 1, 3, 4] x int64[5] five = {0, 1, 2, 2, 3} t = Transpose <perm = [0, 1, 3, 2]> (x) "
        "u = Reshape(t, five) y = Softmax <axis = -1> (u)",
    };
    (void)state;
    const double sum = 1.0 + exp(1.0) + exp(2.0);
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; ++i) {
        struct cnnvp_graph graph;
        float y[12];
        onnx_case_import_text(14, networks[i], &graph);
        assert_int_equal(graph.layer_count, 1);
        onnx_case_run(&graph, y);
        for (int k = 0; k < 12; ++k)
            assert_true(fabs((double)y[k] - exp(k % 3) / sum) < 1e-6);
        cnnvp_graph_clear(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_back_is_not_copied),
        cmocka_unit_test(what_is_moved_on_is_copied),
        cmocka_unit_test(parts_of_what_is_moved_are_moved_alone),
        cmocka_unit_test(softmax_reads_what_is_turned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
