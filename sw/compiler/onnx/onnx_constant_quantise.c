/* SPDX-License-Identifier: Apache-2.0 */
/* QuantizeLinear and DequantizeLinear of constants: 8-bit weights and 32-bit biases. */
#include <math.h>
#include <string.h>

#include "onnx_constant.h"

struct grid {
    struct cnnvp_constant scale;
    struct cnnvp_constant zero; /* count 0: no zero point */
    size_t inner;               /* consecutive elements of the data that share one scale */
    float low;                  /* range of the zero point's type */
    float high;
    int32_t bytes; /* the type if it has 8 bits, else 0 */
};

/* Sets the range of the zero point's type. */
static void find_limits(int32_t type, struct grid *grid)
{
    const int is_signed = type == ONNX__TENSOR_PROTO__DATA_TYPE__INT8 || type == ONNX__TENSOR_PROTO__DATA_TYPE__INT16;
    const int is_wide = type == ONNX__TENSOR_PROTO__DATA_TYPE__INT16 || type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT16;
    const float count = is_wide ? 65536.0f : 256.0f;
    grid->low = is_signed ? -count / 2.0f : 0.0f;
    grid->high = grid->low + count - 1.0f;
}

/* Reads scale and zero point: one of each, or one for each element of the axis. */
static cnnvp_result read_grid(struct cnnvp_import *import, const struct cnnvp_constant *data, struct grid *grid)
{
    *grid = (struct grid){.inner = 1, .low = 0.0f, .high = 255.0f, .bytes = ONNX__TENSOR_PROTO__DATA_TYPE__UINT8};
    CNNVP_TRY(cnnvp_import_check_steps(import));
    CNNVP_TRY(cnnvp_constant_read(import, 1, &grid->scale));
    if (cnnvp_import_has(import, 2)) {
        const Onnx__TensorProto *tensor;
        CNNVP_TRY(cnnvp_constant_read(import, 2, &grid->zero));
        CNNVP_TRY(cnnvp_import_constant(import, 2, &tensor));
        find_limits(tensor->data_type, grid);
        grid->bytes = cnnvp_constant_has_bytes(tensor) ? tensor->data_type : 0;
    }
    int64_t axis = cnnvp_onnx_int(import->node, "axis", 1);
    axis += axis < 0 ? (int64_t)data->rank : 0;
    const size_t numbers = grid->scale.count;
    if (grid->scale.whole || numbers == 0 ||
        (numbers != 1 && (axis < 0 || axis >= (int64_t)data->rank || (int64_t)numbers != data->dims[axis])) ||
        (grid->zero.count != 0 && grid->zero.count != numbers))
        return cnnvp_import_error(import,
                                  "scale and zero point have %zu and %zu numbers; one, or one for each element of "
                                  "the axis is needed",
                                  numbers, grid->zero.count);
    if (cnnvp_constant_known(&grid->scale))
        CNNVP_TRY(cnnvp_import_check_scales(import, grid->scale.floats, numbers));
    for (size_t i = (size_t)axis + 1; numbers != 1 && i < data->rank; ++i)
        grid->inner *= (size_t)data->dims[i];
    return CNNVP_DONE;
}

static float zero_at(const struct grid *grid, size_t i)
{
    if (grid->zero.count == 0)
        return 0.0f;
    return grid->zero.whole ? (float)grid->zero.ints[i] : grid->zero.floats[i];
}

static float quantised(const struct grid *grid, size_t i, float x)
{
    const float whole = rintf(x / grid->scale.floats[i]) + zero_at(grid, i);
    return whole < grid->low ? grid->low : whole > grid->high ? grid->high : whole;
}

/* A copy in the graph's arena; NULL: nothing to copy, or no memory. */
static void *keep(struct cnnvp_import *import, const void *numbers, size_t bytes)
{
    void *kept = numbers != NULL && bytes != 0 ? cnnvp_arena_array(&import->graph->arena, bytes, 1) : NULL;
    if (kept != NULL)
        memcpy(kept, numbers, bytes);
    return kept;
}

/* Records the integers behind a dequantised constant, so that layers can multiply the integers themselves. Copies them,
 * since the graph outlives the file. A weightless import records the same constants: those with more than
 * CNNVP_CONSTANT_SMALL scales, which it does not read, are never recorded. */
static cnnvp_result remember(struct cnnvp_import *import, const struct cnnvp_constant *data, const struct grid *grid)
{
    struct cnnvp_onnx_whole *whole;
    int64_t axis = cnnvp_onnx_int(import->node, "axis", 1);
    const Onnx__TensorProto *numbers, *made = cnnvp_import_known_constant(import, import->node->output[0]);
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, 1, &whole));
    CNNVP_TRY(cnnvp_import_constant(import, 0, &numbers));
    axis += axis < 0 ? (int64_t)data->rank : 0;
    *whole = (struct cnnvp_onnx_whole){
        .next = import->wholes,
        .bytes = cnnvp_constant_has_bytes(numbers),
        .integers = data->whole,
        .numbers = keep(import, data->ints, data->count * sizeof *data->ints),
        .steps = keep(import, grid->scale.floats, grid->scale.count * sizeof *grid->scale.floats),
        .count = grid->scale.count,
        .axis = axis,
        .narrow = cnnvp_constant_has_bytes(numbers)};
    if ((data->ints != NULL && whole->numbers == NULL) || (grid->scale.floats != NULL && whole->steps == NULL))
        return cnnvp_compiler_no_memory(import->error);
    if (whole->count <= CNNVP_CONSTANT_SMALL && whole->steps != NULL && made != NULL) {
        for (size_t i = 0; i < whole->count; ++i)
            whole->narrow &= fabsf(zero_at(grid, i) - cnnvp_constant_middle(numbers)) < 0.5f;
        whole->made = made;
        import->wholes = whole;
    }
    return CNNVP_DONE;
}

static cnnvp_result convert(struct cnnvp_import *import, int back)
{
    struct cnnvp_constant data;
    struct grid grid;
    CNNVP_TRY(cnnvp_constant_read(import, 0, &data));
    CNNVP_TRY(read_grid(import, &data, &grid));
    struct cnnvp_constant made = data;
    made.whole = 0;
    made.bytes = back ? 0 : grid.bytes;
    const int known =
        cnnvp_constant_known(&data) && cnnvp_constant_known(&grid.scale) && cnnvp_constant_known(&grid.zero);
    CNNVP_TRY(cnnvp_constant_allocate(import, &made, known));
    for (size_t i = 0; i < made.count && cnnvp_constant_known(&made); ++i) {
        const size_t at = i / grid.inner % grid.scale.count;
        const float x = data.whole ? (float)data.ints[i] : data.floats[i];
        made.floats[i] = back ? (x - zero_at(&grid, at)) * grid.scale.floats[at] : quantised(&grid, at, x);
    }
    CNNVP_TRY(cnnvp_constant_define(import, &made));
    return back ? remember(import, &data, &grid) : CNNVP_DONE;
}

/* (x - zero point) * scale. */
cnnvp_result cnnvp_constant_dequantize(struct cnnvp_import *import)
{
    return convert(import, 1);
}

/* x / scale rounded to the nearest integer, plus the zero point, clamped to the type's range. */
cnnvp_result cnnvp_constant_quantize(struct cnnvp_import *import)
{
    return convert(import, 0);
}
