/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of two or more tensors, or of a tensor and a constant. */
#include <string.h>

#include "onnx_node.h"

/* ---- constants ---- */

static int is_per_channel(const Onnx__TensorProto *constant, uint32_t rank, uint32_t channels)
{
    const size_t count = cnnvp_onnx_elements(constant);
    int fits = constant->n_dims <= rank && (count == 1 || count == channels);
    for (size_t i = 0; i < constant->n_dims && fits && count > 1; ++i)
        fits = constant->dims[i] == 1 || (rank - constant->n_dims + i == 1 && constant->dims[i] == channels);
    return fits;
}

/* One number for each word of an image from a constant whose dimensions are 1 or the tensor's. */
static cnnvp_result read_all(struct cnnvp_import *import, const Onnx__TensorProto *constant, int32_t in, float **values)
{
    int64_t dims[4];
    size_t strides[4] = {0, 0, 0, 0}; /* in the constant */
    float *read;
    size_t stride = 1;
    const uint32_t rank = cnnvp_import_dims(import, in, dims);
    const size_t words = cnnvp_graph_words(&import->graph->tensors[in]);
    int fits = constant->n_dims <= rank && words <= CNNVP_ONNX_DIMENSION_MAX;
    for (size_t i = constant->n_dims; i-- > 0 && fits;) {
        const size_t axis = rank - constant->n_dims + i;
        fits = constant->dims[i] == 1 || (axis != 0 && constant->dims[i] == dims[axis]);
        strides[axis] = constant->dims[i] == 1 ? 0 : stride;
        stride *= (size_t)constant->dims[i];
    }
    if (!fits)
        return cnnvp_import_error(import,
                                  "constant \"%s\" has %zu elements in %zu dimensions; one element, one for each of "
                                  "the %u channels, or dimensions that are 1 or the tensor's, and up to %d "
                                  "elements are needed",
                                  constant->name != NULL ? constant->name : "", cnnvp_onnx_elements(constant),
                                  constant->n_dims, import->graph->tensors[in].channels, CNNVP_ONNX_DIMENSION_MAX);
    const cnnvp_result result = cnnvp_import_floats(import, constant, cnnvp_onnx_elements(constant), &read);
    *values = NULL;
    if (result != CNNVP_DONE || read == NULL)
        return result;
    *values = cnnvp_keep_alloc(&import->graph->arena, words, sizeof **values);
    if (*values == NULL)
        return cnnvp_import_no_memory(import);
    for (size_t i = 0; i < words; ++i) {
        size_t from = 0;
        size_t rest = i;
        for (size_t axis = rank; axis-- > 1; rest /= (size_t)dims[axis])
            from += rest % (size_t)dims[axis] * strides[axis];
        (*values)[i] = read[from];
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_operand(struct cnnvp_import *import, const Onnx__TensorProto *constant, int32_t in,
                                  struct cnnvp_import_numbers *numbers)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    *numbers = (struct cnnvp_import_numbers){.count = input.channels};
    const cnnvp_result result = cnnvp_import_old_axis(import, input.rank, &constant);
    if (result != CNNVP_DONE)
        return result;
    if (is_per_channel(constant, input.rank, input.channels))
        return cnnvp_import_per_channel(import, constant, input.rank, input.channels, 1.0f, &numbers->values);
    numbers->each_word = 1;
    numbers->count = cnnvp_graph_words(&input);
    return read_all(import, constant, in, &numbers->values);
}

cnnvp_result cnnvp_import_line(struct cnnvp_import *import, int32_t in, int each_word, float *scale, float *offset,
                               int inner, int32_t *out)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    struct cnnvp_graph_layer *layer;
    int32_t on = in;
    if (each_word) { /* of a view of the words as channels */
        on = cnnvp_graph_tensor_add(import->graph, input.name, 2, (uint32_t)cnnvp_graph_words(&input), 1, 1);
        if (on == CNNVP_GRAPH_NONE)
            return cnnvp_import_no_memory(import);
        import->graph->tensors[on].base = in;
    }
    const cnnvp_result result = cnnvp_import_affine(import, on, scale, offset, inner || each_word, &layer);
    if (result != CNNVP_DONE)
        return result;
    *out = layer->out;
    if (!each_word)
        return CNNVP_DONE;
    *out = cnnvp_graph_tensor_add(import->graph, import->node->output[0], input.rank, input.channels, input.height,
                                  input.width);
    if (*out == CNNVP_GRAPH_NONE)
        return cnnvp_import_no_memory(import);
    import->graph->tensors[*out].base = layer->out;
    if (inner)
        return CNNVP_DONE;
    return cnnvp_import_define(import, import->node->output[0], (struct cnnvp_onnx_value){.tensor = *out});
}

/* As many numbers, each the same. */
static cnnvp_result repeat(struct cnnvp_import *import, size_t count, float value, float **values)
{
    *values = NULL;
    if (import->graph->weightless)
        return CNNVP_DONE;
    *values = cnnvp_keep_alloc(&import->graph->arena, count, sizeof **values);
    for (size_t i = 0; i < count && *values != NULL; ++i)
        (*values)[i] = value;
    return *values != NULL ? CNNVP_DONE : cnnvp_import_no_memory(import);
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

/* A dimension of two operands: the same, or 1 for one that counts for all positions. */
static int joins(uint32_t a, uint32_t b, uint32_t *out)
{
    *out = a > b ? a : b;
    return a == b || a == 1 || b == 1;
}

/* An operand that Expand made larger is what it was before: the other one must have that shape. */
static cnnvp_result check_expanded(struct cnnvp_import *import, int32_t operand, const uint32_t joined[3])
{
    const struct cnnvp_graph_tensor *tensor = &import->graph->tensors[operand];
    if (tensor->dims == NULL)
        return CNNVP_DONE;
    const int64_t *dims = tensor->dims;
    const int64_t wanted[3] = {dims[1], tensor->rank == 4 ? dims[2] : 1,
                               tensor->rank == 2 ? 1 : dims[tensor->rank - 1]};
    for (size_t i = 0; i < 3; ++i)
        if (wanted[i] != 1 && wanted[i] != joined[i])
            return cnnvp_import_error(import,
                                      "an operand is expanded to %lld x %lld x %lld, the other has %u x %u x %u: "
                                      "Expand is known where the other operand has its shape",
                                      (long long)wanted[0], (long long)wanted[1], (long long)wanted[2], joined[0],
                                      joined[1], joined[2]);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_pair(struct cnnvp_import *import, enum cnnvp_image_arithmetic operation, int32_t first,
                               int32_t second, int inner, int32_t *out)
{
    const struct cnnvp_graph_tensor a = import->graph->tensors[first];
    const struct cnnvp_graph_tensor b = import->graph->tensors[second];
    uint32_t joined[3];
    if (a.rank > 4 || a.rank != b.rank || !joins(a.channels, b.channels, &joined[0]) ||
        !joins(a.height, b.height, &joined[1]) || !joins(a.width, b.width, &joined[2]))
        return cnnvp_import_error(import,
                                  "the inputs have shapes %u x %u x %u and %u x %u x %u in %u and %u dimensions; "
                                  "they must be the same, or 1 where one counts for all, in up to 4 dimensions",
                                  a.channels, a.height, a.width, b.channels, b.height, b.width, a.rank, b.rank);
    cnnvp_result result = check_expanded(import, first, joined);
    if (result == CNNVP_DONE)
        result = check_expanded(import, second, joined);
    if (result != CNNVP_DONE)
        return result;
    struct cnnvp_graph_layer *layer;
    result = inner ? cnnvp_import_inner(import, CNNVP_OP_ADD, first, joined[0], joined[1], joined[2], &layer)
                   : cnnvp_import_layer(import, CNNVP_OP_ADD, first, a.rank, joined[0], joined[1], joined[2], &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->in2 = second;
    layer->arithmetic = operation;
    *out = layer->out;
    return CNNVP_DONE;
}

/* tensor (operation) constant, or constant (operation) tensor. What is no line of x is an operation with a tensor of
 * the constants, x * 0 + constant. */
static cnnvp_result with_constant(struct cnnvp_import *import, enum cnnvp_image_arithmetic operation,
                                  size_t tensor_input)
{
    int32_t in;
    int32_t out;
    const Onnx__TensorProto *constant;
    struct cnnvp_import_numbers numbers;
    float *other = NULL;
    cnnvp_result result = cnnvp_import_tensor(import, tensor_input, 0, &in);
    if (result == CNNVP_DONE)
        result = cnnvp_import_constant(import, 1 - tensor_input, &constant);
    if (result == CNNVP_DONE)
        result = cnnvp_import_operand(import, constant, in, &numbers);
    if (result != CNNVP_DONE)
        return result;
    const int reversed = tensor_input == 1;
    const int whole = numbers.each_word;
    if ((operation == CNNVP_ARITHMETIC_DIV && reversed) || operation == CNNVP_ARITHMETIC_MAX ||
        operation == CNNVP_ARITHMETIC_MIN) {
        result = repeat(import, numbers.count, 0.0f, &other);
        if (result == CNNVP_DONE)
            result = cnnvp_import_line(import, in, whole, other, numbers.values, 1, &out);
        return result == CNNVP_DONE ? cnnvp_import_pair(import, operation, out, in, 0, &out) : result;
    }
    if (operation == CNNVP_ARITHMETIC_DIV)
        result = invert(import, numbers.count, numbers.values);
    if (operation == CNNVP_ARITHMETIC_SUB && reversed)
        result = repeat(import, numbers.count, -1.0f, &other);
    const int negative = operation == CNNVP_ARITHMETIC_SUB && !reversed;
    for (size_t i = 0; negative && numbers.values != NULL && i < numbers.count; ++i)
        numbers.values[i] = -numbers.values[i];
    if (result != CNNVP_DONE)
        return result;
    const int product = operation == CNNVP_ARITHMETIC_MUL || operation == CNNVP_ARITHMETIC_DIV;
    result = cnnvp_import_line(import, in, whole, product ? numbers.values : other, product ? NULL : numbers.values, 0,
                               &out);
    if (result == CNNVP_DONE && operation == CNNVP_ARITHMETIC_ADD && !whole)
        cnnvp_import_origin(import, CNNVP_GRAPH_BIAS, 1 - tensor_input);
    return result;
}

/* max{x, limit} or min{x, limit} with one number. */
static cnnvp_result with_limit(struct cnnvp_import *import, enum cnnvp_image_arithmetic operation, size_t tensor_input,
                               const Onnx__TensorProto *constant)
{
    int32_t in;
    float limit;
    struct cnnvp_error why;
    cnnvp_result result = cnnvp_import_tensor(import, tensor_input, 0, &in);
    if (result != CNNVP_DONE)
        return result;
    if (cnnvp_onnx_elements(constant) != 1 ||
        cnnvp_onnx_floats(&import->onnx, constant, &limit, 1, &why) != CNNVP_DONE)
        return cnnvp_import_error(import, "the constant is not one number");
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    struct cnnvp_graph_layer *layer;
    result = cnnvp_import_layer(import, CNNVP_OP_ACTIVATION, in, input.rank, input.channels, input.height, input.width,
                                &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->post_count = 1;
    layer->posts[0].kind = operation == CNNVP_ARITHMETIC_MAX ? CNNVP_GRAPH_MAX : CNNVP_GRAPH_MIN;
    layer->posts[0].value = limit;
    return CNNVP_DONE;
}

static cnnvp_result with_two(struct cnnvp_import *import, enum cnnvp_image_arithmetic operation)
{
    struct cnnvp_onnx_value values[2] = {{CNNVP_GRAPH_NONE, NULL}, {CNNVP_GRAPH_NONE, NULL}};
    int32_t out;
    for (size_t i = 0; i < 2; ++i) {
        const cnnvp_result result = cnnvp_import_value(import, i, &values[i]);
        if (result != CNNVP_DONE)
            return result;
    }
    if (values[0].constant != NULL && values[1].constant != NULL)
        return cnnvp_import_error(import, "both inputs are constants; fold them before the export");
    const int limits = operation == CNNVP_ARITHMETIC_MAX || operation == CNNVP_ARITHMETIC_MIN;
    const size_t tensor = values[0].constant != NULL ? 1 : 0;
    const Onnx__TensorProto *constant = values[1 - tensor].constant;
    if (constant == NULL)
        return cnnvp_import_pair(import, operation, values[0].tensor, values[1].tensor, 0, &out);
    if (limits && cnnvp_onnx_elements(constant) == 1)
        return with_limit(import, operation, tensor, constant);
    return with_constant(import, operation, tensor);
}

/* Max, Min and Sum of any number of tensors, from the first on. */
static cnnvp_result with_all(struct cnnvp_import *import, enum cnnvp_image_arithmetic operation)
{
    int32_t made;
    const size_t count = import->node->n_input;
    if (count == 2)
        return with_two(import, operation);
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &made);
    for (size_t i = 1; i < count && result == CNNVP_DONE; ++i) {
        int32_t next;
        result = cnnvp_import_tensor(import, i, 0, &next);
        if (result == CNNVP_DONE)
            result = cnnvp_import_pair(import, operation, made, next, i + 1 < count, &made);
    }
    if (result != CNNVP_DONE || count > 1)
        return result;
    return cnnvp_import_define(import, import->node->output[0], (struct cnnvp_onnx_value){.tensor = made});
}

static cnnvp_result import_add(struct cnnvp_import *import)
{
    return with_two(import, CNNVP_ARITHMETIC_ADD);
}

static cnnvp_result import_subtract(struct cnnvp_import *import)
{
    return with_two(import, CNNVP_ARITHMETIC_SUB);
}

static cnnvp_result import_multiply(struct cnnvp_import *import)
{
    return with_two(import, CNNVP_ARITHMETIC_MUL);
}

static cnnvp_result import_divide(struct cnnvp_import *import)
{
    return with_two(import, CNNVP_ARITHMETIC_DIV);
}

static cnnvp_result import_maximum(struct cnnvp_import *import)
{
    return with_all(import, CNNVP_ARITHMETIC_MAX);
}

static cnnvp_result import_minimum(struct cnnvp_import *import)
{
    return with_all(import, CNNVP_ARITHMETIC_MIN);
}

static cnnvp_result import_sum(struct cnnvp_import *import)
{
    return with_all(import, CNNVP_ARITHMETIC_ADD);
}

static cnnvp_result import_negate(struct cnnvp_import *import)
{
    int32_t in;
    int32_t out;
    float *scale;
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    if (result == CNNVP_DONE)
        result = repeat(import, import->graph->tensors[in].channels, -1.0f, &scale);
    return result == CNNVP_DONE ? cnnvp_import_line(import, in, 0, scale, NULL, 0, &out) : result;
}

/* ---- Expand ---- */

/* The tensor as it is, with the dimensions that it has for an operation with another one: those that count there. */
static cnnvp_result import_expand(struct cnnvp_import *import)
{
    int32_t in;
    size_t count = 0;
    int64_t old[4];
    int64_t shape[4];
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    if (result == CNNVP_DONE)
        result = cnnvp_import_list(import, "shape", 1, 4, shape, &count);
    if (result != CNNVP_DONE)
        return result;
    struct cnnvp_graph *graph = import->graph;
    const struct cnnvp_graph_tensor input = graph->tensors[in];
    const uint32_t rank = cnnvp_import_dims(import, in, old);
    if (count > rank)
        return cnnvp_import_error(import,
                                  "the shape has %zu numbers, the input %u dimensions; no more are possible", count,
                                  rank);
    int64_t *dims = cnnvp_keep_alloc(&graph->arena, rank, sizeof *dims);
    const int32_t view =
        cnnvp_graph_tensor_add(graph, import->node->output[0], rank, input.channels, input.height, input.width);
    if (dims == NULL || view == CNNVP_GRAPH_NONE)
        return cnnvp_import_no_memory(import);
    for (uint32_t i = 0; i < rank; ++i) {
        const int64_t size = i + count < rank ? 1 : shape[i + count - rank];
        dims[i] = i == 0 || size == 1 ? old[i] : size;
        if (i == 0 ? size != 0 && size != 1 && size != import->batch
                   : size < 1 || size > INT32_MAX || (old[i] != 1 && dims[i] != old[i]))
            return cnnvp_import_error(import,
                                      "number %lld of the shape does not fit to dimension %u of the input, %lld",
                                      (long long)size, i, (long long)old[i]);
    }
    graph->tensors[view].base = in;
    graph->tensors[view].dims = dims;
    return cnnvp_import_define(import, import->node->output[0], (struct cnnvp_onnx_value){.tensor = view});
}

cnnvp_import_function cnnvp_import_arithmetic(const char *op_type)
{
    static const struct {
        const char *op_type;
        cnnvp_import_function function;
    } known[] = {
        {"Add", import_add},     {"Sub", import_subtract}, {"Mul", import_multiply}, {"Div", import_divide},
        {"Max", import_maximum}, {"Min", import_minimum},  {"Sum", import_sum},      {"Neg", import_negate},
        {"Expand", import_expand},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (strcmp(op_type, known[i].op_type) == 0)
            return known[i].function;
    return NULL;
}
