/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of constants in other shapes and at other places, and constants of shapes. */
#include <string.h>

#include "onnx_constant.h"

/* The same elements in another shape. */
static cnnvp_result reshape(struct cnnvp_import *import, const struct cnnvp_constant *data, size_t rank,
                            const int64_t *dims)
{
    struct cnnvp_constant made = *data;
    made.rank = rank;
    memcpy(made.dims, dims, rank * sizeof *dims);
    return cnnvp_constant_define(import, &made);
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
    CNNVP_TRY(cnnvp_import_value(import, 0, &value));
    int64_t dims[CNNVP_CONSTANT_RANK] = {0};
    size_t rank = 0;
    CNNVP_TRY(cnnvp_import_value_dims(import, &value, &rank, dims));
    const int64_t count = (int64_t)rank;
    const int64_t start = limit(cnnvp_onnx_int(import->node, "start", 0), count, 0, count);
    const int64_t end = limit(cnnvp_onnx_int(import->node, "end", count), count, start, count);
    struct cnnvp_constant made = {.rank = 1, .dims = {end - start}, .whole = 1};
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, 1));
    memcpy(made.ints, dims + start, made.count * sizeof *made.ints);
    return cnnvp_constant_define(import, &made);
}

static cnnvp_result fold_size(struct cnnvp_import *import)
{
    struct cnnvp_onnx_value value = {CNNVP_GRAPH_NONE, NULL};
    int64_t dims[CNNVP_CONSTANT_RANK] = {0};
    size_t rank = 0;
    CNNVP_TRY(cnnvp_import_value(import, 0, &value));
    CNNVP_TRY(cnnvp_import_value_dims(import, &value, &rank, dims));
    struct cnnvp_constant made = {.whole = 1};
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, 1));
    if (value.constant == NULL && rank != 0 && dims[0] == 0)
        return cnnvp_import_mixes(import, "the number of all elements");
    made.ints[0] = 1;
    for (size_t i = 0; i < rank; ++i)
        made.ints[0] *= dims[i];
    return cnnvp_constant_define(import, &made);
}

/* All elements with one of the indices along an axis. */
static void gather(const struct cnnvp_constant *data, size_t axis, const struct cnnvp_constant *indices,
                   struct cnnvp_constant *made)
{
    size_t inner = 1;
    size_t outer = 1;
    size_t to = 0;
    const int64_t along = data->dims[axis];
    for (size_t d = 0; d < data->rank; ++d) {
        inner *= d > axis ? (size_t)data->dims[d] : 1;
        outer *= d < axis ? (size_t)data->dims[d] : 1;
    }
    for (size_t o = 0; o < outer; ++o)
        for (size_t i = 0; i < indices->count; ++i, to += inner) {
            const int64_t index = indices->ints[i] + (indices->ints[i] < 0 ? along : 0);
            cnnvp_constant_take(made, to, data, (o * (size_t)along + (size_t)index) * inner, inner);
        }
}

static cnnvp_result fold_gather(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    struct cnnvp_constant indices;
    size_t axis = 0;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    CNNVP_TRY(cnnvp_constant_need(import, 1, &indices));
    CNNVP_TRY(cnnvp_constant_axis(import, cnnvp_onnx_int(import->node, "axis", 0), data.rank, &axis));
    if (!indices.whole || data.rank - 1 + indices.rank > CNNVP_CONSTANT_RANK)
        return cnnvp_import_error(
            import, "indices that are no integers, or more than %u dimensions", CNNVP_CONSTANT_RANK);
    struct cnnvp_constant made = {.whole = data.whole};
    for (size_t i = 0; i < data.rank; ++i) {
        if (i != axis)
            made.dims[made.rank++] = data.dims[i];
        else
            for (size_t d = 0; d < indices.rank; ++d)
                made.dims[made.rank++] = indices.dims[d];
    }
    for (size_t i = 0; i < indices.count; ++i)
        if (indices.ints[i] < -data.dims[axis] || indices.ints[i] >= data.dims[axis])
            return cnnvp_import_error(import, "index %lld is outside of the %lld elements of axis %zu",
                                      (long long)indices.ints[i], (long long)data.dims[axis], axis);
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&data)));
    if (made.count != 0 && cnnvp_constant_known(&made))
        gather(&data, axis, &indices, &made);
    return cnnvp_constant_define(import, &made);
}

static cnnvp_result fold_squeeze(struct cnnvp_import *import)
{
    const int adds = import->kind;
    struct cnnvp_constant data;
    int64_t axes[CNNVP_CONSTANT_RANK];
    int marked[2 * CNNVP_CONSTANT_RANK] = {0};
    size_t count = 0;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    CNNVP_TRY(cnnvp_import_list(import, "axes", 1, CNNVP_CONSTANT_RANK, axes, &count));
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
    return reshape(import, &data, made.rank, made.dims);
}

/* The shape of constants that are joined along an axis. */
static cnnvp_result join_shapes(struct cnnvp_import *import, const struct cnnvp_constant *parts, size_t count,
                                int64_t axis, struct cnnvp_constant *made, int *known)
{
    *made = parts[0];
    made->whole = 0;
    made->dims[axis] = 0;
    *known = 1;
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
        *known = *known && cnnvp_constant_known(&parts[i]);
        made->dims[axis] += parts[i].dims[axis];
    }
    for (size_t i = 0; i < count; ++i)
        if (parts[i].count != 0 && parts[i].whole != made->whole)
            return cnnvp_import_error(import, "constants are only joined where all are integers, or all are floats");
    return CNNVP_DONE;
}

static cnnvp_result fold_concat(struct cnnvp_import *import)
{
    struct cnnvp_constant made;
    int known = 1;
    const size_t inputs = import->node->n_input;
    struct cnnvp_constant *parts = cnnvp_arena_array(&import->graph->arena, inputs, sizeof *parts);
    CNNVP_TRY(parts != NULL ? CNNVP_DONE : cnnvp_import_no_memory(import));
    for (size_t i = 0; i < inputs; ++i)
        CNNVP_TRY(cnnvp_constant_read(import, i, &parts[i]));
    const int64_t named = cnnvp_onnx_int(import->node, "axis", 1);
    const int64_t axis = inputs != 0 ? named + (named < 0 ? (int64_t)parts[0].rank : 0) : -1;
    if (axis < 0 || axis >= (int64_t)parts[0].rank)
        return cnnvp_import_error(
            import, "axis %lld of %zu dimensions", (long long)named, inputs != 0 ? parts[0].rank : 0);
    CNNVP_TRY(join_shapes(import, parts, inputs, axis, &made, &known));
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, known));
    size_t inner = 1;
    size_t at = 0;
    for (size_t d = (size_t)axis + 1; d < made.rank; ++d)
        inner *= (size_t)made.dims[d];
    for (size_t i = 0; i < inputs && cnnvp_constant_known(&made); ++i) {
        const size_t chunk = (size_t)parts[i].dims[axis] * inner;
        const size_t along = (size_t)made.dims[axis] * inner;
        for (size_t k = 0; k * chunk < parts[i].count; ++k)
            cnnvp_constant_take(&made, at + k * along, &parts[i], k * chunk, chunk);
        at += chunk;
    }
    return cnnvp_constant_define(import, &made);
}

/* Elements first, first + step ... of one axis. */
static cnnvp_result slice_axis(struct cnnvp_import *import, int64_t start, int64_t end, int64_t step, size_t axis,
                               struct cnnvp_constant_view *view)
{
    const int64_t size = view->dims[axis];
    const int back = step < 0;
    if (step == 0 || step > INT32_MAX || step < -INT32_MAX)
        return cnnvp_import_error(import, "a step of %lld; it must not be 0", (long long)step);
    const int64_t first = limit(start, size, 0, back ? size - 1 : size);
    const int64_t reach = back ? first - limit(end, size, -1, size) : limit(end, size, 0, size) - first;
    view->dims[axis] = reach > 0 ? (reach + (back ? -step : step) - 1) / (back ? -step : step) : 0;
    view->first += first * view->steps[axis];
    view->steps[axis] *= step;
    return CNNVP_DONE;
}

static cnnvp_result fold_slice(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    int64_t starts[CNNVP_CONSTANT_RANK];
    int64_t ends[CNNVP_CONSTANT_RANK];
    int64_t axes[CNNVP_CONSTANT_RANK];
    int64_t steps[CNNVP_CONSTANT_RANK];
    size_t count[4] = {0, 0, 0, 0};
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    CNNVP_TRY(cnnvp_import_list(import, "starts", 1, CNNVP_CONSTANT_RANK, starts, &count[0]));
    CNNVP_TRY(cnnvp_import_list(import, "ends", 2, CNNVP_CONSTANT_RANK, ends, &count[1]));
    CNNVP_TRY(cnnvp_import_list(import, "axes", 3, CNNVP_CONSTANT_RANK, axes, &count[2]));
    CNNVP_TRY(cnnvp_import_list(import, "steps", 4, CNNVP_CONSTANT_RANK, steps, &count[3]));
    if (count[0] == 0 || count[1] != count[0] || (count[2] != 0 && count[2] != count[0]) ||
        (count[3] != 0 && count[3] != count[0]))
        return cnnvp_import_error(import, "starts, ends, axes and steps have %zu, %zu, %zu and %zu numbers", count[0],
                                  count[1], count[2], count[3]);
    struct cnnvp_constant_view view = cnnvp_constant_whole_view(&data);
    unsigned seen = 0;
    for (size_t i = 0; i < count[0]; ++i) {
        size_t axis = 0;
        CNNVP_TRY(cnnvp_constant_axis(import, count[2] != 0 ? axes[i] : (int64_t)i, data.rank, &axis));
        if ((seen >> axis & 1u) != 0)
            CNNVP_TRY(cnnvp_import_error(import, "axis %zu is named twice", axis));
        CNNVP_TRY(slice_axis(import, starts[i], ends[i], count[3] != 0 ? steps[i] : 1, axis, &view));
        seen |= 1u << axis;
    }
    return cnnvp_constant_show(import, &data, &view, 0);
}

static cnnvp_result fold_split(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    size_t axis = 0;
    size_t count = 0;
    const size_t parts = import->node->n_output;
    int64_t *sizes = cnnvp_arena_array(&import->graph->arena, parts, sizeof *sizes);
    CNNVP_TRY(sizes != NULL ? cnnvp_constant_read(import, 0, &data) : cnnvp_import_no_memory(import));
    CNNVP_TRY(cnnvp_constant_axis(import, cnnvp_onnx_int(import->node, "axis", 0), data.rank, &axis));
    CNNVP_TRY(cnnvp_import_list(import, "split", 1, parts, sizes, &count));
    /* Since operator set 18 the last part may be smaller. */
    const int uneven = cnnvp_onnx_attribute(import->node, "num_outputs") != NULL;
    const int64_t equal = (data.dims[axis] + (int64_t)parts - 1) / (int64_t)parts;
    if (count != 0 ? count != parts : !uneven && data.dims[axis] % (int64_t)parts != 0)
        return cnnvp_import_error(
            import, "%lld elements in %zu parts, of which %zu have a size", (long long)data.dims[axis], parts, count);
    int64_t at = 0;
    for (size_t i = 0; i < parts; ++i) {
        const int64_t left = data.dims[axis] - at;
        const int64_t size = count != 0 ? sizes[i] : equal < left ? equal : left;
        if (size < 0 || size > left)
            return cnnvp_import_error(
                import, "part %zu has %lld of %lld elements", i, (long long)size, (long long)data.dims[axis]);
        struct cnnvp_constant_view view = cnnvp_constant_whole_view(&data);
        view.first = at * view.steps[axis];
        view.dims[axis] = size;
        if (import->node->output[i][0] != '\0')
            CNNVP_TRY(cnnvp_constant_show(import, &data, &view, i));
        at += size;
    }
    return at != data.dims[axis]
               ? cnnvp_import_error(import, "the parts have %lld of %lld elements", (long long)at,
                                    (long long)data.dims[axis])
               : CNNVP_DONE;
}

/* Each dimension several times. */
static cnnvp_result fold_tile(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    int64_t repeats[CNNVP_CONSTANT_RANK];
    size_t count = 0;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    CNNVP_TRY(cnnvp_import_list(import, "repeats", 1, CNNVP_CONSTANT_RANK, repeats, &count));
    if (count != data.rank)
        return cnnvp_import_error(import, "repeats has %zu numbers for %zu dimensions", count, data.rank);
    struct cnnvp_constant made = {.rank = data.rank, .whole = data.whole};
    for (size_t d = 0; d < data.rank; ++d) {
        if (repeats[d] < 0 || repeats[d] > INT32_MAX)
            return cnnvp_import_error(import, "%lld repetitions", (long long)repeats[d]);
        made.dims[d] = data.dims[d] * repeats[d]; /* both are of 31 bits */
    }
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&data)));
    for (size_t i = 0; i < made.count && cnnvp_constant_known(&made); ++i) {
        size_t place = 0;
        size_t step = 1;
        size_t left = i;
        for (size_t d = data.rank; d-- > 0; left /= (size_t)made.dims[d], step *= (size_t)data.dims[d])
            place += left % (size_t)made.dims[d] % (size_t)data.dims[d] * step;
        cnnvp_constant_take(&made, i, &data, place, 1);
    }
    return cnnvp_constant_define(import, &made);
}

static cnnvp_result fold_constant_of_shape(struct cnnvp_import *import)
{
    struct cnnvp_constant shape;
    CNNVP_TRY(cnnvp_constant_need(import, 0, &shape));
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
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, 1));
    for (size_t i = 0; i < made.count && made.ints != NULL; ++i)
        made.ints[i] = whole;
    for (size_t i = 0; i < made.count && made.floats != NULL; ++i)
        made.floats[i] = number;
    return cnnvp_constant_define(import, &made);
}

/* Floats of all sizes are one here, integers of 32 and 64 bits another; 0 and 1 are booleans. */
static cnnvp_result fold_cast(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    const int64_t to = cnnvp_onnx_int(import->node, "to", 0);
    const int boolean = to == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
    struct cnnvp_constant made = data;
    made.whole = boolean || to == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 || to == ONNX__TENSOR_PROTO__DATA_TYPE__INT32;
    if (!made.whole && to != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT && to != ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE &&
        to != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 && to != ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16)
        return cnnvp_import_error(import, "a cast to data type %lld is not supported", (long long)to);
    if (made.whole == data.whole && !boolean)
        return cnnvp_constant_define(import, &made);
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&data)));
    for (size_t i = 0; i < made.count && made.floats != NULL; ++i)
        made.floats[i] = (float)data.ints[i];
    for (size_t i = 0; i < made.count && made.ints != NULL; ++i) {
        if (boolean)
            made.ints[i] = data.whole ? data.ints[i] != 0 : data.floats[i] < 0.0f || data.floats[i] > 0.0f;
        else if (data.floats[i] > -9.0e18f && data.floats[i] < 9.0e18f)
            made.ints[i] = (int64_t)data.floats[i];
        else
            CNNVP_TRY(cnnvp_import_error(import, "%g is not an integer", (double)data.floats[i]));
    }
    return cnnvp_constant_define(import, &made);
}

static cnnvp_result fold_reshape(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    struct cnnvp_constant shape;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    CNNVP_TRY(cnnvp_constant_need(import, 1, &shape));
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
    return reshape(import, &data, made.rank, made.dims);
}

static cnnvp_result fold_flatten(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    const int64_t named = cnnvp_onnx_int(import->node, "axis", 1);
    const int64_t axis = named + (named < 0 ? (int64_t)data.rank : 0);
    int64_t dims[2] = {1, 1};
    if (axis < 0 || axis > (int64_t)data.rank)
        return cnnvp_import_error(import, "axis %lld of %zu dimensions", (long long)named, data.rank);
    for (size_t d = 0; d < data.rank; ++d)
        dims[(int64_t)d >= axis] *= data.dims[d];
    return reshape(import, &data, 2, dims);
}

static cnnvp_result fold_transpose(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    int64_t perm[CNNVP_CONSTANT_RANK];
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    CNNVP_TRY(cnnvp_import_perm(import, data.rank, perm));
    const struct cnnvp_constant_view from = cnnvp_constant_whole_view(&data);
    struct cnnvp_constant_view view = from;
    for (size_t d = 0; d < data.rank; ++d) {
        view.dims[d] = from.dims[perm[d]];
        view.steps[d] = from.steps[perm[d]];
    }
    return cnnvp_constant_show(import, &data, &view, 0);
}

static const struct cnnvp_import_operator operators[] = {
    {"Shape", fold_shape, CNNVP_FORM_ALL, 0},
    {"Size", fold_size, CNNVP_FORM_ALL, 0},
    {"Gather", fold_gather, CNNVP_FORM_ALL, 0},
    {"Unsqueeze", fold_squeeze, CNNVP_FORM_ALL, 1},
    {"Squeeze", fold_squeeze, CNNVP_FORM_ALL, 0},
    {"Concat", fold_concat, CNNVP_FORM_ALL, 0},
    {"Slice", fold_slice, CNNVP_FORM_ALL, 0},
    {"Split", fold_split, CNNVP_FORM_ALL, 0},
    {"Tile", fold_tile, CNNVP_FORM_ALL, 0},
    {"Flatten", fold_flatten, CNNVP_FORM_ALL, 0},
    {"Cast", fold_cast, CNNVP_FORM_ALL, 0},
    {"Reshape", fold_reshape, CNNVP_FORM_ALL, 0},
    {"Transpose", fold_transpose, CNNVP_FORM_ALL, 0},
    {"ConstantOfShape", fold_constant_of_shape, CNNVP_FORM_ALL, 0},
    {"DequantizeLinear", cnnvp_constant_dequantize, CNNVP_FORM_ALL, 0},
    {"QuantizeLinear", cnnvp_constant_quantize, CNNVP_FORM_ALL, 0},
};

const struct cnnvp_import_operators cnnvp_constant_places = {operators, sizeof operators / sizeof operators[0]};
