/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of two or more tensors, or of a tensor and a constant. */
#include <float.h>
#include <math.h>

#include "onnx_constant.h"

/* Largest exponent of Pow that becomes multiplications: each further multiplication rounds once more. */
#define POWER_MAX 4

/* ---- constants ---- */

/* Broadcasts a constant, whose dimensions must be 1 or the tensor's, to one value for each word of an image. */
static cnnvp_result read_all(struct cnnvp_import *import, const Onnx__TensorProto *constant, int32_t in, float **values)
{
    int64_t dims[CNNVP_ONNX_RANK];
    float *read;
    struct cnnvp_constant shape = {.rank = constant->n_dims};
    const uint32_t rank = cnnvp_import_all_dims(import, in, dims);
    const size_t words = cnnvp_graph_words(&import->graph->tensors[in]);
    int fits = constant->n_dims <= rank && words <= CNNVP_ONNX_CONSTANT_MAX;
    dims[0] = 1;
    for (size_t i = 0; i < constant->n_dims && fits; ++i) {
        shape.dims[i] = constant->dims[i];
        fits = constant->dims[i] == 1 || constant->dims[i] == dims[rank - constant->n_dims + i];
    }
    if (!fits)
        return cnnvp_import_error(
            import,
            "constant \"%s\" has %zu elements in %zu dimensions; one element, one for each of "
            "the %u channels, or dimensions that are 1 or the tensor's, and up to %d "
            "elements are needed",
            constant->name != NULL ? constant->name : "", cnnvp_onnx_elements(constant), constant->n_dims,
            import->graph->tensors[in].channels, CNNVP_ONNX_CONSTANT_MAX);
    const cnnvp_result result = cnnvp_import_floats(import, constant, cnnvp_onnx_elements(constant), &read);
    *values = NULL;
    if (result != CNNVP_DONE || read == NULL)
        return result;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, words, values));
    const struct cnnvp_constant_view view = cnnvp_constant_spread(&shape, rank, dims);
    struct cnnvp_constant_walk walk = cnnvp_constant_begin(&view);
    for (size_t i = 0; i < words; ++i)
        (*values)[i] = read[cnnvp_constant_next(&walk)];
    return CNNVP_DONE;
}

/* 1: the constant has one value for each column and is broadcast along the other dimensions, of up to four. */
static int is_of_last(const Onnx__TensorProto *constant, const struct cnnvp_graph_tensor *input)
{
    int fits = input->rank >= 3 && input->rank <= 4 && constant->n_dims != 0 && constant->n_dims <= input->rank;
    for (size_t i = 0; i + 1 < constant->n_dims && fits; ++i)
        fits = constant->dims[i] == 1;
    return fits && constant->dims[constant->n_dims - 1] == input->width && input->width > 1;
}

cnnvp_result cnnvp_import_operand(struct cnnvp_import *import, const Onnx__TensorProto *constant, int32_t in,
                                  struct cnnvp_import_numbers *numbers)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    *numbers = (struct cnnvp_import_numbers){.count = input.channels};
    CNNVP_TRY(cnnvp_import_old_axis(import, input.rank, &constant));
    if (cnnvp_import_is_per_channel(constant, input.rank, input.channels))
        return cnnvp_import_per_channel(import, constant, input.rank, input.channels, 1.0f, &numbers->values);
    if (is_of_last(constant, &input)) {
        numbers->each = CNNVP_EACH_LAST;
        numbers->count = input.width;
        return cnnvp_import_floats(import, constant, input.width, &numbers->values);
    }
    numbers->each = CNNVP_EACH_WORD;
    numbers->count = cnnvp_graph_words(&input);
    return read_all(import, constant, in, &numbers->values);
}

/* Moves the last dimension to the channels, scales the channels, and moves it back. */
static cnnvp_result scale_last(struct cnnvp_import *import, int32_t in, float *scale, float *offset, int32_t *out)
{
    static const uint32_t to[3] = {2, 0, 1};
    static const uint32_t back[3] = {1, 2, 0};
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    const uint32_t sizes[3] = {input.channels, input.height, input.width};
    const uint32_t turned[3] = {input.width, input.channels, input.height};
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_permute(import, in, sizes, to, &in));
    CNNVP_TRY(cnnvp_import_affine(import, in, scale, offset, 1, &layer));
    return cnnvp_import_permute(import, layer->out, turned, back, out);
}

cnnvp_result cnnvp_import_line(struct cnnvp_import *import, int32_t in, enum cnnvp_import_each each, float *scale,
                               float *offset, int inner, int32_t *out)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    struct cnnvp_graph_layer *layer;
    int32_t on = in;
    int32_t made;
    const int64_t channels[2] = {0, (int64_t)cnnvp_graph_words(&input)};
    if (each == CNNVP_EACH_WORD) /* all words of an image become channels */
        CNNVP_TRY(cnnvp_import_shaped(import, input.name, in, 2, channels, &on));
    if (each == CNNVP_EACH_LAST) {
        CNNVP_TRY(scale_last(import, in, scale, offset, &made));
    } else {
        CNNVP_TRY(cnnvp_import_affine(import, on, scale, offset, inner || each == CNNVP_EACH_WORD, &layer));
        *out = made = layer->out;
    }
    if (each == CNNVP_EACH_CHANNEL)
        return CNNVP_DONE;
    int64_t dims[CNNVP_ONNX_RANK];
    const uint32_t rank = cnnvp_import_all_dims(import, in, dims);
    const cnnvp_result shaped = cnnvp_import_shaped(import, import->node->output[0], made, rank, dims, out);
    return inner || shaped != CNNVP_DONE ? shaped : cnnvp_import_alias(import, import->node->output[0], *out);
}

cnnvp_result cnnvp_import_repeat(struct cnnvp_import *import, size_t count, float value, float **values)
{
    *values = NULL;
    if (import->graph->weightless)
        return CNNVP_DONE;
    *values = cnnvp_arena_array(&import->graph->arena, count, sizeof **values);
    for (size_t i = 0; i < count && *values != NULL; ++i)
        (*values)[i] = value;
    return *values != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(import->error);
}

static cnnvp_result invert(struct cnnvp_import *import, size_t count, float *values)
{
    for (size_t i = 0; i < count && values != NULL; ++i) {
        if (!(values[i] < 0.0f || values[i] > 0.0f))
            return cnnvp_import_error(import, "division by the constant 0");
        values[i] = 1.0f / values[i];
    }
    return CNNVP_DONE;
}

/* The constant has elements where the tensor has a dimension of 1 or none: the constant becomes a tensor. */
static cnnvp_result with_larger(struct cnnvp_import *import, enum cnnvp_layer_arithmetic operation, size_t tensor_input,
                                int32_t in, const Onnx__TensorProto *constant)
{
    int32_t other, out;
    const uint32_t own = (uint32_t)constant->n_dims + (import->single != 0);
    const uint32_t rank = import->graph->tensors[in].rank;
    CNNVP_TRY(cnnvp_import_constants(import, constant, own > rank ? own : rank, &other));
    /* The format of a sum follows its first operand, which should keep as many fraction bits as possible. */
    return tensor_input == 0 || operation == CNNVP_ARITHMETIC_ADD
               ? cnnvp_import_pair(import, operation, in, other, 0, &out)
               : cnnvp_import_pair(import, operation, other, in, 0, &out);
}

/* tensor (operation) constant, or constant (operation) tensor. If this is not affine in x, the constant becomes a
 * tensor, x * 0 + constant. */
static cnnvp_result with_constant(struct cnnvp_import *import, enum cnnvp_layer_arithmetic operation,
                                  size_t tensor_input)
{
    int32_t in, out;
    const Onnx__TensorProto *constant = NULL;
    struct cnnvp_import_numbers numbers;
    float *other = NULL;
    int64_t dims[CNNVP_ONNX_RANK];
    CNNVP_TRY(cnnvp_import_any_rank(import, tensor_input, &in));
    CNNVP_TRY(cnnvp_import_constant(import, 1 - tensor_input, &constant));
    if (cnnvp_import_is_larger(import, constant, in))
        return with_larger(import, operation, tensor_input, in, constant);
    const int32_t words = in;
    const uint32_t rank = cnnvp_import_all_dims(import, in, dims);
    if (cnnvp_onnx_elements(constant) == 1)
        CNNVP_TRY(cnnvp_import_row(import, &in));
    CNNVP_TRY(cnnvp_import_operand(import, constant, in, &numbers));
    const int reversed = tensor_input == 1;
    if ((operation == CNNVP_ARITHMETIC_DIV && reversed) || operation == CNNVP_ARITHMETIC_MAX ||
        operation == CNNVP_ARITHMETIC_MIN) {
        CNNVP_TRY(cnnvp_import_repeat(import, numbers.count, 0.0f, &other));
        CNNVP_TRY(cnnvp_import_line(import, in, numbers.each, other, numbers.values, 1, &out));
        CNNVP_TRY(cnnvp_import_pair(import, operation, out, in, in != words, &out));
        return in != words ? cnnvp_import_view(import, out, rank, dims) : CNNVP_DONE;
    }
    if (operation == CNNVP_ARITHMETIC_DIV)
        CNNVP_TRY(invert(import, numbers.count, numbers.values));
    if (operation == CNNVP_ARITHMETIC_SUB && reversed)
        CNNVP_TRY(cnnvp_import_repeat(import, numbers.count, -1.0f, &other));
    const int negative = operation == CNNVP_ARITHMETIC_SUB && !reversed;
    for (size_t i = 0; negative && numbers.values != NULL && i < numbers.count; ++i)
        numbers.values[i] = -numbers.values[i];
    const int product = operation == CNNVP_ARITHMETIC_MUL || operation == CNNVP_ARITHMETIC_DIV;
    CNNVP_TRY(cnnvp_import_line(import, in, numbers.each, product ? numbers.values : other,
                                product ? NULL : numbers.values, in != words, &out));
    if (in != words)
        return cnnvp_import_view(import, out, rank, dims);
    if (operation == CNNVP_ARITHMETIC_ADD && numbers.each == CNNVP_EACH_CHANNEL)
        cnnvp_import_origin(import, CNNVP_GRAPH_BIAS, 1 - tensor_input);
    return CNNVP_DONE;
}

/* max{x, limit} or min{x, limit} with a single constant. An infinite limit has no effect. */
static cnnvp_result with_limit(struct cnnvp_import *import, enum cnnvp_layer_arithmetic operation, size_t tensor_input,
                               const Onnx__TensorProto *constant)
{
    int32_t in;
    float limit;
    struct cnnvp_error why;
    CNNVP_TRY(cnnvp_import_any_rank(import, tensor_input, &in));
    CNNVP_TRY(cnnvp_import_check_floats(import, constant));
    if (cnnvp_onnx_elements(constant) != 1 || cnnvp_onnx_number(&import->onnx, constant, &limit, &why) != CNNVP_DONE)
        return cnnvp_import_error(import, "the constant is not one number");
    if (operation == CNNVP_ARITHMETIC_MAX ? limit <= -FLT_MAX : limit >= FLT_MAX)
        return cnnvp_import_alias(import, import->node->output[0], in);
    return cnnvp_import_post(
        import, in, operation == CNNVP_ARITHMETIC_MAX ? CNNVP_GRAPH_MAX : CNNVP_GRAPH_MIN, limit, 0, &in);
}

cnnvp_result cnnvp_operator_two(struct cnnvp_import *import)
{
    const enum cnnvp_layer_arithmetic operation = (enum cnnvp_layer_arithmetic)import->kind;
    struct cnnvp_onnx_value values[2] = {{.tensor = CNNVP_GRAPH_NONE}, {.tensor = CNNVP_GRAPH_NONE}};
    int32_t out;
    for (size_t i = 0; i < 2; ++i) {
        CNNVP_TRY(cnnvp_import_value(import, i, &values[i]));
    }
    int done = 0;
    if (values[1].constant == NULL)
        CNNVP_TRY(cnnvp_import_by_axis(import, &done));
    if (done)
        return CNNVP_DONE;
    if (values[0].constant != NULL && values[1].constant != NULL)
        return cnnvp_import_error(import, "both inputs are constants; fold them before the export");
    const int limits = operation == CNNVP_ARITHMETIC_MAX || operation == CNNVP_ARITHMETIC_MIN;
    const size_t tensor = values[0].constant != NULL ? 1 : 0;
    const Onnx__TensorProto *constant = values[1 - tensor].constant;
    if (operation == CNNVP_ARITHMETIC_DIV &&
        (cnnvp_import_is_integer(import, tensor) || (constant == NULL && cnnvp_import_is_integer(import, 1))))
        return cnnvp_import_quotient(import);
    const int divides = operation == CNNVP_ARITHMETIC_DIV || operation == CNNVP_ARITHMETIC_MUL;
    if (divides)
        CNNVP_TRY(cnnvp_import_composite(import, &done));
    if (done)
        return CNNVP_DONE;
    if (constant == NULL) {
        if (divides)
            CNNVP_TRY(cnnvp_import_taken_apart(import, values[0].tensor, &done));
        return done ? CNNVP_DONE : cnnvp_import_pair(import, operation, values[0].tensor, values[1].tensor, 0, &out);
    }
    if (limits && cnnvp_onnx_elements(constant) == 1)
        return with_limit(import, operation, tensor, constant);
    return with_constant(import, operation, tensor);
}

cnnvp_result cnnvp_import_operand_tensor(struct cnnvp_import *import, size_t index, uint32_t rank, int32_t *tensor)
{
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    CNNVP_TRY(cnnvp_import_value(import, index, &value));
    if (value.constant == NULL)
        return cnnvp_import_any_rank(import, index, tensor);
    const uint32_t own = (uint32_t)value.constant->n_dims + (import->single != 0);
    return cnnvp_import_constants(import, value.constant, own > rank ? own : rank, tensor);
}

/* Max, Min and Sum of any number of operands, accumulated from the first to the last. */
cnnvp_result cnnvp_operator_many(struct cnnvp_import *import)
{
    const enum cnnvp_layer_arithmetic operation = (enum cnnvp_layer_arithmetic)import->kind;
    int32_t made;
    const size_t count = import->node->n_input;
    if (count == 2)
        return cnnvp_operator_two(import);
    CNNVP_TRY(cnnvp_import_operand_tensor(import, 0, 1, &made));
    for (size_t i = 1; i < count; ++i) {
        int32_t next;
        CNNVP_TRY(cnnvp_import_operand_tensor(import, i, import->graph->tensors[made].rank, &next));
        CNNVP_TRY(cnnvp_import_pair(import, operation, made, next, i + 1 < count, &made));
    }
    return count > 1 ? CNNVP_DONE : cnnvp_import_alias(import, import->node->output[0], made);
}

/* 1 / x. */
static cnnvp_result inverse(struct cnnvp_import *import, int32_t in, int inner, int32_t *out)
{
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_scale(import, in, 0.0f, 1.0f, 1, &layer));
    return cnnvp_import_pair(import, CNNVP_ARITHMETIC_DIV, layer->out, in, inner, out);
}

cnnvp_result cnnvp_operator_reciprocal(struct cnnvp_import *import)
{
    int32_t in;
    int done;
    CNNVP_TRY(cnnvp_import_composite(import, &done));
    if (done)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    return inverse(import, in, 0, &in);
}

/* x^exponent for a positive exponent. Small integer exponents become multiplications. Others use a lookup table of |x|;
 * odd integer exponents look up exponent - 1 and multiply by x, which restores the sign. */
static cnnvp_result power(struct cnnvp_import *import, int32_t in, float exponent, int inner, int32_t *out)
{
    const int whole = exponent <= (float)CNNVP_ONNX_WINDOW_MAX && !((float)(int)exponent < exponent);
    const int odd = whole && (int)exponent % 2 != 0;
    int32_t made = in;
    if (whole && exponent <= (float)POWER_MAX) {
        const int times = (int)exponent;
        for (int i = 2; i <= times; ++i)
            CNNVP_TRY(cnnvp_import_pair(import, CNNVP_ARITHMETIC_MUL, made, in, inner || i < times, &made));
        *out = made;
        return times > 1 || inner ? CNNVP_DONE : cnnvp_import_alias(import, import->node->output[0], in);
    }
    if (whole)
        CNNVP_TRY(cnnvp_import_post(import, in, CNNVP_GRAPH_LEAKY_RELU, -1.0f, 1, &made));
    exponent -= odd ? 1.0f : 0.0f;
    CNNVP_TRY(cnnvp_import_post(import, made, CNNVP_GRAPH_POWER, exponent, odd || inner, out));
    return odd ? cnnvp_import_pair(import, CNNVP_ARITHMETIC_MUL, *out, in, inner, out) : CNNVP_DONE;
}

cnnvp_result cnnvp_operator_power(struct cnnvp_import *import)
{
    int32_t in;
    float exponent = 0.0f;
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    CNNVP_TRY(cnnvp_import_number(import, 1, "exponent", 0, &exponent));
    if ((exponent < 0.0f || floorf(exponent) < exponent) && cnnvp_import_is_integer(import, 0))
        return cnnvp_import_error(
            import, "integers to the power of %g are not supported; a Cast makes floats of them", (double)exponent);
    if (exponent < 0.0f) {
        CNNVP_TRY(power(import, in, -exponent, 1, &in));
        return inverse(import, in, 0, &in);
    }
    return exponent > 0.0f ? power(import, in, exponent, 0, &in)
                           : cnnvp_import_scale(import, in, 0.0f, 1.0f, 0, &layer);
}

cnnvp_result cnnvp_operator_negate(struct cnnvp_import *import)
{
    int32_t in;
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    return cnnvp_import_scale(import, in, -1.0f, 0.0f, 0, &layer);
}
