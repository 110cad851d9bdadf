/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of other domains that stand for several ONNX operators on floats: those of onnxruntime's optimiser
 * (com.microsoft), and the quantisers of QONNX, which Brevitas, FINN and hls4ml write.
 */
#include <math.h>
#include <string.h>

#include "onnx_constant.h"
#include "onnx_text.h"

/* ---- onnxruntime ---- */

/* Appends "y = ACTIVATION(sum)" as given by attributes `activation` and `activation_params`, and imports the rule. */
static cnnvp_result rewrite_activated(struct cnnvp_import *import, struct cnnvp_text *text)
{
    const Onnx__AttributeProto *numbers = cnnvp_onnx_attribute(import->node, "activation_params");
    const Onnx__AttributeProto *function = cnnvp_onnx_attribute(import->node, "activation");
    char name[32] = "Identity";
    if (function != NULL && function->has_s && function->s.len < sizeof name)
        (void)snprintf(name, sizeof name, "%.*s", (int)function->s.len, (const char *)function->s.data);
    const int is_clip = strcmp(name, "Clip") == 0;
    const int slopes = strcmp(name, "HardSigmoid") == 0 ? 2 : strcmp(name, "LeakyRelu") == 0;
    if (!is_clip && slopes == 0 && !cnnvp_import_is_one_of(name, " Identity Relu Sigmoid Tanh "))
        return cnnvp_import_error(
            import, "activation \"%s\" is none of Relu, Sigmoid, Tanh, LeakyRelu, HardSigmoid, Clip", name);
    if (numbers == NULL || numbers->n_floats != (size_t)(is_clip ? 2 : slopes)) {
        say(text, "y = %s(sum)", name);
        return is_clip ? cnnvp_import_error(import, "activation_params has no two limits") : rewrite(import, text);
    }
    const float *number = numbers->floats;
    if (is_clip)
        say(text, "y = Clip(sum, %.9e, %.9e)", (double)number[0], (double)number[1]);
    else if (slopes == 2)
        say(text, "y = HardSigmoid <alpha = %.9e, beta = %.9e> (sum)", (double)number[0], (double)number[1]);
    else if (slopes == 1)
        say(text, "y = LeakyRelu <alpha = %.9e> (sum)", (double)number[0]);
    else
        say(text, "y = %s(sum)", name);
    return rewrite(import, text);
}

cnnvp_result cnnvp_operator_fused_conv(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    say(&text, "made = Conv <@auto_pad, @dilations, @group, @kernel_shape, @pads, @strides> (a, b, c); sum = %s;",
        cnnvp_import_has(import, 3) ? "Add(made, d)" : "Identity(made)");
    return rewrite_activated(import, &text);
}

cnnvp_result cnnvp_operator_fused_gemm(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    say(&text, "sum = Gemm <@alpha, @beta, @transA, @transB> (a, b, c);");
    return rewrite_activated(import, &text);
}

static cnnvp_result say_turned(struct cnnvp_import *import, struct cnnvp_text *text, size_t input,
                               const char *attribute)
{
    int64_t dims[CNNVP_ONNX_RANK];
    size_t rank = 0;
    CNNVP_TRY(cnnvp_import_dims_of(import, input, &rank, dims));
    say(text, "of%c = ", (int)('a' + (int)input));
    if (rank < 2 || cnnvp_onnx_int(import->node, attribute, 0) == 0) {
        say(text, "Identity(%c);", (int)('a' + (int)input));
        return CNNVP_DONE;
    }
    say(text, "Transpose <perm = [");
    for (size_t i = 0; i < rank; ++i)
        say(text, "%s%zu", i != 0 ? ", " : "", i + 2 < rank ? i : 2 * rank - 3 - i);
    say(text, "]> (%c);", (int)('a' + (int)input));
    return CNNVP_DONE;
}

cnnvp_result cnnvp_operator_fused_matmul(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    if (cnnvp_onnx_int(import->node, "transBatchA", 0) != 0 || cnnvp_onnx_int(import->node, "transBatchB", 0) != 0)
        return cnnvp_import_error(import, "transBatchA and transBatchB are not supported; 0 is");
    CNNVP_TRY(say_turned(import, &text, 0, "transA"));
    CNNVP_TRY(say_turned(import, &text, 1, "transB"));
    say(&text, "made = MatMul(ofa, ofb); y = Mul(made, @alpha|1.0)");
    return rewrite(import, &text);
}

cnnvp_result cnnvp_operator_fast_gelu(struct cnnvp_import *import)
{
    return cnnvp_import_rewrite(
        import, cnnvp_import_has(import, 1) ? "sum = Add(a, b); y = Gelu <approximate = tanh> (sum)"
                                            : "y = Gelu <approximate = tanh> (a)");
}

/* Kind 1: RMS normalisation. Output x, the fourth, is the sum that is normalised. */
cnnvp_result cnnvp_operator_skip_norm(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    const int simple = import->kind;
    const size_t bias = simple ? 3 : 4;
    for (size_t i = 1; i < 3; ++i)
        if (import->node->n_output > i && import->node->output[i][0] != '\0')
            return cnnvp_import_error(import, "means and deviations as outputs are not supported");
    say(&text, "both = Add(a, b); x = %s;",
        cnnvp_import_has(import, bias) ? simple ? "Add(both, d)" : "Add(both, e)" : "Identity(both)");
    say(&text, "y = %s <axis = -1, epsilon = @epsilon|0.000000000001> (x, %s)",
        simple ? "RMSNormalization" : "LayerNormalization", simple || !cnnvp_import_has(import, 3) ? "c" : "c, d");
    return rewrite(import, &text);
}

/* Multi-head attention with all heads in one dimension. Kind 1: one product computes queries, keys and values. */
cnnvp_result cnnvp_operator_heads(struct cnnvp_import *import)
{
    static const char *const parts[3] = {"query", "key", "value"};
    struct cnnvp_text text = {.used = 0};
    int64_t dims[CNNVP_ONNX_RANK];
    size_t rank = 0;
    const int packed = import->kind;
    const size_t mask = 5;
    const long long heads = cnnvp_onnx_int(import->node, "num_heads", 0);
    if (cnnvp_import_has(import, packed ? 3 : 4) || cnnvp_import_has(import, packed ? 4 : 6) ||
        cnnvp_import_has(import, packed ? 6 : 7) || cnnvp_onnx_attribute(import->node, "qkv_hidden_sizes") != NULL)
        return cnnvp_import_error(import, "masks of keys, past keys and sizes that differ are not supported");
    if (cnnvp_onnx_int(import->node, "do_rotary", 0) != 0)
        return cnnvp_import_error(import, "do_rotary=1 is not supported; 0 is");
    if (packed) {
        say(&text, "product = MatMul(a, b); all = %s;",
            cnnvp_import_has(import, 2) ? "Add(product, c)" : "Identity(product)");
        say(&text, "query, key, value = Split <axis = -1, num_outputs = 3> (all);");
    }
    int64_t from = 0;
    for (size_t i = 0; i < 3 && !packed; ++i) {
        CNNVP_TRY(cnnvp_import_dims_of(import, i, &rank, dims));
        if (rank != 3)
            return cnnvp_import_error(import, "its %s has %zu dimensions; 3 are supported", parts[i], rank);
        if (cnnvp_import_has(import, 3))
            say(&text, "of%s = Slice(d, [%lld], [%lld]); %s = Add(%c, of%s);", parts[i], (long long)from,
                (long long)from + (long long)dims[2], parts[i], (int)('a' + (int)i), parts[i]);
        else
            say(&text, "%s = Identity(%c);", parts[i], (int)('a' + (int)i));
        from += dims[2];
    }
    say(&text, "y = Attention <q_num_heads = %lld, kv_num_heads = %lld, is_causal = %lld", heads, heads,
        (long long)cnnvp_onnx_int(import->node, "unidirectional", 0));
    say(&text,
        cnnvp_onnx_attribute(import->node, "scale") != NULL ? ", @scale> (query, key, value%s)"
                                                            : "> (query, key, value%s)",
        cnnvp_import_has(import, mask) ? ", f" : "");
    return rewrite(import, &text);
}

/* ---- QONNX ---- */

/* The value of a constant whose elements must all be equal. */
static cnnvp_result same_number(struct cnnvp_import *import, size_t input, const char *name, float *number)
{
    struct cnnvp_constant all;
    CNNVP_TRY(cnnvp_constant_need(import, input, &all));
    for (size_t i = 0; i < all.count; ++i) {
        const float one = all.whole ? (float)all.ints[i] : all.floats[i];
        if (i != 0 && (one < *number || one > *number))
            return cnnvp_import_error(import, "its %s differ; one number is supported", name);
        *number = one;
    }
    return all.count != 0 ? CNNVP_DONE : cnnvp_import_error(import, "its %s are no number", name);
}

/* Up to 8 bits: QuantizeLinear and DequantizeLinear, with a Clip if the range is smaller than the type's. Constant
 * weights use only DequantizeLinear, since their integers are known; they may have one step for each element of an
 * axis. All other cases round in floats. */
cnnvp_result cnnvp_operator_quant(struct cnnvp_import *import)
{
    static const char *const operators[] = {"Round", "Floor", "Ceil"};
    struct cnnvp_text text = {.used = 0};
    struct cnnvp_onnx_value data = {.tensor = CNNVP_GRAPH_NONE};
    struct cnnvp_constant scale;
    float zero = 0, bits = 0;
    const int is_signed = cnnvp_onnx_int(import->node, "signed", 1) != 0;
    const int narrow = cnnvp_onnx_int(import->node, "narrow", 0) != 0;
    int rounding = 0;
    CNNVP_TRY(cnnvp_import_value(import, 0, &data));
    CNNVP_TRY(cnnvp_constant_need(import, 1, &scale));
    CNNVP_TRY(same_number(import, 2, "zero points", &zero));
    CNNVP_TRY(same_number(import, 3, "bits", &bits));
    CNNVP_TRY(cnnvp_import_choice(import, "rounding_mode", "ROUND, FLOOR, CEIL", &rounding));
    if (!(bits >= 1.0f && bits <= 24.0f && bits - floorf(bits) <= 0.0f))
        return cnnvp_import_error(import, "%g bits are not supported; 1 to 24 are", (double)bits);
    if (scale.whole || scale.count == 0)
        return cnnvp_import_error(import, "its scale is no float");
    const long long numbers = 1LL << (int)bits;
    const long long low = is_signed ? narrow - numbers / 2 : 0;
    const long long high = is_signed ? numbers / 2 - 1 : numbers - 1 - narrow;
    const int whole = zero - floorf(zero) <= 0.0f;
    const int type = is_signed ? ONNX__TENSOR_PROTO__DATA_TYPE__INT8 : ONNX__TENSOR_PROTO__DATA_TYPE__UINT8;
    const int has_bytes = bits <= 8.0f && rounding == 0 && whole && zero <= (float)high && zero >= (float)low;
    size_t axis = 0;
    for (size_t i = 0; i < scale.rank; ++i)
        axis = scale.dims[i] != 1 ? i : axis;
    const int by_axis = scale.count != 1 && scale.dims[axis] == (int64_t)scale.count;
    if (has_bytes && data.constant == NULL && scale.count == 1) {
        const double step = (double)scale.floats[0];
        say(&text, "step = Reshape(b, [1]); point = Cast <to = %d> ([%lld]);", type, (long long)zero);
        say(&text, numbers == 256 && !narrow ? "kept = Identity(a);" : "kept = Clip(a, %.12e, %.12e);",
            ((double)low - (double)zero) * step, ((double)high - (double)zero) * step);
        say(&text, "word = QuantizeLinear(kept, step, point); y = DequantizeLinear(word, step, point)");
        return rewrite(import, &text);
    }
    say(&text, "parts = Div(a, b); moved = Add(parts, %.9e); near = %s(moved); word = Clip(near, %lld.0, %lld.0);",
        (double)zero, operators[rounding], low, high);
    if (has_bytes && data.constant != NULL && (scale.count == 1 || by_axis))
        say(&text,
            "byte = Cast <to = %d> (word); step = Reshape(b, [-1]); size = Shape(step); wide = Expand(%lld, size);"
            "point = Cast <to = %d> (wide); y = DequantizeLinear <axis = %zu> (byte, step, point)",
            type, (long long)zero, type, axis);
    else
        say(&text, "less = Sub(word, %.9e); y = Mul(less, b)", (double)zero);
    return rewrite(import, &text);
}
