/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pad. Padding around maps copies them into a larger map of zeros, unless the next layer can pad by itself. Reflections
 * and repeated borders add one copy for each line. Channels are added by concatenation.
 */
#include <string.h>

#include "onnx_node.h"

enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE };

/* Most rows or columns that one reflection or repetition may add; each of them is a copy. */
#define COPIES_MAX 256

struct padding {
    enum pad_mode mode;
    float value;
    int64_t before[CNNVP_ONNX_RANK], after[CNNVP_ONNX_RANK]; /* of each dimension */
    uint32_t first, last;                                    /* channels added in front and behind */
    uint32_t top, bottom, left, right;
};

static cnnvp_result read_pad_value(struct cnnvp_import *import, struct padding *padding)
{
    int mode = PAD_CONSTANT;
    CNNVP_TRY(cnnvp_import_choice(import, "mode", "constant, reflect, edge", &mode));
    padding->mode = (enum pad_mode)mode;
    padding->value = cnnvp_onnx_float(import->node, "value", 0.0f);
    return import->onnx.opset >= 11 && cnnvp_import_has(import, 2)
               ? cnnvp_import_number(import, 2, "value", 1, &padding->value)
               : CNNVP_DONE;
}

/* The pads of all dimensions. Since operator set 18, input 3 may select the dimensions that are padded. */
static cnnvp_result list_pads(struct cnnvp_import *import, uint32_t rank, int64_t *before, int64_t *after)
{
    int64_t named[2 * CNNVP_ONNX_RANK] = {0};
    int64_t axes[CNNVP_ONNX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    size_t count = 0, axis_count = 0;
    CNNVP_TRY(cnnvp_import_list(import, "pads", 1, 2 * CNNVP_ONNX_RANK, named, &count));
    CNNVP_TRY(cnnvp_import_list(import, "axes", 3, CNNVP_ONNX_RANK, axes, &axis_count));
    axis_count = axis_count == 0 ? rank : axis_count;
    if (count != 2 * axis_count)
        return cnnvp_import_error(import, "pads has %zu numbers; %zu are needed", count, 2 * axis_count);
    for (size_t i = 0; i < axis_count; ++i) {
        const int64_t axis = axes[i] + (axes[i] < 0 ? rank : 0);
        if (axis < 0 || axis >= rank)
            return cnnvp_import_error(import, "axis %lld is outside of %u dimensions", (long long)axes[i], rank);
        before[axis] = named[i];
        after[axis] = named[axis_count + i];
    }
    return CNNVP_DONE;
}

/* Reads the pads. Negative pads crop: *in becomes what is left, and these pads become 0. */
static cnnvp_result read_pads(struct cnnvp_import *import, int32_t *in, struct padding *padding)
{
    int64_t *const before = padding->before, *const after = padding->after;
    const uint32_t rank = import->graph->tensors[*in].rank;
    const uint32_t front = import->single != 0; /* a leading dimension that the file does not have */
    CNNVP_TRY(list_pads(import, rank - front, before + front, after + front));
    for (uint32_t i = 0; i < rank; ++i) {
        int64_t dims[CNNVP_ONNX_RANK];
        (void)cnnvp_import_all_dims(import, *in, dims);
        if (before[i] > 32767 || after[i] > 32767 || before[i] < -CNNVP_ONNX_DIMENSION_MAX ||
            after[i] < -CNNVP_ONNX_DIMENSION_MAX || (i == 0 && (before[i] != 0 || after[i] != 0)))
            return cnnvp_import_error(import,
                                      "pads holds %lld and %lld for dimension %u; all but the batch can be padded by "
                                      "up to 32767",
                                      (long long)before[i], (long long)after[i], i);
        const int64_t first = before[i] < 0 ? -before[i] : 0;
        const int64_t left = i == 0 ? 0 : dims[i] - first + (after[i] < 0 ? after[i] : 0);
        before[i] = before[i] < 0 ? 0 : before[i];
        after[i] = after[i] < 0 ? 0 : after[i];
        if (i == 0 || (first == 0 && left == dims[i]))
            continue;
        if (left < 1)
            return cnnvp_import_error(import, "pads take all of dimension %u away", i);
        CNNVP_TRY(cnnvp_import_cut(import, *in, i, first, left, in));
    }
    return CNNVP_DONE;
}

/* Copies `in` into a map of zeros. */
static cnnvp_result place_in_zeros(struct cnnvp_import *import, int32_t in, const struct padding *padding, int inner,
                                   struct cnnvp_graph_layer **layer)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    const uint32_t height = input.height + padding->top + padding->bottom;
    const uint32_t width = input.width + padding->left + padding->right;
    CNNVP_TRY(cnnvp_import_layer(import, CNNVP_OP_ACTIVATION, in, inner, input.channels, height, width, layer));
    (*layer)->placed = 1;
    (*layer)->place_row = padding->top;
    (*layer)->place_column = padding->left;
    return CNNVP_DONE;
}

/* Padding with a value: x - value is padded with zeros, then the value is added. */
static cnnvp_result pad_with_value(struct cnnvp_import *import, int32_t in, const struct padding *padding, int inner,
                                   struct cnnvp_graph_layer **layer)
{
    CNNVP_TRY(cnnvp_import_scale(import, in, 1.0f, -padding->value, 1, layer));
    CNNVP_TRY(place_in_zeros(import, (*layer)->out, padding, 1, layer));
    return cnnvp_import_scale(import, (*layer)->out, 1.0f, padding->value, inner, layer);
}

/* Copies row or column `from` of the input to row or column `to` of the result. */
static cnnvp_result repeat_line(struct cnnvp_import *import, int32_t in, int32_t out, int columns, uint32_t from,
                                uint32_t to)
{
    struct cnnvp_graph_layer *layer;
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    CNNVP_TRY(cnnvp_import_copy(import, in, out, &layer));
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

/* Reflects or repeats along rows or columns. */
static cnnvp_result pad_direction(struct cnnvp_import *import, int32_t *in, enum pad_mode mode, int columns,
                                  uint32_t before, uint32_t after)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[*in];
    const uint32_t size = columns ? input.width : input.height;
    const struct padding around = {
        .top = columns ? 0 : before,
        .bottom = columns ? 0 : after,
        .left = columns ? before : 0,
        .right = columns ? after : 0};
    const int reflect = mode == PAD_REFLECT;
    struct cnnvp_graph_layer *layer;
    if (before + after == 0)
        return CNNVP_DONE;
    if (before + after > COPIES_MAX || (reflect && (before >= size || after >= size)))
        return cnnvp_import_error(import,
                                  "%u and %u lines cannot be added to %u; up to %d, and less than there are to "
                                  "reflect, are possible",
                                  before, after, size, COPIES_MAX);
    CNNVP_TRY(place_in_zeros(import, *in, &around, 1, &layer));
    const int32_t out = layer->out;
    layer->concat = 1; /* several copies fill the result, so the next layer cannot pad instead */
    for (uint32_t i = 0; i < before; ++i)
        CNNVP_TRY(repeat_line(import, *in, out, columns, reflect ? before - i : 0, i));
    for (uint32_t i = 0; i < after; ++i)
        CNNVP_TRY(repeat_line(import, *in, out, columns, reflect ? size - 2 - i : size - 1, before + size + i));
    *in = out;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_repeat_border(struct cnnvp_import *import, int32_t *in, int columns, uint32_t before,
                                        uint32_t after)
{
    CNNVP_TRY(cnnvp_import_reformat(import, in));
    return pad_direction(import, in, PAD_EDGE, columns, before, after);
}

/* Appends `count` channels of a constant, x limited to it, at most as many at a time as x has channels. */
static cnnvp_result append_channels(struct cnnvp_import *import, int32_t in, int32_t out, float value, uint32_t count,
                                    int64_t *at)
{
    for (uint32_t left = count; left > 0;) {
        const uint32_t channels = import->graph->tensors[in].channels;
        const uint32_t some = left < channels ? left : channels;
        struct cnnvp_graph_layer *layer;
        int32_t part;
        CNNVP_TRY(cnnvp_import_cut(import, in, 1, 0, some, &part));
        CNNVP_TRY(cnnvp_import_like(import, CNNVP_OP_ACTIVATION, part, 1, &layer));
        layer->post_count = 2;
        layer->posts[0] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, value};
        layer->posts[1] = (struct cnnvp_graph_post){CNNVP_GRAPH_MIN, value};
        CNNVP_TRY(cnnvp_import_append(import, layer->out, out, 1, at));
        left -= some;
    }
    return CNNVP_DONE;
}

static cnnvp_result pad_channels(struct cnnvp_import *import, int32_t *in, const struct padding *padding)
{
    int64_t dims[4];
    int64_t at = 0;
    int32_t out;
    const uint32_t rank = cnnvp_import_dims(import, *in, dims);
    if (padding->first + padding->last == 0)
        return CNNVP_DONE;
    if (padding->mode != PAD_CONSTANT) { /* channels become the rows of one map */
        const struct cnnvp_graph_tensor input = import->graph->tensors[*in];
        const int64_t rows[4] = {dims[0], 1, dims[1], (int64_t)input.height * input.width};
        CNNVP_TRY(cnnvp_import_shaped(import, input.name, *in, 4, rows, in));
        CNNVP_TRY(cnnvp_import_reformat(import, in));
        CNNVP_TRY(pad_direction(import, in, padding->mode, 0, padding->first, padding->last));
        dims[1] += padding->first + padding->last;
        return cnnvp_import_shaped(import, import->node->output[0], *in, rank, dims, in);
    }
    if (padding->value < -1e30f || padding->value > 1e30f)
        return cnnvp_import_error(import, "channels can be padded with a number from -1e30 to 1e30 only");
    if ((padding->first + padding->last) / dims[1] > COPIES_MAX)
        return cnnvp_import_error(
            import, "%u and %u channels cannot be added to %lld; up to %d times as many are possible", padding->first,
            padding->last, (long long)dims[1], COPIES_MAX);
    dims[1] += padding->first + padding->last;
    CNNVP_TRY(cnnvp_import_new_tensor(import, import->node->output[0], rank, dims, &out));
    CNNVP_TRY(append_channels(import, *in, out, padding->value, padding->first, &at));
    CNNVP_TRY(cnnvp_import_append(import, *in, out, 1, &at));
    CNNVP_TRY(append_channels(import, *in, out, padding->value, padding->last, &at));
    *in = out;
    return CNNVP_DONE;
}

/* Pads channels, rows and columns of a tensor of up to four dimensions. */
static cnnvp_result pad_map(struct cnnvp_import *import, int32_t *in, const struct padding *padding, int inner)
{
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(pad_channels(import, in, padding));
    if (padding->top + padding->bottom + padding->left + padding->right == 0)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_reformat(import, in));
    if (padding->mode != PAD_CONSTANT) {
        CNNVP_TRY(pad_direction(import, in, padding->mode, 1, padding->left, padding->right));
        return pad_direction(import, in, padding->mode, 0, padding->top, padding->bottom);
    }
    if (!(padding->value <= 1e30f))
        return cnnvp_import_error(import, "maps can be padded with a number up to 1e30 only");
    const int lowest = padding->value < -1e30f;
    if (!lowest && (padding->value < 0.0f || padding->value > 0.0f))
        CNNVP_TRY(pad_with_value(import, *in, padding, inner, &layer));
    else
        CNNVP_TRY(place_in_zeros(import, *in, padding, inner, &layer));
    layer->lowest = (uint32_t)lowest;
    *in = layer->out;
    return CNNVP_DONE;
}

/* Pads one dimension of a tensor with more than four, as the channels or rows of a map. */
static cnnvp_result pad_axis(struct cnnvp_import *import, int32_t *in, struct padding *padding, uint32_t axis)
{
    const char *name = import->graph->tensors[*in].name;
    const uint32_t before = (uint32_t)padding->before[axis], after = (uint32_t)padding->after[axis];
    int64_t dims[CNNVP_ONNX_RANK];
    int64_t at = axis;
    const uint32_t rank = cnnvp_import_all_dims(import, *in, dims);
    if (before + after == 0)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_rows(import, *in, &at, in));
    padding->first = at == 1 ? before : 0;
    padding->last = at == 1 ? after : 0;
    padding->top = at == 1 ? 0 : before;
    padding->bottom = at == 1 ? 0 : after;
    CNNVP_TRY(pad_map(import, in, padding, 1));
    dims[axis] += before + after;
    return cnnvp_import_shaped(import, name, *in, rank, dims, in);
}

cnnvp_result cnnvp_operator_pad(struct cnnvp_import *import)
{
    int32_t in;
    struct padding padding = {0};
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    CNNVP_TRY(read_pad_value(import, &padding));
    CNNVP_TRY(read_pads(import, &in, &padding));
    const uint32_t rank = import->graph->tensors[in].rank;
    for (uint32_t i = 1; i < rank && rank > 4; ++i)
        CNNVP_TRY(pad_axis(import, &in, &padding, i));
    if (rank > 4)
        return cnnvp_import_alias(import, import->node->output[0], in);
    padding.first = (uint32_t)padding.before[1];
    padding.last = (uint32_t)padding.after[1];
    padding.top = rank == 4 ? (uint32_t)padding.before[2] : 0;
    padding.bottom = rank == 4 ? (uint32_t)padding.after[2] : 0;
    padding.left = rank > 2 ? (uint32_t)padding.before[rank - 1] : 0;
    padding.right = rank > 2 ? (uint32_t)padding.after[rank - 1] : 0;
    CNNVP_TRY(pad_map(import, &in, &padding, 0));
    return cnnvp_import_alias(import, import->node->output[0], in);
}
