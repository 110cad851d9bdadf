/* SPDX-License-Identifier: Apache-2.0 */
/* Operators with a sliding window over maps or rows: Conv, MaxPool, AveragePool and global pooling. Windows may also
 * have a depth. */

#include <string.h>

#include "onnx_text.h"

cnnvp_result cnnvp_import_ints(struct cnnvp_import *import, const char *name, size_t count, int64_t low, int64_t *out)
{
    const Onnx__AttributeProto *attribute = cnnvp_onnx_attribute(import->node, name);
    if (attribute == NULL)
        return CNNVP_DONE;
    if (attribute->n_ints != count)
        return cnnvp_import_error(
            import, "attribute %s has %zu numbers; %zu are needed", name, attribute->n_ints, count);
    for (size_t i = 0; i < count; ++i) {
        out[i] = attribute->ints[i];
        if (out[i] < low || out[i] > CNNVP_ONNX_WINDOW_MAX)
            return cnnvp_import_error(import, "attribute %s holds %lld; %lld to %d is possible", name,
                                      (long long)out[i], (long long)low, CNNVP_ONNX_WINDOW_MAX);
    }
    return CNNVP_DONE;
}

/* Applies auto_pad and computes the output size of one axis. */
static cnnvp_result size_axis(struct cnnvp_import *import, struct cnnvp_import_axis *axis)
{
    int64_t reach = (axis->kernel - 1) * axis->dilation + 1;
    const Onnx__NodeProto *node = import->node;
    int auto_pad;
    CNNVP_TRY(cnnvp_import_auto_pad(import, &auto_pad));
    if (auto_pad == CNNVP_PAD_SAME_UPPER || auto_pad == CNNVP_PAD_SAME_LOWER) {
        axis->out = (axis->in + axis->stride - 1) / axis->stride;
        int64_t pad = (axis->out - 1) * axis->stride + reach - axis->in;
        pad = pad < 0 ? 0 : pad;
        axis->before = auto_pad == CNNVP_PAD_SAME_UPPER ? pad / 2 : pad - pad / 2;
        axis->after = pad - axis->before;
    } else if (auto_pad == CNNVP_PAD_VALID) {
        axis->before = axis->after = 0;
    }
    const int64_t padded = axis->in + axis->before + axis->after;
    const int ceil_mode = cnnvp_onnx_int(node, "ceil_mode", 0) != 0;
    if (ceil_mode && reach > padded && reach - padded < axis->stride && axis->dilation == 1)
        axis->kernel = reach = padded; /* the only window is cut at the padded input's end */
    const int64_t room = padded - reach;
    if (room < 0)
        return cnnvp_import_error(import, "the kernel reaches over %lld positions, the padded input has %lld",
                                  (long long)reach, (long long)padded);
    axis->out = room / axis->stride + 1;
    /* A last, partial window counts if it starts in the input or in the padding before it. */
    if (ceil_mode && room % axis->stride != 0 && axis->out * axis->stride < axis->in + axis->before) {
        ++axis->out;
        axis->partial = 1;
    }
    if (axis->out > CNNVP_ONNX_DIMENSION_MAX || axis->before > CNNVP_ONNX_WINDOW_MAX ||
        axis->after > CNNVP_ONNX_WINDOW_MAX)
        return cnnvp_import_error(import, "the padding is too large");
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_window(struct cnnvp_import *import, size_t sides, struct cnnvp_import_axis axes[3])
{
    int64_t kernel[3] = {1, 1, 1}, strides[3] = {1, 1, 1}, dilations[3] = {1, 1, 1}, pads[6] = {0};
    const size_t skip = 3 - sides;
    for (size_t i = skip; i < 3; ++i)
        kernel[i] = axes[i].kernel;
    CNNVP_TRY(cnnvp_import_ints(import, "kernel_shape", sides, 1, kernel + skip));
    CNNVP_TRY(cnnvp_import_ints(import, "strides", sides, 1, strides + skip));
    CNNVP_TRY(cnnvp_import_ints(import, "dilations", sides, 1, dilations + skip));
    CNNVP_TRY(cnnvp_import_ints(import, "pads", 2 * sides, 0, pads));
    for (size_t i = 0; i < 3; ++i) {
        if (kernel[i] == 0)
            return cnnvp_import_error(import, "attribute kernel_shape is missing");
        if (i >= skip && axes[i].kernel != 0 && axes[i].kernel != kernel[i])
            return cnnvp_import_error(import, "attribute kernel_shape says %lld, the weights have %lld",
                                      (long long)kernel[i], (long long)axes[i].kernel);
        axes[i].kernel = kernel[i];
        axes[i].stride = strides[i];
        axes[i].dilation = dilations[i];
        axes[i].out = axes[i].in;
        axes[i].before = i < skip ? 0 : pads[i - skip];
        axes[i].after = i < skip ? 0 : pads[i - skip + sides];
    }
    return CNNVP_DONE;
}

static cnnvp_result read_window(struct cnnvp_import *import, uint32_t rank, struct cnnvp_import_axis axes[3])
{
    CNNVP_TRY(cnnvp_import_window(import, rank - 2, axes));
    for (size_t i = 5 - rank; i < 3; ++i)
        CNNVP_TRY(size_axis(import, &axes[i]));
    return CNNVP_DONE;
}

static void set_window(struct cnnvp_graph_layer *layer, const struct cnnvp_import_axis *y,
                       const struct cnnvp_import_axis *x)
{
    layer->ky = (uint32_t)y->kernel;
    layer->kx = (uint32_t)x->kernel;
    layer->sy = (uint32_t)y->stride;
    layer->sx = (uint32_t)x->stride;
    layer->dy = (uint32_t)y->dilation;
    layer->dx = (uint32_t)x->dilation;
    layer->pad_top = (uint32_t)y->before;
    layer->pad_bottom = (uint32_t)y->after;
    layer->pad_left = (uint32_t)x->before;
    layer->pad_right = (uint32_t)x->after;
}

static cnnvp_result check_weights(struct cnnvp_import *import, const Onnx__TensorProto *weights, uint32_t rank,
                                  int64_t channels, int64_t group, int64_t d[4])
{
    const char *name = weights->name != NULL ? weights->name : "";
    if (weights->n_dims != rank)
        return cnnvp_import_error(
            import, "weights \"%s\" have %zu dimensions; %u are needed, as the input has", name, weights->n_dims, rank);
    d[0] = weights->dims[0];
    d[1] = weights->dims[1];
    d[2] = rank == 4 ? weights->dims[2] : 1;
    d[3] = weights->dims[rank - 1];
    for (size_t i = 0; i < 4; ++i)
        if (d[i] < 1 || d[i] > (i < 2 ? CNNVP_ONNX_DIMENSION_MAX : CNNVP_ONNX_WINDOW_MAX))
            return cnnvp_import_error(import, "weights \"%s\": dimension %zu is %lld", name, i, (long long)d[i]);
    if (group < 1 || channels % group != 0 || d[0] % group != 0)
        return cnnvp_import_error(import, "%lld groups do not divide %lld input and %lld output channels",
                                  (long long)group, (long long)channels, (long long)d[0]);
    if (d[1] != channels / group)
        return cnnvp_import_error(
            import,
            "weights \"%s\" have shape (%lld, %lld, %lld, %lld); with %lld input channels "
            "in %lld groups the second number must be %lld",
            name, (long long)d[0], (long long)d[1], (long long)d[2], (long long)d[3], (long long)channels,
            (long long)group, (long long)(channels / group));
    return CNNVP_DONE;
}

/* Reads input 0, which must have 3 to `most` dimensions. */
static cnnvp_result window_input(struct cnnvp_import *import, uint32_t most, int32_t *in)
{
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, in));
    const uint32_t rank = import->graph->tensors[*in].rank;
    if (rank < 3 || rank > most)
        return cnnvp_import_error(import, "input \"%s\" has %u dimensions; (N, C, H, W) or (N, C, W)%s is needed",
                                  import->node->input[0], rank, most > 4 ? " or (N, C, D, H, W)" : "");
    return CNNVP_DONE;
}

/* Adds the layer of a Conv without weights and bias. */
static cnnvp_result add_conv(struct cnnvp_import *import, int32_t in, const Onnx__TensorProto *weights,
                             struct cnnvp_graph_layer **layer)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    const int64_t group = cnnvp_onnx_int(import->node, "group", 1);
    int64_t d[4];
    if (input.rank < 3)
        return cnnvp_import_error(
            import, "input \"%s\" has 2 dimensions; (N, C, H, W) or (N, C, W) is needed", import->node->input[0]);
    CNNVP_TRY(check_weights(import, weights, input.rank, input.channels, group, d));
    struct cnnvp_import_axis axes[3] = {
        {.in = 1}, {.in = input.height, .kernel = d[2]}, {.in = input.width, .kernel = d[3]}};
    CNNVP_TRY(read_window(import, input.rank, axes));
    CNNVP_TRY(cnnvp_import_layer(
        import, CNNVP_OP_CONV, in, 0, (uint32_t)d[0], (uint32_t)axes[1].out, (uint32_t)axes[2].out, layer));
    set_window(*layer, &axes[1], &axes[2]);
    (*layer)->groups = (uint32_t)group;
    (*layer)->depthwise = group > 1 && group == input.channels && d[0] == group;
    return CNNVP_DONE;
}

int cnnvp_import_has_computed_weights(const struct cnnvp_import *import)
{
    return strcmp(import->node->op_type, "Conv") == 0 && cnnvp_import_has(import, 1) &&
           cnnvp_import_known_tensor(import, import->node->input[1]) != CNNVP_GRAPH_NONE;
}

/* Copies of the padded input, one for each tap, become the lines of a matrix. */
static void say_columns(struct cnnvp_text *text, const struct cnnvp_import_axis *y, const struct cnnvp_import_axis *x)
{
    say(text, "padded = Pad(a, [0, 0, %lld, %lld, 0, 0, %lld, %lld]);", (long long)y->before, (long long)x->before,
        (long long)y->after, (long long)x->after);
    for (int64_t i = 0; i < y->kernel; ++i)
        for (int64_t j = 0; j < x->kernel; ++j) {
            const int64_t row = i * y->dilation, column = j * x->dilation;
            const int64_t bottom = row + (y->out - 1) * y->stride + 1, right = column + (x->out - 1) * x->stride + 1;
            say(text, "s%lldx%lld = Slice(padded, [%lld, %lld], [%lld, %lld], [2, 3], [%lld, %lld]);", (long long)i,
                (long long)j, (long long)row, (long long)column, (long long)bottom, (long long)right,
                (long long)y->stride, (long long)x->stride);
        }
    for (int64_t i = 0; i < y->kernel; ++i) {
        say(text, "r%lld = Concat <axis = 2> (", (long long)i);
        for (int64_t j = 0; j < x->kernel; ++j)
            say(text, "%ss%lldx%lld", j != 0 ? ", " : "", (long long)i, (long long)j);
        say(text, ");");
    }
    say(text, "taps = Concat <axis = 2> (");
    for (int64_t i = 0; i < y->kernel; ++i)
        say(text, "%sr%lld", i != 0 ? ", " : "", (long long)i);
    say(text, ");");
}

cnnvp_result cnnvp_import_convolve(struct cnnvp_import *import)
{
    size_t rank = 0, of_weights = 0;
    int64_t dims[CNNVP_ONNX_RANK], d[CNNVP_ONNX_RANK];
    struct cnnvp_text text = {.used = 0};
    const int64_t groups = cnnvp_onnx_int(import->node, "group", 1);
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(cnnvp_import_dims_of(import, 1, &of_weights, d));
    if (rank != 4 || of_weights != 4)
        return cnnvp_import_error(
            import,
            "weights that the network computes, with %zu dimensions, for an input with %zu; 4 and "
            "4 are possible",
            of_weights, rank);
    if (groups < 1 || d[0] % groups != 0 || d[1] * groups != dims[1])
        return cnnvp_import_error(import, "%lld groups, and weights for %lld of %lld channels each", (long long)groups,
                                  (long long)d[1], (long long)dims[1]);
    struct cnnvp_import_axis axes[3] = {{.in = 1}, {.in = dims[2], .kernel = d[2]}, {.in = dims[3], .kernel = d[3]}};
    CNNVP_TRY(read_window(import, 4, axes));
    const int64_t depth = d[1] * axes[1].kernel * axes[2].kernel, places = axes[1].out * axes[2].out;
    say_columns(&text, &axes[1], &axes[2]);
    say(&text, "lines = Reshape(taps, [%lld, %lld, %lld, %lld]);", (long long)dims[0], (long long)groups,
        (long long)depth, (long long)places);
    say(&text, "kernels = Reshape(b, [1, %lld, %lld, %lld]); sums = MatMul(kernels, lines);", (long long)groups,
        (long long)(d[0] / groups), (long long)depth);
    const int has_bias = cnnvp_import_has(import, 2);
    say(&text, "%s = Reshape(sums, [%lld, %lld, %lld, %lld]);", has_bias ? "maps" : "y", (long long)dims[0],
        (long long)d[0], (long long)axes[1].out, (long long)axes[2].out);
    if (has_bias)
        say(&text, "offset = Reshape(c, [1, -1, 1, 1]); y = Add(maps, offset)");
    return rewrite(import, &text);
}

/* A convolution over depth (z), rows and columns. */
struct volume {
    const int64_t *weights; /* dimensions: (M, C / groups, D, H, W) */
    struct cnnvp_import_axis z, y, x;
    int64_t groups;
    const char *bias; /* last input of the convolution that has it */
};

/* 1: the window passes on what is there. */
static int is_trivial(const struct cnnvp_import_axis *axis)
{
    return axis->kernel == 1 && axis->stride == 1 && axis->before == 0 && axis->after == 0;
}

/* A window with a depth alone: planes are the rows of a map. */
static void say_depth_alone(struct cnnvp_text *text, const struct volume *volume)
{
    const struct cnnvp_import_axis *z = &volume->z;
    say(text, "map = Reshape(a, [0, 0, %lld, -1]); kernel = Reshape(b, [0, 0, %lld, 1]);", (long long)z->in,
        (long long)z->kernel);
    say(text,
        "made = Conv <@group, strides = [%lld, 1], dilations = [%lld, 1], pads = [%lld, 0, %lld, 0]> (map, kernel%s);",
        (long long)z->stride, (long long)z->dilation, (long long)z->before, (long long)z->after, volume->bias);
}

/* Each tap of the depth has a map of the planes that it sees, padded, one below the other; their rows are a multiple of
 * the stride. */
static void say_maps(struct cnnvp_text *text, const struct volume *volume)
{
    const struct cnnvp_import_axis *z = &volume->z, *y = &volume->y;
    const int64_t pitch = (y->before + y->in + y->after + y->stride - 1) / y->stride * y->stride;
    say(text, "padded = Pad(a, [0, 0, %lld, %lld, 0, 0, 0, %lld, %lld, 0]);", (long long)z->before,
        (long long)y->before, (long long)z->after, (long long)(pitch - y->before - y->in));
    say(text, "rows = Reshape(padded, [0, 0, -1, %lld]);", (long long)volume->x.in);
    for (int64_t k = 0; k < z->kernel; ++k) {
        const int64_t first = k * z->dilation, end = first + (z->out - 1) * z->stride + 1;
        const int64_t row = first * pitch, below = end * pitch;
        if (z->stride == 1)
            say(text, "map%lld = Slice(rows, [%lld], [%lld], [2]);", (long long)k, (long long)row, (long long)below);
        else
            say(text,
                "seen%lld = Slice(padded, [%lld], [%lld], [2], [%lld]);"
                "map%lld = Reshape(seen%lld, [0, 0, -1, %lld]);",
                (long long)k, (long long)first, (long long)end, (long long)z->stride, (long long)k, (long long)k,
                (long long)volume->x.in);
    }
}

/* Appends "OUT = OPERATOR(NAME0, NAME1, ...);" */
static void say_taps(struct cnnvp_text *text, const char *begin, const char *name, int64_t taps)
{
    for (int64_t k = 0; k < taps; ++k)
        say(text, "%s%s%lld", k == 0 ? begin : ", ", name, (long long)k);
    say(text, ");");
}

/* One convolution takes the channels of all taps. With groups, whose channels would not lie together, each tap has a
 * convolution. */
static void say_planes(struct cnnvp_text *text, const struct volume *volume)
{
    const struct cnnvp_import_axis *y = &volume->y, *x = &volume->x;
    const int64_t reach = (y->kernel - 1) * y->dilation + 1, below = reach > y->stride ? reach - y->stride : 0;
    char attributes[200];
    (void)snprintf(attributes, sizeof attributes,
                   "<@group, strides = [%lld, %lld], dilations = [%lld, %lld], pads = [0, %lld, %lld, %lld]>",
                   (long long)y->stride, (long long)x->stride, (long long)y->dilation, (long long)x->dilation,
                   (long long)x->before, (long long)below, (long long)x->after);
    say_maps(text, volume);
    if (volume->groups == 1) {
        say_taps(text, "map = Concat <axis = 1> (", "map", volume->z.kernel);
        say(text,
            "turned = Transpose <perm = [0, 2, 1, 3, 4]> (b); kernel = Reshape(turned, [0, -1, %lld, %lld]);"
            "made = Conv %s (map, kernel%s);",
            (long long)y->kernel, (long long)x->kernel, attributes, volume->bias);
        return;
    }
    for (int64_t k = 0; k < volume->z.kernel; ++k)
        say(text,
            "part%lld = Slice(b, [%lld], [%lld], [2]); kernel%lld = Squeeze(part%lld, [2]);"
            "sum%lld = Conv %s (map%lld, kernel%lld%s);",
            (long long)k, (long long)k, (long long)k + 1, (long long)k, (long long)k, (long long)k, attributes,
            (long long)k, (long long)k, k == 0 ? volume->bias : "");
    say_taps(text, "made = Sum(", "sum", volume->z.kernel);
}

static cnnvp_result convolve_volume(struct cnnvp_import *import, const Onnx__TensorProto *weights)
{
    struct cnnvp_text text = {.used = 0};
    size_t rank;
    int64_t dims[CNNVP_ONNX_RANK], maps[4];
    const int64_t *d = weights->dims;
    struct volume volume = {.weights = d,
                            .groups = cnnvp_onnx_int(import->node, "group", 1),
                            .bias = cnnvp_import_has(import, 2) ? ", c" : ""};
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    if (weights->n_dims != 5 || d[2] < 1 || d[2] > CNNVP_ONNX_WINDOW_MAX)
        return cnnvp_import_error(
            import, "weights for (N, C, D, H, W) have 5 dimensions, the third one from 1 to %d", CNNVP_ONNX_WINDOW_MAX);
    const Onnx__TensorProto plane = {.name = weights->name, .n_dims = 4, .dims = (int64_t[]){d[0], d[1], d[3], d[4]}};
    CNNVP_TRY(check_weights(import, &plane, 4, dims[1], volume.groups, maps));
    struct cnnvp_import_axis axes[3] = {
        {.in = dims[2], .kernel = d[2]}, {.in = dims[3], .kernel = d[3]}, {.in = dims[4], .kernel = d[4]}};
    CNNVP_TRY(read_window(import, 5, axes));
    volume.z = axes[0];
    volume.y = axes[1];
    volume.x = axes[2];
    const int is_alone = is_trivial(&axes[1]) && is_trivial(&axes[2]);
    (is_alone ? say_depth_alone : say_planes)(&text, &volume);
    say(&text, "all = Reshape(made, [0, 0, %lld, -1, %lld]); y = Slice(all, [0], [%lld], [3])", (long long)axes[0].out,
        (long long)axes[2].out, (long long)axes[1].out);
    if ((!is_alone && volume.z.kernel > CNNVP_RULE_INPUTS) || text.used >= sizeof text.rule)
        return cnnvp_import_error(
            import,
            "a kernel with a depth of %lld becomes too many nodes; up to %d are possible with one "
            "group, fewer with more",
            (long long)volume.z.kernel, CNNVP_RULE_INPUTS);
    return rewrite(import, &text);
}

cnnvp_result cnnvp_operator_conv(struct cnnvp_import *import)
{
    int32_t in;
    const Onnx__TensorProto *weights;
    const Onnx__TensorProto *bias = NULL;
    struct cnnvp_graph_layer *layer;
    if (cnnvp_import_has_computed_weights(import))
        return cnnvp_import_mixes(import, "weights that the network computes, whose first dimension is no batch,");
    CNNVP_TRY(window_input(import, 5, &in));
    CNNVP_TRY(cnnvp_import_constant(import, 1, &weights));
    if (import->graph->tensors[in].rank == 5)
        return convolve_volume(import, weights);
    if (cnnvp_import_has(import, 2))
        CNNVP_TRY(cnnvp_import_constant(import, 2, &bias));
    CNNVP_TRY(add_conv(import, in, weights, &layer));
    CNNVP_TRY(cnnvp_import_floats(import, weights, cnnvp_onnx_elements(weights), &layer->weights));
    cnnvp_import_origin(import, CNNVP_GRAPH_WEIGHTS, 1);
    cnnvp_import_steps(import, layer, 1, 0, bias != NULL ? 2 : SIZE_MAX);
    if (bias == NULL)
        return CNNVP_DONE;
    layer->has_bias = 1;
    cnnvp_import_origin(import, CNNVP_GRAPH_BIAS, 2);
    return cnnvp_import_floats(import, bias, import->graph->tensors[layer->out].channels, &layer->bias);
}

/* Pools over rows and columns of `in`, as the node's output or (`inner`) as an intermediate result. */
static cnnvp_result add_pool(struct cnnvp_import *import, int32_t in, const struct cnnvp_import_axis *y,
                             const struct cnnvp_import_axis *x, int inner, int32_t *out)
{
    struct cnnvp_graph_layer *layer;
    const uint32_t channels = import->graph->tensors[in].channels;
    CNNVP_TRY(
        cnnvp_import_layer(import, CNNVP_OP_POOL, in, inner, channels, (uint32_t)y->out, (uint32_t)x->out, &layer));
    *out = layer->out;
    set_window(layer, y, x);
    layer->pool = (enum cnnvp_layer_pool_kind)import->kind;
    /* count_include_pad decides whether padding counts in an average. Positions that ceil_mode adds after the padding
     * never count. */
    const int padded = y->before != 0 || y->after != 0 || x->before != 0 || x->after != 0;
    const int included = cnnvp_onnx_int(import->node, "count_include_pad", 0) != 0;
    if (layer->pool == CNNVP_POOL_AVERAGE && (y->partial || x->partial || (padded && !included))) {
        layer->by_position = 1;
        layer->count_top = included ? -(int32_t)y->before : 0;
        layer->count_left = included ? -(int32_t)x->before : 0;
        layer->count_bottom = (int32_t)(y->in + (included ? y->after : 0));
        layer->count_right = (int32_t)(x->in + (included ? x->after : 0));
    }
    return CNNVP_DONE;
}

/* Pools rows and columns of each map first, then each position along the depth. */
static cnnvp_result add_deep_pool(struct cnnvp_import *import, int32_t in, const struct cnnvp_import_axis axes[3])
{
    static const struct cnnvp_import_axis position = {.in = 1, .kernel = 1, .stride = 1, .dilation = 1, .out = 1};
    int64_t dims[CNNVP_ONNX_RANK];
    const char *name = import->graph->tensors[in].name;
    (void)cnnvp_import_all_dims(import, in, dims);
    const int64_t maps[4] = {dims[0], dims[1] * dims[2], dims[3], dims[4]};
    const int64_t depths[4] = {dims[0], dims[1], dims[2], axes[1].out * axes[2].out};
    struct cnnvp_import_axis along = position;
    along.in = along.out = depths[3];
    CNNVP_TRY(cnnvp_import_shaped(import, name, in, 4, maps, &in));
    CNNVP_TRY(add_pool(import, in, &axes[1], &axes[2], 1, &in));
    CNNVP_TRY(cnnvp_import_shaped(import, name, in, 4, depths, &in));
    CNNVP_TRY(add_pool(import, in, &axes[0], &along, 1, &in));
    for (size_t i = 0; i < 3; ++i)
        dims[i + 2] = axes[i].out;
    return cnnvp_import_view(import, in, 5, dims);
}

cnnvp_result cnnvp_operator_pool(struct cnnvp_import *import)
{
    int32_t in;
    CNNVP_TRY(window_input(import, 5, &in));
    if (import->node->n_output > 1 && cnnvp_import_readers(import, import->node->output[1]) != 0)
        return cnnvp_import_error(import, "the indices of the maxima are not computed; only the first output is");
    int64_t dims[CNNVP_ONNX_RANK];
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    (void)cnnvp_import_all_dims(import, in, dims);
    struct cnnvp_import_axis axes[3] = {
        {.in = input.rank == 5 ? dims[2] : 1}, {.in = input.rank == 5 ? dims[3] : input.height}, {.in = input.width}};
    CNNVP_TRY(read_window(import, input.rank, axes));
    for (size_t i = 0; i < 3; ++i) {
        const int64_t reach = (axes[i].kernel - 1) * axes[i].dilation + 1;
        if (import->kind == CNNVP_POOL_AVERAGE && axes[i].dilation != 1)
            return cnnvp_import_error(import, "average pooling with dilation is not supported");
        if (axes[i].before >= reach || axes[i].after >= reach)
            return cnnvp_import_error(import, "the padding is as large as the window");
    }
    return input.rank == 5 ? add_deep_pool(import, in, axes) : add_pool(import, in, &axes[1], &axes[2], 0, &in);
}

cnnvp_result cnnvp_operator_global(struct cnnvp_import *import)
{
    int32_t in;
    int64_t dims[CNNVP_ONNX_RANK];
    CNNVP_TRY(window_input(import, CNNVP_ONNX_RANK, &in));
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    if (input.height > CNNVP_ONNX_WINDOW_MAX || input.width > CNNVP_ONNX_WINDOW_MAX)
        return cnnvp_import_error(import, "maps of %u x %u are too large to pool at once", input.height, input.width);
    const struct cnnvp_import_axis y = {input.height, input.height, 1, 1, 0, 0, 1, 0, 0};
    const struct cnnvp_import_axis x = {input.width, input.width, 1, 1, 0, 0, 1, 0, 0};
    cnnvp_result result = add_pool(import, in, &y, &x, input.rank > 4, &in);
    if (result != CNNVP_DONE || input.rank <= 4)
        return result;
    for (size_t i = 2; i < CNNVP_ONNX_RANK; ++i)
        dims[i] = 1;
    dims[1] = input.channels;
    return cnnvp_import_view(import, in, input.rank, dims);
}
