/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products, arithmetic with constants, the addition of two tensors, normalisation with stored statistics. */
#include <math.h>
#include <string.h>

#include "onnx_node.h"

/* ---- Gemm, MatMul ---- */

/* Weights [outputs][inputs] from a constant matrix, either way round, times `factor`. */
cnnvp_result cnnvp_import_matrix(struct cnnvp_import *import, const Onnx__TensorProto *matrix, int transposed,
                                 float factor, uint32_t inputs, uint32_t *outputs, float **weights)
{
    const char *name = matrix->name != NULL ? matrix->name : "";
    if (matrix->n_dims != 2)
        return cnnvp_import_error(import, "weights \"%s\" have %zu dimensions; a matrix is needed", name,
                                  matrix->n_dims);
    const int64_t rows = matrix->dims[0];
    const int64_t columns = matrix->dims[1];
    const int64_t from = transposed ? columns : rows;
    const int64_t to = transposed ? rows : columns;
    if (from != inputs || to < 1 || to > CNNVP_ONNX_DIMENSION_MAX)
        return cnnvp_import_error(import, "weights \"%s\" have shape (%lld, %lld); with %u inputs it must be %s", name,
                                  (long long)rows, (long long)columns, inputs,
                                  transposed ? "(outputs, inputs)" : "(inputs, outputs)");
    *outputs = (uint32_t)to;
    const size_t count = cnnvp_onnx_elements(matrix);
    float *read;
    cnnvp_result result = cnnvp_import_floats(import, matrix, count, &read);
    *weights = read;
    if (result != CNNVP_DONE || read == NULL)
        return result;
    if (!transposed) {
        *weights = cnnvp_keep_alloc(&import->graph->arena, count, sizeof **weights);
        if (*weights == NULL)
            return cnnvp_import_no_memory(import);
        for (size_t i = 0; i < inputs; ++i)
            for (size_t o = 0; o < *outputs; ++o)
                (*weights)[o * inputs + i] = read[i * *outputs + o];
    }
    if (factor < 1.0f || factor > 1.0f)
        for (size_t i = 0; i < count; ++i)
            (*weights)[i] *= factor;
    return CNNVP_DONE;
}

/* A constant as one number for each of `channels`, from shape (channels), (1, channels), (channels, 1, 1), one element
 * ... : all dimensions 1 but that of the channels, which is the second of `rank`. */
cnnvp_result cnnvp_import_per_channel(struct cnnvp_import *import, const Onnx__TensorProto *constant, uint32_t rank,
                                     uint32_t channels, float factor, float **values)
{
    const char *name = constant->name != NULL ? constant->name : "";
    const size_t count = cnnvp_onnx_elements(constant);
    int fits = constant->n_dims <= rank && (count == 1 || count == channels);
    for (size_t i = 0; i < constant->n_dims && fits && count > 1; ++i) {
        const size_t axis = rank - constant->n_dims + i;
        fits = constant->dims[i] == 1 || (axis == 1 && constant->dims[i] == channels);
    }
    if (!fits)
        return cnnvp_import_error(import, "constant \"%s\" has %zu elements in %zu dimensions; one element, or one for "
                                          "each of the %u channels (shape %s) is needed", name, count,
                                  constant->n_dims, channels, rank == 4 ? "(C, 1, 1)" : "(features)");
    float *read;
    const cnnvp_result result = cnnvp_import_floats(import, constant, count, &read);
    *values = NULL;
    if (result != CNNVP_DONE || read == NULL)
        return result;
    *values = cnnvp_keep_alloc(&import->graph->arena, channels, sizeof **values);
    if (*values == NULL)
        return cnnvp_import_no_memory(import);
    for (size_t c = 0; c < channels; ++c)
        (*values)[c] = read[count == 1 ? 0 : c] * factor;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_dense_layer(struct cnnvp_import *import, int32_t in, uint32_t outputs, float *weights,
                                      int has_bias, float *bias)
{
    struct cnnvp_graph_layer *layer;
    const cnnvp_result result = cnnvp_import_layer(import, CNNVP_OP_FC, in, 2, outputs, 1, 1, &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->weights = weights;
    layer->has_bias = has_bias != 0;
    layer->bias = bias;
    cnnvp_import_origin(import, CNNVP_GRAPH_WEIGHTS, 1);
    if (has_bias)
        cnnvp_import_origin(import, CNNVP_GRAPH_BIAS, 2);
    return CNNVP_DONE;
}

static cnnvp_result import_gemm(struct cnnvp_import *import)
{
    int32_t in;
    const Onnx__TensorProto *matrix;
    const Onnx__TensorProto *bias = NULL;
    const float beta = cnnvp_onnx_float(import->node, "beta", 1.0f);
    cnnvp_result result = cnnvp_import_tensor(import, 0, 2, &in);
    if (result == CNNVP_DONE && cnnvp_onnx_int(import->node, "transA", 0) != 0)
        result = cnnvp_import_error(import, "transA=1 would mix the images of the batch; transA=0 is needed");
    const float alpha = cnnvp_onnx_float(import->node, "alpha", 1.0f);
    if (result == CNNVP_DONE && import->training && (alpha < 1.0f || alpha > 1.0f || beta < 1.0f || beta > 1.0f))
        result = cnnvp_import_error(import, "alpha is %g, beta %g; a layer that learns needs 1", (double)alpha,
                                    (double)beta);
    if (result == CNNVP_DONE)
        result = cnnvp_import_constant(import, 1, &matrix);
    if (result == CNNVP_DONE && cnnvp_import_has(import, 2))
        result = cnnvp_import_constant(import, 2, &bias);
    if (result != CNNVP_DONE)
        return result;
    uint32_t outputs;
    float *weights;
    float *biases = NULL;
    result = cnnvp_import_matrix(import, matrix, cnnvp_onnx_int(import->node, "transB", 0) != 0,
                         alpha, import->graph->tensors[in].channels, &outputs, &weights);
    if (result == CNNVP_DONE && bias != NULL)
        result = cnnvp_import_per_channel(import, bias, 2, outputs, beta, &biases);
    return result == CNNVP_DONE ? cnnvp_import_dense_layer(import, in, outputs, weights, bias != NULL, biases) : result;
}

/* Dimensions change places as a step on the way: dimension i of the result is from[i] of `in`. */
static cnnvp_result permute(struct cnnvp_import *import, int32_t in, const uint32_t from[3], int32_t *out)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    const uint32_t sizes[3] = {input.channels, input.height, input.width};
    struct cnnvp_graph_layer *layer;
    const cnnvp_result result = cnnvp_import_inner(import, CNNVP_OP_ACTIVATION, in, sizes[from[0]], sizes[from[1]],
                                                   sizes[from[2]], &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->post_count = 1;
    layer->posts[0] = (struct cnnvp_graph_post){CNNVP_GRAPH_MAX, -INFINITY};
    layer->permuted = 1;
    memcpy(layer->from, from, sizeof layer->from);
    *out = layer->out;
    return CNNVP_DONE;
}

/* The product over the last of 3 or 4 dimensions: those become channels, a 1x1 convolution multiplies, and back. */
static cnnvp_result multiply_rows(struct cnnvp_import *import, int32_t in, const Onnx__TensorProto *matrix)
{
    static const uint32_t to[3] = {2, 0, 1};
    static const uint32_t back[3] = {1, 2, 0};
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    uint32_t outputs;
    float *weights;
    int32_t turned;
    struct cnnvp_graph_layer *layer;
    cnnvp_result result = cnnvp_import_matrix(import, matrix, 0, 1.0f, input.width, &outputs, &weights);
    if (result == CNNVP_DONE)
        result = permute(import, in, to, &turned);
    if (result != CNNVP_DONE)
        return result;
    const struct cnnvp_graph_tensor rows = import->graph->tensors[turned];
    if ((uint64_t)outputs * rows.height > INT32_MAX / rows.width)
        return cnnvp_import_error(import, "the result has more than 2^31 elements");
    result = cnnvp_import_inner(import, CNNVP_OP_CONV, turned, outputs, rows.height, rows.width, &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->weights = weights;
    result = permute(import, layer->out, back, &turned);
    if (result != CNNVP_DONE)
        return result;
    import->graph->tensors[turned].rank = input.rank;
    return cnnvp_import_define(import, import->node->output[0], (struct cnnvp_onnx_value){.tensor = turned});
}

static cnnvp_result import_matmul(struct cnnvp_import *import)
{
    int32_t in;
    const Onnx__TensorProto *matrix;
    uint32_t outputs;
    float *weights;
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    if (result == CNNVP_DONE)
        result = cnnvp_import_constant(import, 1, &matrix);
    if (result != CNNVP_DONE || import->graph->tensors[in].rank != 2)
        return result == CNNVP_DONE ? multiply_rows(import, in, matrix) : result;
    result = cnnvp_import_matrix(import, matrix, 0, 1.0f, import->graph->tensors[in].channels, &outputs, &weights);
    return result == CNNVP_DONE ? cnnvp_import_dense_layer(import, in, outputs, weights, 0, NULL) : result;
}

/* ---- x * scale[c] + offset[c] ---- */

/* A layer for that; a NULL array of a graph with weights stands for ones (scale) or zeros (offset). */
cnnvp_result cnnvp_import_affine(struct cnnvp_import *import, int32_t in, float *scale, float *offset, int inner,
                                 struct cnnvp_graph_layer **layer)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    float **arrays[] = {&scale, &offset};
    for (size_t i = 0; i < 2 && !import->graph->weightless; ++i) {
        if (*arrays[i] != NULL)
            continue;
        *arrays[i] = cnnvp_keep_alloc(&import->graph->arena, input.channels, sizeof(float));
        if (*arrays[i] == NULL)
            return cnnvp_import_no_memory(import);
        for (size_t c = 0; c < input.channels && i == 0; ++c)
            (*arrays[i])[c] = 1.0f;
    }
    const cnnvp_result result =
        inner ? cnnvp_import_inner(import, CNNVP_OP_NORM, in, input.channels, input.height, input.width, layer)
              : cnnvp_import_layer(import, CNNVP_OP_NORM, in, input.rank, input.channels, input.height, input.width,
                                   layer);
    if (result != CNNVP_DONE)
        return result;
    (*layer)->weights = scale;
    (*layer)->bias = offset;
    return CNNVP_DONE;
}

static cnnvp_result add_affine(struct cnnvp_import *import, int32_t in, float *scale, float *offset)
{
    struct cnnvp_graph_layer *layer;
    return cnnvp_import_affine(import, in, scale, offset, 0, &layer);
}

/* As it is: scale, offset, mean, variance. */
static cnnvp_result add_batch_norm(struct cnnvp_import *import, int32_t in, float *values[4], float epsilon)
{
    struct cnnvp_graph_layer *layer;
    const cnnvp_result result = cnnvp_import_affine(import, in, values[0], values[1], 0, &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->mean = values[2];
    layer->variance = values[3];
    layer->epsilon = epsilon;
    for (size_t i = 0; i < 4; ++i)
        cnnvp_import_origin(import, (enum cnnvp_graph_role)i, i + 1);
    return CNNVP_DONE;
}

static cnnvp_result import_batch_norm(struct cnnvp_import *import)
{
    int32_t in;
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    if (result == CNNVP_DONE && cnnvp_onnx_int(import->node, "training_mode", 0) != 0)
        result = cnnvp_import_error(import, "training_mode=1 computes statistics; export the network for inference");
    float *values[4] = {NULL, NULL, NULL, NULL}; /* scale, offset, mean, variance */
    for (size_t i = 0; i < 4 && result == CNNVP_DONE; ++i) {
        const Onnx__TensorProto *constant;
        result = cnnvp_import_constant(import, i + 1, &constant);
        if (result == CNNVP_DONE)
            result = cnnvp_import_floats(import, constant, import->graph->tensors[in].channels, &values[i]);
    }
    if (result != CNNVP_DONE)
        return result;
    const double epsilon = (double)cnnvp_onnx_float(import->node, "epsilon", 1e-5f);
    if (import->training)
        return add_batch_norm(import, in, values, (float)epsilon);
    for (size_t c = 0; c < import->graph->tensors[in].channels && !import->graph->weightless; ++c) {
        const double deviation = sqrt((double)values[3][c] + epsilon);
        if (!(deviation > 0.0))
            return cnnvp_import_error(import, "channel %zu: variance %g plus epsilon %g is not positive", c,
                                      (double)values[3][c], epsilon);
        const double scale = (double)values[0][c] / deviation;
        values[1][c] = (float)((double)values[1][c] - (double)values[2][c] * scale);
        values[0][c] = (float)scale;
    }
    return add_affine(import, in, values[0], values[1]);
}

static cnnvp_result import_instance_norm(struct cnnvp_import *import)
{
    int32_t in;
    cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    float *values[2] = {NULL, NULL}; /* scale, offset */
    for (size_t i = 0; i < 2 && result == CNNVP_DONE; ++i) {
        const Onnx__TensorProto *constant;
        result = cnnvp_import_constant(import, i + 1, &constant);
        if (result == CNNVP_DONE)
            result = cnnvp_import_floats(import, constant, import->graph->tensors[in].channels, &values[i]);
    }
    if (result != CNNVP_DONE)
        return result;
    const float epsilon = cnnvp_onnx_float(import->node, "epsilon", 1e-5f);
    if (!(epsilon >= 0.0f) || import->graph->tensors[in].rank < 3)
        return cnnvp_import_error(import,
                                  "epsilon is %g, the input has %u dimensions; 0 or more, and 3 or 4 are needed",
                                  (double)epsilon, import->graph->tensors[in].rank);
    struct cnnvp_graph_layer *layer;
    result = cnnvp_import_affine(import, in, values[0], values[1], 0, &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->norm = CNNVP_NORM_DATA;
    layer->epsilon = epsilon;
    return CNNVP_DONE;
}


/* ---- arithmetic with constants ---- */

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

/* A constant operand as one number for each channel of *on: the tensor, or a view of it in which each word is one. */
static cnnvp_result read_operand(struct cnnvp_import *import, const Onnx__TensorProto *constant, int32_t in,
                                 int32_t *on, float **values)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    *on = in;
    cnnvp_result result = cnnvp_import_old_axis(import, input.rank, &constant);
    if (result != CNNVP_DONE)
        return result;
    if (is_per_channel(constant, input.rank, input.channels))
        return cnnvp_import_per_channel(import, constant, input.rank, input.channels, 1.0f, values);
    result = read_all(import, constant, in, values);
    if (result != CNNVP_DONE)
        return result;
    *on = cnnvp_graph_tensor_add(import->graph, input.name, 2, (uint32_t)cnnvp_graph_words(&input), 1, 1);
    if (*on == CNNVP_GRAPH_NONE)
        return cnnvp_import_no_memory(import);
    import->graph->tensors[*on].base = in;
    return CNNVP_DONE;
}

/* x * scale + offset on such a view, as the node's result or a step on the way to it, in the tensor's shape. */
static cnnvp_result operand_affine(struct cnnvp_import *import, int32_t in, int32_t on, float *scale, float *offset,
                                   int inner, int32_t *out)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    struct cnnvp_graph_layer *layer;
    const cnnvp_result result = cnnvp_import_affine(import, on, scale, offset, inner || on != in, &layer);
    if (result != CNNVP_DONE)
        return result;
    *out = layer->out;
    if (on == in)
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
static cnnvp_result repeat(struct cnnvp_import *import, int32_t on, float value, float **values)
{
    const size_t count = import->graph->tensors[on].channels;
    *values = NULL;
    if (import->graph->weightless)
        return CNNVP_DONE;
    *values = cnnvp_keep_alloc(&import->graph->arena, count, sizeof **values);
    for (size_t i = 0; i < count && *values != NULL; ++i)
        (*values)[i] = value;
    return *values != NULL ? CNNVP_DONE : cnnvp_import_no_memory(import);
}

static cnnvp_result invert(struct cnnvp_import *import, int32_t on, float *values)
{
    const size_t count = values != NULL ? import->graph->tensors[on].channels : 0;
    for (size_t i = 0; i < count; ++i) {
        if (!(values[i] < 0.0f || values[i] > 0.0f))
            return cnnvp_import_error(import, "division by the constant 0");
        values[i] = 1.0f / values[i];
    }
    return CNNVP_DONE;
}

static cnnvp_result with_tensor(struct cnnvp_import *import, enum cnnvp_image_arithmetic operation, int32_t first,
                                int32_t second);

/* tensor (operation) constant, or constant (operation) tensor. What is no line of x is an operation with a tensor of the
 * constants, x * 0 + constant. */
static cnnvp_result with_constant(struct cnnvp_import *import, enum cnnvp_image_arithmetic operation,
                                  size_t tensor_input)
{
    int32_t in;
    int32_t on;
    int32_t out;
    const Onnx__TensorProto *constant;
    float *values;
    float *other = NULL;
    cnnvp_result result = cnnvp_import_tensor(import, tensor_input, 0, &in);
    if (result == CNNVP_DONE)
        result = cnnvp_import_constant(import, 1 - tensor_input, &constant);
    if (result == CNNVP_DONE)
        result = read_operand(import, constant, in, &on, &values);
    if (result != CNNVP_DONE)
        return result;
    const int reversed = tensor_input == 1;
    if ((operation == CNNVP_ARITHMETIC_DIV && reversed) || operation == CNNVP_ARITHMETIC_MAX ||
        operation == CNNVP_ARITHMETIC_MIN) {
        result = repeat(import, on, 0.0f, &other);
        if (result == CNNVP_DONE)
            result = operand_affine(import, in, on, other, values, 1, &out);
        return result == CNNVP_DONE ? with_tensor(import, operation, out, in) : result;
    }
    if (operation == CNNVP_ARITHMETIC_DIV)
        result = invert(import, on, values);
    if (operation == CNNVP_ARITHMETIC_SUB && reversed)
        result = repeat(import, on, -1.0f, &other);
    for (size_t i = 0; values != NULL && operation == CNNVP_ARITHMETIC_SUB && !reversed &&
                       i < import->graph->tensors[on].channels; ++i)
        values[i] = -values[i];
    if (result != CNNVP_DONE)
        return result;
    const int product = operation == CNNVP_ARITHMETIC_MUL || operation == CNNVP_ARITHMETIC_DIV;
    result = operand_affine(import, in, on, product ? values : other, product ? NULL : values, 0, &out);
    if (result == CNNVP_DONE && operation == CNNVP_ARITHMETIC_ADD && on == in)
        cnnvp_import_origin(import, CNNVP_GRAPH_BIAS, 1 - tensor_input);
    return result;
}

/* A dimension of two operands: the same, or 1 for one that counts for all positions. */
static int joins(uint32_t a, uint32_t b, uint32_t *out)
{
    *out = a > b ? a : b;
    return a == b || a == 1 || b == 1;
}

static cnnvp_result with_tensor(struct cnnvp_import *import, enum cnnvp_image_arithmetic operation, int32_t first,
                                int32_t second)
{
    const struct cnnvp_graph_tensor a = import->graph->tensors[first];
    const struct cnnvp_graph_tensor b = import->graph->tensors[second];
    uint32_t channels;
    uint32_t height;
    uint32_t width;
    if (a.rank != b.rank || !joins(a.channels, b.channels, &channels) || !joins(a.height, b.height, &height) ||
        !joins(a.width, b.width, &width))
        return cnnvp_import_error(import,
                                  "the inputs have shapes %u x %u x %u and %u x %u x %u in %u and %u dimensions; "
                                  "they must be the same, or 1 where one counts for all",
                                  a.channels, a.height, a.width, b.channels, b.height, b.width, a.rank, b.rank);
    struct cnnvp_graph_layer *layer;
    const cnnvp_result result =
        cnnvp_import_layer(import, CNNVP_OP_ADD, first, a.rank, channels, height, width, &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->in2 = second;
    layer->arithmetic = operation;
    return CNNVP_DONE;
}

/* max{x, limit} or min{x, limit} with one number. */
static cnnvp_result with_limit(struct cnnvp_import *import, enum cnnvp_image_arithmetic operation, int32_t in,
                               const Onnx__TensorProto *constant)
{
    float limit;
    struct cnnvp_error why;
    if (cnnvp_onnx_elements(constant) != 1 ||
        cnnvp_onnx_floats(&import->onnx, constant, &limit, 1, &why) != CNNVP_DONE)
        return cnnvp_import_error(import, "the constant is not one number");
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    struct cnnvp_graph_layer *layer;
    const cnnvp_result result = cnnvp_import_layer(import, CNNVP_OP_ACTIVATION, in, input.rank, input.channels,
                                                   input.height, input.width, &layer);
    if (result != CNNVP_DONE)
        return result;
    layer->post_count = 1;
    layer->posts[0].kind = operation == CNNVP_ARITHMETIC_MAX ? CNNVP_GRAPH_MAX : CNNVP_GRAPH_MIN;
    layer->posts[0].value = limit;
    return CNNVP_DONE;
}

static cnnvp_result import_arithmetic(struct cnnvp_import *import, enum cnnvp_image_arithmetic operation)
{
    struct cnnvp_onnx_value values[2] = {{CNNVP_GRAPH_NONE, NULL}, {CNNVP_GRAPH_NONE, NULL}};
    for (size_t i = 0; i < 2; ++i) {
        const cnnvp_result result = cnnvp_import_value(import, i, &values[i]);
        if (result != CNNVP_DONE)
            return result;
    }
    if (values[0].constant != NULL && values[1].constant != NULL)
        return cnnvp_import_error(import, "both inputs are constants; fold them before the export");
    const int limits = operation == CNNVP_ARITHMETIC_MAX || operation == CNNVP_ARITHMETIC_MIN;
    if (limits && import->node->n_input != 2)
        return cnnvp_import_error(import, "it has %zu inputs; two are needed", import->node->n_input);
    const Onnx__TensorProto *constant = values[0].constant != NULL ? values[0].constant : values[1].constant;
    if (limits && constant != NULL && cnnvp_onnx_elements(constant) == 1)
        return with_limit(import, operation, values[0].constant != NULL ? values[1].tensor : values[0].tensor,
                          constant);
    if (constant != NULL)
        return with_constant(import, operation, values[0].constant != NULL ? 1 : 0);
    return with_tensor(import, operation, values[0].tensor, values[1].tensor);
}

static cnnvp_result import_add(struct cnnvp_import *import)
{
    return import_arithmetic(import, CNNVP_ARITHMETIC_ADD);
}

static cnnvp_result import_subtract(struct cnnvp_import *import)
{
    return import_arithmetic(import, CNNVP_ARITHMETIC_SUB);
}

static cnnvp_result import_multiply(struct cnnvp_import *import)
{
    return import_arithmetic(import, CNNVP_ARITHMETIC_MUL);
}

static cnnvp_result import_divide(struct cnnvp_import *import)
{
    return import_arithmetic(import, CNNVP_ARITHMETIC_DIV);
}

static cnnvp_result import_maximum(struct cnnvp_import *import)
{
    return import_arithmetic(import, CNNVP_ARITHMETIC_MAX);
}

static cnnvp_result import_minimum(struct cnnvp_import *import)
{
    return import_arithmetic(import, CNNVP_ARITHMETIC_MIN);
}

static cnnvp_result import_negate(struct cnnvp_import *import)
{
    int32_t in;
    const cnnvp_result result = cnnvp_import_tensor(import, 0, 0, &in);
    if (result != CNNVP_DONE)
        return result;
    const size_t channels = import->graph->tensors[in].channels;
    float *scale = cnnvp_keep_alloc(&import->graph->arena, channels, sizeof *scale);
    if (scale == NULL)
        return cnnvp_import_no_memory(import);
    for (size_t c = 0; c < channels; ++c)
        scale[c] = -1.0f;
    return add_affine(import, in, scale, NULL);
}

cnnvp_import_function cnnvp_import_dense(const char *op_type)
{
    static const struct {
        const char *op_type;
        cnnvp_import_function function;
    } known[] = {
        {"Gemm", import_gemm}, {"MatMul", import_matmul}, {"BatchNormalization", import_batch_norm},
        {"Add", import_add},   {"Sub", import_subtract},  {"Mul", import_multiply},
        {"Div", import_divide}, {"Max", import_maximum},  {"Min", import_minimum},
        {"Neg", import_negate}, {"InstanceNormalization", import_instance_norm},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (strcmp(op_type, known[i].op_type) == 0)
            return known[i].function;
    return NULL;
}
