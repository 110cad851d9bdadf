/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values without elements, because a dimension is 0, such as the empty slice that torch.roll exports. They are
 * constants here, whatever computes them, since they cannot depend on the network's input. Concat ignores them.
 * Elementwise operators give a result without elements. All other operators refuse them and name the input.
 */
#include <stdio.h>
#include <string.h>

#include "onnx_constant.h"

cnnvp_result cnnvp_import_define_empty(struct cnnvp_import *import, const char *name, size_t rank, const int64_t *dims)
{
    struct cnnvp_constant made = {.rank = rank};
    memcpy(made.dims, dims, rank * sizeof *dims);
    return cnnvp_constant_define_as(import, name, &made);
}

static int is_empty_input(struct cnnvp_import *import, size_t index)
{
    const Onnx__TensorProto *constant = cnnvp_import_known_constant(import, import->node->input[index]);
    return constant != NULL && cnnvp_onnx_is_empty(constant);
}

void cnnvp_import_shape_text(const struct cnnvp_import *import, const Onnx__TensorProto *tensor,
                             char text[CNNVP_ONNX_SHAPE_TEXT])
{
    char others[CNNVP_ONNX_SHAPE_TEXT];
    int empty = 0;
    for (size_t i = 1; i < tensor->n_dims; ++i)
        empty = empty || tensor->dims[i] == 0;
    cnnvp_onnx_shape_text(tensor->n_dims, tensor->dims, text);
    if (import->single || import->batch != 0 || !empty || tensor->dims[0] != 0)
        return;
    memcpy(others, text, sizeof others);
    (void)snprintf(text, CNNVP_ONNX_SHAPE_TEXT, "[N%.100s", others + 2);
}

static cnnvp_result refuse(struct cnnvp_import *import, size_t index)
{
    char shape[CNNVP_ONNX_SHAPE_TEXT];
    const Onnx__TensorProto *empty;
    CNNVP_TRY(cnnvp_import_constant(import, index, &empty));
    cnnvp_import_shape_text(import, empty, shape);
    return cnnvp_import_error(
        import, "input \"%s\" has no elements: its shape is %s", import->node->input[index], shape);
}

/* Elementwise operators: the result has the broadcast shape of the inputs. */
static cnnvp_result join_inputs(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK];
    size_t rank = 0;
    for (size_t i = 0; i < import->node->n_input; ++i) {
        int64_t own[CNNVP_ONNX_RANK];
        size_t own_rank;
        char shapes[2][CNNVP_ONNX_SHAPE_TEXT];
        if (!cnnvp_import_has(import, i))
            continue;
        CNNVP_TRY(cnnvp_import_dims_of(import, i, &own_rank, own));
        cnnvp_onnx_shape_text(rank, dims, shapes[0]);
        cnnvp_onnx_shape_text(own_rank, own, shapes[1]);
        if (!cnnvp_import_join_dims(&rank, dims, own_rank, own))
            return cnnvp_import_error(
                import, "the shapes %s and %s of its inputs do not fit to each other", shapes[0], shapes[1]);
    }
    return cnnvp_import_define_empty(import, import->node->output[0], rank, dims);
}

/* Concat: checks the shapes of empty inputs and removes these inputs from the node. If one input is left, it is the
 * result. */
static cnnvp_result leave_out(struct cnnvp_import *import, int *done)
{
    const Onnx__NodeProto *node = import->node;
    Onnx__NodeProto *made;
    int64_t first[CNNVP_ONNX_RANK];
    size_t first_rank = 0;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, 1, &made));
    *made = *node;
    made->n_input = 0;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, node->n_input, &made->input));
    for (size_t i = 0; i < node->n_input; ++i) {
        int64_t dims[CNNVP_ONNX_RANK];
        size_t rank;
        CNNVP_TRY(cnnvp_import_dims_of(import, i, &rank, dims));
        if (i == 0) {
            first_rank = rank;
            memcpy(first, dims, rank * sizeof *dims);
        }
        const int64_t named = cnnvp_onnx_int(node, "axis", 1);
        const int64_t axis = named + (named < 0 ? (int64_t)first_rank : 0);
        int fits = rank == first_rank && axis >= 0 && axis < (int64_t)rank;
        for (size_t d = import->batch == 0 ? 1 : 0; d < rank && fits; ++d)
            fits = dims[d] == first[d] || (int64_t)d == axis;
        if (!fits)
            return cnnvp_import_error(import,
                                      "input \"%s\" has another shape than the first, not only along axis "
                                      "%lld",
                                      node->input[i], (long long)named);
        if (!is_empty_input(import, i))
            made->input[made->n_input++] = node->input[i];
    }
    import->node = made;
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    *done = made->n_input == 1;
    const cnnvp_result result = *done ? cnnvp_import_value(import, 0, &value) : CNNVP_DONE;
    return *done && result == CNNVP_DONE ? cnnvp_import_define(import, node->output[0], value) : result;
}

cnnvp_result cnnvp_import_without_elements(struct cnnvp_import *import, const struct cnnvp_import_operator *found,
                                           int *done)
{
    static const char *const copies[] = {"Identity", "Dropout", "Cast"};
    const char *op_type = import->node->op_type;
    int words = found->form == CNNVP_FORM_WORDS;
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; ++i)
        words = words || strcmp(op_type, copies[i]) == 0;
    for (size_t i = 0; i < import->node->n_input; ++i) {
        if (!is_empty_input(import, i))
            continue;
        if (strcmp(op_type, "Concat") == 0)
            return leave_out(import, done);
        *done = words;
        if (words)
            return join_inputs(import);
        /* An empty list means that an optional operand is absent. */
        if (i == 0 || cnnvp_import_known_constant(import, import->node->input[i])->n_dims != 1)
            return refuse(import, i);
    }
    return CNNVP_DONE;
}
