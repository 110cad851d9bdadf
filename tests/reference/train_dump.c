/* SPDX-License-Identifier: Apache-2.0 */
/*
 * train_dump range|standard: prints one step of the reference in binary64 for torch_gradients.py, as lines of a name
 * and numbers.
 */
#include "random.h"
#include "train_reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { IMAGES = 5, SIDE = 8, CLASSES = 4 };

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
     .epsilon = 1e-3},
    {.inputs = 6, .height = 4, .width = 4, .outputs = 5, .side = 5, .pad = 2, .norm = 1, .relu = 1, .epsilon = 1e-3},
    {.inputs = 5, .height = 4, .width = 4, .outputs = 8, .side = 3, .pad = 1, .bias = 1, .relu = 1, .pool = 1},
    {.connected = 1, .inputs = 32, .height = 1, .width = 1, .outputs = 7, .bias = 1, .relu = 1},
    {.connected = 1, .inputs = 7, .height = 1, .width = 1, .outputs = CLASSES, .bias = 1},
};
enum { LAYERS = sizeof shapes / sizeof *shapes };

static void print(const char *name, uint32_t layer, const double *values, uint64_t n)
{
    (void)printf("%s%" PRIu32, name, layer);
    for (uint64_t i = 0; i < n; ++i)
        (void)printf(" %.17g", values[i]);
    (void)printf("\n");
}

static void print_parameters(const struct train_net *net)
{
    for (uint32_t l = 0; l < LAYERS; ++l) {
        const struct train_layer *layer = &net->layers[l];
        (void)printf("layer%" PRIu32 " %u %u %u %u %u %u %u %u %.17g\n", l, layer->connected, layer->inputs,
                     layer->outputs, layer->side, layer->pad, layer->norm, layer->relu, layer->pool, layer->epsilon);
        print("weight", l, layer->weights, train_weight_count(layer));
        print("bias", l, layer->biases, layer->outputs);
        print("gamma", l, layer->gamma, layer->outputs);
        print("beta", l, layer->beta, layer->outputs);
    }
}

static void print_results(const struct train_net *net, const struct train_result *result)
{
    (void)printf("loss %.17g\n", result->loss);
    for (uint32_t l = 0; l < LAYERS; ++l) {
        const struct train_layer *layer = &net->layers[l];
        print("dweight", l, layer->gradient, train_weight_count(layer));
        print(layer->norm ? "dbeta" : "dbias", l, layer->dbeta, layer->outputs);
        if (layer->norm)
            print("dgamma", l, layer->dgamma, layer->outputs);
    }
}

int main(int argc, char **argv)
{
    const struct train_options options = {.range = argc > 1 && strcmp(argv[1], "range") == 0, .rate = 0.1};
    struct train_net net;
    uint8_t images[IMAGES * 2 * SIDE * SIDE];
    uint8_t labels[IMAGES];
    uint64_t random = 7;
    train_net_new(&net, shapes, LAYERS, IMAGES, &options);
    for (uint32_t l = 0; l < LAYERS; ++l) {
        struct train_layer *layer = &net.layers[l];
        const uint64_t weights = train_weight_count(layer);
        for (uint64_t i = 0; i < weights; ++i)
            layer->weights[i] = (double)next_float(&random) * sqrt(6.0 * layer->outputs / (double)weights);
        for (uint32_t c = 0; c < layer->outputs; ++c) {
            layer->gamma[c] = 1 + 0.5 * (double)next_float(&random);
            layer->beta[c] = 0.5 * (double)next_float(&random);
            layer->biases[c] = layer->bias ? 0.5 * (double)next_float(&random) : 0;
        }
    }
    train_net_start(&net);
    (void)printf("images");
    for (size_t i = 0; i < sizeof images; ++i)
        (void)printf(" %u", images[i] = (uint8_t)(next_bits(&random) >> 20));
    (void)printf("\nlabels");
    for (size_t i = 0; i < IMAGES; ++i)
        (void)printf(" %u", labels[i] = (uint8_t)(next_bits(&random) % CLASSES));
    (void)printf("\n");
    print_parameters(&net);
    const struct train_result result = train_net_step(&net, images, labels, IMAGES);
    print_results(&net, &result);
    train_net_free(&net);
    return 0;
}
