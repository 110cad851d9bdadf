/* SPDX-License-Identifier: Apache-2.0 */
/* See gradients.h. */
#include "gradients.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"

static const float MOMENTUM = 0.9f;

/* The platform and the reference, after the same step on the same images. */
struct pair {
    cnnvp_config *config;
    cnnvp_dataset *dataset;
    cnnvp_trainer *trainer;
    cnnvp_platform *platform;
    struct train_net net;
    struct cnnvp_error *error;
};

static cnnvp_result step_platform(struct pair *pair)
{
    struct cnnvp_train_record record;
    struct cnnvp_run_result result;
    return cnnvp_trainer_step(pair->trainer, pair->platform, &record, &result, pair->error);
}

static cnnvp_result start_platform(struct pair *pair, const struct gradient_case *c)
{
    const struct cnnvp_trainer_options options = {
        .struct_size = sizeof options,
        .rounding = CNNVP_ROUND_NEAREST,
        .bn = c->bn,
        .random_weights = 1,
        .batch = c->batch,
        .rate = c->rate > 0 ? c->rate : 0.05f,
        .momentum = MOMENTUM,
        .seed = c->seed,
        .epochs = c->steps + 1u,
        .steps = c->steps + 1u,
        .block = c->block,
        .errors = c->errors,
        .dataset = pair->dataset};
    struct cnnvp_platform_options platform_options = {
        .struct_size = sizeof platform_options, .verbosity = -1, .console = cnnvp_trainer_console};
    char bits[40];
    (void)snprintf(bits, sizeof bits, "pe_array.mantissa_bits=%u", (unsigned)c->bits);
    cnnvp_result done = cnnvp_config_new("trainer", &pair->config, pair->error);
    if (done == CNNVP_DONE)
        done = cnnvp_config_set(pair->config, TEST_NATIVE_CPU, pair->error);
    if (done == CNNVP_DONE)
        done = cnnvp_config_set(pair->config, bits, pair->error);
    if (done == CNNVP_DONE)
        done = cnnvp_config_resolve(pair->config, pair->error);
    if (done == CNNVP_DONE)
        done = cnnvp_trainer_new(c->network, pair->config, &options, &pair->trainer, pair->error);
    platform_options.console_context = pair->trainer;
    if (done == CNNVP_DONE)
        done = cnnvp_platform_new(pair->config, &platform_options, &pair->platform, pair->error);
    if (done == CNNVP_DONE)
        done = cnnvp_trainer_load(pair->trainer, pair->platform, pair->error);
    return done;
}

/* A parameter that the platform has learned so far, or its velocity times momentum. */
static cnnvp_result take_values(struct pair *pair, uint32_t layer, enum cnnvp_train_tensor tensor, uint64_t n,
                                double *values)
{
    struct cnnvp_array have;
    const cnnvp_result done = cnnvp_trainer_tensor(pair->trainer, pair->platform, layer, tensor, &have, pair->error);
    if (done != CNNVP_DONE)
        return done;
    const double factor = tensor >= CNNVP_TRAIN_WEIGHT_VELOCITY ? (double)MOMENTUM : 1;
    for (uint64_t i = 0; i < n; ++i)
        values[i] = factor * (double)((const float *)have.data)[i];
    cnnvp_array_clear(&have);
    return CNNVP_DONE;
}

/* The same of a parameter and its velocity. */
static cnnvp_result take_both(struct pair *pair, uint32_t layer, enum cnnvp_train_tensor tensor, uint64_t n,
                              double *values, double *velocity)
{
    const cnnvp_result done = take_values(pair, layer, tensor, n, values);
    return done != CNNVP_DONE ? done : take_values(pair, layer, tensor + CNNVP_TRAIN_WEIGHT_VELOCITY, n, velocity);
}

static cnnvp_result take_parameters(struct pair *pair)
{
    cnnvp_result done = CNNVP_DONE;
    for (uint32_t l = 0; done == CNNVP_DONE && l < pair->net.layer_count; ++l) {
        const struct train_layer *layer = &pair->net.layers[l];
        done =
            take_both(pair, l, CNNVP_TRAIN_WEIGHT, train_weight_count(layer), layer->weights, layer->weight_velocity);
        if (done == CNNVP_DONE && layer->norm)
            done = take_both(pair, l, CNNVP_TRAIN_GAMMA, layer->outputs, layer->gamma, layer->gamma_velocity);
        if (done == CNNVP_DONE && layer->norm)
            done = take_both(pair, l, CNNVP_TRAIN_BETA, layer->outputs, layer->beta, layer->beta_velocity);
        if (done == CNNVP_DONE && !layer->norm && layer->bias)
            done = take_both(pair, l, CNNVP_TRAIN_BIAS, layer->outputs, layer->biases, layer->bias_velocity);
    }
    train_net_start(&pair->net);
    return done;
}

static cnnvp_result start_reference(struct pair *pair, const struct gradient_case *c)
{
    const struct cnnvp_train_import_options import = {.random_weights = 1, .seed = c->seed};
    const struct train_options options = {
        .bits = c->judge == GRADIENT_FLOAT_STEP ? 0 : c->bits,
        .float_backward = 1,
        .rounding = TRAIN_NEAREST,
        .block = (enum train_block)c->block,
        .range = c->bn == CNNVP_TRAIN_BN_RANGE,
        .momentum = 1,
        .bn_momentum = (double)0.1f,
        .seed = c->seed};
    return chain_new(c->network, &import, c->batch, &options, &pair->net, pair->error);
}

/* The images that step c->steps has; the last step of an epoch may have fewer than the others. */
static cnnvp_result step_reference(struct pair *pair, const struct gradient_case *c)
{
    struct cnnvp_dataset_info info;
    cnnvp_dataset_describe(pair->dataset, &info);
    const uint64_t size = (uint64_t)info.channels * info.height * info.width;
    const uint64_t per_epoch = (info.images + c->batch - 1) / c->batch;
    const uint64_t first = c->steps % per_epoch * c->batch;
    const uint32_t count = info.images - first < c->batch ? (uint32_t)(info.images - first) : c->batch;
    uint32_t *order = malloc(info.images * sizeof *order);
    uint8_t *labels = malloc(count);
    uint8_t *images = malloc(count * size);
    const int ready = order != NULL && labels != NULL && images != NULL;
    if (ready) {
        cnnvp_dataset_order(c->seed, c->steps / per_epoch, (uint32_t)info.images, order);
        for (uint32_t i = 0; i < count; ++i) {
            memcpy(images + i * size, cnnvp_dataset_image(pair->dataset, order[first + i]), size);
            labels[i] = (uint8_t)cnnvp_dataset_label(pair->dataset, order[first + i]);
        }
        (void)train_net_step(&pair->net, images, labels, count);
    } else {
        (void)snprintf(pair->error->text, sizeof pair->error->text, "no memory for %u images", (unsigned)count);
    }
    free(order);
    free(labels);
    free(images);
    return ready ? CNNVP_DONE : CNNVP_FAILED;
}

/* What the platform's velocity has that it had not before the step, and the gradient in binary64. */
static double cosine(const float *velocity, const double *before, const double *want, uint64_t n)
{
    double aa = 0;
    double bb = 0;
    double ab = 0;
    for (uint64_t i = 0; i < n; ++i) {
        const double have = (double)velocity[i] - before[i];
        aa += have * have;
        bb += want[i] * want[i];
        ab += have * want[i];
    }
    return ab / sqrt(aa * bb);
}

struct taker {
    gradient_taker *take;
    void *context;
};

/* `velocity`: of the reference after the step, which adds its gradient `want` to what was there (momentum 1). */
static cnnvp_result compare(struct pair *pair, uint32_t layer, enum cnnvp_train_tensor tensor, double *velocity,
                            const double *want, uint64_t n, const struct taker *taker)
{
    static const char *const names[] = {
        [CNNVP_TRAIN_WEIGHT] = "weights",
        [CNNVP_TRAIN_BIAS] = "bias",
        [CNNVP_TRAIN_GAMMA] = "gamma",
        [CNNVP_TRAIN_BETA] = "beta"};
    struct cnnvp_array have;
    const cnnvp_result done = cnnvp_trainer_tensor(
        pair->trainer, pair->platform, layer, tensor + CNNVP_TRAIN_WEIGHT_VELOCITY, &have, pair->error);
    if (done != CNNVP_DONE)
        return done;
    for (uint64_t i = 0; i < n; ++i)
        velocity[i] -= want[i];
    const struct gradient gradient = {
        .layer = cnnvp_trainer_layer_name(pair->trainer, layer),
        .tensor = names[tensor],
        .values = n,
        .cosine = cosine(have.data, velocity, want, n)};
    taker->take(taker->context, &gradient);
    cnnvp_array_clear(&have);
    return CNNVP_DONE;
}

static cnnvp_result compare_all(struct pair *pair, const struct taker *taker)
{
    cnnvp_result done = CNNVP_DONE;
    for (uint32_t l = pair->net.layer_count; done == CNNVP_DONE && l-- > 0;) {
        const struct train_layer *layer = &pair->net.layers[l];
        const uint64_t n = layer->outputs;
        if (layer->norm)
            done = compare(pair, l, CNNVP_TRAIN_GAMMA, layer->gamma_velocity, layer->dgamma, n, taker);
        if (done == CNNVP_DONE && layer->norm)
            done = compare(pair, l, CNNVP_TRAIN_BETA, layer->beta_velocity, layer->dbeta, n, taker);
        if (done == CNNVP_DONE && !layer->norm && layer->bias)
            done = compare(pair, l, CNNVP_TRAIN_BIAS, layer->bias_velocity, layer->dbeta, n, taker);
        if (done == CNNVP_DONE)
            done = compare(pair, l, CNNVP_TRAIN_WEIGHT, layer->weight_velocity, layer->gradient,
                           train_weight_count(layer), taker);
    }
    return done;
}

cnnvp_result gradients_compare(const struct gradient_case *c, gradient_taker *take, void *context,
                               struct cnnvp_error *error)
{
    struct pair pair = {.error = error};
    cnnvp_result done = cnnvp_dataset_new(c->dataset, 0, &pair.dataset, error);
    if (done == CNNVP_DONE)
        done = cnnvp_dataset_fit_network(pair.dataset, c->network, NULL, 0, error);
    if (done == CNNVP_DONE)
        done = start_reference(&pair, c);
    if (done == CNNVP_DONE)
        done = start_platform(&pair, c);
    for (uint32_t step = 0; done == CNNVP_DONE && step < c->steps; ++step)
        done = step_platform(&pair);
    if (done == CNNVP_DONE)
        done = take_parameters(&pair);
    if (done == CNNVP_DONE)
        done = step_platform(&pair);
    if (done == CNNVP_DONE)
        done = step_reference(&pair, c);
    if (done == CNNVP_DONE)
        done = compare_all(&pair, &(struct taker){take, context});
    cnnvp_platform_free(pair.platform);
    cnnvp_trainer_free(pair.trainer);
    cnnvp_dataset_free(pair.dataset);
    cnnvp_config_free(pair.config);
    train_net_free(&pair.net);
    return done;
}
