/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dimensions of tensors while a file is read. The first dimension is the batch, whose images run one by one. If the
 * whole input is one image (`single` in struct cnnvp_import), each tensor has a leading dimension of 1 that the file
 * does not have. Only code that counts dimensions has to distinguish the two cases.
 */
#include <stdio.h>
#include <string.h>

#include "onnx_constant.h"

cnnvp_result cnnvp_import_mixes(struct cnnvp_import *import, const char *what)
{
    import->mixed = 1;
    return cnnvp_import_error(import, "%s would mix the images of the batch", what);
}

static cnnvp_result find_axis(struct cnnvp_import *import, uint32_t rank, int64_t front, int64_t named, int64_t *axis)
{
    char what[64];
    const int64_t count = (int64_t)rank - front;
    if (named < -count || named >= count)
        return cnnvp_import_error(
            import, "axis %lld is outside of %lld dimensions", (long long)named, (long long)count);
    *axis = front + named + (named < 0 ? count : 0);
    if (*axis != 0)
        return CNNVP_DONE;
    (void)snprintf(what, sizeof what, "axis %lld of %lld dimensions", (long long)named, (long long)count);
    return cnnvp_import_mixes(import, what);
}

cnnvp_result cnnvp_import_axis(struct cnnvp_import *import, uint32_t rank, int64_t named, int64_t *axis)
{
    return find_axis(import, rank, import->single != 0, named, axis);
}

cnnvp_result cnnvp_words_axis(struct cnnvp_import *import, const struct cnnvp_words *words, uint32_t rank,
                              int64_t named, int64_t *axis)
{
    return find_axis(import, rank, words->front, named, axis);
}

cnnvp_result cnnvp_import_axis_of(struct cnnvp_import *import, int64_t named, size_t rank, size_t *axis)
{
    *axis = (size_t)(named + (named < 0 ? (int64_t)rank : 0));
    return *axis < rank ? CNNVP_DONE
                        : cnnvp_import_error(import, "axis %lld of %zu dimensions", (long long)named, rank);
}

uint32_t cnnvp_import_dims(const struct cnnvp_import *import, int32_t tensor, int64_t dims[4])
{
    const struct cnnvp_graph_tensor *shape = &import->graph->tensors[tensor];
    dims[0] = import->batch;
    dims[1] = shape->channels;
    dims[2] = shape->rank == 3 ? shape->width : shape->height;
    dims[3] = shape->width;
    return shape->rank;
}

uint32_t cnnvp_import_all_dims(const struct cnnvp_import *import, int32_t tensor, int64_t dims[CNNVP_ONNX_RANK])
{
    const struct cnnvp_graph_tensor *shape = &import->graph->tensors[tensor];
    (void)cnnvp_import_dims(import, tensor, dims);
    if (shape->dims != NULL)
        memcpy(dims + 1, shape->dims + 1, (shape->rank - 1) * sizeof *dims);
    return shape->rank;
}

cnnvp_result cnnvp_import_value_dims(struct cnnvp_import *import, const struct cnnvp_onnx_value *value, size_t *rank,
                                     int64_t dims[CNNVP_ONNX_RANK])
{
    const size_t front = import->single != 0;
    if (value->constant == NULL) {
        *rank = cnnvp_import_all_dims(import, value->tensor, dims) - front;
        memmove(dims, dims + front, *rank * sizeof *dims);
        return CNNVP_DONE;
    }
    *rank = value->constant->n_dims;
    if (*rank > CNNVP_ONNX_RANK)
        return cnnvp_import_error(import, "constant \"%s\" has %zu dimensions; up to %u are supported",
                                  value->constant->name != NULL ? value->constant->name : "", *rank, CNNVP_ONNX_RANK);
    if (*rank != 0)
        memcpy(dims, value->constant->dims, *rank * sizeof *dims);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_dims_of(struct cnnvp_import *import, size_t index, size_t *rank,
                                  int64_t dims[CNNVP_ONNX_RANK])
{
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    CNNVP_TRY(cnnvp_import_value(import, index, &value));
    return cnnvp_import_value_dims(import, &value, rank, dims);
}

int cnnvp_import_join_dims(size_t *rank, int64_t dims[CNNVP_ONNX_RANK], size_t other_rank, const int64_t *other)
{
    if (other_rank > *rank) { /* prepend dimensions of 1 */
        const size_t more = other_rank - *rank;
        memmove(dims + more, dims, *rank * sizeof *dims);
        for (size_t i = 0; i < more; ++i)
            dims[i] = 1;
        *rank = other_rank;
    }
    for (size_t i = 0; i < other_rank; ++i) {
        int64_t *own = &dims[*rank - other_rank + i];
        if (*own != other[i] && *own != 1 && other[i] != 1)
            return 0;
        *own = *own == 1 ? other[i] : *own;
    }
    return 1;
}

/* Adds a tensor. With more than four dimensions, those between the channels and the columns are merged into the
 * rows. */
static int32_t add_tensor(struct cnnvp_import *import, const char *name, uint32_t rank, const int64_t *dims)
{
    struct cnnvp_graph *graph = import->graph;
    const long long height = rank > 3 ? cnnvp_onnx_product(dims, 2, rank - 1) : 1;
    const uint32_t channels = rank > 1 ? (uint32_t)dims[1] : 1;
    const uint32_t width = rank > 2 ? (uint32_t)dims[rank - 1] : 1;
    const int32_t tensor = cnnvp_graph_tensor_add(graph, name, rank, channels, (uint32_t)height, width);
    return tensor == CNNVP_GRAPH_NONE || cnnvp_import_keep_dims(import, tensor, rank, dims) ? tensor : CNNVP_GRAPH_NONE;
}

int cnnvp_import_keep_dims(struct cnnvp_import *import, int32_t tensor, uint32_t rank, const int64_t *dims)
{
    if (rank <= 4)
        return 1;
    int64_t *kept = cnnvp_arena_array(&import->graph->arena, rank, sizeof *kept);
    if (kept == NULL)
        return 0;
    memcpy(kept, dims, rank * sizeof *kept);
    import->graph->tensors[tensor].dims = kept;
    return 1;
}

cnnvp_result cnnvp_import_new_tensor(struct cnnvp_import *import, const char *name, uint32_t rank, const int64_t *dims,
                                     int32_t *tensor)
{
    int64_t words = 1;
    for (uint32_t i = 1; i < rank; ++i) {
        if (dims[i] == 0)
            return cnnvp_compiler_error(import->error, "%s: tensor \"%s\" has no elements", import->onnx.name, name);
        if (dims[i] > INT32_MAX / words)
            return cnnvp_compiler_error(
                import->error, "%s: tensor \"%s\" has more than 2^31 elements", import->onnx.name, name);
        words *= dims[i];
    }
    *tensor = add_tensor(import, name, rank, dims);
    return *tensor == CNNVP_GRAPH_NONE ? cnnvp_compiler_no_memory(import->error) : CNNVP_DONE;
}

cnnvp_result cnnvp_import_shaped(struct cnnvp_import *import, const char *name, int32_t in, uint32_t rank,
                                 const int64_t *dims, int32_t *view)
{
    int64_t old[CNNVP_ONNX_RANK];
    const uint32_t old_rank = cnnvp_import_all_dims(import, in, old);
    *view = in;
    if (old_rank == rank && (rank < 2 || memcmp(old + 1, dims + 1, (rank - 1) * sizeof *dims) == 0))
        return CNNVP_DONE;
    *view = add_tensor(import, name, rank, dims);
    CNNVP_TRY_MEMORY(*view != CNNVP_GRAPH_NONE, import->error);
    import->graph->tensors[*view].base = in;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_view(struct cnnvp_import *import, int32_t in, uint32_t rank, const int64_t *dims)
{
    int32_t view;
    const char *name = import->node->output[0];
    CNNVP_TRY(cnnvp_import_shaped(import, name, in, rank, dims, &view));
    return cnnvp_import_alias(import, name, view);
}

/* Most channels of one word each whose scales a buffer surely holds. */
#define MANY_CHANNELS 4096

/* 1: a layer that can take a scale of its results makes the tensor, with the same channels. */
static int takes_scale(const struct cnnvp_graph *graph, int32_t tensor)
{
    for (size_t i = graph->layer_count; i-- > 0;) {
        const struct cnnvp_graph_layer *layer = &graph->layers[i];
        if (cnnvp_graph_base(graph, layer->out) == cnnvp_graph_base(graph, tensor))
            return graph->tensors[layer->out].channels == graph->tensors[tensor].channels &&
                   (layer->op == CNNVP_OP_FC || layer->op == CNNVP_OP_CONV || layer->op == CNNVP_OP_NORM);
    }
    return 0;
}

cnnvp_result cnnvp_import_row(struct cnnvp_import *import, int32_t *in)
{
    const struct cnnvp_graph_tensor words = import->graph->tensors[*in];
    const int64_t dims[4] = {0, 1, 1, (int64_t)words.channels};
    if (words.channels <= MANY_CHANNELS || words.channels != cnnvp_graph_words(&words) ||
        takes_scale(import->graph, *in))
        return CNNVP_DONE;
    return cnnvp_import_shaped(import, words.name, *in, 4, dims, in);
}

cnnvp_result cnnvp_import_positions(struct cnnvp_import *import, int32_t *in)
{
    const struct cnnvp_graph_tensor map = import->graph->tensors[*in];
    const uint32_t count = map.height * map.width;
    uint32_t rows = 1;
    if (map.height != 1 && map.width != 1)
        return CNNVP_DONE;
    for (uint32_t i = 2; (uint64_t)i * i <= count; ++i)
        rows = count % i == 0 ? i : rows;
    rows = count / rows > 4 * rows ? 1 : rows;
    const int64_t dims[4] = {0, map.channels, rows, count / rows};
    return cnnvp_import_shaped(import, map.name, *in, 4, dims, in);
}

cnnvp_result cnnvp_import_rows(struct cnnvp_import *import, int32_t in, int64_t *axis, int32_t *view)
{
    int64_t dims[CNNVP_ONNX_RANK];
    int64_t parts[4] = {0, 1, 1, 1};
    const uint32_t rank = cnnvp_import_all_dims(import, in, dims);
    for (uint32_t i = 1; i < rank; ++i)
        parts[i < *axis ? 1 : i == *axis ? 2 : 3] *= dims[i];
    *axis = 2;
    if (parts[1] == 1) { /* a part of the channels is a view and needs no copy */
        parts[1] = parts[2];
        parts[2] = 1;
        *axis = 1;
    }
    return cnnvp_import_shaped(import, import->graph->tensors[in].name, in, 4, parts, view);
}
