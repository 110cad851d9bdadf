/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of two tensors of different shapes: a dimension of 1 is broadcast along the other tensor's. The engines
 * broadcast channels, rows and columns; adjacent dimensions that are broadcast alike are merged into one.
 */

#include <string.h>

#include "onnx_node.h"

/* ---- constants as tensors ---- */

/* 1: the file has operators of quantised numbers. */
static int is_quantised(const struct cnnvp_import *import)
{
    const Onnx__GraphProto *graph = import->onnx.model->graph;
    for (size_t i = 0; i < graph->n_node; ++i)
        if (graph->node[i]->op_type != NULL &&
            (strstr(graph->node[i]->op_type, "Quant") != NULL || strstr(graph->node[i]->op_type, "QLinear") != NULL))
            return 1;
    return 0;
}

/* A word of the network's input, for products with 0. Integers, and floats that a QuantizeLinear reads, have words of
 * 16 bits that not every array takes, so it is a 0 made of them. */
static cnnvp_result first_word(struct cnnvp_import *import, int32_t *first)
{
    struct cnnvp_graph *graph = import->graph;
    struct cnnvp_graph_layer *layer;
    const struct cnnvp_graph_tensor input = graph->tensors[graph->input];
    const int64_t dims[2] = {0, (int64_t)cnnvp_graph_words(&input)};
    int32_t words;
    if (import->zero != 0) {
        *first = import->zero;
        return CNNVP_DONE;
    }
    CNNVP_TRY(cnnvp_import_shaped(import, input.name, graph->input, 2, dims, &words));
    *first = cnnvp_graph_channel_view(graph, words, 0, 1);
    CNNVP_TRY_MEMORY(*first != CNNVP_GRAPH_NONE, import->error);
    if (input.counts == 0 && !is_quantised(import))
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_scale(import, *first, 0.0f, 0.0f, 1, &layer));
    *first = import->zero = layer->out;
    return CNNVP_DONE;
}

/* A vector of constants (NULL: zeros) that the network computes: a fully connected layer with one input word, zero
 * weights, and the values as biases. */
static cnnvp_result constant_vector(struct cnnvp_import *import, uint32_t count, float *values, int32_t *out)
{
    struct cnnvp_graph *graph = import->graph;
    struct cnnvp_graph_layer *layer;
    int32_t first;
    CNNVP_TRY(first_word(import, &first));
    CNNVP_TRY(cnnvp_import_layer(import, CNNVP_OP_FC, first, 1, count, 1, 1, &layer));
    layer->has_bias = 1;
    layer->constant = 1;
    *out = layer->out;
    if (graph->weightless)
        return CNNVP_DONE;
    layer->weights = cnnvp_arena_array(&graph->arena, count, sizeof *layer->weights);
    layer->bias = values != NULL ? values : cnnvp_arena_array(&graph->arena, count, sizeof *layer->bias);
    return layer->weights != NULL && layer->bias != NULL ? CNNVP_DONE : cnnvp_compiler_no_memory(import->error);
}

static cnnvp_result shaped_constants(struct cnnvp_import *import, uint32_t rank, const int64_t *dims, float *values,
                                     int32_t *out)
{
    int64_t words = 1;
    for (uint32_t i = 1; i < rank; ++i) {
        if (dims[i] > CNNVP_ONNX_CONSTANT_MAX / words)
            return cnnvp_import_error(
                import, "a constant of more than %d elements cannot become a tensor", CNNVP_ONNX_CONSTANT_MAX);
        words *= dims[i];
    }
    CNNVP_TRY(constant_vector(import, (uint32_t)words, values, out));
    return cnnvp_import_shaped(import, import->node->output[0], *out, rank, dims, out);
}

cnnvp_result cnnvp_import_constants(struct cnnvp_import *import, const Onnx__TensorProto *constant, uint32_t rank,
                                    int32_t *out)
{
    float *values;
    int64_t dims[CNNVP_ONNX_RANK];
    if (rank > CNNVP_ONNX_RANK || constant->n_dims > rank)
        return cnnvp_import_error(import, "constant \"%s\" has %zu dimensions; up to %u are supported",
                                  constant->name != NULL ? constant->name : "", constant->n_dims, rank);
    for (size_t i = 0; i < rank; ++i)
        dims[i] = i + constant->n_dims < rank ? 1 : constant->dims[i + constant->n_dims - rank];
    if (dims[0] != 1)
        return cnnvp_import_mixes(import, "a constant that is not the same for all images");
    CNNVP_TRY(cnnvp_import_floats(import, constant, cnnvp_onnx_elements(constant), &values));
    return shaped_constants(import, rank, dims, values, out);
}

/* Most words for one value per word: a scale and an offset for each must fit in the weight buffer together. */
#define EACH_WORD_MAX 8192u
/* Most words of a tensor if the constant is broadcast to them. */
#define WORDS_MAX 16384u

int cnnvp_import_is_larger(const struct cnnvp_import *import, const Onnx__TensorProto *constant, int32_t in)
{
    int64_t dims[CNNVP_ONNX_RANK];
    const uint32_t rank = cnnvp_import_all_dims(import, in, dims);
    const size_t count = cnnvp_onnx_elements(constant);
    if (import->onnx.opset < 7)
        return 0;
    if (rank > 4 && count > 1 && count != (size_t)dims[1])
        return 1;
    size_t wide = 0, rows = 0; /* numbers of rows become numbers of words, too */
    for (size_t i = 1; i <= constant->n_dims; ++i) {
        if (constant->dims[constant->n_dims - i] != 1 && i < rank && dims[rank - i] == 1)
            return 1;
        wide += constant->dims[constant->n_dims - i] != 1;
        rows += constant->dims[constant->n_dims - i] != 1 && i == 2 && rank == 4;
    }
    if ((wide > 1 && count > EACH_WORD_MAX) ||
        (wide + rows > 1 && cnnvp_graph_words(&import->graph->tensors[in]) > WORDS_MAX))
        return 1;
    return import->single && constant->n_dims >= rank;
}

/* ---- two tensors ---- */

/* 1: an Expand of another tensor that only records the larger shape (cnnvp_operator_expand). Operators that broadcast
 * anyway read the smaller tensor. */
static int is_expanded(const struct cnnvp_graph_tensor *tensor)
{
    return tensor->rank <= 4 && tensor->dims != NULL;
}

cnnvp_result cnnvp_import_spread(struct cnnvp_import *import, int32_t in, uint32_t rank, const int64_t *dims,
                                 int32_t *out)
{
    int64_t own[CNNVP_ONNX_RANK], wider[CNNVP_ONNX_RANK];
    int32_t zeros;
    (void)cnnvp_import_all_dims(import, in, own);
    for (uint32_t i = 0; i < rank; ++i)
        wider[i] = own[i] == dims[i] ? 1 : dims[i];
    CNNVP_TRY(shaped_constants(import, rank, wider, NULL, &zeros));
    return cnnvp_import_pair(import, CNNVP_ARITHMETIC_ADD, in, zeros, 1, out);
}

cnnvp_result cnnvp_import_expanded(struct cnnvp_import *import, int32_t *tensor)
{
    const struct cnnvp_graph_tensor expanded = import->graph->tensors[*tensor];
    return is_expanded(&expanded) ? cnnvp_import_spread(import, expanded.base, expanded.rank, expanded.dims, tensor)
                                  : CNNVP_DONE;
}

static void align(const struct cnnvp_import *import, int32_t tensor, uint32_t rank, int64_t dims[CNNVP_ONNX_RANK])
{
    int64_t own[CNNVP_ONNX_RANK];
    const uint32_t count = cnnvp_import_all_dims(import, tensor, own);
    dims[0] = own[0];
    for (uint32_t i = 1; i < rank; ++i)
        dims[i] = i <= rank - count ? 1 : own[i + count - rank];
}

/* Dimensions of both operands, aligned at the file's last dimension, and of the result. */
struct joined {
    uint32_t rank;
    int64_t dims[3][CNNVP_ONNX_RANK];
    /* Groups of adjacent dimensions that both operands have, or that the same one of them has. */
    uint32_t count;
    int64_t groups[3][CNNVP_ONNX_RANK]; /* sizes, from index 1 on */
    uint32_t widened;                   /* the last group that only one operand has; 0: none */
    uint32_t begin, end;                /* the dimensions of group `widened` */
};

static cnnvp_result join_dims(struct cnnvp_import *import, int32_t first, int32_t second, struct joined *joined)
{
    const uint32_t ranks[2] = {import->graph->tensors[first].rank, import->graph->tensors[second].rank};
    const uint32_t rank = ranks[0] > ranks[1] ? ranks[0] : ranks[1];
    int last = 0;
    if (ranks[0] != ranks[1] && !import->single)
        return cnnvp_import_mixes(import, "operands with different numbers of dimensions");
    *joined = (struct joined){.rank = rank};
    align(import, first, rank, joined->dims[0]);
    align(import, second, rank, joined->dims[1]);
    for (size_t operand = 0; operand < 3; ++operand)
        for (size_t i = 0; i < CNNVP_ONNX_RANK; ++i)
            joined->groups[operand][i] = 1;
    for (uint32_t i = 1; i < rank; ++i) {
        const int64_t a = joined->dims[0][i];
        const int64_t b = joined->dims[1][i];
        const int kind = a == b ? 1 : a == 1 ? 2 : 3;
        joined->dims[2][i] = a > b ? a : b;
        if (kind == 3 && b != 1)
            return cnnvp_import_error(import,
                                      "dimension %u of the inputs is %lld and %lld; they must be the same, or 1 where "
                                      "one counts for all",
                                      i, (long long)a, (long long)b);
        if (joined->dims[2][i] == 1)
            continue;
        if (kind != last && kind != 1) {
            joined->widened = joined->count + 1;
            joined->begin = i;
        }
        joined->count += kind != last;
        joined->end = kind != 1 ? i + 1 : joined->end;
        last = kind;
        for (size_t operand = 0; operand < 3; ++operand)
            joined->groups[operand][joined->count] *= joined->dims[operand][i];
    }
    return CNNVP_DONE;
}

/* For more than three groups: adds zeros that span group `widened` to the operand that lacks it. This removes one
 * broadcast. */
static cnnvp_result widen(struct cnnvp_import *import, const struct joined *joined, int32_t *first, int32_t *second)
{
    int32_t zeros;
    int64_t dims[CNNVP_ONNX_RANK];
    int32_t *narrow = joined->groups[0][joined->widened] == 1 ? first : second;
    for (uint32_t i = 0; i < joined->rank; ++i)
        dims[i] = i >= joined->begin && i < joined->end ? joined->dims[2][i] : 1;
    CNNVP_TRY(shaped_constants(import, joined->rank, dims, NULL, &zeros));
    return cnnvp_import_pair(import, CNNVP_ARITHMETIC_ADD, *narrow, zeros, 1, narrow);
}

/* Computes the operation on views of three merged dimensions. */
static cnnvp_result pair_groups(struct cnnvp_import *import, enum cnnvp_layer_arithmetic operation, int32_t first,
                                int32_t second, int32_t *out)
{
    struct joined joined = {0};
    struct cnnvp_graph_layer *layer;
    const char *name = import->node->output[0];
    CNNVP_TRY(cnnvp_import_expanded(import, &first));
    CNNVP_TRY(cnnvp_import_expanded(import, &second));
    CNNVP_TRY(join_dims(import, first, second, &joined));
    while (joined.count > 3) {
        CNNVP_TRY(widen(import, &joined, &first, &second));
        CNNVP_TRY(join_dims(import, first, second, &joined));
    }
    CNNVP_TRY(cnnvp_import_shaped(import, import->graph->tensors[first].name, first, 4, joined.groups[0], &first));
    CNNVP_TRY(cnnvp_import_shaped(import, import->graph->tensors[second].name, second, 4, joined.groups[1], &second));
    const int64_t *groups = joined.groups[2];
    CNNVP_TRY(cnnvp_import_layer(
        import, CNNVP_OP_ADD, first, 1, (uint32_t)groups[1], (uint32_t)groups[2], (uint32_t)groups[3], &layer));
    layer->in2 = second;
    layer->arithmetic = operation;
    return cnnvp_import_shaped(import, name, layer->out, joined.rank, joined.dims[2], out);
}

/* 1: sizes of the two operands match: they are equal, or one of them is 1 and broadcast. */
static int joins(uint32_t a, uint32_t b, uint32_t *out)
{
    *out = a > b ? a : b;
    return a == b || a == 1 || b == 1;
}

/* 1: the operand is not an Expand, or the result covers the shape that Expand gave it. */
static int has_its_shape(const struct cnnvp_graph_tensor *operand, const uint32_t joined[3])
{
    if (!is_expanded(operand))
        return 1;
    const int64_t *dims = operand->dims;
    const int64_t wanted[3] = {
        dims[1], operand->rank == 4 ? dims[2] : 1, operand->rank == 2 ? 1 : dims[operand->rank - 1]};
    for (size_t i = 0; i < 3; ++i)
        if (wanted[i] != 1 && wanted[i] != joined[i])
            return 0;
    return 1;
}

cnnvp_result cnnvp_import_pair(struct cnnvp_import *import, enum cnnvp_layer_arithmetic operation, int32_t first,
                               int32_t second, int inner, int32_t *out)
{
    const struct cnnvp_graph_tensor a = import->graph->tensors[first];
    const struct cnnvp_graph_tensor b = import->graph->tensors[second];
    uint32_t joined[3];
    struct cnnvp_graph_layer *layer;
    if (a.rank > 4 || a.rank != b.rank || !joins(a.channels, b.channels, &joined[0]) ||
        !joins(a.height, b.height, &joined[1]) || !joins(a.width, b.width, &joined[2]) || !has_its_shape(&a, joined) ||
        !has_its_shape(&b, joined)) {
        const cnnvp_result result = pair_groups(import, operation, first, second, out);
        return inner || result != CNNVP_DONE ? result : cnnvp_import_alias(import, import->node->output[0], *out);
    }
    CNNVP_TRY(cnnvp_import_layer(import, CNNVP_OP_ADD, first, inner, joined[0], joined[1], joined[2], &layer));
    layer->in2 = second;
    layer->arithmetic = operation;
    *out = layer->out;
    return CNNVP_DONE;
}

/* ---- Expand ---- */

/* Dimensions of the result; where the shape has 1, the input's dimension stays. */
static cnnvp_result expand_dims(struct cnnvp_import *import, int32_t in, const int64_t *shape, size_t count,
                                uint32_t *rank, int64_t dims[CNNVP_ONNX_RANK])
{
    int64_t old[CNNVP_ONNX_RANK];
    const uint32_t front = import->single != 0;
    const uint32_t old_rank = import->graph->tensors[in].rank;
    *rank = (uint32_t)count + front > old_rank ? (uint32_t)count + front : old_rank;
    if (*rank > CNNVP_ONNX_RANK || (*rank > old_rank && !front))
        return cnnvp_import_mixes(import, "a shape with more numbers than the input has dimensions");
    align(import, in, *rank, old);
    for (uint32_t i = 0; i < *rank; ++i) {
        const int64_t size = i + count < *rank ? 1 : shape[i + count - *rank];
        dims[i] = i == 0 || size == 1 ? old[i] : size;
        if (i == 0 ? size != 0 && size != 1 && size != import->batch
                   : size < 1 || size > INT32_MAX || (old[i] != 1 && dims[i] != old[i]))
            return cnnvp_import_error(
                import, "number %lld of the shape does not fit to dimension %u of the input, %lld", (long long)size, i,
                (long long)old[i]);
    }
    return CNNVP_DONE;
}

/* Up to four dimensions: only records the larger shape on an alias of the tensor. Most networks use it only as an
 * operand that broadcasting expands anyway. Other cases add zeros of the full shape. */
cnnvp_result cnnvp_operator_expand(struct cnnvp_import *import)
{
    int32_t in, out;
    size_t count = 0;
    uint32_t rank;
    int64_t shape[CNNVP_ONNX_RANK];
    int64_t *dims;
    CNNVP_TRY(CNNVP_IMPORT_ARRAY(import, CNNVP_ONNX_RANK, &dims));
    CNNVP_TRY(cnnvp_import_any_rank(import, 0, &in));
    CNNVP_TRY(cnnvp_import_list(import, "shape", 1, CNNVP_ONNX_RANK, shape, &count));
    CNNVP_TRY(expand_dims(import, in, shape, count, &rank, dims));
    struct cnnvp_graph *graph = import->graph;
    const struct cnnvp_graph_tensor input = graph->tensors[in];
    if (rank > 4 || rank != input.rank) {
        CNNVP_TRY(shaped_constants(import, rank, dims, NULL, &out));
        return cnnvp_import_pair(import, CNNVP_ARITHMETIC_ADD, in, out, 0, &out);
    }
    out = cnnvp_graph_tensor_add(graph, import->node->output[0], rank, input.channels, input.height, input.width);
    CNNVP_TRY_MEMORY(out != CNNVP_GRAPH_NONE, import->error);
    graph->tensors[out].base = in;
    graph->tensors[out].dims = dims;
    return cnnvp_import_alias(import, import->node->output[0], out);
}
