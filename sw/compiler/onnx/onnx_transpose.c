/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permutations of dimensions. Dimensions of 1 are ignored, and dimensions that stay adjacent form a group. The result
 * is a view if no group moves, one copy if up to three groups are permuted (such as a channel shuffle), and several
 * copies if there are more. A permutation of a permuted copy is taken as one of what was copied, if that takes no more
 * copies.
 */
#include <string.h>

#include "onnx_constant.h"
#include "permutation.h"

/* That of dims[1..rank-1] to an order in which the first one stays in front. */
static struct cnnvp_permutation order_of(uint32_t rank, const int64_t *dims, const int64_t *perm)
{
    struct cnnvp_permutation order = {.count = rank - 1};
    for (uint32_t i = 0; i + 1 < rank; ++i) {
        order.sizes[i] = (uint32_t)dims[i + 1];
        order.from[i] = (uint32_t)perm[i + 1] - 1;
    }
    return order;
}

static uint32_t copies_of(struct cnnvp_permutation order)
{
    cnnvp_permutation_reduce(&order);
    return order.count <= 1 ? 0 : order.count <= 3 ? 1 : order.count - 2;
}

/* Makes the permutation of `in` one of what that is a permuted copy of. Returns 0 if it is none, or if that takes more
 * copies. */
static int see_through(const struct cnnvp_import *import, int32_t *in, struct cnnvp_permutation *order)
{
    struct cnnvp_permutation both;
    const int32_t source = cnnvp_graph_see_through(import->graph, *in, order, &both);
    if (source == CNNVP_GRAPH_NONE || copies_of(both) > copies_of(*order))
        return 0;
    *in = source;
    *order = both;
    return 1;
}

static cnnvp_result reorder(struct cnnvp_import *import, int32_t *in, struct cnnvp_permutation *order);

cnnvp_result cnnvp_import_permute(struct cnnvp_import *import, int32_t in, const uint32_t sizes[3],
                                  const uint32_t from[3], int32_t *out)
{
    int32_t view;
    const int64_t dims[4] = {0, sizes[0], sizes[1], sizes[2]};
    struct cnnvp_graph_layer *layer;
    struct cnnvp_permutation order = {3, {sizes[0], sizes[1], sizes[2]}, {from[0], from[1], from[2]}};
    if (see_through(import, &in, &order) || copies_of(order) == 0) {
        const int64_t made[4] = {0, sizes[from[0]], sizes[from[1]], sizes[from[2]]};
        CNNVP_TRY(reorder(import, &in, &order));
        return cnnvp_import_shaped(import, import->graph->tensors[in].name, in, 4, made, out);
    }
    CNNVP_TRY(cnnvp_import_shaped(import, import->graph->tensors[in].name, in, 4, dims, &view));
    CNNVP_TRY(cnnvp_import_layer(
        import, CNNVP_OP_ACTIVATION, view, 1, sizes[from[0]], sizes[from[1]], sizes[from[2]], &layer));
    layer->permuted = 1;
    memcpy(layer->from, from, sizeof layer->from);
    *out = layer->out;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_apply(struct cnnvp_import *import, int32_t in, size_t readers,
                                enum cnnvp_graph_post_kind kind, float value)
{
    const struct cnnvp_graph_layer *layer = readers == 1 ? cnnvp_graph_turning(import->graph, in) : NULL;
    if (layer == NULL)
        return cnnvp_import_post(import, in, kind, value, 0, &in);
    const struct cnnvp_graph_layer copy = *layer;
    const struct cnnvp_graph_tensor *source = &import->graph->tensors[copy.in];
    const uint32_t sizes[3] = {source->channels, source->height, source->width};
    int64_t dims[CNNVP_ONNX_RANK];
    const uint32_t rank = cnnvp_import_all_dims(import, in, dims);
    CNNVP_TRY(cnnvp_import_post(import, copy.in, kind, value, 1, &in));
    CNNVP_TRY(cnnvp_import_permute(import, in, sizes, copy.from, &in));
    return cnnvp_import_view(import, in, rank, dims);
}

cnnvp_result cnnvp_import_cut_turned(struct cnnvp_import *import, int32_t in, int64_t axis, int64_t first,
                                     int64_t count, int32_t *out, int *done)
{
    static const int64_t as_is[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    int64_t dims[CNNVP_ONNX_RANK + 1];
    const uint32_t rank = cnnvp_import_all_dims(import, in, dims);
    const struct cnnvp_permutation seen = order_of(rank, dims, as_is);
    struct cnnvp_permutation both;
    const int32_t copied = cnnvp_graph_see_through(import->graph, in, &seen, &both);
    *done = 0;
    if (copied == CNNVP_GRAPH_NONE || both.count == 0)
        return CNNVP_DONE;
    const struct cnnvp_graph_tensor *source = &import->graph->tensors[copied];
    const uint32_t *turned = cnnvp_graph_turning(import->graph, in)->from;
    const uint32_t from[3] = {turned[0], turned[1], turned[2]}, each = source->channels / both.sizes[0];
    const uint32_t sizes[3] = {(uint32_t)count * each, source->height, source->width};
    int64_t before = 1;
    for (uint32_t i = 0; both.from[i] != 0; ++i)
        before *= both.sizes[both.from[i]];
    if (each == 0 || both.sizes[0] != dims[axis] || before != cnnvp_onnx_product(dims, 1, (size_t)axis))
        return CNNVP_DONE; /* the axis is not the first part of the channels */
    const int32_t part = cnnvp_graph_channel_view(import->graph, copied, (uint32_t)first * each, sizes[0]);
    CNNVP_TRY_MEMORY(part != CNNVP_GRAPH_NONE, import->error);
    dims[axis] = count;
    *done = 1;
    CNNVP_TRY(cnnvp_import_permute(import, part, sizes, from, out));
    return cnnvp_import_shaped(import, import->graph->tensors[in].name, *out, rank, dims, out);
}

/* Permutes two or three groups with one copy. */
static cnnvp_result permute_few(struct cnnvp_import *import, int32_t *in, const struct cnnvp_permutation *groups)
{
    static const uint32_t swapped[3] = {2, 1, 0};
    const uint32_t sizes[3] = {groups->sizes[0], 1, groups->sizes[1]};
    return groups->count == 2 ? cnnvp_import_permute(import, *in, sizes, swapped, in)
                              : cnnvp_import_permute(import, *in, groups->sizes, groups->from, in);
}

/* Moves the first group of the result that is out of order to the end of the tensor, and leaves the permutation of what
 * is there then; the groups after it follow later. */
static cnnvp_result move_one(struct cnnvp_import *import, int32_t *in, struct cnnvp_permutation *groups)
{
    static const uint32_t last[3] = {0, 2, 1};
    uint32_t ordered = 1;
    while (groups->from[ordered] > groups->from[ordered - 1])
        ++ordered;
    const uint32_t moved = groups->from[ordered];
    struct cnnvp_permutation back = {3, {1, 1, groups->sizes[moved]}, {0, 2, 1}}, rest;
    for (uint32_t i = 0; i < groups->count; ++i)
        if (i != moved)
            back.sizes[i < moved ? 0 : 1] *= groups->sizes[i];
    const uint32_t sizes[3] = {back.sizes[0], back.sizes[2], back.sizes[1]};
    (void)cnnvp_permutation_join(&back, groups, &rest);
    *groups = rest;
    cnnvp_permutation_reduce(groups);
    return cnnvp_import_permute(import, *in, sizes, last, in);
}

/* Permutes the words of *in, which becomes the result. */
static cnnvp_result reorder(struct cnnvp_import *import, int32_t *in, struct cnnvp_permutation *order)
{
    while (see_through(import, in, order))
        continue;
    cnnvp_permutation_reduce(order);
    while (order->count > 3)
        CNNVP_TRY(move_one(import, in, order));
    return order->count > 1 ? permute_few(import, in, order) : CNNVP_DONE;
}

/* Permutes up to four dimensions with one copy in the tensor's own shape. */
static cnnvp_result transpose_maps(struct cnnvp_import *import, int32_t in, uint32_t rank, const int64_t *dims,
                                   const int64_t *perm)
{
    struct cnnvp_graph_layer *layer;
    uint32_t from[3];
    for (uint32_t i = 0; i < 3; ++i) /* (N, C, W): swaps channels and columns */
        from[i] = rank == 4 ? (uint32_t)perm[i + 1] - 1u : 2u - i;
    CNNVP_TRY(cnnvp_import_layer(import, CNNVP_OP_ACTIVATION, in, 0, (uint32_t)dims[1],
                                 rank == 4 ? (uint32_t)dims[2] : 1, (uint32_t)dims[rank - 1], &layer));
    layer->permuted = 1;
    memcpy(layer->from, from, sizeof layer->from);
    return CNNVP_DONE;
}

/* Attribute perm, which must name each of `rank` dimensions once. The default reverses the dimensions. */
static cnnvp_result read_perm(struct cnnvp_import *import, size_t rank, int64_t perm[CNNVP_ONNX_RANK])
{
    size_t count = 0;
    uint32_t seen = 0;
    CNNVP_TRY(cnnvp_import_list(import, "perm", SIZE_MAX, CNNVP_ONNX_RANK, perm, &count));
    if (count == 0)
        for (; count < rank; ++count)
            perm[count] = (int64_t)(rank - 1 - count);
    for (size_t i = 0; i < count; ++i)
        seen |= perm[i] >= 0 && perm[i] < (int64_t)rank ? 1u << perm[i] : 0u;
    if (count != rank || seen != (1u << rank) - 1u)
        return cnnvp_import_error(import, "perm must name each of %zu dimensions once", rank);
    return CNNVP_DONE;
}

/* The permutation with the leading dimension, which stays in front. */
static cnnvp_result read_order(struct cnnvp_import *import, const struct cnnvp_words *words,
                               int64_t perm[CNNVP_ONNX_RANK + 1])
{
    int64_t named[CNNVP_ONNX_RANK];
    const size_t front = words->front;
    CNNVP_TRY(read_perm(import, words->rank - front, named));
    if (front == 0 && named[0] != 0)
        return cnnvp_import_mixes(import, "a perm that does not leave the batch in front");
    perm[0] = 0;
    for (size_t i = 0; i < words->rank - front; ++i)
        perm[i + front] = named[i] + (int64_t)front;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_operator_transpose(struct cnnvp_import *import)
{
    struct cnnvp_words words;
    int64_t perm[CNNVP_ONNX_RANK + 1];
    int64_t dims[CNNVP_ONNX_RANK + 1] = {0, 1, 1, 1};
    CNNVP_TRY(cnnvp_words_read(import, &words));
    CNNVP_TRY(read_order(import, &words, perm));
    const uint32_t rank = words.rank;
    const struct cnnvp_constant_view whole = cnnvp_constant_whole_view(&words.constant);
    struct cnnvp_constant_view view = whole;
    for (uint32_t i = 1; i < rank; ++i)
        dims[i] = words.dims[perm[i]];
    if (words.tensor == CNNVP_GRAPH_NONE) {
        int64_t from[CNNVP_ONNX_RANK];
        for (uint32_t i = 1; i < rank; ++i) {
            from[i - 1] = perm[i] - 1;
            view.dims[i - 1] = dims[i];
            view.steps[i - 1] = whole.steps[perm[i] - 1];
        }
        CNNVP_TRY(cnnvp_constant_show(import, &words.constant, &view, 0));
        return cnnvp_import_whole_turns(import, rank - 1, from);
    }
    struct cnnvp_permutation order = order_of(rank, words.dims, perm);
    int32_t in = words.tensor;
    if (rank <= 4 && copies_of(order) != 0 && cnnvp_graph_turning(import->graph, in) == NULL)
        return transpose_maps(import, in, rank, dims, perm);
    CNNVP_TRY(reorder(import, &in, &order));
    return cnnvp_import_view(import, in, rank, dims);
}
