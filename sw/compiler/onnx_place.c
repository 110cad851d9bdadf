/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that put words somewhere else. Concat becomes one copy a part, into a view of the result (graph.c drops the
 * copies where the layers before can write there). Parts of the channels are views, of rows and columns copies.
 */
#include <string.h>

#include "onnx_node.h"

/* A lower limit that limits nothing. */
#define LOWEST (-3.4028235e38f)

cnnvp_result cnnvp_import_alias(struct cnnvp_import *import, const char *name, int32_t tensor)
{
    return cnnvp_import_define(import, name, (struct cnnvp_onnx_value){.tensor = tensor});
}

cnnvp_result cnnvp_import_new_tensor(struct cnnvp_import *import, uint32_t rank, const int64_t dims[4], int32_t *tensor)
{
    const int64_t height = rank == 4 ? dims[2] : 1;
    const int64_t width = rank > 2 ? dims[rank - 1] : 1;
    if (dims[1] > INT32_MAX || dims[1] * height > INT32_MAX / width)
        return cnnvp_import_error(import, "the result has more than 2^31 elements");
    *tensor = cnnvp_graph_tensor_add(import->graph, import->node->output[0], rank, (uint32_t)dims[1], (uint32_t)height,
                                     (uint32_t)width);
    return *tensor == CNNVP_GRAPH_NONE ? cnnvp_import_no_memory(import) : CNNVP_DONE;
}

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

cnnvp_result cnnvp_import_reformat(struct cnnvp_import *import, int32_t *in)
{
    if (!cnnvp_graph_has_fixed_format(import->graph, *in))
        return CNNVP_DONE;
    struct cnnvp_graph_layer *layer;
    const cnnvp_result result = cnnvp_import_affine(import, *in, NULL, NULL, 1, &layer);
    if (result == CNNVP_DONE)
        *in = layer->out;
    return result;
}

cnnvp_result cnnvp_import_append(struct cnnvp_import *import, int32_t in, int32_t out, int64_t axis, int64_t *at)
{
    cnnvp_result result = cnnvp_import_reformat(import, &in);
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
    int32_t out;
    result = cnnvp_import_new_tensor(import, rank, dims, &out);
    for (size_t i = 0; i < import->node->n_input && result == CNNVP_DONE; ++i) {
        int32_t in;
        result = cnnvp_import_tensor(import, i, 0, &in);
        if (result == CNNVP_DONE)
            result = cnnvp_import_append(import, in, out, axis, &at);
    }
    return result == CNNVP_DONE ? cnnvp_import_alias(import, import->node->output[0], out) : result;
}

/* ---- parts ---- */

cnnvp_result cnnvp_import_cut(struct cnnvp_import *import, int32_t in, int64_t axis, int64_t first, int64_t count,
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
    /* Since operator set 18 the last part may be smaller. */
    const int uneven = cnnvp_onnx_attribute(import->node, "num_outputs") != NULL;
    const int64_t equal = (dims[axis] + (int64_t)parts - 1) / (int64_t)parts;
    if (count == 0 && !uneven && dims[axis] % (int64_t)parts != 0)
        return cnnvp_import_error(import, "%lld elements cannot be split in %zu equal parts", (long long)dims[axis],
                                  parts);
    if (count != 0 && count != parts)
        return cnnvp_import_error(import, "split has %zu numbers for %zu outputs", count, parts);
    int64_t at = 0;
    for (size_t i = 0; i < parts && result == CNNVP_DONE; ++i) {
        int32_t part;
        const int64_t size = count != 0 ? sizes[i] : i + 1 < parts ? equal : dims[axis] - at;
        if (size < 1 || size > dims[axis] - at)
            return cnnvp_import_error(import, "part %zu has %lld of %lld elements", i, (long long)size,
                                      (long long)dims[axis]);
        result = cnnvp_import_cut(import, in, axis, at, size, &part);
        if (result == CNNVP_DONE)
            result = cnnvp_import_alias(import, import->node->output[i], part);
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
        result = cnnvp_import_cut(import, in, axis, first, end - first, &in);
    }
    if (result == CNNVP_DONE)
        result = stride(import, &in, steps[0], steps[1]);
    return result == CNNVP_DONE ? cnnvp_import_alias(import, import->node->output[0], in) : result;
}

/* ---- Gather ---- */

/* Elements that follow one another are one part. */
static cnnvp_result gather_parts(struct cnnvp_import *import, int32_t in, int64_t axis, const int64_t *indices,
                                 size_t count, int32_t *out)
{
    int64_t dims[4];
    int64_t at = 0;
    const uint32_t rank = cnnvp_import_dims(import, in, dims);
    size_t end = 1;
    while (end < count && indices[end] == indices[end - 1] + 1)
        ++end;
    if (end == count)
        return cnnvp_import_cut(import, in, axis, indices[0], (int64_t)count, out);
    dims[axis] = (int64_t)count;
    cnnvp_result result = cnnvp_import_new_tensor(import, rank, dims, out);
    for (size_t first = 0; first < count && result == CNNVP_DONE; first = end) {
        int32_t part;
        for (end = first + 1; end < count && indices[end] == indices[end - 1] + 1;)
            ++end;
        result = cnnvp_import_cut(import, in, axis, indices[first], (int64_t)(end - first), &part);
        if (result == CNNVP_DONE)
            result = cnnvp_import_append(import, part, *out, axis, &at);
    }
    return result;
}

static cnnvp_result import_gather(struct cnnvp_import *import)
{
    int32_t in;
    const Onnx__TensorProto *constant;
    size_t count = 0;
    int64_t dims[4];
    int64_t axis = cnnvp_onnx_int(import->node, "axis", 0);
    int64_t *indices = cnnvp_keep_alloc(&import->graph->arena, PARTS_MAX, sizeof *indices);
    if (indices == NULL)
        return cnnvp_import_no_memory(import);
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    if (result == CNNVP_DONE)
        result = check_axis(import, in, &axis);
    if (result == CNNVP_DONE)
        result = cnnvp_import_constant(import, 1, &constant);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "indices", 1, PARTS_MAX, indices, &count);
    if (result != CNNVP_DONE)
        return result;
    const uint32_t rank = cnnvp_import_dims(import, in, dims);
    if (constant->n_dims > 1 || count == 0 || (constant->n_dims == 0 && rank == 2))
        return cnnvp_import_error(import,
                                  "the indices have %zu dimensions, the input %u; one index that leaves 2 or more "
                                  "dimensions, or a list, is possible", constant->n_dims, rank);
    for (size_t i = 0; i < count; ++i) {
        if (indices[i] < -dims[axis] || indices[i] >= dims[axis])
            return cnnvp_import_error(import, "index %lld is outside of the %lld elements of axis %lld",
                                      (long long)indices[i], (long long)dims[axis], (long long)axis);
        indices[i] += indices[i] < 0 ? dims[axis] : 0;
    }
    int32_t out;
    result = gather_parts(import, in, axis, indices, count, &out);
    if (result != CNNVP_DONE || constant->n_dims != 0)
        return result == CNNVP_DONE ? cnnvp_import_alias(import, import->node->output[0], out) : result;
    for (uint32_t i = (uint32_t)axis; i + 1 < rank; ++i)
        dims[i] = dims[i + 1];
    return cnnvp_import_view(import, out, rank - 1, dims);
}

cnnvp_import_function cnnvp_import_place(const char *op_type)
{
    static const struct {
        const char *op_type;
        cnnvp_import_function function;
    } known[] = {
        {"Concat", import_concat},
        {"Split", import_split},
        {"Slice", import_slice},
        {"Gather", import_gather},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (strcmp(op_type, known[i].op_type) == 0)
            return known[i].function;
    return NULL;
}
