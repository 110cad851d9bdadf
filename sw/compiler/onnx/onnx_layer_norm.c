/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalisation over other dimensions than a map's: LayerNormalization over the last ones, RMSNormalization over them
 * without the mean, GroupNormalization over groups of channels. What is normalised at once becomes a map,
 * InstanceNormalization does the rest. Scale and offset of LayerNormalization are numbers of places in the map: its
 * results are turned, so that places become channels, and back.
 */
#include "onnx_node.h"

/* What is normalised at once, and how often: dimensions from `axis` on, those before. */
struct split {
    uint32_t rank;
    int64_t dims[CNNVP_ONNX_RANK];
    int64_t maps, words;
};

static struct split split_at(const struct cnnvp_import *import, int32_t in, int64_t axis)
{
    struct split split = {.maps = 1, .words = 1};
    split.rank = cnnvp_import_all_dims(import, in, split.dims);
    for (uint32_t i = 1; i < split.rank; ++i)
        *(i < axis ? &split.maps : &split.words) *= split.dims[i];
    return split;
}

/* (x - mean) / sqrt(variance + epsilon) of each map. */
static cnnvp_result normalise(struct cnnvp_import *import, int32_t *in, int64_t maps, int64_t words)
{
    struct cnnvp_graph_layer *layer;
    const int64_t dims[4] = {0, maps, 1, words};
    const float epsilon = cnnvp_onnx_float(import->node, "epsilon", 1e-5f);
    if (!(epsilon >= 0.0f))
        return cnnvp_import_error(import, "epsilon is %g; 0 or more is needed", (double)epsilon);
    CNNVP_TRY(cnnvp_import_shaped(import, import->graph->tensors[*in].name, *in, 4, dims, in));
    CNNVP_TRY(cnnvp_import_affine(import, *in, NULL, NULL, 1, &layer));
    layer->norm = CNNVP_NORM_DATA;
    layer->epsilon = epsilon;
    *in = layer->out;
    return CNNVP_DONE;
}

/* Input `index`, as many numbers as there are words in a map; NULL where it is not there or the graph is weightless. */
static cnnvp_result read_places(struct cnnvp_import *import, size_t index, int64_t words, float **values)
{
    const Onnx__TensorProto *constant;
    *values = NULL;
    if (!cnnvp_import_has(import, index))
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_constant(import, index, &constant));
    if (cnnvp_onnx_elements(constant) != (size_t)words)
        return cnnvp_import_error(import,
                                  "input \"%s\" has %zu elements; one for each of the %lld that are normalised at once "
                                  "is needed",
                                  import->node->input[index], cnnvp_onnx_elements(constant), (long long)words);
    return cnnvp_import_floats(import, constant, (size_t)words, values);
}

static cnnvp_result import_layer_norm(struct cnnvp_import *import)
{
    int32_t in;
    int64_t axis;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    for (size_t i = 1; i < import->node->n_output; ++i)
        if (cnnvp_import_is_read(import, import->node->output[i]))
            return cnnvp_import_error(import, "its output \"%s\" is a statistic; the first output alone is supported",
                                      import->node->output[i]);
    const uint32_t rank = import->graph->tensors[in].rank;
    CNNVP_TRY(cnnvp_import_axis(import, rank, cnnvp_onnx_int(import->node, "axis", -1), &axis));
    float *scale;
    float *offset;
    const struct split split = split_at(import, in, axis);
    CNNVP_TRY(read_places(import, 1, split.words, &scale));
    CNNVP_TRY(read_places(import, 2, split.words, &offset));
    CNNVP_TRY(normalise(import, &in, split.maps, split.words));
    if (axis + 1 == rank && rank <= 4)
        CNNVP_TRY(cnnvp_import_shaped(import, import->graph->tensors[in].name, in, rank, split.dims, &in));
    const enum cnnvp_import_each each = rank == 2 ? CNNVP_EACH_CHANNEL : CNNVP_EACH_LAST; /* (N, features) */
    CNNVP_TRY(cnnvp_import_line(import, in, each, scale, offset, 1, &in));
    return cnnvp_import_view(import, in, split.rank, split.dims);
}

/* Before operator set 21 scale and offset are numbers of groups, since then of channels. */
static cnnvp_result read_channels(struct cnnvp_import *import, size_t index, uint32_t channels, int64_t groups,
                                  float **values)
{
    const Onnx__TensorProto *constant;
    float *read;
    CNNVP_TRY(cnnvp_import_constant(import, index, &constant));
    const size_t count = import->onnx.opset < 21 ? (size_t)groups : channels;
    CNNVP_TRY(cnnvp_import_floats(import, constant, count, &read));
    *values = read;
    if (read == NULL || count == channels)
        return CNNVP_DONE;
    *values = cnnvp_arena_array(&import->graph->arena, channels, sizeof **values);
    if (*values == NULL)
        return cnnvp_import_no_memory(import);
    for (uint32_t c = 0; c < channels; ++c)
        (*values)[c] = read[c / (channels / (uint32_t)groups)];
    return CNNVP_DONE;
}

static cnnvp_result import_group_norm(struct cnnvp_import *import)
{
    int32_t in;
    float *scale;
    float *offset;
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    const struct split split = split_at(import, in, 2);
    const int64_t groups = cnnvp_onnx_int(import->node, "num_groups", 0);
    if (split.rank < 3 || groups < 1 || split.maps % groups != 0)
        return cnnvp_import_error(
            import,
            "%lld groups of %lld channels in %u dimensions; as many channels in each group, and 3 "
            "dimensions or more are needed",
            (long long)groups, (long long)split.maps, split.rank);
    CNNVP_TRY(read_channels(import, 1, (uint32_t)split.maps, groups, &scale));
    CNNVP_TRY(read_channels(import, 2, (uint32_t)split.maps, groups, &offset));
    CNNVP_TRY(normalise(import, &in, groups, split.maps / groups * split.words));
    CNNVP_TRY(cnnvp_import_shaped(import, import->graph->tensors[in].name, in, split.rank, split.dims, &in));
    return cnnvp_import_affine(import, in, scale, offset, 0, &layer);
}

static const struct cnnvp_import_operator operators[] = {
    {"LayerNormalization", import_layer_norm, CNNVP_FORM_ALL, 0},
    {"GroupNormalization", import_group_norm, CNNVP_FORM_IMAGES, 0},
};

const struct cnnvp_import_operators cnnvp_import_layer_norm = {operators, sizeof operators / sizeof operators[0]};
