/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does not depend on the network's input is computed while the file is read: the shape arithmetic of exporters
 * (Shape, Gather, Concat, ... in front of a Reshape), and weights that are brought into another form. Integers are
 * 64-bit, everything else is float. The batch, where it is a symbol, is 0: that is what Reshape takes for it.
 */
#include <string.h>

#include "onnx_constant.h"

#define COUNT_MAX ((size_t)1 << 28)
/* Weights larger than this are not read for a network that computes nothing. */
#define SMALL_COUNT 4096u

cnnvp_result cnnvp_constant_allocate(struct cnnvp_import *import, struct cnnvp_constant *made)
{
    made->count = 1;
    for (size_t i = 0; i < made->rank; ++i) {
        if (made->dims[i] < 0 || (made->dims[i] != 0 && made->count > COUNT_MAX / (size_t)made->dims[i]))
            return cnnvp_import_error(import, "the result has more than 2^28 elements");
        made->count *= (size_t)made->dims[i];
    }
    made->ints = NULL;
    made->floats = NULL;
    if (made->whole)
        made->ints = cnnvp_arena_array(&import->graph->arena, made->count, sizeof *made->ints);
    else
        made->floats = cnnvp_arena_array(&import->graph->arena, made->count, sizeof *made->floats);
    return made->ints != NULL || made->floats != NULL ? CNNVP_DONE : cnnvp_import_no_memory(import);
}

cnnvp_result cnnvp_constant_read(struct cnnvp_import *import, size_t input, struct cnnvp_constant *read)
{
    const Onnx__TensorProto *tensor;
    cnnvp_result result = cnnvp_import_constant(import, input, &tensor);
    if (result != CNNVP_DONE)
        return result;
    *read = (struct cnnvp_constant){.rank = tensor->n_dims,
                                    .whole = tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 ||
                                             tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32};
    if (tensor->n_dims > CNNVP_CONSTANT_RANK)
        return cnnvp_import_error(
            import, "a constant has %zu dimensions; up to %u are supported", tensor->n_dims, CNNVP_CONSTANT_RANK);
    if (tensor->n_dims != 0)
        memcpy(read->dims, tensor->dims, tensor->n_dims * sizeof *read->dims);
    const size_t count = cnnvp_onnx_elements(tensor);
    for (size_t i = 0; i < read->rank; ++i)
        if (read->dims[i] == 0)
            return cnnvp_constant_allocate(import, read); /* an empty list */
    struct cnnvp_error why;
    if (!read->whole && import->graph->weightless && (count > SMALL_COUNT || !cnnvp_onnx_has_values(tensor))) {
        read->count = count;
        return CNNVP_DONE;
    }
    /* A file cannot make us ask for more than it holds. */
    if (cnnvp_onnx_check(&import->onnx, tensor, count, &why) != CNNVP_DONE)
        return cnnvp_import_error(import, "%.900s", why.text);
    result = cnnvp_constant_allocate(import, read);
    if (result == CNNVP_DONE &&
        (read->whole ? cnnvp_onnx_ints(&import->onnx, tensor, read->ints, count, &why)
                     : cnnvp_onnx_floats(&import->onnx, tensor, read->floats, count, &why)) != CNNVP_DONE)
        return cnnvp_import_error(import, "%.900s", why.text);
    return result;
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
    Onnx__TensorProto *made = cnnvp_arena_array(&import->graph->arena, 1, sizeof *made);
    int64_t *dims = cnnvp_arena_array(&import->graph->arena, rank, sizeof *dims);
    if (made == NULL || dims == NULL)
        return cnnvp_import_no_memory(import);
    *made = *from;
    made->dims = dims;
    made->n_dims = rank - (size_t)axis;
    for (size_t i = 0; i < made->n_dims; ++i)
        dims[i] = i < from->n_dims ? from->dims[i] : 1;
    *constant = made;
    return CNNVP_DONE;
}

/* The node's output is that constant. */
cnnvp_result cnnvp_constant_define(struct cnnvp_import *import, const struct cnnvp_constant *made)
{
    Onnx__TensorProto *tensor = cnnvp_arena_array(&import->graph->arena, 1, sizeof *tensor);
    int64_t *dims = cnnvp_arena_array(&import->graph->arena, CNNVP_CONSTANT_RANK, sizeof *dims);
    if (tensor == NULL || dims == NULL)
        return cnnvp_import_no_memory(import);
    onnx__tensor_proto__init(tensor);
    memcpy(dims, made->dims, sizeof made->dims);
    tensor->name = import->node->output[0];
    tensor->has_data_type = 1;
    tensor->data_type = made->whole ? ONNX__TENSOR_PROTO__DATA_TYPE__INT64 : ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    tensor->n_dims = made->rank;
    tensor->dims = dims;
    tensor->n_int64_data = made->ints != NULL ? made->count : 0;
    tensor->int64_data = made->ints;
    tensor->n_float_data = made->floats != NULL ? made->count : 0;
    tensor->float_data = made->floats;
    return cnnvp_import_define(
        import, import->node->output[0], (struct cnnvp_onnx_value){.tensor = CNNVP_GRAPH_NONE, .constant = tensor});
}

cnnvp_result cnnvp_constant_move(struct cnnvp_import *import, const struct cnnvp_constant *from,
                                 struct cnnvp_constant *to, size_t (*place)(const void *context, size_t i),
                                 const void *context)
{
    to->whole = from->whole;
    if (!from->whole && from->floats == NULL) {
        to->count = 0;
        to->floats = NULL;
        return cnnvp_constant_define(import, to);
    }
    const cnnvp_result result = cnnvp_constant_allocate(import, to);
    if (result != CNNVP_DONE)
        return result;
    for (size_t i = 0; i < to->count; ++i) {
        const size_t at = place(context, i);
        if (from->whole)
            to->ints[i] = from->ints[at];
        else
            to->floats[i] = from->floats[at];
    }
    return cnnvp_constant_define(import, to);
}

static size_t same_place(const void *context, size_t i)
{
    (void)context;
    return i;
}

/* A limit of a slice, counted from the end where it is negative, between low and high. */
static int64_t limit(int64_t value, int64_t size, int64_t low, int64_t high)
{
    value += value < 0 ? size : 0;
    return value < low ? low : value > high ? high : value;
}

static cnnvp_result fold_shape(struct cnnvp_import *import)
{
    struct cnnvp_onnx_value value = {CNNVP_GRAPH_NONE, NULL};
    cnnvp_result result = cnnvp_import_value(import, 0, &value);
    if (result != CNNVP_DONE)
        return result;
    int64_t dims[CNNVP_CONSTANT_RANK] = {0};
    size_t rank = 0;
    result = cnnvp_import_value_dims(import, &value, &rank, dims);
    if (result != CNNVP_DONE)
        return result;
    const int64_t count = (int64_t)rank;
    const int64_t start = limit(cnnvp_onnx_int(import->node, "start", 0), count, 0, count);
    const int64_t end = limit(cnnvp_onnx_int(import->node, "end", count), count, start, count);
    struct cnnvp_constant made = {.rank = 1, .dims = {end - start}, .whole = 1};
    result = cnnvp_constant_allocate(import, &made);
    if (result != CNNVP_DONE)
        return result;
    memcpy(made.ints, dims + start, made.count * sizeof *made.ints);
    return cnnvp_constant_define(import, &made);
}

struct gather {
    const struct cnnvp_constant *indices;
    size_t inner; /* elements after the axis */
    size_t along; /* of the axis in the data */
};

static size_t gather_place(const void *context, size_t i)
{
    const struct gather *gather = context;
    const size_t inner = i % gather->inner;
    const size_t index = i / gather->inner % gather->indices->count;
    const size_t outer = i / gather->inner / gather->indices->count;
    const int64_t wanted = gather->indices->ints[index];
    return (outer * gather->along + (size_t)(wanted < 0 ? wanted + (int64_t)gather->along : wanted)) * gather->inner +
           inner;
}

static cnnvp_result fold_gather(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    struct cnnvp_constant indices;
    cnnvp_result result = cnnvp_constant_read(import, 0, &data);
    if (result == CNNVP_DONE)
        result = cnnvp_constant_read(import, 1, &indices);
    if (result != CNNVP_DONE)
        return result;
    int64_t axis = cnnvp_onnx_int(import->node, "axis", 0);
    axis += axis < 0 ? (int64_t)data.rank : 0;
    if (axis < 0 || axis >= (int64_t)data.rank || !indices.whole || data.rank - 1 + indices.rank > CNNVP_CONSTANT_RANK)
        return cnnvp_import_error(
            import, "axis %lld of %zu dimensions, or indices that are no integers", (long long)axis, data.rank);
    struct cnnvp_constant made = {.rank = 0};
    struct gather gather = {&indices, 1, (size_t)data.dims[axis]};
    for (size_t i = 0; i < data.rank; ++i) {
        if ((int64_t)i != axis)
            made.dims[made.rank++] = data.dims[i];
        else
            for (size_t d = 0; d < indices.rank; ++d)
                made.dims[made.rank++] = indices.dims[d];
        if ((int64_t)i > axis)
            gather.inner *= (size_t)data.dims[i];
    }
    for (size_t i = 0; i < indices.count; ++i)
        if (indices.ints[i] < -data.dims[axis] || indices.ints[i] >= data.dims[axis])
            return cnnvp_import_error(import, "index %lld is outside of the %lld elements of axis %lld",
                                      (long long)indices.ints[i], (long long)data.dims[axis], (long long)axis);
    return cnnvp_constant_move(import, &data, &made, gather_place, &gather);
}

static cnnvp_result fold_squeeze(struct cnnvp_import *import)
{
    const int adds = import->kind;
    struct cnnvp_constant data;
    int64_t axes[CNNVP_CONSTANT_RANK];
    int marked[2 * CNNVP_CONSTANT_RANK] = {0};
    size_t count = 0;
    cnnvp_result result = cnnvp_constant_read(import, 0, &data);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "axes", 1, CNNVP_CONSTANT_RANK, axes, &count);
    if (result != CNNVP_DONE)
        return result;
    const int64_t all = (int64_t)(data.rank + (adds ? count : 0));
    if (all > CNNVP_CONSTANT_RANK)
        return cnnvp_import_error(
            import, "the result has %lld dimensions; up to %u are supported", (long long)all, CNNVP_CONSTANT_RANK);
    for (size_t i = 0; i < count; ++i) {
        const int64_t axis = axes[i] + (axes[i] < 0 ? all : 0);
        if (axis < 0 || axis >= all || (!adds && data.dims[axis] != 1))
            return cnnvp_import_error(import, "axis %lld of %lld dimensions", (long long)axes[i], (long long)all);
        marked[axis] = 1;
    }
    struct cnnvp_constant made = {.rank = 0};
    size_t next = 0;
    for (int64_t i = 0; i < all; ++i) {
        if (adds)
            made.dims[made.rank++] = marked[i] || next == data.rank ? 1 : data.dims[next++];
        else if (count != 0 ? !marked[i] : data.dims[i] != 1)
            made.dims[made.rank++] = data.dims[i];
    }
    return cnnvp_constant_move(import, &data, &made, same_place, NULL);
}

/* One part of a Concat: its elements, this many at a time, to every along-th place of the result. */
static void join_part(const struct cnnvp_constant *part, size_t chunk, size_t at, size_t along,
                      struct cnnvp_constant *made)
{
    for (size_t i = 0; i < part->count; i += chunk, at += along)
        if (made->whole)
            memcpy(made->ints + at, part->ints + i, chunk * sizeof *made->ints);
        else
            memcpy(made->floats + at, part->floats + i, chunk * sizeof *made->floats);
}

/* The shape of constants that are joined along an axis. */
static cnnvp_result join_shapes(struct cnnvp_import *import, const struct cnnvp_constant *parts, size_t count,
                                int64_t axis, struct cnnvp_constant *made)
{
    *made = parts[0];
    made->whole = 0;
    made->dims[axis] = 0;
    for (size_t i = 0; i < count; ++i) {
        int fits = parts[i].rank == made->rank;
        for (size_t d = 0; d < made->rank && fits; ++d)
            fits = (int64_t)d == axis || parts[i].dims[d] == made->dims[d];
        if (!fits)
            return cnnvp_import_error(import,
                                      "input \"%s\" has another shape than the first, not only along axis "
                                      "%lld",
                                      import->node->input[i], (long long)axis);
        made->whole = made->whole || (parts[i].count != 0 && parts[i].whole);
        made->dims[axis] += parts[i].dims[axis];
    }
    for (size_t i = 0; i < count; ++i)
        if (parts[i].count != 0 && (parts[i].whole != made->whole || (!made->whole && parts[i].floats == NULL)))
            return cnnvp_import_error(import,
                                      "constants are only joined where all are integers, or all are floats of "
                                      "which up to %u are in one",
                                      SMALL_COUNT);
    return CNNVP_DONE;
}

static cnnvp_result fold_concat(struct cnnvp_import *import)
{
    struct cnnvp_constant made;
    const size_t inputs = import->node->n_input;
    struct cnnvp_constant *parts = cnnvp_arena_array(&import->graph->arena, inputs, sizeof *parts);
    cnnvp_result result = parts != NULL ? CNNVP_DONE : cnnvp_import_no_memory(import);
    for (size_t i = 0; i < inputs && result == CNNVP_DONE; ++i)
        result = cnnvp_constant_read(import, i, &parts[i]);
    if (result != CNNVP_DONE)
        return result;
    const int64_t named = cnnvp_onnx_int(import->node, "axis", 1);
    const int64_t axis = inputs != 0 ? named + (named < 0 ? (int64_t)parts[0].rank : 0) : -1;
    if (axis < 0 || axis >= (int64_t)parts[0].rank)
        return cnnvp_import_error(
            import, "axis %lld of %zu dimensions", (long long)named, inputs != 0 ? parts[0].rank : 0);
    result = join_shapes(import, parts, inputs, axis, &made);
    if (result == CNNVP_DONE)
        result = cnnvp_constant_allocate(import, &made);
    size_t inner = 1;
    size_t at = 0;
    for (size_t d = (size_t)axis + 1; d < made.rank; ++d)
        inner *= (size_t)made.dims[d];
    for (size_t i = 0; i < inputs && result == CNNVP_DONE; ++i) {
        const size_t chunk = (size_t)parts[i].dims[axis] * inner;
        join_part(&parts[i], chunk, at, (size_t)made.dims[axis] * inner, &made);
        at += chunk;
    }
    return result == CNNVP_DONE ? cnnvp_constant_define(import, &made) : result;
}

/* Elements first, first + step ... of one axis. */
struct slice {
    size_t inner; /* elements after the axis */
    size_t along; /* of the axis in the data */
    size_t taken; /* of the axis in the result */
    int64_t first;
    int64_t step;
};

static size_t slice_place(const void *context, size_t i)
{
    const struct slice *slice = context;
    const size_t inner = i % slice->inner;
    const int64_t index = slice->first + (int64_t)(i / slice->inner % slice->taken) * slice->step;
    const size_t outer = i / slice->inner / slice->taken;
    return (outer * slice->along + (size_t)index) * slice->inner + inner;
}

static cnnvp_result fold_slice(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    int64_t starts[1], ends[1], axes[1] = {0}, steps[1] = {1};
    size_t count[4] = {0, 0, 0, 0};
    cnnvp_result result = cnnvp_constant_read(import, 0, &data);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "starts", 1, 1, starts, &count[0]);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "ends", 2, 1, ends, &count[1]);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "axes", 3, 1, axes, &count[2]);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "steps", 4, 1, steps, &count[3]);
    if (result != CNNVP_DONE)
        return result;
    const int64_t axis = axes[0] + (axes[0] < 0 ? (int64_t)data.rank : 0);
    if (axis < 0 || axis >= (int64_t)data.rank || count[0] != 1 || count[1] != 1 || steps[0] == 0 ||
        steps[0] > INT32_MAX || steps[0] < -INT32_MAX)
        return cnnvp_import_error(import, "of constants one axis is cut, with a start, an end and a step");
    const int64_t size = data.dims[axis];
    const int back = steps[0] < 0;
    struct slice slice = {.inner = 1, .along = (size_t)size, .step = steps[0]};
    slice.first = limit(starts[0], size, 0, back ? size - 1 : size);
    const int64_t end = limit(ends[0], size, back ? -1 : 0, size);
    const int64_t reach = back ? slice.first - end : end - slice.first;
    struct cnnvp_constant made = data;
    made.dims[axis] = reach > 0 ? (reach + (back ? -steps[0] : steps[0]) - 1) / (back ? -steps[0] : steps[0]) : 0;
    slice.taken = (size_t)made.dims[axis];
    for (size_t i = (size_t)axis + 1; i < data.rank; ++i)
        slice.inner *= (size_t)data.dims[i];
    return cnnvp_constant_move(import, &data, &made, slice_place, &slice);
}

static cnnvp_result fold_constant_of_shape(struct cnnvp_import *import)
{
    struct cnnvp_constant shape;
    cnnvp_result result = cnnvp_constant_read(import, 0, &shape);
    if (result != CNNVP_DONE)
        return result;
    const Onnx__AttributeProto *value = cnnvp_onnx_attribute(import->node, "value");
    struct cnnvp_constant made = {.rank = shape.count};
    if (!shape.whole || shape.count > CNNVP_CONSTANT_RANK)
        return cnnvp_import_error(import, "the shape is no list of up to %u integers", CNNVP_CONSTANT_RANK);
    if (shape.count != 0)
        memcpy(made.dims, shape.ints, shape.count * sizeof *made.dims);
    int64_t whole = 0;
    float number = 0.0f;
    struct cnnvp_error why = {""};
    if (value != NULL && value->t != NULL) {
        made.whole = value->t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 ||
                     value->t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32;
        if (cnnvp_onnx_elements(value->t) != 1 ||
            (made.whole ? cnnvp_onnx_ints(&import->onnx, value->t, &whole, 1, &why)
                        : cnnvp_onnx_floats(&import->onnx, value->t, &number, 1, &why)) != CNNVP_DONE)
            return cnnvp_import_error(import, "attribute value is not one number");
    }
    size_t elements = 1;
    for (size_t i = 0; i < made.rank; ++i) {
        if (made.dims[i] < 0 || made.dims[i] > SMALL_COUNT || elements * (size_t)made.dims[i] > SMALL_COUNT)
            return cnnvp_import_error(import, "the result has more than %u elements", SMALL_COUNT);
        elements *= (size_t)made.dims[i];
    }
    result = cnnvp_constant_allocate(import, &made);
    for (size_t i = 0; i < made.count && result == CNNVP_DONE; ++i) {
        if (made.whole)
            made.ints[i] = whole;
        else
            made.floats[i] = number;
    }
    return result == CNNVP_DONE ? cnnvp_constant_define(import, &made) : result;
}

static cnnvp_result fold_cast(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    cnnvp_result result = cnnvp_constant_read(import, 0, &data);
    if (result != CNNVP_DONE)
        return result;
    const int64_t to = cnnvp_onnx_int(import->node, "to", 0);
    struct cnnvp_constant made = data;
    made.whole = to == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 || to == ONNX__TENSOR_PROTO__DATA_TYPE__INT32;
    if (!made.whole && to != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT && to != ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE &&
        to != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16)
        return cnnvp_import_error(import, "a cast to data type %lld is not supported", (long long)to);
    if (made.whole == data.whole)
        return cnnvp_constant_define(import, &made);
    if (data.floats == NULL && !data.whole)
        return cnnvp_import_error(import, "a cast of a constant this large is not supported");
    result = cnnvp_constant_allocate(import, &made);
    for (size_t i = 0; i < made.count && result == CNNVP_DONE; ++i) {
        if (!made.whole)
            made.floats[i] = (float)data.ints[i];
        else if (data.floats[i] > -9.0e18f && data.floats[i] < 9.0e18f)
            made.ints[i] = (int64_t)data.floats[i];
        else
            result = cnnvp_import_error(import, "%g is not an integer", (double)data.floats[i]);
    }
    return result == CNNVP_DONE ? cnnvp_constant_define(import, &made) : result;
}

static cnnvp_result fold_reshape(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    struct cnnvp_constant shape;
    cnnvp_result result = cnnvp_constant_read(import, 0, &data);
    if (result == CNNVP_DONE)
        result = cnnvp_constant_read(import, 1, &shape);
    if (result != CNNVP_DONE)
        return result;
    if (!shape.whole || shape.count > CNNVP_CONSTANT_RANK)
        return cnnvp_import_error(import, "the shape is no list of up to %u integers", CNNVP_CONSTANT_RANK);
    struct cnnvp_constant made = {.rank = shape.count};
    const int zeros = cnnvp_onnx_int(import->node, "allowzero", 0) != 0;
    size_t known = 1;
    size_t open = CNNVP_CONSTANT_RANK;
    for (size_t i = 0; i < made.rank; ++i) {
        int64_t size = i < data.rank && shape.ints[i] == 0 && !zeros ? data.dims[i] : shape.ints[i];
        if (size == -1 && open == CNNVP_CONSTANT_RANK) {
            open = i;
            size = 1;
        }
        /* 0 is a size only where there is nothing to lose. */
        if (size < (data.count == 0 ? 0 : 1) || (data.count != 0 && (size_t)size > data.count / known))
            return cnnvp_import_error(import, "number %zu of the shape is %lld", i, (long long)shape.ints[i]);
        made.dims[i] = size;
        known *= (size_t)size;
    }
    if (open != CNNVP_CONSTANT_RANK) {
        made.dims[open] = known != 0 ? (int64_t)(data.count / known) : 0;
        known *= (size_t)made.dims[open];
    }
    if (known != data.count)
        return cnnvp_import_error(import, "the shape holds %zu elements, the constant has %zu", known, data.count);
    return cnnvp_constant_move(import, &data, &made, same_place, NULL);
}

struct transposition {
    size_t rank;
    int64_t dims[CNNVP_CONSTANT_RANK];   /* of the result */
    size_t strides[CNNVP_CONSTANT_RANK]; /* in the data */
};

static size_t transpose_place(const void *context, size_t i)
{
    const struct transposition *t = context;
    size_t place = 0;
    for (size_t d = t->rank; d-- > 0; i /= (size_t)t->dims[d])
        place += i % (size_t)t->dims[d] * t->strides[d];
    return place;
}

static cnnvp_result fold_transpose(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    int64_t perm[CNNVP_CONSTANT_RANK];
    cnnvp_result result = cnnvp_constant_read(import, 0, &data);
    if (result == CNNVP_DONE)
        result = cnnvp_import_perm(import, data.rank, perm);
    if (result != CNNVP_DONE)
        return result;
    size_t strides[CNNVP_CONSTANT_RANK] = {0};
    size_t stride = 1;
    for (size_t d = data.rank; d-- > 0; stride *= (size_t)data.dims[d])
        strides[d] = stride;
    struct transposition t = {.rank = data.rank};
    struct cnnvp_constant made = {.rank = data.rank};
    for (size_t d = 0; d < data.rank; ++d) {
        made.dims[d] = t.dims[d] = data.dims[perm[d]];
        t.strides[d] = strides[perm[d]];
    }
    return cnnvp_constant_move(import, &data, &made, transpose_place, &t);
}

static const struct cnnvp_import_operator operators[] = {
    {"Shape", fold_shape, CNNVP_FORM_ALL, 0},
    {"Gather", fold_gather, CNNVP_FORM_ALL, 0},
    {"Unsqueeze", fold_squeeze, CNNVP_FORM_ALL, 1},
    {"Squeeze", fold_squeeze, CNNVP_FORM_ALL, 0},
    {"Concat", fold_concat, CNNVP_FORM_ALL, 0},
    {"Slice", fold_slice, CNNVP_FORM_ALL, 0},
    {"Cast", fold_cast, CNNVP_FORM_ALL, 0},
    {"Reshape", fold_reshape, CNNVP_FORM_ALL, 0},
    {"Transpose", fold_transpose, CNNVP_FORM_ALL, 0},
    {"ConstantOfShape", fold_constant_of_shape, CNNVP_FORM_ALL, 0},
    {"DequantizeLinear", cnnvp_constant_dequantize, CNNVP_FORM_ALL, 0},
    {"QuantizeLinear", cnnvp_constant_quantize, CNNVP_FORM_ALL, 0},
};

static const struct cnnvp_import_operators moving = {operators, sizeof operators / sizeof operators[0]};
const struct cnnvp_import_operators *const cnnvp_import_folding[2] = {&moving, &cnnvp_constant_arithmetic};

cnnvp_result cnnvp_import_fold(struct cnnvp_import *import, int *done)
{
    const Onnx__NodeProto *node = import->node;
    const struct cnnvp_import_operator *found = cnnvp_import_find(&moving, node->op_type);
    if (found == NULL)
        found = cnnvp_import_find(&cnnvp_constant_arithmetic, node->op_type);
    *done = 0;
    if (found == NULL)
        return CNNVP_DONE;
    for (size_t i = 0; i < node->n_input && found->function != fold_shape; ++i) {
        uint32_t number;
        if (cnnvp_import_has(import, i) &&
            (!cnnvp_names_get(&import->names, node->input[i], &number) || import->values[number].constant == NULL))
            return CNNVP_DONE;
    }
    *done = 1;
    import->kind = found->kind;
    return found->function(import);
}
