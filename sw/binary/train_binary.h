/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training binary: what the host compiler leaves in memory for training, and for inference on the training engine
 * (S001). It lies at CNNVP_BINARY_ADDRESS like the network binary; its magic number tells them apart. The same guest
 * program runs both.
 *
 * All members are 32-bit little-endian; addresses are absolute bytes; regions start on 64-byte boundaries. A mantissa
 * takes 1 byte, or 4 if the engine's mantissas have more than 8 bits ("value bytes"). 32-bit intermediates are integer
 * sums with a 16-bit scale, or binary32.
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
    CNNVP_TRAIN_STANDARD_BN = 1u << 1, /* batch norm's sigma comes from the variance; otherwise from the range (1-12) */
    CNNVP_TRAIN_NARROW = 1u << 2,      /* weights exist in block floating point only (1-16) */
    CNNVP_TRAIN_INFERENCE = 1u << 3,   /* no steps: the evaluation images run once; softmax or outputs are kept */
    CNNVP_TRAIN_PARK = 1u << 4         /* batch norm's inputs are parked on chip and stored after a tile's results */
};

/* Which values share an exponent (Part B 1-14). */
enum cnnvp_train_binary_block { CNNVP_TRAIN_BY_TENSOR = 0, CNNVP_TRAIN_BY_IMAGE = 1, CNNVP_TRAIN_BY_CHANNEL = 2 };

/* Quantisations that draw random numbers of their own; part of the seed, with step and layer. */
enum cnnvp_train_what {
    CNNVP_TRAIN_SEED_ACTIVATION = 0,
    CNNVP_TRAIN_SEED_ERROR = 1,
    CNNVP_TRAIN_SEED_WEIGHT = 2,
    CNNVP_TRAIN_SEED_BIAS = 3
};

/* Step number of forward passes without learning. */
#define CNNVP_TRAIN_NO_STEP UINT32_C(0xffffffff)

/* Images in memory: mantissas [image][channel][row][column], dense. */
struct cnnvp_train_images {
    uint32_t count;
    uint32_t mantissas;
    uint32_t exponents; /* bytes: one, one per image, or one per channel */
    uint32_t labels;    /* uint32 each; 0: none */
    uint32_t results;   /* struct cnnvp_train_result and probabilities of each image: of all images, or of one step's */
    uint32_t outputs;   /* binary32 [image][class]: the last layer's outputs before softmax; 0: not kept */
};

/* A tensor in block floating point: addresses of its mantissas and of its exponents. */
struct cnnvp_train_bfp {
    uint32_t mantissas;
    uint32_t exponents;
};

/* Addresses of learned values in binary32 and of their velocities. */
struct cnnvp_train_master {
    uint32_t values;
    uint32_t velocity;
};

enum cnnvp_train_op { CNNVP_TRAIN_CONV = 0, CNNVP_TRAIN_FC = 1 };

/* Tile sizes: multiples of the engine's edges (32 kernels; 4 channels in gradients), or the rest. Rows are those of the
 * result, in gradients those of the error. */
struct cnnvp_train_tiles {
    uint32_t in;  /* channels of the first operand per slice */
    uint32_t out; /* channels of the result per group */
    uint32_t rows;
    uint32_t images;
};

struct cnnvp_train_layer {
    uint32_t op;          /* enum cnnvp_train_op */
    uint32_t tag_forward; /* layer indices + 1 in the statistics */
    uint32_t tag_backward;
    uint32_t tag_gradient;
    uint32_t ci, hi, wi; /* input map; fully connected: inputs x 1 x 1 */
    uint32_t co, ho, wo; /* map of the sums, before the pool */
    uint32_t ph, pw;     /* map after the pool */
    uint32_t kx, ky, sx, sy, px, py;
    uint32_t bias; /* 1: one more input channel, of ones, whose kernel is the bias (Part B 0-8) */
    uint32_t norm; /* 1: batch norm */
    uint32_t relu;
    uint32_t pool;      /* 1: 2x2 maxima */
    uint32_t epsilon;   /* of batch norm, binary32 */
    uint32_t block;     /* enum cnnvp_train_binary_block of `in` and `error`; not by channel if fully connected */
    uint32_t out_block; /* enum cnnvp_train_binary_block of the next layer's `in` */
    struct cnnvp_train_tiles forward, backward, gradient;
    struct cnnvp_train_tiles post, back_tiles; /* post-processing of whole maps: only `out` and `images` count */
    uint32_t quantise_rows;                    /* rows of the weights [co][ci * ky * kx] that are quantised at once */
    struct cnnvp_train_bfp in; /* activations [image][ci][hi][wi]; layer 0: unused, the images are in the data set */
    uint32_t sums;             /* binary32 [image][co][ho][wo]: complete sums, before batch norm */
    uint32_t positive;         /* 0/1 matrix of ReLU: one bit per value; each map is padded to 16 bits */
    uint32_t positions; /* position matrix of the pool: two bits per pooled value; each map is padded to 16 bits */
    struct cnnvp_train_bfp error; /* gradient of the loss with respect to `sums` [image][co][ho][wo] */
    uint32_t back; /* 32 bits [image][co][ph][pw]: gradient with respect to the pooled map, from the next layer */
    uint32_t norm_entries; /* batch norm buffer in memory, CNNVP_TRAIN_NORM_BYTES per channel; holds gamma and beta */
    uint32_t extreme_entries; /* with batch norm: max-min buffer in memory, CNNVP_TRAIN_EXTREME_BYTES per channel */
    struct cnnvp_train_bfp weights;   /* [co][ci][ky][kx] */
    struct cnnvp_train_master master; /* same order; with CNNVP_TRAIN_NARROW `values` is scratch memory of a step */
    struct cnnvp_train_bfp biases;    /* [co], one exponent */
    struct cnnvp_train_master bias_master;
};

/* Entries of the multi-function module's buffers (models/training/multi_function), bytes. */
#define CNNVP_TRAIN_EXTREME_BYTES 16u
#define CNNVP_TRAIN_SUM_BYTES 32u
#define CNNVP_TRAIN_NORM_BYTES 96u

/* A batch norm entry. The named members live between steps; `working` does not. */
struct cnnvp_train_norm_entry {
    uint32_t gamma, beta, gamma_velocity, beta_velocity, running_mean, running_sigma; /* binary32 */
    uint32_t working[18];
};

/* A record of the output data buffer, one per image. Probabilities of all classes (binary32) follow it. */
struct cnnvp_train_result {
    uint32_t predicted;
    uint32_t correct;   /* 1: the class is the label's */
    uint32_t loss;      /* binary32 */
    uint32_t nonfinite; /* number of non-finite outputs */
};

static inline uint32_t cnnvp_train_record_bytes(uint32_t classes)
{
    return (uint32_t)sizeof(struct cnnvp_train_result) + classes * 4u;
}

/* Rows at the end of a convolution's input that no window covers. Their error is 0: it goes with the rows before. */
static inline uint32_t cnnvp_train_uncovered(uint32_t in, uint32_t pad, uint32_t out, uint32_t kernel, uint32_t stride)
{
    const uint32_t covered = (out - 1u) * stride + kernel;
    return covered < in + pad ? in + pad - covered : 0;
}

/* Rounds up: regions of a half begin at multiples of 8. */
static inline uint32_t cnnvp_train_region(uint32_t bytes)
{
    return (bytes + 7u) & ~7u;
}

/* Addresses in a half of the intermediate buffer that has `images` images' inputs of the softmax at 0. */
struct cnnvp_train_class_places {
    uint32_t labels, gradient, records, end;
};

static inline struct cnnvp_train_class_places cnnvp_train_class_places(uint32_t images, uint32_t classes)
{
    const uint32_t values = cnnvp_train_region(images * classes * 4u);
    struct cnnvp_train_class_places places;
    places.labels = values;
    places.gradient = places.labels + cnnvp_train_region(images * 4u);
    places.records = places.gradient + values;
    places.end = places.records + images * cnnvp_train_record_bytes(classes);
    return places;
}

enum cnnvp_train_buffer { CNNVP_TRAIN_INPUT = 0, CNNVP_TRAIN_WEIGHTS = 1, CNNVP_TRAIN_MIDDLE = 2 };

/* Zones per map in post-processing. Forward: sums, results. Backward: errors, batch norm's inputs, results. */
#define CNNVP_TRAIN_POST_ZONES 2u
#define CNNVP_TRAIN_BACK_ZONES 3u

/* Layout of a buffer's halves as groups of zones (pe_array.layout: zones), in bytes. Input and weight buffer: each
 * map has a group of three zones; row r begins at r mod 3 * zone + r div 3 * row. Intermediate buffer: each image
 * has a group; each of its maps has a zone, followed by the zones of what is made of it. Vectors begin where a
 * group begins. */
struct cnnvp_train_zones {
    uint32_t group, zone; /* 0: no zones */
    uint32_t row;         /* values from row to row of a zone; also the largest width and height of a map */
    uint32_t exponents;   /* where the exponents of all groups begin */
};

struct cnnvp_train_binary {
    uint32_t magic;
    uint32_t version;
    uint32_t bytes; /* of header and layer table */
    uint32_t flags; /* enum cnnvp_train_flag */
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
    uint32_t arrays; /* the engine's arrays: images computed at once */
    uint32_t mantissa_bits;
    uint32_t value_bytes;    /* bytes of a mantissa: 1 or 4 */
    uint32_t held_scale;     /* offset in the max-min buffer, after all entries: scale of forward and gradient sums */
    uint32_t held_back;      /* offset of the scale of error sums and bias gradients */
    uint32_t held_exponents; /* offset of the exponents of the tensor in work */
    uint32_t classes;
    uint32_t block;          /* enum cnnvp_train_binary_block; weights are blocked by tensor where images have blocks */
    uint32_t rounding;       /* enum cnnvp_round_mode */
    uint32_t error_rounding; /* of errors: enum cnnvp_round_mode, or 4: the remainder is carried along each map */
    uint32_t seed_low;
    uint32_t seed_high;
    uint32_t rate; /* binary32 */
    uint32_t momentum;
    uint32_t bn_momentum;
    uint32_t batch;       /* images of a step */
    uint32_t factor;      /* binary32: 1 / batch */
    uint32_t factor_last; /* factor of the last step of an epoch, which may have fewer images */
    uint32_t first_step;  /* first step to run */
    uint32_t steps;       /* step after the last one to run */
    uint32_t steps_per_epoch;
    uint32_t order; /* address of uint32 [epoch][image]: image numbers in the data set */
    struct cnnvp_train_images training;
    struct cnnvp_train_images evaluation; /* count 0: none */
};

/* Seed of a quantisation's stochastic rounding. It depends on neither order nor history, so a resumed run draws the
 * same numbers. The step of weights and biases is the step that first uses them. */
static inline uint32_t cnnvp_train_seed(uint64_t seed, uint32_t step, uint32_t layer, enum cnnvp_train_what what)
{
    return (uint32_t)cnnvp_round_random(cnnvp_round_random(seed, step), (uint64_t)layer * 4u + (uint64_t)what);
}

#endif
