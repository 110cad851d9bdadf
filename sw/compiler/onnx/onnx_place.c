/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that move words. Concat becomes one copy per part into a view of the result; graph_simplify.c drops the
 * copies if the layers that compute the parts can write there. Parts of channels are views; parts of rows and columns
 * are copies.
 */
#include <stdio.h>
#include <string.h>

#include "onnx_constant.h"

cnnvp_result cnnvp_import_alias(struct cnnvp_import *import, const char *name, int32_t tensor)
{
    return cnnvp_import_define(import, name, (struct cnnvp_onnx_value){.tensor = tensor});
}

/* ---- Concat ---- */

/* Reads all inputs as tensors and computes the shape of the result: sizes along the axis add up. */
static cnnvp_result concat_shape(struct cnnvp_import *import, int32_t *parts, int64_t *axis, uint32_t *rank,
                                 int64_t dims[CNNVP_ONNX_RANK])
{
    int64_t total = 0;
    const int64_t named = cnnvp_onnx_int(import->node, "axis", 1);
    for (size_t i = 0; i < import->node->n_input; ++i) {
        int64_t part[CNNVP_ONNX_RANK];
        CNNVP_TRY(cnnvp_import_any_rank(import, i, &parts[i]));
        const uint32_t part_rank = cnnvp_import_all_dims(import, parts[i], part);
        if (i == 0) {
            *rank = part_rank;
            memcpy(dims, part, sizeof part);
            CNNVP_TRY(cnnvp_import_axis(import, *rank, named, axis));
        }
        for (uint32_t d = 1; d < *rank; ++d)
            if (part_rank != *rank || (d != *axis && part[d] != dims[d]))
                return cnnvp_import_error(import,
                                          "input \"%s\" has another shape than the first, not only along axis "
                                          "%lld",
                                          import->node->input[i], (long long)named);
        total += part[*axis];
    }
    dims[*axis] = total;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_reformat(struct cnnvp_import *import, int32_t *in)
{
    if (!cnnvp_graph_has_fixed_format(import->graph, *in) ||
        import->graph->tensors[cnnvp_graph_base(import->graph, *in)].whole != 0)
        return CNNVP_DONE;
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_affine(import, *in, NULL, NULL, 1, &layer));
    *in = layer->out;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_append(struct cnnvp_import *import, int32_t in, int32_t out, int64_t axis, int64_t *at)
{
    CNNVP_TRY(cnnvp_import_reformat(import, &in));
    if (import->graph->tensors[out].rank > 4) {
        int64_t same = axis;
        CNNVP_TRY(cnnvp_import_rows(import, in, &same, &in));
        CNNVP_TRY(cnnvp_import_rows(import, out, &axis, &out));
    }
    int64_t part[4];
    const uint32_t rank = cnnvp_import_dims(import, in, part);
    if (axis == 1) {
        out = cnnvp_graph_channel_view(import->graph, out, (uint32_t)*at, (uint32_t)part[1]);
        CNNVP_TRY_MEMORY(out != CNNVP_GRAPH_NONE, import->error);
    }
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_copy(import, in, out, &layer));
    layer->concat = 1;
    if (axis > 1) {
        layer->placed = 1;
        layer->place_row = axis < rank - 1 ? (uint32_t)*at : 0;
        layer->place_column = axis == rank - 1 ? (uint32_t)*at : 0;
    }
    *at += part[axis];
    return CNNVP_DONE;
}

cnnvp_result cnnvp_operator_concat(struct cnnvp_import *import)
{
    int64_t axis;
    int32_t out;
    uint32_t rank = 0;
    int64_t dims[CNNVP_ONNX_RANK] = {0, 1, 1, 1};
    int64_t at = 0;
    const size_t count = import->node->n_input;
    if (count == 0)
        return cnnvp_import_error(import, "it has no input");
    int32_t *parts;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, count, &parts));
    CNNVP_TRY(concat_shape(import, parts, &axis, &rank, dims));
    CNNVP_TRY(cnnvp_import_new_tensor(import, import->node->output[0], rank, dims, &out));
    for (size_t i = 0; i < count; ++i)
        CNNVP_TRY(cnnvp_import_append(import, parts[i], out, axis, &at));
    return cnnvp_import_alias(import, import->node->output[0], out);
}

/* ---- interleaving ---- */

/* Interleaves rows: each row of a part becomes a map of one row, and the maps of all parts are stacked as rows. */
static cnnvp_result weave_rows(struct cnnvp_import *import, const int32_t *parts, size_t count, int32_t *out)
{
    const struct cnnvp_graph_tensor part = import->graph->tensors[parts[0]];
    const int64_t lines[4] = {0, (int64_t)part.channels * part.height, 1, part.width};
    const int64_t woven[4] = {0, lines[1], (int64_t)count, part.width};
    const int64_t made[4] = {0, part.channels, (int64_t)part.height * (int64_t)count, part.width};
    const char *name = import->node->output[0];
    int64_t at = 0;
    CNNVP_TRY(cnnvp_import_new_tensor(import, name, 4, woven, out));
    for (size_t i = 0; i < count; ++i) {
        int32_t view;
        CNNVP_TRY(cnnvp_import_shaped(import, name, parts[i], 4, lines, &view));
        CNNVP_TRY(cnnvp_import_append(import, view, *out, 2, &at));
    }
    return cnnvp_import_shaped(import, name, *out, 4, made, out);
}

/* Interleaves columns: concatenates the parts, then moves the dimension that counts the parts to the end. */
static cnnvp_result weave_columns(struct cnnvp_import *import, const int32_t *parts, size_t count, int32_t *out)
{
    static const uint32_t last[3] = {1, 2, 0};
    const struct cnnvp_graph_tensor part = import->graph->tensors[parts[0]];
    char name[256];
    int64_t dims[4];
    int64_t at = 0;
    (void)snprintf(name, sizeof name, "%.200s.%zu", import->node->output[0], import->graph->layer_count);
    const uint32_t rank = cnnvp_import_dims(import, parts[0], dims);
    const uint32_t sizes[3] = {(uint32_t)count, part.channels * part.height, part.width};
    dims[1] *= (int64_t)count;
    CNNVP_TRY(cnnvp_import_new_tensor(import, name, rank, dims, out));
    for (size_t i = 0; i < count; ++i)
        CNNVP_TRY(cnnvp_import_append(import, parts[i], *out, 1, &at));
    CNNVP_TRY(cnnvp_import_permute(import, *out, sizes, last, out));
    dims[1] = part.channels;
    dims[rank - 1] *= (int64_t)count;
    return cnnvp_import_shaped(import, name, *out, rank, dims, out);
}

cnnvp_result cnnvp_import_weave(struct cnnvp_import *import, const int32_t *parts, size_t count, int64_t axis,
                                int32_t *out)
{
    const struct cnnvp_graph_tensor part = import->graph->tensors[parts[0]];
    const uint64_t words = (uint64_t)part.channels * part.height * part.width;
    *out = parts[0];
    if (count == 1)
        return CNNVP_DONE;
    if (words > INT32_MAX / count || (uint64_t)part.channels * part.height > INT32_MAX / count)
        return cnnvp_import_error(import, "the result has more than 2^31 elements");
    return axis == (int64_t)part.rank - 1 ? weave_columns(import, parts, count, out)
                                          : weave_rows(import, parts, count, out);
}

/* ---- parts ---- */

/* More than four dimensions: cuts a view in which the axis is the rows or the channels. */
static cnnvp_result cut_rows(struct cnnvp_import *import, int32_t in, int64_t axis, int64_t first, int64_t count,
                             int32_t *out)
{
    int64_t dims[CNNVP_ONNX_RANK];
    const char *name = import->graph->tensors[in].name;
    const uint32_t rank = cnnvp_import_all_dims(import, in, dims);
    dims[axis] = count;
    CNNVP_TRY(cnnvp_import_rows(import, in, &axis, out));
    CNNVP_TRY(cnnvp_import_cut(import, *out, axis, first, count, out));
    return cnnvp_import_shaped(import, name, *out, rank, dims, out);
}

cnnvp_result cnnvp_import_cut(struct cnnvp_import *import, int32_t in, int64_t axis, int64_t first, int64_t count,
                              int32_t *out)
{
    int64_t dims[CNNVP_ONNX_RANK];
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    *out = in;
    (void)cnnvp_import_all_dims(import, in, dims);
    int done;
    if (first == 0 && count == dims[axis])
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_cut_turned(import, in, axis, first, count, out, &done));
    if (done)
        return CNNVP_DONE;
    if (input.rank > 4)
        return cut_rows(import, in, axis, first, count, out);
    if (axis == 1) {
        *out = cnnvp_graph_channel_view(import->graph, in, (uint32_t)first, (uint32_t)count);
        return *out == CNNVP_GRAPH_NONE ? cnnvp_compiler_no_memory(import->error) : CNNVP_DONE;
    }
    struct cnnvp_graph_layer *layer;
    const int columns = axis == (int64_t)input.rank - 1;
    const uint32_t height = columns ? input.height : (uint32_t)count;
    const uint32_t width = columns ? (uint32_t)count : input.width;
    CNNVP_TRY(cnnvp_import_layer(import, CNNVP_OP_ACTIVATION, in, 1, input.channels, height, width, &layer));
    layer->cropped = 1;
    layer->crop_row = columns ? 0 : (uint32_t)first;
    layer->crop_column = columns ? (uint32_t)first : 0;
    layer->crop_height = height;
    layer->crop_width = width;
    *out = layer->out;
    return CNNVP_DONE;
}

/* Defines a value without elements: size 0 along these axes, given as a bit mask. */
static cnnvp_result define_none(struct cnnvp_import *import, int32_t in, unsigned axes, const char *name)
{
    int64_t dims[CNNVP_ONNX_RANK];
    const size_t front = import->single != 0;
    const size_t rank = cnnvp_import_all_dims(import, in, dims);
    for (size_t i = 0; i < rank; ++i)
        dims[i] = axes >> i & 1u ? 0 : dims[i];
    return cnnvp_import_define_empty(import, name, rank - front, dims + front);
}

/* ---- Split, Slice ---- */

#define PARTS_MAX 1024

/* Defines output i of the node as elements first .. first + size - 1 of the axis. */
static cnnvp_result give_part(struct cnnvp_import *import, const struct cnnvp_words *words, int64_t axis, int64_t first,
                              int64_t size, size_t i)
{
    int32_t part;
    const char *name = import->node->output[i];
    if (words->tensor == CNNVP_GRAPH_NONE) {
        struct cnnvp_constant_view view = cnnvp_constant_whole_view(&words->constant);
        view.first = first * view.steps[axis - 1];
        view.dims[axis - 1] = size;
        return name[0] != '\0' ? cnnvp_constant_show(import, &words->constant, &view, i) : CNNVP_DONE;
    }
    if (size == 0)
        return define_none(import, words->tensor, 1u << axis, name);
    CNNVP_TRY(cnnvp_import_cut(import, words->tensor, axis, first, size, &part));
    return cnnvp_import_alias(import, name, part);
}

cnnvp_result cnnvp_operator_split(struct cnnvp_import *import)
{
    struct cnnvp_words words;
    size_t count = 0;
    int64_t axis;
    int64_t *sizes;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, PARTS_MAX, &sizes));
    CNNVP_TRY(cnnvp_words_read(import, &words));
    CNNVP_TRY(cnnvp_words_axis(import, &words, words.rank, cnnvp_onnx_int(import->node, "axis", 0), &axis));
    CNNVP_TRY(cnnvp_import_list(import, "split", 1, PARTS_MAX, sizes, &count));
    const size_t parts = import->node->n_output;
    const int64_t all = words.dims[axis];
    /* Since operator set 18 (num_outputs), the last part may be smaller. */
    const int uneven = cnnvp_onnx_attribute(import->node, "num_outputs") != NULL;
    const int64_t equal = (all + (int64_t)parts - 1) / (int64_t)parts;
    if (count == 0 && !uneven && all % (int64_t)parts != 0)
        return cnnvp_import_error(import, "%lld elements cannot be split in %zu equal parts", (long long)all, parts);
    if (count != 0 && count != parts)
        return cnnvp_import_error(import, "split has %zu numbers for %zu outputs", count, parts);
    int64_t at = 0;
    for (size_t i = 0; i < parts; ++i) {
        const int64_t size = count != 0 ? sizes[i] : equal < all - at ? equal : all - at;
        if (size < 0 || size > all - at)
            return cnnvp_import_error(import, "part %zu has %lld of %lld elements", i, (long long)size, (long long)all);
        CNNVP_TRY(give_part(import, &words, axis, at, size, i));
        at += size;
    }
    if (at != all)
        return cnnvp_import_error(import, "the parts have %lld of %lld elements", (long long)at, (long long)all);
    return CNNVP_DONE;
}

/* ---- Gather ---- */

/* Limits: each run of consecutive indices becomes one layer. */
#define INDICES_MAX (1 << 16)
#define RUNS_MAX 4096

cnnvp_result cnnvp_import_gather(struct cnnvp_import *import, int32_t in, int64_t axis, const int64_t *indices,
                                 size_t count, int32_t *out)
{
    int64_t dims[CNNVP_ONNX_RANK];
    int64_t at = 0;
    const uint32_t rank = cnnvp_import_all_dims(import, in, dims);
    size_t runs = 1;
    for (size_t i = 1; i < count; ++i)
        runs += indices[i] != indices[i - 1] + 1;
    if (runs == 1)
        return cnnvp_import_cut(import, in, axis, indices[0], (int64_t)count, out);
    if (runs > RUNS_MAX)
        return cnnvp_import_error(
            import, "its indices are %zu runs of elements that follow each other; %d are possible", runs, RUNS_MAX);
    dims[axis] = (int64_t)count;
    CNNVP_TRY(cnnvp_import_new_tensor(import, import->node->output[0], rank, dims, out));
    for (size_t first = 0, end = 1; first < count; first = end++) {
        int32_t part;
        while (end < count && indices[end] == indices[end - 1] + 1)
            ++end;
        CNNVP_TRY(cnnvp_import_cut(import, in, axis, indices[first], (int64_t)(end - first), &part));
        CNNVP_TRY(cnnvp_import_append(import, part, *out, axis, &at));
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_operator_gather(struct cnnvp_import *import)
{
    int32_t in, out;
    const Onnx__TensorProto *constant;
    size_t count = 0;
    int64_t old[CNNVP_ONNX_RANK];
    int64_t dims[2 * CNNVP_ONNX_RANK] = {0, 1, 1, 1};
    int64_t axis = 1;
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    CNNVP_TRY(cnnvp_import_value(import, 1, &value));
    if (value.constant == NULL)
        return cnnvp_import_look_up(import);
    constant = value.constant;
    const size_t elements = cnnvp_onnx_elements(constant);
    const size_t most = elements < INDICES_MAX ? elements : INDICES_MAX;
    int64_t *indices;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, most + 1, &indices));
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    CNNVP_TRY(cnnvp_import_axis(
        import, cnnvp_import_all_dims(import, in, old), cnnvp_onnx_int(import->node, "axis", 0), &axis));
    CNNVP_TRY(cnnvp_import_list(import, "indices", 1, most, indices, &count));
    /* The dimensions of the indices replace the axis. */
    const uint32_t rank = import->graph->tensors[in].rank;
    const size_t made = rank - 1 + constant->n_dims;
    if (made > CNNVP_ONNX_RANK || made < (import->single ? 1u : 2u))
        return cnnvp_import_error(import,
                                  "the indices have %zu dimensions, the input %u: that leaves %zu; 2 to %u are "
                                  "possible",
                                  constant->n_dims, rank, made, CNNVP_ONNX_RANK);
    for (size_t i = 1; i < made; ++i)
        dims[i] = i < (size_t)axis                      ? old[i]
                  : i < (size_t)axis + constant->n_dims ? constant->dims[i - (size_t)axis]
                                                        : old[i - constant->n_dims + 1];
    dims[0] = old[0];
    if (count == 0)
        return cnnvp_import_define_empty(
            import, import->node->output[0], made - (import->single != 0), dims + (import->single != 0));
    for (size_t i = 0; i < count; ++i) {
        if (indices[i] < -old[axis] || indices[i] >= old[axis])
            return cnnvp_import_error(import, "index %lld is outside of the %lld elements of axis %lld",
                                      (long long)indices[i], (long long)old[axis], (long long)axis);
        indices[i] += indices[i] < 0 ? old[axis] : 0;
    }
    CNNVP_TRY(cnnvp_import_gather(import, in, axis, indices, count, &out));
    return cnnvp_import_view(import, out, (uint32_t)made, dims);
}

/* ---- Slice ---- */

/* Keeps every steps[i]-th row and column: max pooling with a 1x1 window. Channels are the rows of one map. */
static cnnvp_result stride(struct cnnvp_import *import, int32_t *in, const uint32_t steps[3])
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[*in];
    struct cnnvp_graph_layer *layer;
    int64_t dims[4];
    if (steps[0] > 1) {
        const int64_t plane = (int64_t)input.height * input.width;
        const int64_t rows[4] = {0, 1, input.channels, plane};
        const uint32_t as_rows[3] = {1, steps[0], 1};
        const uint32_t rank = cnnvp_import_dims(import, *in, dims);
        CNNVP_TRY(cnnvp_import_shaped(import, input.name, *in, 4, rows, in));
        CNNVP_TRY(stride(import, in, as_rows));
        dims[1] = import->graph->tensors[*in].height;
        CNNVP_TRY(cnnvp_import_shaped(import, input.name, *in, rank, dims, in));
        const uint32_t rest[3] = {1, steps[1], steps[2]};
        return stride(import, in, rest);
    }
    if (steps[1] == 1 && steps[2] == 1)
        return CNNVP_DONE;
    CNNVP_TRY(
        cnnvp_import_layer(import, CNNVP_OP_POOL, *in, 1, input.channels, (input.height + steps[1] - 1) / steps[1],
                           (input.width + steps[2] - 1) / steps[2], &layer));
    layer->pool = CNNVP_POOL_MAX;
    layer->sy = steps[1];
    layer->sx = steps[2];
    *in = layer->out;
    return CNNVP_DONE;
}

struct slice {
    size_t count;
    int64_t starts[CNNVP_ONNX_RANK], ends[CNNVP_ONNX_RANK], axes[CNNVP_ONNX_RANK], steps[CNNVP_ONNX_RANK];
};

/* Reads the inputs or attributes; the size of a step must be at most `most`. */
static cnnvp_result read_slice(struct cnnvp_import *import, int64_t most, struct slice *slice)
{
    size_t ends = 0, axes = 0, steps = 0;
    CNNVP_TRY(cnnvp_import_list(import, "starts", 1, CNNVP_ONNX_RANK, slice->starts, &slice->count));
    CNNVP_TRY(cnnvp_import_list(import, "ends", 2, CNNVP_ONNX_RANK, slice->ends, &ends));
    CNNVP_TRY(cnnvp_import_list(import, "axes", 3, CNNVP_ONNX_RANK, slice->axes, &axes));
    CNNVP_TRY(cnnvp_import_list(import, "steps", 4, CNNVP_ONNX_RANK, slice->steps, &steps));
    if (ends != slice->count || (axes != 0 && axes != slice->count) || (steps != 0 && steps != slice->count))
        return cnnvp_import_error(
            import, "there are %zu starts, %zu ends, %zu axes, %zu steps", slice->count, ends, axes, steps);
    for (size_t i = 0; i < slice->count; ++i) {
        slice->axes[i] = axes != 0 ? slice->axes[i] : (int64_t)i;
        slice->steps[i] = steps != 0 ? slice->steps[i] : 1;
        if (slice->steps[i] == 0 || slice->steps[i] > most || slice->steps[i] < -most)
            return cnnvp_import_error(import, "a step is %lld; 1 to %lld and -1 to -%lld are possible",
                                      (long long)slice->steps[i], (long long)most, (long long)most);
    }
    return CNNVP_DONE;
}

/* The first element of slice i, and how many elements it spans from there in its direction; 0 or less: it is empty. */
static int64_t reach_of(const struct slice *slice, size_t i, int64_t size, int64_t *first)
{
    const int back = slice->steps[i] < 0;
    *first = cnnvp_constant_limit(slice->starts[i], size, 0, back ? size - 1 : size);
    const int64_t end = cnnvp_constant_limit(slice->ends[i], size, back ? -1 : 0, size);
    return back ? *first - end : end - *first;
}

static cnnvp_result slice_constant(struct cnnvp_import *import, const struct cnnvp_words *words,
                                   const struct slice *slice)
{
    struct cnnvp_constant_view view = cnnvp_constant_whole_view(&words->constant);
    unsigned seen = 0;
    for (size_t i = 0; i < slice->count; ++i) {
        int64_t axis, first;
        const int64_t step = slice->steps[i], length = step < 0 ? -step : step;
        CNNVP_TRY(cnnvp_words_axis(import, words, words->rank, slice->axes[i], &axis));
        if ((seen >> axis & 1u) != 0)
            return cnnvp_import_error(import, "axis %lld is named twice", (long long)axis - 1);
        seen |= 1u << axis;
        const int64_t reach = reach_of(slice, i, words->dims[axis], &first);
        view.dims[axis - 1] = reach > 0 ? (reach + length - 1) / length : 0;
        view.first += first * view.steps[axis - 1];
        view.steps[axis - 1] *= step;
    }
    return cnnvp_constant_show(import, &words->constant, &view, 0);
}

/* Slices element by element: negative steps, and steps above 1 of more than four dimensions. */
static cnnvp_result slice_parts(struct cnnvp_import *import, int32_t *in, int64_t axis, int64_t first, int64_t count,
                                int64_t step)
{
    if (count > PARTS_MAX)
        return cnnvp_import_error(import, "%lld elements with a step of %lld are too many; up to %d are possible",
                                  (long long)count, (long long)step, PARTS_MAX);
    int64_t *indices;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, PARTS_MAX, &indices));
    for (int64_t i = 0; i < count; ++i)
        indices[i] = first + i * step;
    return cnnvp_import_gather(import, *in, axis, indices, (size_t)count, in);
}

/* Applies one axis of a slice, except steps of up to four dimensions, which go to `steps`. *empty gets a bit for an
 * empty axis. */
static cnnvp_result slice_axis(struct cnnvp_import *import, const struct slice *slice, size_t i, uint32_t steps[3],
                               int32_t *in, unsigned *empty)
{
    int64_t dims[CNNVP_ONNX_RANK], axis;
    const int64_t rank = cnnvp_import_all_dims(import, *in, dims);
    const int64_t step = slice->steps[i];
    /* Exporters may name the batch axis, too, with a range that covers all of it (to 10^9 in jax2tf). */
    if (!import->single && (slice->axes[i] == 0 || slice->axes[i] == -rank) && slice->starts[i] == 0 && step == 1 &&
        slice->ends[i] >= (import->batch != 0 ? import->batch : 1000000000))
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_axis(import, (uint32_t)rank, slice->axes[i], &axis));
    int64_t first;
    const int64_t reach = reach_of(slice, i, dims[axis], &first);
    const int64_t length = step < 0 ? -step : step;
    if (reach <= 0) {
        *empty |= 1u << axis;
        return CNNVP_DONE;
    }
    const int64_t count = (reach + length - 1) / length;
    if (step < 0 || (step > 1 && count > 1 && rank > 4))
        return slice_parts(import, in, axis, first, count, step);
    if (step > 1 && count > 1)
        steps[axis == 1 ? 0 : axis == rank - 1 ? 2 : 1] = (uint32_t)step;
    return cnnvp_import_cut(import, *in, axis, first, step > 1 && count == 1 ? 1 : reach, in);
}

cnnvp_result cnnvp_operator_slice(struct cnnvp_import *import)
{
    struct cnnvp_words words;
    struct slice slice = {0};
    uint32_t steps[3] = {1, 1, 1}; /* of channels, rows and columns */
    unsigned empty = 0;
    CNNVP_TRY(cnnvp_words_read(import, &words));
    int32_t in = words.tensor;
    CNNVP_TRY(read_slice(import, in == CNNVP_GRAPH_NONE ? INT32_MAX : CNNVP_ONNX_WINDOW_MAX, &slice));
    if (in == CNNVP_GRAPH_NONE)
        return slice_constant(import, &words, &slice);
    for (size_t i = 0; i < slice.count; ++i)
        CNNVP_TRY(slice_axis(import, &slice, i, steps, &in, &empty));
    CNNVP_TRY(stride(import, &in, steps));
    if (empty != 0)
        return define_none(import, in, empty, import->node->output[0]);
    return cnnvp_import_alias(import, import->node->output[0], in);
}
