/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of constants, element by element, with dimensions of 1 that count for all: what exporters write where a
 * size is a symbol, and what becomes of weights.
 */
#include <math.h>
#include <string.h>

#include "onnx_constant.h"

enum {
    ADD,
    SUB,
    MUL,
    DIV,
    MOD,
    LESSER,
    GREATER, /* numbers */
    IS_EQUAL,
    IS_LESS,
    IS_MORE,
    IS_LESS_OR_EQUAL,
    IS_MORE_OR_EQUAL,
    AND,
    OR, /* 0 or 1 */
    NEGATE,
    ABSOLUTE,
    FLOOR,
    CEIL,
    NOT
};

/* Where element i of `made` is in an operand. */
static size_t place_in(const struct cnnvp_constant *made, const struct cnnvp_constant *from, size_t i)
{
    size_t place = 0;
    size_t stride = 1;
    if (from->count == 1)
        return 0;
    if (from->count == made->count)
        return i;
    for (size_t d = 1; d <= from->rank; ++d) {
        const size_t size = (size_t)from->dims[from->rank - d];
        const size_t along = (size_t)made->dims[made->rank - d];
        place += size != 1 ? i % along * stride : 0;
        stride *= size;
        i /= along;
    }
    return place;
}

/* 0: the result is no integer of 64 bits. */
static int combine_ints(int operation, int64_t a, int64_t b, int64_t *out)
{
    switch (operation) {
    case ADD:
        return !__builtin_add_overflow(a, b, out);
    case SUB:
        return !__builtin_sub_overflow(a, b, out);
    case MUL:
        return !__builtin_mul_overflow(a, b, out);
    case DIV:
    case MOD:
        if (b == 0 || (a == INT64_MIN && b == -1))
            return 0;
        *out = operation == DIV ? a / b : a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);
        return 1;
    default:
        *out = (operation == LESSER) == (a < b) ? a : b;
        return 1;
    }
}

static float combine_floats(int operation, float a, float b)
{
    switch (operation) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * b;
    case DIV:
        return a / b;
    case MOD:
        return fmodf(a, b);
    default:
        return (operation == LESSER) == (a < b) ? a : b;
    }
}

#define COMPARE(type)                                        \
    static int compare_##type(int operation, type a, type b) \
    {                                                        \
        switch (operation) {                                 \
        case IS_EQUAL:                                       \
            return !(a < b) && !(a > b);                     \
        case IS_LESS:                                        \
            return a < b;                                    \
        case IS_MORE:                                        \
            return a > b;                                    \
        case IS_LESS_OR_EQUAL:                               \
            return a <= b;                                   \
        case IS_MORE_OR_EQUAL:                               \
            return a >= b;                                   \
        case AND:                                            \
            return (a < 0 || a > 0) && (b < 0 || b > 0);     \
        default:                                             \
            return a < 0 || a > 0 || b < 0 || b > 0;         \
        }                                                    \
    }
COMPARE(int64_t)
COMPARE(float)

/* Operands first .. of one kind; *made gets the shape that they make together, and memory unless one was not read. */
static cnnvp_result prepare(struct cnnvp_import *import, const struct cnnvp_constant *operands, size_t count,
                            size_t first, int whole, struct cnnvp_constant *made, int *read)
{
    *made = (struct cnnvp_constant){.whole = whole};
    *read = 1;
    for (size_t i = 0; i < count; ++i) {
        if (!cnnvp_import_join_dims(&made->rank, made->dims, operands[i].rank, operands[i].dims) ||
            (i >= first && operands[i].whole != operands[first].whole))
            return cnnvp_import_error(import, "its inputs are constants of shapes that do not match, or "
                                              "integers and others");
        *read = *read && (operands[i].whole || operands[i].floats != NULL);
    }
    return *read ? cnnvp_constant_allocate(import, made) : CNNVP_DONE;
}

static cnnvp_result fold_two(struct cnnvp_import *import)
{
    struct cnnvp_constant operands[2];
    struct cnnvp_constant made = {.rank = 0};
    int read;
    const int operation = import->kind;
    const int compares = operation >= IS_EQUAL && operation <= OR;
    cnnvp_result result = cnnvp_constant_read(import, 0, &operands[0]);
    if (result == CNNVP_DONE)
        result = cnnvp_constant_read(import, 1, &operands[1]);
    if (result == CNNVP_DONE)
        result = prepare(import, operands, 2, 0, compares || operands[0].whole, &made, &read);
    if (result == CNNVP_DONE && import->node->n_input > 2)
        return cnnvp_import_error(import, "more than two constants");
    for (size_t i = 0; i < made.count && result == CNNVP_DONE; ++i) {
        const size_t x = place_in(&made, &operands[0], i);
        const size_t y = place_in(&made, &operands[1], i);
        if (!operands[0].whole && !compares)
            made.floats[i] = combine_floats(operation, operands[0].floats[x], operands[1].floats[y]);
        else if (!operands[0].whole)
            made.ints[i] = compare_float(operation, operands[0].floats[x], operands[1].floats[y]);
        else if (compares)
            made.ints[i] = compare_int64_t(operation, operands[0].ints[x], operands[1].ints[y]);
        else if (!combine_ints(operation, operands[0].ints[x], operands[1].ints[y], &made.ints[i]))
            result = cnnvp_import_error(import, "the integers divide by 0 or overflow");
    }
    return result == CNNVP_DONE ? cnnvp_constant_define(import, &made) : result;
}

static cnnvp_result fold_one(struct cnnvp_import *import)
{
    struct cnnvp_constant operand;
    struct cnnvp_constant made = {.rank = 0};
    int read;
    const int operation = import->kind;
    cnnvp_result result = cnnvp_constant_read(import, 0, &operand);
    if (result == CNNVP_DONE)
        result = prepare(import, &operand, 1, 0, operand.whole || operation == NOT, &made, &read);
    for (size_t i = 0; i < made.count && result == CNNVP_DONE; ++i) {
        const float number = operand.whole ? 0.0f : operand.floats[i];
        const int64_t whole = operand.whole ? operand.ints[i] : 0;
        if (operation == NOT)
            made.ints[i] = whole == 0 && !(number < 0.0f || number > 0.0f);
        else if (!operand.whole)
            made.floats[i] = operation == NEGATE     ? -number
                             : operation == ABSOLUTE ? fabsf(number)
                             : operation == FLOOR    ? floorf(number)
                                                     : ceilf(number);
        else if (operation == NEGATE || (operation == ABSOLUTE && whole < 0))
            made.ints[i] = whole == INT64_MIN ? whole : -whole;
        else
            made.ints[i] = whole;
    }
    return result == CNNVP_DONE ? cnnvp_constant_define(import, &made) : result;
}

static cnnvp_result fold_where(struct cnnvp_import *import)
{
    struct cnnvp_constant operands[3];
    struct cnnvp_constant made = {.rank = 0};
    int read;
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < 3 && result == CNNVP_DONE; ++i)
        result = cnnvp_constant_read(import, i, &operands[i]);
    if (result == CNNVP_DONE)
        result = prepare(import, operands, 3, 1, operands[1].whole, &made, &read);
    for (size_t i = 0; i < made.count && result == CNNVP_DONE; ++i) {
        const size_t at = place_in(&made, &operands[0], i);
        const int first = operands[0].whole ? operands[0].ints[at] != 0
                                            : operands[0].floats[at] < 0.0f || operands[0].floats[at] > 0.0f;
        const struct cnnvp_constant *from = &operands[first ? 1 : 2];
        const size_t place = place_in(&made, from, i);
        if (made.whole)
            made.ints[i] = from->ints[place];
        else
            made.floats[i] = from->floats[place];
    }
    return result == CNNVP_DONE ? cnnvp_constant_define(import, &made) : result;
}

/* First, first + step, ... up to before the limit. */
static cnnvp_result fold_range(struct cnnvp_import *import)
{
    struct cnnvp_constant operands[3];
    struct cnnvp_constant made = {.rank = 0};
    int read;
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < 3 && result == CNNVP_DONE; ++i)
        result = cnnvp_constant_read(import, i, &operands[i]);
    if (result == CNNVP_DONE)
        result = prepare(import, operands, 3, 0, operands[0].whole, &made, &read);
    if (result != CNNVP_DONE)
        return result;
    double numbers[3];
    for (size_t i = 0; i < 3 && read; ++i) {
        if (operands[i].count != 1)
            return cnnvp_import_error(import, "input \"%s\" is not one number", import->node->input[i]);
        numbers[i] = operands[i].whole ? (double)operands[i].ints[0] : (double)operands[i].floats[0];
    }
    const double count = read ? ceil((numbers[1] - numbers[0]) / numbers[2]) : 0.0;
    if (!read || !(count <= CNNVP_ONNX_DIMENSION_MAX))
        return cnnvp_import_error(import, "it has more than %d numbers, or a step of 0", CNNVP_ONNX_DIMENSION_MAX);
    made.rank = 1;
    made.dims[0] = count > 0.0 ? (int64_t)count : 0;
    result = cnnvp_constant_allocate(import, &made);
    for (size_t i = 0; i < made.count && result == CNNVP_DONE; ++i) {
        if (made.whole)
            made.ints[i] = (int64_t)((uint64_t)operands[0].ints[0] + i * (uint64_t)operands[2].ints[0]);
        else
            made.floats[i] = operands[0].floats[0] + (float)i * operands[2].floats[0];
    }
    return result == CNNVP_DONE ? cnnvp_constant_define(import, &made) : result;
}

struct expansion {
    const struct cnnvp_constant *made;
    const struct cnnvp_constant *from;
};

static size_t expand_place(const void *context, size_t i)
{
    const struct expansion *expansion = context;
    return place_in(expansion->made, expansion->from, i);
}

static cnnvp_result fold_expand(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    size_t count;
    int64_t shape[CNNVP_CONSTANT_RANK];
    cnnvp_result result = cnnvp_constant_read(import, 0, &data);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "shape", 1, CNNVP_CONSTANT_RANK, shape, &count);
    if (result != CNNVP_DONE)
        return result;
    struct cnnvp_constant made = {.rank = data.rank};
    memcpy(made.dims, data.dims, sizeof made.dims);
    if (!cnnvp_import_join_dims(&made.rank, made.dims, count, shape))
        return cnnvp_import_error(import, "the shape does not match the constant's");
    const struct expansion expansion = {&made, &data};
    return cnnvp_constant_move(import, &data, &made, expand_place, &expansion);
}

static const struct cnnvp_import_operator operators[] = {
    {"Add", fold_two, CNNVP_FORM_ALL, ADD},
    {"Sub", fold_two, CNNVP_FORM_ALL, SUB},
    {"Mul", fold_two, CNNVP_FORM_ALL, MUL},
    {"Div", fold_two, CNNVP_FORM_ALL, DIV},
    {"Mod", fold_two, CNNVP_FORM_ALL, MOD},
    {"Min", fold_two, CNNVP_FORM_ALL, LESSER},
    {"Max", fold_two, CNNVP_FORM_ALL, GREATER},
    {"Equal", fold_two, CNNVP_FORM_ALL, IS_EQUAL},
    {"Less", fold_two, CNNVP_FORM_ALL, IS_LESS},
    {"Greater", fold_two, CNNVP_FORM_ALL, IS_MORE},
    {"LessOrEqual", fold_two, CNNVP_FORM_ALL, IS_LESS_OR_EQUAL},
    {"GreaterOrEqual", fold_two, CNNVP_FORM_ALL, IS_MORE_OR_EQUAL},
    {"And", fold_two, CNNVP_FORM_ALL, AND},
    {"Or", fold_two, CNNVP_FORM_ALL, OR},
    {"Neg", fold_one, CNNVP_FORM_ALL, NEGATE},
    {"Abs", fold_one, CNNVP_FORM_ALL, ABSOLUTE},
    {"Floor", fold_one, CNNVP_FORM_ALL, FLOOR},
    {"Ceil", fold_one, CNNVP_FORM_ALL, CEIL},
    {"Not", fold_one, CNNVP_FORM_ALL, NOT},
    {"Where", fold_where, CNNVP_FORM_ALL, 0},
    {"Range", fold_range, CNNVP_FORM_ALL, 0},
    {"Expand", fold_expand, CNNVP_FORM_ALL, 0},
};

const struct cnnvp_import_operators cnnvp_constant_arithmetic = {operators, sizeof operators / sizeof operators[0]};
