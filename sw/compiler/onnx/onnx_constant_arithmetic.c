/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise arithmetic of constants with broadcasting: shape computations of exporters, and transformed weights. */
#include <math.h>
#include <string.h>

#include "onnx_constant.h"

enum {
    ADD,
    SUB,
    MUL,
    DIV,
    MOD,       /* with the divisor's sign */
    REMAINDER, /* attribute fmod: with the dividend's sign */
    POWER,
    LESSER,
    GREATER, /* up to here the result has the operands' kind */
    IS_EQUAL,
    IS_LESS,
    IS_MORE,
    IS_LESS_OR_EQUAL,
    IS_MORE_OR_EQUAL,
    AND,
    OR,
    XOR /* IS_EQUAL .. XOR give 0 or 1 */
};

/* Returns 0 if the result does not fit in 64 bits or is not an integer. */
static int power(int64_t base, int64_t exponent, int64_t *out)
{
    *out = 1;
    if (exponent < 0)
        return 0;
    for (; exponent != 0; exponent >>= 1) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(*out, base, out))
            return 0;
        if (exponent > 1 && __builtin_mul_overflow(base, base, &base))
            return 0;
    }
    return 1;
}

/* Returns 0 for a division by 0 or an overflow. */
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
    case REMAINDER:
        if (b == 0 || (a == INT64_MIN && b == -1))
            return 0;
        *out = operation == DIV ? a / b : a % b;
        if (operation == MOD && *out != 0 && (*out < 0) != (b < 0))
            *out += b;
        return 1;
    case POWER:
        return power(a, b, out);
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
        return a - b * floorf(a / b);
    case REMAINDER:
        return fmodf(a, b);
    case POWER:
        return (float)pow((double)a, (double)b);
    case LESSER:
        return (float)-cnnvp_constant_larger(-(double)a, -(double)b);
    default:
        return (float)cnnvp_constant_larger((double)a, (double)b);
    }
}

#define COMPARE(type)                                        \
    static int compare_##type(int operation, type a, type b) \
    {                                                        \
        switch (operation) {                                 \
        case IS_EQUAL:                                       \
            return a <= b && a >= b;                         \
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
        case XOR:                                            \
            return (a < 0 || a > 0) != (b < 0 || b > 0);     \
        default:                                             \
            return a < 0 || a > 0 || b < 0 || b > 0;         \
        }                                                    \
    }
COMPARE(int64_t)
COMPARE(float)

/* Operands from index `first` on must be of one kind. *made gets the broadcast shape of all operands, and memory if all
 * are known. */
static cnnvp_result prepare(struct cnnvp_import *import, const struct cnnvp_constant *operands, size_t count,
                            size_t first, int whole, struct cnnvp_constant *made)
{
    int known = 1;
    *made = (struct cnnvp_constant){.whole = whole, .bytes = operands[first].bytes};
    for (size_t i = 0; i < count; ++i) {
        if (!cnnvp_import_join_dims(&made->rank, made->dims, operands[i].rank, operands[i].dims) ||
            (i >= first && operands[i].whole != operands[first].whole))
            return cnnvp_import_error(import, "its inputs are constants of shapes that do not match, or "
                                              "integers and others");
        known = known && cnnvp_constant_known(&operands[i]);
    }
    return cnnvp_constant_allocate(import, made, known);
}

static struct cnnvp_constant_walk walk_through(const struct cnnvp_constant *operand, const struct cnnvp_constant *made)
{
    const struct cnnvp_constant_view view = cnnvp_constant_spread(operand, made->rank, made->dims);
    return cnnvp_constant_begin(&view);
}

static cnnvp_result combine(struct cnnvp_import *import, int operation, const struct cnnvp_constant operands[2],
                            struct cnnvp_constant *made)
{
    const int compares = operation >= IS_EQUAL && operation <= XOR;
    CNNVP_TRY(prepare(import, operands, 2, 0, compares || operands[0].whole, made));
    made->bytes = compares ? 0 : made->bytes;
    if (made->count == 0 || !cnnvp_constant_known(made))
        return CNNVP_DONE;
    struct cnnvp_constant_walk walks[2] = {walk_through(&operands[0], made), walk_through(&operands[1], made)};
    for (size_t i = 0; i < made->count; ++i) {
        const size_t x = cnnvp_constant_next(&walks[0]);
        const size_t y = cnnvp_constant_next(&walks[1]);
        if (!operands[0].whole && !compares)
            made->floats[i] = combine_floats(operation, operands[0].floats[x], operands[1].floats[y]);
        else if (!operands[0].whole)
            made->ints[i] = compare_float(operation, operands[0].floats[x], operands[1].floats[y]);
        else if (compares)
            made->ints[i] = compare_int64_t(operation, operands[0].ints[x], operands[1].ints[y]);
        else if (!combine_ints(operation, operands[0].ints[x], operands[1].ints[y], &made->ints[i]))
            return cnnvp_import_error(import, "the integers divide by 0 or overflow");
    }
    return CNNVP_DONE;
}

/* Converts the exponent to the base's kind, integer or float; ONNX allows both to differ. */
static cnnvp_result match_exponent(struct cnnvp_import *import, int whole, struct cnnvp_constant *exponent)
{
    const struct cnnvp_constant from = *exponent;
    if (from.whole == whole)
        return CNNVP_DONE;
    exponent->whole = whole;
    CNNVP_TRY(cnnvp_constant_allocate(import, exponent, cnnvp_constant_known(&from)));
    for (size_t i = 0; i < from.count && exponent->floats != NULL; ++i)
        exponent->floats[i] = (float)from.ints[i];
    for (size_t i = 0; i < from.count && exponent->ints != NULL; ++i) {
        if (!(fabsf(from.floats[i]) < 64.0f) || truncf(from.floats[i]) < from.floats[i])
            return cnnvp_import_error(import, "integers to the power of %g", (double)from.floats[i]);
        exponent->ints[i] = (int64_t)from.floats[i];
    }
    return CNNVP_DONE;
}

/* Integers of 8 and 16 bits, which are floats elsewhere, are computed as integers. */
static cnnvp_result read_operand(struct cnnvp_import *import, size_t input, struct cnnvp_constant *read)
{
    CNNVP_TRY(cnnvp_constant_read(import, input, read));
    const struct cnnvp_constant from = *read;
    if (from.bytes == 0 || from.whole)
        return CNNVP_DONE;
    read->whole = 1;
    CNNVP_TRY(cnnvp_constant_allocate(import, read, cnnvp_constant_known(&from)));
    for (size_t i = 0; i < read->count && read->ints != NULL; ++i)
        read->ints[i] = (int64_t)from.floats[i];
    return CNNVP_DONE;
}

/* Operators with two operands, or an operator that accumulates any number of them. */
static cnnvp_result fold_several(struct cnnvp_import *import)
{
    const size_t count = import->node->n_input;
    const int truncates = import->kind == MOD && cnnvp_onnx_int(import->node, "fmod", 0) != 0;
    const int operation = truncates ? REMAINDER : import->kind;
    const int many = operation == ADD || operation == LESSER || operation == GREATER;
    struct cnnvp_constant made;
    int done;
    CNNVP_TRY(cnnvp_import_by_axis(import, &done));
    if (done)
        return CNNVP_DONE;
    CNNVP_TRY(read_operand(import, 0, &made));
    if (many ? count < 1 : count != 2)
        return cnnvp_import_error(import, "it has %zu operands", count);
    for (size_t i = 1; i < count; ++i) {
        struct cnnvp_constant operands[2] = {made};
        CNNVP_TRY(read_operand(import, i, &operands[1]));
        if (operation == POWER)
            CNNVP_TRY(match_exponent(import, operands[0].whole, &operands[1]));
        CNNVP_TRY(combine(import, operation, operands, &made));
    }
    return cnnvp_constant_define(import, &made);
}

static cnnvp_result fold_where(struct cnnvp_import *import)
{
    struct cnnvp_constant operands[3];
    struct cnnvp_constant made = {.rank = 0};
    for (size_t i = 0; i < 3; ++i)
        CNNVP_TRY(cnnvp_constant_read(import, i, &operands[i]));
    CNNVP_TRY(prepare(import, operands, 3, 1, operands[1].whole, &made));
    struct cnnvp_constant_walk walks[3];
    for (size_t i = 0; i < 3; ++i)
        walks[i] = walk_through(&operands[i], &made);
    for (size_t i = 0; i < made.count && cnnvp_constant_known(&made); ++i) {
        const size_t places[3] = {
            cnnvp_constant_next(&walks[0]), cnnvp_constant_next(&walks[1]), cnnvp_constant_next(&walks[2])};
        const int first =
            operands[0].whole ? operands[0].ints[places[0]] != 0
                              : operands[0].floats[places[0]] < 0.0f || operands[0].floats[places[0]] > 0.0f;
        const size_t from = first ? 1 : 2;
        cnnvp_constant_take(&made, i, &operands[from], places[from], 1);
    }
    return cnnvp_constant_define(import, &made);
}

/* start, start + delta, ... below the limit. */
static cnnvp_result fold_range(struct cnnvp_import *import)
{
    struct cnnvp_constant operands[3];
    struct cnnvp_constant made = {.rank = 0};
    for (size_t i = 0; i < 3; ++i)
        CNNVP_TRY(cnnvp_constant_need(import, i, &operands[i]));
    CNNVP_TRY(prepare(import, operands, 3, 0, operands[0].whole, &made));
    double numbers[3];
    for (size_t i = 0; i < 3; ++i) {
        if (operands[i].count != 1)
            return cnnvp_import_error(import, "input \"%s\" is not one number", import->node->input[i]);
        numbers[i] = operands[i].whole ? (double)operands[i].ints[0] : (double)operands[i].floats[0];
    }
    const double count = ceil((numbers[1] - numbers[0]) / numbers[2]);
    if (!(count <= CNNVP_ONNX_DIMENSION_MAX))
        return cnnvp_import_error(import, "it has more than %d numbers, or a step of 0", CNNVP_ONNX_DIMENSION_MAX);
    made.rank = 1;
    made.dims[0] = count > 0.0 ? (int64_t)count : 0;
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, 1));
    for (size_t i = 0; i < made.count && cnnvp_constant_known(&made); ++i) {
        if (made.whole)
            made.ints[i] = (int64_t)((uint64_t)operands[0].ints[0] + i * (uint64_t)operands[2].ints[0]);
        else
            made.floats[i] = operands[0].floats[0] + (float)i * operands[2].floats[0];
    }
    return cnnvp_constant_define(import, &made);
}

static cnnvp_result fold_expand(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    size_t count;
    int64_t shape[CNNVP_CONSTANT_RANK];
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    CNNVP_TRY(cnnvp_import_list(import, "shape", 1, CNNVP_CONSTANT_RANK, shape, &count));
    CNNVP_TRY(cnnvp_constant_of_an_image(import, 1, count, shape));
    struct cnnvp_constant made = {.rank = data.rank};
    memcpy(made.dims, data.dims, sizeof made.dims);
    if (!cnnvp_import_join_dims(&made.rank, made.dims, count, shape))
        return cnnvp_import_error(import, "the shape does not match the constant's");
    const struct cnnvp_constant_view view = cnnvp_constant_spread(&data, made.rank, made.dims);
    return cnnvp_constant_show(import, &data, &view, 0);
}

static const struct cnnvp_constant_operator operators[] = {
    {"Add", fold_several, ADD},
    {"Sub", fold_several, SUB},
    {"Mul", fold_several, MUL},
    {"Div", fold_several, DIV},
    {"Mod", fold_several, MOD},
    {"Pow", fold_several, POWER},
    {"Sum", fold_several, ADD},
    {"Mean", cnnvp_operator_mean_of, 0},
    {"Min", fold_several, LESSER},
    {"Max", fold_several, GREATER},
    {"Equal", fold_several, IS_EQUAL},
    {"Less", fold_several, IS_LESS},
    {"Greater", fold_several, IS_MORE},
    {"LessOrEqual", fold_several, IS_LESS_OR_EQUAL},
    {"GreaterOrEqual", fold_several, IS_MORE_OR_EQUAL},
    {"And", fold_several, AND},
    {"Or", fold_several, OR},
    {"Xor", fold_several, XOR},
    {"Where", fold_where, 0},
    {"Range", fold_range, 0},
    {"Expand", fold_expand, 0},
};

const struct cnnvp_constant_operators cnnvp_constant_arithmetic = {operators, sizeof operators / sizeof operators[0]};
