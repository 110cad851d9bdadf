/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the blocks of S001's training engine communicate: a tile of values on its way through the multi-function module,
 * and the entries of the module's buffers. A custom block that speaks this protocol can replace a built-in one.
 *
 * A tile is one access with op CNNVP_COMMAND; `data` is a struct cnnvp_tile, `words` the values that cross. A block
 * does its part of the work, passes the tile to the next block within the same call, and returns that block's status.
 * With CNNVP_DEBUG it only checks that it could do so: that its buffers have the entries and that matrices fit. The
 * multi-function module checks each tile in this way first, so a tile is never refused midway.
 *
 * Blocks work side by side as a pipeline. Each block raises `cycles` to its own cycles if those are more, and
 * `waiting_cycles` to its own cycles plus its waits for buffers. It adds its pipeline stages to `fill`. The module
 * charges the larger of the two, plus fill.
 */
#ifndef CNNVP_TILE_H
#define CNNVP_TILE_H

#include "cnnvp_command.h"

/* Set in the address of scales and exponents that are in the max-min buffer instead of the intermediate buffer. */
#define CNNVP_TILE_HELD (UINT32_C(1) << 30)

/* An entry of the max-min buffer. With no values, min is +infinity and max is -infinity. */
struct cnnvp_extremes {
    float min, max;          /* over finite values */
    uint32_t min_at, max_at; /* numbers, in the channel, of the first values equal to min and max */
};

/* An entry of the sum buffer. */
struct cnnvp_sums {
    double sum;         /* over finite values */
    double squares;     /* squared distances from the mean, over finite values */
    uint32_t count;     /* finite values */
    uint32_t nonfinite; /* non-finite values */
    uint32_t reserved[2];
};

/* An entry of the batch norm buffer: a channel's parameters for forward and backward. */
struct cnnvp_norm {
    float gamma, beta;
    float gamma_velocity, beta_velocity;
    float running_mean, running_sigma;
    float scale, offset; /* forward: y = scale * x + offset */
    double mean, sigma;
    double dgamma, dbeta;               /* before the backward coefficients are made, dgamma is the sum of dy * (x -
                                         * mean) */
    float dy_scale, x_scale, dy_offset; /* backward: dx = dy_scale * dy + x_scale * x + dy_offset */
    float extreme;                      /* added to dx at the maximum, subtracted at the minimum */
    float dy_at_min, dy_at_max;         /* errors at the minimum and at the maximum */
    uint32_t count;                     /* number of values behind mean and sigma */
    uint32_t reserved;
};

/* A record of the output data buffer consists of this and one probability (binary32) for each class. */
struct cnnvp_class_result {
    uint32_t predicted;
    uint32_t correct; /* 1: `predicted` is the label */
    float loss;
    uint32_t nonfinite; /* non-finite inputs */
};

enum cnnvp_tile_kind {
    CNNVP_TILE_STATISTICS = 0,        /* statistics, sum: extremes and sums of `values` */
    CNNVP_TILE_SQUARES = 1,           /* sum: squares of `values` */
    CNNVP_TILE_EXTREMES = 2,          /* statistics: extremes of `values`, for another block */
    CNNVP_TILE_COEFFICIENTS = 3,      /* batch norm */
    CNNVP_TILE_COEFFICIENTS_BACK = 4, /* batch norm */
    CNNVP_TILE_EXPONENTS = 5,         /* quantise */
    CNNVP_TILE_FORWARD = 6,           /* batch norm, ReLU, quantise, max pool, encode */
    CNNVP_TILE_UNPACK = 7,            /* encode: matrices from memory */
    CNNVP_TILE_BACKWARD = 8,          /* max pool back, ReLU back, batch norm, quantise, max pool, encode */
    CNNVP_TILE_SOFTMAX = 9,           /* softmax, statistics */
    CNNVP_TILE_UPDATE = 10,           /* update, statistics */
    CNNVP_TILE_NORM_UPDATE = 11       /* BN update */
};

/* Selects parts of the work. */
enum cnnvp_tile_flag {
    CNNVP_TILE_NORM = 1u << 0,      /* batch norm */
    CNNVP_TILE_RELU = 1u << 1,      /* ReLU; exponents: of the positive parts */
    CNNVP_TILE_POOL = 1u << 2,      /* max pool */
    CNNVP_TILE_KEEP = 1u << 3,      /* forward: keep the 0/1 matrix and the positions */
    CNNVP_TILE_FLOAT = 1u << 4,     /* forward: no quantiser */
    CNNVP_TILE_MEASURE = 1u << 5,   /* extremes instead of mantissas */
    CNNVP_TILE_REDUCE = 1u << 6,    /* backward: sums and extremes of errors instead of batch norm */
    CNNVP_TILE_MAP = 1u << 7,       /* exponents: extremes pass through batch norm */
    CNNVP_TILE_MAP_BACK = 1u << 8,  /* exponents: extremes pass through backward batch norm */
    CNNVP_TILE_EACH = 1u << 9,      /* exponents: one for each entry */
    CNNVP_TILE_GRADIENT = 1u << 10, /* softmax: with labels */
    CNNVP_TILE_MOMENTUM = 1u << 11, /* updates: with velocities */
    CNNVP_TILE_APART = 1u << 12     /* extremes: skip the values at the positions of batch norm's minimum and maximum */
};

/* How batch norm's coefficients are made. */
enum cnnvp_norm_form { CNNVP_NORM_RANGE = 0, CNNVP_NORM_STANDARD = 1, CNNVP_NORM_STORED = 2, CNNVP_NORM_NONE = 3 };

/* Values of a tile are [images][channels][plane], contiguous. Pointers are NULL in timing-only and where the tile does
 * not use them. They are valid during the call only. */
struct cnnvp_tile {
    uint32_t kind;  /* enum cnnvp_tile_kind */
    uint32_t flags; /* bits of enum cnnvp_tile_flag */
    uint32_t images;
    uint32_t channels;
    uint32_t height, width; /* of a plane, before the pool */
    uint64_t plane;         /* height * width, 1 or more */

    /* set by the module: number of block sets, each of which works on one image at a time, and values per cycle of a
     * block. For values that belong to no image: one set with the lanes of all */
    uint32_t sets, lanes;

    /* the entry of channel c of image n is entry + n * entry_image_stride + c * entry_channel_stride */
    uint32_t entry, entry_image_stride, entry_channel_stride;
    uint32_t norm_entry;  /* entry of channel 0 in the batch norm buffer, and of the extremes of batch norm's inputs */
    uint64_t first_value; /* number of value 0 in its channel */
    uint64_t map;         /* values of a channel from one image to the next in that numbering */

    /* pool */
    uint32_t kx, ky, sx, sy;
    uint32_t pooled_height, pooled_width; /* without a pool: the plane's */

    /* quantiser */
    uint32_t mantissa_bits, rounding;
    uint64_t seed;
    uint64_t first;        /* index of value 0 in its tensor */
    uint64_t image_stride; /* from one image to the next in that numbering */
    uint32_t exponent_image_stride, exponent_channel_stride;
    const int8_t *exponents;
    int8_t *exponents_out;

    /* coefficients and updates */
    uint32_t form;                          /* enum cnnvp_norm_form */
    float epsilon, running, rate, momentum; /* softmax: rate is the gradient's factor */

    /* data */
    float *values; /* before the pool; softmax: inputs; update: weights */
    float *errors; /* backward: errors after the pool; softmax, update: gradient */
    float *velocities;
    const float *inputs; /* inputs of forward batch norm */
    uint64_t inputs_image_stride;
    void *mantissas; /* int8_t; int32_t if mantissa_bits is above 8 */
    void *results;   /* destination of encode */
    uint64_t results_image_stride;
    uint8_t *mask, *positions; /* packed, in the intermediate buffer */
    uint64_t mask_image_stride, positions_image_stride;
    const uint32_t *labels;
    uint32_t record; /* softmax: number of the record of image 0 */

    /* out */
    uint64_t cycles, waiting_cycles, fill;

    uint64_t waits; /* private to each block: cycles that it waits for its buffers */
};

/* Bits of a max pool position. */
static inline uint32_t cnnvp_tile_position_bits(uint32_t kx, uint32_t ky)
{
    uint32_t bits = 1;
    while ((UINT32_C(1) << bits) < kx * ky)
        ++bits;
    return bits;
}

/* Bytes of a packed plane, padded to 16 bits. */
static inline uint64_t cnnvp_tile_packed(uint64_t values, uint32_t bits)
{
    return (values * bits + 15u) / 16u * 2u;
}

static inline uint64_t cnnvp_tile_pooled(const struct cnnvp_tile *tile)
{
    return (uint64_t)tile->pooled_height * tile->pooled_width;
}

/* Cycles that the sets need for `values` values of each image. */
static inline uint64_t cnnvp_tile_beats(const struct cnnvp_tile *tile, uint64_t values)
{
    return (uint64_t)((tile->images + tile->sets - 1u) / tile->sets) * ((values + tile->lanes - 1u) / tile->lanes);
}

#endif
