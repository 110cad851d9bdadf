/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that put words somewhere else. Concat becomes one copy a part, into a view of the result (graph.c drops the
 * copies where the layers before can write there). Pad becomes a copy into the middle of zeros, unless the layer behind
 * it can pad itself; reflections one more copy a line. Parts of the channels are views, of rows and columns copies.
 */
#include <string.h>

#include "onnx_node.h"

/* A lower limit that limits nothing. */
#define LOWEST (-3.4028235e38f)

/* ---- Concat ---- */

/* All inputs' shapes as one of `rank`; the axis adds up. */
static cnnvp_result concat_shape(struct cnnvp_import *import, int64_t *axis, uint32_t *rank, int64_t dims[4])
{
    int64_t total = 0;
    for (size_t i = 0; i < import->node->n_input; ++i) {
        int32_t in;
        int64_t part[4];
        const cnnvp_result result = cnnvp_import_tensor(import, i, 0, &in);
        if (result != CNNVP_DONE)
            return result;
        const uint32_t part_rank = cnnvp_import_dims(import, in, part);
        if (i == 0) {
            *rank = part_rank;
            memcpy(dims, part, sizeof part);
            *axis += *axis < 0 ? *rank : 0;
            if (*axis < 1 || *axis >= *rank)
                return cnnvp_import_error(import, "axis %lld would mix the images of the batch, or is none of %u "
                                                  "dimensions", (long long)*axis, *rank);
        }
        for (uint32_t d = 1; d < *rank; ++d)
            if (part_rank != *rank || (d != *axis && part[d] != dims[d]))
                return cnnvp_import_error(import, "input \"%s\" has another shape than the first, not only along axis "
                                                  "%lld", import->node->input[i], (long long)*axis);
        total += part[*axis];
    }
    dims[*axis] = total;
    return CNNVP_DONE;
}

/* Softmax has a format of its own: its results go through a layer that can change it. */
static cnnvp_result reformat(struct cnnvp_import *import, int32_t *in)
{
    if (!cnnvp_graph_has_fixed_format(import->graph, *in))
        return CNNVP_DONE;
    struct cnnvp_graph_layer *layer;
    const cnnvp_result result = cnnvp_import_affine(import, *in, NULL, NULL, 1, &layer);
    if (result == CNNVP_DONE)
        *in = layer->out;
    return result;
}

static cnnvp_result concat_part(struct cnnvp_import *import, size_t input, int32_t out, int64_t axis, int64_t *at)
{
    int32_t in;
    cnnvp_result result = cnnvp_import_tensor(import, input, 0, &in);
    if (result == CNNVP_DONE)
        result = reformat(import, &in);
    if (result != CNNVP_DONE)
        return result;
    int64_t part[4];
    const uint32_t rank = cnnvp_import_dims(import, in, part);
    if (axis == 1) {
        out = cnnvp_graph_channel_view(import->graph, out, (uint32_t)*at, (uint32_t)part[1]);
        if (out == CNNVP_GRAPH_NONE)
            return cnnvp_import_no_memory(import);
    }
    struct cnnvp_graph_layer *layer;
    result = cnnvp_import_copy(import, in, out, &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->concat = 1;
    if (axis > 1) {
        layer->placed = 1;
        layer->place_row = axis < rank - 1 ? (uint32_t)*at : 0;
        layer->place_column = axis == rank - 1 ? (uint32_t)*at : 0;
    }
    *at += part[axis];
    return CNNVP_DONE;
}

static cnnvp_result import_concat(struct cnnvp_import *import)
{
    int64_t axis = cnnvp_onnx_int(import->node, "axis", 1);
    uint32_t rank = 0;
    int64_t dims[4] = {0, 1, 1, 1};
    int64_t at = 0;
    if (import->node->n_input == 0)
        return cnnvp_import_error(import, "it has no input");
    cnnvp_result result = concat_shape(import, &axis, &rank, dims);
    if (result != CNNVP_DONE)
        return result;
    if (dims[1] * (rank > 2 ? dims[2] : 1) > INT32_MAX / (rank > 3 ? dims[3] : 1))
        return cnnvp_import_error(import, "the result has more than 2^31 elements");
    const char *name = import->node->output[0];
    const int32_t out = cnnvp_graph_tensor_add(
        import->graph, name, rank, (uint32_t)dims[1], rank == 4 ? (uint32_t)dims[2] : 1,
        rank == 4 ? (uint32_t)dims[3] : rank == 3 ? (uint32_t)dims[2] : 1);
    if (out == CNNVP_GRAPH_NONE)
        return cnnvp_import_no_memory(import);
    for (size_t i = 0; i < import->node->n_input && result == CNNVP_DONE; ++i)
        result = concat_part(import, i, out, axis, &at);
    return result == CNNVP_DONE ? cnnvp_import_define(import, name, (struct cnnvp_onnx_value){.tensor = out}) : result;
}

/* ---- parts ---- */

/* Elements first .. first + count - 1 of one axis, from 1 on: a view of the channels, or a copy. */
static cnnvp_result cut(struct cnnvp_import *import, int32_t in, int64_t axis, int64_t first, int64_t count,
                        int32_t *out)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    const int columns = axis == (int64_t)input.rank - 1;
    const int64_t size = axis == 1 ? input.channels : columns ? input.width : input.height;
    *out = in;
    if (first == 0 && count == size)
        return CNNVP_DONE;
    if (axis == 1) {
        *out = cnnvp_graph_channel_view(import->graph, in, (uint32_t)first, (uint32_t)count);
        return *out == CNNVP_GRAPH_NONE ? cnnvp_import_no_memory(import) : CNNVP_DONE;
    }
    struct cnnvp_graph_layer *layer;
    const uint32_t height = columns ? input.height : (uint32_t)count;
    const uint32_t width = columns ? (uint32_t)count : input.width;
    const cnnvp_result result =
        cnnvp_import_inner(import, CNNVP_OP_ACTIVATION, in, input.channels, height, width, &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->post_count = 1;
    layer->posts[0] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, LOWEST};
    layer->cropped = 1;
    layer->crop_row = columns ? 0 : (uint32_t)first;
    layer->crop_column = columns ? (uint32_t)first : 0;
    layer->crop_height = height;
    layer->crop_width = width;
    *out = layer->out;
    return CNNVP_DONE;
}

static cnnvp_result define_tensor(struct cnnvp_import *import, const char *name, int32_t tensor)
{
    return cnnvp_import_define(import, name, (struct cnnvp_onnx_value){.tensor = tensor});
}

/* ---- Pad ---- */

enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE };

/* Rows and columns of copies that one reflection or repetition may become. */
#define COPIES_MAX 256

struct padding {
    enum pad_mode mode;
    float value;
    int64_t pads[8]; /* before, for each dimension, then after */
    uint32_t top, bottom, left, right;
};

static cnnvp_result read_pad_value(struct cnnvp_import *import, struct padding *padding)
{
    const Onnx__NodeProto *node = import->node;
    padding->value = cnnvp_onnx_float(node, "value", 0.0f);
    padding->mode = cnnvp_onnx_is(node, "mode", "reflect") ? PAD_REFLECT
                    : cnnvp_onnx_is(node, "mode", "edge")  ? PAD_EDGE
                                                           : PAD_CONSTANT;
    if (padding->mode == PAD_CONSTANT && cnnvp_onnx_attribute(node, "mode") != NULL &&
        !cnnvp_onnx_is(node, "mode", "constant"))
        return cnnvp_import_error(import, "mode is none of constant, reflect, edge");
    if (import->onnx.opset >= 11 && cnnvp_import_has(import, 2)) {
        const Onnx__TensorProto *constant;
        struct cnnvp_error why;
        const cnnvp_result result = cnnvp_import_constant(import, 2, &constant);
        if (result != CNNVP_DONE)
            return result;
        if (cnnvp_onnx_elements(constant) != 1 ||
            cnnvp_onnx_number(&import->onnx, constant, &padding->value, &why) != CNNVP_DONE)
            return cnnvp_import_error(import, "the value is not one number");
    }
    return CNNVP_DONE;
}

/* Negative numbers take away: *in becomes what is left, the numbers 0. */
static cnnvp_result read_pads(struct cnnvp_import *import, int32_t *in, struct padding *padding)
{
    size_t count = 0;
    const uint32_t rank = import->graph->tensors[*in].rank;
    cnnvp_result result = cnnvp_import_list(import, "pads", 1, 8, padding->pads, &count);
    if (result == CNNVP_DONE && count != 2 * (size_t)rank)
        result = cnnvp_import_error(import, "pads has %zu numbers; %u are needed", count, 2 * rank);
    int64_t *before = padding->pads;
    int64_t *after = padding->pads + rank;
    for (uint32_t i = 0; i < rank && result == CNNVP_DONE; ++i) {
        int64_t dims[4];
        (void)cnnvp_import_dims(import, *in, dims);
        if (before[i] > 32767 || after[i] > 32767 || before[i] < -CNNVP_ONNX_DIMENSION_MAX ||
            after[i] < -CNNVP_ONNX_DIMENSION_MAX || (i < 2 && (before[i] != 0 || after[i] != 0)))
            return cnnvp_import_error(import,
                                      "pads holds %lld and %lld for dimension %u; rows and columns can be padded "
                                      "by up to 32767",
                                      (long long)before[i], (long long)after[i], i);
        const int64_t first = before[i] < 0 ? -before[i] : 0;
        const int64_t left = i == 0 ? 0 : dims[i] - first + (after[i] < 0 ? after[i] : 0);
        before[i] = before[i] < 0 ? 0 : before[i];
        after[i] = after[i] < 0 ? 0 : after[i];
        if (i == 0 || (first == 0 && left == dims[i]))
            continue;
        if (left < 1)
            return cnnvp_import_error(import, "pads take all of dimension %u away", i);
        result = cut(import, *in, i, first, left, in);
    }
    padding->top = rank == 4 ? (uint32_t)before[2] : 0;
    padding->bottom = rank == 4 ? (uint32_t)after[2] : 0;
    padding->left = rank > 2 ? (uint32_t)before[rank - 1] : 0;
    padding->right = rank > 2 ? (uint32_t)after[rank - 1] : 0;
    return result;
}

/* A copy of `in` into the middle of zeros. */
static cnnvp_result place_in_zeros(struct cnnvp_import *import, int32_t in, const struct padding *padding, int inner,
                                   struct cnnvp_graph_layer **layer)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    const uint32_t height = input.height + padding->top + padding->bottom;
    const uint32_t width = input.width + padding->left + padding->right;
    const cnnvp_result result =
        inner ? cnnvp_import_inner(import, CNNVP_OP_ACTIVATION, in, input.channels, height, width, layer)
              : cnnvp_import_layer(import, CNNVP_OP_ACTIVATION, in, input.rank, input.channels, height, width, layer);
    if (result != CNNVP_DONE)
        return result;
    (*layer)->post_count = 1;
    (*layer)->posts[0] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, LOWEST};
    (*layer)->placed = 1;
    (*layer)->place_row = padding->top;
    (*layer)->place_column = padding->left;
    return CNNVP_DONE;
}

/* x + offset as a step, or as the node's result. */
static cnnvp_result add_offset(struct cnnvp_import *import, int32_t in, float offset, int inner, int32_t *out)
{
    const size_t channels = import->graph->tensors[in].channels;
    struct cnnvp_graph_layer *layer;
    float *offsets = cnnvp_keep_alloc(&import->graph->arena, channels, sizeof *offsets);
    if (offsets == NULL)
        return cnnvp_import_no_memory(import);
    for (size_t c = 0; c < channels; ++c)
        offsets[c] = offset;
    const cnnvp_result result = cnnvp_import_affine(import, in, NULL, offsets, inner, &layer);
    *out = result == CNNVP_DONE ? layer->out : in;
    return result;
}

/* Another number than 0 lies around x where 0 lies around x - value. */
static cnnvp_result pad_with_value(struct cnnvp_import *import, int32_t in, const struct padding *padding)
{
    struct cnnvp_graph_layer *layer;
    cnnvp_result result = add_offset(import, in, -padding->value, 1, &in);
    if (result == CNNVP_DONE)
        result = place_in_zeros(import, in, padding, 1, &layer);
    return result == CNNVP_DONE ? add_offset(import, layer->out, padding->value, 0, &in) : result;
}

/* Row or column `from` of the middle once more at `to` of the result. */
static cnnvp_result repeat_line(struct cnnvp_import *import, int32_t in, int32_t out, int columns, uint32_t from,
                                uint32_t to)
{
    struct cnnvp_graph_layer *layer;
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    const cnnvp_result result = cnnvp_import_copy(import, in, out, &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->concat = 1;
    layer->placed = 1;
    layer->cropped = 1;
    layer->crop_row = columns ? 0 : from;
    layer->crop_column = columns ? from : 0;
    layer->crop_height = columns ? input.height : 1;
    layer->crop_width = columns ? 1 : input.width;
    layer->place_row = columns ? 0 : to;
    layer->place_column = columns ? to : 0;
    return CNNVP_DONE;
}

/* One direction of a reflection or repetition. */
static cnnvp_result pad_direction(struct cnnvp_import *import, int32_t *in, enum pad_mode mode, int columns,
                                  uint32_t before, uint32_t after)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[*in];
    const uint32_t size = columns ? input.width : input.height;
    const struct padding around = {.top = columns ? 0 : before, .bottom = columns ? 0 : after,
                                   .left = columns ? before : 0, .right = columns ? after : 0};
    const int reflect = mode == PAD_REFLECT;
    struct cnnvp_graph_layer *layer;
    if (before + after == 0)
        return CNNVP_DONE;
    if (before + after > COPIES_MAX || (reflect && (before >= size || after >= size)))
        return cnnvp_import_error(import, "%u and %u lines cannot be added to %u; up to %d, and less than there are to "
                                          "reflect, are possible", before, after, size, COPIES_MAX);
    cnnvp_result result = place_in_zeros(import, *in, &around, 1, &layer);
    if (result != CNNVP_DONE)
        return result;
    const int32_t out = layer->out;
    layer->concat = 1; /* several copies make the result: none of them is a padding */
    for (uint32_t i = 0; i < before && result == CNNVP_DONE; ++i)
        result = repeat_line(import, *in, out, columns, reflect ? before - i : 0, i);
    for (uint32_t i = 0; i < after && result == CNNVP_DONE; ++i)
        result = repeat_line(import, *in, out, columns, reflect ? size - 2 - i : size - 1, before + size + i);
    *in = out;
    return result;
}

static cnnvp_result import_pad(struct cnnvp_import *import)
{
    int32_t in;
    struct padding padding;
    struct cnnvp_graph_layer *layer;
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    if (result == CNNVP_DONE)
        result = read_pad_value(import, &padding);
    if (result == CNNVP_DONE)
        result = read_pads(import, &in, &padding);
    if (result != CNNVP_DONE)
        return result;
    if (padding.top + padding.bottom + padding.left + padding.right == 0)
        return define_tensor(import, import->node->output[0], in);
    result = reformat(import, &in);
    if (result != CNNVP_DONE)
        return result;
    if (padding.mode != PAD_CONSTANT) {
        result = pad_direction(import, &in, padding.mode, 1, padding.left, padding.right);
        if (result == CNNVP_DONE)
            result = pad_direction(import, &in, padding.mode, 0, padding.top, padding.bottom);
        return result == CNNVP_DONE ? define_tensor(import, import->node->output[0], in) : result;
    }
    const int lowest = padding.value < -1e30f;
    if (!lowest && (padding.value < 0.0f || padding.value > 0.0f))
        return pad_with_value(import, in, &padding);
    result = place_in_zeros(import, in, &padding, 0, &layer);
    if (result == CNNVP_DONE)
        layer->lowest = (uint32_t)lowest;
    return result;
}

/* ---- Split, Slice ---- */

static cnnvp_result check_axis(struct cnnvp_import *import, int32_t in, int64_t *axis)
{
    const int64_t rank = import->graph->tensors[in].rank;
    const int64_t named = *axis;
    *axis += named < 0 ? rank : 0;
    if (*axis < 1 || *axis >= rank)
        return cnnvp_import_error(import, "axis %lld of %lld dimensions is the batch, or there is none",
                                  (long long)named, (long long)rank);
    return CNNVP_DONE;
}

#define PARTS_MAX 1024

static cnnvp_result import_split(struct cnnvp_import *import)
{
    int32_t in;
    size_t count = 0;
    int64_t axis = cnnvp_onnx_int(import->node, "axis", 0);
    int64_t dims[4];
    int64_t *sizes = cnnvp_keep_alloc(&import->graph->arena, PARTS_MAX, sizeof *sizes);
    if (sizes == NULL)
        return cnnvp_import_no_memory(import);
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    if (result == CNNVP_DONE)
        result = check_axis(import, in, &axis);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "split", 1, PARTS_MAX, sizes, &count);
    if (result != CNNVP_DONE)
        return result;
    (void)cnnvp_import_dims(import, in, dims);
    const size_t parts = import->node->n_output;
    if (count == 0 && dims[axis] % (int64_t)parts != 0)
        return cnnvp_import_error(import, "%lld elements cannot be split in %zu equal parts", (long long)dims[axis],
                                  parts);
    if (count != 0 && count != parts)
        return cnnvp_import_error(import, "split has %zu numbers for %zu outputs", count, parts);
    int64_t at = 0;
    for (size_t i = 0; i < parts && result == CNNVP_DONE; ++i) {
        int32_t part;
        const int64_t size = count != 0 ? sizes[i] : dims[axis] / (int64_t)parts;
        if (size < 1 || size > dims[axis] - at)
            return cnnvp_import_error(import, "part %zu has %lld of %lld elements", i, (long long)size,
                                      (long long)dims[axis]);
        result = cut(import, in, axis, at, size, &part);
        if (result == CNNVP_DONE)
            result = define_tensor(import, import->node->output[i], part);
        at += size;
    }
    return result;
}

static int64_t clamp(int64_t value, int64_t size)
{
    if (value < 0)
        value += size;
    return value < 0 ? 0 : value > size ? size : value;
}

/* Every step-th row and column: a maximum over one. */
static cnnvp_result stride(struct cnnvp_import *import, int32_t *in, uint32_t rows, uint32_t columns)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[*in];
    struct cnnvp_graph_layer *layer;
    if (rows == 1 && columns == 1)
        return CNNVP_DONE;
    const cnnvp_result result =
        cnnvp_import_inner(import, CNNVP_OP_POOL, *in, input.channels, (input.height + rows - 1) / rows,
                           (input.width + columns - 1) / columns, &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->pool = CNNVP_POOL_MAX;
    layer->sy = rows;
    layer->sx = columns;
    *in = layer->out;
    return CNNVP_DONE;
}

struct slice {
    size_t count;
    int64_t starts[4], ends[4], axes[4], steps[4];
};

static cnnvp_result read_slice(struct cnnvp_import *import, struct slice *slice)
{
    size_t ends = 0;
    size_t axes = 0;
    size_t steps = 0;
    cnnvp_result result = cnnvp_import_list(import, "starts", 1, 4, slice->starts, &slice->count);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "ends", 2, 4, slice->ends, &ends);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "axes", 3, 4, slice->axes, &axes);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "steps", 4, 4, slice->steps, &steps);
    if (result != CNNVP_DONE)
        return result;
    if (ends != slice->count || (axes != 0 && axes != slice->count) || (steps != 0 && steps != slice->count))
        return cnnvp_import_error(import, "there are %zu starts, %zu ends, %zu axes, %zu steps", slice->count, ends,
                                  axes, steps);
    for (size_t i = 0; i < slice->count; ++i) {
        slice->axes[i] = axes != 0 ? slice->axes[i] : (int64_t)i;
        slice->steps[i] = steps != 0 ? slice->steps[i] : 1;
        if (slice->steps[i] < 1 || slice->steps[i] > 32767)
            return cnnvp_import_error(import, "a step is %lld; 1 to 32767 is possible", (long long)slice->steps[i]);
    }
    return CNNVP_DONE;
}

static cnnvp_result import_slice(struct cnnvp_import *import)
{
    int32_t in;
    struct slice slice = {0};
    uint32_t steps[2] = {1, 1}; /* of rows and columns */
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    if (result == CNNVP_DONE)
        result = read_slice(import, &slice);
    for (size_t i = 0; i < slice.count && result == CNNVP_DONE; ++i) {
        int64_t dims[4];
        int64_t axis = slice.axes[i];
        const int64_t rank = cnnvp_import_dims(import, in, dims);
        /* Exporters name all axes, the batch too, where nothing is taken from it. */
        if (axis == 0 && slice.starts[i] == 0 && slice.ends[i] >= INT32_MAX && slice.steps[i] == 1)
            continue;
        result = check_axis(import, in, &axis);
        if (result != CNNVP_DONE)
            return result;
        const int64_t first = clamp(slice.starts[i], dims[axis]);
        const int64_t end = clamp(slice.ends[i], dims[axis]);
        if (end <= first)
            return cnnvp_import_error(import, "elements %lld to %lld of axis %lld are none", (long long)first,
                                      (long long)end, (long long)axis);
        if (axis == 1 && slice.steps[i] != 1)
            return cnnvp_import_error(import, "a step of %lld channels is not known; 1 is",
                                      (long long)slice.steps[i]);
        if (axis > 1)
            steps[axis == rank - 1] = (uint32_t)slice.steps[i];
        result = cut(import, in, axis, first, end - first, &in);
    }
    if (result == CNNVP_DONE)
        result = stride(import, &in, steps[0], steps[1]);
    return result == CNNVP_DONE ? define_tensor(import, import->node->output[0], in) : result;
}

cnnvp_import_function cnnvp_import_place(const char *op_type)
{
    static const struct {
        const char *op_type;
        cnnvp_import_function function;
    } known[] = {
        {"Concat", import_concat},
        {"Pad", import_pad},
        {"Split", import_split},
        {"Slice", import_slice},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (strcmp(op_type, known[i].op_type) == 0)
            return known[i].function;
    return NULL;
}
