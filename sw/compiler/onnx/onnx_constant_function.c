/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise functions of constants, computed in binary64 and rounded once to binary32. Integers only for operators
 * that give integers. */
#include <math.h>

#include "onnx_constant.h"
#include "onnx_text.h"

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

/* Max and Min. The limits were attributes before operator set 11, in which PyTorch gives integers limits of floats. */
static cnnvp_result fold_clip(struct cnnvp_import *import)
{
    static const struct {
        const char *limit, *function;
    } steps[] = {{"min", "Max"}, {"max", "Min"}};
    struct cnnvp_constant operand;
    struct cnnvp_text text = {.used = 0};
    CNNVP_TRY(cnnvp_constant_read(import, 0, &operand));
    say(&text, "kept0 = Identity(a);");
    int count = 0;
    for (size_t i = 0; i < 2; ++i) {
        const float limit = cnnvp_onnx_float(import->node, steps[i].limit, INFINITY);
        if (cnnvp_import_has(import, i + 1u))
            say(&text, "limit%zu = %s(%c); one%zu = Reshape(limit%zu, []);", i,
                operand.whole ? "Cast <to = 7> " : "Identity", (int)('b' + i), i, i);
        else if (isfinite(limit))
            say(&text, "one%zu = Identity(%.9e);", i, (double)limit);
        else
            continue;
        say(&text, "kept%d = %s(kept%d, one%zu);", count + 1, steps[i].function, count, i);
        ++count;
    }
    say(&text, "y = Identity(kept%d)", count);
    return rewrite(import, &text);
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
