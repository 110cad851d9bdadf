/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole training steps on the platform against a second implementation that shares no code with it
 * (tests/reference/train_reference.h), bit by bit: every layer's sums, errors, weights, velocities, batch norm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "image/train_image.h"
#include "session.h"
#include "train_reference.h"

#define DIGITS TEST_NETWORKS "/digits.onnx"
#define LAYERS 3u
#define CLASSES 10u
#define EPSILON ((double)1e-5f)

static uint64_t seed_of(uint64_t seed, uint64_t step, uint32_t layer, enum train_what what)
{
    return cnnvp_train_seed(seed, (uint32_t)step, layer, (enum cnnvp_train_what)what);
}

static const struct train_layer layers[LAYERS] = {
    {.inputs = 1, .height = 8, .width = 8, .outputs = 16, .side = 3, .pad = 1, .norm = 1, .relu = 1, .pool = 1,
     .epsilon = EPSILON},
    {.inputs = 16, .height = 4, .width = 4, .outputs = 32, .side = 3, .pad = 1, .norm = 1, .relu = 1, .pool = 1,
     .epsilon = EPSILON},
    {.connected = 1, .inputs = 128, .height = 1, .width = 1, .outputs = CLASSES},
};

static void take(struct session *session, size_t layer, enum cnnvp_train_tensor tensor, double *values)
{
    struct cnnvp_array array = session_tensor(session, layer, tensor);
    size_t count = 1;
    for (size_t i = 0; i < array.rank; ++i)
        count *= array.shape[i];
    for (size_t i = 0; i < count; ++i)
        values[i] = (double)((const float *)array.data)[i];
    cnnvp_array_clear(&array);
}

static void check(struct session *session, size_t layer, enum cnnvp_train_tensor tensor, const char *name,
                  const double *expected)
{
    struct cnnvp_array array = session_tensor(session, layer, tensor);
    const float *values = array.data;
    size_t count = 1;
    for (size_t i = 0; i < array.rank; ++i)
        count *= array.shape[i];
    for (size_t i = 0; i < count; ++i)
        if ((double)values[i] < expected[i] || (double)values[i] > expected[i])
            fail_msg("layer %zu, %s[%zu] of %zu: %.9g, expected %.9g", layer, name, i, count, (double)values[i],
                     expected[i]);
    cnnvp_array_clear(&array);
}

static void start(struct session *session, const struct session_setup *setup, struct train_net *net)
{
    const struct train_options options = {
        .bits = 8,
        .rounding = (enum train_rounding)setup->options.rounding,
        .range = setup->options.bn == CNNVP_TRAIN_BN_RANGE,
        .rate = (double)setup->options.rate,
        .momentum = (double)setup->options.momentum,
        .bn_momentum = (double)0.1f,
        .seed = setup->options.seed,
        .seed_of = seed_of,
    };
    train_net_new(net, layers, LAYERS, setup->options.batch, &options);
    for (size_t i = 0; i < LAYERS; ++i) {
        take(session, i, CNNVP_TRAIN_WEIGHT, net->layers[i].weights);
        if (layers[i].norm)
            take(session, i, CNNVP_TRAIN_SIGMA, net->layers[i].sigma); /* sqrt(variance + epsilon) */
    }
    train_net_start(net);
}

static struct train_result reference_step(const struct session *session, const struct session_setup *setup,
                                          struct train_net *net, const struct cnnvp_train_record *record)
{
    uint32_t order[64];
    uint8_t images[64 * 64];
    uint8_t labels[64];
    const uint64_t per_epoch = (setup->images + setup->options.batch - 1u) / setup->options.batch;
    const uint64_t first = record->step % per_epoch * setup->options.batch;
    cnnvp_dataset_order(setup->options.seed, record->epoch, setup->images, order);
    for (uint64_t i = 0; i < record->images; ++i) {
        memcpy(images + i * 64u, cnnvp_dataset_image(session->dataset, order[first + i]), 64u);
        labels[i] = (uint8_t)cnnvp_dataset_label(session->dataset, order[first + i]);
    }
    return train_net_step(net, images, labels, (uint32_t)record->images);
}

static void compare_step(struct session *session, const struct session_setup *setup, struct train_net *net)
{
    const struct cnnvp_train_record *record = &session->records[session->record_count - 1u];
    const struct train_result expected = reference_step(session, setup, net, record);
    for (size_t i = 0; i < LAYERS; ++i) {
        const struct train_layer *layer = &net->layers[i];
        check(session, i, CNNVP_TRAIN_SUMS, "sums", layer->sums);
        check(session, i, CNNVP_TRAIN_ERROR, "errors", layer->errors);
        check(session, i, CNNVP_TRAIN_WEIGHT_VELOCITY, "velocity", layer->weight_velocity);
        check(session, i, CNNVP_TRAIN_WEIGHT, "weights", layer->weights);
        if (!layer->norm)
            continue;
        check(session, i, CNNVP_TRAIN_GAMMA, "gamma", layer->gamma);
        check(session, i, CNNVP_TRAIN_BETA, "beta", layer->beta);
        check(session, i, CNNVP_TRAIN_MEAN, "mean", layer->mean);
        check(session, i, CNNVP_TRAIN_SIGMA, "sigma", layer->sigma);
    }
    assert_int_equal(record->correct, expected.correct);
    assert_true(record->loss > expected.loss - 1e-6 && record->loss < expected.loss + 1e-6);
}

/* Two epochs of 10 images, 4 a step: the last step of an epoch has two. */
static void compare(enum cnnvp_rounding rounding, enum cnnvp_train_bn bn, uint32_t batch)
{
    struct session_setup setup = session_setup(DIGITS, 1, 8, CLASSES);
    struct session session;
    struct train_net net;
    setup.images = 10;
    setup.options.batch = batch;
    setup.options.epochs = 2;
    setup.options.rounding = rounding;
    setup.options.bn = bn;
    setup.options.cpu_host = 1;
    if (session_open(&setup, &session) != CNNVP_DONE)
        fail_msg("%s", session.error.text);
    start(&session, &setup, &net);
    for (size_t steps = 2u * ((setup.images + batch - 1u) / batch); steps != 0; --steps) {
        if (session_step(&session) != CNNVP_DONE)
            fail_msg("%s", session.error.text);
        compare_step(&session, &setup, &net);
    }
    train_net_free(&net);
    session_close(&session);
}

static void test_nearest_range(void **state)
{
    (void)state;
    compare(CNNVP_ROUND_NEAREST, CNNVP_TRAIN_BN_RANGE, 4);
}

static void test_nearest_standard(void **state)
{
    (void)state;
    compare(CNNVP_ROUND_NEAREST, CNNVP_TRAIN_BN_STANDARD, 4);
}

static void test_truncate(void **state)
{
    (void)state;
    compare(CNNVP_ROUND_TRUNCATE, CNNVP_TRAIN_BN_RANGE, 4);
}

static void test_stochastic(void **state)
{
    (void)state;
    compare(CNNVP_ROUND_STOCHASTIC, CNNVP_TRAIN_BN_RANGE, 4);
    compare(CNNVP_ROUND_STOCHASTIC, CNNVP_TRAIN_BN_STANDARD, 4);
}

/* Batch norm over a batch of several groups, the last of one image. */
static void test_groups(void **state)
{
    (void)state;
    compare(CNNVP_ROUND_STOCHASTIC, CNNVP_TRAIN_BN_RANGE, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_range), cmocka_unit_test(test_nearest_standard),
        cmocka_unit_test(test_truncate),      cmocka_unit_test(test_stochastic),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
