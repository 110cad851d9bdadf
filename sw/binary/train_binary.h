/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training binary: what the host compiler leaves in memory for training, and for inference, on the training engine
 * (S001). It stands where the network binary stands (CNNVP_BINARY_ADDRESS) and is told from it by its magic number. The
 * same guest program runs both.
 *
 * All members are 32-bit little-endian; addresses are absolute bytes; regions start on 64-byte boundaries. Mantissas
 * take 1 byte, 4 where the engine's have more than 8 bits ("value bytes"). 32-bit intermediates are integer sums with a
 * 16-bit scale, or binary32.
 */
#ifndef CNNVP_TRAIN_BINARY_H
#define CNNVP_TRAIN_BINARY_H

#include "cnnvp_command.h"
#include "binary_place.h"

#define CNNVP_TRAIN_BINARY_MAGIC UINT32_C(0x54564e43) /* "CNVT" */
#define CNNVP_TRAIN_BINARY_VERSION UINT32_C(3)

/* The guest writes this character to the console when a step or an evaluation is complete in memory. */
#define CNNVP_TRAIN_MARK '\x1e'

enum cnnvp_train_flag {
    CNNVP_TRAIN_CHANNEL_ORDER = 1u << 0, /* partial sums go to memory and back for each input channel (Part B 1-3) */
    CNNVP_TRAIN_STANDARD_BN = 1u << 1,   /* sigma from the variance; otherwise from the range (1-12) */
    CNNVP_TRAIN_NARROW = 1u << 2,        /* weights are kept in block floating point alone (1-16) */
    CNNVP_TRAIN_INFERENCE = 1u << 3,     /* no steps: the evaluation's images once, their softmax or outputs kept */
    CNNVP_TRAIN_PARK = 1u << 4           /* batch norm's inputs are parked and leave after a tile's results */
};

/* Which values share an exponent (Part B 1-14). */
enum cnnvp_train_binary_block { CNNVP_TRAIN_BY_TENSOR = 0, CNNVP_TRAIN_BY_IMAGE = 1, CNNVP_TRAIN_BY_CHANNEL = 2 };

/* What the seed of a quantisation is made of, besides step and layer. */
enum cnnvp_train_what {
    CNNVP_TRAIN_SEED_ACTIVATION = 0,
    CNNVP_TRAIN_SEED_ERROR = 1,
    CNNVP_TRAIN_SEED_WEIGHT = 2,
    CNNVP_TRAIN_SEED_BIAS = 3
};

/* In place of the step: forward passes that teach nothing. */
#define CNNVP_TRAIN_NO_STEP UINT32_C(0xffffffff)

/* Images in memory: mantissas [image][channel][row][column], dense. */
struct cnnvp_train_images {
    uint32_t count;
    uint32_t mantissas;
    uint32_t exponents; /* bytes: one; one an image; one a channel */
    uint32_t labels;    /* uint32 each; 0: none */
    uint32_t results;   /* records of the output data buffer, see below: all, or a step's */
    uint32_t outputs;   /* binary32 [image][class] of the last layer, before a softmax; 0: not kept */
};

/* A tensor in block floating point: mantissas, and exponents in a region of their own. */
struct cnnvp_train_bfp {
    uint32_t mantissas;
    uint32_t exponents;
};

/* Learned values in binary32 and their velocities. */
struct cnnvp_train_master {
    uint32_t values;
    uint32_t velocity;
};

enum cnnvp_train_op { CNNVP_TRAIN_CONV = 0, CNNVP_TRAIN_FC = 1 };

/*
 * Tiles. A tile's edges are multiples of the engine's (32 kernels, 4 channels in gradients), or the rest; rows are
 * those of the result (gradient: of the error).
 */
struct cnnvp_train_tiles {
    uint32_t in;     /* channels of the first operand in a slice */
    uint32_t out;    /* channels of the result in a group */
    uint32_t rows;   /* of a map at once */
    uint32_t images; /* at once */
};

struct cnnvp_train_layer {
    uint32_t op;          /* enum cnnvp_train_op */
    uint32_t tag_forward; /* layer indices + 1 in the statistics */
    uint32_t tag_backward;
    uint32_t tag_gradient;
    uint32_t ci, hi, wi; /* input map; fully connected: inputs x 1 x 1 */
    uint32_t co, ho, wo; /* map of the sums */
    uint32_t ph, pw;     /* map after the pool */
    uint32_t kx, ky, sx, sy, px, py;
    uint32_t bias; /* 1: a further input channel of ones, whose kernel is the bias (Part B 0-8) */
    uint32_t norm; /* 1: batch norm */
    uint32_t relu;
    uint32_t pool;      /* 1: 2x2 maxima */
    uint32_t epsilon;   /* of batch norm, binary32 */
    uint32_t block;     /* enum cnnvp_train_binary_block of `in` and `error`: fully connected layers take no blocks
                           of channels */
    uint32_t out_block; /* of what the layer above reads */
    struct cnnvp_train_tiles forward, backward, gradient;
    struct cnnvp_train_tiles post, back_tiles; /* post-processing, whole maps: `out` channels, `images` */
    uint32_t quantise_rows;                    /* of [co][ci * ky * kx] weights at once */
    struct cnnvp_train_bfp in;    /* activations of the batch [image][ci][hi][wi]; layer 0: not used, images are where
                                     the data set has them */
    uint32_t sums;                /* binary32 [image][co][ho][wo]: complete sums, before batch norm */
    uint32_t positive;            /* 0/1 matrix: a bit a value, each map filled to 16 bits */
    uint32_t positions;           /* position matrix: two bits a value after the pool, each map filled to 16 bits */
    struct cnnvp_train_bfp error; /* loss by sums [image][co][ho][wo] */
    uint32_t back;            /* 32 bits [image][co][ph][pw]: loss by what is after the pool, as the layer above gives
                                 it */
    uint32_t norm_entries;    /* entries of the batch norm buffer, CNNVP_TRAIN_NORM_BYTES a channel; gamma and beta are
                                 there */
    uint32_t extreme_entries; /* of the max-min buffer, CNNVP_TRAIN_EXTREME_BYTES a channel; with batch norm */
    struct cnnvp_train_bfp weights;   /* [co][ci][ky][kx] */
    struct cnnvp_train_master master; /* the same order; CNNVP_TRAIN_NARROW: values are scratch memory of a step */
    struct cnnvp_train_bfp biases;    /* [co], one exponent */
    struct cnnvp_train_master bias_master;
};

/* Entries of the multi-function module's buffers (models/training/multi_function), bytes. */
#define CNNVP_TRAIN_EXTREME_BYTES 16u
#define CNNVP_TRAIN_SUM_BYTES 32u
#define CNNVP_TRAIN_NORM_BYTES 96u

/* What a batch norm entry keeps between steps; the rest is working values. */
struct cnnvp_train_norm_entry {
    uint32_t gamma, beta, gamma_velocity, beta_velocity, running_mean, running_sigma; /* binary32 */
    uint32_t working[18];
};

/* A record of the output data buffer, one an image; binary32 probabilities of all classes follow. */
struct cnnvp_train_result {
    uint32_t predicted;
    uint32_t correct;   /* 1: the label's class */
    uint32_t loss;      /* binary32 */
    uint32_t nonfinite; /* outputs that were not finite */
};

enum cnnvp_train_buffer { CNNVP_TRAIN_INPUT = 0, CNNVP_TRAIN_WEIGHTS = 1, CNNVP_TRAIN_MIDDLE = 2 };

/* Zones from map to map in post-processing, forward: sums, results; backward: errors, batch norm's inputs, results. */
#define CNNVP_TRAIN_POST_ZONES 2u
#define CNNVP_TRAIN_BACK_ZONES 3u

/* Groups of zones in a buffer's halves, bytes (pe_array.layout: zones). Input and weight buffer: a map has a group of
 * three zones, row r begins at r mod 3 * zone + r div 3 * row. Intermediate buffer: an image has a group, its maps a
 * zone each and what becomes of them the next ones. Vectors begin where a group does. */
struct cnnvp_train_zones {
    uint32_t group, zone; /* 0: none */
    uint32_t row;         /* of a map's, and rows that it has at most, in values */
    uint32_t exponents;   /* of all groups: where the row after these begins in the first one */
};

struct cnnvp_train_binary {
    uint32_t magic;
    uint32_t version;
    uint32_t bytes; /* of the binary: header and layer table */
    uint32_t flags; /* of enum cnnvp_train_flag */
    uint32_t layer_count;
    uint32_t layers;       /* address of struct cnnvp_train_layer[layer_count] */
    uint32_t tag_softmax;  /* layer index + 1 of the softmax; 0: there is none */
    uint32_t element;      /* address of the instruction element's registers */
    uint32_t plic;         /* address of the interrupt controller */
    uint32_t element_irq;  /* line of the element at the interrupt controller */
    uint32_t input_halves; /* 1 or 2 */
    uint32_t weight_halves;
    uint32_t output_halves;
    struct cnnvp_train_zones zones[3]; /* input, weight and intermediate buffer */
    uint32_t weight_half;              /* bytes */
    uint32_t output_half;
    uint32_t arrays; /* images of a group */
    uint32_t mantissa_bits;
    uint32_t value_bytes;    /* of a mantissa: 1 or 4 */
    uint32_t held_scale;     /* bytes in the max-min buffer, after all entries: scale of forward and gradients, */
    uint32_t held_back;      /* of error sums, */
    uint32_t held_exponents; /* and the exponents of a tensor */
    uint32_t classes;
    uint32_t block;          /* enum cnnvp_train_binary_block; of weights an image counts as the tensor */
    uint32_t rounding;       /* enum cnnvp_round_mode */
    uint32_t error_rounding; /* of errors: the same, or 4: the remainder carried along each map */
    uint32_t seed_low;
    uint32_t seed_high;
    uint32_t rate; /* binary32 */
    uint32_t momentum;
    uint32_t bn_momentum;
    uint32_t batch;       /* images of a step */
    uint32_t factor;      /* binary32: 1 / batch */
    uint32_t factor_last; /* the same for the last step of an epoch, which may be shorter */
    uint32_t first_step;  /* number of the first one to do */
    uint32_t steps;       /* number after the last one */
    uint32_t steps_per_epoch;
    uint32_t order; /* uint32 [epoch][image]: numbers in the data set */
    struct cnnvp_train_images training;
    struct cnnvp_train_images evaluation; /* count 0: none */
};

/* Seed of a quantisation's stochastic rounding: order never matters, and a resumed run draws the same numbers. Weights
 * and biases have the number of the step that is the first to use them. */
static inline uint32_t cnnvp_train_seed(uint64_t seed, uint32_t step, uint32_t layer, enum cnnvp_train_what what)
{
    return (uint32_t)cnnvp_round_random(cnnvp_round_random(seed, step), (uint64_t)layer * 4u + (uint64_t)what);
}

#endif
