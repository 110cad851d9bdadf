/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the training reference (train_reference.h): in binary64 its gradients are the derivatives of its loss, and
 * with 24-bit mantissas they agree with those. tests/training/test_training.c tests bit by bit that the platform
 * computes the same as the reference.
 */
#include "random.h"
#include "train_reference.h"

#include <math.h>

#include "test.h"

enum { IMAGES = 6, SIDE = 8 };

/* conv 3x3 + BN + ReLU + pool; conv 5x5 + BN + ReLU; conv 3x3 + ReLU + pool; fully connected + ReLU; fully connected.
 * Layers without batch norm have a bias. */
static const struct train_layer shapes[] = {
    {.inputs = 2,
     .height = SIDE,
     .width = SIDE,
     .outputs = 6,
     .side = 3,
     .pad = 1,
     .norm = 1,
     .relu = 1,
     .pool = 1,
     .epsilon = (double)1e-3f},
    {.inputs = 6,
     .height = 4,
     .width = 4,
     .outputs = 5,
     .side = 5,
     .pad = 2,
     .norm = 1,
     .relu = 1,
     .epsilon = (double)1e-3f},
    {.inputs = 5, .height = 4, .width = 4, .outputs = 4, .side = 3, .pad = 1, .bias = 1, .relu = 1, .pool = 1},
    {.connected = 1, .inputs = 16, .height = 1, .width = 1, .outputs = 7, .bias = 1, .relu = 1},
    {.connected = 1, .inputs = 7, .height = 1, .width = 1, .outputs = 3, .bias = 1},
};
enum { LAYERS = sizeof shapes / sizeof *shapes };

static uint8_t images[IMAGES * 2 * SIDE * SIDE];
static uint8_t labels[IMAGES];

static void draw(double *values, uint64_t n, double middle, double scale, uint64_t *random)
{
    for (uint64_t i = 0; i < n; ++i)
        values[i] = (double)(float)(middle + scale * (double)next_float(random));
}

/* Draws images, labels and parameters from a seed. */
static void start(struct train_net *net, uint64_t seed, const struct train_options *options)
{
    uint64_t random = seed;
    train_net_new(net, shapes, LAYERS, IMAGES, options);
    for (size_t i = 0; i < sizeof images; ++i)
        images[i] = (uint8_t)(next_bits(&random) >> 20);
    for (size_t i = 0; i < IMAGES; ++i)
        labels[i] = (uint8_t)(next_bits(&random) % 3);
    for (uint32_t l = 0; l < LAYERS; ++l) {
        struct train_layer *layer = &net->layers[l];
        const uint64_t weights = train_weight_count(layer);
        draw(layer->weights, weights, 0, sqrt(6.0 * layer->outputs / (double)weights), &random);
        draw(layer->norm ? layer->beta : layer->biases, layer->outputs, 0, 0.25, &random);
        if (layer->norm)
            draw(layer->gamma, layer->outputs, 1, 0.5, &random);
    }
    train_net_start(net);
}

static const struct train_options usual = {.bn_momentum = (double)0.1f, .rounding = TRAIN_NEAREST};

static double loss_of(struct train_net *net)
{
    train_net_start(net);
    return train_net_step(net, images, labels, IMAGES).loss;
}

/* Compares a gradient with the derivative of the loss by this parameter, from two losses (central difference). */
static void check_derivative(struct train_net *net, const char *what, uint32_t layer, double *parameter, double have)
{
    static const double h = 1e-6;
    const double kept = *parameter;
    *parameter = kept + h;
    const double above = loss_of(net);
    *parameter = kept - h;
    const double want = (above - loss_of(net)) / (2 * h);
    *parameter = kept;
    if (!(fabs(have - want) <= 2e-8))
        fail_msg("%s of layer %u: the gradient is %.10g, the derivative %.10g", what, layer, have, want);
}

static void gradients_are_derivatives(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; ++seed)
        for (int range = 0; range < 2; ++range) {
            struct train_net net, moved;
            struct train_options options = usual;
            options.range = range;
            start(&net, seed, &options);
            start(&moved, seed, &options);
            (void)loss_of(&net);
            for (uint32_t l = 0; l < LAYERS; ++l) {
                const struct train_layer *layer = &net.layers[l];
                const struct train_layer *at = &moved.layers[l];
                for (uint64_t i = 0; i < train_weight_count(layer); i += 13)
                    check_derivative(&moved, "weight", l, &at->weights[i], layer->gradient[i]);
                for (uint32_t c = 0; c < layer->outputs; ++c) {
                    check_derivative(&moved, "beta or bias", l, layer->norm ? &at->beta[c] : &at->biases[c],
                                     layer->dbeta[c]);
                    if (layer->norm)
                        check_derivative(&moved, "gamma", l, &at->gamma[c], layer->dgamma[c]);
                }
            }
            train_net_free(&net);
            train_net_free(&moved);
        }
}

/* Cosine of the angle between gradients; *distance is their relative distance. */
static double cosine(const double *a, const double *b, uint64_t n, double *distance)
{
    double ab = 0;
    double aa = 0;
    double bb = 0;
    double apart = 0;
    for (uint64_t i = 0; i < n; ++i) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
        apart += (a[i] - b[i]) * (a[i] - b[i]);
    }
    *distance = sqrt(apart / aa);
    return ab / sqrt(aa * bb);
}

/* Compares the gradients of the first step with `bits` of mantissa to those in binary64. */
static void check_gradients(uint64_t seed, int range, uint32_t bits, double least_cosine, double most_distance)
{
    struct train_net exact;
    struct train_net net;
    struct train_options options = usual;
    options.range = range;
    start(&exact, seed, &options);
    options.bits = bits;
    start(&net, seed, &options);
    (void)train_net_step(&exact, images, labels, IMAGES);
    (void)train_net_step(&net, images, labels, IMAGES);
    for (uint32_t l = 0; l < LAYERS; ++l) {
        double distance;
        const double angle =
            cosine(exact.layers[l].gradient, net.layers[l].gradient, train_weight_count(&shapes[l]), &distance);
        if (angle < least_cosine || distance > most_distance)
            fail_msg("seed %llu, %u bits, layer %u: cosine %.9f, distance %.3g", (unsigned long long)seed, bits, l,
                     angle, distance);
    }
    train_net_free(&exact);
    train_net_free(&net);
}

static void wide_mantissas_hide_no_error_of_formula(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; ++seed)
        for (int range = 0; range < 2; ++range)
            check_gradients(seed, range, 24, 1 - 1e-9, 3e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_derivatives),
        cmocka_unit_test(wide_mantissas_hide_no_error_of_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
