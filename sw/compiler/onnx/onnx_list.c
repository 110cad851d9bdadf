/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences of tensors whose members the file tells: those that SplitToSequence and SequenceConstruct make. The
 * sequences themselves are no tensors: what reads them looks for the node that makes them, and reads what that reads.
 */
#include <string.h>

#include "onnx_constant.h"
#include "onnx_text.h"

cnnvp_result cnnvp_operator_sequence(struct cnnvp_import *import)
{
    (void)import;
    return CNNVP_DONE;
}

/* Replaces the node's inputs. The caller's node is put back once it has been imported. */
static cnnvp_result take_inputs(struct cnnvp_import *import, char **inputs, size_t count)
{
    Onnx__NodeProto *node;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, 1, &node));
    *node = *import->node;
    node->input = inputs;
    node->n_input = count;
    import->node = node;
    return CNNVP_DONE;
}

static cnnvp_result find_members(struct cnnvp_import *import, const Onnx__NodeProto **maker)
{
    *maker = cnnvp_import_maker(import, import->node->input[0], NULL);
    if (*maker == NULL || !cnnvp_import_is_one_of((*maker)->op_type, " SplitToSequence SequenceConstruct "))
        return cnnvp_import_error(
            import, "the sequence \"%s\" is made by no SplitToSequence or SequenceConstruct of the graph",
            import->node->input[0]);
    return CNNVP_DONE;
}

/* The first element of part `index`, and the one behind the last, of `length` elements that SplitToSequence (the node)
 * cuts. *keeps: 0: each part is one element without a dimension. */
static cnnvp_result find_part(struct cnnvp_import *import, int64_t length, int64_t index, int64_t ends[2], int *keeps)
{
    struct cnnvp_constant sizes = {.count = 1};
    int64_t one = 1;
    *keeps = cnnvp_import_has(import, 1) || cnnvp_onnx_int(import->node, "keepdims", 1) != 0;
    sizes.ints = &one;
    if (cnnvp_import_has(import, 1))
        CNNVP_TRY(cnnvp_constant_need(import, 1, &sizes));
    if (sizes.ints == NULL || sizes.count == 0 || sizes.ints[0] < 1)
        return cnnvp_import_error(import, "its parts are no list of sizes");
    const int alike = !cnnvp_import_has(import, 1) || sizes.rank == 0;
    const int64_t parts = alike ? (length + sizes.ints[0] - 1) / sizes.ints[0] : (int64_t)sizes.count;
    index += index < 0 ? parts : 0;
    if (index < 0 || index >= parts)
        return cnnvp_import_error(import, "the sequence has %lld tensors", (long long)parts);
    ends[0] = alike ? index * sizes.ints[0] : 0;
    for (int64_t i = 0; i < index && !alike; ++i)
        ends[0] += sizes.ints[i];
    ends[1] = ends[0] + sizes.ints[alike ? 0 : index];
    return CNNVP_DONE;
}

cnnvp_result cnnvp_operator_sequence_at(struct cnnvp_import *import)
{
    const Onnx__NodeProto *maker;
    struct cnnvp_text text = {.used = 0};
    struct cnnvp_constant at;
    int64_t dims[CNNVP_ONNX_RANK], ends[2] = {0, 0};
    size_t rank, axis;
    int keeps = 1;
    CNNVP_TRY(find_members(import, &maker));
    CNNVP_TRY(cnnvp_constant_need(import, 1, &at));
    if (at.ints == NULL || at.count != 1)
        return cnnvp_import_error(import, "the position is not one integer");
    if (strcmp(maker->op_type, "SequenceConstruct") == 0) {
        const int64_t index = at.ints[0] + (at.ints[0] < 0 ? (int64_t)maker->n_input : 0);
        if (index < 0 || index >= (int64_t)maker->n_input)
            return cnnvp_import_error(import, "the sequence has %zu tensors", maker->n_input);
        CNNVP_TRY(take_inputs(import, maker->input + index, 1));
        return cnnvp_import_rewrite(import, "y = Identity(a)");
    }
    const Onnx__NodeProto *own = import->node;
    import->node = maker;
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(cnnvp_import_axis_of(import, cnnvp_onnx_int(maker, "axis", 0), rank, &axis));
    CNNVP_TRY(find_part(import, dims[axis], at.ints[0], ends, &keeps));
    import->node = own;
    CNNVP_TRY(take_inputs(import, maker->input, 1));
    say(&text, "part = Slice(a, [%lld], [%lld], [%zu]); y = %s(part%s", (long long)ends[0], (long long)ends[1], axis,
        keeps ? "Identity" : "Squeeze", keeps ? ")" : ", [");
    if (!keeps)
        say(&text, "%zu])", axis);
    return rewrite(import, &text);
}

cnnvp_result cnnvp_operator_sequence_join(struct cnnvp_import *import)
{
    enum { MEMBERS = 20 };
    const Onnx__NodeProto *maker;
    struct cnnvp_text text = {.used = 0};
    const int64_t axis = cnnvp_onnx_int(import->node, "axis", 0);
    const int is_new = cnnvp_onnx_int(import->node, "new_axis", 0) != 0;
    CNNVP_TRY(find_members(import, &maker));
    if (strcmp(maker->op_type, "SequenceConstruct") != 0 || maker->n_input > MEMBERS)
        return cnnvp_import_error(
            import, "only sequences of up to %d tensors of SequenceConstruct can be joined", (int)MEMBERS);
    CNNVP_TRY(take_inputs(import, maker->input, maker->n_input));
    for (size_t i = 0; i < maker->n_input; ++i) {
        say(&text, "part%zu = %s(%c", i, is_new ? "Unsqueeze" : "Identity", (int)('a' + (int)i));
        if (is_new)
            say(&text, ", [%lld]", (long long)axis);
        say(&text, ");");
    }
    say(&text, "y = Concat <axis = %lld> (part0", (long long)axis);
    for (size_t i = 1; i < maker->n_input; ++i)
        say(&text, ", part%zu", i);
    say(&text, ")");
    return rewrite(import, &text);
}
