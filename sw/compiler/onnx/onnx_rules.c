/* SPDX-License-Identifier: Apache-2.0 */
/* Other operators whose rules depend on shapes. */
#include "onnx_constant.h"
#include "onnx_text.h"

/* Largest integer that is exact in a 16-bit word, whatever else the tensor holds. */
#define WHOLE_MAX 16384

/* x * slope + shift, with values for each channel. Running statistics, the further outputs, are none of a network's. */
cnnvp_result cnnvp_import_norm_apart(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK];
    size_t rank = 0;
    struct cnnvp_text text = {.used = 0};
    const int of_data = cnnvp_import_takes_statistics(import);
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    if (rank < 2)
        return cnnvp_import_error(import, "the input has %zu dimensions; 2 or more are needed", rank);
    if (of_data) {
        struct cnnvp_text others = {.used = 0};
        for (size_t i = 2; i < rank; ++i)
            say(&others, ", %zu", i);
        say(&text, "mean = ReduceMean <keepdims = 0> (a, [0%s]);", others.rule);
        say_along(&text, "centre", "mean", rank - 2);
        say(&text,
            "far = Sub(a, centre); square = Mul(far, far); variance = ReduceMean <keepdims = 0> (square, [0%s]);",
            others.rule);
    }
    say(&text, "deep = Add(%s, %.12f); root = Sqrt(deep); slope = Div(b, root);", of_data ? "variance" : "e",
        (double)cnnvp_onnx_float(import->node, "epsilon", 1e-5f));
    say(&text, "less = Mul(%s, slope); shift = Sub(c, less);", of_data ? "mean" : "d");
    say_along(&text, "each", "slope", rank - 2);
    say_along(&text, "more", "shift", rank - 2);
    say(&text, "scaled = Mul(a, each); y = Add(scaled, more)");
    const Onnx__NodeProto *node = import->node;
    Onnx__NodeProto first = *node;
    first.n_output = 1;
    import->node = &first;
    const cnnvp_result result = rewrite(import, &text);
    import->node = node;
    return result;
}

/* The mean of a channel is the mean of its parts' means, which have equal sizes. */
cnnvp_result cnnvp_import_instances_apart(struct cnnvp_import *import, int64_t parts)
{
    int64_t dims[CNNVP_ONNX_RANK];
    size_t rank = 0;
    struct cnnvp_text text = {.used = 0};
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    say(&text,
        "parts = Reshape(a, [0, %lld, %lld, -1]); some = ReduceMean <keepdims = 1> (parts, [3]);"
        "mean = ReduceMean <keepdims = 1> (some, [2]); far = Sub(parts, mean); square = Mul(far, far);"
        "wide = ReduceMean <keepdims = 1> (square, [3]); variance = ReduceMean <keepdims = 1> (wide, [2]);"
        "deep = Add(variance, %.12f); root = Sqrt(deep); even = Div(far, root); whole = Reshape(even, [0",
        (long long)dims[1], (long long)parts, (double)cnnvp_onnx_float(import->node, "epsilon", 1e-5f));
    say_numbers(&text, dims, 1, rank);
    say(&text, "]);");
    say_along(&text, "slope", "b", rank - 2);
    say_along(&text, "shift", "c", rank - 2);
    say(&text, "scaled = Mul(whole, slope); y = Add(scaled, shift)");
    return rewrite(import, &text);
}

/* Col2Im sums overlapping kernel windows. It is a transposed convolution with one kernel for each position of a window,
 * which is 1 at this position and 0 elsewhere. */
cnnvp_result cnnvp_operator_columns(struct cnnvp_import *import)
{
    enum { SIZES = 2 };
    int64_t dims[CNNVP_ONNX_RANK], image[SIZES], kernel[SIZES], dilations[SIZES] = {1, 1}, strides[SIZES] = {1, 1};
    int64_t pads[2 * SIZES] = {0};
    size_t rank = 0, counts[2] = {0};
    struct cnnvp_text text = {.used = 0};
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(cnnvp_import_list(import, "image_shape", 1, SIZES, image, &counts[0]));
    CNNVP_TRY(cnnvp_import_list(import, "block_shape", 2, SIZES, kernel, &counts[1]));
    CNNVP_TRY(cnnvp_import_ints(import, "dilations", SIZES, 1, dilations));
    CNNVP_TRY(cnnvp_import_ints(import, "strides", SIZES, 1, strides));
    CNNVP_TRY(cnnvp_import_ints(import, "pads", 2 * SIZES, 0, pads));
    int64_t steps[SIZES], rest[SIZES];
    int fits = rank == 3 && counts[0] == SIZES && counts[1] == SIZES;
    for (size_t i = 0; i < SIZES && fits; ++i)
        fits =
            image[i] > 0 && image[i] <= CNNVP_ONNX_DIMENSION_MAX && kernel[i] > 0 && kernel[i] <= CNNVP_ONNX_WINDOW_MAX;
    for (size_t i = 0; i < SIZES && fits; ++i) {
        const int64_t room = image[i] + pads[i] + pads[SIZES + i] - (dilations[i] * (kernel[i] - 1) + 1);
        fits = room >= 0;
        steps[i] = fits ? room / strides[i] + 1 : 0;
        rest[i] = fits ? room % strides[i] : 0;
    }
    const int64_t places = fits ? kernel[0] * kernel[1] : 1;
    if (!fits || dims[1] % places != 0 || dims[2] != steps[0] * steps[1])
        return cnnvp_import_error(import, "%lld x %lld columns are not those of a map of two dimensions",
                                  (long long)dims[1], (long long)dims[2]);
    const long long channels = dims[1] / places, all = places;
    say(&text,
        "number = Range(0, %lld, 1); row = Reshape(number, [-1, 1]); same = Equal(number, row); one = Cast <to = 1> "
        "(same);"
        "kernel = Reshape(one, [%lld, 1, %lld, %lld]); w = Tile(kernel, [%lld, 1, 1, 1]);"
        "maps = Reshape(a, [0, %lld, %lld, %lld]);",
        all, all, (long long)kernel[0], (long long)kernel[1], channels, (long long)dims[1], (long long)steps[0],
        (long long)steps[1]);
    say(&text,
        "y = ConvTranspose <group = %lld, strides = [%lld, %lld], dilations = [%lld, %lld],"
        "pads = [%lld, %lld, %lld, %lld], output_padding = [%lld, %lld]> (maps, w)",
        channels, (long long)strides[0], (long long)strides[1], (long long)dilations[0], (long long)dilations[1],
        (long long)pads[0], (long long)pads[1], (long long)pads[2], (long long)pads[3], (long long)rest[0],
        (long long)rest[1]);
    return rewrite(import, &text);
}

/* Looks up rows of a table: multiplies it by a matrix that is 1 where the index equals the row number. The time is that
 * of all rows, whatever the indices are. */
cnnvp_result cnnvp_import_look_up(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK] = {0}, indices[CNNVP_ONNX_RANK];
    size_t rank = 0, others = 0;
    struct cnnvp_text text = {.used = 0};
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(cnnvp_import_dims_of(import, 1, &others, indices));
    const int64_t rows = dims[0];
    const int64_t named = cnnvp_onnx_int(import->node, "axis", 0), axis = named + (named < 0 ? (int64_t)rank : 0);
    if (axis != 0 || rank < 1 || rows > WHOLE_MAX)
        return cnnvp_import_error(
            import, "indices that the network computes are for axis 0 of a constant with up to %d rows", WHOLE_MAX);
    say(&text,
        "below = Less(b, 0.0); ends = Mul(below, %lld.0); index = Add(b, ends); from = Unsqueeze(index, [-1]);"
        "number = Range(0.0, %lld.0, 1.0); here = Equal(from, number); table = Reshape(a, [%lld, -1]);",
        (long long)rows, (long long)rows, (long long)rows);
    say(&text, rank == 2 ? "y = MatMul(here, table)" : "found = MatMul(here, table); y = Reshape(found, [0");
    if (rank != 2) {
        say_numbers(&text, indices, 1, others);
        say_numbers(&text, dims, 1, rank);
        say(&text, "])");
    }
    return rewrite(import, &text);
}

/* Divides maps into blocks of `side` x `side` words and permutes dimensions. Kind 0 (DepthToSpace): channels become
 * positions of a block; kind 1 (SpaceToDepth): the reverse. */
cnnvp_result cnnvp_operator_blocks(struct cnnvp_import *import)
{
    int32_t in;
    int64_t dims[4];
    struct cnnvp_text text = {.used = 0};
    const long long side = cnnvp_onnx_int(import->node, "blocksize", 0);
    int by_channels = 0;
    CNNVP_TRY(cnnvp_import_tensor(import, 0, 4, &in));
    (void)cnnvp_import_dims(import, in, dims);
    if (side < 1 || side > CNNVP_ONNX_WINDOW_MAX)
        return cnnvp_import_error(import, "blocksize is %lld; 1 to %d is possible", side, CNNVP_ONNX_WINDOW_MAX);
    CNNVP_TRY(cnnvp_import_choice(import, "mode", "DCR, CRD", &by_channels));
    const long long channels = dims[1], rows = dims[2], columns = dims[3];
    if (!import->kind && channels % (side * side) != 0)
        return cnnvp_import_error(
            import, "%lld channels are not divided by the square of the blocksize, %lld", channels, side);
    if (import->kind && (rows % side != 0 || columns % side != 0))
        return cnnvp_import_error(
            import, "maps of %lld x %lld are not divided by the blocksize, %lld", rows, columns, side);
    if (import->kind)
        say(&text,
            "parts = Reshape(a, [0, %lld, %lld, %lld, %lld, %lld]); moved = Transpose <perm = [0, 3, 5, 1, 2, 4]>",
            channels, rows / side, side, columns / side, side);
    else
        say(&text,
            by_channels
                ? "parts = Reshape(a, [0, -1, %lld, %lld, %lld, %lld]); moved = Transpose <perm = [0, 1, 4, 2, 5, 3]>"
                : "parts = Reshape(a, [0, %lld, %lld, -1, %lld, %lld]); moved = Transpose <perm = [0, 3, 4, 1, 5, 2]>",
            side, side, rows, columns);
    say(&text, " (parts); y = Reshape(moved, [0, -1, %lld, %lld])", import->kind ? rows / side : rows * side,
        import->kind ? columns / side : columns * side);
    return rewrite(import, &text);
}

/* Repeats the tensor or constant along each axis: expands a dimension of 1 that is inserted in front of the axis. */
cnnvp_result cnnvp_operator_tile(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK], times[CNNVP_ONNX_RANK];
    size_t rank = 0, count = 0;
    struct cnnvp_text text = {.used = 0};
    const int constant = cnnvp_import_known_constant(import, import->node->input[0]) != NULL;
    const int whole = constant || import->single; /* the first dimension is like the others */
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(cnnvp_import_list(import, "repeats", 1, CNNVP_ONNX_RANK, times, &count));
    if (constant)
        CNNVP_TRY(cnnvp_constant_of_an_image(import, 1, count, times));
    if (count != rank)
        return cnnvp_import_error(import, "there are %zu repeats for %zu dimensions", count, rank);
    say(&text, "part0 = Identity(a);");
    size_t steps = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
        if (times[axis] == 1)
            continue;
        if (axis == 0 && !whole)
            return cnnvp_import_mixes(import, "images that are repeated");
        /* the view: (before, 1, axis and all after it) */
        int64_t before = 1, after = 1;
        for (size_t i = whole ? 0 : 1; i < rank; ++i)
            *(i < axis ? &before : &after) *= i < axis ? dims[i] * times[i] : dims[i];
        const char *front = whole ? "" : "0, ";
        say(&text,
            "wide%zu = Reshape <allowzero = 1> (part%zu, [%s%lld, 1, %lld]);"
            "more%zu = Expand(wide%zu, [%s1, %lld, 1]); part%zu = Reshape <allowzero = 1> (more%zu, [%s%lld]);",
            steps, steps, front, (long long)before, (long long)after, steps, steps, whole ? "" : "1, ",
            (long long)times[axis], steps + 1, steps, front, (long long)before * times[axis] * after);
        ++steps;
    }
    say(&text, "y = Reshape <allowzero = 1> (part%zu, [", steps);
    for (size_t i = 0; i < rank; ++i)
        say(&text, "%s%lld", i != 0 ? ", " : "", i == 0 && !whole ? 0LL : (long long)(dims[i] * times[i]));
    say(&text, "])");
    return rewrite(import, &text);
}

/* Kind 0: ArgMax; kind 1: ArgMin. Elements equal to the extreme are weighted with numbers that rise or fall along the
 * axis; the largest product gives the last or the first index. Kind 2 (Hardmax): 1 at the first maximum, 0
 * elsewhere. */
cnnvp_result cnnvp_operator_place_of(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK];
    size_t rank = 0;
    size_t axis;
    struct cnnvp_text text = {.used = 0};
    const int hard = import->kind == 2;
    const int flat = hard && import->onnx.opset < 13;
    const int last = cnnvp_onnx_int(import->node, "select_last_index", 0) != 0;
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(cnnvp_import_axis_of(import, cnnvp_onnx_int(import->node, "axis", flat ? 1 : -hard), rank, &axis));
    if (flat && axis + 1 != rank)
        return cnnvp_import_error(import, "before operator set 13 an axis that is not the last one is not supported");
    const long long count = dims[axis];
    if (count > WHOLE_MAX)
        return cnnvp_import_error(import, "%lld elements; up to %d are possible", count, WHOLE_MAX);
    import->integers |= !hard;
    say(&text, "top = Reduce%s <axes = [%zu], keepdims = 1> (a); here = %sOrEqual(a, top);",
        import->kind == 1 ? "Min" : "Max", axis, import->kind == 1 ? "Less" : "Greater");
    say(&text, last ? "all = Range(1.0, %lld.0, 1.0);" : "all = Range(%lld.0, 0.0, -1.0);", last ? count + 1 : count);
    say_along(&text, "number", "all", rank - 1 - axis);
    say(&text, "place = Mul(here, number); end = ReduceMax <axes = [%zu], @keepdims> (place);", axis);
    say(&text, hard ? "y = Equal(place, end)" : last ? "y = Sub(end, 1.0)" : "y = Sub(%lld.0, end)", count);
    return rewrite(import, &text);
}

/* Input b is the diagonal, 0 if absent. The last two dimensions are the matrices. */
cnnvp_result cnnvp_operator_triangle(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    const Onnx__TensorProto *constant = cnnvp_import_known_constant(import, import->node->input[0]);
    const int is_whole = constant != NULL && !cnnvp_constant_has_bytes(constant) &&
                         cnnvp_onnx_kind_of(constant->data_type) != CNNVP_KIND_REAL;
    say(&text,
        "sizes = Shape(a); rows = Gather(sizes, -2); columns = Gather(sizes, -1); row = Range(0, rows, 1);"
        "down = Unsqueeze(row, [1]); across = Range(0, columns, 1); diagonal = Clip(0, b, b);"
        "edge = Add(down, diagonal); upper = GreaterOrEqual(across, edge); lower = LessOrEqual(across, edge);"
        "kept = Where(@upper|1, upper, lower); y = Where(kept, a, %s)",
        is_whole ? "0" : "0.0");
    return rewrite(import, &text);
}

/* Adds a dimension with value `on` at the index and `off` elsewhere. Negative indices count from the end. */
cnnvp_result cnnvp_operator_one_hot(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK];
    int64_t depth = 0;
    size_t rank, count, axis;
    struct cnnvp_text text = {.used = 0};
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(cnnvp_import_list(import, "depth", 1, 1, &depth, &count));
    CNNVP_TRY(find_counted(import, cnnvp_onnx_int(import->node, "axis", -1), rank + 1, &axis));
    if (depth < 1 || depth > WHOLE_MAX)
        return cnnvp_import_error(import, "depth is %lld; 1 to %d are possible", (long long)depth, WHOLE_MAX);
    say(&text,
        "named = Cast <to = 1> (a); below = Less(named, 0.0); back = Cast <to = 1> (below); ends = Mul(back, %lld.0);"
        "index = Add(named, ends); from = Unsqueeze(index, [%zu]); all = Range(0.0, %lld.0, 1.0);",
        (long long)depth, axis, (long long)depth);
    say_along(&text, "number", "all", rank - axis);
    say(&text, "here = Equal(from, number); one = Cast <to = 1> (here); values = Cast <to = 1> (c);"
               "off = Gather(values, 0); on = Gather(values, 1); span = Sub(on, off); part = Mul(one, span);"
               "y = Add(part, off)");
    return rewrite(import, &text);
}

/* Multiplies the two halves of an axis until one element is left. */
cnnvp_result cnnvp_operator_product_of(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK], axes[CNNVP_ONNX_RANK];
    size_t rank = 0, count = 0, steps = 0;
    struct cnnvp_text text = {.used = 0};
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(cnnvp_import_list(import, "axes", 1, CNNVP_ONNX_RANK, axes, &count));
    if (count == 0 && cnnvp_onnx_int(import->node, "noop_with_empty_axes", 0) == 0)
        for (; count < rank; ++count)
            axes[count] = (int64_t)count;
    say(&text, "part0 = Identity(a);");
    for (size_t i = 0; i < count; ++i) {
        size_t axis;
        CNNVP_TRY(find_counted(import, axes[i], rank, &axis));
        for (int64_t left = dims[axis]; left > 1; left = (left + 1) / 2, ++steps)
            say(&text,
                "one%zu = Slice(part%zu, [0], [%lld], [%zu]); other%zu = Slice(part%zu, [%lld], [%lld], [%zu]);"
                "both%zu = Mul(one%zu, other%zu); rest%zu = Slice(part%zu, [%lld], [%lld], [%zu]);"
                "part%zu = Concat <axis = %zu> (both%zu, rest%zu);",
                steps, steps, (long long)left / 2, axis, steps, steps, (long long)left / 2, (long long)left / 2 * 2,
                axis, steps, steps, steps, steps, steps, (long long)left / 2 * 2, (long long)left, axis, steps + 1,
                axis, steps, steps);
    }
    say(&text, "y = ReduceMax <@axes, @noop_with_empty_axes, @keepdims> (part%zu, b)", steps);
    return rewrite(import, &text);
}

/* Kind 0: running sums; kind 1: running products. Combines elements at distance 1, 2, 4, ... until the distance covers
 * the axis. */
cnnvp_result cnnvp_operator_running(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK];
    int64_t named = 0;
    size_t rank, count, axis;
    size_t steps = 0;
    struct cnnvp_text text = {.used = 0};
    const int back = cnnvp_onnx_int(import->node, "reverse", 0) != 0;
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(cnnvp_import_list(import, "axis", 1, 1, &named, &count));
    CNNVP_TRY(find_counted(import, named, rank, &axis));
    const long long all = dims[axis];
    say(&text, "part0 = Identity(a);");
    for (long long apart = 1; apart < all; apart *= 2, ++steps)
        say(&text,
            "low%zu = Slice(part%zu, [0], [%lld], [%zu]); high%zu = Slice(part%zu, [%lld], [%lld], [%zu]);"
            "both%zu = %s(low%zu, high%zu); alone%zu = Slice(part%zu, [%lld], [%lld], [%zu]);"
            "part%zu = Concat <axis = %zu> (%s%zu, %s%zu);",
            steps, steps, all - apart, axis, steps, steps, apart, all, axis, steps, import->kind ? "Mul" : "Add", steps,
            steps, steps, steps, back ? all - apart : 0, back ? all : apart, axis, steps + 1, axis,
            back ? "both" : "alone", steps, back ? "alone" : "both", steps);
    if (cnnvp_onnx_int(import->node, "exclusive", 0) != 0)
        say(&text,
            "one = Slice(a, [0], [1], [%zu]); none = Mul(one, 0.0); begin = Add(none, %d.0);"
            "others = Slice(part%zu, [%d], [%lld], [%zu]); y = Concat <axis = %zu> (%s, %s)",
            axis, import->kind, steps, back, all - !back, axis, axis, back ? "others" : "begin",
            back ? "begin" : "others");
    else
        say(&text, "y = Identity(part%zu)", steps);
    return rewrite(import, &text);
}

/* The negative log-probability of each target's class. Kind 1 applies log-softmax first, which is also the second
 * output. */
cnnvp_result cnnvp_operator_loss(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK];
    size_t rank = 0;
    struct cnnvp_text text = {.used = 0};
    const int sums = cnnvp_onnx_is(import->node, "reduction", "sum");
    const int each = cnnvp_onnx_is(import->node, "reduction", "none");
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    if (rank < 2)
        return cnnvp_import_error(import, "its numbers have %zu dimensions; images and classes are needed", rank);
    say(&text, import->kind ? "z = LogSoftmax <axis = 1> (a);" : "z = Identity(a);");
    say(&text, "label = Cast <to = 1> (b); to = Unsqueeze(label, [1]); all = Range(0.0, %lld.0, 1.0);",
        (long long)dims[1]);
    say_along(&text, "class", "all", rank - 2);
    say(&text, "here = Equal(to, class); one = Cast <to = 1> (here);");
    if (cnnvp_import_has(import, 2))
        say_along(&text, "heavy", "c", rank - 2);
    say(&text, cnnvp_import_has(import, 2) ? "share0 = Mul(one, heavy);" : "share0 = Identity(one);");
    const int leaves = cnnvp_onnx_attribute(import->node, "ignore_index") != NULL;
    if (leaves)
        say(&text,
            "left = Equal(to, %lld.0); out = Cast <to = 1> (left); in = Sub(1.0, out); share1 = Mul(share0, in);",
            (long long)cnnvp_onnx_int(import->node, "ignore_index", 0));
    say(&text, "parts = Mul(z, share%d); sum = ReduceSum <keepdims = 0> (parts, [1]);", leaves);
    say(&text,
        each   ? "y = Neg(sum)"
        : sums ? "total = ReduceSum <keepdims = 0> (sum); y = Neg(total)"
               : "total = ReduceSum <keepdims = 0> (sum); whole = ReduceSum <keepdims = 0> (share%d);"
                 "mean = Div(total, whole); y = Neg(mean)",
        leaves);
    return rewrite(import, &text);
}

cnnvp_result cnnvp_operator_mean_of(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    if (import->node->n_input > CNNVP_RULE_INPUTS)
        return cnnvp_import_error(
            import, "it has %zu inputs; up to %d are possible", import->node->n_input, CNNVP_RULE_INPUTS);
    say(&text, "sum = Sum(");
    for (size_t i = 0; i < import->node->n_input; ++i)
        say(&text, "%s%c", i != 0 ? ", " : "", (int)('a' + (int)i));
    say(&text, "); y = Div(sum, %zu.0)", import->node->n_input);
    return rewrite(import, &text);
}

cnnvp_result cnnvp_import_by_axis(struct cnnvp_import *import, int *done)
{
    int64_t dims[CNNVP_ONNX_RANK];
    size_t rank, own;
    struct cnnvp_text text = {.used = 0};
    const Onnx__AttributeProto *named = cnnvp_onnx_attribute(import->node, "axis");
    *done = import->onnx.opset < 7 && cnnvp_onnx_int(import->node, "broadcast", 0) != 0 && named != NULL;
    if (!*done)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_dims_of(import, 1, &own, dims));
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    const int64_t axis = named->i + (named->i < 0 ? (int64_t)rank : 0);
    if (axis < 0 || own > rank || axis > (int64_t)(rank - own))
        return cnnvp_import_error(
            import, "axis %lld leaves no place for %zu dimensions among %zu", (long long)named->i, own, rank);
    const size_t wide = rank - (size_t)axis; /* dimensions from the axis on */
    say(&text, own < wide ? "second = Unsqueeze(b, [%zu" : "second = Identity(b", own);
    for (size_t i = own + 1; i < wide; ++i)
        say(&text, ", %zu", i);
    say(&text, own < wide ? "]); y = %s(a, second)" : "); y = %s(a, second)", import->node->op_type);
    return rewrite(import, &text);
}
