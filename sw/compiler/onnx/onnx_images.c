/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constants that depend on the number of images while that is a symbol. A shape has a 0 in its place, which stands for
 * it wherever sizes are expected. What is calculated from it is not known, so a layer that needs it is refused; the
 * file is then read with the whole input as one image, whose size is known.
 */
#include <string.h>

#include "onnx_constant.h"

static int how_counted(const struct cnnvp_import *import, size_t input)
{
    const struct cnnvp_onnx_value *value =
        input < import->node->n_input ? cnnvp_import_known(import, import->node->input[input]) : NULL;
    return value != NULL ? value->counts_images : 0;
}

/* How the operands depend on it. What says only a shape is no operand. */
static int how_operands_count(const struct cnnvp_import *import)
{
    const Onnx__NodeProto *node = import->node;
    const size_t operands = cnnvp_import_is_one_of(node->op_type, " Expand Tile Reshape Slice ") ? 1 : node->n_input;
    int how = 0;
    for (size_t i = 0; i < operands && strcmp(node->op_type, "ConstantOfShape") != 0; ++i)
        how = how_counted(import, i) > how ? how_counted(import, i) : how;
    return how;
}

static int has_zero(const Onnx__TensorProto *constant)
{
    for (size_t i = 0; i < constant->n_int64_data; ++i)
        if (constant->int64_data[i] == 0)
            return 1;
    return 0;
}

/* 1: the node asks whether sizes equal negative numbers, as exporters do for -1. No number of images does. */
static int asks_for_negative(const struct cnnvp_import *import)
{
    for (size_t i = 0; i < 2 && strcmp(import->node->op_type, "Equal") == 0; ++i) {
        const Onnx__TensorProto *with = cnnvp_import_known_constant(import, import->node->input[i]);
        const size_t count = with != NULL ? cnnvp_onnx_elements(with) : 0;
        int64_t numbers[CNNVP_CONSTANT_RANK];
        struct cnnvp_error unused;
        size_t negative = 0;
        if (how_counted(import, i) != 0 || count == 0 || count > CNNVP_CONSTANT_RANK ||
            cnnvp_onnx_ints(&import->onnx, with, numbers, count, &unused) != CNNVP_DONE)
            continue;
        while (negative < count && numbers[negative] < 0)
            ++negative;
        if (negative == count)
            return 1;
    }
    return 0;
}

void cnnvp_constant_mark_images(struct cnnvp_import *import)
{
    /* What only moves elements may have left the number behind. */
    const Onnx__NodeProto *node = import->node;
    const int is_moved = cnnvp_import_is_one_of(
        node->op_type,
        " Shape Gather Slice Split Concat Squeeze Unsqueeze Reshape Cast Transpose Flatten ScatterND Where Expand ");
    const int of_shape = strcmp(node->op_type, "Shape") == 0;
    const int how = of_shape ? CNNVP_COUNTS_IMAGES : how_operands_count(import);
    if (how == 0 || asks_for_negative(import))
        return;
    for (size_t i = 0; i < node->n_output; ++i) {
        struct cnnvp_onnx_value *made = cnnvp_import_known(import, node->output[i]);
        if (made != NULL && made->constant != NULL)
            made->counts_images =
                !is_moved ? CNNVP_FOLLOWS_IMAGES
                : has_zero(made->constant) || made->constant->n_float_data != 0
                    ? how
                    : 0;
    }
}

#define CALCULATIONS                                                                                                \
    " Add Sub Mul Div Mod Pow Min Max Sum Mean PRelu Clip MatMul Gemm Concat Where Equal Less Greater LessOrEqual " \
    "GreaterOrEqual And Or Xor "

cnnvp_result cnnvp_import_check_counts(struct cnnvp_import *import)
{
    return cnnvp_import_is_one_of(import->node->op_type, CALCULATIONS) && how_operands_count(import) != 0
               ? cnnvp_import_mixes(import, "a constant that depends on the number of images, which is a symbol,")
               : CNNVP_DONE;
}

cnnvp_result cnnvp_import_check_shape(struct cnnvp_import *import, const int64_t *sizes, size_t count)
{
    const int how = how_counted(import, 1);
    int left = 0;
    for (size_t i = 0; i < count; ++i)
        left |= sizes[i] == -1;
    for (size_t i = 0; i < count && how != 0; ++i)
        if (sizes[i] == 0 && (i != 0 || (how != CNNVP_COUNTS_IMAGES && left)))
            return cnnvp_import_mixes(import, "a shape with a size that depends on the number of images");
    return CNNVP_DONE;
}

cnnvp_result cnnvp_constant_of_an_image(struct cnnvp_import *import, size_t input, size_t count, int64_t *sizes)
{
    const int how = how_counted(import, input);
    for (size_t i = 0; i < count && how != 0; ++i) {
        if (sizes[i] != 0)
            continue;
        if (i != 0 || how != CNNVP_COUNTS_IMAGES)
            return cnnvp_import_mixes(import, "a constant with a size that depends on the number of images");
        sizes[i] = 1;
    }
    return CNNVP_DONE;
}
