/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalisation over other dimensions than those of a map: LayerNormalization over the last dimensions,
 * RMSNormalization over them without the mean, GroupNormalization over groups of channels, and LRN over neighbouring
 * channels. LayerNormalization reshapes the normalised words to one map and uses the layer of InstanceNormalization.
 * Its scale and offset belong to positions of the map, so the result is permuted to make them channels, and back.
 * Normalisations that an exporter has decomposed are recognised.
 */
#include <string.h>

#include "onnx_text.h"

/* Sizes at an axis: `words` of the dimensions from the axis on, which are normalised together, and `maps` of those
 * before. */
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
static cnnvp_result normalise(struct cnnvp_import *import, int32_t *in, int64_t maps, int64_t words, float epsilon)
{
    struct cnnvp_graph_layer *layer;
    const int64_t dims[4] = {0, maps, 1, words};
    if (!(epsilon >= 0.0f))
        return cnnvp_import_error(import, "epsilon is %g; 0 or more is needed", (double)epsilon);
    CNNVP_TRY(cnnvp_import_shaped(import, import->graph->tensors[*in].name, *in, 4, dims, in));
    CNNVP_TRY(cnnvp_import_affine(import, *in, NULL, NULL, 1, &layer));
    layer->norm = CNNVP_NORM_DATA;
    layer->epsilon = epsilon;
    *in = layer->out;
    return CNNVP_DONE;
}

/* Reads input `index`, one value for each word of a map; NULL if it is absent or the graph is weightless. */
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

cnnvp_result cnnvp_operator_layer_norm(struct cnnvp_import *import)
{
    int32_t in;
    int64_t axis;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    for (size_t i = 1; i < import->node->n_output; ++i)
        if (cnnvp_import_readers(import, import->node->output[i]) != 0)
            return cnnvp_import_error(import, "its output \"%s\" is a statistic; the first output alone is supported",
                                      import->node->output[i]);
    const uint32_t rank = import->graph->tensors[in].rank;
    CNNVP_TRY(cnnvp_import_axis(import, rank, cnnvp_onnx_int(import->node, "axis", -1), &axis));
    float *scale;
    float *offset;
    const struct split split = split_at(import, in, axis);
    CNNVP_TRY(read_places(import, 1, split.words, &scale));
    CNNVP_TRY(read_places(import, 2, split.words, &offset));
    CNNVP_TRY(normalise(import, &in, split.maps, split.words, cnnvp_onnx_float(import->node, "epsilon", 1e-5f)));
    if (axis + 1 == rank && rank <= 4)
        CNNVP_TRY(cnnvp_import_shaped(import, import->graph->tensors[in].name, in, rank, split.dims, &in));
    const enum cnnvp_import_each each = rank == 2 ? CNNVP_EACH_CHANNEL : CNNVP_EACH_LAST; /* (N, features) */
    if (cnnvp_import_has(import, 1) || cnnvp_import_has(import, 2))
        CNNVP_TRY(cnnvp_import_line(import, in, each, scale, offset, 1, &in));
    return cnnvp_import_view(import, in, split.rank, split.dims);
}

/* Scale and offset have one value per group before operator set 21, and one per channel since then. */
cnnvp_result cnnvp_operator_group_norm(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK];
    size_t rank;
    struct cnnvp_text text = {.used = 0};
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    const long long groups = cnnvp_onnx_int(import->node, "num_groups", 0), channels = rank > 1 ? dims[1] : 0;
    if (rank < 3 || groups < 1 || channels % groups != 0)
        return cnnvp_import_error(
            import,
            "%lld groups of %lld channels in %zu dimensions; as many channels in each group, and 3 dimensions or more "
            "are needed",
            groups, channels, rank);
    say(&text,
        "maps = Reshape(a, [0, %lld, -1]); none = ConstantOfShape([%lld]); one = Add(none, 1.0);"
        "even = InstanceNormalization <@epsilon> (maps, one, none); whole = Reshape(even, [0",
        groups, groups);
    say_numbers(&text, dims, 1, rank);
    say(&text, "]);");
    const int by_group = import->onnx.opset < 21;
    if (by_group)
        say(&text,
            "few = Unsqueeze(b, [1]); wide = Expand(few, [1, %lld]); each = Reshape(wide, [-1]);"
            "less = Unsqueeze(c, [1]); long = Expand(less, [1, %lld]); more = Reshape(long, [-1]);",
            channels / groups, channels / groups);
    say_along(&text, "slope", by_group ? "each" : "b", rank - 2);
    say_along(&text, "shift", by_group ? "more" : "c", rank - 2);
    say(&text, "scaled = Mul(whole, slope); y = Add(scaled, shift)");
    return rewrite(import, &text);
}

/* x / sqrt(mean of x * x + epsilon) * scale, with the mean over the last dimensions. */
cnnvp_result cnnvp_operator_rms_norm(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK];
    size_t rank, axis;
    struct cnnvp_text text = {.used = 0};
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(find_counted(import, cnnvp_onnx_int(import->node, "axis", -1), rank, &axis));
    say(&text, "square = Mul(a, a); mean = ReduceMean <keepdims = 1> (square, [%zu", axis);
    for (size_t i = axis + 1; i < rank; ++i)
        say(&text, ", %zu", i);
    say(&text, "]); deep = Add(mean, %.12f); root = Sqrt(deep); even = Div(a, root); y = Mul(even, b)",
        (double)cnnvp_onnx_float(import->node, "epsilon", 1e-5f));
    return rewrite(import, &text);
}

/* x / (bias + alpha * mean of the squares of `size` neighbouring channels)^beta. The channels become rows, so that
 * average pooling computes the mean. */
cnnvp_result cnnvp_operator_local(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK];
    size_t rank;
    struct cnnvp_text text = {.used = 0};
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    const long long size = cnnvp_onnx_int(import->node, "size", 0);
    const float beta = cnnvp_onnx_float(import->node, "beta", 0.75f);
    if (rank < 2 || size < 1 || size > CNNVP_ONNX_WINDOW_MAX || !(beta > 0.0f && beta <= 16.0f))
        return cnnvp_import_error(
            import, "size is %lld, beta %g; a size from 1 to %d, and a beta up to 16 are possible", size, (double)beta,
            CNNVP_ONNX_WINDOW_MAX);
    say(&text,
        "maps = Reshape(a, [0, 1, %lld, -1]); square = Mul(maps, maps);"
        "mean = AveragePool <kernel_shape = [%lld, 1], pads = [%lld, 0, %lld, 0], count_include_pad = 1> (square);"
        "part = Mul(mean, %.12f); deep = Add(part, %.12f); bent = Pow(deep, %.9f); even = Div(maps, bent);"
        "y = Reshape(even, [0",
        (long long)dims[1], size, (size - 1) / 2, size - 1 - (size - 1) / 2,
        (double)cnnvp_onnx_float(import->node, "alpha", 1e-4f), (double)cnnvp_onnx_float(import->node, "bias", 1.0f),
        (double)beta);
    say_numbers(&text, dims, 1, rank);
    say(&text, "])");
    return rewrite(import, &text);
}

/* ---- decomposed normalisations ---- */

static int same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* 1: input `index` of the node is a constant with one element. */
static int one_number(const struct cnnvp_import *import, const Onnx__NodeProto *node, size_t index, float *number)
{
    struct cnnvp_error why;
    const Onnx__TensorProto *constant =
        index < node->n_input ? cnnvp_import_known_constant(import, node->input[index]) : NULL;
    return constant != NULL && cnnvp_onnx_elements(constant) == 1 &&
           cnnvp_onnx_number(&import->onnx, constant, number, &why) == CNNVP_DONE;
}

/* The number of last dimensions that `name` is a ReduceMean over, with keepdims; 0: it is not such a mean. `rank`
 * counts the file's dimensions. *of is the operand. */
static size_t averaged(struct cnnvp_import *import, const char *name, int64_t rank, const char **of)
{
    int64_t axes[CNNVP_ONNX_RANK];
    size_t count = 0;
    const Onnx__NodeProto *node = import->node;
    const Onnx__NodeProto *mean = cnnvp_import_maker(import, name, "ReduceMean");
    if (mean == NULL || cnnvp_onnx_int(mean, "keepdims", 1) == 0)
        return 0;
    import->node = mean;
    if (cnnvp_import_list(import, "axes", 1, CNNVP_ONNX_RANK, axes, &count) != CNNVP_DONE)
        count = 0;
    import->node = node;
    uint32_t found = 0;
    for (size_t i = 0; i < count; ++i) {
        const int64_t back = axes[i] < 0 ? -axes[i] : rank - axes[i];
        if (back < 1 || back > (int64_t)count)
            return 0;
        found |= 1u << back;
    }
    *of = mean->input[0];
    return count != 0 && found + 2u == 2u << count ? count : 0;
}

/* The number of last dimensions if `name` is *x less its mean over them; else 0. */
static size_t centred(struct cnnvp_import *import, const char *name, int64_t rank, const char **x)
{
    const char *of = "";
    const Onnx__NodeProto *difference = cnnvp_import_maker(import, name, "Sub");
    if (difference == NULL || difference->n_input != 2)
        return 0;
    *x = difference->input[0];
    const size_t count = averaged(import, difference->input[1], rank, &of);
    return same(of, *x) ? count : 0;
}

/* 1: `name` is the square of *of. */
static int squared(const struct cnnvp_import *import, const char *name, const char **of)
{
    float exponent = 0.0f;
    const Onnx__NodeProto *product = cnnvp_import_maker(import, name, "Mul");
    const Onnx__NodeProto *power = cnnvp_import_maker(import, name, "Pow");
    if (product != NULL && product->n_input == 2 && same(product->input[0], product->input[1])) {
        *of = product->input[0];
        return 1;
    }
    if (power == NULL || !one_number(import, power, 1, &exponent) || exponent < 2.0f || exponent > 2.0f)
        return 0;
    *of = power->input[0];
    return 1;
}

/* The number of last dimensions if `root` is sqrt(mean of the squares of *of over them + epsilon); else 0. */
static size_t deviation(struct cnnvp_import *import, const char *root, int64_t rank, const char **of, float *epsilon)
{
    const char *square = "";
    const Onnx__NodeProto *outer = cnnvp_import_maker(import, root, "Sqrt");
    const Onnx__NodeProto *sum = outer != NULL ? cnnvp_import_maker(import, outer->input[0], "Add") : NULL;
    if (sum == NULL || sum->n_input != 2)
        return 0;
    const size_t number = one_number(import, sum, 0, epsilon) ? 0 : 1;
    if (!one_number(import, sum, number, epsilon) || !(*epsilon >= 0.0f))
        return 0;
    const size_t count = averaged(import, sum->input[1 - number], rank, &square);
    return count != 0 && squared(import, square, of) ? count : 0;
}

/* (x - mean) / sqrt(mean of its square + epsilon), with Div or with Reciprocal and Mul, becomes one normalisation of x.
 * The intermediate layers are dropped later if nothing else reads them. */
cnnvp_result cnnvp_import_taken_apart(struct cnnvp_import *import, int32_t numerator, int *done)
{
    const Onnx__NodeProto *node = import->node;
    const char *above = node->input[0];
    const char *below = node->input[1];
    *done = 0;
    if (same(node->op_type, "Mul")) {
        const Onnx__NodeProto *inverse = cnnvp_import_maker(import, below, "Reciprocal");
        if (inverse == NULL)
            return CNNVP_DONE;
        below = inverse->input[0];
    }
    int64_t dims[CNNVP_ONNX_RANK];
    const char *x = "";
    const char *other = "";
    const char *of = "";
    float epsilon;
    const uint32_t rank = cnnvp_import_all_dims(import, numerator, dims);
    const int64_t own = (int64_t)rank - (import->single != 0);
    const size_t count = centred(import, above, own, &x);
    if (count == 0 || count >= rank || deviation(import, below, own, &of, &epsilon) != count ||
        !(same(of, above) || (centred(import, of, own, &other) == count && same(x, other))) ||
        cnnvp_import_known_tensor(import, x) == CNNVP_GRAPH_NONE)
        return CNNVP_DONE;
    int32_t in = cnnvp_import_known_tensor(import, x);
    struct split split = {.maps = 1, .words = 1};
    for (uint32_t i = 1; i < rank; ++i)
        *(i + count < rank ? &split.maps : &split.words) *= dims[i];
    CNNVP_TRY(cnnvp_import_expanded(import, &in));
    if (cnnvp_graph_words(&import->graph->tensors[in]) != (size_t)(split.maps * split.words))
        return CNNVP_DONE;
    *done = 1;
    CNNVP_TRY(normalise(import, &in, split.maps, split.words, epsilon));
    return cnnvp_import_view(import, in, rank, dims);
}
