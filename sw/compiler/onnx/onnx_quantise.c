/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantised networks. The words of a quantised tensor are the integers q - zero point, without fraction bits, so 8-bit
 * values are exact. QuantizeLinear divides by the scale, rounds and clamps; DequantizeLinear multiplies. Both are
 * affine layers, which graph_fold.c merges into the convolutions and products around them. A convolution between
 * quantised tensors thus sums integers times weights (w - zero) * scales of 16 bits and rounds once. Its result is the
 * quantised model's, or the next integer if the exact result lies within the weights' precision (2^-16 of the largest)
 * of a rounding boundary. Layers also record the step sizes of what they multiply: if the write-out scales
 * (models/inference/write_out), the array multiplies the integers themselves, and every result equals onnxruntime's.
 * The same holds for the vector unit's operations on two quantised tensors (graph_fold.c).
 */
#include <string.h>

#include "onnx_constant.h"
#include "onnx_text.h"

/* Most parts of a Concat that are quantised one by one. */
#define JOINED_MAX 16u

/* Scale and zero point from inputs `index` and `index` + 1. More than one value, along an axis, is allowed for
 * constants and for DequantizeLinear. */
struct steps {
    size_t count;
    const float *scales;
    const float *zeros; /* NULL: no zero point */
    float low;          /* range of the type */
    float high;
    int wide; /* it has 16 bits */
};

/* Reads a constant's values, also in weightless networks: scales and limits decide which layers the network has. */
static cnnvp_result read_numbers(struct cnnvp_import *import, size_t index, size_t *count, const float **numbers)
{
    const Onnx__TensorProto *constant;
    float *read = NULL;
    CNNVP_TRY(cnnvp_import_constant(import, index, &constant));
    const int weightless = import->graph->weightless;
    *count = cnnvp_onnx_elements(constant);
    import->graph->weightless = 0;
    cnnvp_result result = cnnvp_import_floats(import, constant, *count, &read);
    import->graph->weightless = weightless;
    *numbers = read;
    return result;
}

cnnvp_result cnnvp_import_check_steps(struct cnnvp_import *import)
{
    const int64_t block = cnnvp_onnx_int(import->node, "block_size", 0);
    const int64_t type = cnnvp_onnx_int(import->node, "output_dtype", 0);
    const int64_t precision = cnnvp_onnx_int(import->node, "precision", 0);
    const int back = strcmp(import->node->op_type, "DequantizeLinear") == 0;
    const int known =
        type == 0 || (back ? type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT
                           : type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 ||
                                 (type == ONNX__TENSOR_PROTO__DATA_TYPE__INT8 && cnnvp_import_has(import, 2)));
    if (precision != 0 && precision != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT)
        return cnnvp_import_error(import, "precision is %lld; 1 (float) is supported", (long long)precision);
    if (block != 0)
        return cnnvp_import_error(import,
                                  "block_size is %lld; one scale for the tensor or for each element of an axis is "
                                  "supported",
                                  (long long)block);
    if (!known)
        return cnnvp_import_error(import, "output_dtype is %lld; %s supported", (long long)type,
                                  back ? "1 (float) is" : "8-bit integers of the zero point's type are");
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_check_scales(struct cnnvp_import *import, const float *scales, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (!(scales[i] > 1e-30f && scales[i] < 1e30f))
            return cnnvp_import_error(import, "a scale is %g; 1e-30 to 1e30 is possible", (double)scales[i]);
    return CNNVP_DONE;
}

static cnnvp_result read_steps(struct cnnvp_import *import, size_t index, struct steps *steps)
{
    size_t zeros = 0;
    *steps = (struct steps){.low = 0.0f, .high = 255.0f};
    CNNVP_TRY(cnnvp_import_check_steps(import));
    CNNVP_TRY(read_numbers(import, index, &steps->count, &steps->scales));
    if (cnnvp_import_has(import, index + 1)) {
        const Onnx__TensorProto *constant = NULL;
        CNNVP_TRY(read_numbers(import, index + 1, &zeros, &steps->zeros));
        CNNVP_TRY(cnnvp_import_constant(import, index + 1, &constant));
        const int is_short = constant->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT16;
        steps->wide = is_short || constant->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT16;
        if (steps->wide) {
            steps->low = is_short ? -32768.0f : 0.0f;
            steps->high = steps->low + 65535.0f;
        }
        if (constant->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT8) {
            steps->low = -128.0f;
            steps->high = 127.0f;
        }
    }
    if (zeros != 0 && zeros != steps->count)
        return cnnvp_import_error(import, "there are %zu scales and %zu zero points", steps->count, zeros);
    CNNVP_TRY(cnnvp_import_check_scales(import, steps->scales, steps->count));
    for (size_t i = 0; i < zeros; ++i)
        if (!steps->wide && !(steps->zeros[i] >= -128.0f && steps->zeros[i] <= 255.0f))
            return cnnvp_import_error(
                import, "a zero point is %g; it must be of 8 or 16 bits", (double)steps->zeros[i]);
    return CNNVP_DONE;
}

/* Checks that there is one scale for the whole tensor. */
static cnnvp_result check_one(struct cnnvp_import *import, size_t index, const struct steps *step)
{
    if (step->count == 1)
        return CNNVP_DONE;
    return cnnvp_import_error(import,
                              "input \"%s\" has %zu numbers; scales along an axis are supported for weights and for "
                              "DequantizeLinear",
                              import->node->input[index], step->count);
}

static cnnvp_result read_step(struct cnnvp_import *import, size_t index, struct steps *step)
{
    CNNVP_TRY(read_steps(import, index, step));
    return check_one(import, index, step);
}

static float zero_of(const struct steps *steps, size_t i)
{
    return steps->zeros != NULL ? steps->zeros[i < steps->count ? i : 0] : 0.0f;
}

static float scale_of(const struct steps *steps, size_t i)
{
    return steps->scales[i < steps->count ? i : 0];
}

/* ---- quantised tensors ---- */

static const struct cnnvp_graph_tensor *base_of(const struct cnnvp_import *import, int32_t tensor)
{
    return &import->graph->tensors[cnnvp_graph_base(import->graph, tensor)];
}

/* Sets the quantisation of a tensor. 8-bit words hold q, or q - 128 for unsigned types. */
static void set_zero(struct cnnvp_graph_tensor *tensor, const struct steps *steps)
{
    tensor->whole = 1;
    tensor->zero = (int32_t)zero_of(steps, 0);
    tensor->word_zero = tensor->zero - 128 - (int32_t)steps->low;
}

/* Makes the layer's results integers within the type's range. */
static void make_whole(struct cnnvp_import *import, struct cnnvp_graph_layer *layer, const struct steps *steps)
{
    const float zero = zero_of(steps, 0);
    set_zero(&import->graph->tensors[layer->out], steps);
    layer->post_count = 2;
    layer->posts[0] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, steps->low - zero};
    layer->posts[1] = (struct cnnvp_graph_post){CNNVP_GRAPH_MIN, steps->high - zero};
}

/* x * factor + offset. */
static cnnvp_result add_scale(struct cnnvp_import *import, int32_t in, float factor, float offset, int inner,
                              struct cnnvp_graph_layer **layer)
{
    CNNVP_TRY(cnnvp_import_scale(import, in, factor, offset, inner, layer));
    (*layer)->uniform = offset < 0.0f || offset > 0.0f ? 0.0f : factor;
    return CNNVP_DONE;
}

/* Reads input `index`, which must be quantised, and the scale and zero point in the next two inputs. A quantised input
 * of the network gets the zero point that its first reader gives. */
static cnnvp_result whole_input(struct cnnvp_import *import, size_t index, uint32_t rank, int32_t *in,
                                struct steps *step)
{
    CNNVP_TRY(rank == 0 ? cnnvp_import_any_rank(import, index, in) : cnnvp_import_tensor(import, index, rank, in));
    CNNVP_TRY(read_steps(import, index + 1, step));
    if (base_of(import, *in)->whole == 0)
        return cnnvp_import_error(import, "input \"%s\" is not quantised; the result of a QuantizeLinear is needed",
                                  import->node->input[index]);
    if (cnnvp_graph_is_input(import->graph, *in) && cnnvp_graph_readers(import->graph, *in) == 0 && step->count == 1 &&
        step->zeros != NULL)
        set_zero(&import->graph->tensors[cnnvp_graph_base(import->graph, *in)], step);
    return CNNVP_DONE;
}

/* The Concat of dequantised tensors that this node quantises again; NULL: the input is something else. */
static const Onnx__NodeProto *joined(const struct cnnvp_import *import)
{
    const Onnx__NodeProto *concat =
        cnnvp_import_has(import, 2) ? cnnvp_import_maker(import, import->node->input[0], "Concat") : NULL;
    if (concat == NULL || concat->n_input > JOINED_MAX)
        return NULL;
    for (size_t i = 0; i < concat->n_input; ++i)
        if (cnnvp_import_maker(import, concat->input[i], "DequantizeLinear") == NULL ||
            cnnvp_import_known_tensor(import, concat->input[i]) == CNNVP_GRAPH_NONE)
            return NULL;
    return concat;
}

/* Appends "q0, q1, ...)". */
static void say_parts(struct cnnvp_text *text, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        say(text, "%sq%zu", i != 0 ? ", " : "", i);
    say(text, ")");
}

/* Quantises each part and concatenates the results: the same integers, without a tensor of floats. Where the node is
 * imported for one image (onnx_operators.c), its input has lost a leading dimension of 1 that the parts still have. */
static cnnvp_result quantise_parts(struct cnnvp_import *import, const Onnx__NodeProto *concat)
{
    const Onnx__NodeProto *whole = import->node;
    char *names[2 + JOINED_MAX] = {whole->input[1], whole->input[2]};
    Onnx__NodeProto parts = *whole;
    struct cnnvp_text text = {.used = 0};
    parts.input = names;
    parts.n_input = 2 + concat->n_input;
    for (size_t i = 0; i < concat->n_input; ++i) {
        names[2 + i] = concat->input[i];
        say(&text, "q%zu = QuantizeLinear(%c, a, b);", i, (char)('c' + i));
    }
    say(&text, "y = Concat <axis = %lld> (", (long long)cnnvp_onnx_int(concat, "axis", 0));
    say_parts(&text, concat->n_input);
    const int of_image = import->graph->single != 0 && !import->single;
    import->node = &parts;
    import->single |= of_image;
    const cnnvp_result result = rewrite(import, &text);
    import->node = whole;
    import->single = of_image ? 0 : import->single;
    if (result != CNNVP_DONE || !of_image)
        return result;
    int64_t dims[CNNVP_ONNX_RANK];
    int32_t made = cnnvp_import_known_tensor(import, whole->output[0]);
    const uint32_t rank = cnnvp_import_all_dims(import, made, dims);
    return cnnvp_import_view(import, made, rank - 1, dims + 1);
}

/* Numbers of 16 bits are as fine as words of their own formats, so they are not rounded: x / scale + zero, limited. */
static cnnvp_result quantise_wide(struct cnnvp_import *import, int32_t in, const struct steps *step)
{
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_scale(import, in, 1.0f / step->scales[0], zero_of(step, 0), 0, &layer));
    layer->post_count = 2;
    layer->posts[0] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, step->low};
    layer->posts[1] = (struct cnnvp_graph_post){CNNVP_GRAPH_MIN, step->high};
    return CNNVP_DONE;
}

/* Behind QuantizeLinear with the same scale: what that reads, limited. */
static cnnvp_result dequantise_wide(struct cnnvp_import *import, const struct steps *step)
{
    struct cnnvp_graph_layer *layer;
    struct steps theirs = {.count = 0};
    int32_t in = CNNVP_GRAPH_NONE;
    const float scale = step->scales[0], zero = zero_of(step, 0);
    const Onnx__NodeProto *node = import->node;
    const Onnx__NodeProto *maker = cnnvp_import_maker(import, node->input[0], "QuantizeLinear");
    if (maker != NULL) {
        import->node = maker;
        const cnnvp_result result = read_step(import, 1, &theirs);
        import->node = node;
        CNNVP_TRY(result);
        const int differs = theirs.scales[0] < scale || theirs.scales[0] > scale || zero_of(&theirs, 0) < zero ||
                            zero_of(&theirs, 0) > zero || theirs.low < step->low || theirs.low > step->low;
        in = theirs.wide && !differs ? cnnvp_import_known_tensor(import, maker->input[0]) : in;
    }
    if (in == CNNVP_GRAPH_NONE) {
        CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
        return cnnvp_import_scale(import, in, scale, -zero * scale, 0, &layer);
    }
    CNNVP_TRY(cnnvp_import_expanded(import, &in));
    CNNVP_TRY(cnnvp_import_like(import, CNNVP_OP_ACTIVATION, in, 0, &layer));
    layer->post_count = 2;
    layer->posts[0] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, (step->low - zero) * scale};
    layer->posts[1] = (struct cnnvp_graph_post){CNNVP_GRAPH_MIN, (step->high - zero) * scale};
    return CNNVP_DONE;
}

cnnvp_result cnnvp_operator_quantize(struct cnnvp_import *import)
{
    int32_t in;
    struct steps step;
    struct cnnvp_graph_layer *layer;
    const Onnx__NodeProto *concat = joined(import);
    if (concat != NULL)
        return quantise_parts(import, concat);
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    CNNVP_TRY(read_step(import, 1, &step));
    if (step.wide)
        return quantise_wide(import, in, &step);
    CNNVP_TRY(add_scale(import, in, 1.0f / step.scales[0], 0.0f, 0, &layer));
    layer->steps.out = step.scales[0];
    make_whole(import, layer, &step);
    return CNNVP_DONE;
}

/* (x - zero) * scale / by, with one scale and zero point for each channel. */
static cnnvp_result add_scales(struct cnnvp_import *import, int32_t in, const struct steps *steps, float by, int inner,
                               struct cnnvp_graph_layer **layer)
{
    const size_t channels = import->graph->tensors[in].channels;
    const float zero = (float)base_of(import, in)->zero;
    float *scale, *offset;
    CNNVP_TRY(cnnvp_import_repeat(import, channels, 0.0f, &scale));
    CNNVP_TRY(cnnvp_import_repeat(import, channels, 0.0f, &offset));
    for (size_t c = 0; c < channels && scale != NULL; ++c) {
        scale[c] = scale_of(steps, c) / by;
        offset[c] = (zero - zero_of(steps, c)) * scale[c];
    }
    return cnnvp_import_affine(import, in, scale, offset, inner, layer);
}

/* Adds a layer that dequantises input `index` and divides by `by`. */
static cnnvp_result dequantised(struct cnnvp_import *import, size_t index, float by, int inner,
                                struct cnnvp_graph_layer **layer)
{
    int32_t in;
    int64_t axis = 1;
    struct steps steps;
    CNNVP_TRY(whole_input(import, index, 0, &in, &steps));
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    if (steps.count > 1)
        CNNVP_TRY(cnnvp_import_axis(import, input.rank, cnnvp_onnx_int(import->node, "axis", 1), &axis));
    if (steps.count > 1 && (axis != 1 || steps.count != input.channels))
        return cnnvp_import_error(import,
                                  "input \"%s\" has %zu numbers for axis %lld; one for all, or one for each of %u "
                                  "channels is supported",
                                  import->node->input[index + 1], steps.count, (long long)axis, input.channels);
    if (steps.count > 1)
        return add_scales(import, in, &steps, by, inner, layer);
    const float factor = steps.scales[0] / by;
    const float offset = ((float)base_of(import, in)->zero - zero_of(&steps, 0)) * factor;
    CNNVP_TRY(add_scale(import, in, factor, offset, inner, layer));
    if ((*layer)->uniform > 0.0f && !(by < 1.0f || by > 1.0f))
        (*layer)->steps.in = factor;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_operator_dequantize(struct cnnvp_import *import)
{
    struct cnnvp_graph_layer *layer;
    struct steps step;
    CNNVP_TRY(read_steps(import, 1, &step));
    if (!step.wide)
        return dequantised(import, 0, 1.0f, 0, &layer);
    CNNVP_TRY(check_one(import, 1, &step));
    return dequantise_wide(import, &step);
}

/* ---- products ---- */

static const struct cnnvp_onnx_whole *whole_of(struct cnnvp_import *import, size_t input)
{
    const Onnx__TensorProto *constant;
    const struct cnnvp_onnx_whole *whole = import->wholes;
    if (cnnvp_import_constant(import, input, &constant) != CNNVP_DONE)
        return NULL;
    while (whole != NULL && whole->made != constant)
        whole = whole->next;
    return whole;
}

cnnvp_result cnnvp_import_whole_turns(struct cnnvp_import *import, uint32_t rank, const int64_t *from)
{
    const struct cnnvp_onnx_whole *before = whole_of(import, 0);
    const Onnx__TensorProto *made = cnnvp_import_known_constant(import, import->node->output[0]);
    if (before == NULL || before->integers || made == NULL)
        return CNNVP_DONE;
    struct cnnvp_onnx_whole *turned;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, 1, &turned));
    *turned = *before;
    turned->next = import->wholes;
    turned->made = made;
    for (uint32_t i = 0; i < rank; ++i)
        turned->axis = from[i] == before->axis ? (int64_t)i : turned->axis;
    import->wholes = turned;
    return CNNVP_DONE;
}

void cnnvp_import_steps(struct cnnvp_import *import, struct cnnvp_graph_layer *layer, size_t weights, int64_t axis,
                        size_t bias)
{
    const struct cnnvp_onnx_whole *of_weights = whole_of(import, weights);
    const struct cnnvp_onnx_whole *of_bias = bias != SIZE_MAX ? whole_of(import, bias) : NULL;
    if (of_weights == NULL || !of_weights->bytes || (of_weights->count != 1 && of_weights->axis != axis))
        return;
    layer->steps.weights = of_weights->steps;
    layer->steps.weight_count = of_weights->count;
    layer->steps.narrow = of_weights->narrow;
    if (of_bias == NULL || !of_bias->integers)
        return;
    layer->steps.bias = of_bias->numbers;
    layer->steps.bias_steps = of_bias->steps;
    layer->steps.bias_count = of_bias->count;
}

/* Inputs: x, scale, zero point; w, scale, zero point; then scale and zero point of y, and the bias. QGemm has the bias
 * before those of y. Becomes a product between DequantizeLinear and QuantizeLinear; the bias has the product of both
 * scales as its step. */
cnnvp_result cnnvp_operator_qlinear_product(struct cnnvp_import *import)
{
    const int product = import->kind;
    const int turned = cnnvp_onnx_int(import->node, "transB", 0) != 0;
    const char bias = product == CNNVP_PRODUCT_GEMM ? 'g' : 'i', result = product == CNNVP_PRODUCT_GEMM ? 'h' : 'g';
    const int has_bias = cnnvp_import_has(import, (size_t)(bias - 'a'));
    struct cnnvp_text text = {.used = 0};
    if (!cnnvp_import_has(import, (size_t)(result - 'a')))
        return cnnvp_import_error(
            import, "the result must be quantised; input %d, its scale, is missing", result - 'a');
    say(&text, "x = DequantizeLinear(a, b, c); w = DequantizeLinear <axis = %d> (d, e, f);",
        product == CNNVP_PRODUCT_MATMUL ? -1 : product == CNNVP_PRODUCT_GEMM && !turned);
    if (has_bias)
        say(&text, "each = Mul(b, e); step = Mul(each, %#.9g); more = DequantizeLinear <axis = 0> (%c, step);",
            (double)cnnvp_onnx_float(import->node, "alpha", 1.0f), bias);
    say(&text, "out = %s(x, w%s); y = QuantizeLinear(out, %c, %c)",
        product == CNNVP_PRODUCT_CONV   ? "Conv <@auto_pad, @dilations, @group, @kernel_shape, @pads, @strides> "
        : product == CNNVP_PRODUCT_GEMM ? "Gemm <@alpha, @transA, @transB> "
                                        : "MatMul",
        has_bias ? ", more" : "", result, result + 1);
    return rewrite(import, &text);
}

/* ---- onnxruntime's own ---- */

/* A rule for an operator with two quantised operands; graph_fold.c merges it into one layer that scales. */
#define SCALED(name)                                                                                        \
    "first = DequantizeLinear(a, b, c); second = DequantizeLinear(d, e, f); out = " name "(first, second);" \
    "y = QuantizeLinear(out, g, h)"

/* Without joins_steps, multiplies integers (scale 1), so that the product is exact until it is rounded. */
cnnvp_result cnnvp_operator_qlinear_multiply(struct cnnvp_import *import)
{
    return cnnvp_import_rewrite(
        import, import->graph->joins_steps
                    ? SCALED("Mul")
                    : "both = Mul(b, e); scale = Div(g, both); one = DequantizeLinear(a, 1.0, c);"
                      "other = DequantizeLinear(d, 1.0, f); out = Mul(one, other); y = QuantizeLinear(out, scale, h)");
}

/* *alike: both operands depend on the network's input and have the same shape. */
static cnnvp_result are_alike(struct cnnvp_import *import, int *alike)
{
    int64_t a[CNNVP_ONNX_RANK], b[CNNVP_ONNX_RANK];
    size_t ranks[2];
    struct cnnvp_onnx_value first = {.tensor = CNNVP_GRAPH_NONE}, second = {.tensor = CNNVP_GRAPH_NONE};
    CNNVP_TRY(cnnvp_import_value(import, 0, &first));
    CNNVP_TRY(cnnvp_import_value(import, 3, &second));
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &ranks[0], a));
    CNNVP_TRY(cnnvp_import_dims_of(import, 3, &ranks[1], b));
    *alike = first.constant == NULL && second.constant == NULL && ranks[0] == ranks[1] &&
             memcmp(a, b, ranks[0] * sizeof *a) == 0;
    return CNNVP_DONE;
}

/* Inputs: a, scale, zero point; b, scale, zero point; scale and zero point of the result. */
cnnvp_result cnnvp_operator_qlinear_add(struct cnnvp_import *import)
{
    int alike = 0;
    struct steps result_step;
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(are_alike(import, &alike));
    if (import->graph->joins_steps || !alike)
        return cnnvp_import_rewrite(import, SCALED("Add"));
    CNNVP_TRY(read_step(import, 6, &result_step));
    CNNVP_TRY(dequantised(import, 0, result_step.scales[0], 1, &layer));
    const int32_t first = layer->out;
    CNNVP_TRY(dequantised(import, 3, result_step.scales[0], 1, &layer));
    const int32_t second = layer->out;
    CNNVP_TRY(cnnvp_import_like(import, CNNVP_OP_ADD, first, 0, &layer));
    layer->in2 = second;
    layer->arithmetic = CNNVP_ARITHMETIC_ADD;
    make_whole(import, layer, &result_step);
    return CNNVP_DONE;
}

/* Inputs: x, scale, zero point; scale and zero point of the result. */
cnnvp_result cnnvp_operator_qlinear_global_average(struct cnnvp_import *import)
{
    int32_t in;
    struct steps x, y;
    struct cnnvp_graph_layer *layer;
    if (cnnvp_onnx_int(import->node, "channels_last", 0) != 0)
        return cnnvp_import_rewrite(
            import, "maps = Transpose <perm = [0, 3, 1, 2]> (a); in = DequantizeLinear(maps, b, c);"
                    "mean = GlobalAveragePool(in); out = QuantizeLinear(mean, d, e);"
                    "y = Reshape(out, [0, 1, 1, -1])");
    if (import->graph->joins_steps)
        return cnnvp_import_rewrite(import, "in = DequantizeLinear(a, b, c); out = GlobalAveragePool(in);"
                                            "y = QuantizeLinear(out, d, e)");
    CNNVP_TRY(whole_input(import, 0, 4, &in, &x));
    CNNVP_TRY(check_one(import, 1, &x));
    CNNVP_TRY(read_step(import, 3, &y));
    const float factor = x.scales[0] / y.scales[0],
                offset = ((float)base_of(import, in)->zero - zero_of(&x, 0)) * factor;
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    if (input.height > INT16_MAX || input.width > INT16_MAX)
        return cnnvp_import_error(import, "maps of %u x %u are not supported", input.height, input.width);
    CNNVP_TRY(cnnvp_import_layer(import, CNNVP_OP_POOL, in, 1, input.channels, 1, 1, &layer));
    layer->pool = CNNVP_POOL_AVERAGE;
    layer->kx = layer->sx = input.width;
    layer->ky = layer->sy = input.height;
    CNNVP_TRY(add_scale(import, layer->out, factor, offset, 0, &layer));
    make_whole(import, layer, &y);
    return CNNVP_DONE;
}

/* Attribute opset is the operator set of the Softmax that it replaces: before set 13, one over all dimensions from the
 * axis on. */
cnnvp_result cnnvp_operator_qlinear_softmax(struct cnnvp_import *import)
{
    int64_t dims[CNNVP_ONNX_RANK];
    size_t rank, axis;
    const int flat = cnnvp_onnx_int(import->node, "opset", 13) < 13;
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    CNNVP_TRY(cnnvp_import_axis_of(import, cnnvp_onnx_int(import->node, "axis", flat ? 1 : -1), rank, &axis));
    for (size_t i = axis + 1; i < rank && flat; ++i)
        if (dims[i] != 1)
            return cnnvp_import_error(import, "before operator set 13 an axis that is not the last one is not "
                                              "supported");
    struct cnnvp_text text = {.used = 0};
    say(&text, "in = DequantizeLinear(a, b, c); out = Softmax <axis = %zu> (in); y = QuantizeLinear(out, d, e)", axis);
    return rewrite(import, &text);
}

/* Inputs: scale and zero point of the result; then each tensor with its scale and zero point. */
cnnvp_result cnnvp_operator_qlinear_concat(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    const size_t count = import->node->n_input / 3;
    if (count == 0 || count > 6)
        return cnnvp_import_error(import, "it joins %zu tensors; 1 to 6 are possible", count);
    for (size_t i = 0; i < count; ++i) {
        const char first = (char)('c' + 3 * i);
        say(&text,
            "scale%zu = Div(%c, a); in%zu = DequantizeLinear(%c, scale%zu, %c); "
            "q%zu = QuantizeLinear(in%zu, 1.0, b); ",
            i, first + 1, i, first, i, first + 2, i, i);
    }
    say(&text, "y = Concat <@axis> (");
    say_parts(&text, count);
    return rewrite(import, &text);
}

/* Inputs: x, w, and their zero points. If the network computed x as an ordinary tensor of integers, its zero point is
 * subtracted. */
cnnvp_result cnnvp_operator_integers(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    int64_t dims[CNNVP_ONNX_RANK];
    size_t zeros = 0;
    CNNVP_TRY(cnnvp_import_value(import, 0, &value));
    if (cnnvp_import_has(import, 3))
        CNNVP_TRY(cnnvp_import_dims_of(import, 3, &zeros, dims));
    const int whole = value.tensor == CNNVP_GRAPH_NONE || base_of(import, value.tensor)->whole != 0;
    say(&text, "%s weights = DequantizeLinear <axis = %d> (b, %s, d); x = %s; y = %s(x, weights)",
        zeros != 0 ? "zero = Cast <to = 1> (d); none = Mul(zero, 0.0); ones = Add(none, 1.0);" : "",
        import->kind ? 0 : -1, zeros != 0 ? "ones" : "1.0",
        whole                         ? "DequantizeLinear(a, 1.0, c)"
        : cnnvp_import_has(import, 2) ? "Sub(a, c)"
                                      : "Identity(a)",
        import->kind ? "Conv <@auto_pad, @dilations, @group, @kernel_shape, @pads, @strides> " : "MatMul");
    return rewrite(import, &text);
}

/* ---- operators on integers ---- */

static enum cnnvp_import_words words_of(const struct cnnvp_import *import)
{
    const struct cnnvp_import_operator *row = cnnvp_import_operator_of(import->node);
    return row != NULL ? row->words : CNNVP_WORDS_FLOATS;
}

/* 1: this operator gives the same result for this integer type as for floats. Booleans, and constants folded from them
 * (INT64), are accepted by comparisons and logic; other integers also by some arithmetic if the network's input has
 * integers. Both are joined to tensors of such types. */
static int takes_any(const struct cnnvp_import *import, int type)
{
    const int condition = words_of(import) == CNNVP_WORDS_CONDITIONS;
    const int is_byte = type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 || type == ONNX__TENSOR_PROTO__DATA_TYPE__INT8;
    for (size_t i = 0; i < import->node->n_input && !is_byte; ++i)
        if (cnnvp_import_is_one_of(import->node->op_type, " Concat Pad ") &&
            cnnvp_import_known_tensor(import, import->node->input[i]) != CNNVP_GRAPH_NONE)
            return cnnvp_import_kind(import, i) >= CNNVP_KIND_INTEGER;
    if (type == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL || !import->integers)
        return condition &&
               (type == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL || type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 ||
                type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32);
    return condition || cnnvp_import_is_one_of(import->node->op_type, " Max Min Clip Add Sub Mul ");
}

cnnvp_result cnnvp_import_check_floats(struct cnnvp_import *import, const Onnx__TensorProto *tensor)
{
    if (tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT ||
        tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16 ||
        tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16 ||
        tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE || words_of(import) == CNNVP_WORDS_COMPUTED ||
        takes_any(import, tensor->data_type))
        return CNNVP_DONE;
    return cnnvp_import_error(
        import,
        "tensor \"%s\" has data type %d where floats are needed; a Cast, or a DequantizeLinear of "
        "quantised numbers, makes floats of it",
        tensor->name != NULL ? tensor->name : "", (int)tensor->data_type);
}

/* 1: a Cast to the type that the quantised tensor has already, as PyTorch exports it between operators. */
static int is_no_cast(const struct cnnvp_import *import, const struct cnnvp_onnx_value *value)
{
    const int64_t to = cnnvp_onnx_int(import->node, "to", 0);
    if (strcmp(import->node->op_type, "Cast") != 0 || value->tensor == CNNVP_GRAPH_NONE)
        return 0;
    const struct cnnvp_graph_tensor *base = base_of(import, value->tensor);
    const int32_t low = base->zero - 128 - base->word_zero;
    return base->whole != 0 && ((to == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 && low == 0) ||
                                (to == ONNX__TENSOR_PROTO__DATA_TYPE__INT8 && low == -128));
}

cnnvp_result cnnvp_import_as_numbers(struct cnnvp_import *import, int *done)
{
    const Onnx__NodeProto *node = import->node;
    struct cnnvp_text text = {.used = 0};
    struct cnnvp_text call = {.used = 0};
    const int takes = words_of(import) >= CNNVP_WORDS_NUMBERS;
    int many = 0; /* 1: some inputs are quantised tensors */
    *done = 0;
    for (size_t i = 0; i < node->n_input && takes; ++i) {
        struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
        if (cnnvp_import_has(import, i))
            CNNVP_TRY(cnnvp_import_value(import, i, &value));
        *done |= is_no_cast(import, &value);
        if (*done)
            return cnnvp_import_alias(import, node->output[0], value.tensor);
        const int whole = value.tensor != CNNVP_GRAPH_NONE ? base_of(import, value.tensor)->whole != 0
                          : value.constant != NULL         ? cnnvp_constant_has_bytes(value.constant)
                                                           : 0;
        many |= whole && value.constant == NULL;
        if (whole) {
            say(&text, "x%zu = DequantizeLinear(%c, 1.0);", i, (char)('a' + i));
            say(&call, "x%zu", i);
        } else
            say(&call, "%c", (char)('a' + i));
        say(&call, i + 1 < node->n_input ? ", " : "");
    }
    *done = many;
    if (!many)
        return CNNVP_DONE;
    say(&text, "y = %s%s(%s)", node->op_type, strcmp(node->op_type, "Cast") == 0 ? " <@to> " : "", call.rule);
    return rewrite(import, &text);
}

cnnvp_result cnnvp_import_check_whole(struct cnnvp_import *import, struct cnnvp_graph_tensor *like)
{
    const Onnx__NodeProto *node = import->node;
    const enum cnnvp_import_words words = words_of(import);
    *like = (struct cnnvp_graph_tensor){.whole = 0};
    for (size_t i = 0; i < node->n_input && words != CNNVP_WORDS_COMPUTED; ++i) {
        const int32_t tensor = cnnvp_import_known_tensor(import, node->input[i]);
        if (tensor == CNNVP_GRAPH_NONE)
            continue;
        const struct cnnvp_graph_tensor *base = base_of(import, tensor);
        const int differs =
            i != 0 && (base->whole != like->whole || base->zero != like->zero || base->word_zero != like->word_zero);
        if (base->whole != 0 && words != CNNVP_WORDS_PASSED)
            return cnnvp_import_error(
                import, "input \"%s\" is quantised; a DequantizeLinear or a Cast is needed in front", node->input[i]);
        if (differs)
            return cnnvp_import_error(
                import, "the inputs are not quantised alike; a DequantizeLinear is needed in front "
                        "of each");
        *like = *base;
    }
    return CNNVP_DONE;
}

void cnnvp_import_pass_whole(struct cnnvp_import *import, const struct cnnvp_graph_tensor *like)
{
    for (size_t i = 0; i < import->node->n_output; ++i) {
        const int32_t tensor = cnnvp_import_known_tensor(import, import->node->output[i]);
        if (tensor != CNNVP_GRAPH_NONE)
            cnnvp_graph_set_whole(import->graph, cnnvp_graph_base(import->graph, tensor), like);
    }
}
