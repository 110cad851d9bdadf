/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one number, of constants: in binary64, rounded to binary32 once. Integers only where the result is one.
 */
#include <math.h>

#include "onnx_constant.h"

enum function {
    NEGATE,
    ABSOLUTE,
    SIGN,
    RELU,
    FLOOR,
    CEIL,
    ROUND, /* of integers too */
    SQRT,
    RECIPROCAL,
    EXP,
    LOG,
    ERF,
    SIGMOID,
    TANH,
    SOFTPLUS,
    SOFTSIGN,
    SIN,
    COS,
    TAN,
    ASIN,
    ACOS,
    ATAN,
    SINH,
    COSH,
    ASINH,
    ACOSH,
    ATANH
};

static double value_of(enum function function, double x)
{
    switch (function) {
    case NEGATE:
        return -x;
    case ABSOLUTE:
        return fabs(x);
    case SIGN:
        return (double)(x > 0.0) - (double)(x < 0.0);
    case RELU:
        return x > 0.0 ? x : 0.0;
    case FLOOR:
        return floor(x);
    case CEIL:
        return ceil(x);
    case ROUND:
        return rint(x);
    case SQRT:
        return sqrt(x);
    case RECIPROCAL:
        return 1.0 / x;
    case EXP:
        return exp(x);
    case LOG:
        return log(x);
    case ERF:
        return erf(x);
    case SIGMOID:
        return 1.0 / (1.0 + exp(-x));
    case TANH:
        return tanh(x);
    case SOFTPLUS:
        return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
    case SOFTSIGN:
        return x / (1.0 + fabs(x));
    case SIN:
        return sin(x);
    case COS:
        return cos(x);
    case TAN:
        return tan(x);
    case ASIN:
        return asin(x);
    case ACOS:
        return acos(x);
    case ATAN:
        return atan(x);
    case SINH:
        return sinh(x);
    case COSH:
        return cosh(x);
    case ASINH:
        return asinh(x);
    case ACOSH:
        return acosh(x);
    case ATANH:
        break;
    }
    return atanh(x);
}

static int64_t whole_of(enum function function, int64_t x)
{
    switch (function) {
    case NEGATE:
        return x == INT64_MIN ? x : -x;
    case ABSOLUTE:
        return x < 0 && x != INT64_MIN ? -x : x;
    case SIGN:
        return (x > 0) - (x < 0);
    case RELU:
        return x > 0 ? x : 0;
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
    if (operand.whole && function > ROUND)
        return cnnvp_import_error(import, "the constant has integers; floats are needed");
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&operand)));
    for (size_t i = 0; i < made.count && made.ints != NULL; ++i)
        made.ints[i] = whole_of(function, operand.ints[i]);
    for (size_t i = 0; i < made.count && made.floats != NULL; ++i)
        made.floats[i] = (float)value_of(function, (double)operand.floats[i]);
    return cnnvp_constant_define(import, &made);
}

/* What is true of one number: 0 or 1. */
enum question { IS_ZERO, IS_NAN, IS_INFINITE };

static cnnvp_result fold_question(struct cnnvp_import *import)
{
    struct cnnvp_constant operand;
    const enum question question = (enum question)import->kind;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &operand));
    struct cnnvp_constant made = operand;
    made.whole = 1;
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&operand)));
    for (size_t i = 0; i < made.count && made.ints != NULL; ++i) {
        const float x = operand.whole ? (float)operand.ints[i] : operand.floats[i];
        made.ints[i] = question == IS_NAN ? isnan(x) != 0 : question == IS_INFINITE ? isinf(x) != 0 : !(x < 0 || x > 0);
    }
    return cnnvp_constant_define(import, &made);
}

/* A limit of Clip from an attribute (before operator set 11) or an input; without it the one that is there. */
static cnnvp_result read_limit(struct cnnvp_import *import, const char *attribute, size_t input, float *limit)
{
    struct cnnvp_constant read;
    *limit = cnnvp_onnx_float(import->node, attribute, *limit);
    if (!cnnvp_import_has(import, input))
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_constant_need(import, input, &read));
    if (read.count != 1)
        return cnnvp_import_error(import, "limit \"%s\" is not one number", import->node->input[input]);
    *limit = read.whole ? (float)read.ints[0] : read.floats[0];
    return CNNVP_DONE;
}

static cnnvp_result fold_clip(struct cnnvp_import *import)
{
    struct cnnvp_constant operand;
    float low = -INFINITY;
    float high = INFINITY;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &operand));
    CNNVP_TRY(read_limit(import, "min", 1, &low));
    CNNVP_TRY(read_limit(import, "max", 2, &high));
    struct cnnvp_constant made = operand;
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&operand)));
    for (size_t i = 0; i < made.count && made.floats != NULL; ++i)
        made.floats[i] = fminf(high, fmaxf(low, operand.floats[i]));
    for (size_t i = 0; i < made.count && made.ints != NULL; ++i) {
        const double x = (double)operand.ints[i];
        made.ints[i] = x > (double)high  ? (int64_t)high
                       : x < (double)low ? (int64_t)(high < low ? high : low)
                                         : operand.ints[i];
    }
    return cnnvp_constant_define(import, &made);
}

static const struct cnnvp_import_operator operators[] = {
    {"Neg", fold_function, CNNVP_FORM_ALL, NEGATE},
    {"Abs", fold_function, CNNVP_FORM_ALL, ABSOLUTE},
    {"Sign", fold_function, CNNVP_FORM_ALL, SIGN},
    {"Relu", fold_function, CNNVP_FORM_ALL, RELU},
    {"Floor", fold_function, CNNVP_FORM_ALL, FLOOR},
    {"Ceil", fold_function, CNNVP_FORM_ALL, CEIL},
    {"Round", fold_function, CNNVP_FORM_ALL, ROUND},
    {"Sqrt", fold_function, CNNVP_FORM_ALL, SQRT},
    {"Reciprocal", fold_function, CNNVP_FORM_ALL, RECIPROCAL},
    {"Exp", fold_function, CNNVP_FORM_ALL, EXP},
    {"Log", fold_function, CNNVP_FORM_ALL, LOG},
    {"Erf", fold_function, CNNVP_FORM_ALL, ERF},
    {"Sigmoid", fold_function, CNNVP_FORM_ALL, SIGMOID},
    {"Tanh", fold_function, CNNVP_FORM_ALL, TANH},
    {"Softplus", fold_function, CNNVP_FORM_ALL, SOFTPLUS},
    {"Softsign", fold_function, CNNVP_FORM_ALL, SOFTSIGN},
    {"Sin", fold_function, CNNVP_FORM_ALL, SIN},
    {"Cos", fold_function, CNNVP_FORM_ALL, COS},
    {"Tan", fold_function, CNNVP_FORM_ALL, TAN},
    {"Asin", fold_function, CNNVP_FORM_ALL, ASIN},
    {"Acos", fold_function, CNNVP_FORM_ALL, ACOS},
    {"Atan", fold_function, CNNVP_FORM_ALL, ATAN},
    {"Sinh", fold_function, CNNVP_FORM_ALL, SINH},
    {"Cosh", fold_function, CNNVP_FORM_ALL, COSH},
    {"Asinh", fold_function, CNNVP_FORM_ALL, ASINH},
    {"Acosh", fold_function, CNNVP_FORM_ALL, ACOSH},
    {"Atanh", fold_function, CNNVP_FORM_ALL, ATANH},
    {"Not", fold_question, CNNVP_FORM_ALL, IS_ZERO},
    {"IsNaN", fold_question, CNNVP_FORM_ALL, IS_NAN},
    {"IsInf", fold_question, CNNVP_FORM_ALL, IS_INFINITE},
    {"Clip", fold_clip, CNNVP_FORM_ALL, 0},
};

const struct cnnvp_import_operators cnnvp_constant_functions = {operators, sizeof operators / sizeof operators[0]};
