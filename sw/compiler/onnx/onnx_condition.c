/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons, logic and rounding; true is 1, false is 0. Comparisons with one constant compare the words exactly; two
 * tensors are compared by the sign of their difference. Logic is arithmetic on 0 and 1, and so is Where. Rounding
 * writes results in a format without fraction bits.
 */
#include <math.h>
#include <string.h>

#include "onnx_constant.h"

/* ---- comparisons ---- */

/* The comparison with swapped operands. */
static enum cnnvp_graph_post_kind turned(enum cnnvp_graph_post_kind kind)
{
    static const enum cnnvp_graph_post_kind others[] = {
        CNNVP_GRAPH_BELOW, CNNVP_GRAPH_NOT_ABOVE, CNNVP_GRAPH_ABOVE, CNNVP_GRAPH_NOT_BELOW, CNNVP_GRAPH_EQUAL};
    return others[kind - CNNVP_GRAPH_ABOVE];
}

/* Makes a comparison with an infinity, or with another number that words do not reach, one that saturated words pass.
 */
static void compare_infinity(enum cnnvp_graph_post_kind *kind, float *limit)
{
    const int above = *limit > 0.0f;
    const enum cnnvp_graph_post_kind reaches = above ? CNNVP_GRAPH_NOT_BELOW : CNNVP_GRAPH_NOT_ABOVE,
                                     falls_short = above ? CNNVP_GRAPH_BELOW : CNNVP_GRAPH_ABOVE;
    if (fabsf(*limit) <= CNNVP_GRAPH_INFINITY ||
        (*kind != CNNVP_GRAPH_EQUAL && *kind != reaches && *kind != falls_short))
        return;
    if (*kind == CNNVP_GRAPH_EQUAL)
        *kind = reaches;
    *limit = above ? CNNVP_GRAPH_INFINITE : -CNNVP_GRAPH_INFINITE;
}

/* Reads both inputs. *first is the index of a computed one; the other one is a tensor, or *constant is set. */
static cnnvp_result read_two(struct cnnvp_import *import, int32_t operands[2], size_t *first,
                             const Onnx__TensorProto **constant)
{
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    CNNVP_TRY(cnnvp_import_value(import, 0, &value));
    *first = value.constant != NULL ? 1 : 0;
    CNNVP_TRY(cnnvp_import_any_rank(import, *first, &operands[*first]));
    CNNVP_TRY(cnnvp_import_value(import, 1 - *first, &value));
    *constant = value.constant;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_operator_compare(struct cnnvp_import *import)
{
    enum cnnvp_graph_post_kind kind = (enum cnnvp_graph_post_kind)import->kind;
    int32_t operands[2];
    size_t first;
    float limit;
    int32_t difference;
    struct cnnvp_error why;
    const Onnx__TensorProto *constant = NULL;
    int done;
    CNNVP_TRY(cnnvp_import_by_axis(import, &done));
    if (done)
        return CNNVP_DONE;
    CNNVP_TRY(read_two(import, operands, &first, &constant));
    if (constant != NULL && cnnvp_onnx_elements(constant) == 1) {
        if (cnnvp_onnx_number(&import->onnx, constant, &limit, &why) != CNNVP_DONE)
            return cnnvp_import_error(import, "%.900s", why.text);
        kind = first == 0 ? kind : turned(kind);
        compare_infinity(&kind, &limit);
        return cnnvp_import_post(import, operands[first], kind, limit, 0, &difference);
    }
    CNNVP_TRY(cnnvp_import_operand_tensor(
        import, 1 - first, import->graph->tensors[operands[first]].rank, &operands[1 - first]));
    if (constant != NULL)
        import->graph->tensors[cnnvp_graph_base(import->graph, operands[1 - first])].counts = 1;
    CNNVP_TRY(cnnvp_import_pair(import, CNNVP_ARITHMETIC_SUB, operands[0], operands[1], 1, &difference));
    import->graph->tensors[cnnvp_graph_base(import->graph, difference)].counts = 1;
    return cnnvp_import_post(import, difference, kind, 0.0f, 0, &difference);
}

/* ---- logic ---- */

/* And is the product, Or the maximum, Xor the absolute difference. */
cnnvp_result cnnvp_operator_logic(struct cnnvp_import *import)
{
    const enum cnnvp_layer_arithmetic operation = (enum cnnvp_layer_arithmetic)import->kind;
    int32_t operands[2];
    size_t first;
    int32_t out;
    const Onnx__TensorProto *constant = NULL;
    const int differs = operation == CNNVP_ARITHMETIC_SUB;
    int done;
    CNNVP_TRY(cnnvp_import_by_axis(import, &done));
    if (done)
        return CNNVP_DONE;
    CNNVP_TRY(read_two(import, operands, &first, &constant));
    CNNVP_TRY(cnnvp_import_operand_tensor(
        import, 1 - first, import->graph->tensors[operands[first]].rank, &operands[1 - first]));
    CNNVP_TRY(cnnvp_import_pair(import, operation, operands[0], operands[1], differs, &out));
    return differs ? cnnvp_import_post(import, out, CNNVP_GRAPH_LEAKY_RELU, -1.0f, 0, &out) : CNNVP_DONE;
}

/* If the condition has one constant element, and the chosen input has the shape of the result, the result is that
 * input: *done. */
static cnnvp_result take_one(struct cnnvp_import *import, int *done)
{
    struct cnnvp_onnx_value values[3];
    size_t ranks[3];
    int64_t dims[3][CNNVP_ONNX_RANK], condition = 0;
    struct cnnvp_error why;
    for (size_t i = 0; i < 3; ++i) {
        CNNVP_TRY(cnnvp_import_value(import, i, &values[i]));
        CNNVP_TRY(cnnvp_import_value_dims(import, &values[i], &ranks[i], dims[i]));
    }
    *done = 0;
    if (values[0].constant == NULL || cnnvp_onnx_elements(values[0].constant) != 1 ||
        cnnvp_onnx_ints(&import->onnx, values[0].constant, &condition, 1, &why) != CNNVP_DONE)
        return CNNVP_DONE;
    const size_t taken = condition != 0 ? 1 : 2;
    size_t rank = ranks[taken];
    int64_t joint[CNNVP_ONNX_RANK];
    memcpy(joint, dims[taken], sizeof joint);
    for (size_t i = 0; i < 3; ++i)
        if (!cnnvp_import_join_dims(&rank, joint, ranks[i], dims[i]))
            return CNNVP_DONE;
    if (rank != ranks[taken] || memcmp(joint, dims[taken], rank * sizeof *joint) != 0)
        return CNNVP_DONE;
    *done = 1;
    return cnnvp_import_define(import, import->node->output[0], values[taken]);
}

/* Words are always finite numbers, so the result is a single `false` that is broadcast. */
cnnvp_result cnnvp_operator_never(struct cnnvp_import *import)
{
    struct cnnvp_constant never = {.whole = 1};
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &never.rank, never.dims));
    for (size_t i = 0; i < never.rank; ++i)
        never.dims[i] = 1;
    CNNVP_TRY(cnnvp_constant_allocate(import, &never, 1));
    never.ints[0] = 0;
    return cnnvp_constant_define(import, &never);
}

/* 1: the mask that this node adds to scores, or chooses by a condition, may hide all of a line: it is computed, or a
 * constant with such a line. Larger constants are not looked at, as a timing-only run does not read them. */
static cnnvp_result may_hide_lines(struct cnnvp_import *import, int *may)
{
    struct cnnvp_constant mask;
    const int adds = strcmp(import->node->op_type, "Add") == 0;
    *may = !adds;
    for (size_t i = 0; i < import->node->n_input; ++i) {
        struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
        CNNVP_TRY(cnnvp_import_value(import, i, &value));
        if (value.constant == NULL)
            continue;
        if (!adds || cnnvp_onnx_elements(value.constant) > CNNVP_CONSTANT_SMALL) {
            *may = i != 0 && !adds;
            return CNNVP_DONE;
        }
        CNNVP_TRY(cnnvp_constant_read(import, i, &mask));
        const size_t width = mask.rank != 0 ? (size_t)mask.dims[mask.rank - 1] : 1;
        for (size_t line = 0; line < mask.count && cnnvp_constant_known(&mask) && !mask.whole; line += width) {
            size_t hidden = 0;
            while (hidden < width && mask.floats[line + hidden] <= -CNNVP_GRAPH_INFINITE)
                ++hidden;
            *may |= hidden == width;
        }
        return CNNVP_DONE;
    }
    *may = 1;
    return CNNVP_DONE;
}

/* Words are always numbers. But softmax of a line of masks alone is 0 / 0 in float: such lines are told from what
 * softmax reads. */
cnnvp_result cnnvp_operator_is_nan(struct cnnvp_import *import)
{
    const Onnx__NodeProto *node = import->node, *sum = NULL;
    const Onnx__NodeProto *softmax = cnnvp_import_maker(import, node->input[0], "Softmax");
    int may = 0;
    if (softmax != NULL && cnnvp_onnx_int(softmax, "axis", -1) == -1)
        sum = cnnvp_import_maker(import, softmax->input[0], NULL);
    if (sum != NULL && cnnvp_import_is_one_of(sum->op_type, " Add Where ")) {
        import->node = sum;
        const cnnvp_result result = may_hide_lines(import, &may);
        import->node = node;
        CNNVP_TRY(result);
    }
    if (!may)
        return cnnvp_operator_never(import);
    Onnx__NodeProto asked = *node;
    asked.input = softmax->input;
    import->node = &asked;
    const cnnvp_result result = cnnvp_import_rewrite(
        import, "near = Greater(a, -1.0e30); some = ReduceMax <axes = [-1]> (near); y = Not(some)");
    import->node = node;
    return result;
}

/* condition * x + (1 - condition) * y: one of the two products is 0 for each word, and left out if it always is. A
 * constant x, which may be a mask of large values, becomes the second operand of the sum, so that its format does not
 * coarsen the first operand's. */
cnnvp_result cnnvp_operator_where(struct cnnvp_import *import)
{
    int32_t operands[3], otherwise;
    uint32_t rank = 1;
    int constant = 0;
    int zero[3] = {0};
    int done;
    CNNVP_TRY(take_one(import, &done));
    if (done)
        return CNNVP_DONE;
    for (size_t i = 0; i < 3; ++i) {
        struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
        CNNVP_TRY(cnnvp_import_value(import, i, &value));
        constant |= i == 1 && value.constant != NULL;
        float number = 1.0f;
        zero[i] = cnnvp_import_one_number(import, import->node, i, &number) && !(fabsf(number) > 0.0f);
        const uint32_t own = value.constant != NULL ? (uint32_t)value.constant->n_dims + (import->single != 0)
                                                    : import->graph->tensors[value.tensor].rank;
        rank = own > rank ? own : rank;
    }
    for (size_t i = 0; i < 3; ++i)
        CNNVP_TRY(cnnvp_import_operand_tensor(import, i, rank, &operands[i]));
    if (zero[2])
        return cnnvp_import_pair(import, CNNVP_ARITHMETIC_MUL, operands[1], operands[0], 0, &operands[1]);
    CNNVP_TRY(cnnvp_import_post(import, operands[0], CNNVP_GRAPH_EQUAL, 0.0f, 1, &otherwise));
    if (zero[1])
        return cnnvp_import_pair(import, CNNVP_ARITHMETIC_MUL, operands[2], otherwise, 0, &operands[2]);
    CNNVP_TRY(cnnvp_import_pair(import, CNNVP_ARITHMETIC_MUL, operands[1], operands[0], 1, &operands[1]));
    CNNVP_TRY(cnnvp_import_pair(import, CNNVP_ARITHMETIC_MUL, operands[2], otherwise, 1, &operands[2]));
    return cnnvp_import_pair(
        import, CNNVP_ARITHMETIC_ADD, operands[constant ? 2 : 1], operands[constant ? 1 : 2], 0, &operands[0]);
}

/* ---- rounding to integers ---- */

/* 1/2 less half a step of a word with 15 fraction bits. x + NEARLY_HALF is never a tie, so rounding it gives the
 * ceiling of x. Sums with fewer fraction bits need an offset further from 1/2, so it is rounded towards 0. */
#define NEARLY_HALF (0.5f - 0x1p-16f)

cnnvp_result cnnvp_import_rounded(struct cnnvp_import *import, struct cnnvp_graph_layer *layer, int32_t *out)
{
    const int32_t whole = layer->out;
    layer->nearest = 1;
    import->graph->tensors[whole].whole = 1;
    CNNVP_TRY(cnnvp_import_scale(import, whole, 1.0f, 0.0f, 1, &layer));
    *out = layer->out;
    return CNNVP_DONE;
}

/* Rounds to the nearest integer, ties to even. Floor and Ceil round x shifted by almost 1/2. */
cnnvp_result cnnvp_operator_round(struct cnnvp_import *import)
{
    static const float offsets[] = {[CNNVP_TO_NEAREST] = 0.0f, [CNNVP_UP] = NEARLY_HALF, [CNNVP_DOWN] = -NEARLY_HALF};
    int32_t in;
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    CNNVP_TRY(cnnvp_import_scale(import, in, 1.0f, offsets[import->kind], 1, &layer));
    layer->nearest = 1;
    layer->bias_to = import->kind == CNNVP_UP ? -1 : import->kind == CNNVP_DOWN ? 1 : 0;
    in = layer->out;
    import->graph->tensors[in].whole = 1;
    return cnnvp_import_scale(import, in, 1.0f, 0.0f, 0, &layer);
}
