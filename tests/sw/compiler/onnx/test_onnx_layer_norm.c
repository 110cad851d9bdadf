/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisations that a file has taken apart: which become one layer again, and which are not the same function. */
#include <math.h>

#include "test.h"

#include "onnx_case.h"

struct form {
    int64_t mean_axis, square_axis; /* of (N, 4, 6) */
    int squares;                    /* 0: x - mean by Mul, 1: by Pow, 2: a second x - mean, 3: x itself, 4: the cube */
    int inverse;                    /* Reciprocal and Mul in place of Div */
    float epsilon;
    int one; /* it is a normalisation */
};

static void build(struct builder *b, const struct form *form)
{
    static const char *const squares[] = {"Mul(d, d)", "Pow(d, two)", "Mul(d2, d2)", "Mul(x, x)", "Pow(d, two)"};
    char text[500];
    (void)snprintf(text, sizeof text,
                   "float[N, 4, 6] x float eps = {%g} float two = {%d} m = ReduceMean <axes = [%d]> (x) d = Sub(x, m) "
                   "d2 = Sub(x, m) s = %s v = ReduceMean <axes = [%d]> (s) e = Add(eps, v) r = Sqrt(e) %s",
                   (double)form->epsilon, form->squares == 4 ? 3 : 2, (int)form->mean_axis, squares[form->squares],
                   (int)form->square_axis, form->inverse ? "i = Reciprocal(r) y = Mul(d, i)" : "y = Div(d, r)");
    onnx_case_parse(b, 14, text);
}

static void what_is_one_normalisation(void **state)
{
    static const struct form forms[] = {
        {-1, -1, 0, 0, 1e-3f, 1}, {2, -1, 1, 0, 1e-3f, 1},  {-1, 2, 2, 1, 1e-2f, 1},  {-1, -1, 0, 1, 0.0f, 1},
        {-2, -2, 0, 0, 1e-3f, 1}, {-1, -2, 1, 0, 1e-3f, 1}, {-1, -1, 3, 0, 1e-3f, 0}, {-1, -1, 4, 0, 40.0f, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        struct builder b;
        struct cnnvp_graph graph;
        float y[24];
        build(&b, &forms[i]);
        onnx_case_must_import(&b, &graph);
        size_t norms = 0;
        for (size_t l = 0; l < graph.layer_count; ++l)
            norms += graph.layers[l].op == CNNVP_OP_NORM && graph.layers[l].norm == CNNVP_NORM_DATA;
        assert_int_equal(norms, forms[i].one);
        /* Rows that lie last take one layer. Others are turned; squares of d over other rows normalise d about 0. */
        assert_true(!forms[i].one || forms[i].square_axis == -2 || graph.layer_count == 1);
        onnx_case_run(&graph, y);
        for (int k = 0; k < 24; ++k) {
            /* x = 0.25 (k + 1): rows of 6, whose steps are alike, and columns of 4 */
            const int by_rows[2] = {forms[i].mean_axis != -2, forms[i].square_axis != -2};
            double mean = 0;
            double square = 0;
            for (int j = 0; j < 24; ++j)
                mean += (by_rows[0] ? j / 6 == k / 6 : j % 6 == k % 6) ? 0.25 * (j + 1) / (by_rows[0] ? 6 : 4) : 0;
            for (int j = 0; j < 24; ++j) {
                double own = 0;
                for (int n = 0; n < 24; ++n)
                    own += (by_rows[0] ? n / 6 == j / 6 : n % 6 == j % 6) ? 0.25 * (n + 1) / (by_rows[0] ? 6 : 4) : 0;
                const double d = 0.25 * (j + 1) - (forms[i].squares == 3 ? 0 : own);
                if (by_rows[1] ? j / 6 == k / 6 : j % 6 == k % 6)
                    square += (forms[i].squares == 4 ? d * d * d : d * d) / (by_rows[1] ? 6 : 4);
            }
            const double wanted = (0.25 * (k + 1) - mean) / sqrt(square + (double)forms[i].epsilon);
            if (fabs((double)y[k] - wanted) > 1e-4)
                fail_msg("form %zu, element %d: %g in place of %g", i, k, (double)y[k], wanted);
        }
        cnnvp_graph_clear(&graph);
        builder_free(&b);
    }
}

/* x / sqrt(mean of its square + epsilon), and x / its length, of rows of 6. */
static void what_is_one_normalisation_about_zero(void **state)
{
#define MEAN "s = Pow(x, two) v = ReduceMean <axes = [-1]> (s) "
#define ROOT MEAN "e = Add(v, eps) r = Sqrt(e) "
    static const struct {
        const char *nodes;
        int one;
        double parts, epsilon, factor; /* x / sqrt(squares / parts + epsilon) * factor */
    } forms[] = {
        {ROOT "y = Div(x, r)", 1, 6, 2, 1},
        {ROOT "i = Reciprocal(r) y = Mul(x, i)", 1, 6, 2, 1},
        {ROOT "i = Div(one, r) y = Mul(x, i)", 1, 6, 2, 1},
        {ROOT "i = Div(two, r) y = Mul(x, i)", 0, 6, 2, 2},
        {ROOT "z = Neg(x) y = Div(z, r)", 0, 6, 2, -1},
        {MEAN "r = Sqrt(v) y = Div(x, r)", 1, 6, 0, 1},
        {"s = Mul(x, x) v = ReduceSum(s, last) e = Add(eps, v) r = Sqrt(e) y = Div(x, r)", 1, 1, 2, 1},
        {"r = ReduceL2 <axes = [2]> (x) y = Div(x, r)", 1, 1, 0, 1},
        {"r = ReduceL2 <axes = [-1]> (x) c = Clip(r, tiny) w = Expand(c, all) y = Div(x, w)", 1, 1, 0, 1},
        {"r = ReduceL2 <axes = [-1]> (x) c = Clip(r, tiny, large) y = Div(x, c)", 0, 1, 0, 1},
        {"r = ReduceL2 <axes = [-1]> (x) c = Clip(r, one) y = Div(x, c)", 0, 1, 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        struct builder b;
        struct cnnvp_graph graph;
        char text[500];
        float y[24];
        (void)snprintf(text, sizeof text,
                       "float[N, 4, 6] x float eps = {2} float one = {1} float two = {2} float tiny = {1e-12} "
                       "float large = {1e6} int64[1] last = {-1} int64[3] all = {1, 4, 6} %s",
                       forms[i].nodes);
        onnx_case_parse(&b, 14, text);
        onnx_case_must_import(&b, &graph);
        const struct cnnvp_graph_layer *layer = &graph.layers[0];
        const int is_one = graph.layer_count == 1 && layer->op == CNNVP_OP_NORM && layer->norm == CNNVP_NORM_DATA &&
                           layer->about_zero != 0;
        if (is_one != forms[i].one)
            fail_msg("form %zu is %d normalisation", i, is_one);
        onnx_case_run(&graph, y);
        for (int k = 0; k < 24; ++k) {
            double squares = 0;
            for (int j = k / 6 * 6; j < k / 6 * 6 + 6; ++j)
                squares += 0.25 * (j + 1) * 0.25 * (j + 1);
            const double wanted = 0.25 * (k + 1) / sqrt(squares / forms[i].parts + forms[i].epsilon) * forms[i].factor;
            if (fabs((double)y[k] - wanted) > 1e-4)
                fail_msg("form %zu, element %d: %g in place of %g", i, k, (double)y[k], wanted);
        }
        cnnvp_graph_clear(&graph);
        builder_free(&b);
    }
}

/* Over channels, between two transpositions where these cost no more than the parts do; and by an unbiased deviation,
 * to which a small number may be added. */
static void normalisations_of_channels_and_by_deviations(void **state)
{
    (void)state;
#define CENTRED(axis) "m = ReduceMean <axes = [" #axis "]> (x) d = Sub(x, m) s = Mul(d, d) "
#define VARIANCE(axis) CENTRED(axis) "v = ReduceMean <axes = [" #axis "]> (s) "
    static const struct {
        const char *nodes;
        uint32_t channels, rows; /* of x, with 6 columns */
        int over_channels, one;
        double divisor, inside, outside; /* sqrt(squares / divisor + inside) + outside */
    } forms[] = {
        {VARIANCE(1) "e = Add(v, half) r = Sqrt(e) y = Div(d, r)", 4, 3, 1, 1, 4, 0.5, 0},
        {VARIANCE(1) "e = Add(v, half) r = Sqrt(e) y = Div(d, r)", 64, 16, 1, 1, 64, 0.5, 0},
        {VARIANCE(1) "e = Add(v, half) r = Sqrt(e) y = Div(d, r)", 48, 16, 1, 0, 48, 0.5, 0},
        {VARIANCE(3) "n = Mul(v, six) u = Div(n, five) r = Sqrt(u) e = Add(r, tiny) y = Div(d, e)", 4, 3, 0, 1, 5, 0,
         0},
        {VARIANCE(3) "n = Mul(v, six) u = Div(n, five) r = Sqrt(u) e = Add(r, half) y = Div(d, e)", 4, 3, 0, 0, 5, 0,
         0.5},
        {CENTRED(3) "v = ReduceSum(s, last) u = Div(v, five) r = Sqrt(u) y = Div(d, r)", 4, 3, 0, 1, 5, 0, 0},
    };
    static float y[64 * 16 * 6];
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        struct cnnvp_graph graph;
        char text[500];
        const uint32_t channels = forms[i].channels, plane = forms[i].rows * 6;
        size_t norms = 0;
        (void)snprintf(text, sizeof text,
                       "float[N, %u, %u, 6] x float half = {0.5} float tiny = {1e-6} float six = {6} float five = {5} "
                       "int64[1] last = {3} %s",
                       channels, forms[i].rows, forms[i].nodes);
        onnx_case_import_text(14, text, &graph);
        for (size_t k = 0; k < graph.layer_count; ++k)
            norms += graph.layers[k].op == CNNVP_OP_NORM && graph.layers[k].norm == CNNVP_NORM_DATA;
        assert_int_equal(norms, forms[i].one);
        onnx_case_run(&graph, y);
        for (uint32_t k = 0; k < channels * plane; ++k) {
            const uint32_t first = forms[i].over_channels ? k % plane : k - k % 6;
            const uint32_t step = forms[i].over_channels ? plane : 1, count = forms[i].over_channels ? channels : 6;
            double mean = 0, squares = 0;
            for (uint32_t j = 0; j < count; ++j)
                mean += 0.25 * (first + j * step + 1) / count;
            for (uint32_t j = 0; j < count; ++j)
                squares += pow(0.25 * (first + j * step + 1) - mean, 2);
            const double wanted =
                (0.25 * (k + 1) - mean) / (sqrt(squares / forms[i].divisor + forms[i].inside) + forms[i].outside);
            if (fabs((double)y[k] - wanted) > 1e-3)
                fail_msg("form %zu, element %u: %g in place of %g", i, k, (double)y[k], wanted);
        }
        cnnvp_graph_clear(&graph);
    }
}

/* What else reads a step on the way keeps it. */
static void steps_that_are_read_stay(void **state)
{
    static const struct form form = {-1, -1, 0, 0, 1e-3f, 1};
    (void)state;
    struct builder b;
    struct cnnvp_graph graph;
    build(&b, &form);
    (void)builder_node(&b, "Relu", "kept", "v", NULL, NULL, NULL);
    builder_output(&b, "kept");
    onnx_case_must_import(&b, &graph);
    assert_int_equal(graph.output_count, 2);
    assert_true(graph.layer_count > 2);
    cnnvp_graph_clear(&graph);
    builder_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_one_normalisation),
        cmocka_unit_test(what_is_one_normalisation_about_zero),
        cmocka_unit_test(normalisations_of_channels_and_by_deviations),
        cmocka_unit_test(steps_that_are_read_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
