/* SPDX-License-Identifier: Apache-2.0 */
/* Activation functions and softmax. Functions without a lookup table or comparison of their own are composed of
 * others. */
#include <math.h>

#include "onnx_text.h"

/* ---- activations ---- */

cnnvp_result cnnvp_import_post(struct cnnvp_import *import, int32_t in, enum cnnvp_graph_post_kind kind, float value,
                               int inner, int32_t *out)
{
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_like(import, CNNVP_OP_ACTIVATION, in, inner, &layer));
    layer->posts[0] = (struct cnnvp_graph_post){kind, value};
    *out = layer->out;
    return CNNVP_DONE;
}

/* Applies the function to the node's input and makes the result its output. */
static cnnvp_result add_function(struct cnnvp_import *import, enum cnnvp_graph_post_kind kind, float value)
{
    int32_t in;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    return cnnvp_import_apply(import, in, cnnvp_import_readers(import, import->node->input[0]), kind, value);
}

static const float values[] = {
#define CNNVP_FUNCTION(name, operator, import, value, ...) [CNNVP_GRAPH_##name] = (value),
#define CNNVP_STEP(name, ...) [CNNVP_GRAPH_##name] = 0.0f,
#include "functions.def"
};

/* Functions without attributes. */
cnnvp_result cnnvp_operator_function(struct cnnvp_import *import)
{
    return add_function(import, (enum cnnvp_graph_post_kind)import->kind, values[import->kind]);
}

/* Functions of period 2 pi, of x less the nearest multiple of it: a table of all x would have pieces as wide as a turn
 * where x is an angle of hundreds, such as a time or a place times a frequency. */
cnnvp_result cnnvp_operator_periodic(struct cnnvp_import *import)
{
    static const float turn = 6.28318531f;
    struct cnnvp_graph_layer *layer;
    int32_t in, turns;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    CNNVP_TRY(cnnvp_import_scale(import, in, 1.0f / turn, 0.0f, 1, &layer));
    CNNVP_TRY(cnnvp_import_rounded(import, layer, &turns));
    CNNVP_TRY(cnnvp_import_scale(import, turns, turn, 0.0f, 1, &layer));
    CNNVP_TRY(cnnvp_import_pair(import, CNNVP_ARITHMETIC_SUB, in, layer->out, 1, &in));
    return cnnvp_import_post(import, in, (enum cnnvp_graph_post_kind)import->kind, 0.0f, 0, &in);
}

cnnvp_result cnnvp_operator_logarithm(struct cnnvp_import *import)
{
    int done;
    CNNVP_TRY(cnnvp_import_composite(import, &done));
    return done ? CNNVP_DONE : add_function(import, CNNVP_GRAPH_LOG, values[CNNVP_GRAPH_LOG]);
}

/* Functions whose parameter is attribute alpha. */
cnnvp_result cnnvp_operator_alpha(struct cnnvp_import *import)
{
    const float alpha = cnnvp_onnx_float(import->node, "alpha", values[import->kind]);
    const int above_0 = import->kind == CNNVP_GRAPH_CELU;
    if (alpha >= (above_0 ? 1.0f / 16.0f : -16.0f) && alpha <= 16.0f)
        return add_function(import, (enum cnnvp_graph_post_kind)import->kind, alpha);
    return cnnvp_import_error(import, "alpha is %g; %s to 16 is possible", (double)alpha, above_0 ? "1/16" : "-16");
}

/* Slopes up to 1: max{x, slope * x}. Slopes from 1 on: min{x, slope * x}. Mixed (kind ADD): max{x, 0} + slope * min{x,
 * 0}. */
static cnnvp_result add_prelu(struct cnnvp_import *import, int32_t in, const struct cnnvp_import_numbers *slopes,
                              enum cnnvp_layer_arithmetic kind)
{
    int32_t first = in;
    int32_t second = in;
    if (kind == CNNVP_ARITHMETIC_ADD) {
        CNNVP_TRY(cnnvp_import_post(import, in, CNNVP_GRAPH_MAX, 0.0f, 1, &first));
        CNNVP_TRY(cnnvp_import_post(import, in, CNNVP_GRAPH_MIN, 0.0f, 1, &second));
    }
    CNNVP_TRY(cnnvp_import_line(import, second, slopes->each, slopes->values, NULL, 1, &second));
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_like(import, CNNVP_OP_ADD, first, 0, &layer));
    layer->in2 = second;
    layer->arithmetic = kind;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_operator_leaky_relu(struct cnnvp_import *import)
{
    const float alpha = cnnvp_onnx_float(import->node, "alpha", values[CNNVP_GRAPH_LEAKY_RELU]);
    int32_t in;
    if (alpha >= -1.0f && alpha <= 1.0f)
        return add_function(import, CNNVP_GRAPH_LEAKY_RELU, alpha);
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    if (!(alpha >= -1000.0f && alpha <= 1000.0f))
        return cnnvp_import_error(import, "alpha is %g; -1000 to 1000 is possible", (double)alpha);
    struct cnnvp_import_numbers slopes = {.count = import->graph->tensors[in].channels};
    CNNVP_TRY(cnnvp_import_repeat(import, slopes.count, alpha, &slopes.values));
    return add_prelu(import, in, &slopes, alpha > 1.0f ? CNNVP_ARITHMETIC_MIN : CNNVP_ARITHMETIC_MAX);
}

/* |x| is LeakyRelu with the slope -1. */
cnnvp_result cnnvp_operator_abs(struct cnnvp_import *import)
{
    return add_function(import, CNNVP_GRAPH_LEAKY_RELU, -1.0f);
}

cnnvp_result cnnvp_operator_gelu(struct cnnvp_import *import)
{
    int by_tanh = 0;
    CNNVP_TRY(cnnvp_import_choice(import, "approximate", "none, tanh", &by_tanh));
    return add_function(import, CNNVP_GRAPH_GELU, by_tanh ? 1.0f : 0.0f);
}

cnnvp_result cnnvp_operator_selu(struct cnnvp_import *import)
{
    const float alpha = cnnvp_onnx_float(import->node, "alpha", 1.67326319f);
    const float gamma = cnnvp_onnx_float(import->node, "gamma", values[CNNVP_GRAPH_SELU]);
    if (!(alpha >= -16.0f && alpha <= 16.0f) || !(gamma > 0.0f && gamma <= 16.0f))
        return cnnvp_import_error(import, "alpha is %g, gamma %g; -16 to 16, and a gamma above 0 up to 16 are possible",
                                  (double)alpha, (double)gamma);
    if (alpha >= 1.6732f && alpha <= 1.6733f)
        return add_function(import, CNNVP_GRAPH_SELU, gamma);
    int32_t in;
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    CNNVP_TRY(cnnvp_import_post(import, in, CNNVP_GRAPH_ELU, alpha, 1, &in));
    return cnnvp_import_scale(import, in, gamma, 0.0f, 0, &layer);
}

/* min{1, max{0, alpha * x + beta}}: an affine layer and two comparisons, all exact. */
cnnvp_result cnnvp_operator_hard_sigmoid(struct cnnvp_import *import)
{
    int32_t in;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    struct cnnvp_graph_layer *layer;
    const float alpha = cnnvp_onnx_float(import->node, "alpha", 0.2f),
                beta = cnnvp_onnx_float(import->node, "beta", 0.5f);
    CNNVP_TRY(cnnvp_import_scale(import, in, alpha, beta, 0, &layer));
    layer->post_count = 2;
    layer->posts[0] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, 0.0f};
    layer->posts[1] = (struct cnnvp_graph_post){CNNVP_GRAPH_MIN, 1.0f};
    return CNNVP_DONE;
}

/* A limit of Clip: an attribute before operator set 11, an input since then. *there is 0 if the node has no such
 * limit. */
static cnnvp_result clip_limit(struct cnnvp_import *import, const char *attribute, size_t input, int *there,
                               float *limit)
{
    *there = 0;
    if (import->onnx.opset < 11) {
        const Onnx__AttributeProto *found = cnnvp_onnx_attribute(import->node, attribute);
        *there = found != NULL && found->has_f;
        if (*there)
            *limit = found->f;
        if (*there && isnan(found->f))
            return cnnvp_import_error(import, "limit %s is no number", attribute);
        return CNNVP_DONE;
    }
    if (!cnnvp_import_has(import, input))
        return CNNVP_DONE;
    *there = 1;
    return cnnvp_import_number(import, input, "limit", 1, limit);
}

/* Limits that depend on the network's input: Clip becomes Max and Min. */
static cnnvp_result clip_by_tensors(struct cnnvp_import *import, int *done)
{
    struct cnnvp_text text = {.used = 0};
    int tensors[3] = {0, 0, 0};
    for (size_t i = 1; i <= 2 && import->onnx.opset >= 11; ++i) {
        struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
        if (cnnvp_import_has(import, i))
            CNNVP_TRY(cnnvp_import_value(import, i, &value));
        tensors[i] = value.tensor != CNNVP_GRAPH_NONE;
        *done |= tensors[i];
    }
    if (!*done)
        return CNNVP_DONE;
    say(&text, tensors[1]                    ? "above = Max(a, b);"
               : cnnvp_import_has(import, 1) ? "above = Clip(a, b);"
                                             : "above = Identity(a);");
    say(&text, tensors[2]                    ? "y = Min(above, c)"
               : cnnvp_import_has(import, 2) ? "y = Clip(above, -3.4e38, c)"
                                             : "y = Identity(above)");
    return rewrite(import, &text);
}

cnnvp_result cnnvp_operator_clip(struct cnnvp_import *import)
{
    int by_tensors = 0;
    CNNVP_TRY(clip_by_tensors(import, &by_tensors));
    if (by_tensors)
        return CNNVP_DONE;
    int has_low, has_high;
    float low = 0.0f, high = 0.0f;
    CNNVP_TRY(clip_limit(import, "min", 1, &has_low, &low));
    CNNVP_TRY(clip_limit(import, "max", 2, &has_high, &high));
    /* Exporters write the largest float where there is no limit. */
    has_low = has_low && low > -3.4e38f;
    has_high = has_high && high < 3.4e38f;
    int32_t in;
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    if (!has_low && !has_high)
        return cnnvp_import_alias(import, import->node->output[0], in);
    CNNVP_TRY(cnnvp_import_like(import, CNNVP_OP_ACTIVATION, in, 0, &layer));
    layer->post_count = 0;
    /* The upper limit is applied last, so it wins where the lower limit exceeds it. */
    if (has_low)
        layer->posts[layer->post_count++] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, low};
    if (has_high)
        layer->posts[layer->post_count++] = (struct cnnvp_graph_post){CNNVP_GRAPH_MIN, high};
    return CNNVP_DONE;
}

/* ---- PRelu ---- */

cnnvp_result cnnvp_operator_prelu(struct cnnvp_import *import)
{
    int32_t in;
    const Onnx__TensorProto *constant;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    CNNVP_TRY(cnnvp_import_constant(import, 1, &constant));
    /* The layers depend on the slopes, and a weightless network must have the same layers: the slopes are read even
     * then. */
    const int weightless = import->graph->weightless;
    struct cnnvp_import_numbers slopes;
    import->graph->weightless = 0;
    cnnvp_result result = cnnvp_import_operand(import, constant, in, &slopes);
    import->graph->weightless = weightless;
    if (result != CNNVP_DONE)
        return result;
    float low = slopes.values[0];
    float high = slopes.values[0];
    for (size_t i = 1; i < slopes.count; ++i) {
        low = slopes.values[i] < low ? slopes.values[i] : low;
        high = slopes.values[i] > high ? slopes.values[i] : high;
    }
    if (low >= high && low >= -1.0f && high <= 1.0f)
        return add_function(import, CNNVP_GRAPH_LEAKY_RELU, low);
    return add_prelu(import, in, &slopes,
                     high <= 1.0f  ? CNNVP_ARITHMETIC_MAX
                     : low >= 1.0f ? CNNVP_ARITHMETIC_MIN
                                   : CNNVP_ARITHMETIC_ADD);
}

/* ---- softmax ---- */

/* The axis that softmax runs over, on the input and on a view of it of up to 4 dimensions. */
struct softmax {
    int32_t in;
    uint32_t rank; /* of the node's input */
    int64_t dims[CNNVP_ONNX_RANK];
    int64_t axis;
    int32_t view;
    int64_t view_axis;
    enum cnnvp_layer_axis over;
    int64_t count; /* elements that share one sum */
    int alone;     /* 1: the axis has one element and the tensor one position, so the result is 1 */
};

/* Before operator set 13, softmax runs over all dimensions from the axis on, as one. The view then merges them. Tensors
 * of more than four dimensions: the view also merges the dimensions before the axis and those after it. */
static cnnvp_result view_softmax(struct cnnvp_import *import, struct softmax *softmax)
{
    const char *name = import->graph->tensors[softmax->in].name;
    const int flat = import->onnx.opset < 13 && softmax->axis < (int64_t)softmax->rank - 1;
    softmax->view = softmax->in;
    softmax->view_axis = softmax->axis;
    softmax->count = softmax->dims[softmax->axis];
    for (int64_t i = softmax->axis + 1; flat && i < (int64_t)softmax->rank; ++i)
        softmax->count *= softmax->dims[i];
    if (!flat && softmax->rank <= 4)
        return CNNVP_DONE;
    int64_t parts[4] = {0, 1, 1, 1};
    for (uint32_t i = 1; i < softmax->rank; ++i)
        parts[i < softmax->axis ? 1 : i == softmax->axis || flat ? 2 : 3] *= softmax->dims[i];
    softmax->view_axis = 2;
    if (parts[3] == 1 && parts[1] == 1) {
        softmax->view_axis = 1;
        parts[1] = parts[2];
    }
    const uint32_t rank = parts[3] != 1 ? 4 : (uint32_t)softmax->view_axis + 1;
    return cnnvp_import_shaped(import, name, softmax->in, rank, parts, &softmax->view);
}

static cnnvp_result read_softmax(struct cnnvp_import *import, struct softmax *softmax)
{
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &softmax->in));
    const int64_t otherwise = import->onnx.opset < 13 ? 1 : -1;
    softmax->rank = cnnvp_import_all_dims(import, softmax->in, softmax->dims);
    CNNVP_TRY(
        cnnvp_import_axis(import, softmax->rank, cnnvp_onnx_int(import->node, "axis", otherwise), &softmax->axis));
    CNNVP_TRY(view_softmax(import, softmax));
    const struct cnnvp_graph_tensor view = import->graph->tensors[softmax->view];
    const int position = view.height == 1 && view.width == 1;
    softmax->alone = position && softmax->view_axis != 1 && view.channels != 1;
    softmax->over = position || softmax->view_axis == (int64_t)view.rank - 1 ? CNNVP_AXIS_LAST
                    : softmax->view_axis == 1                                ? CNNVP_AXIS_CHANNELS
                                                                             : CNNVP_AXIS_ROWS;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_operator_softmax(struct cnnvp_import *import)
{
    struct softmax softmax;
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(read_softmax(import, &softmax));
    if (softmax.alone)
        return cnnvp_import_scale(import, softmax.in, 0.0f, 1.0f, 0, &layer);
    CNNVP_TRY(cnnvp_import_like(import, CNNVP_OP_SOFTMAX, softmax.view, softmax.view != softmax.in, &layer));
    layer->axis = softmax.over;
    return softmax.view == softmax.in ? CNNVP_DONE : cnnvp_import_view(import, layer->out, softmax.rank, softmax.dims);
}

/* ln(x) for x from 1 / count to 1, as ln(max{x, 1/32}) + ln(32 * min{x, 1/32}): each is a lookup in a table from 1/32
 * to 1. The second one is taken apart in the same way where 1 / count lies below its table. */
static cnnvp_result add_logarithm(struct cnnvp_import *import, int32_t in, int64_t count, int32_t *out)
{
    static const float low = 1.0f / 32.0f;
    struct cnnvp_graph_layer *layer;
    int32_t part = in;
    CNNVP_TRY(cnnvp_import_post(import, in, CNNVP_GRAPH_LOG, low, 1, out));
    for (int64_t reach = 32; reach == 32 || reach < count; reach *= 32) {
        int32_t logarithm;
        CNNVP_TRY(cnnvp_import_post(import, part, CNNVP_GRAPH_MIN, low, 1, &part));
        CNNVP_TRY(cnnvp_import_scale(import, part, 1.0f / low, 0.0f, 1, &layer));
        part = layer->out;
        CNNVP_TRY(cnnvp_import_post(import, part, CNNVP_GRAPH_LOG, low, 1, &logarithm));
        CNNVP_TRY(cnnvp_import_pair(import, CNNVP_ARITHMETIC_ADD, *out, logarithm, 1, out));
    }
    return CNNVP_DONE;
}

/* x - max{x} + ln(max{softmax(x)}): only the largest share needs a logarithm. */
cnnvp_result cnnvp_operator_log_softmax(struct cnnvp_import *import)
{
    struct softmax softmax;
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(read_softmax(import, &softmax));
    if (softmax.count == 1)
        return cnnvp_import_scale(import, softmax.in, 0.0f, 0.0f, 0, &layer);
    const uint32_t axis = (uint32_t)softmax.view_axis;
    CNNVP_TRY(cnnvp_import_like(import, CNNVP_OP_SOFTMAX, softmax.view, 1, &layer));
    layer->axis = softmax.over;
    int32_t share = layer->out;
    int32_t largest = softmax.view;
    CNNVP_TRY(cnnvp_import_largest(import, axis, &share));
    CNNVP_TRY(add_logarithm(import, share, softmax.count, &share));
    CNNVP_TRY(cnnvp_import_largest(import, axis, &largest));
    CNNVP_TRY(cnnvp_import_pair(import, CNNVP_ARITHMETIC_SUB, softmax.view, largest, 1, &largest));
    CNNVP_TRY(cnnvp_import_pair(import, CNNVP_ARITHMETIC_ADD, largest, share, 0, &share));
    return cnnvp_import_view(import, share, softmax.rank, softmax.dims);
}
