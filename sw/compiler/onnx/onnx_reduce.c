/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ReduceMean, ReduceMax and ReduceSum: pooling with a window of the reduced words. Rows and columns of maps are pooled
 * directly; other dimensions, with adjacent ones merged, are pooled as the rows of another view.
 */

#include "onnx_node.h"

/* Largest side of a window (descriptors.def). */
#define WINDOW_MAX 32767

/* The reduced dimensions: a mark for each, and the number of words that become one. */
struct reduced {
    uint32_t rank;
    int64_t dims[CNNVP_ONNX_RANK];
    int axes[CNNVP_ONNX_RANK];
    int64_t words;
};

/* Pools `in`, viewed as maps of `shape`, with adjacent windows of ky x kx. */
static cnnvp_result pool(struct cnnvp_import *import, int32_t *in, int reduction, const int64_t shape[3], int64_t ky,
                         int64_t kx)
{
    struct cnnvp_graph *graph = import->graph;
    const struct cnnvp_graph_tensor input = graph->tensors[*in];
    struct cnnvp_graph_layer *layer;
    int32_t view = *in;
    if (ky > WINDOW_MAX || kx > WINDOW_MAX)
        return cnnvp_import_error(import,
                                  "%lld x %lld words are too many to reduce at once; up to %d x %d are "
                                  "possible",
                                  (long long)ky, (long long)kx, WINDOW_MAX, WINDOW_MAX);
    if (input.channels != shape[0] || input.height != shape[1] || input.width != shape[2]) {
        view = cnnvp_graph_tensor_add(graph, input.name, 4, (uint32_t)shape[0], (uint32_t)shape[1], (uint32_t)shape[2]);
        CNNVP_TRY_MEMORY(view != CNNVP_GRAPH_NONE, import->error);
        graph->tensors[view].base = *in;
    }
    CNNVP_TRY(cnnvp_import_layer(import, CNNVP_OP_POOL, view, 1, (uint32_t)shape[0], (uint32_t)(shape[1] / ky),
                                 (uint32_t)(shape[2] / kx), &layer));
    layer->pool = reduction == CNNVP_REDUCE_MAX ? CNNVP_POOL_MAX : CNNVP_POOL_AVERAGE;
    layer->ky = layer->sy = (uint32_t)ky;
    layer->kx = layer->sx = (uint32_t)kx;
    *in = layer->out;
    return CNNVP_DONE;
}

static cnnvp_result read_axes(struct cnnvp_import *import, int32_t in, struct reduced *reduced)
{
    int64_t axes[CNNVP_ONNX_RANK];
    size_t count = 0;
    *reduced = (struct reduced){.words = 1};
    reduced->rank = cnnvp_import_all_dims(import, in, reduced->dims);
    CNNVP_TRY(cnnvp_import_list(import, "axes", 1, CNNVP_ONNX_RANK, axes, &count));
    if (count == 0 && cnnvp_onnx_int(import->node, "noop_with_empty_axes", 0) == 0) {
        if (!import->single)
            return cnnvp_import_mixes(import, "a reduction of all dimensions");
        for (; count + 1 < reduced->rank; ++count)
            axes[count] = (int64_t)count;
    }
    for (size_t i = 0; i < count; ++i) {
        int64_t axis;
        CNNVP_TRY(cnnvp_import_axis(import, reduced->rank, axes[i], &axis));
        reduced->words *= reduced->axes[axis] ? 1 : reduced->dims[axis];
        reduced->axes[axis] = 1;
    }
    return CNNVP_DONE;
}

/* The largest divisor of `words` that is a window's side; `words` itself if there is none above 1. */
static int64_t largest_part(int64_t words)
{
    for (int64_t part = words <= WINDOW_MAX ? words : WINDOW_MAX; part > 1; --part)
        if (words % part == 0)
            return part;
    return words;
}

/* Reduces each run of adjacent dimensions at once, from the last run to the first. */
static cnnvp_result reduce_runs(struct cnnvp_import *import, int32_t *in, int reduction, const struct reduced *reduced)
{
    int64_t after = 1;
    for (uint32_t end = reduced->rank; end > 1;) {
        uint32_t first = end;
        int64_t shape[3] = {1, 1, 1};
        while (first > 1 && reduced->axes[first - 1] == reduced->axes[end - 1])
            shape[1] *= reduced->dims[--first];
        if (reduced->axes[first]) {
            shape[0] = cnnvp_onnx_product(reduced->dims, 1, first);
            shape[2] = after;
            do {
                const int64_t part = largest_part(shape[1]);
                CNNVP_TRY(pool(import, in, reduction, shape, part, 1));
                shape[1] /= part;
            } while (shape[1] > 1);
        } else {
            after *= shape[1];
        }
        end = first;
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_largest(struct cnnvp_import *import, uint32_t axis, int32_t *in)
{
    struct reduced reduced = {.words = 1};
    reduced.rank = cnnvp_import_dims(import, *in, reduced.dims);
    reduced.axes[axis] = 1;
    CNNVP_TRY(reduce_runs(import, in, CNNVP_REDUCE_MAX, &reduced));
    reduced.dims[axis] = 1;
    return cnnvp_import_shaped(import, import->graph->tensors[*in].name, *in, reduced.rank, reduced.dims, in);
}

cnnvp_result cnnvp_operator_reduce(struct cnnvp_import *import)
{
    const int reduction = import->kind;
    int32_t in;
    struct reduced reduced;
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    if (reduction == CNNVP_REDUCE_MEAN && cnnvp_import_is_integer(import, 0))
        return cnnvp_import_error(import, "a mean of integers is not supported; a Cast makes floats of them");
    CNNVP_TRY(read_axes(import, in, &reduced));
    const uint32_t rank = reduced.rank;
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    const int64_t shape[3] = {input.channels, input.height, input.width};
    if (reduced.words > 1)
        CNNVP_TRY(rank > 4 || reduced.axes[1]
                      ? reduce_runs(import, &in, reduction, &reduced)
                      : pool(import, &in, reduction, shape, rank == 4 && reduced.axes[2] ? shape[1] : 1,
                             reduced.axes[rank - 1] ? shape[2] : 1));
    if (reduction == CNNVP_REDUCE_SUM && reduced.words > 1) { /* the mean times the number of words */
        const int is_whole = cnnvp_import_kind(import, 0) >= CNNVP_KIND_INTEGER;
        import->graph->tensors[in].counts |= is_whole != 0;
        CNNVP_TRY(cnnvp_import_row(import, &in));
        CNNVP_TRY(cnnvp_import_scale(import, in, (float)reduced.words, 0.0f, 1, &layer));
        in = layer->out;
        if (is_whole)
            CNNVP_TRY(cnnvp_import_rounded(import, layer, &in));
    }
    const int keep = cnnvp_onnx_int(import->node, "keepdims", 1) != 0;
    int64_t dims[CNNVP_ONNX_RANK] = {0, 1, 1, 1};
    uint32_t left = 1;
    for (uint32_t i = 1; i < rank; ++i)
        if (keep || !reduced.axes[i])
            dims[left++] = reduced.axes[i] ? 1 : reduced.dims[i];
    return cnnvp_import_view(import, in, left, dims);
}
