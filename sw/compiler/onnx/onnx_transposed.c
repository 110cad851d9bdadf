/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ConvTranspose. With stride s, rows (columns) s q + r of the result, for a fixed r, are an ordinary convolution of the
 * input with every s-th row of the reversed kernel: the taps k for which r + pad - k dilation = s o with an integer o;
 * they read row q + o. The layer thus becomes one convolution for each pair of such phases, without wasted
 * multiplications, and copies that interleave their results. With stride 1 it is a single convolution.
 */

#include "onnx_node.h"

/* Most convolutions for one node. */
#define PHASES_MAX 1024

/* The taps of a phase: tap i is first + i step and reads row q + at + (taps - 1 - i) dilation. */
struct phase {
    int64_t first, step, taps; /* taps 0: the phase has none */
    int64_t at, dilation;
};

struct transposed {
    int32_t in;
    uint32_t rank;
    int64_t groups, inputs, outputs; /* channels; `outputs` counts one group's */
    struct cnnvp_import_axis y, x;
    float *weights; /* [inputs][outputs][ky][kx]; NULL if the graph is weightless */
    float *bias;    /* NULL: none */
};

static const struct phase no_taps = {.step = 1, .dilation = 1};

static struct phase find_phase(const struct cnnvp_import_axis *axis, int64_t number)
{
    struct phase phase = no_taps;
    const int64_t shift = number + axis->before;
    for (int64_t k = 0; k < axis->kernel; ++k) {
        if ((shift - k * axis->dilation) % axis->stride != 0)
            continue;
        if (phase.taps == 0)
            phase.first = k;
        else if (phase.taps == 1)
            phase.step = k - phase.first;
        phase.at = (shift - k * axis->dilation) / axis->stride;
        ++phase.taps;
    }
    if (phase.taps > 1)
        phase.dilation = phase.step * axis->dilation / axis->stride;
    /* Taps that read only padding do not count. */
    const int64_t last = phase.at + (phase.taps - 1) * phase.dilation + (axis->out - 1) / axis->stride;
    return phase.at < axis->in && last >= 0 ? phase : no_taps;
}

/* The part of the input that a phase reads, and the zeros around it. */
struct reach {
    int64_t first, count; /* rows of the input */
    int64_t before, after;
};

static struct reach find_reach(const struct cnnvp_import_axis *axis, const struct phase *phase)
{
    const int64_t rows = (axis->out + axis->stride - 1) / axis->stride;
    const int64_t taps = phase->taps > 0 ? phase->taps : 1;
    const int64_t end = rows + phase->at + (taps - 1) * phase->dilation;
    struct reach reach = {.before = phase->at < 0 ? -phase->at : 0, .after = end > axis->in ? end - axis->in : 0};
    reach.first = phase->at > 0 ? phase->at : 0;
    reach.count = (end < axis->in ? end : axis->in) - reach.first;
    return reach;
}

/* ---- attributes ---- */

/* The size of the result without pads. */
static int64_t full_size(const struct cnnvp_import_axis *axis)
{
    return axis->stride * (axis->in - 1) + axis->extra + (axis->kernel - 1) * axis->dilation + 1;
}

/* Sets the pads for a result of size `out`. A result larger than the full size gets more positions at the end. */
static void pad_for(struct cnnvp_import_axis *axis, int64_t out, int upper)
{
    const int64_t total = full_size(axis) - out;
    axis->before = total < 0 ? 0 : upper ? total / 2 : total - total / 2;
    axis->after = total - axis->before;
}

static cnnvp_result size_axis(struct cnnvp_import *import, struct cnnvp_import_axis *axis, int64_t asked)
{
    int auto_pad;
    CNNVP_TRY(cnnvp_import_auto_pad(import, &auto_pad));
    if (asked != 0 || auto_pad == CNNVP_PAD_SAME_UPPER || auto_pad == CNNVP_PAD_SAME_LOWER)
        pad_for(axis, asked != 0 ? asked : axis->in * axis->stride, auto_pad == CNNVP_PAD_SAME_UPPER);
    else if (auto_pad == CNNVP_PAD_VALID)
        axis->before = axis->after = 0;
    axis->out = full_size(axis) - axis->before - axis->after;
    if (axis->out < 1 || axis->out > CNNVP_ONNX_DIMENSION_MAX)
        return cnnvp_import_error(import, "the result has %lld rows or columns; 1 to %d are possible",
                                  (long long)axis->out, CNNVP_ONNX_DIMENSION_MAX);
    return CNNVP_DONE;
}

/* Reads the attributes for the last one or two dimensions. With one, rows have a single position. */
static cnnvp_result read_axes(struct cnnvp_import *import, struct transposed *made)
{
    const size_t sides = made->rank - 2, skip = 2 - sides;
    int64_t extra[2] = {0, 0}, asked[2] = {0, 0};
    struct cnnvp_import_axis axes[3] = {{.in = 1}, made->y, made->x};
    CNNVP_TRY(cnnvp_import_window(import, sides, axes));
    CNNVP_TRY(cnnvp_import_ints(import, "output_padding", sides, 0, extra + skip));
    CNNVP_TRY(cnnvp_import_ints(import, "output_shape", sides, 1, asked + skip));
    for (size_t i = skip; i < 2; ++i) {
        axes[i + 1].extra = extra[i];
        CNNVP_TRY(size_axis(import, &axes[i + 1], asked[i]));
    }
    made->y = axes[1];
    made->x = axes[2];
    if (made->y.stride * made->x.stride > PHASES_MAX)
        return cnnvp_import_error(import, "strides of %lld x %lld are too large; their product may be up to %d",
                                  (long long)made->y.stride, (long long)made->x.stride, PHASES_MAX);
    return CNNVP_DONE;
}

static cnnvp_result check_weights(struct cnnvp_import *import, const Onnx__TensorProto *weights,
                                  struct transposed *made)
{
    const char *name = weights->name != NULL ? weights->name : "";
    if (weights->n_dims != made->rank || cnnvp_onnx_elements(weights) == 0)
        return cnnvp_import_error(import,
                                  "weights \"%s\" have %zu dimensions; %u are needed, as the input has, and no "
                                  "more than 2^31 elements",
                                  name, weights->n_dims, made->rank);
    made->groups = cnnvp_onnx_int(import->node, "group", 1);
    if (weights->dims[0] != made->inputs || made->groups < 1 || made->inputs % made->groups != 0)
        return cnnvp_import_error(import,
                                  "weights \"%s\" are for %lld input channels in %lld groups; the input has "
                                  "%lld, which the groups have to divide",
                                  name, (long long)weights->dims[0], (long long)made->groups, (long long)made->inputs);
    made->outputs = weights->dims[1];
    made->y.kernel = made->rank == 4 ? weights->dims[2] : 1;
    made->x.kernel = weights->dims[made->rank - 1];
    if (made->outputs * made->groups > CNNVP_ONNX_DIMENSION_MAX || made->y.kernel > CNNVP_ONNX_WINDOW_MAX ||
        made->x.kernel > CNNVP_ONNX_WINDOW_MAX)
        return cnnvp_import_error(import, "weights \"%s\" are too large", name);
    return CNNVP_DONE;
}

/* ---- convolutions ---- */

/* Weights [output][input of the group][y][x] of one pair of phases. If it has no taps: zeros for one input channel. */
static cnnvp_result phase_weights(struct cnnvp_import *import, const struct transposed *made, const struct phase *y,
                                  const struct phase *x, struct cnnvp_graph_layer *layer)
{
    const int64_t inputs = y->taps > 0 ? made->inputs / made->groups : 1;
    const int64_t outputs = made->outputs * made->groups;
    const size_t taps = (size_t)layer->ky * layer->kx;
    if (made->weights == NULL)
        return CNNVP_DONE;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, (size_t)(outputs * inputs) * taps, &layer->weights));
    float *to = layer->weights;
    for (int64_t out = 0; out < outputs; ++out)
        for (int64_t in = 0; in < inputs; ++in, to += taps) {
            const int64_t from = out / made->outputs * inputs + in;
            const int64_t plane = (from * made->outputs + out % made->outputs) * made->y.kernel;
            for (int64_t v = 0; v < y->taps; ++v)
                for (int64_t u = 0; u < x->taps; ++u)
                    to[(y->taps - 1 - v) * layer->kx + x->taps - 1 - u] =
                        made->weights[(plane + y->first + v * y->step) * made->x.kernel + x->first + u * x->step];
        }
    return CNNVP_DONE;
}

/* Adds the convolution of one pair of phases. If a phase has no taps, only the bias remains: one input channel is
 * multiplied by zero weights. */
static cnnvp_result add_phase(struct cnnvp_import *import, const struct transposed *made, int64_t row, int64_t column,
                              int32_t *out)
{
    struct phase y = find_phase(&made->y, row), x = find_phase(&made->x, column);
    const int empty = y.taps == 0 || x.taps == 0;
    y = empty ? no_taps : y;
    x = empty ? no_taps : x;
    const struct reach rows = find_reach(&made->y, &y), columns = find_reach(&made->x, &x);
    const uint32_t height = (uint32_t)((made->y.out + made->y.stride - 1) / made->y.stride);
    const uint32_t width = (uint32_t)((made->x.out + made->x.stride - 1) / made->x.stride);
    struct cnnvp_graph_layer *layer;
    int32_t in = made->in;
    if (rows.count < 1 || columns.count < 1 || rows.before > CNNVP_ONNX_WINDOW_MAX ||
        rows.after > CNNVP_ONNX_WINDOW_MAX || columns.before > CNNVP_ONNX_WINDOW_MAX ||
        columns.after > CNNVP_ONNX_WINDOW_MAX)
        return cnnvp_import_error(import, "the padding is too large for the input and the kernel");
    CNNVP_TRY(cnnvp_import_cut(import, in, made->rank - 1, columns.first, columns.count, &in));
    if (made->rank == 4)
        CNNVP_TRY(cnnvp_import_cut(import, in, 2, rows.first, rows.count, &in));
    if (empty)
        CNNVP_TRY(cnnvp_import_cut(import, in, 1, 0, 1, &in));
    CNNVP_TRY(cnnvp_import_layer(
        import, CNNVP_OP_CONV, in, 1, (uint32_t)(made->outputs * made->groups), height, width, &layer));
    layer->ky = empty ? 1 : (uint32_t)y.taps;
    layer->kx = empty ? 1 : (uint32_t)x.taps;
    layer->dy = (uint32_t)y.dilation;
    layer->dx = (uint32_t)x.dilation;
    layer->pad_top = (uint32_t)rows.before;
    layer->pad_bottom = (uint32_t)rows.after;
    layer->pad_left = (uint32_t)columns.before;
    layer->pad_right = (uint32_t)columns.after;
    layer->groups = empty ? 1 : (uint32_t)made->groups;
    layer->depthwise = !empty && made->groups > 1 && made->groups == made->inputs && made->outputs == 1;
    layer->has_bias = cnnvp_import_has(import, 2) != 0;
    layer->bias = made->bias;
    *out = layer->out;
    return phase_weights(import, made, &y, &x, layer);
}

static cnnvp_result add_phases(struct cnnvp_import *import, const struct transposed *made, int32_t *out)
{
    int32_t rows[PHASES_MAX], columns[PHASES_MAX];
    const size_t row_count = (size_t)made->y.stride, column_count = (size_t)made->x.stride;
    for (size_t y = 0; y < row_count; ++y) {
        for (size_t x = 0; x < column_count; ++x)
            CNNVP_TRY(add_phase(import, made, (int64_t)y, (int64_t)x, &columns[x]));
        CNNVP_TRY(cnnvp_import_weave(import, columns, column_count, made->rank - 1, &rows[y]));
    }
    CNNVP_TRY(cnnvp_import_weave(import, rows, row_count, 2, out));
    CNNVP_TRY(cnnvp_import_cut(import, *out, made->rank - 1, 0, made->x.out, out));
    return made->rank == 4 ? cnnvp_import_cut(import, *out, 2, 0, made->y.out, out) : CNNVP_DONE;
}

cnnvp_result cnnvp_operator_conv_transpose(struct cnnvp_import *import)
{
    struct transposed made = {.groups = 1};
    const Onnx__TensorProto *weights = NULL, *bias = NULL;
    CNNVP_TRY(cnnvp_import_tensor(import, 0, 0, &made.in));
    const struct cnnvp_graph_tensor input = import->graph->tensors[made.in];
    made.rank = input.rank;
    made.inputs = input.channels;
    made.y = (struct cnnvp_import_axis){.in = input.height, .stride = 1, .dilation = 1, .out = 1};
    made.x = (struct cnnvp_import_axis){.in = input.width};
    if (made.rank < 3)
        return cnnvp_import_error(
            import, "input \"%s\" has 2 dimensions; (N, C, H, W) or (N, C, W) is needed", import->node->input[0]);
    CNNVP_TRY(cnnvp_import_constant(import, 1, &weights));
    CNNVP_TRY(check_weights(import, weights, &made));
    CNNVP_TRY(read_axes(import, &made));
    CNNVP_TRY(cnnvp_import_floats(import, weights, cnnvp_onnx_elements(weights), &made.weights));
    if (cnnvp_import_has(import, 2))
        CNNVP_TRY(cnnvp_import_constant(import, 2, &bias));
    if (bias != NULL)
        CNNVP_TRY(cnnvp_import_floats(import, bias, (size_t)(made.outputs * made.groups), &made.bias));
    int32_t out = CNNVP_GRAPH_NONE;
    CNNVP_TRY(add_phases(import, &made, &out));
    return cnnvp_import_alias(import, import->node->output[0], out);
}
