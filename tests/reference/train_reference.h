/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second implementation of training, by plain loops from the definitions (S001 C9, Part B 1-11 to 1-27, the orders of
 * sums in models/README.md). It runs whole steps of chains of convolutions or fully connected layers with batch norm or
 * bias, ReLU and 2x2 max pool, softmax with cross-entropy, and SGD with momentum. It shares no code with models.
 *
 * bits 2 .. 24: block floating point with mantissas of that many bits. Terms with equal exponents are summed as
 * integers, these sums in binary32; the arithmetic after them is binary32, as in the units. bits 0: the same formulas
 * in binary64 without quantisation.
 */
#ifndef TRAIN_REFERENCE_H
#define TRAIN_REFERENCE_H

#include <stdint.h>

/* CARRIED: to nearest after adding what earlier roundings in the same map have lost. */
enum train_rounding { TRAIN_TRUNCATE = 0, TRAIN_NEAREST = 1, TRAIN_STOCHASTIC = 2, TRAIN_CARRIED = 3, TRAIN_FLOOR = 4 };

/* The values that share an exponent. For kernels, channels are output channels, and by image means by tensor. */
enum train_block { TRAIN_BY_TENSOR = 0, TRAIN_BY_IMAGE = 1, TRAIN_BY_CHANNEL = 2 };

/* The values that a random seed is used for. */
enum train_what { TRAIN_OF_ACTIVATION = 0, TRAIN_OF_ERROR = 1, TRAIN_OF_WEIGHT = 2, TRAIN_OF_BIAS = 3 };

/* Convolutions have stride 1. A fully connected layer takes its input as one vector. */
struct train_layer {
    uint32_t connected;
    uint32_t inputs, height, width; /* fully connected: inputs, 1, 1 */
    uint32_t outputs;
    uint32_t side, pad; /* kernel and border of a convolution */
    uint32_t norm, bias, relu, pool;
    double epsilon;
    /* Parameters; binary32 values unless bits is 0. Weights are [outputs][inputs][side][side]. */
    double *weights, *weight_velocity;
    double *biases, *bias_velocity;
    double *gamma, *gamma_velocity, *beta, *beta_velocity;
    double *mean, *sigma; /* running averages */
    /* Results of the last step, for tests. */
    double *sums;           /* [images][outputs][height'][width'] */
    double *gradient;       /* derivative of the loss by the weights */
    double *dgamma, *dbeta; /* dbeta: by the biases if there is no norm */
    double *errors;         /* derivative of the loss by the sums, after quantisation */
    /* Internal. */
    struct train_tensor *in, *kernel, *bias_copy, *out, *error; /* out: before the pool */
    double *values, *chain; /* values after batch norm and ReLU; derivative of the loss by the output */
    uint8_t *positive, *place;
    double *norm_scale, *norm_mean, *norm_sigma;
    uint64_t *max_at, *min_at;
    uint64_t saturated;
};

struct train_options {
    uint32_t bits;
    enum train_rounding rounding;
    int carried; /* 1: errors are rounded with TRAIN_CARRIED instead of `rounding` */
    enum train_block block;
    int no_master;      /* 1: no master copy: weights are updated from the values of their mantissas */
    int float_backward; /* 1: forward with `bits`, backward in binary64 */
    int range;          /* 1: sigma of batch norm comes from the range of the values */
    double rate, momentum, bn_momentum;
    uint64_t seed;
    /* Seed of a quantisation; NULL: a hash of the four arguments. */
    uint64_t (*seed_of)(uint64_t seed, uint64_t step, uint32_t layer, enum train_what what);
};

struct train_net {
    struct train_options options;
    struct train_layer *layers;
    uint32_t layer_count;
    uint32_t images_max;
    const uint8_t *brightest; /* largest byte of each channel of a data set whose images share exponents; NULL: 255 */
    uint64_t step;            /* number of the next step */
};

struct train_result {
    double loss; /* mean */
    uint32_t correct;
};

/* Allocates everything for steps of up to images_max images. `layers` gives the shapes; weights start at zero, gamma
 * and sigma at 1. Exits the program if there is no memory. */
void train_net_new(struct train_net *net, const struct train_layer *layers, uint32_t count, uint32_t images_max,
                   const struct train_options *options);
void train_net_free(struct train_net *net);

/* Positions of a map after the layer's sums, and after its pool; number of weights. */
uint32_t train_plane(const struct train_layer *layer);
uint32_t train_pooled_plane(const struct train_layer *layer);
uint64_t train_weight_count(const struct train_layer *layer);

/* Quantises the weights for the first step; to be called after they are set. */
void train_net_start(struct train_net *net);

/* Runs one step on images of bytes (values x / 255), [images][inputs][height][width]. */
struct train_result train_net_step(struct train_net *net, const uint8_t *images, const uint8_t *labels, uint32_t count);
/* Runs a forward pass with the running statistics. */
struct train_result train_net_evaluate(struct train_net *net, const uint8_t *images, const uint8_t *labels,
                                       uint32_t count);

#endif
