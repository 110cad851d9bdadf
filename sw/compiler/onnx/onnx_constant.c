/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant folding: nodes whose inputs are constants are computed while the file is read. These are the shape
 * arithmetic of exporters (Shape, Gather, Concat, ... before a Reshape) and weights in another form. Each operator is a
 * function in one of the tables of onnx_constant*.c. Integers have 64 bits, but those of 8 to 32 bits keep their type;
 * all other types are float, and booleans are 0 or 1. A symbolic batch is 0 in a shape, as Reshape expects it.
 */
#include <string.h>

#include "onnx_constant.h"

#define COUNT_MAX ((size_t)1 << 28)
/* Limit for the bytes of all constants of a file. */
#define BYTES_MAX ((size_t)1 << 32)

int cnnvp_constant_known(const struct cnnvp_constant *constant)
{
    return constant->count == 0 || (constant->whole ? constant->ints != NULL : constant->floats != NULL);
}

/* 0: a weightless import leaves it out, as a large constant of floats. */
static int is_wanted(const struct cnnvp_import *import, const struct cnnvp_constant *constant)
{
    return constant->whole || !import->graph->weightless || constant->count <= CNNVP_CONSTANT_SMALL;
}

cnnvp_result cnnvp_constant_allocate(struct cnnvp_import *import, struct cnnvp_constant *made, int known)
{
    made->count = 1;
    for (size_t i = 0; i < made->rank; ++i) {
        if (made->dims[i] < 0 || (made->dims[i] != 0 && made->count > COUNT_MAX / (size_t)made->dims[i]))
            return cnnvp_import_error(import, "the result has more than 2^28 elements");
        made->count *= (size_t)made->dims[i];
    }
    made->ints = NULL;
    made->floats = NULL;
    if (!known || !is_wanted(import, made))
        return CNNVP_DONE;
    const size_t bytes = made->count * (made->whole ? sizeof *made->ints : sizeof *made->floats);
    if (bytes > BYTES_MAX - import->constant_bytes)
        return cnnvp_import_error(import, "the file's constants take more than 4 GiB");
    import->constant_bytes += bytes;
    if (made->whole)
        made->ints = cnnvp_arena_array(&import->graph->arena, made->count, sizeof *made->ints);
    else
        made->floats = cnnvp_arena_array(&import->graph->arena, made->count, sizeof *made->floats);
    return made->ints != NULL || made->floats != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(import->error);
}

void cnnvp_constant_take(struct cnnvp_constant *made, size_t to, const struct cnnvp_constant *data, size_t from,
                         size_t count)
{
    if (made->whole)
        memcpy(made->ints + to, data->ints + from, count * sizeof *made->ints);
    else
        memcpy(made->floats + to, data->floats + from, count * sizeof *made->floats);
}

/* Uses values that protobuf-c has already unpacked in the right type, without a copy. */
static int is_in_memory(const Onnx__TensorProto *tensor, struct cnnvp_constant *read)
{
    if (cnnvp_onnx_is_external(tensor) || tensor->has_raw_data)
        return 0;
    if (tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 && tensor->n_int64_data == read->count)
        read->ints = tensor->int64_data;
    if (tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT && tensor->n_float_data == read->count)
        read->floats = tensor->float_data;
    return cnnvp_constant_known(read);
}

cnnvp_result cnnvp_constant_read(struct cnnvp_import *import, size_t input, struct cnnvp_constant *read)
{
    const Onnx__TensorProto *tensor;
    CNNVP_TRY(cnnvp_import_constant(import, input, &tensor));
    *read = (struct cnnvp_constant){
        .rank = tensor->n_dims, .whole = cnnvp_constant_is_whole(tensor), .bytes = cnnvp_constant_narrow(tensor)};
    if (tensor->n_dims > CNNVP_CONSTANT_RANK)
        return cnnvp_import_error(
            import, "a constant has %zu dimensions; up to %u are supported", tensor->n_dims, CNNVP_CONSTANT_RANK);
    if (tensor->n_dims != 0)
        memcpy(read->dims, tensor->dims, tensor->n_dims * sizeof *read->dims);
    const size_t count = cnnvp_onnx_elements(tensor);
    for (size_t i = 0; i < read->rank; ++i)
        if (read->dims[i] == 0)
            return cnnvp_constant_allocate(import, read, 1); /* an empty list */
    struct cnnvp_error why;
    read->count = count;
    if (import->graph->weightless && (!is_wanted(import, read) || !cnnvp_onnx_has_values(tensor)))
        return CNNVP_DONE;
    /* Checks the size before memory is allocated: a file cannot claim more elements than it holds. */
    if (cnnvp_onnx_check(&import->onnx, tensor, count, &why) != CNNVP_DONE)
        return import->graph->weightless && !read->whole && cnnvp_onnx_is_external(tensor)
                   ? CNNVP_DONE
                   : cnnvp_import_error(import, "%.900s", why.text);
    if (is_in_memory(tensor, read))
        return CNNVP_DONE;
    cnnvp_result result = cnnvp_constant_allocate(import, read, 1);
    if (result == CNNVP_DONE &&
        (read->whole ? cnnvp_onnx_ints(&import->onnx, tensor, read->ints, count, &why)
                     : cnnvp_onnx_numbers(&import->onnx, tensor, read->floats, count, &why)) != CNNVP_DONE)
        return cnnvp_import_error(import, "%.900s", why.text);
    return result;
}

cnnvp_result cnnvp_constant_need(struct cnnvp_import *import, size_t input, struct cnnvp_constant *read)
{
    const cnnvp_result result = cnnvp_constant_read(import, input, read);
    if (result != CNNVP_DONE || cnnvp_constant_known(read))
        return result;
    return cnnvp_import_error(import, "input \"%s\" depends on weights that are not read", import->node->input[input]);
}

cnnvp_result cnnvp_import_old_axis(struct cnnvp_import *import, uint32_t rank, const Onnx__TensorProto **constant)
{
    const Onnx__TensorProto *from = *constant;
    const int slopes = strcmp(import->node->op_type, "PRelu") == 0;
    if (import->onnx.opset >= 7 || (slopes && from->n_dims != 1) ||
        (!slopes &&
         (cnnvp_onnx_int(import->node, "broadcast", 0) == 0 || cnnvp_onnx_attribute(import->node, "axis") == NULL)))
        return CNNVP_DONE;
    int64_t axis = slopes ? 1 : cnnvp_onnx_int(import->node, "axis", 0);
    axis += axis < 0 ? (int64_t)rank : (int64_t)import->single;
    if (axis < 0 || from->n_dims > rank || axis > (int64_t)(rank - from->n_dims))
        return cnnvp_import_error(import, "axis %lld leaves no place for a constant of %zu dimensions among %u",
                                  (long long)axis, from->n_dims, rank);
    Onnx__TensorProto *made;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, 1, &made));
    *made = *from;
    made->n_dims = rank - (size_t)axis;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, made->n_dims, &made->dims));
    for (size_t i = 0; i < made->n_dims; ++i)
        made->dims[i] = i < from->n_dims ? from->dims[i] : 1;
    *constant = made;
    return CNNVP_DONE;
}

static int32_t wrapped(int32_t type, int64_t number)
{
    return type == ONNX__TENSOR_PROTO__DATA_TYPE__INT8    ? (int8_t)number
           : type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 ? (uint8_t)number
           : type == ONNX__TENSOR_PROTO__DATA_TYPE__INT16 ? (int16_t)number
           : type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32
               ? (int32_t)number
               : (uint16_t)number;
}

/* Stores elements of 8 to 32 bits as a file would: in int32_data. */
static cnnvp_result keep_bytes(struct cnnvp_import *import, const struct cnnvp_constant *made,
                               Onnx__TensorProto *tensor)
{
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, made->count, &tensor->int32_data));
    for (size_t i = 0; i < made->count; ++i)
        tensor->int32_data[i] = wrapped(made->bytes, made->whole ? made->ints[i] : (int64_t)made->floats[i]);
    tensor->n_int32_data = made->count;
    tensor->n_int64_data = tensor->n_float_data = 0;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_constant_define_as(struct cnnvp_import *import, const char *name, const struct cnnvp_constant *made)
{
    Onnx__TensorProto *tensor;
    const int32_t type = made->bytes != 0 ? made->bytes
                         : made->whole    ? ONNX__TENSOR_PROTO__DATA_TYPE__INT64
                                          : ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    CNNVP_TRY(cnnvp_import_new_constant(import, name, type, made->rank, made->dims, &tensor));
    tensor->n_int64_data = made->ints != NULL ? made->count : 0;
    tensor->int64_data = made->ints;
    tensor->n_float_data = made->floats != NULL ? made->count : 0;
    tensor->float_data = made->floats;
    if (made->bytes != 0 && (made->ints != NULL || made->floats != NULL))
        CNNVP_TRY(keep_bytes(import, made, tensor));
    return cnnvp_import_define_constant(import, name, tensor);
}

cnnvp_result cnnvp_constant_define(struct cnnvp_import *import, const struct cnnvp_constant *made)
{
    return cnnvp_constant_define_as(import, import->node->output[0], made);
}

struct cnnvp_constant_view cnnvp_constant_whole_view(const struct cnnvp_constant *constant)
{
    struct cnnvp_constant_view view = {.rank = constant->rank};
    int64_t step = 1;
    for (size_t d = view.rank; d-- > 0; step *= constant->dims[d]) {
        view.dims[d] = constant->dims[d];
        view.steps[d] = step;
    }
    return view;
}

struct cnnvp_constant_view cnnvp_constant_spread(const struct cnnvp_constant *constant, size_t rank,
                                                 const int64_t *dims)
{
    const struct cnnvp_constant_view own = cnnvp_constant_whole_view(constant);
    struct cnnvp_constant_view view = {.rank = rank};
    memcpy(view.dims, dims, rank * sizeof *dims);
    for (size_t d = 0; d < own.rank; ++d)
        view.steps[rank - own.rank + d] = own.dims[d] != 1 ? own.steps[d] : 0;
    return view;
}

cnnvp_result cnnvp_constant_show(struct cnnvp_import *import, const struct cnnvp_constant *from,
                                 const struct cnnvp_constant_view *view, size_t output)
{
    struct cnnvp_constant to = {.rank = view->rank, .whole = from->whole, .bytes = from->bytes};
    memcpy(to.dims, view->dims, sizeof to.dims);
    CNNVP_TRY(cnnvp_constant_allocate(import, &to, cnnvp_constant_known(from)));
    struct cnnvp_constant_walk walk = cnnvp_constant_begin(view);
    for (size_t i = 0; i < to.count && cnnvp_constant_known(&to); ++i)
        cnnvp_constant_take(&to, i, from, cnnvp_constant_next(&walk), 1);
    return cnnvp_constant_define_as(import, import->node->output[output], &to);
}

const struct cnnvp_constant_operators *const cnnvp_constant_folding[CNNVP_FOLDING] = {
    &cnnvp_constant_places, &cnnvp_constant_arithmetic, &cnnvp_constant_functions, &cnnvp_constant_sums};

const struct cnnvp_constant_operator *cnnvp_constant_find(const char *op_type)
{
    for (size_t i = 0; i < CNNVP_FOLDING; ++i)
        for (size_t j = 0; j < cnnvp_constant_folding[i]->count; ++j)
            if (strcmp(op_type, cnnvp_constant_folding[i]->list[j].op_type) == 0)
                return &cnnvp_constant_folding[i]->list[j];
    return NULL;
}

cnnvp_result cnnvp_import_fold(struct cnnvp_import *import, int *done)
{
    const Onnx__NodeProto *node = import->node;
    const struct cnnvp_constant_operator *found = cnnvp_constant_find(node->op_type);
    *done = 0;
    if (found == NULL)
        return CNNVP_DONE;
    const int of_shape = strcmp(node->op_type, "Shape") == 0 || strcmp(node->op_type, "Size") == 0;
    for (size_t i = 0; i < node->n_input && !of_shape; ++i)
        if (cnnvp_import_has(import, i) && cnnvp_import_known_constant(import, node->input[i]) == NULL)
            return CNNVP_DONE;
    *done = 1;
    import->kind = found->kind;
    CNNVP_TRY(found->function(import));
    import->node = node;
    cnnvp_constant_mark_images(import);
    return CNNVP_DONE;
}
