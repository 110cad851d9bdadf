/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that put words somewhere else. Concat becomes one copy a part, into a view of the result (graph.c drops the
 * copies where the layers before can write there). Pad becomes a copy into the middle of zeros, unless the layer behind
 * it can pad itself. Parts of the channels are views. Transposition is a view where it moves nothing but dimensions of
 * 1, else a copy.
 */
#include <string.h>

#include "onnx_node.h"

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

/* ---- Pad ---- */

static cnnvp_result check_pad_value(struct cnnvp_import *import)
{
    float value = cnnvp_onnx_float(import->node, "value", 0.0f);
    if (cnnvp_onnx_attribute(import->node, "mode") != NULL && !cnnvp_onnx_is(import->node, "mode", "constant"))
        return cnnvp_import_error(import, "only padding with a constant is known, mode \"constant\"");
    if (import->onnx.opset >= 11 && cnnvp_import_has(import, 2)) {
        const Onnx__TensorProto *constant;
        struct cnnvp_error why;
        const cnnvp_result result = cnnvp_import_constant(import, 2, &constant);
        if (result != CNNVP_DONE)
            return result;
        if (cnnvp_onnx_elements(constant) != 1 ||
            cnnvp_onnx_floats(&import->onnx, constant, &value, 1, &why) != CNNVP_DONE)
            return cnnvp_import_error(import, "the value is not one number");
    }
    if (value < 0.0f || value > 0.0f)
        return cnnvp_import_error(import, "padding with %g is not known; the value must be 0", (double)value);
    return CNNVP_DONE;
}

static cnnvp_result import_pad(struct cnnvp_import *import)
{
    int32_t in;
    int64_t pads[8];
    size_t count = 0;
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    if (result == CNNVP_DONE)
        result = check_pad_value(import);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "pads", 1, 8, pads, &count);
    if (result != CNNVP_DONE)
        return result;
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    const uint32_t rank = input.rank;
    if (count != 2 * (size_t)rank)
        return cnnvp_import_error(import, "pads has %zu numbers; %u are needed", count, 2 * rank);
    int nothing = 1;
    for (uint32_t i = 0; i < 2 * rank; ++i) {
        if (pads[i] < 0 || pads[i] > 32767 || (i % rank < 2 && pads[i] != 0))
            return cnnvp_import_error(import, "pads holds %lld for dimension %u; rows and columns can be padded by 0 to "
                                              "32767", (long long)pads[i], i % rank);
        nothing = nothing && pads[i] == 0;
    }
    if (nothing)
        return cnnvp_import_define(import, import->node->output[0], (struct cnnvp_onnx_value){.tensor = in});
    result = reformat(import, &in);
    if (result != CNNVP_DONE)
        return result;
    const uint32_t top = rank == 4 ? (uint32_t)pads[2] : 0;
    const uint32_t bottom = rank == 4 ? (uint32_t)pads[6] : 0;
    const uint32_t left = (uint32_t)pads[rank - 1];
    const uint32_t right = (uint32_t)pads[2 * rank - 1];
    struct cnnvp_graph_layer *layer;
    result = cnnvp_import_layer(import, CNNVP_OP_ACTIVATION, in, rank, input.channels, input.height + top + bottom,
                                input.width + left + right, &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->post_count = 1;
    layer->posts[0] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, -3.4028235e38f};
    layer->placed = 1;
    layer->place_row = top;
    layer->place_column = left;
    return CNNVP_DONE;
}

/* ---- Split, Slice ---- */

static cnnvp_result define_part(struct cnnvp_import *import, int32_t in, const char *name, int64_t first, int64_t count)
{
    const int32_t view = cnnvp_graph_channel_view(import->graph, in, (uint32_t)first, (uint32_t)count);
    if (view == CNNVP_GRAPH_NONE)
        return cnnvp_import_no_memory(import);
    return cnnvp_import_define(import, name, (struct cnnvp_onnx_value){.tensor = view});
}

static cnnvp_result check_channel_axis(struct cnnvp_import *import, int32_t in, int64_t axis)
{
    if (axis < 0)
        axis += import->graph->tensors[in].rank;
    if (axis != 1)
        return cnnvp_import_error(import, "axis %lld is not known; only channels (axis 1) can be taken apart",
                                  (long long)axis);
    return CNNVP_DONE;
}

#define PARTS_MAX 1024

static cnnvp_result import_split(struct cnnvp_import *import)
{
    int32_t in;
    size_t count = 0;
    int64_t *sizes = cnnvp_keep_alloc(&import->graph->arena, PARTS_MAX, sizeof *sizes);
    if (sizes == NULL)
        return cnnvp_import_no_memory(import);
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    if (result == CNNVP_DONE)
        result = check_channel_axis(import, in, cnnvp_onnx_int(import->node, "axis", 0));
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "split", 1, PARTS_MAX, sizes, &count);
    if (result != CNNVP_DONE)
        return result;
    const int64_t channels = import->graph->tensors[in].channels;
    const size_t parts = import->node->n_output;
    if (count == 0 && channels % (int64_t)parts != 0)
        return cnnvp_import_error(import, "%lld channels cannot be split in %zu equal parts", (long long)channels, parts);
    if (count != 0 && count != parts)
        return cnnvp_import_error(import, "split has %zu numbers for %zu outputs", count, parts);
    int64_t at = 0;
    for (size_t i = 0; i < parts && result == CNNVP_DONE; ++i) {
        const int64_t size = count != 0 ? sizes[i] : channels / (int64_t)parts;
        if (size < 1 || size > channels - at)
            return cnnvp_import_error(import, "part %zu has %lld of %lld channels", i, (long long)size,
                                      (long long)channels);
        result = define_part(import, in, import->node->output[i], at, size);
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

static cnnvp_result import_slice(struct cnnvp_import *import)
{
    int32_t in;
    int64_t starts[4], ends[4], axes[4], steps[4];
    size_t count = 0;
    size_t end_count = 0;
    size_t axis_count = 0;
    size_t step_count = 0;
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "starts", 1, 4, starts, &count);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "ends", 2, 4, ends, &end_count);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "axes", 3, 4, axes, &axis_count);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "steps", 4, 4, steps, &step_count);
    if (result != CNNVP_DONE)
        return result;
    if (count != 1 || end_count != 1 || axis_count > 1 || (step_count != 0 && steps[0] != 1))
        return cnnvp_import_error(import, "only one axis and step 1 are known");
    result = check_channel_axis(import, in, axis_count != 0 ? axes[0] : 0);
    if (result != CNNVP_DONE)
        return result;
    const int64_t channels = import->graph->tensors[in].channels;
    const int64_t first = clamp(starts[0], channels);
    const int64_t end = clamp(ends[0], channels);
    if (end <= first)
        return cnnvp_import_error(import, "channels %lld to %lld are none", (long long)first, (long long)end);
    return define_part(import, in, import->node->output[0], first, end - first);
}

/* ---- Transpose ---- */

/* Dimensions larger than 1 keep their order. */
static int keeps_order(const int64_t *dims, const int64_t *perm, uint32_t rank)
{
    int64_t last = 0;
    for (uint32_t i = 1; i < rank; ++i) {
        if (dims[perm[i]] == 1)
            continue;
        if (perm[i] < last)
            return 0;
        last = perm[i];
    }
    return 1;
}

static cnnvp_result import_transpose(struct cnnvp_import *import)
{
    int32_t in;
    int64_t perm[4];
    int64_t old[4];
    int64_t dims[4] = {0, 1, 1, 1};
    size_t count = 0;
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "perm", SIZE_MAX, 4, perm, &count);
    if (result != CNNVP_DONE)
        return result;
    const uint32_t rank = cnnvp_import_dims(import, in, old);
    uint32_t seen = 0;
    for (size_t i = 0; i < count; ++i)
        seen |= perm[i] >= 0 && perm[i] < rank ? 1u << perm[i] : 0u;
    if (count != rank || seen != (1u << rank) - 1u || perm[0] != 0)
        return cnnvp_import_error(import, "perm must name each of %u dimensions once and leave the batch in front", rank);
    for (uint32_t i = 1; i < rank; ++i)
        dims[i] = old[perm[i]];
    if (keeps_order(old, perm, rank))
        return cnnvp_import_view(import, in, rank, dims);
    struct cnnvp_graph_layer *layer;
    result = cnnvp_import_layer(import, CNNVP_OP_ACTIVATION, in, rank, (uint32_t)dims[1],
                                rank == 4 ? (uint32_t)dims[2] : 1, (uint32_t)dims[rank - 1], &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->post_count = 1;
    layer->posts[0] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, -3.4028235e38f};
    layer->permuted = 1;
    if (rank == 4) {
        for (uint32_t i = 0; i < 3; ++i)
            layer->from[i] = (uint32_t)perm[i + 1] - 1u;
    } else { /* (N, C, W): channels and columns change places */
        layer->from[0] = 2;
        layer->from[1] = 1;
        layer->from[2] = 0;
    }
    return CNNVP_DONE;
}

cnnvp_import_function cnnvp_import_place(const char *op_type)
{
    static const struct {
        const char *op_type;
        cnnvp_import_function function;
    } known[] = {
        {"Concat", import_concat}, {"Pad", import_pad},             {"Split", import_split},
        {"Slice", import_slice},   {"Transpose", import_transpose},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (strcmp(op_type, known[i].op_type) == 0)
            return known[i].function;
    return NULL;
}
