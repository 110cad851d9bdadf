/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products with constant weights, affine layers (x * scale + offset), and batch and instance normalisation. */
#include <math.h>

#include "onnx_text.h"

/* ---- Gemm, MatMul ---- */

/* Transposes constants [matrices][inputs][outputs] to weights [matrices][outputs][inputs]; NULL if the graph is
 * weightless. */
static cnnvp_result turn_matrices(struct cnnvp_import *import, const Onnx__TensorProto *constant, size_t inputs,
                                  size_t outputs, float **weights)
{
    float *read;
    const size_t count = cnnvp_onnx_elements(constant);
    const cnnvp_result result = cnnvp_import_floats(import, constant, count, &read);
    *weights = NULL;
    if (result != CNNVP_DONE || read == NULL)
        return result;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, count, weights));
    for (float *to = *weights; to < *weights + count; to += inputs * outputs)
        for (size_t i = 0; i < inputs; ++i)
            for (size_t o = 0; o < outputs; ++o)
                to[o * inputs + i] = *read++;
    return CNNVP_DONE;
}

/* Weights [outputs][inputs] from a constant matrix of either orientation, times `factor`; NULL if the graph is
 * weightless. */
static cnnvp_result read_matrix(struct cnnvp_import *import, const Onnx__TensorProto *matrix, int transposed,
                                float factor, uint32_t inputs, uint32_t *outputs, float **weights)
{
    const char *name = matrix->name != NULL ? matrix->name : "";
    if (matrix->n_dims != 2)
        return cnnvp_import_error(
            import, "weights \"%s\" have %zu dimensions; a matrix is needed", name, matrix->n_dims);
    const int64_t rows = matrix->dims[0];
    const int64_t columns = matrix->dims[1];
    const int64_t from = transposed ? columns : rows;
    const int64_t to = transposed ? rows : columns;
    if (from != inputs || to < 1 || to > CNNVP_ONNX_DIMENSION_MAX)
        return cnnvp_import_error(
            import, "weights \"%s\" have shape (%lld, %lld); with %u inputs it must be %s", name, (long long)rows,
            (long long)columns, inputs, transposed ? "(outputs, inputs)" : "(inputs, outputs)");
    *outputs = (uint32_t)to;
    const size_t count = cnnvp_onnx_elements(matrix);
    CNNVP_TRY(transposed ? cnnvp_import_floats(import, matrix, count, weights)
                         : turn_matrices(import, matrix, inputs, *outputs, weights));
    if (factor < 1.0f || factor > 1.0f)
        for (size_t i = 0; i < count && *weights != NULL; ++i)
            (*weights)[i] *= factor;
    return CNNVP_DONE;
}

/* Accepts one element, and shapes such as (channels), (1, channels) or (channels, 1, 1): all dimensions are 1 but the
 * one that aligns with the channels, the second of `rank`. */
int cnnvp_import_is_per_channel(const Onnx__TensorProto *constant, uint32_t rank, uint32_t channels)
{
    const size_t count = cnnvp_onnx_elements(constant);
    int fits = constant->n_dims <= rank && (count == 1 || count == channels);
    for (size_t i = 0; i < constant->n_dims && fits && count > 1; ++i)
        fits = constant->dims[i] == 1 || (rank - constant->n_dims + i == 1 && constant->dims[i] == channels);
    return fits;
}

cnnvp_result cnnvp_import_per_channel(struct cnnvp_import *import, const Onnx__TensorProto *constant, uint32_t rank,
                                      uint32_t channels, float factor, float **values)
{
    const char *name = constant->name != NULL ? constant->name : "";
    const size_t count = cnnvp_onnx_elements(constant);
    if (!cnnvp_import_is_per_channel(constant, rank, channels))
        return cnnvp_import_error(import,
                                  "constant \"%s\" has %zu elements in %zu dimensions; one element, or one for "
                                  "each of the %u channels (shape %s) is needed",
                                  name, count, constant->n_dims, channels, rank == 4 ? "(C, 1, 1)" : "(features)");
    float *read;
    const cnnvp_result result = cnnvp_import_floats(import, constant, count, &read);
    *values = NULL;
    if (result != CNNVP_DONE || read == NULL)
        return result;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, channels, values));
    for (size_t c = 0; c < channels; ++c)
        (*values)[c] = read[count == 1 ? 0 : c] * factor;
    return CNNVP_DONE;
}

static cnnvp_result add_dense(struct cnnvp_import *import, int32_t in, uint32_t outputs, float *weights, int has_bias,
                              float *bias)
{
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_layer(import, CNNVP_OP_FC, in, 0, outputs, 1, 1, &layer));
    layer->weights = weights;
    layer->has_bias = has_bias != 0;
    layer->bias = bias;
    cnnvp_import_origin(import, CNNVP_GRAPH_WEIGHTS, 1);
    if (has_bias)
        cnnvp_import_origin(import, CNNVP_GRAPH_BIAS, 2);
    return CNNVP_DONE;
}

/* A copy with permuted dimensions. */
static cnnvp_result permute(struct cnnvp_import *import, int32_t in, const uint32_t from[3], int32_t *out)
{
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    const uint32_t sizes[3] = {input.channels, input.height, input.width};
    return cnnvp_import_permute(import, in, sizes, from, out);
}

/* Multiplies the channels of each position by a matrix: a 1x1 convolution. */
static cnnvp_result multiply_channels(struct cnnvp_import *import, int32_t in, uint32_t outputs, float *weights,
                                      struct cnnvp_graph_layer **layer)
{
    CNNVP_TRY(cnnvp_import_positions(import, &in));
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    CNNVP_TRY(cnnvp_import_layer(import, CNNVP_OP_CONV, in, 1, outputs, input.height, input.width, layer));
    (*layer)->weights = weights;
    return CNNVP_DONE;
}

/* Multiplies along the last of 3 or 4 dimensions: moves it to the channels, multiplies, and moves it back. `turned`:
 * the channels are the inner dimension already, because the matrix is transposed. `axis`: the dimension of input 1
 * that counts the outputs; -1: the weights are not those of the file. */
static cnnvp_result multiply_rows(struct cnnvp_import *import, int32_t in, int turned, uint32_t outputs, float *weights,
                                  int64_t axis, int32_t *out)
{
    static const uint32_t to[3] = {2, 0, 1};
    static const uint32_t back[3] = {1, 2, 0};
    static const uint32_t swap[3] = {2, 1, 0};
    const uint32_t rank = import->graph->tensors[in].rank;
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(turned ? CNNVP_DONE : permute(import, in, to, &in));
    const uint32_t sizes[3] = {outputs, import->graph->tensors[in].height, import->graph->tensors[in].width};
    CNNVP_TRY(multiply_channels(import, in, outputs, weights, &layer));
    if (axis >= 0)
        cnnvp_import_steps(import, layer, 1, axis, SIZE_MAX);
    CNNVP_TRY(cnnvp_import_permute(import, layer->out, sizes, turned ? swap : back, out));
    import->graph->tensors[*out].rank = rank;
    return CNNVP_DONE;
}

/* Gemm with the whole input as one image: the matrix is (1, M, K), or (1, K, M) with transA. The third operand may have
 * any shape that broadcasts; it is added afterwards. */
static cnnvp_result gemm_single(struct cnnvp_import *import, int32_t in, const Onnx__TensorProto *matrix,
                                const Onnx__TensorProto *bias, float alpha, float beta)
{
    const int turned = cnnvp_onnx_int(import->node, "transA", 0) != 0;
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    uint32_t outputs;
    float *weights;
    int32_t out = CNNVP_GRAPH_NONE;
    struct cnnvp_import_numbers numbers;
    const int turns = cnnvp_onnx_int(import->node, "transB", 0) != 0;
    CNNVP_TRY(read_matrix(import, matrix, turns, alpha, turned ? input.channels : input.width, &outputs, &weights));
    CNNVP_TRY(multiply_rows(import, in, turned, outputs, weights,
                            alpha < 1.0f || alpha > 1.0f ? -1
                            : turns                      ? 0
                                                         : 1,
                            &out));
    if (bias == NULL)
        return cnnvp_import_alias(import, import->node->output[0], out);
    CNNVP_TRY(cnnvp_import_operand(import, bias, out, &numbers));
    for (size_t i = 0; numbers.values != NULL && i < numbers.count; ++i)
        numbers.values[i] *= beta;
    return cnnvp_import_line(import, out, numbers.each, NULL, numbers.values, 0, &out);
}

cnnvp_result cnnvp_import_gemm_apart(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    say(&text, "first = %s(a); second = %s(b); made = MatMul(first, second); scaled = Mul(made, %#.9g);",
        cnnvp_onnx_int(import->node, "transA", 0) != 0 ? "Transpose" : "Identity",
        cnnvp_onnx_int(import->node, "transB", 0) != 0 ? "Transpose" : "Identity",
        (double)cnnvp_onnx_float(import->node, "alpha", 1.0f));
    if (cnnvp_import_has(import, 2))
        say(&text, "more = Mul(c, %#.9g); y = Add(scaled, more)", (double)cnnvp_onnx_float(import->node, "beta", 1.0f));
    else
        say(&text, "y = Identity(scaled)");
    return rewrite(import, &text);
}

cnnvp_result cnnvp_operator_gemm(struct cnnvp_import *import)
{
    int32_t in;
    const Onnx__TensorProto *matrix;
    const Onnx__TensorProto *bias = NULL;
    const float beta = cnnvp_onnx_float(import->node, "beta", 1.0f);
    const float alpha = cnnvp_onnx_float(import->node, "alpha", 1.0f);
    for (size_t i = 0; i < 3 && !import->training; ++i) {
        struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
        if (cnnvp_import_has(import, i))
            CNNVP_TRY(cnnvp_import_value(import, i, &value));
        if (i == 0 ? value.constant != NULL : value.tensor != CNNVP_GRAPH_NONE)
            return cnnvp_import_gemm_apart(import);
    }
    CNNVP_TRY(cnnvp_import_tensor(import, 0, import->single ? 3 : 2, &in));
    if (!import->single && cnnvp_onnx_int(import->node, "transA", 0) != 0)
        CNNVP_TRY(cnnvp_import_mixes(import, "transA=1"));
    if (import->training && (alpha < 1.0f || alpha > 1.0f || beta < 1.0f || beta > 1.0f))
        CNNVP_TRY(cnnvp_import_error(
            import, "alpha is %g, beta %g; a layer that learns needs 1", (double)alpha, (double)beta));
    CNNVP_TRY(cnnvp_import_constant(import, 1, &matrix));
    if (cnnvp_import_has(import, 2))
        CNNVP_TRY(cnnvp_import_constant(import, 2, &bias));
    if (import->single)
        return gemm_single(import, in, matrix, bias, alpha, beta);
    uint32_t outputs;
    float *weights;
    float *biases = NULL;
    CNNVP_TRY(read_matrix(import, matrix, cnnvp_onnx_int(import->node, "transB", 0) != 0, alpha,
                          import->graph->tensors[in].channels, &outputs, &weights));
    if (bias != NULL)
        CNNVP_TRY(cnnvp_import_per_channel(import, bias, 2, outputs, beta, &biases));
    CNNVP_TRY(add_dense(import, in, outputs, weights, bias != NULL, biases));
    if (!(alpha < 1.0f || alpha > 1.0f || beta < 1.0f || beta > 1.0f))
        cnnvp_import_steps(import, &import->graph->layers[import->graph->layer_count - 1], 1,
                           cnnvp_onnx_int(import->node, "transB", 0) != 0 ? 0 : 1, bias != NULL ? 2 : SIZE_MAX);
    return CNNVP_DONE;
}

/* Drops leading dimensions of 1 from a constant with no more dimensions than the tensor. */
static Onnx__TensorProto without_ones(const Onnx__TensorProto *constant, uint32_t rank)
{
    Onnx__TensorProto matrix = *constant;
    while (matrix.n_dims > 2 && constant->n_dims <= rank && matrix.dims[0] == 1) {
        ++matrix.dims;
        --matrix.n_dims;
    }
    return matrix;
}

/* A constant matrix times each matrix (N, K, W) or (N, 1, K, W) of a tensor: K becomes the channels, W the
 * positions. */
static cnnvp_result multiply_from_left(struct cnnvp_import *import, const Onnx__TensorProto *constant, int32_t in)
{
    int64_t dims[4];
    const uint32_t rank = cnnvp_import_dims(import, in, dims);
    const Onnx__TensorProto matrix = without_ones(constant, rank);
    uint32_t outputs = 0;
    float *weights = NULL;
    struct cnnvp_graph_layer *layer;
    if (rank < 3 || (rank == 4 && dims[1] != 1))
        return cnnvp_import_error(
            import, "the second operand has %u dimensions; a constant times one matrix is supported", rank);
    const int64_t maps[4] = {dims[0], dims[rank - 2], 1, dims[rank - 1]};
    CNNVP_TRY(cnnvp_import_shaped(import, import->graph->tensors[in].name, in, 4, maps, &in));
    CNNVP_TRY(read_matrix(import, &matrix, 1, 1.0f, (uint32_t)maps[1], &outputs, &weights));
    CNNVP_TRY(multiply_channels(import, in, outputs, weights, &layer));
    dims[rank - 2] = outputs;
    return cnnvp_import_view(import, layer->out, rank, dims);
}

/* Multiplies each matrix of a tensor by its own constant matrix: a 1x1 convolution with one group for each matrix. */
static cnnvp_result multiply_matrices(struct cnnvp_import *import, int32_t in, const Onnx__TensorProto *constant)
{
    static const uint32_t turn[3] = {0, 2, 1};
    int64_t dims[CNNVP_ONNX_RANK];
    float *weights = NULL;
    int32_t out;
    struct cnnvp_graph_layer *layer;
    const char *name = import->graph->tensors[in].name;
    const uint32_t rank = cnnvp_import_all_dims(import, in, dims);
    const size_t last = constant->n_dims - 1;
    int64_t matrices = 1;
    if (!import->single && constant->n_dims == rank)
        return cnnvp_import_mixes(import, "matrices that are not the same for all images");
    int fits = constant->n_dims < rank && rank > 3 && constant->dims[last - 1] == dims[rank - 1];
    for (size_t i = 3; i < rank && fits; ++i) {
        fits = (i > last + 1 ? 1 : constant->dims[last + 1 - i]) == dims[rank - i];
        matrices *= dims[rank - i];
    }
    const int64_t outputs = constant->dims[last];
    if (!fits || outputs < 1 || outputs > INT32_MAX / matrices)
        return cnnvp_import_error(import,
                                  "constant \"%s\" has %zu dimensions; a matrix with as many rows as the tensor has "
                                  "columns, or one for each matrix of the tensor is needed",
                                  constant->name != NULL ? constant->name : "", constant->n_dims);
    const int64_t views[3][4] = {{dims[0], matrices, dims[rank - 2], dims[rank - 1]},
                                 {dims[0], matrices * dims[rank - 1], 1, dims[rank - 2]},
                                 {dims[0], matrices, outputs, dims[rank - 2]}};
    CNNVP_TRY(turn_matrices(import, constant, (size_t)views[0][3], (size_t)outputs, &weights));
    CNNVP_TRY(cnnvp_import_shaped(import, name, in, 4, views[0], &in));
    CNNVP_TRY(permute(import, in, turn, &in));
    CNNVP_TRY(cnnvp_import_shaped(import, name, in, 4, views[1], &in));
    CNNVP_TRY(multiply_channels(import, in, (uint32_t)(matrices * outputs), weights, &layer));
    layer->groups = (uint32_t)matrices;
    layer->depthwise = matrices > 1 && views[0][3] == 1 && outputs == 1;
    CNNVP_TRY(cnnvp_import_shaped(import, name, layer->out, 4, views[2], &out));
    CNNVP_TRY(permute(import, out, turn, &out));
    dims[rank - 1] = outputs;
    return cnnvp_import_view(import, out, rank, dims);
}

/* Expands operands whose dimensions before the matrices differ to their broadcast shape, and sets *done. A single
 * second matrix, which multiplies all matrices of the first operand, is not expanded. */
static cnnvp_result spread_matrices(struct cnnvp_import *import, const size_t ranks[2],
                                    int64_t dims[2][CNNVP_ONNX_RANK], int *done)
{
    struct cnnvp_text text = {.used = 0};
    const size_t rank = ranks[0] > ranks[1] ? ranks[0] : ranks[1];
    int64_t wide[CNNVP_ONNX_RANK] = {1};
    int differ[2] = {0, 0};
    int alone = 1;
    *done = 0;
    for (size_t k = 0; k < 2; ++k) {
        struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
        CNNVP_TRY(cnnvp_import_value(import, k, &value));
        if (ranks[k] < 3 || (value.constant == NULL && !import->single && ranks[k] < rank))
            return CNNVP_DONE;
    }
    for (size_t i = import->single ? 0 : 1; i + 2 < rank; ++i) {
        int64_t both[2];
        for (size_t k = 0; k < 2; ++k)
            both[k] = i + ranks[k] < rank ? 1 : dims[k][i + ranks[k] - rank];
        wide[i] = both[0] != 1 ? both[0] : both[1];
        if (both[1] != 1 && both[1] != wide[i])
            return CNNVP_DONE;
        differ[0] |= both[0] != wide[i];
        differ[1] |= both[1] != wide[i];
        alone &= both[1] == 1;
    }
    if (alone || !(differ[0] || differ[1]))
        return CNNVP_DONE;
    for (size_t k = 0; k < 2; ++k) {
        const char operand = (char)('a' + (int)k);
        if (!differ[k]) {
            say(&text, "%c2 = Identity(%c);", operand, operand);
            continue;
        }
        say(&text, "%c2 = Expand(%c, [%lld", operand, operand, (long long)wide[0]);
        say_numbers(&text, wide, 1, rank - 2);
        say_numbers(&text, dims[k], ranks[k] - 2, ranks[k]);
        say(&text, "]);");
    }
    say(&text, "y = MatMul(a2, b2)");
    *done = 1;
    return rewrite(import, &text);
}

cnnvp_result cnnvp_operator_matmul(struct cnnvp_import *import)
{
    int32_t in, out;
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    const Onnx__TensorProto *constant;
    uint32_t outputs;
    float *weights;
    size_t ranks[2];
    int64_t both[2][CNNVP_ONNX_RANK], dims[CNNVP_ONNX_RANK];
    int done;
    for (size_t i = 0; i < 2; ++i)
        CNNVP_TRY(cnnvp_import_dims_of(import, i, &ranks[i], both[i]));
    if (ranks[1] == 1)
        return cnnvp_import_rewrite(
            import, ranks[0] == 1 ? "each = Mul(a, b); y = ReduceSum <keepdims = 0> (each)"
                                  : "one = Unsqueeze(b, [1]); many = MatMul(a, one); y = Squeeze(many, [-1])");
    if (ranks[0] == 1)
        return cnnvp_import_rewrite(import, "one = Unsqueeze(a, [0]); many = MatMul(one, b); y = Squeeze(many, [-2])");
    CNNVP_TRY(spread_matrices(import, ranks, both, &done));
    if (done)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_value(import, 0, &value));
    const size_t tensor = value.constant != NULL ? 1 : 0;
    CNNVP_TRY(cnnvp_import_any_rank(import, tensor, &in));
    CNNVP_TRY(cnnvp_import_value(import, 1, &value));
    if (tensor == 0 && value.constant == NULL) {
        CNNVP_TRY(cnnvp_import_any_rank(import, 1, &out));
        return cnnvp_import_product(import, in, out);
    }
    CNNVP_TRY(cnnvp_import_constant(import, 1 - tensor, &constant));
    const Onnx__TensorProto matrix = without_ones(constant, import->graph->tensors[in].rank);
    if (tensor == 1 && matrix.n_dims > 2) {
        CNNVP_TRY(cnnvp_import_operand_tensor(import, 0, import->graph->tensors[in].rank, &out));
        return cnnvp_import_product(import, out, in);
    }
    if (tensor == 0 && matrix.n_dims > 2)
        return multiply_matrices(import, in, &matrix);
    const uint32_t rank = cnnvp_import_all_dims(import, in, dims);
    if (tensor == 0 && rank > 4) {
        const int64_t merged[4] = {dims[0], cnnvp_onnx_product(dims, 1, rank - 2), dims[rank - 2], dims[rank - 1]};
        CNNVP_TRY(cnnvp_import_shaped(import, import->graph->tensors[in].name, in, 4, merged, &in));
        CNNVP_TRY(read_matrix(import, &matrix, 0, 1.0f, (uint32_t)dims[rank - 1], &outputs, &weights));
        CNNVP_TRY(multiply_rows(import, in, 0, outputs, weights, (int64_t)constant->n_dims - 1, &out));
        dims[rank - 1] = outputs;
        return cnnvp_import_view(import, out, rank, dims);
    }
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    CNNVP_TRY(cnnvp_import_tensor(import, tensor, 0, &in));
    if (tensor == 1)
        return multiply_from_left(import, constant, in);
    CNNVP_TRY(
        read_matrix(import, &matrix, 0, 1.0f, input.rank == 2 ? input.channels : input.width, &outputs, &weights));
    if (input.rank == 2) {
        CNNVP_TRY(add_dense(import, in, outputs, weights, 0, NULL));
        cnnvp_import_steps(import, &import->graph->layers[import->graph->layer_count - 1], 1, 1, SIZE_MAX);
        return CNNVP_DONE;
    }
    CNNVP_TRY(multiply_rows(import, in, 0, outputs, weights, (int64_t)constant->n_dims - 1, &out));
    return cnnvp_import_alias(import, import->node->output[0], out);
}

/* ---- x * scale[c] + offset[c] ---- */

/* A NULL array of a graph with weights stands for ones (scale) or zeros (offset). */
cnnvp_result cnnvp_import_affine(struct cnnvp_import *import, int32_t in, float *scale, float *offset, int inner,
                                 struct cnnvp_graph_layer **layer)
{
    const uint32_t channels = import->graph->tensors[in].channels;
    const uint32_t adds = scale == NULL && offset != NULL;
    if (scale == NULL)
        CNNVP_TRY(cnnvp_import_repeat(import, channels, 1.0f, &scale));
    if (offset == NULL)
        CNNVP_TRY(cnnvp_import_repeat(import, channels, 0.0f, &offset));
    CNNVP_TRY(cnnvp_import_like(import, CNNVP_OP_NORM, in, inner, layer));
    (*layer)->weights = scale;
    (*layer)->bias = offset;
    (*layer)->adds = adds;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_scale(struct cnnvp_import *import, int32_t in, float factor, float offset, int inner,
                                struct cnnvp_graph_layer **layer)
{
    const size_t channels = import->graph->tensors[in].channels;
    float *factors, *offsets;
    CNNVP_TRY(cnnvp_import_repeat(import, channels, factor, &factors));
    CNNVP_TRY(cnnvp_import_repeat(import, channels, offset, &offsets));
    return cnnvp_import_affine(import, in, factors, offsets, inner, layer);
}

/* Training: keeps scale, offset, mean and variance separate. */
static cnnvp_result add_batch_norm(struct cnnvp_import *import, int32_t in, float *values[4], float epsilon)
{
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_affine(import, in, values[0], values[1], 0, &layer));
    layer->mean = values[2];
    layer->variance = values[3];
    layer->epsilon = epsilon;
    for (size_t i = 0; i < 4; ++i)
        cnnvp_import_origin(import, (enum cnnvp_graph_role)i, i + 1);
    return CNNVP_DONE;
}

/* Normalises with the statistics of the data, then applies scale and offset. */
static cnnvp_result add_statistics(struct cnnvp_import *import, int32_t in, float *const *values, float epsilon,
                                   enum cnnvp_layer_norm_kind norm)
{
    struct cnnvp_graph_layer *layer;
    if (!(epsilon >= 0.0f))
        return cnnvp_import_error(import, "epsilon is %g; 0 or more is needed", (double)epsilon);
    CNNVP_TRY(cnnvp_import_affine(import, in, values[0], values[1], 0, &layer));
    layer->norm = norm;
    layer->epsilon = epsilon;
    return CNNVP_DONE;
}

/* Training mode: an attribute since operator set 14; before, extra outputs imply it, and before 7 attribute is_test =
 * 0. */
int cnnvp_import_takes_statistics(const struct cnnvp_import *import)
{
    const Onnx__NodeProto *node = import->node;
    if (import->onnx.opset >= 14)
        return cnnvp_onnx_int(node, "training_mode", 0) != 0;
    if (import->onnx.opset < 7)
        return cnnvp_onnx_int(node, "is_test", 0) == 0;
    for (size_t i = 1; i < node->n_output; ++i)
        if (node->output[i][0] != '\0')
            return 1;
    return 0;
}

/* Reads `count` inputs from input 1 on; each must have one value for each channel. */
static cnnvp_result read_channels(struct cnnvp_import *import, int32_t in, size_t count, float **values)
{
    for (size_t i = 0; i < count; ++i) {
        const Onnx__TensorProto *constant;
        CNNVP_TRY(cnnvp_import_constant(import, i + 1, &constant));
        CNNVP_TRY(cnnvp_import_floats(import, constant, import->graph->tensors[in].channels, &values[i]));
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_operator_batch_norm(struct cnnvp_import *import)
{
    int32_t in;
    const int of_data = cnnvp_import_takes_statistics(import) && !import->training;
    if (import->single)
        return cnnvp_import_norm_apart(import);
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    float *values[4]; /* scale, offset, mean, variance */
    CNNVP_TRY(read_channels(import, in, 4, values));
    const double epsilon = (double)cnnvp_onnx_float(import->node, "epsilon", 1e-5f);
    if (import->training)
        return add_batch_norm(import, in, values, (float)epsilon);
    if (of_data)
        return add_statistics(import, in, values, (float)epsilon, CNNVP_NORM_BATCH);
    for (size_t c = 0; c < import->graph->tensors[in].channels && !import->graph->weightless; ++c) {
        const double deviation = sqrt((double)values[3][c] + epsilon);
        if (!(deviation > 0.0))
            return cnnvp_import_error(
                import, "channel %zu: variance %g plus epsilon %g is not positive", c, (double)values[3][c], epsilon);
        const double scale = (double)values[0][c] / deviation;
        values[1][c] = (float)((double)values[1][c] - (double)values[2][c] * scale);
        values[0][c] = (float)scale;
    }
    struct cnnvp_graph_layer *layer;
    return cnnvp_import_affine(import, in, values[0], values[1], 0, &layer);
}

/* Most words of a channel: they must fit in half a buffer of the presets (32 KiB of 16-bit words), with five more words
 * beside the results. */
#define INSTANCE_MAX (16384 - 5)
/* Channels with more words are divided into equal parts of at most this many words. */
#define PART_MAX 8192

/* The number of such parts; 1 if no division works. */
static size_t count_parts(size_t words)
{
    size_t parts = (words + PART_MAX - 1) / PART_MAX;
    while (parts <= PART_MAX && words % parts != 0)
        ++parts;
    return parts <= PART_MAX ? parts : 1;
}

cnnvp_result cnnvp_operator_instance_norm(struct cnnvp_import *import)
{
    int32_t in;
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    float *values[2]; /* scale, offset */
    CNNVP_TRY(read_channels(import, in, 2, values));
    const float epsilon = cnnvp_onnx_float(import->node, "epsilon", 1e-5f);
    const struct cnnvp_graph_tensor input = import->graph->tensors[in];
    if (input.rank < 3)
        return cnnvp_import_error(import, "the input has %u dimensions; 3 or more are needed", input.rank);
    const size_t words = cnnvp_graph_words(&input) / input.channels;
    const size_t parts = words > INSTANCE_MAX ? count_parts(words) : 1;
    if (parts > 1)
        return cnnvp_import_instances_apart(import, (int64_t)parts);
    return add_statistics(import, in, values, epsilon, CNNVP_NORM_DATA);
}
