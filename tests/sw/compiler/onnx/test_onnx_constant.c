/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever no input reaches is computed: each operator's constants against the definition, and networks that are left
 * with nothing of it. */
#include "import_case.h"

#include "numbers.h"

/* x + c, where `make` leaves the constant c of 6 numbers in any shape; `opset` of the file. */
static void expect_constant(int64_t opset, void (*make)(struct builder *b, const void *context), const void *context,
                            const char *what, const double expected[6])
{
    static const int64_t six[1] = {6};
    struct builder b;
    struct cnnvp_graph graph;
    float y[6];
    builder_init(&b, opset);
    builder_input(&b, "x", 2, flat2);
    builder_output(&b, "y");
    make(&b, context);
    (void)builder_int64s(&b, "six", 1, six);
    (void)builder_node(&b, "Reshape", "row", "c", "six", NULL, NULL);
    (void)builder_node(&b, "Add", "y", "x", "row", NULL, NULL);
    onnx_case_must_import(&b, &graph);
    onnx_case_run(&graph, y);
    for (size_t i = 0; i < 6; ++i) {
        const double is = (double)y[i] - 0.25 * (double)(i + 1);
        if (!(fabs(is - expected[i]) < 1e-5 * (1.0 + fabs(expected[i]))))
            fail_msg("%s: number %zu is %g, not %g", what, i, is, expected[i]);
    }
    cnnvp_graph_clear(&graph);
    builder_free(&b);
}

static void make_text(struct builder *b, const void *context)
{
    builder_parse(b, context);
}

/* ---- functions of one number ---- */

static const float numbers[6] = {0.125f, 0.25f, 0.5f, 0.75f, 0.9375f, 0.0625f};

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double softplus(double x)
{
    return log(1.0 + exp(x));
}

static double softsign(double x)
{
    return x / (1.0 + fabs(x));
}

static double reciprocal(double x)
{
    return 1.0 / x;
}

static double relu(double x)
{
    return fmax(x, 0.0);
}

static double negative(double x)
{
    return -x;
}

static double sign(double x)
{
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
}

struct function {
    const char *op_type;
    double (*value)(double);
    double scale, offset; /* of the numbers above */
};

static void make_function(struct builder *b, const void *context)
{
    static const int64_t dims[3] = {3, 1, 2};
    const struct function *function = context;
    float values[6];
    for (size_t i = 0; i < 6; ++i)
        values[i] = (float)(function->scale * (double)numbers[i] + function->offset);
    (void)builder_floats(b, "a", 3, dims, values);
    (void)builder_node(b, function->op_type, "c", "a", NULL, NULL, NULL);
}

static void functions(void **state)
{
    static const struct function cases[] = {
        {"Sqrt", sqrt, 9, 0},
        {"Exp", exp, 4, -2},
        {"Log", log, 4, 0},
        {"Reciprocal", reciprocal, -3, 0},
        {"Erf", erf, 3, -1},
        {"Sigmoid", sigmoid, 8, -4},
        {"Tanh", tanh, 4, -2},
        {"Softplus", softplus, 8, -4},
        {"Softsign", softsign, 8, -4},
        {"Sin", sin, 5, -2},
        {"Cos", cos, 5, -2},
        {"Tan", tan, 1, 0},
        {"Asin", asin, 1, 0},
        {"Acos", acos, 1, 0},
        {"Atan", atan, 6, -3},
        {"Sinh", sinh, 4, -2},
        {"Cosh", cosh, 4, -2},
        {"Asinh", asinh, 4, -2},
        {"Acosh", acosh, 4, 1},
        {"Atanh", atanh, 1, 0},
        {"Floor", floor, 9, -4},
        {"Ceil", ceil, 9, -4},
        {"Round", rint, 8, -4},
        {"Sign", sign, 4, -2},
        {"Neg", negative, 4, -2},
        {"Abs", fabs, 4, -2},
        {"Relu", relu, 4, -2},
        {"Identity", softsign, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        double expected[6];
        for (size_t k = 0; k < 6; ++k)
            expected[k] = cases[i].value((double)(float)(cases[i].scale * (double)numbers[k] + cases[i].offset));
        expect_constant(13, make_function, &cases[i], cases[i].op_type, expected);
    }
}

/* ---- reductions: of 6 x 4 numbers, along one dimension ---- */

struct reduction {
    const char *op_type;
    double first;                               /* what it begins with */
    double (*step)(double made, double number); /* what each number makes of it */
    double (*last)(double made);
};

static double table[6][4];

static double add(double made, double x)
{
    return made + x;
}

static double add_size(double made, double x)
{
    return made + fabs(x);
}

static double add_square(double made, double x)
{
    return made + x * x;
}

static double add_exp(double made, double x)
{
    return made + exp(x);
}

static double times(double made, double x)
{
    return made * x;
}

static double as_it_is(double made)
{
    return made;
}

static double quarter(double made)
{
    return made / 4.0;
}

static void fill_table(void)
{
    for (size_t r = 0; r < 6; ++r)
        for (size_t k = 0; k < 4; ++k)
            table[r][k] = 0.125 * (double)((r * 7 + k * 5) % 13) + 0.125 * (double)(k + 1);
}

static void make_reduction(struct builder *b, const void *context)
{
    /* along the dimension in the middle of 2 x 4 x 3: element (i, k, j) belongs to result 3 i + j */
    static const int64_t dims[3] = {2, 4, 3}, axis[1] = {-2};
    const struct reduction *reduction = context;
    float values[24];
    for (size_t i = 0; i < 24; ++i)
        values[i] = (float)table[i / 12 * 3 + i % 3][i / 3 % 4];
    (void)builder_floats(b, "a", 3, dims, values);
    Onnx__NodeProto *node = builder_node(b, reduction->op_type, "c", "a", NULL, NULL, NULL);
    builder_ints(b, node, "axes", 1, axis);
    builder_int(b, node, "keepdims", reduction->first < 0.5);
}

static void reductions(void **state)
{
    static const struct reduction cases[] = {
        {"ReduceMean", 0, add, quarter},     {"ReduceSum", 0, add, as_it_is},
        {"ReduceMax", -100, fmax, as_it_is}, {"ReduceMin", 100, fmin, as_it_is},
        {"ReduceProd", 1, times, as_it_is},  {"ReduceL1", 0, add_size, as_it_is},
        {"ReduceL2", 0, add_square, sqrt},   {"ReduceSumSquare", 0, add_square, as_it_is},
        {"ReduceLogSum", 0, add, log},       {"ReduceLogSumExp", 0, add_exp, log},
    };
    (void)state;
    fill_table();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        double expected[6];
        for (size_t r = 0; r < 6; ++r) {
            double made = cases[i].first;
            for (size_t k = 0; k < 4; ++k)
                made = cases[i].step(made, table[r][k]);
            expected[r] = cases[i].last(made);
        }
        expect_constant(11, make_reduction, &cases[i], cases[i].op_type, expected);
    }
}

/* ---- others, each with constants and what is expected ---- */

#define FLOATS "float[6] a = {-2.5, -1, 0, 0.5, 1, 7.25} float b = {0.5} "
#define A "float[2, 3] a = {1, 2, 3, 4, 5, 6} "
#define A3 "float[3, 2] a = {1, 2, 3, 4, 5, 6} "
#define NANS "float[6, 2] a = {1, nan, nan, 2, 3, 4, 0, 0, nan, nan, 5, 6} "
#define B3 "float[3, 2] b = {1, -1, 0.5, 2, 3, -2} "

static void operations(void **state)
{
    const double e = exp(1.0);
    const double first = e * e / (1.0 + e * e), second = 1.0 / (1.0 + exp(1.5)), third = 1.0 / (1.0 + exp(-5.0));
    const struct {
        const char *nodes;
        double expected[6];
    } cases[] = {
        /* two matrices of 1 x 3, times one of 3 x 3 */
        {"float[2, 1, 3] a = {1, 2, 3, 4, 5, 6} float[3, 3] b = {1, 0, 2, 0, 1, 0, -1, 0, 1} c = MatMul(a, b)",
         {-2, 2, 5, -2, 5, 14}},
        {"float[2, 3, 2] a = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} float[2] b = {10, 1} c = MatMul(a, b)",
         {12, 34, 56, 78, 100, 122}},
        {A "float[2, 2] m = {1, 2, 3, 4} float[2] r = {1, -1} "
           "c = Gemm <transA = 1, transB = 1, alpha = 0.5, beta = 2.0> (a, m, r)",
         {6.5, 7.5, 8, 11, 9.5, 14.5}},
        {A "int64[2] p = {1, 2} one, two = Split <axis = -1> (a, p) c = Concat <axis = 1> (two, one)",
         {2, 3, 1, 5, 6, 4}},
        {"float[1, 3] a = {1, 2, 3} int64[2] r = {2, 1} c = Tile(a, r)", {1, 2, 3, 1, 2, 3}},
        {"float[2, 1] a = {1, 2} int64[2] r = {1, 3} c = Tile(a, r)", {1, 1, 1, 2, 2, 2}},
        /* rows 2, 0 and columns 1 to 3 */
        {"float[3, 4] a = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11} int64[2] s = {-1, 1} int64[2] e = {-100, 100} "
         "int64[2] k = {0, 1} int64[2] t = {-2, 1} c = Slice(a, s, e, k, t)",
         {9, 10, 11, 1, 2, 3}},
        {A "c = Transpose(a)", {1, 4, 2, 5, 3, 6}},
        {A3 "int64[3] i = {2, -2, 0} c = Gather(a, i)", {5, 6, 3, 4, 1, 2}},
        {"float[3, 1, 2] a = {1, 2, 3, 4, 5, 6} float[2] f = {1, 10} m = Flatten(a) c = Mul(m, f)",
         {1, 20, 3, 40, 5, 60}},
        {A "n = Size(a) f = Cast <to = 1> (n) int64[1] d = {6} c = Expand(f, d)", {6, 6, 6, 6, 6, 6}},
        /* per column, twice: the row of the largest */
        {"float[2, 3] a = {3, 1, 2, 0, 1, 5} l = ArgMax(a) s = ArgMin(a) i = Concat <axis = 0> (l, s) "
         "c = Cast <to = 1> (i)",
         {0, 0, 1, 1, 0, 0}},
        {A "int64[1] i = {1} c = CumSum <reverse = 1, exclusive = 1> (a, i)", {5, 3, 0, 11, 6, 0}},
        {B3 "s = Softmax(b) l = LogSoftmax(b) e = Exp(l) c = Add(s, e)",
         {2 * first, 2 - 2 * first, 2 * second, 2 - 2 * second, 2 * third, 2 - 2 * third}},
        {A3 "float[2] e = {2, 0.5} c = Pow(a, e)", {1, sqrt(2.0), 9, 2, 25, sqrt(6.0)}},
        {B3 "int64[1] e = {2} c = Pow(b, e)", {1, 1, 0.25, 4, 9, 4}},
        {A3 B3 "float d = {3} c = Mean(a, b, d)", {5.0 / 3, 4.0 / 3, 6.5 / 3, 3, 11.0 / 3, 7.0 / 3}},
        {A3 B3 "float d = {2.5} c = Max(a, b, d)", {2.5, 2.5, 3, 4, 5, 6}},
        {B3 "float l = {0} float h = {2.5} c = Clip(b, l, h)", {1, 0, 0.5, 2, 2.5, 0}},
        /* 1 / 0 is no number of the network as long as it is not one of the result's. */
        {"float[3, 2] a = {0, 1, 0, 1, 0, 1} r = Reciprocal(a) i = IsInf(r) n = Not(i) t = Xor(n, i) "
         "w = Where(i, a, r) f = Cast <to = 1> (t) c = Add(w, f)",
         {1, 2, 1, 2, 1, 2}},
        /* infinities of one sign; and one that is no number equals nothing, not even itself */
        {"float[6] a = {0, -0.0, 1, 0, 1, -0.0} r = Reciprocal(a) i = IsInf <detect_negative = 0> (r) "
         "c = Cast <to = 1> (i)",
         {1, 0, 0, 1, 0, 0}},
        {"float[6] a = {0, -0.0, 1, 0, 1, -0.0} r = Reciprocal(a) i = IsInf <detect_positive = 0> (r) "
         "c = Cast <to = 1> (i)",
         {0, 1, 0, 0, 0, 1}},
        {"float[6] a = {-1, 4, -4, 9, -9, 1} r = Sqrt(a) e = Equal(r, r) c = Cast <to = 1> (e)", {0, 1, 0, 1, 0, 1}},
        {"int64[6] a = {-7, 7, -7, 7, -6, 0} int64[6] b = {3, -3, -3, 3, 3, 3} m = Mod(a, b) c = Cast <to = 1> (m)",
         {2, -2, -1, 1, 0, 0}},
        {"int64[6] a = {-7, 7, -7, 7, -6, 0} int64[6] b = {3, -3, -3, 3, 3, 3} m = Mod <fmod = 1> (a, b) "
         "c = Cast <to = 1> (m)",
         {-1, 1, -1, 1, 0, 0}},
        {"float[6] a = {-7, 7, -7, 7, -6, 5.5} float b = {3} c = Mod <fmod = 1> (a, b)", {-1, 1, -1, 1, 0, 2.5}},
        {"int8[6] a = {-7, 7, -7, 7, -6, 5} int8[6] b = {3, -3, -3, 3, 3, 3} m = Mod(a, b) c = Cast <to = 1> (m)",
         {2, -2, -1, 1, 0, 2}},
        /* what is no number stays none, and is not false */
        {NANS "m = ReduceMax <axes = [1], keepdims = 0> (a) i = IsNaN(m) c = Cast <to = 1> (i)", {1, 1, 0, 0, 1, 0}},
        {NANS "m = ReduceMin <axes = [1], keepdims = 0> (a) i = IsNaN(m) c = Cast <to = 1> (i)", {1, 1, 0, 0, 1, 0}},
        {NANS "f, s = Split <axis = 1> (a) m = Max(f, s) i = IsNaN(m) c = Cast <to = 1> (i)", {1, 1, 0, 0, 1, 0}},
        {NANS "f, s = Split <axis = 1> (a) m = Min(f, s) i = IsNaN(m) c = Cast <to = 1> (i)", {1, 1, 0, 0, 1, 0}},
        {"float[6] a = {1, nan, -2, nan, 0, 3} m = Relu(a) i = IsNaN(m) c = Cast <to = 1> (i)", {0, 1, 0, 1, 0, 0}},
        {"float[6] a = {1, nan, -2, nan, 0, 3} m = Sign(a) i = IsNaN(m) c = Cast <to = 1> (i)", {0, 1, 0, 1, 0, 0}},
        {"float[6] a = {1, nan, -2, nan, 0, 3} float l = {0} float h = {2} m = Clip(a, l, h) i = IsNaN(m) "
         "c = Cast <to = 1> (i)",
         {0, 1, 0, 1, 0, 0}},
        {"float[6] a = {1, nan, -0.0, nan, 0, -3} b = Cast <to = 9> (a) c = Cast <to = 1> (b)", {1, 1, 0, 1, 0, 1}},
        {"float[6, 2] a = {-inf, -inf, 0, -inf, -inf, 2, 3, -inf, -inf, -inf, 1, -inf} "
         "m = ReduceLogSumExp <axes = [1], keepdims = 0> (a) c = Exp(m)",
         {0, 1, e * e, e * e * e, 0, e}},
        /* integers are divided without a remainder, and wrap */
        {"int8[6] a = {5, -5, 7, -128, 100, 9} int8 b = {2} m = Div(a, b) c = Cast <to = 1> (m)",
         {2, -2, 3, -64, 50, 4}},
        {"int8[6] a = {100, -100, 7, -128, 127, 9} int8[6] b = {100, -100, 2, -1, 1, -9} m = Add(a, b) "
         "c = Cast <to = 1> (m)",
         {-56, 56, 9, 127, -128, 0}},
        {"uint8[6] a = {1, 2, 3, 4, 5, 250} uint8 b = {2} s = Sub(a, b) int64[2] r = {2, 3} m = Reshape(s, r) "
         "t = Transpose(m) d = Div(t, b) c = Cast <to = 1> (d)",
         {127, 1, 0, 1, 0, 124}},
        {"int16[6] a = {300, -300, 7, -32768, 181, 5} int16[6] b = {300, 300, 2, 2, 181, -1} m = Mul(a, b) "
         "c = Cast <to = 1> (m)",
         {24464, -24464, 14, 0, 32761, -5}},
        {"int8[6] a = {-128, 1, 2, 3, 4, 5} m = Neg(a) c = Cast <to = 1> (m)", {-128, -1, -2, -3, -4, -5}},
        {"int64[6] a = {1152921504606846976, 5, -5, 16777217, 16777218, 0} int64 l = {0} int64 h = {16777217} "
         "m = Clip(a, l, h) int64 s = {16777216} d = Sub(m, s) c = Cast <to = 1> (d)",
         {1, -16777211, -16777216, 1, 1, -16777216}},
        /* of two numbers, one after the other, and compared */
        {FLOATS "c = Sub(a, b)", {-3.0, -1.5, -0.5, 0.0, 0.5, 6.75}},
        {FLOATS "c = Div(a, b)", {-5.0, -2.0, 0.0, 1.0, 2.0, 14.5}},
        {FLOATS "c = Min(a, b)", {-2.5, -1.0, 0.0, 0.5, 0.5, 0.5}},
        {FLOATS "k = Less(a, b) c = Where(k, a, b)", {-2.5, -1.0, 0.0, 0.5, 0.5, 0.5}},
        {FLOATS "k = Greater(a, b) c = Where(k, a, b)", {0.5, 0.5, 0.5, 0.5, 1.0, 7.25}},
        {FLOATS "k = And(a, b) c = Where(k, a, b)", {-2.5, -1.0, 0.5, 0.5, 1.0, 7.25}},
        {"float[2, 1] a = {10, 20} float[1, 3] b = {1, 2, 3} c = Add(a, b)", {11, 12, 13, 21, 22, 23}},
        {"float f = {1} float l = {-2} float d = {-0.5} c = Range(f, l, d)", {1.0, 0.5, 0.0, -0.5, -1.0, -1.5}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        expect_constant(14, make_text, cases[i].nodes, cases[i].nodes, cases[i].expected);
}

/* ---- weights that are computed, of any size ---- */

/* 1x1 convolution of 2 to 5000 channels with ConstantOfShape's weights, normalised: v / |v| = 1 / sqrt(2). */
static void build_large(struct builder *b, int64_t outputs)
{
    const int64_t shape[4] = {outputs, 2, 1, 1}, axes[3] = {1, 2, 3};
    static const float two = 2.0f;
    static const int64_t one[1] = {1};
    builder_init(b, 13);
    builder_input(b, "x", 4, map4);
    builder_output(b, "y");
    (void)builder_int64s(b, "n", 4, shape);
    Onnx__TensorProto *value = builder_floats(b, "value", 1, one, &two);
    --b->graph.n_initializer; /* the attribute's alone */
    Onnx__NodeProto *node = builder_node(b, "ConstantOfShape", "v", "n", NULL, NULL, NULL);
    builder_int(b, node, "value", 0);
    node->attribute[0]->t = value;
    node->attribute[0]->has_i = 0;
    node->attribute[0]->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
    builder_ints(b, builder_node(b, "ReduceL2", "l", "v", NULL, NULL, NULL), "axes", 3, axes);
    (void)builder_node(b, "Div", "w", "v", "l", NULL, NULL);
    (void)builder_node(b, "Conv", "y", "x", "w", NULL, NULL);
}

static void weights_of_any_size(void **state)
{
    static float y[5000 * 36];
    static const int64_t counts[] = {3, 5000};
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        struct builder b;
        struct cnnvp_graph graphs[2];
        struct cnnvp_error error = {""};
        build_large(&b, counts[i]);
        onnx_case_must_import(&b, &graphs[0]);
        onnx_case_run(&graphs[0], y);
        for (int64_t c = 0; c < counts[i]; ++c)
            assert_true(fabsf(y[c * 36] - (0.25f + 0.25f * 37.0f) / sqrtf(2.0f)) < 1e-5f);
        /* A network that computes nothing is the same one. */
        if (onnx_case_import(&b, 1, &graphs[1], &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
        assert_int_equal(graphs[0].layer_count, 1);
        assert_int_equal(graphs[1].layer_count, 1);
        assert_int_equal(graphs[1].tensors[graphs[1].outputs[0].tensor].channels, counts[i]);
        cnnvp_graph_clear(&graphs[0]);
        cnnvp_graph_clear(&graphs[1]);
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions),
        cmocka_unit_test(reductions),
        cmocka_unit_test(operations),
        cmocka_unit_test(weights_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
