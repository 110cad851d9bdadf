/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise functions of constants, computed in binary64 and rounded once to binary32. Integers only for operators
 * that give integers. */
#include <math.h>

#include "onnx_constant.h"

/* Operators that also take integers: name, value for floats, value for integers. */
#define WHOLE_FUNCTIONS(F)                                                           \
    F(Neg, -x, x == INT64_MIN ? x : -x)                                              \
    F(Abs, fabs(x), x < 0 && x != INT64_MIN ? -x : x)                                \
    F(Sign, isnan(x) ? x : (double)(x > 0.0) - (double)(x < 0.0), (x > 0) - (x < 0)) \
    F(Relu, cnnvp_constant_larger(x, 0.0), x > 0 ? x : 0)                            \
    F(Floor, floor(x), x)                                                            \
    F(Ceil, ceil(x), x)                                                              \
    F(Round, rint(x), x)

/* Operators for floats only: name and value. */
#define FUNCTIONS(F)                                          \
    F(Sqrt, sqrt(x))                                          \
    F(Reciprocal, 1.0 / x)                                    \
    F(Exp, exp(x))                                            \
    F(Log, log(x))                                            \
    F(Erf, erf(x))                                            \
    F(Sigmoid, 1.0 / (1.0 + exp(-x)))                         \
    F(Tanh, tanh(x))                                          \
    F(Softplus, x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x))) \
    F(Softsign, x / (1.0 + fabs(x)))                          \
    F(Sin, sin(x))                                            \
    F(Cos, cos(x))                                            \
    F(Tan, tan(x))                                            \
    F(Asin, asin(x))                                          \
    F(Acos, acos(x))                                          \
    F(Atan, atan(x))                                          \
    F(Sinh, sinh(x))                                          \
    F(Cosh, cosh(x))                                          \
    F(Asinh, asinh(x))                                        \
    F(Acosh, acosh(x))                                        \
    F(Atanh, atanh(x))

#define WHOLE_NAME(name, value, whole) OF_##name,
#define NAME(name, value) OF_##name,
enum function { WHOLE_FUNCTIONS(WHOLE_NAME) FUNCTIONS(NAME) };

#define WHOLE_CASE(name, value, whole) \
    case OF_##name:                    \
        return value;
#define CASE(name, value) WHOLE_CASE(name, value, x)
static double value_of(enum function function, double x)
{
    switch (function) {
        WHOLE_FUNCTIONS(WHOLE_CASE)
        FUNCTIONS(CASE)
    }
    return x;
}

#define INTEGER_CASE(name, value, whole) WHOLE_CASE(name, whole, x)
static int64_t whole_of(enum function function, int64_t x)
{
    switch (function) {
        WHOLE_FUNCTIONS(INTEGER_CASE) /* NOLINT(bugprone-branch-clone): rows of a table */
    default:
        return x;
    }
}

static cnnvp_result fold_function(struct cnnvp_import *import)
{
    struct cnnvp_constant operand;
    const enum function function = (enum function)import->kind;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &operand));
    struct cnnvp_constant made = operand;
    if ((operand.whole || operand.bytes != 0) && function > OF_Round)
        return cnnvp_import_error(import, "the constant has integers; floats are needed");
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&operand)));
    for (size_t i = 0; i < made.count && made.ints != NULL; ++i)
        made.ints[i] = whole_of(function, operand.ints[i]);
    for (size_t i = 0; i < made.count && made.floats != NULL; ++i)
        made.floats[i] = (float)value_of(function, (double)operand.floats[i]);
    return cnnvp_constant_define(import, &made);
}

/* Tests of one element; the result is 0 or 1. */
enum question { IS_ZERO, IS_NAN, IS_INFINITE };

/* 1: an infinity of a sign that the node asks for. */
static int is_infinite(const struct cnnvp_import *import, float x)
{
    return isinf(x) && cnnvp_onnx_int(import->node, x < 0 ? "detect_negative" : "detect_positive", 1) != 0;
}

static cnnvp_result fold_question(struct cnnvp_import *import)
{
    struct cnnvp_constant operand;
    const enum question question = (enum question)import->kind;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &operand));
    struct cnnvp_constant made = operand;
    made.whole = 1;
    made.bytes = 0;
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&operand)));
    for (size_t i = 0; i < made.count && made.ints != NULL; ++i) {
        const float x = operand.whole ? (float)operand.ints[i] : operand.floats[i];
        made.ints[i] = question == IS_NAN        ? isnan(x) != 0
                       : question == IS_INFINITE ? is_infinite(import, x)
                                                 : !(x < 0 || x > 0);
    }
    return cnnvp_constant_define(import, &made);
}

/* A limit of Clip: an attribute before operator set 11, an input of the operand's type since then. *limit and *whole,
 * the limit of integers, hold the default. */
static cnnvp_result read_limit(struct cnnvp_import *import, const char *attribute, size_t input,
                               const struct cnnvp_constant *operand, float *limit, int64_t *whole)
{
    struct cnnvp_constant read;
    *limit = cnnvp_onnx_float(import->node, attribute, *limit);
    if (!cnnvp_import_has(import, input))
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_constant_need(import, input, &read));
    /* PyTorch gives integers limits of floats in operator set 11. */
    const int fits = operand->whole && !read.whole && read.count == 1 && fabsf(read.floats[0]) < 0x1p62f;
    if (read.count != 1 || (read.whole != operand->whole && !fits))
        return cnnvp_import_error(
            import, "limit \"%s\" is not one number of the constant's type", import->node->input[input]);
    *whole = read.whole ? read.ints[0] : fits ? (int64_t)read.floats[0] : *whole;
    *limit = read.whole ? *limit : read.floats[0];
    return CNNVP_DONE;
}

static cnnvp_result fold_clip(struct cnnvp_import *import)
{
    struct cnnvp_constant operand;
    float low = -INFINITY;
    float high = INFINITY;
    int64_t least = INT64_MIN;
    int64_t most = INT64_MAX;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &operand));
    CNNVP_TRY(read_limit(import, "min", 1, &operand, &low, &least));
    CNNVP_TRY(read_limit(import, "max", 2, &operand, &high, &most));
    struct cnnvp_constant made = operand;
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&operand)));
    for (size_t i = 0; i < made.count && made.floats != NULL; ++i) {
        const float from = (float)cnnvp_constant_larger((double)operand.floats[i], (double)low);
        made.floats[i] = from > high ? high : from;
    }
    for (size_t i = 0; i < made.count && made.ints != NULL; ++i) {
        const int64_t from = operand.ints[i] > least ? operand.ints[i] : least;
        made.ints[i] = from < most ? from : most;
    }
    return cnnvp_constant_define(import, &made);
}

static const struct cnnvp_constant_operator operators[] = {
#define WHOLE_ROW(name, value, whole) {#name, fold_function, OF_##name},
#define ROW(name, value) WHOLE_ROW(name, value, x)
    WHOLE_FUNCTIONS(WHOLE_ROW) FUNCTIONS(ROW){"Not", fold_question, IS_ZERO},
    {"IsNaN", fold_question, IS_NAN},
    {"IsInf", fold_question, IS_INFINITE},
    {"Clip", fold_clip, 0},
};

const struct cnnvp_constant_operators cnnvp_constant_functions = {operators, sizeof operators / sizeof operators[0]};
