/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of layers and of their options. The compiler's graph, its plans, the network binary and the guest share
 * them. */
#ifndef CNNVP_LAYER_KINDS_H
#define CNNVP_LAYER_KINDS_H

enum cnnvp_layer_op {
    CNNVP_OP_CONV = 0,
    CNNVP_OP_POOL = 1,
    CNNVP_OP_FC = 2,
    CNNVP_OP_ACTIVATION = 3,
    CNNVP_OP_NORM = 4,
    CNNVP_OP_ADD = 5, /* combines two tensors as `arithmetic` says */
    CNNVP_OP_SOFTMAX = 6
};

/* Post-operations: what is done with a layer's results before they are stored, at write-out or by the vector unit. */
enum cnnvp_layer_post_kind {
    CNNVP_POST_NONE = 0,
    CNNVP_POST_MAX = 1,  /* max{x, value}: ReLU with value 0 */
    CNNVP_POST_MIN = 2,  /* min{x, value}: upper clip */
    CNNVP_POST_TABLE = 3 /* piecewise-linear function; its table ends the weight tile (layer.h) */
};

#define CNNVP_LAYER_POSTS 3

enum cnnvp_layer_pool_kind { CNNVP_POOL_MAX = 0, CNNVP_POOL_AVERAGE = 1 };

/* What CNNVP_OP_ADD does with its operands. An operand is broadcast along each dimension that is 1 in it but not in the
 * result. */
enum cnnvp_layer_arithmetic {
    CNNVP_ARITHMETIC_ADD = 0,
    CNNVP_ARITHMETIC_SUB = 1,
    CNNVP_ARITHMETIC_MUL = 2,
    CNNVP_ARITHMETIC_DIV = 3,
    CNNVP_ARITHMETIC_MAX = 4,
    CNNVP_ARITHMETIC_MIN = 5
};

/* Axis that softmax sums over. A tile is never cut along this axis. */
enum cnnvp_layer_axis {
    CNNVP_AXIS_LAST = 0, /* the columns of a row, or the channels if the tensor is one position */
    CNNVP_AXIS_ROWS = 1, /* the rows of a column */
    CNNVP_AXIS_CHANNELS = 2
};

enum cnnvp_layer_norm_kind {
    CNNVP_NORM_STORED = 0, /* x * scale[c] + offset[c]; weight tile: all scales, then all offsets */
    CNNVP_NORM_DATA = 1,   /* mean and variance of each image (S000's three sweeps); weight tile: gammas, then betas */
    CNNVP_NORM_BATCH = 2   /* the same over all images of the batch, with tile_images = batch (Part B 0-10) */
};

#endif
