/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MatMul of two tensors: a 1x1 convolution with one group per matrix. The rows of the first operand are positions and
 * its columns are channels; the words of the second operand, transposed, are the weights.
 */
#include "onnx_node.h"

/* `count` products of matrices (rows, inner) and (inner, columns). If the second operand has one matrix for all
 * matrices of the first one, it is one product with all rows. */
struct product {
    uint32_t rank;
    int64_t dims[CNNVP_ONNX_RANK]; /* of the result */
    uint32_t count, rows, inner, columns;
};

static cnnvp_result plan_product(struct cnnvp_import *import, const int32_t operands[2], struct product *product)
{
    int64_t other[CNNVP_ONNX_RANK];
    int64_t count = 1;
    product->rank = cnnvp_import_all_dims(import, operands[0], product->dims);
    const uint32_t rank = cnnvp_import_all_dims(import, operands[1], other);
    if (product->rank < 3 || rank < 3)
        return import->single ? cnnvp_import_error(import, "a product of vectors is not supported")
                              : cnnvp_import_mixes(import, "a product of two tensors of 2 dimensions");
    int fits = rank == product->rank && product->dims[rank - 1] == other[rank - 2];
    int64_t rows = 1; /* number of matrices of the first operand */
    for (uint32_t i = 1; i + 2 < rank && fits; ++i) {
        rows *= product->dims[i];
        count *= other[i];
    }
    for (uint32_t i = 1; i + 2 < rank && fits && count != 1; ++i)
        fits = product->dims[i] == other[i];
    if (!fits)
        return cnnvp_import_error(
            import, "the operands have other matrices: as many of each, or one of the second one, and as many columns "
                    "of the first one as rows of the second one are needed");
    product->count = (uint32_t)count;
    product->rows = (uint32_t)(rows / count * product->dims[rank - 2]);
    product->inner = (uint32_t)other[rank - 2];
    product->columns = (uint32_t)other[rank - 1];
    product->dims[rank - 1] = other[rank - 1];
    return CNNVP_DONE;
}

/* Transposes matrices (rows, columns): each column becomes a channel of `rows` words. */
static cnnvp_result turn(struct cnnvp_import *import, int32_t in, uint32_t count, uint32_t rows, uint32_t columns,
                         int32_t *out)
{
    static const uint32_t swapped[3] = {0, 2, 1};
    const uint32_t sizes[3] = {count, rows, columns};
    const int64_t dims[4] = {0, (int64_t)count * columns, 1, rows};
    CNNVP_TRY(cnnvp_import_permute(import, in, sizes, swapped, out));
    return cnnvp_import_shaped(import, import->graph->tensors[*out].name, *out, 4, dims, out);
}

/* Copies weights that no permutation has copied: other layers may read the same tensor, and weights need one without a
 * frame that is never kept on chip. */
static cnnvp_result copy_weights(struct cnnvp_import *import, int32_t *weights)
{
    struct cnnvp_graph_layer *layer;
    CNNVP_TRY(cnnvp_import_like(import, CNNVP_OP_ACTIVATION, *weights, 1, &layer));
    *weights = layer->out;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_product(struct cnnvp_import *import, int32_t first, int32_t second)
{
    const int32_t operands[2] = {first, second};
    struct product product;
    struct cnnvp_graph_layer *layer;
    int32_t positions, weights, out;
    CNNVP_TRY(plan_product(import, operands, &product));
    CNNVP_TRY(turn(import, first, product.count, product.rows, product.inner, &positions));
    const size_t layers = import->graph->layer_count;
    CNNVP_TRY(turn(import, second, product.count, product.inner, product.columns, &weights));
    if (import->graph->layer_count == layers)
        CNNVP_TRY(copy_weights(import, &weights));
    CNNVP_TRY(cnnvp_import_positions(import, &positions));
    const struct cnnvp_graph_tensor map = import->graph->tensors[positions];
    CNNVP_TRY(cnnvp_import_layer(
        import, CNNVP_OP_CONV, positions, 1, product.count * product.columns, map.height, map.width, &layer));
    layer->groups = product.count;
    layer->product = 1;
    layer->in2 = weights;
    CNNVP_TRY(turn(import, layer->out, product.count, product.columns, product.rows, &out));
    return cnnvp_import_view(import, out, product.rank, product.dims);
}
