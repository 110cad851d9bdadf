/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that become others according to the shapes of their inputs: GridSample, DFT, MeanVarianceNormalization, and
 * gathers and scatters by several dimensions. */
#include <math.h>

#include "onnx_constant.h"
#include "onnx_text.h"

/* ---- GridSample ---- */

/* Replaces each `#` in the text from offset `from` on by the number of the axis. */
static void number(struct cnnvp_text *text, size_t from, size_t axis)
{
    for (; from < text->used && from < sizeof text->rule; ++from)
        if (text->rule[from] == '#')
            text->rule[from] = (char)('0' + axis);
}

/* Appends the interpolation weights of an axis, (N, size, samples): the weight of each element for each sample, by
 * their distance. */
static void say_weights(struct cnnvp_text *text, long long size, int corners, char mode, char padding)
{
    const double low = corners ? 0.0 : -0.5;
    const double span = corners ? (double)size - 1.0 : (double)size;
    say(text, "wide# = Mul(at#, %.9f); exact# = Add(wide#, %.9f);", 0.5 * span, 0.5 * ((double)size - 1.0));
    say(text, mode == 'n' ? "place# = Round(exact#);" : "place# = Identity(exact#);");
    if (padding == 'r' && size > 1) /* reflects positions at both borders until they are inside */
        say(text,
            "from# = Sub(place#, %.9f); long# = Abs(from#); times# = Mul(long#, %.12f); turns# = Floor(times#);"
            "less# = Mul(turns#, %.9f); rest# = Sub(long#, less#); way# = Sub(rest#, %.9f); back# = Abs(way#);"
            "there# = Sub(%.9f, back#);",
            low, 0.5 / span, 2.0 * span, span, span + low);
    else
        say(text, "there# = Identity(place#);");
    if (padding == 'z')
        say(text, "in# = Identity(there#);");
    else
        say(text, "in# = Clip(there#, 0.0, %lld.0);", size - 1);
    say(text,
        "all# = Range(0.0, %lld.0, 1.0); places# = Reshape(all#, [-1, 1]); apart# = Sub(in#, places#);"
        "far# = Abs(apart#);",
        size);
    if (mode == 'c') /* cubic kernel: one polynomial for distances up to 1, another one up to 2 */
        say(text,
            "near# = Min(far#, 1.0); bent# = Mul(near#, 1.25); deep# = Sub(bent#, 2.25); square# = Mul(near#, near#);"
            "inner# = Mul(deep#, square#); tail# = Clip(far#, 1.0, 2.0); out# = Sub(tail#, 2.0);"
            "two# = Mul(out#, out#); one# = Sub(tail#, 1.0); both# = Mul(two#, one#); outer# = Mul(both#, -0.75);"
            "sum# = Add(inner#, outer#); weight# = Add(sum#, 1.0);");
    else
        say(text, "high# = Sub(1.0, far#); weight# = Max(high#, 0.0);");
}

/* Samples are the product of the maps with a matrix of interpolation weights, which the grid's positions determine. */
cnnvp_result cnnvp_operator_samples(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK], grid[CNNVP_ONNX_RANK];
    size_t rank, others;
    struct cnnvp_text text = {.used = 0};
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(cnnvp_import_dims_of(import, 1, &others, grid));
    const size_t axes = rank - 2;
    if (rank < 3 || others != rank || grid[rank - 1] != (int64_t)axes)
        return cnnvp_import_error(import, "maps of %zu dimensions and a grid of %zu with %lld numbers each", rank,
                                  others, others != 0 ? (long long)grid[others - 1] : 0LL);
    const int cubic = cnnvp_onnx_is(import->node, "mode", "cubic") || cnnvp_onnx_is(import->node, "mode", "bicubic");
    const int turned = cnnvp_onnx_is(import->node, "padding_mode", "reflection");
    const char mode = cubic ? 'c' : cnnvp_onnx_is(import->node, "mode", "nearest") ? 'n' : 'l';
    const char padding = turned ? 'r' : cnnvp_onnx_is(import->node, "padding_mode", "border") ? 'b' : 'z';
    if (cubic && padding != 'z')
        return cnnvp_import_error(import, "cubic samples of what is around the map are zeros here: padding_mode zeros");
    const long long samples = cnnvp_onnx_product(grid, 1, rank - 1), places = cnnvp_onnx_product(dims, 2, rank);
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    CNNVP_TRY(cnnvp_import_value(import, 1, &value));
    say(&text, "points = Reshape(b, [0, %lld, %zu]); turned = Transpose <perm = [0, 2, 1]> (points);", samples, axes);
    for (size_t axis = 0; axis < axes; ++axis) {
        const size_t from = text.used;
        say(&text, "at# = Slice(turned, [%zu], [%zu], [1]);", axes - 1 - axis, axes - axis);
        say_weights(&text, (long long)dims[axis + 2], cnnvp_onnx_int(import->node, "align_corners", 0) != 0, mode,
                    padding);
        if (axis == 0)
            say(&text, "weights# = Identity(weight#);");
        else /* joint weights: those of the axes before times those of this axis */
            say(&text,
                "before# = Unsqueeze(weights%zu, [2]); this# = Unsqueeze(weight#, [1]); spread# = Mul(before#, this#);"
                "weights# = Reshape(spread#, [0, %lld, %lld]);",
                axis - 1, cnnvp_onnx_product(dims, 2, axis + 3), samples);
        number(&text, from, axis);
    }
    say(&text,
        value.constant != NULL && grid[0] == 1 ? "matrix = Squeeze(weights%zu, [0]);"
                                               : "matrix = Identity(weights%zu);",
        axes - 1);
    say(&text, "maps = Reshape(a, [0, %lld, %lld]); found = MatMul(maps, matrix); y = Reshape(found, [0, %lld",
        (long long)dims[1], places, (long long)dims[1]);
    say_numbers(&text, grid, 1, rank - 1);
    say(&text, "])");
    return rewrite(import, &text);
}

/* ---- DFT ---- */

/* Multiplies along an axis by the matrix of all cosines and sines; real and imaginary parts are adjacent columns. */
cnnvp_result cnnvp_operator_spectrum(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK];
    int64_t named = import->onnx.opset < 20 ? cnnvp_onnx_int(import->node, "axis", 1) : -2;
    int64_t length = 0;
    size_t rank, given, axis;
    struct cnnvp_text text = {.used = 0};
    const int back = cnnvp_onnx_int(import->node, "inverse", 0) != 0;
    const int half = cnnvp_onnx_int(import->node, "onesided", 0) != 0;
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    if (import->onnx.opset >= 20)
        CNNVP_TRY(cnnvp_import_list(import, "axis", 2, 1, &named, &given));
    CNNVP_TRY(cnnvp_import_list(import, "dft_length", 1, 1, &length, &given));
    CNNVP_TRY(find_counted(import, named, rank, &axis));
    const long long parts = (long long)dims[rank - 1];
    if (rank < 3 || axis + 1 == rank || parts < 1 || parts > 2)
        return cnnvp_import_error(
            import, "axis %lld of %zu dimensions with %lld parts each", (long long)named, rank, parts);
    const long long size = (long long)dims[axis];
    const long long all = given != 0 ? (long long)length : half && back ? 2 * (size - 1) : size;
    const long long made = half && !back ? all / 2 + 1 : all;
    const long long results = half && back ? 1 : 2;
    if (all < 1 || all > CNNVP_ONNX_WINDOW_MAX)
        return cnnvp_import_error(import, "%lld numbers; 1 to %d are possible", all, CNNVP_ONNX_WINDOW_MAX);
    say(&text,
        "times = Range(0, %lld, 1); rows = Reshape(times, [-1, 1]); tones = Range(0, %lld, 1); each = Mul(rows, tones);"
        "turn = Mod(each, %lld); real = Cast <to = 1> (turn); angle = Mul(real, %.12f);",
        size, made, all, (back ? 2.0 : -2.0) * acos(-1.0) / (double)all);
    /* Weights of the input's elements: 0 beyond the length, 2 for those that stand for their mirror image too (one-
     * sided inverse), and 1 / length for an inverse. */
    say(&text,
        "known = Less(rows, %lld); there = Cast <to = 1> (known); double = Mul(rows, 2); turned = Mod(double, %lld);"
        "own = Equal(turned, 0); once = Cast <to = 1> (own); twice = Sub(2.0, once); share = Mul(there, %.12f);"
        "scale = %s;",
        half && back ? all / 2 + 1 : all, all, back ? 1.0 / (double)all : 1.0,
        half && back ? "Mul(share, twice)" : "Identity(share)");
    say(&text,
        "cos0 = Cos(angle); cos1 = Mul(cos0, scale); cos2 = Unsqueeze(cos1, [1, 3]); sin0 = Sin(angle);"
        "sin1 = Mul(sin0, scale); sin2 = Unsqueeze(sin1, [1, 3]); less = Neg(sin2);"
        "first = Concat <axis = 3> (cos2, sin2); second = Concat <axis = 3> (less, cos2);"
        "both = Concat <axis = 1> (first, second); used = Slice(both, [0, 0], [%lld, %lld], [1, 3]);"
        "matrix = Reshape(used, [%lld, %lld]);",
        parts, results, size * parts, made * results);
    /* Moves the axis next to the real and imaginary parts, and back. */
    int64_t order[CNNVP_ONNX_RANK], back_order[CNNVP_ONNX_RANK], moved[CNNVP_ONNX_RANK];
    for (size_t i = 0; i < rank; ++i) {
        const size_t to = i == axis ? rank - 2 : i + 1 == rank ? i : i - (i > axis);
        order[to] = (int64_t)i;
        back_order[i] = (int64_t)to;
        moved[to] = dims[i];
    }
    say(&text, "moved = Transpose <perm = [%lld", (long long)order[0]);
    say_numbers(&text, order, 1, rank);
    say(&text, "]> (a); flat = Reshape(moved, [0");
    say_numbers(&text, moved, 1, rank - 2);
    say(&text, ", %lld]); product = MatMul(flat, matrix); apart = Reshape(product, [0", size * parts);
    say_numbers(&text, moved, 1, rank - 2);
    say(&text, ", %lld, %lld]); y = Transpose <perm = [%lld", made, results, (long long)back_order[0]);
    say_numbers(&text, back_order, 1, rank);
    say(&text, "]> (apart)");
    return rewrite(import, &text);
}

/* ---- STFT ---- */

/* Transforms all frames with one convolution. Its kernels are the cosines and sines of each frequency times the window.
 */
cnnvp_result cnnvp_operator_frames(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK], window[CNNVP_ONNX_RANK] = {0};
    int64_t step = 0, length = 0;
    size_t rank, given;
    struct cnnvp_text text = {.used = 0};
    const int bent = cnnvp_import_has(import, 2);
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(cnnvp_import_list(import, "frame_step", 1, 1, &step, &given));
    if (bent)
        CNNVP_TRY(cnnvp_import_dims_of(import, 2, &given, window));
    length = window[0];
    CNNVP_TRY(cnnvp_import_list(import, "frame_length", 3, 1, &length, &given));
    const int64_t parts = rank == 3 ? dims[2] : 1;
    if (rank < 2 || rank > 3 || parts < 1 || parts > 2 || step < 1 || step > CNNVP_ONNX_WINDOW_MAX || length < 1 ||
        length > dims[1] || length > CNNVP_ONNX_WINDOW_MAX || (bent && window[0] != length))
        return cnnvp_import_error(
            import, "frames of %lld numbers, %lld apart, with a window of %lld, of %zu dimensions with %lld parts each",
            (long long)length, (long long)step, (long long)window[0], rank, (long long)parts);
    const long long tones = cnnvp_onnx_int(import->node, "onesided", 1) != 0 ? length / 2 + 1 : length;
    say(&text,
        "place = Range(0, %lld, 1); tone = Range(0, %lld, 1); rows = Reshape(tone, [-1, 1]); each = Mul(rows, place);"
        "turn = Mod(each, %lld); real = Cast <to = 1> (turn); angle = Mul(real, %.12f); even = Cos(angle);"
        "odd = Sin(angle); less = Neg(odd); first = Concat <axis = 0> (even, less);",
        (long long)length, tones, (long long)length, 2.0 * acos(-1.0) / (double)length);
    say(&text, parts == 1 ? "all = Unsqueeze(first, [1]); line = Reshape(a, [0, 1, -1]);"
                          : "one = Unsqueeze(first, [1]); second = Concat <axis = 0> (odd, even);"
                            "other = Unsqueeze(second, [1]); all = Concat <axis = 1> (one, other);"
                            "line = Transpose <perm = [0, 2, 1]> (a);");
    say(&text, bent ? "kernels = Mul(all, c);" : "kernels = Identity(all);");
    say(&text,
        "found = Conv <strides = [%lld]> (line, kernels); apart = Reshape(found, [0, 2, %lld, -1]);"
        "y = Transpose <perm = [0, 3, 2, 1]> (apart)",
        (long long)step, tones);
    return rewrite(import, &text);
}

/* ---- MeanVarianceNormalization ---- */

/* Moves the dimensions of the statistics to the end, applies LayerNormalization, and moves them back. Dimensions with
 * one element do not matter. */
cnnvp_result cnnvp_operator_mean_variance(struct cnnvp_import *import)
{
    static const int64_t usual[] = {0, 2, 3};
    const Onnx__AttributeProto *axes = cnnvp_onnx_attribute(import->node, "axes");
    int64_t dims[CNNVP_ONNX_RANK], order[CNNVP_ONNX_RANK], back_order[CNNVP_ONNX_RANK];
    size_t rank, axis = 0, kept = 0;
    uint32_t within = 0;
    struct cnnvp_text text = {.used = 0};
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    for (size_t i = 0; i < (axes != NULL ? axes->n_ints : 3); ++i) {
        CNNVP_TRY(find_counted(import, axes != NULL ? axes->ints[i] : usual[i], rank, &axis));
        within |= (uint32_t)(dims[axis] != 1) << axis;
    }
    within = within != 0 ? within : 1u << axis;
    for (size_t i = 0; i < rank; ++i)
        kept += (within >> i & 1u) == 0;
    for (size_t i = 0, first = 0, last = kept; i < rank; ++i) {
        const size_t to = (within >> i & 1u) != 0 ? last++ : first++;
        order[to] = (int64_t)i;
        back_order[i] = (int64_t)to;
    }
    say(&text, "moved = Transpose <perm = [%lld", (long long)order[0]);
    say_numbers(&text, order, 1, rank);
    say(&text, "]> (a); done = LayerNormalization <axis = %zu, epsilon = 1.0e-18> (moved); y = Transpose <perm = [%lld",
        kept, (long long)back_order[0]);
    say_numbers(&text, back_order, 1, rank);
    say(&text, "]> (done)");
    return rewrite(import, &text);
}

/* ---- GatherND, GatherElements, ScatterND, ScatterElements ---- */

/* Checks that constant indices are within the data's first `count` dimensions. */
static cnnvp_result check_indices(struct cnnvp_import *import, size_t count, const int64_t *dims)
{
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    struct cnnvp_constant indices;
    CNNVP_TRY(cnnvp_import_value(import, 1, &value));
    if (value.constant == NULL)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_constant_need(import, 1, &indices));
    for (size_t i = 0; i < indices.count; ++i) {
        const size_t axis = i % count;
        if (!indices.whole || indices.ints[i] < -dims[axis] || indices.ints[i] >= dims[axis])
            return cnnvp_import_error(import, "index %lld is outside of the %lld elements of axis %zu",
                                      indices.whole ? (long long)indices.ints[i] : 0LL, (long long)dims[axis], axis);
    }
    return CNNVP_DONE;
}

/* Appends "whole": the indices with negative ones counted from 0. */
static cnnvp_result say_indices(struct cnnvp_import *import, struct cnnvp_text *text, size_t count, const int64_t *dims)
{
    CNNVP_TRY(check_indices(import, count, dims));
    say(text, "below = Less(b, 0); signs = Cast <to = 7> (below); back = Mul(signs, [%lld", (long long)dims[0]);
    say_numbers(text, dims, 1, count);
    say(text, "]); whole = Add(b, back);");
    return CNNVP_DONE;
}

/* The parts of the data that the indices select: the data are flattened to `count` parts, and "index" in the rule
 * numbers them. */
struct parts {
    size_t rank;
    int64_t dims[CNNVP_ONNX_RANK];
    size_t first; /* first dimension within a part */
    long long count;
};

/* GatherND, ScatterND: the last dimension of the indices covers the data's first dimensions, which are merged into
 * one. */
static cnnvp_result say_parts(struct cnnvp_import *import, struct cnnvp_text *text, struct parts *parts)
{
    int64_t indices[CNNVP_ONNX_RANK];
    size_t others = 0;
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &parts->rank, parts->dims));
    CNNVP_TRY(cnnvp_import_dims_of(import, 1, &others, indices));
    const size_t count = others != 0 && indices[others - 1] > 0 ? (size_t)indices[others - 1] : 0;
    if (cnnvp_onnx_int(import->node, "batch_dims", 0) != 0 || count < 1 || count > parts->rank)
        return cnnvp_import_error(import,
                                  "batch_dims %lld, and indices of %zu of %zu dimensions: batch_dims 0 and "
                                  "1 to all of them are supported",
                                  (long long)cnnvp_onnx_int(import->node, "batch_dims", 0), count, parts->rank);
    parts->count = 1;
    for (size_t i = 0; i < count; ++i) {
        if (parts->dims[i] != 0 && parts->count > INT32_MAX / parts->dims[i])
            return cnnvp_import_error(import, "the data have more than 2^31 elements");
        parts->count *= parts->dims[i];
    }
    if (parts->count == 0)
        return cnnvp_import_mixes(import, "indices of images");
    parts->first = count;
    CNNVP_TRY(say_indices(import, text, count, parts->dims));
    say(text, "apart = Mul(whole, [%lld", cnnvp_onnx_product(parts->dims, 1, count));
    for (size_t i = 1; i < count; ++i)
        say(text, ", %lld", cnnvp_onnx_product(parts->dims, i + 1, count));
    say(text, "]); index = ReduceSum <keepdims = 0> (apart, [-1]);");
    return CNNVP_DONE;
}

/* GatherElements, ScatterElements: the indices are positions along one axis; each keeps its own position along the
 * other dimensions. */
static cnnvp_result say_elements(struct cnnvp_import *import, struct cnnvp_text *text, struct parts *parts)
{
    int64_t indices[CNNVP_ONNX_RANK];
    size_t others, axis;
    const Onnx__TensorProto *constant;
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &parts->rank, parts->dims));
    CNNVP_TRY(cnnvp_import_dims_of(import, 1, &others, indices));
    CNNVP_TRY(cnnvp_import_constant(import, 1, &constant));
    CNNVP_TRY(cnnvp_import_axis_of(import, cnnvp_onnx_int(import->node, "axis", 0), parts->rank, &axis));
    if (parts->rank != others)
        return cnnvp_import_error(import, "indices of %zu dimensions for %zu", others, parts->rank);
    if (parts->dims[0] == 0)
        return cnnvp_import_mixes(import, "indices of images");
    parts->count = cnnvp_onnx_product(parts->dims, 0, parts->rank);
    parts->first = parts->rank;
    CNNVP_TRY(say_indices(import, text, 1, &parts->dims[axis]));
    for (size_t i = 0; i < parts->rank; ++i) {
        const size_t from = text->used;
        if (i != axis) {
            say(text, "all# = Range(0, %lld, 1);", (long long)indices[i]);
            say_along(text, "row#", "all#", parts->rank - 1 - i);
        }
        say(text, "step# = Mul(%s, %lld);", i != axis ? "row#" : "whole",
            cnnvp_onnx_product(parts->dims, i + 1, parts->rank));
        if (i == 0)
            say(text, "place# = Identity(step#);");
        else
            say(text, "place# = Add(place%zu, step#);", i - 1);
        number(text, from, i);
    }
    say(text, "index = Identity(place%zu);", parts->rank - 1);
    return CNNVP_DONE;
}

/* Kind 0: GatherND; kind 1: GatherElements. */
cnnvp_result cnnvp_operator_gathered(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    struct parts parts;
    CNNVP_TRY(import->kind ? say_elements(import, &text, &parts) : say_parts(import, &text, &parts));
    say(&text, "flat = Reshape(a, [%lld", parts.count);
    say_numbers(&text, parts.dims, parts.first, parts.rank);
    say(&text, "]); y = Gather <axis = 0> (flat, index)");
    return rewrite(import, &text);
}

/* The slice of the data's first `rank` dimensions that consecutive indices select. */
struct box {
    size_t rank; /* 0: the indices are not a slice */
    int64_t first[CNNVP_ONNX_RANK], sizes[CNNVP_ONNX_RANK];
};

static cnnvp_result find_box(struct cnnvp_import *import, const struct parts *parts, struct box *box)
{
    struct cnnvp_constant indices;
    size_t given = 0;
    *box = (struct box){.rank = 0};
    CNNVP_TRY(cnnvp_import_dims_of(import, 1, &given, box->sizes));
    CNNVP_TRY(cnnvp_constant_need(import, 1, &indices));
    const size_t rank = parts->first;
    if (given != rank + 1 || indices.count == 0)
        return CNNVP_DONE;
    for (size_t i = 0; i < indices.count; ++i) {
        const size_t axis = i % rank;
        int64_t at = (int64_t)(i / rank);
        for (size_t later = rank - 1; later > axis; --later)
            at /= box->sizes[later];
        const int64_t index = indices.ints[i] + (indices.ints[i] < 0 ? parts->dims[axis] : 0);
        if (i < rank)
            box->first[axis] = index;
        if (index != box->first[axis] + at % box->sizes[axis])
            return CNNVP_DONE;
    }
    box->rank = rank;
    return CNNVP_DONE;
}

/* Concatenates the data in front of the slice, the updates, and the data behind it, along each axis that the slice does
 * not fill. */
static void say_box(struct cnnvp_text *text, const struct parts *parts, const struct box *box)
{
    size_t axes[CNNVP_ONNX_RANK];
    size_t steps = 0;
    say(text, "part0 = Identity(a);");
    for (size_t i = 0; i < box->rank; ++i)
        if (box->sizes[i] != parts->dims[i]) {
            say(text, "part%zu = Slice(part%zu, [%lld], [%lld], [%zu]);", steps + 1, steps, (long long)box->first[i],
                (long long)box->first[i] + (long long)box->sizes[i], i);
            axes[steps++] = i;
        }
    say(text, "made%zu = Identity(c);", steps);
    for (; steps > 0; --steps) {
        const size_t i = axes[steps - 1];
        const long long first = (long long)box->first[i];
        const long long end = first + (long long)box->sizes[i];
        const long long all = (long long)parts->dims[i];
        if (first > 0)
            say(text, "low%zu = Slice(part%zu, [0], [%lld], [%zu]);", steps, steps - 1, first, i);
        if (end < all)
            say(text, "high%zu = Slice(part%zu, [%lld], [%lld], [%zu]);", steps, steps - 1, end, all, i);
        say(text, "made%zu = Concat <axis = %zu> (", steps - 1, i);
        if (first > 0)
            say(text, "low%zu, ", steps);
        say(text, "made%zu", steps);
        if (end < all)
            say(text, ", high%zu", steps);
        say(text, ");");
    }
    say(text, "y = Identity(made0)");
}

/* Kind 0: ScatterND; kind 1: ScatterElements. Each part of the result is gathered from the data followed by the
 * updates. With reduction "add" it is the data plus the sum of the updates for this part. */
cnnvp_result cnnvp_operator_scattered(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    struct parts parts;
    const Onnx__TensorProto *constant;
    const int sums = cnnvp_onnx_is(import->node, "reduction", "add");
    if (!sums && cnnvp_onnx_attribute(import->node, "reduction") != NULL &&
        !cnnvp_onnx_is(import->node, "reduction", "none"))
        return cnnvp_import_error(import, "reduction is supported as none or add only");
    CNNVP_TRY(cnnvp_import_constant(import, 1, &constant));
    CNNVP_TRY(import->kind ? say_elements(import, &text, &parts) : say_parts(import, &text, &parts));
    if (!import->kind && !sums) {
        struct box box;
        CNNVP_TRY(find_box(import, &parts, &box));
        if (box.rank != 0) {
            text.used = 0;
            say_box(&text, &parts, &box);
            return rewrite(import, &text);
        }
    }
    const long long words = cnnvp_onnx_product(parts.dims, parts.first, parts.rank);
    say(&text,
        "old = Reshape(a, [%lld, %lld]); new = Reshape(c, [-1, %lld]); places = Reshape(index, [-1]);"
        "numbers = Range(0, %lld, 1);",
        parts.count, words, words, parts.count);
    if (sums)
        say(&text, "rows = Reshape(numbers, [-1, 1]); here = Equal(rows, places); one = Cast <to = 1> (here);"
                   "more = MatMul(one, new); made = Add(old, more);");
    else
        say(&text,
            "count = Size(places); end = Add(count, %lld); others = Range(%lld, end, 1); each = Unsqueeze(places, [1]);"
            "from = ScatterND(numbers, each, others); both = Concat <axis = 0> (old, new);"
            "made = Gather <axis = 0> (both, from);",
            parts.count, parts.count);
    say(&text, "y = Reshape(made, [%lld", (long long)parts.dims[0]);
    say_numbers(&text, parts.dims, 1, parts.rank);
    say(&text, "])");
    return rewrite(import, &text);
}
