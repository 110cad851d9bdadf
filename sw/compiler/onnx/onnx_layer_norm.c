/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalisation over other dimensions than those of a map: LayerNormalization over the last dimensions,
 * RMSNormalization over them without the mean, GroupNormalization over groups of channels, and LRN over neighbouring
 * channels. LayerNormalization reshapes the normalised words to one map and uses the layer of InstanceNormalization.
 * Its scale and offset belong to positions of the map, so the result is permuted to make them channels, and back.
 * RMSNormalization counts the mean as 0. Normalisations that an exporter has decomposed are recognised.
 */
#include <float.h>
#include <math.h>
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

/* (x - mean) / sqrt(variance + epsilon) * scale of each map. about_zero: the mean counts as 0. */
static cnnvp_result normalise(struct cnnvp_import *import, int32_t *in, int64_t maps, int64_t words, float epsilon,
                              int about_zero, float scale)
{
    struct cnnvp_graph_layer *layer;
    const int64_t dims[4] = {0, maps, 1, words};
    if (!(epsilon >= 0.0f))
        return cnnvp_import_error(import, "epsilon is %g; 0 or more is needed", (double)epsilon);
    CNNVP_TRY(cnnvp_import_shaped(import, import->graph->tensors[*in].name, *in, 4, dims, in));
    CNNVP_TRY(cnnvp_import_scale(import, *in, scale, 0.0f, 1, &layer));
    layer->norm = CNNVP_NORM_DATA;
    layer->about_zero = about_zero != 0;
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

static cnnvp_result normalise_last(struct cnnvp_import *import, int about_zero)
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
    float *scale, *offset;
    const struct split split = split_at(import, in, axis);
    CNNVP_TRY(read_places(import, 1, split.words, &scale));
    CNNVP_TRY(read_places(import, 2, split.words, &offset));
    CNNVP_TRY(normalise(import, &in, split.maps, split.words, cnnvp_onnx_float(import->node, "epsilon", 1e-5f),
                        about_zero, 1.0f));
    if (axis + 1 == rank && rank <= 4)
        CNNVP_TRY(cnnvp_import_shaped(import, import->graph->tensors[in].name, in, rank, split.dims, &in));
    const enum cnnvp_import_each each = rank == 2 ? CNNVP_EACH_CHANNEL : CNNVP_EACH_LAST; /* (N, features) */
    if (cnnvp_import_has(import, 1) || cnnvp_import_has(import, 2))
        CNNVP_TRY(cnnvp_import_line(import, in, each, scale, offset, 1, &in));
    return cnnvp_import_view(import, in, split.rank, split.dims);
}

cnnvp_result cnnvp_operator_layer_norm(struct cnnvp_import *import)
{
    return normalise_last(import, 0);
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

/* x / sqrt(mean of x * x + epsilon) * scale, with the mean over the last dimensions. A scale that is computed or
 * broadcast takes more layers. */
cnnvp_result cnnvp_operator_rms_norm(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK];
    size_t rank, axis;
    struct cnnvp_text text = {.used = 0};
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(find_counted(import, cnnvp_onnx_int(import->node, "axis", -1), rank, &axis));
    const Onnx__TensorProto *scale =
        import->node->n_input > 1 ? cnnvp_import_known_constant(import, import->node->input[1]) : NULL;
    if (scale != NULL && scale->n_dims == rank - axis)
        return normalise_last(import, 1);
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

/* A smaller limit of lengths only keeps 0 from dividing; so does a smaller number added to a deviation. */
#define LENGTH_MIN 1e-6f
#define DEVIATION_MIN 1e-5f

/* Least words that are normalised together, if not all words are few, for which that takes about as long between two
 * transpositions as in parts: each group of words takes instructions of its own. */
#define TURNED_WORDS 64
#define FEW_WORDS 4096

static int same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* The dimensions that `name` is reduced over by op_type, with keepdims, if they are adjacent: bit b for the b-th from
 * the end, 1 for the last one. 0: it is not reduced so. `rank` counts the file's dimensions. *of is the operand. */
static uint32_t reduced(struct cnnvp_import *import, const char *name, const char *op_type, int64_t rank,
                        const char **of)
{
    int64_t axes[CNNVP_ONNX_RANK];
    size_t count = 0;
    const Onnx__NodeProto *node = import->node;
    const Onnx__NodeProto *reduction = cnnvp_import_maker(import, name, op_type);
    if (reduction == NULL || cnnvp_onnx_int(reduction, "keepdims", 1) == 0)
        return 0;
    import->node = reduction;
    if (cnnvp_import_list(import, "axes", 1, CNNVP_ONNX_RANK, axes, &count) != CNNVP_DONE)
        count = 0;
    import->node = node;
    uint32_t found = 0;
    for (size_t i = 0; i < count; ++i) {
        const int64_t back = axes[i] < 0 ? -axes[i] : rank - axes[i];
        if (back < 1 || back > (int64_t)CNNVP_ONNX_RANK)
            return 0;
        found |= 1u << back;
    }
    const uint32_t lowest = found & (0u - found);
    *of = reduction->input[0];
    return (found & (found + lowest)) == 0 ? found : 0;
}

/* The dimensions if `name` is *x less its mean over them; else 0. */
static uint32_t centred(struct cnnvp_import *import, const char *name, int64_t rank, const char **x)
{
    const char *of = "";
    const Onnx__NodeProto *difference = cnnvp_import_maker(import, name, "Sub");
    if (difference == NULL || difference->n_input != 2)
        return 0;
    *x = difference->input[0];
    const uint32_t axes = reduced(import, difference->input[1], "ReduceMean", rank, &of);
    return same(of, *x) ? axes : 0;
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
    if (power == NULL || !cnnvp_import_one_number(import, power, 1, &exponent) || exponent < 2.0f || exponent > 2.0f)
        return 0;
    *of = power->input[0];
    return 1;
}

/* What a decomposed normalisation divides by: sqrt(mean of the squares of `of` * factor + epsilon) over these
 * dimensions, or with their sum in place of the mean. */
struct divisor {
    const char *of;
    uint32_t axes;
    float epsilon, factor;
    int sum;
};

/* Reads factors and divisors that are numbers, such as n / (n - 1) of an unbiased deviation: *name becomes what they
 * multiply. */
static float factors_of(const struct cnnvp_import *import, const char **name)
{
    float factor = 1.0f;
    for (;;) {
        float number = 0.0f;
        const Onnx__NodeProto *product = cnnvp_import_maker(import, *name, "Mul");
        const Onnx__NodeProto *quotient = cnnvp_import_maker(import, *name, "Div");
        const Onnx__NodeProto *node = product != NULL ? product : quotient;
        if (node == NULL || node->n_input != 2 || !cnnvp_import_one_number(import, node, 1, &number) ||
            !(number > 0.0f && number < 1e6f))
            return factor;
        factor = product != NULL ? factor * number : factor / number;
        *name = node->input[0];
    }
}

/* Reads the file's sqrt(mean or sum of squares, with factors, + number). */
static struct divisor root_of(struct cnnvp_import *import, const char *name, int64_t rank)
{
    struct divisor divisor = {.of = "", .epsilon = FLT_MIN, .factor = 1.0f};
    const char *square = "";
    const Onnx__NodeProto *root = cnnvp_import_maker(import, name, "Sqrt");
    const char *reduction = root != NULL ? root->input[0] : "";
    const Onnx__NodeProto *sum = cnnvp_import_maker(import, reduction, "Add");
    if (sum != NULL && sum->n_input == 2) {
        const size_t number = cnnvp_import_one_number(import, sum, 0, &divisor.epsilon) ? 0 : 1;
        reduction = sum->input[1 - number];
        if (!cnnvp_import_one_number(import, sum, number, &divisor.epsilon) || !(divisor.epsilon >= 0.0f))
            return divisor;
    }
    divisor.factor = factors_of(import, &reduction);
    uint32_t axes = reduced(import, reduction, "ReduceMean", rank, &square);
    divisor.sum = axes == 0;
    axes = divisor.sum ? reduced(import, reduction, "ReduceSum", rank, &square) : axes;
    divisor.axes = axes != 0 && squared(import, square, &divisor.of) ? axes : 0;
    return divisor;
}

/* Reads ReduceL2, which a limit up to LENGTH_MIN may keep from being 0. */
static struct divisor length_of(struct cnnvp_import *import, const char *name, int64_t rank)
{
    struct divisor divisor = {.of = "", .epsilon = FLT_MIN, .factor = 1.0f, .sum = 1};
    float least = 0.0f;
    const Onnx__NodeProto *wide = cnnvp_import_maker(import, name, "Expand");
    name = wide != NULL ? wide->input[0] : name;
    const Onnx__NodeProto *clip = cnnvp_import_maker(import, name, "Clip");
    if (clip != NULL) {
        const int one_limit = clip->n_input == 2 || (clip->n_input == 3 && same(clip->input[2], ""));
        if (!one_limit || !cnnvp_import_one_number(import, clip, 1, &least) || !(least <= LENGTH_MIN))
            return divisor;
        name = clip->input[0];
    }
    divisor.axes = reduced(import, name, "ReduceL2", rank, &divisor.of);
    return divisor;
}

/* What a small number is added to, so that it is not 0; else `name` itself. */
static const char *without_least(const struct cnnvp_import *import, const char *name)
{
    float least = 0.0f;
    const Onnx__NodeProto *sum = cnnvp_import_maker(import, name, "Add");
    return sum != NULL && sum->n_input == 2 && cnnvp_import_one_number(import, sum, 1, &least) && least >= 0.0f &&
                   least <= DEVIATION_MIN
               ? sum->input[0]
               : name;
}

/* (x - mean) / sqrt(mean of its square + epsilon), with Div or with an inverse and Mul, becomes one normalisation of x;
 * so do x / sqrt(mean of its square + epsilon) and x / its length. Squares of their own would need the format of the
 * largest one, in which those of rows with smaller numbers are 0. The intermediate layers are dropped later if nothing
 * else reads them. */
cnnvp_result cnnvp_import_taken_apart(struct cnnvp_import *import, int32_t numerator, int *done)
{
    const Onnx__NodeProto *node = import->node;
    const char *above = node->input[0];
    const char *below = node->input[1];
    *done = 0;
    if (same(node->op_type, "Mul")) {
        float one = 0.0f;
        const Onnx__NodeProto *inverse = cnnvp_import_maker(import, below, "Reciprocal");
        const Onnx__NodeProto *quotient = cnnvp_import_maker(import, below, "Div");
        if (quotient != NULL && cnnvp_import_one_number(import, quotient, 0, &one) && one >= 1.0f && one <= 1.0f)
            below = quotient->input[1];
        else if (inverse != NULL)
            below = inverse->input[0];
        else
            return CNNVP_DONE;
    }
    int64_t dims[CNNVP_ONNX_RANK];
    const char *x = "", *other = "";
    const uint32_t rank = cnnvp_import_all_dims(import, numerator, dims);
    const int64_t own = (int64_t)rank - (import->single != 0);
    struct divisor divisor = root_of(import, without_least(import, below), own);
    if (divisor.axes == 0)
        divisor = length_of(import, below, own);
    const uint32_t axes = divisor.axes;
    if (axes == 0 || axes >> rank != 0)
        return CNNVP_DONE;
    const int about_zero = centred(import, above, own, &x) != axes;
    x = about_zero ? above : x;
    if (!(same(divisor.of, above) ||
          (!about_zero && centred(import, divisor.of, own, &other) == axes && same(x, other))) ||
        cnnvp_import_known_tensor(import, x) == CNNVP_GRAPH_NONE)
        return CNNVP_DONE;
    int32_t in = cnnvp_import_known_tensor(import, x);
    uint32_t sizes[3] = {1, 1, 1}; /* before, in and behind the dimensions */
    for (uint32_t i = 1; i < rank; ++i)
        sizes[(axes >> (rank - i) & 1u) != 0 ? 1 : axes >> (rank - i) != 0 ? 2 : 0] *= (uint32_t)dims[i];
    CNNVP_TRY(cnnvp_import_expanded(import, &in));
    if (cnnvp_graph_words(&import->graph->tensors[in]) != (size_t)sizes[0] * sizes[1] * sizes[2] ||
        (sizes[2] > 1 && sizes[1] < TURNED_WORDS && (size_t)sizes[0] * sizes[1] * sizes[2] >= FEW_WORDS))
        return CNNVP_DONE;
    *done = 1;
    static const uint32_t swapped[3] = {0, 2, 1};
    const float factor = divisor.sum ? divisor.factor * (float)sizes[1] : divisor.factor;
    if (sizes[2] > 1)
        CNNVP_TRY(cnnvp_import_permute(import, in, sizes, swapped, &in));
    CNNVP_TRY(normalise(import, &in, (int64_t)sizes[0] * sizes[2], sizes[1], divisor.epsilon / factor, about_zero,
                        1.0f / sqrtf(factor)));
    const uint32_t made[3] = {sizes[0], sizes[2], sizes[1]};
    if (sizes[2] > 1)
        CNNVP_TRY(cnnvp_import_permute(import, in, made, swapped, &in));
    return cnnvp_import_view(import, in, rank, dims);
}
