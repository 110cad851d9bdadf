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

struct operation {
    const char *what;
    int64_t opset;
    void (*make)(struct builder *b);
    double expected[6];
};

static void make_operation(struct builder *b, const void *context)
{
    const struct operation *operation = context;
    operation->make(b);
}

static const int64_t two_three[2] = {2, 3}, three_two[2] = {3, 2};
static const float a_values[6] = {1, 2, 3, 4, 5, 6};
static const float b_values[6] = {1, -1, 0.5f, 2, 3, -2};

static void make_matmul(struct builder *b)
{
    /* two matrices of 1 x 3, times one of 3 x 3 */
    static const int64_t rows[3] = {2, 1, 3}, square[2] = {3, 3};
    static const float matrix[9] = {1, 0, 2, 0, 1, 0, -1, 0, 1};
    (void)builder_floats(b, "a", 3, rows, a_values);
    (void)builder_floats(b, "b", 2, square, matrix);
    (void)builder_node(b, "MatMul", "c", "a", "b", NULL, NULL);
}

static void make_matmul_of_vector(struct builder *b)
{
    static const int64_t many[3] = {2, 3, 2}, two[1] = {2};
    static const float values[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, v[2] = {10, 1};
    (void)builder_floats(b, "a", 3, many, values);
    (void)builder_floats(b, "b", 1, two, v);
    (void)builder_node(b, "MatMul", "c", "a", "b", NULL, NULL);
}

static void make_gemm(struct builder *b)
{
    /* 0.5 A' B' + 2 c: A is 2 x 3, B 2 x 2, c a row */
    static const int64_t square[2] = {2, 2}, row[1] = {2};
    static const float m[4] = {1, 2, 3, 4}, r[2] = {1, -1};
    (void)builder_floats(b, "a", 2, two_three, a_values);
    (void)builder_floats(b, "m", 2, square, m);
    (void)builder_floats(b, "r", 1, row, r);
    Onnx__NodeProto *node = builder_node(b, "Gemm", "c", "a", "m", "r", NULL);
    builder_int(b, node, "transA", 1);
    builder_int(b, node, "transB", 1);
    builder_float(b, node, "alpha", 0.5f);
    builder_float(b, node, "beta", 2.0f);
}

static void make_split(struct builder *b)
{
    static const int64_t parts[2] = {1, 2};
    (void)builder_floats(b, "a", 2, two_three, a_values);
    (void)builder_int64s(b, "p", 2, parts);
    Onnx__NodeProto *node = builder_node(b, "Split", "one", "a", "p", NULL, NULL);
    builder_int(b, node, "axis", -1);
    builder_more_outputs(b, node, 1);
    builder_int(b, builder_node(b, "Concat", "c", "one.more0", "one", NULL, NULL), "axis", 1);
}

static void make_tile(struct builder *b)
{
    static const int64_t dims[2] = {1, 3}, repeats[2] = {2, 1};
    (void)builder_floats(b, "a", 2, dims, a_values);
    (void)builder_int64s(b, "r", 2, repeats);
    (void)builder_node(b, "Tile", "c", "a", "r", NULL, NULL);
}

static void make_tile_of_columns(struct builder *b)
{
    static const int64_t dims[2] = {2, 1}, repeats[2] = {1, 3};
    (void)builder_floats(b, "a", 2, dims, a_values);
    (void)builder_int64s(b, "r", 2, repeats);
    (void)builder_node(b, "Tile", "c", "a", "r", NULL, NULL);
}

static void make_slice(struct builder *b)
{
    /* of 3 x 4: rows 2, 0 and columns 1 to 3 */
    static const int64_t dims[2] = {3, 4}, starts[2] = {-1, 1}, ends[2] = {-100, 100}, axes[2] = {0, 1},
                         steps[2] = {-2, 1};
    static const float values[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    (void)builder_floats(b, "a", 2, dims, values);
    (void)builder_int64s(b, "s", 2, starts);
    (void)builder_int64s(b, "e", 2, ends);
    (void)builder_int64s(b, "x1", 2, axes);
    (void)builder_int64s(b, "t", 2, steps);
    Onnx__NodeProto *node = builder_node(b, "Slice", "c", "a", "s", "e", "x1");
    builder_operand(b, node, "t");
}

static void make_transpose(struct builder *b)
{
    (void)builder_floats(b, "a", 2, two_three, a_values);
    (void)builder_node(b, "Transpose", "c", "a", NULL, NULL, NULL);
}

static void make_gather(struct builder *b)
{
    static const int64_t indices[3] = {2, -2, 0};
    (void)builder_floats(b, "a", 2, three_two, a_values);
    (void)builder_int64s(b, "i", 3, indices);
    (void)builder_node(b, "Gather", "c", "a", "i", NULL, NULL);
}

static void make_flatten(struct builder *b)
{
    static const int64_t two[1] = {2};
    static const float factors[2] = {1, 10};
    static const int64_t dims[3] = {3, 1, 2};
    (void)builder_floats(b, "a", 3, dims, a_values);
    (void)builder_floats(b, "f", 1, two, factors);
    (void)builder_node(b, "Flatten", "m", "a", NULL, NULL, NULL); /* 3 x 2 */
    (void)builder_node(b, "Mul", "c", "m", "f", NULL, NULL);
}

static void make_size(struct builder *b)
{
    static const int64_t six[1] = {6};
    (void)builder_floats(b, "a", 2, two_three, a_values);
    (void)builder_node(b, "Size", "n", "a", NULL, NULL, NULL);
    builder_int(b, builder_node(b, "Cast", "f", "n", NULL, NULL, NULL), "to", 1);
    (void)builder_int64s(b, "d", 1, six);
    (void)builder_node(b, "Expand", "c", "f", "d", NULL, NULL);
}

static void make_place(struct builder *b)
{
    /* per column of 2 x 3, twice: the row of the largest */
    static const float values[6] = {3, 1, 2, 0, 1, 5};
    (void)builder_floats(b, "a", 2, two_three, values);
    (void)builder_node(b, "ArgMax", "l", "a", NULL, NULL, NULL);
    (void)builder_node(b, "ArgMin", "s", "a", NULL, NULL, NULL);
    builder_int(b, builder_node(b, "Concat", "i", "l", "s", NULL, NULL), "axis", 0);
    builder_int(b, builder_node(b, "Cast", "c", "i", NULL, NULL, NULL), "to", 1);
}

static void make_running_sum(struct builder *b)
{
    static const int64_t axis[1] = {1};
    (void)builder_floats(b, "a", 2, two_three, a_values);
    (void)builder_int64s(b, "i", 1, axis);
    Onnx__NodeProto *node = builder_node(b, "CumSum", "c", "a", "i", NULL, NULL);
    builder_int(b, node, "reverse", 1);
    builder_int(b, node, "exclusive", 1);
}

static void make_softmax(struct builder *b)
{
    (void)builder_floats(b, "a", 2, three_two, b_values);
    (void)builder_node(b, "Softmax", "s", "a", NULL, NULL, NULL);
    (void)builder_node(b, "LogSoftmax", "l", "a", NULL, NULL, NULL);
    (void)builder_node(b, "Exp", "e", "l", NULL, NULL, NULL);
    (void)builder_node(b, "Add", "c", "s", "e", NULL, NULL);
}

static void make_power(struct builder *b)
{
    static const int64_t two[1] = {2}, row[2] = {1, 2};
    static const float exponents[2] = {2, 0.5f};
    (void)row;
    (void)builder_floats(b, "a", 2, three_two, a_values);
    (void)builder_floats(b, "e", 1, two, exponents);
    (void)builder_node(b, "Pow", "c", "a", "e", NULL, NULL);
}

static void make_power_of_integer(struct builder *b)
{
    static const int64_t two[1] = {2};
    (void)builder_floats(b, "a", 2, three_two, b_values);
    (void)builder_int64s(b, "e", 1, two);
    (void)builder_node(b, "Pow", "c", "a", "e", NULL, NULL);
}

static void make_mean(struct builder *b)
{
    static const float third = 3.0f;
    (void)builder_floats(b, "a", 2, three_two, a_values);
    (void)builder_floats(b, "b", 2, three_two, b_values);
    (void)builder_floats(b, "d", 0, NULL, &third);
    (void)builder_node(b, "Mean", "c", "a", "b", "d", NULL);
}

static void make_largest(struct builder *b)
{
    static const float third = 2.5f;
    (void)builder_floats(b, "a", 2, three_two, a_values);
    (void)builder_floats(b, "b", 2, three_two, b_values);
    (void)builder_floats(b, "d", 0, NULL, &third);
    (void)builder_node(b, "Max", "c", "a", "b", "d", NULL);
}

static void make_clip(struct builder *b)
{
    static const float low = 0.0f, high = 2.5f;
    (void)builder_floats(b, "a", 2, three_two, b_values);
    (void)builder_floats(b, "l", 0, NULL, &low);
    (void)builder_floats(b, "h", 0, NULL, &high);
    (void)builder_node(b, "Clip", "c", "a", "l", "h", NULL);
}

/* 1 / 0 is no number of the network as long as it is not one of the result's. */
static void make_infinity(struct builder *b)
{
    static const float zero_or_one[6] = {0, 1, 0, 1, 0, 1};
    (void)builder_floats(b, "a", 2, three_two, zero_or_one);
    (void)builder_node(b, "Reciprocal", "r", "a", NULL, NULL, NULL);
    (void)builder_node(b, "IsInf", "i", "r", NULL, NULL, NULL);
    (void)builder_node(b, "Not", "n", "i", NULL, NULL, NULL);
    (void)builder_node(b, "Xor", "t", "n", "i", NULL, NULL);
    (void)builder_node(b, "Where", "w", "i", "a", "r", NULL);
    builder_int(b, builder_node(b, "Cast", "f", "t", NULL, NULL, NULL), "to", 1);
    (void)builder_node(b, "Add", "c", "w", "f", NULL, NULL);
}

static void operations(void **state)
{
    const double e = exp(1.0);
    const double first = e * e / (1.0 + e * e), second = 1.0 / (1.0 + exp(1.5)), third = 1.0 / (1.0 + exp(-5.0));
    const struct operation cases[] = {
        {"MatMul", 13, make_matmul, {-2, 2, 5, -2, 5, 14}},
        {"MatMul of a vector", 13, make_matmul_of_vector, {12, 34, 56, 78, 100, 122}},
        {"Gemm", 13, make_gemm, {6.5, 7.5, 8, 11, 9.5, 14.5}},
        {"Split", 13, make_split, {2, 3, 1, 5, 6, 4}},
        {"Tile", 13, make_tile, {1, 2, 3, 1, 2, 3}},
        {"Tile of columns", 13, make_tile_of_columns, {1, 1, 1, 2, 2, 2}},
        {"Slice", 13, make_slice, {9, 10, 11, 1, 2, 3}},
        {"Transpose", 13, make_transpose, {1, 4, 2, 5, 3, 6}},
        {"Gather", 13, make_gather, {5, 6, 3, 4, 1, 2}},
        {"Flatten", 13, make_flatten, {1, 20, 3, 40, 5, 60}},
        {"Size", 13, make_size, {6, 6, 6, 6, 6, 6}},
        {"ArgMax, ArgMin", 13, make_place, {0, 0, 1, 1, 0, 0}},
        {"CumSum", 14, make_running_sum, {5, 3, 0, 11, 6, 0}},
        {"Softmax", 13, make_softmax, {2 * first, 2 - 2 * first, 2 * second, 2 - 2 * second, 2 * third, 2 - 2 * third}},
        {"Pow", 13, make_power, {1, sqrt(2.0), 9, 2, 25, sqrt(6.0)}},
        {"Pow of an integer", 13, make_power_of_integer, {1, 1, 0.25, 4, 9, 4}},
        {"Mean", 13, make_mean, {5.0 / 3, 4.0 / 3, 6.5 / 3, 3, 11.0 / 3, 7.0 / 3}},
        {"Max", 13, make_largest, {2.5, 2.5, 3, 4, 5, 6}},
        {"Clip", 13, make_clip, {1, 0, 0.5, 2, 2.5, 0}},
        {"infinity", 13, make_infinity, {1, 2, 1, 2, 1, 2}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        expect_constant(cases[i].opset, make_operation, &cases[i], cases[i].what, cases[i].expected);
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

/* A few bytes of a file cannot ask for all memory, or all time. */
static void a_file_has_limits(void **state)
{
    struct builder b;
    static const int64_t large[2] = {1 << 14, 1 << 14}, larger[2] = {1 << 15, 1 << 14}, square[2] = {1 << 11, 1 << 11};
    (void)state;
    onnx_case_begin(&b, "x", 2, flat2);
    (void)builder_int64s(&b, "n", 2, larger);
    (void)builder_node(&b, "ConstantOfShape", "c", "n", NULL, NULL, NULL);
    (void)builder_node(&b, "Add", "y", "x", "c", NULL, NULL);
    onnx_case_refused(&b, "node \"c\" (ConstantOfShape): the result has more than 2^28 elements");
    onnx_case_begin(&b, "x", 2, flat2);
    (void)builder_int64s(&b, "n", 2, square);
    (void)builder_node(&b, "ConstantOfShape", "c", "n", NULL, NULL, NULL);
    (void)builder_node(&b, "MatMul", "m", "c", "c", NULL, NULL);
    (void)builder_node(&b, "Add", "y", "x", "m", NULL, NULL);
    onnx_case_must_fail(&b, "node \"m\" (MatMul): it takes more than 2^32 products of constants");
    builder_free(&b);
    (void)large;
}

/* Axes and parts of constants are checked as those of tensors; -1 of nothing is nothing. */
static void other_shapes_have_limits(void **state)
{
    struct builder b;
    static const int64_t twice[3] = {0, 0, 1}, parts[2] = {2, 3}, none[2] = {0, -1};
    (void)state;
    onnx_case_begin(&b, "x", 2, flat2);
    (void)builder_int64s(&b, "axes", 2, twice);
    (void)builder_floats(&b, "six", 1, (const int64_t[1]){6}, numbers);
    (void)builder_node(&b, "Unsqueeze", "c", "six", "axes", NULL, NULL);
    (void)builder_node(&b, "Add", "y", "x", "c", NULL, NULL);
    onnx_case_refused(&b, "node \"c\" (Unsqueeze): an axis is named twice");
    onnx_case_begin(&b, "x", 2, flat2);
    (void)builder_int64s(&b, "sizes", 2, parts);
    (void)builder_floats(&b, "six", 1, (const int64_t[1]){6}, numbers);
    Onnx__NodeProto *split = builder_node(&b, "Split", "c", "six", "sizes", NULL, NULL);
    builder_more_outputs(&b, split, 1);
    (void)builder_node(&b, "Add", "y", "x", "c", NULL, NULL);
    onnx_case_refused(&b, "node \"c\" (Split): the parts have 5 of 6 elements");
    onnx_case_begin(&b, "x", 2, flat2);
    (void)builder_int64s(&b, "shape", 2, none);
    (void)builder_floats(&b, "nothing", 1, (const int64_t[1]){0}, numbers);
    (void)builder_node(&b, "Reshape", "c", "nothing", "shape", NULL, NULL);
    (void)builder_int64s(&b, "one", 1, twice + 2);
    (void)builder_node(&b, "Squeeze", "s", "c", "one", NULL, NULL);
    (void)builder_node(&b, "Add", "y", "x", "s", NULL, NULL);
    onnx_case_refused(&b, "node \"s\" (Squeeze): dimension 1 is 0; only 1 can be squeezed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions),         cmocka_unit_test(reductions),
        cmocka_unit_test(operations),        cmocka_unit_test(weights_of_any_size),
        cmocka_unit_test(a_file_has_limits), cmocka_unit_test(other_shapes_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
