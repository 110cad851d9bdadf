/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensors have integers. Words are numbers, whatever type the file gives them, but a cast to integers drops the
 * fraction. */
#include <math.h>
#include <string.h>

#include "onnx_node.h"

enum cnnvp_onnx_kind cnnvp_onnx_kind_of(int type)
{
    switch (type) {
    case ONNX__TENSOR_PROTO__DATA_TYPE__BOOL:
        return CNNVP_KIND_BOOLEAN;
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT8:
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT8:
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT16:
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT16:
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT32:
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT32:
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT64:
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
        return CNNVP_KIND_INTEGER;
    default:
        return CNNVP_KIND_REAL;
    }
}

/* Most elements of a constant of floats whose kind is looked for; timing alone reads so many, too. */
enum { LOOKED_AT = 1024 };

static enum cnnvp_onnx_kind kind_of_constant(const struct cnnvp_import *import, const Onnx__TensorProto *constant)
{
    enum cnnvp_onnx_kind kind = cnnvp_onnx_kind_of(constant->data_type);
    const size_t count = cnnvp_onnx_elements(constant);
    struct cnnvp_error unused;
    float numbers[LOOKED_AT];
    if (kind != CNNVP_KIND_REAL || count == 0 || count > LOOKED_AT || !cnnvp_onnx_has_values(constant) ||
        cnnvp_onnx_numbers(&import->onnx, constant, numbers, count, &unused) != CNNVP_DONE)
        return kind;
    kind = CNNVP_KIND_BIT;
    for (size_t i = 0; i < count; ++i) {
        if (!(fabsf(numbers[i]) < 0x1p24f) || floorf(numbers[i]) < numbers[i])
            return CNNVP_KIND_REAL;
        if (numbers[i] < 0.0f || numbers[i] > 1.0f)
            kind = CNNVP_KIND_WHOLE;
    }
    return kind;
}

enum cnnvp_onnx_kind cnnvp_import_kind(const struct cnnvp_import *import, size_t index)
{
    const struct cnnvp_onnx_value *value =
        cnnvp_import_has(import, index) ? cnnvp_import_known(import, import->node->input[index]) : NULL;
    if (value == NULL)
        return CNNVP_KIND_REAL;
    return value->constant != NULL ? kind_of_constant(import, value->constant) : value->kind;
}

int cnnvp_import_is_integer(const struct cnnvp_import *import, size_t index)
{
    const Onnx__TypeProto *type = cnnvp_import_type(import, import->node->input[index]);
    const int is_declared = type != NULL && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    const enum cnnvp_onnx_kind kind =
        is_declared ? cnnvp_onnx_kind_of(type->tensor_type->elem_type) : cnnvp_import_kind(import, index);
    return kind == CNNVP_KIND_INTEGER;
}

/* Sets *kind; returns 0 for operators of which nothing is known. */
static int find_kind(const struct cnnvp_import *import, enum cnnvp_onnx_kind *kind)
{
    const char *type = import->node->op_type;
    const enum cnnvp_onnx_kind first = cnnvp_import_kind(import, 0);
    size_t begin = 0, end = import->node->n_input;
    if (cnnvp_import_is_one_of(type, " Equal Less Greater LessOrEqual GreaterOrEqual And Or Xor Not IsNaN IsInf "))
        *kind = CNNVP_KIND_BOOLEAN;
    else if (cnnvp_import_is_one_of(type, " ArgMax ArgMin "))
        *kind = CNNVP_KIND_INTEGER;
    else if (cnnvp_import_is_one_of(type, " Floor Ceil Round Sign "))
        *kind = first > CNNVP_KIND_WHOLE ? first : CNNVP_KIND_WHOLE;
    else if (strcmp(type, "Cast") == 0) {
        *kind = cnnvp_onnx_kind_of((int)cnnvp_onnx_int(import->node, "to", 0));
        if (*kind == CNNVP_KIND_REAL && first >= CNNVP_KIND_WHOLE)
            *kind = first == CNNVP_KIND_BOOLEAN || first == CNNVP_KIND_BIT ? CNNVP_KIND_BIT : CNNVP_KIND_WHOLE;
    } else if (cnnvp_import_is_one_of(type, " Identity Reshape Flatten Squeeze Unsqueeze Transpose Slice Split Gather "
                                            "GatherElements GatherND Expand Tile ReduceMax ReduceMin Neg Abs Relu "))
        *kind = first;
    else if (cnnvp_import_is_one_of(type, " CumSum ReduceSum "))
        *kind = first == CNNVP_KIND_BIT ? CNNVP_KIND_WHOLE : first;
    else if (cnnvp_import_is_one_of(type, " Clip Pad Trilu ")) /* their limits or values have a fraction for floats */
        *kind = first >= CNNVP_KIND_INTEGER ? first : CNNVP_KIND_REAL;
    else if (cnnvp_import_is_one_of(type, " Add Sub Mul Div Mod Max Min Sum Concat Where ")) {
        begin = strcmp(type, "Where") == 0 ? 1 : 0;
        *kind = CNNVP_KIND_BOOLEAN;
        for (size_t i = begin; i < end; ++i)
            *kind = cnnvp_import_kind(import, i) < *kind ? cnnvp_import_kind(import, i) : *kind;
        if (strcmp(type, "Div") == 0 && *kind < CNNVP_KIND_INTEGER)
            *kind = CNNVP_KIND_REAL;
    } else
        return 0;
    return 1;
}

void cnnvp_import_set_kind(struct cnnvp_import *import, struct cnnvp_onnx_value *value, enum cnnvp_onnx_kind kind)
{
    struct cnnvp_graph_tensor *base = &import->graph->tensors[cnnvp_graph_base(import->graph, value->tensor)];
    value->kind = kind;
    if (base->whole == 0)
        base->counts |= kind == CNNVP_KIND_WHOLE || kind == CNNVP_KIND_INTEGER;
}

void cnnvp_import_mark_kind(struct cnnvp_import *import)
{
    enum cnnvp_onnx_kind kind;
    if (!find_kind(import, &kind))
        return;
    for (size_t i = 0; i < import->node->n_output; ++i) {
        struct cnnvp_onnx_value *made = cnnvp_import_known(import, import->node->output[i]);
        if (made != NULL && made->tensor != CNNVP_GRAPH_NONE)
            cnnvp_import_set_kind(import, made, kind);
    }
}

/* A cast to a float type is the identity, as is one of integers. Others drop the fraction. */
cnnvp_result cnnvp_operator_cast(struct cnnvp_import *import)
{
    const int64_t to = cnnvp_onnx_int(import->node, "to", 0);
    const enum cnnvp_onnx_kind kind = cnnvp_import_kind(import, 0);
    const int is_byte = to == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 || to == ONNX__TENSOR_PROTO__DATA_TYPE__INT8;
    if (to == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL)
        return kind == CNNVP_KIND_BOOLEAN ? cnnvp_operator_identity(import)
                                          : cnnvp_import_rewrite(import, "none = Equal(a, 0.0); y = Not(none)");
    if (to == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT || to == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 ||
        to == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16 || to == ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE)
        return cnnvp_operator_identity(import);
    if (cnnvp_onnx_kind_of((int)to) != CNNVP_KIND_INTEGER || (is_byte && kind != CNNVP_KIND_BOOLEAN))
        return cnnvp_import_error(import,
                                  "a cast to data type %lld is not supported; casts to floats, booleans and integers "
                                  "of 16 bits or more are",
                                  (long long)to);
    import->integers = 1;
    return kind >= CNNVP_KIND_WHOLE
               ? cnnvp_operator_identity(import)
               : cnnvp_import_rewrite(import, "size = Abs(a); down = Floor(size); sign = Sign(a); y = Mul(down, sign)");
}

/* A Cast to numbers of the kind of the second input. */
cnnvp_result cnnvp_operator_cast_like(struct cnnvp_import *import)
{
    const enum cnnvp_onnx_kind like = cnnvp_import_kind(import, 1);
    return cnnvp_import_rewrite(import, like == CNNVP_KIND_BOOLEAN   ? "y = Cast <to = 9> (a)"
                                        : like == CNNVP_KIND_INTEGER ? "y = Cast <to = 7> (a)"
                                                                     : "y = Cast <to = 1> (a)");
}

/* Quotients by several numbers have a format for the largest of them, in which those by larger numbers would round. */
static cnnvp_result check_divisor(struct cnnvp_import *import)
{
    const Onnx__TensorProto *constant = cnnvp_import_known_constant(import, import->node->input[1]);
    return constant != NULL && cnnvp_onnx_elements(constant) == 1
               ? CNNVP_DONE
               : cnnvp_import_error(import,
                                    "integers can be divided by one constant number; a Cast makes floats of them");
}

/* a / b without the remainder. Half a step more than |a| keeps the rounding of 1 / b from taking whole quotients for
 * the number below. */
#define QUOTIENT                                                                                                 \
    "real = Cast <to = 1> (b); long = Abs(real); up = Cast <to = 1> (a); size = Abs(up); more = Add(size, 0.5);" \
    "part = Div(more, long); down = Floor(part); one = Sign(up); other = Sign(real); sign = Mul(one, other);"    \
    "whole = Mul(down, sign);"

cnnvp_result cnnvp_import_quotient(struct cnnvp_import *import)
{
    CNNVP_TRY(check_divisor(import));
    return cnnvp_import_rewrite(import, QUOTIENT "y = Identity(whole)");
}

/* What Div without the remainder, or (fmod = 0) the floor of the quotient, leaves of a. */
cnnvp_result cnnvp_operator_remainder(struct cnnvp_import *import)
{
    if (cnnvp_onnx_int(import->node, "fmod", 0) != 0 && !cnnvp_import_is_integer(import, 0))
        return cnnvp_import_rewrite(import, "part = Div(a, b); size = Abs(part); down = Floor(size); sign = Sign(part);"
                                            "whole = Mul(down, sign); all = Mul(whole, b); y = Sub(a, all)");
    CNNVP_TRY(check_divisor(import));
    if (cnnvp_onnx_int(import->node, "fmod", 0) != 0)
        return cnnvp_import_rewrite(import, QUOTIENT "all = Mul(whole, real); y = Sub(up, all)");
    return cnnvp_import_rewrite(
        import, "real = Cast <to = 1> (b); long = Abs(real); sign = Sign(real); up = Cast <to = 1> (a);"
                "turned = Mul(up, sign); more = Add(turned, 0.5); part = Div(more, long); down = Floor(part);"
                "all = Mul(down, real); y = Sub(up, all)");
}
