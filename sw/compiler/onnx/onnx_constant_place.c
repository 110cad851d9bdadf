/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that reshape constants or move their elements, and constants that come from shapes. */
#include <math.h>
#include <string.h>

#include "onnx_constant.h"

static cnnvp_result fold_shape(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_CONSTANT_RANK] = {0};
    size_t rank = 0;
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    const int64_t count = (int64_t)rank;
    const int64_t start = cnnvp_constant_limit(cnnvp_onnx_int(import->node, "start", 0), count, 0, count);
    const int64_t end = cnnvp_constant_limit(cnnvp_onnx_int(import->node, "end", count), count, start, count);
    struct cnnvp_constant made = {.rank = 1, .dims = {end - start}, .whole = 1};
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, 1));
    memcpy(made.ints, dims + start, made.count * sizeof *made.ints);
    return cnnvp_constant_define(import, &made);
}

static int is_set(const struct cnnvp_constant *from, size_t element)
{
    return from->whole ? from->ints[element] != 0 : from->floats[element] < 0.0f || from->floats[element] > 0.0f;
}

/* The indices of the elements that are not 0: a line for each dimension. */
static cnnvp_result fold_non_zero(struct cnnvp_import *import)
{
    struct cnnvp_constant from;
    CNNVP_TRY(cnnvp_constant_need(import, 0, &from));
    struct cnnvp_constant made = {.rank = 2, .dims = {(int64_t)from.rank}, .whole = 1};
    if (from.count != 0 && from.ints == NULL && from.floats == NULL)
        return cnnvp_import_error(import,
                                  "the elements of \"%s\" are not read without arithmetic, and how many are not 0 "
                                  "is the result's shape",
                                  import->node->input[0]);
    for (size_t i = 0; i < from.count; ++i)
        made.dims[1] += is_set(&from, i);
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, 1));
    int64_t found = 0;
    for (size_t i = 0; i < from.count; ++i) {
        if (!is_set(&from, i))
            continue;
        size_t rest = i;
        for (size_t axis = from.rank; axis-- > 0; rest /= (size_t)from.dims[axis])
            made.ints[(int64_t)axis * made.dims[1] + found] = (int64_t)(rest % (size_t)from.dims[axis]);
        ++found;
    }
    return cnnvp_constant_define(import, &made);
}

static cnnvp_result fold_size(struct cnnvp_import *import)
{
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    int64_t dims[CNNVP_CONSTANT_RANK] = {0};
    size_t rank = 0;
    CNNVP_TRY(cnnvp_import_value(import, 0, &value));
    CNNVP_TRY(cnnvp_import_value_dims(import, &value, &rank, dims));
    struct cnnvp_constant made = {.whole = 1};
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, 1));
    if (value.constant == NULL && rank != 0 && dims[0] == 0)
        return cnnvp_import_mixes(import, "the number of all elements");
    made.ints[0] = cnnvp_onnx_product(dims, 0, rank);
    return cnnvp_constant_define(import, &made);
}

/* Selects the slices at these indices along an axis. */
static void gather(const struct cnnvp_constant *data, size_t axis, const struct cnnvp_constant *indices,
                   struct cnnvp_constant *made)
{
    size_t inner = 1, outer = 1, to = 0;
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
    struct cnnvp_constant data, indices;
    size_t axis = 0;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    CNNVP_TRY(cnnvp_constant_need(import, 1, &indices));
    CNNVP_TRY(cnnvp_import_axis_of(import, cnnvp_onnx_int(import->node, "axis", 0), data.rank, &axis));
    if (!indices.whole || data.rank - 1 + indices.rank > CNNVP_CONSTANT_RANK)
        return cnnvp_import_error(
            import, "indices that are no integers, or more than %u dimensions", CNNVP_CONSTANT_RANK);
    struct cnnvp_constant made = {.whole = data.whole, .bytes = data.bytes};
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

/* The shape of constants that are concatenated along an axis. */
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
    struct cnnvp_constant *parts;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, inputs, &parts));
    for (size_t i = 0; i < inputs; ++i)
        CNNVP_TRY(cnnvp_constant_read(import, i, &parts[i]));
    size_t axis;
    CNNVP_TRY(
        cnnvp_import_axis_of(import, cnnvp_onnx_int(import->node, "axis", 1), inputs != 0 ? parts[0].rank : 0, &axis));
    CNNVP_TRY(join_shapes(import, parts, inputs, (int64_t)axis, &made, &known));
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, known));
    const size_t inner = (size_t)cnnvp_onnx_product(made.dims, axis + 1, made.rank);
    size_t at = 0;
    for (size_t i = 0; i < inputs && cnnvp_constant_known(&made); ++i) {
        const size_t chunk = (size_t)parts[i].dims[axis] * inner;
        const size_t along = (size_t)made.dims[axis] * inner;
        for (size_t k = 0; k * chunk < parts[i].count; ++k)
            cnnvp_constant_take(&made, at + k * along, &parts[i], k * chunk, chunk);
        at += chunk;
    }
    return cnnvp_constant_define(import, &made);
}

/* ScatterND: a copy of the data with updates at the positions that the last dimension of the indices names. */
static cnnvp_result fold_scatter(struct cnnvp_import *import)
{
    struct cnnvp_constant data, indices, updates;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    CNNVP_TRY(cnnvp_constant_need(import, 1, &indices));
    CNNVP_TRY(cnnvp_constant_read(import, 2, &updates));
    const size_t count = indices.rank != 0 ? (size_t)indices.dims[indices.rank - 1] : 0;
    const size_t inner = (size_t)cnnvp_onnx_product(data.dims, count, data.rank);
    if (cnnvp_onnx_attribute(import->node, "reduction") != NULL && !cnnvp_onnx_is(import->node, "reduction", "none"))
        return cnnvp_operator_scattered(import);
    if (!indices.whole || count < 1 || count > data.rank || updates.whole != data.whole ||
        updates.count != indices.count / count * inner)
        return cnnvp_import_error(import, "%zu updates by indices of %zu of %zu dimensions do not fit to each other",
                                  updates.count, count, data.rank);
    struct cnnvp_constant made = data;
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&data) && cnnvp_constant_known(&updates)));
    if (cnnvp_constant_known(&made))
        cnnvp_constant_take(&made, 0, &data, 0, data.count);
    for (size_t i = 0; i < indices.count; i += count) {
        size_t place = 0;
        for (size_t d = 0; d < count; ++d) {
            const int64_t index = indices.ints[i + d], size = data.dims[d];
            if (index < -size || index >= size)
                return cnnvp_import_error(import, "index %lld is outside of the %lld elements of axis %zu",
                                          (long long)index, (long long)size, d);
            place = place * (size_t)size + (size_t)(index + (index < 0 ? size : 0));
        }
        if (cnnvp_constant_known(&made))
            cnnvp_constant_take(&made, place * inner, &updates, i / count * inner, inner);
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
    CNNVP_TRY(cnnvp_constant_of_an_image(import, 0, made.rank, made.dims));
    int64_t whole = 0;
    float number = 0.0f;
    struct cnnvp_error why = {""};
    if (value != NULL && value->t != NULL) {
        made.whole = cnnvp_constant_is_whole(value->t);
        made.bytes = cnnvp_constant_narrow(value->t);
        if (cnnvp_onnx_elements(value->t) != 1 ||
            (made.whole ? cnnvp_onnx_ints(&import->onnx, value->t, &whole, 1, &why)
                        : cnnvp_onnx_numbers(&import->onnx, value->t, &number, 1, &why)) != CNNVP_DONE)
            return cnnvp_import_error(import, "attribute value is not one number");
    }
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, 1));
    for (size_t i = 0; i < made.count && made.ints != NULL; ++i)
        made.ints[i] = whole;
    for (size_t i = 0; i < made.count && made.floats != NULL; ++i)
        made.floats[i] = number;
    return cnnvp_constant_define(import, &made);
}

/* All float types are float here; booleans are 0 and 1; integers keep their type, 32 bits of one of 64 bits. */
static cnnvp_result fold_cast(struct cnnvp_import *import)
{
    struct cnnvp_constant data;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    const int64_t to = cnnvp_onnx_int(import->node, "to", 0);
    const int boolean = to == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
    const int has_sign = to == ONNX__TENSOR_PROTO__DATA_TYPE__INT8;
    struct cnnvp_constant made = data;
    const int is_word = to == ONNX__TENSOR_PROTO__DATA_TYPE__INT32;
    made.bytes = has_sign || is_word || to == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 ? (int32_t)to : 0;
    made.whole = boolean || is_word || to == ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
    if (!made.whole && to != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT && to != ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE &&
        to != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 && to != ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16 &&
        made.bytes == 0)
        return cnnvp_import_error(import, "a cast to data type %lld is not supported", (long long)to);
    if (made.whole == data.whole && !boolean && (made.whole || made.bytes == 0))
        return cnnvp_constant_define(import, &made); /* which wraps */
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, cnnvp_constant_known(&data)));
    for (size_t i = 0; i < made.count && made.floats != NULL; ++i) {
        const float number = data.whole ? (float)data.ints[i] : data.floats[i];
        made.floats[i] = made.bytes != 0 ? truncf(number) : number;
        if (made.bytes != 0 &&
            !(made.floats[i] >= (has_sign ? -128.0f : 0.0f) && made.floats[i] <= (has_sign ? 127.0f : 255.0f)))
            CNNVP_TRY(cnnvp_import_error(import, "%g is no number of 8 bits of that type", (double)number));
    }
    for (size_t i = 0; i < made.count && made.ints != NULL; ++i) {
        if (boolean)
            made.ints[i] = data.whole ? data.ints[i] != 0 : !(data.floats[i] >= 0.0f && data.floats[i] <= 0.0f);
        else if (data.floats[i] > -9.0e18f && data.floats[i] < 9.0e18f)
            made.ints[i] = (int64_t)data.floats[i];
        else
            CNNVP_TRY(cnnvp_import_error(import, "%g is not an integer", (double)data.floats[i]));
    }
    return cnnvp_constant_define(import, &made);
}

static const struct cnnvp_constant_operator operators[] = {
    {"Shape", fold_shape, 0},
    {"Size", fold_size, 0},
    {"NonZero", fold_non_zero, 0},
    {"Gather", fold_gather, 0},
    {"ScatterND", fold_scatter, 0},
    {"Resize", cnnvp_import_resized, 0},
    {"BatchNormalization", cnnvp_import_norm_apart, 0},
    {"Unsqueeze", cnnvp_operator_squeeze, 1},
    {"Squeeze", cnnvp_operator_squeeze, 0},
    {"Concat", fold_concat, 0},
    {"Slice", cnnvp_operator_slice, 0},
    {"Split", cnnvp_operator_split, 0},
    {"Tile", cnnvp_operator_tile, 0},
    {"Flatten", cnnvp_operator_flatten, 0},
    {"Cast", fold_cast, 0},
    {"Reshape", cnnvp_operator_reshape, 0},
    {"Transpose", cnnvp_operator_transpose, 0},
    {"ConstantOfShape", fold_constant_of_shape, 0},
    {"DequantizeLinear", cnnvp_constant_dequantize, 0},
    {"QuantizeLinear", cnnvp_constant_quantize, 0},
};

const struct cnnvp_constant_operators cnnvp_constant_places = {operators, sizeof operators / sizeof operators[0]};
