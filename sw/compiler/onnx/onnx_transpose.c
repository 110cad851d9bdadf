/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permutations of dimensions. Dimensions of 1 are ignored, and dimensions that stay adjacent form a group. The result
 * is a view if no group moves, one copy if up to three groups are permuted (such as a channel shuffle), and several
 * copies if there are more. A permutation of a permuted copy is taken as one of what was copied, if that takes no more
 * copies.
 */
#include <string.h>

#include "onnx_constant.h"

/* Groups of dimensions that stay adjacent, in the input's order. Group wanted[i] is the i-th group of the result. */
struct groups {
    uint32_t count;
    uint32_t sizes[CNNVP_ONNX_RANK];
    uint32_t wanted[CNNVP_ONNX_RANK];
};

static struct groups group_axes(uint32_t rank, const int64_t *dims, const int64_t *perm)
{
    struct groups groups = {0};
    uint32_t places[CNNVP_ONNX_RANK] = {0}; /* position of an axis among those larger than 1 */
    uint32_t firsts[CNNVP_ONNX_RANK] = {0}; /* place of each group's first axis; groups in the result's order */
    uint32_t sizes[CNNVP_ONNX_RANK] = {0};
    uint32_t next = 0; /* place that would continue the last group */
    for (uint32_t i = 1, place = 1; i < rank; ++i)
        places[i] = dims[i] > 1 ? place++ : 0;
    for (uint32_t i = 1; i < rank; ++i) {
        const uint32_t place = places[perm[i]];
        if (place == 0)
            continue;
        if (groups.count == 0 || place != next) {
            firsts[groups.count] = place;
            sizes[groups.count++] = 1;
        }
        sizes[groups.count - 1] *= (uint32_t)dims[perm[i]];
        next = place + 1;
    }
    for (uint32_t i = 0; i < groups.count; ++i) {
        uint32_t before = 0;
        for (uint32_t j = 0; j < groups.count; ++j)
            before += firsts[j] < firsts[i];
        groups.wanted[i] = before;
        groups.sizes[before] = sizes[i];
    }
    return groups;
}

/* ---- permutations of permuted copies ---- */

/* A permutation of the words of `in`, seen in dimensions dims[1..rank-1]: dimension i of the result is perm[i]. */
struct order {
    int32_t in;
    uint32_t rank;
    int64_t dims[CNNVP_ONNX_RANK + 1], perm[CNNVP_ONNX_RANK + 1];
};

static uint32_t copies_of(const struct order *order)
{
    const uint32_t count = group_axes(order->rank, order->dims, order->perm).count;
    return count <= 1 ? 0 : count <= 3 ? 1 : count - 2;
}

/* The layer if its result, a permuted copy, has the tensor's words; NULL: it is none. */
static const struct cnnvp_graph_layer *turn_of(const struct cnnvp_import *import, int32_t in)
{
    const struct cnnvp_graph_layer *layer = cnnvp_graph_turning(import->graph, in);
    return layer != NULL && cnnvp_graph_passes(layer) ? layer : NULL;
}

/* Cuts the dimensions of a permuted copy and those that its words are seen in where either has an edge: parts[] in the
 * copy's order, with the dimension of the copy and of `dims` that each belongs to. Returns how many there are; 0: an
 * edge lies within a part. */
static uint32_t cut_dims(const uint32_t copy[3], uint32_t rank, const int64_t *dims, int64_t parts[],
                         uint32_t of_copy[], uint32_t of_dims[])
{
    uint32_t count = 0;
    int64_t left[2] = {copy[0], rank > 1 ? dims[1] : 1};
    for (uint32_t i = 0, j = 1;;) {
        while (left[0] == 1 && i < 2)
            left[0] = copy[++i];
        while (left[1] == 1 && j + 1 < rank)
            left[1] = dims[++j];
        if (left[0] == 1 || left[1] == 1)
            return left[0] == left[1] ? count : 0;
        const int64_t size = left[0] < left[1] ? left[0] : left[1];
        if (left[0] % size != 0 || left[1] % size != 0 || count == CNNVP_ONNX_RANK)
            return 0;
        parts[count] = size;
        of_copy[count] = i;
        of_dims[count++] = j;
        left[0] /= size;
        left[1] /= size;
    }
}

/* Makes the order one of what its input is a permuted copy of. Returns 0 if it is none, or if that takes more
 * copies. */
static int see_through(const struct cnnvp_import *import, struct order *order)
{
    int64_t parts[CNNVP_ONNX_RANK];
    uint32_t of_copy[CNNVP_ONNX_RANK], of_dims[CNNVP_ONNX_RANK], places[CNNVP_ONNX_RANK] = {0};
    const struct cnnvp_graph_layer *layer = turn_of(import, order->in);
    if (layer == NULL)
        return 0;
    const struct cnnvp_graph_tensor *source = &import->graph->tensors[layer->in];
    const uint32_t sizes[3] = {source->channels, source->height, source->width};
    const uint32_t copy[3] = {sizes[layer->from[0]], sizes[layer->from[1]], sizes[layer->from[2]]};
    const uint32_t count = cut_dims(copy, order->rank, order->dims, parts, of_copy, of_dims);
    struct order through = {layer->in, count + 1, {0}, {0}};
    uint32_t made = 0;
    for (uint32_t dimension = 0; dimension < 3; ++dimension)
        for (uint32_t k = 0; k < count; ++k)
            if (layer->from[of_copy[k]] == dimension) {
                places[k] = ++made;
                through.dims[made] = parts[k];
            }
    made = 0;
    for (uint32_t i = 1; i < order->rank; ++i)
        for (uint32_t k = 0; k < count; ++k)
            if (of_dims[k] == (uint32_t)order->perm[i])
                through.perm[++made] = places[k];
    if (count == 0 || copies_of(&through) > copies_of(order))
        return 0;
    *order = through;
    return 1;
}

static cnnvp_result reorder(struct cnnvp_import *import, struct order *order);

cnnvp_result cnnvp_import_permute(struct cnnvp_import *import, int32_t in, const uint32_t sizes[3],
                                  const uint32_t from[3], int32_t *out)
{
    int32_t view;
    const int64_t dims[4] = {0, sizes[0], sizes[1], sizes[2]};
    struct cnnvp_graph_layer *layer;
    struct order order = {in, 4, {0, sizes[0], sizes[1], sizes[2]}, {0, from[0] + 1, from[1] + 1, from[2] + 1}};
    if (see_through(import, &order) || copies_of(&order) == 0) {
        const int64_t made[4] = {0, sizes[from[0]], sizes[from[1]], sizes[from[2]]};
        CNNVP_TRY(reorder(import, &order));
        return cnnvp_import_shaped(import, import->graph->tensors[order.in].name, order.in, 4, made, out);
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
    int64_t dims[CNNVP_ONNX_RANK + 1], parts[CNNVP_ONNX_RANK];
    uint32_t of_copy[CNNVP_ONNX_RANK], of_dims[CNNVP_ONNX_RANK], cut = CNNVP_ONNX_RANK;
    const uint32_t rank = cnnvp_import_all_dims(import, in, dims);
    const struct cnnvp_graph_layer *layer = turn_of(import, in);
    *done = 0;
    if (layer == NULL)
        return CNNVP_DONE;
    const struct cnnvp_graph_tensor *source = &import->graph->tensors[layer->in];
    const uint32_t from[3] = {layer->from[0], layer->from[1], layer->from[2]};
    uint32_t sizes[3] = {source->channels, source->height, source->width};
    const uint32_t copy[3] = {sizes[from[0]], sizes[from[1]], sizes[from[2]]};
    const uint32_t number = cut_dims(copy, rank, dims, parts, of_copy, of_dims);
    for (uint32_t k = number; k-- > 0;) /* the first part of the channels */
        cut = from[of_copy[k]] == 0 ? k : cut;
    if (number == 0 || cut == CNNVP_ONNX_RANK || of_dims[cut] != (uint32_t)axis || parts[cut] != dims[axis])
        return CNNVP_DONE;
    const int64_t each = sizes[0] / parts[cut];
    const int32_t part =
        cnnvp_graph_channel_view(import->graph, layer->in, (uint32_t)(first * each), (uint32_t)(count * each));
    CNNVP_TRY_MEMORY(part != CNNVP_GRAPH_NONE, import->error);
    sizes[0] = (uint32_t)(count * each);
    dims[axis] = count;
    *done = 1;
    CNNVP_TRY(cnnvp_import_permute(import, part, sizes, from, out));
    return cnnvp_import_shaped(import, import->graph->tensors[in].name, *out, rank, dims, out);
}

/* Permutes two or three groups with one copy. */
static cnnvp_result permute_few(struct cnnvp_import *import, int32_t *in, const struct groups *groups)
{
    static const uint32_t swapped[3] = {2, 1, 0};
    const uint32_t sizes[3] = {groups->sizes[0], 1, groups->sizes[1]};
    return groups->count == 2 ? cnnvp_import_permute(import, *in, sizes, swapped, in)
                              : cnnvp_import_permute(import, *in, groups->sizes, groups->wanted, in);
}

/* Moves the first group of the result that is out of order to the end of the tensor; the groups after it follow
 * later. */
static cnnvp_result move_one(struct cnnvp_import *import, int32_t *in, struct groups *groups)
{
    static const uint32_t last[3] = {0, 2, 1};
    uint32_t ordered = 1;
    while (ordered < groups->count && groups->wanted[ordered] > groups->wanted[ordered - 1])
        ++ordered;
    const uint32_t moved = groups->wanted[ordered];
    const uint32_t size = groups->sizes[moved];
    uint32_t sizes[3] = {1, size, 1};
    for (uint32_t i = 0; i < groups->count; ++i)
        if (i != moved)
            sizes[i < moved ? 0 : 2] *= groups->sizes[i];
    CNNVP_TRY(cnnvp_import_permute(import, *in, sizes, last, in));
    memmove(groups->sizes + moved, groups->sizes + moved + 1, (groups->count - 1 - moved) * sizeof size);
    groups->sizes[groups->count - 1] = size;
    for (uint32_t i = 0; i < groups->count; ++i) {
        uint32_t *wanted = &groups->wanted[i];
        *wanted = *wanted == moved ? groups->count - 1 : *wanted - (*wanted > moved);
    }
    return CNNVP_DONE;
}

/* Merges groups that have become adjacent. */
static void join(struct groups *groups)
{
    int64_t dims[CNNVP_ONNX_RANK + 1] = {0}, perm[CNNVP_ONNX_RANK + 1] = {0};
    for (uint32_t i = 0; i < groups->count; ++i) {
        dims[i + 1] = groups->sizes[i];
        perm[i + 1] = groups->wanted[i] + 1;
    }
    *groups = group_axes(groups->count + 1, dims, perm);
}

/* Permutes the words of order->in, which becomes the result. */
static cnnvp_result reorder(struct cnnvp_import *import, struct order *order)
{
    while (see_through(import, order))
        continue;
    struct groups groups = group_axes(order->rank, order->dims, order->perm);
    while (groups.count > 3) {
        CNNVP_TRY(move_one(import, &order->in, &groups));
        join(&groups);
    }
    return groups.count > 1 ? permute_few(import, &order->in, &groups) : CNNVP_DONE;
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
    struct order order = {words.tensor, rank, {0}, {0}};
    memcpy(order.dims, words.dims, rank * sizeof *order.dims);
    memcpy(order.perm, perm, rank * sizeof *order.perm);
    if (rank <= 4 && copies_of(&order) != 0 && turn_of(import, order.in) == NULL)
        return transpose_maps(import, words.tensor, rank, dims, perm);
    CNNVP_TRY(reorder(import, &order));
    return cnnvp_import_view(import, order.in, rank, dims);
}
