/* SPDX-License-Identifier: Apache-2.0 */
/* Concatenations of channels: which parts are copied, and what the network computes with the others in their place. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

/* x of 2 maps of 3 x 4. */
#define MAPS "float[N, 2, 3, 4] x a = Sigmoid(x) b = Tanh(x) "
#define JOINED(to, ...) #to " = Concat <axis = 1> (" #__VA_ARGS__ ") "
enum { MAP = 12, PART = 2 * MAP };

/* Runs the network on x[k] = 0.25 (k + 1). Returns the copies of parts. */
static size_t run(const char *network, float *output)
{
    struct cnnvp_graph graph;
    size_t copies = 0;
    onnx_case_import_text(14, network, &graph);
    for (size_t i = 0; i < graph.layer_count; ++i)
        copies += graph.layers[i].concat != 0;
    onnx_case_run(&graph, output);
    cnnvp_graph_clear(&graph);
    return copies;
}

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

/* Part 0 is a, 1 is b, 2 and 3 are sigmoid(a) and sigmoid(b), 4 is x. */
static double part_at(int part, int k)
{
    const double x = 0.25 * (k + 1);
    switch (part) {
    case 0:
        return sigmoid(x);
    case 1:
        return tanh(x);
    case 4:
        return x;
    default:
        return sigmoid(part_at(part - 2, k));
    }
}

static void check(const char *network, size_t copies, int count, const int *parts)
{
    float y[8 * PART];
    assert_int_equal(run(network, y), copies);
    for (int p = 0; p < count; ++p)
        for (int k = 0; k < PART; ++k)
            assert_true(fabs((double)y[p * PART + k] + part_at(parts[p], k)) < 1e-5);
}

/* A dense block: each layer reads all features before it. */
static void results_in_larger_ones_need_no_copy(void **state)
{
    (void)state;
#define BLOCK MAPS JOINED(c, a, b) "d = Sigmoid(c) "
    check(BLOCK JOINED(e, a, b, d) "y = Neg(e)", 0, 4, (const int[]){0, 1, 2, 3});
    check(BLOCK JOINED(e, d, a, b) "y = Neg(e)", 0, 4, (const int[]){2, 3, 0, 1});
    check(BLOCK JOINED(e, a, b, d) "f = Sigmoid(e) g = Sub(f, f) " JOINED(h, a, b, d, g) "y = Neg(h)", 0, 4,
          (const int[]){0, 1, 2, 3});
    /* An input of the network is copied once. */
    check(MAPS JOINED(c, x, a) "d = Sigmoid(c) " JOINED(e, x, a, d) "y = Neg(e)", 1, 2, (const int[]){4, 0});
}

static void results_elsewhere_are_copied(void **state)
{
    (void)state;
    /* In another order, or with something between the parts. */
    check(BLOCK JOINED(e, b, a, d) "y = Neg(e)", 2, 4, (const int[]){1, 0, 2, 3});
    check(BLOCK JOINED(e, a, d, b) "y = Neg(e)", 2, 4, (const int[]){0, 2, 3, 1});
}

/* Halves of a result, and what one of them becomes, side by side. */
static void views_of_one_tensor_are_one_part(void **state)
{
    (void)state;
#define HALVES \
    MAPS JOINED(c, a, b) "int64[2] sizes = {2, 2} d = Sigmoid(c) p, q = Split <axis = 1> (d, sizes) e = Sub(q, q) "
    check(HALVES JOINED(f, p, q, e) "y = Neg(f)", 0, 2, (const int[]){2, 3});
    check(HALVES JOINED(f, q, p, e) "y = Neg(f)", 2, 2, (const int[]){3, 2});
    check(HALVES JOINED(f, p, e, q) "y = Neg(f)", 2, 1, (const int[]){2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_in_larger_ones_need_no_copy),
        cmocka_unit_test(results_elsewhere_are_copied),
        cmocka_unit_test(views_of_one_tensor_are_one_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
