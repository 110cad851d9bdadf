/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gradients [NETWORK.onnx DATASET]: the gradients of the platform's first step, mantissas rounded to nearest,
 * point where those of the same formulas in binary64 do: the cosine of the angle between them is 0.99 or more for
 * each tensor. A velocity after the first step is the gradient. The network with bias is one of problem.h's; NETWORK
 * is one with batch norm, whose sigma is taken from the range and from the variance.
 *
 * Which binary64? Without batch norm the float network's own step, from first to last. Behind batch norm no way back
 * can reach that with 8 bits and few images: weights and activations of 8 bits alone, errors left in binary64, turn a
 * few ReLUs, maxima of pools and extremes of channels over, and of the digits network (batch 32, seed 1) that leaves
 * 0.931 and 0.975 (sigma from the range and from the variance) of the first convolution's gradient. So there it is the
 * gradient in binary64 of what the engine computes forward (FROM_FORWARD): autograd of the network as it is quantised.
 * That of the float network is held to what is true of it, and with wide mantissas to 0.99 and more.
 *
 * Errors carry their remainders (models/bfp/bfp.h). Without that 8 bits are far off: batch norm's way back leaves a few
 * large values, of the range those at each channel's extremes, 25 times the root mean square, and beside them many that
 * are all less than half a unit, of one sign, and vanish: 0.59, 0.97 of the first convolution's gradient. Of the range,
 * exponents of images are needed as well, since one for all images is set by the largest extreme of all.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chain.h"
#include "problem.h"

enum { BATCH = 32, SEED = 1 };

static const double LEAST = 0.99;

/* What the platform's gradients are compared with, in binary64. */
enum judge { FLOAT_STEP, FROM_FORWARD };

/* One step of a network, and what is asked of its gradients' cosines. */
struct gradient_case {
    const char *network, *dataset;
    enum cnnvp_train_bn bn;
    enum cnnvp_train_block block;
    uint32_t bits; /* of mantissas */
    enum judge judge;
    double least;  /* of every tensor */
};

static const char *network_file;
static const char *dataset_text;
static struct cnnvp_error text;

static void done(cnnvp_result result)
{
    if (result != CNNVP_DONE)
        fail_msg("%s", text.text);
}

/* The platform and the reference, both behind their first step on the same images. */
struct pair {
    cnnvp_config *config;
    cnnvp_dataset *dataset;
    cnnvp_trainer *trainer;
    cnnvp_platform *platform;
    struct train_net net;
};

static void step_platform(struct pair *pair, const struct gradient_case *c)
{
    const struct cnnvp_trainer_options options = {
        .struct_size = sizeof options, .rounding = CNNVP_ROUND_NEAREST, .bn = c->bn, .random_weights = 1, .cpu_host = 1,
        .batch = BATCH, .rate = 0.05f, .momentum = 0.9f, .seed = SEED, .epochs = 1, .steps = 1,
        .block = c->block, .dataset = pair->dataset};
    struct cnnvp_platform_options platform_options = {
        .struct_size = sizeof platform_options, .verbosity = -1, .console = cnnvp_trainer_console};
    struct cnnvp_train_record record;
    struct cnnvp_run_result result;
    char bits[40];
    done(cnnvp_config_new("trainer", &pair->config, &text));
    done(cnnvp_config_set(pair->config, "cpu.model=host_cpu", &text));
    (void)snprintf(bits, sizeof bits, "pe_array.mantissa_bits=%u", (unsigned)c->bits);
    done(cnnvp_config_set(pair->config, bits, &text));
    done(cnnvp_config_resolve(pair->config, &text));
    done(cnnvp_trainer_new(c->network, pair->config, &options, &pair->trainer, &text));
    platform_options.console_context = pair->trainer;
    done(cnnvp_platform_new(pair->config, &platform_options, &pair->platform, &text));
    done(cnnvp_trainer_load(pair->trainer, pair->platform, &text));
    done(cnnvp_trainer_step(pair->trainer, pair->platform, &record, &result, &text));
    assert_int_equal(record.event, CNNVP_TRAIN_STEP);
    assert_int_equal(record.images, BATCH);
}

static void step_reference(struct pair *pair, const struct gradient_case *c)
{
    const struct cnnvp_train_import_options import = {.random_weights = 1, .seed = SEED};
    const struct train_options options = {.bits = c->judge == FLOAT_STEP ? 0 : c->bits, .float_backward = 1,
                                          .rounding = TRAIN_NEAREST, .block = (enum train_block)c->block,
                                          .range = c->bn == CNNVP_TRAIN_BN_RANGE, .rate = (double)0.05f,
                                          .momentum = (double)0.9f, .bn_momentum = (double)0.1f, .seed = SEED};
    struct cnnvp_dataset_info info;
    uint8_t labels[BATCH];
    cnnvp_dataset_describe(pair->dataset, &info);
    const size_t size = (size_t)info.channels * info.height * info.width;
    uint32_t *order = malloc(info.images * sizeof *order);
    uint8_t *images = malloc(BATCH * size);
    assert_non_null(order);
    assert_non_null(images);
    assert_true(info.images >= BATCH);
    cnnvp_dataset_order(SEED, 0, (uint32_t)info.images, order);
    for (uint32_t i = 0; i < BATCH; ++i) {
        memcpy(images + i * size, cnnvp_dataset_image(pair->dataset, order[i]), size);
        labels[i] = (uint8_t)cnnvp_dataset_label(pair->dataset, order[i]);
    }
    done(chain_new(c->network, &import, BATCH, &options, &pair->net, &text));
    (void)train_net_step(&pair->net, images, labels, BATCH);
    free(order);
    free(images);
}

static double cosine(const float *a, const double *b, uint64_t n)
{
    double aa = 0;
    double bb = 0;
    double ab = 0;
    for (uint64_t i = 0; i < n; ++i) {
        aa += (double)a[i] * (double)a[i];
        bb += b[i] * b[i];
        ab += (double)a[i] * b[i];
    }
    return ab / sqrt(aa * bb);
}

/* 1: the tensor points elsewhere, or nowhere. */
static int differs(struct pair *pair, uint32_t layer, enum cnnvp_train_tensor tensor, const double *want, uint64_t n,
                   double least)
{
    static const char *const names[] = {[CNNVP_TRAIN_WEIGHT_VELOCITY] = "weights", [CNNVP_TRAIN_BIAS_VELOCITY] = "bias",
                                        [CNNVP_TRAIN_GAMMA_VELOCITY] = "gamma", [CNNVP_TRAIN_BETA_VELOCITY] = "beta"};
    struct cnnvp_array have;
    uint64_t count = 1;
    done(cnnvp_trainer_tensor(pair->trainer, pair->platform, layer, tensor, &have, &text));
    for (size_t i = 0; i < have.rank; ++i)
        count *= have.shape[i];
    assert_int_equal(count, n);
    const double reached = cosine(have.data, want, n);
    const int wrong = !(reached >= least);
    print_message("%s %s: %.9f%s\n", cnnvp_trainer_layer_name(pair->trainer, layer), names[tensor], reached,
                  wrong ? ", too little" : "");
    cnnvp_array_clear(&have);
    return wrong;
}

static int compare(struct pair *pair, const struct gradient_case *c)
{
    int wrong = 0;
    for (uint32_t l = pair->net.layer_count; l-- > 0;) {
        const struct train_layer *layer = &pair->net.layers[l];
        if (layer->norm) {
            wrong += differs(pair, l, CNNVP_TRAIN_GAMMA_VELOCITY, layer->dgamma, layer->outputs, c->least);
            wrong += differs(pair, l, CNNVP_TRAIN_BETA_VELOCITY, layer->dbeta, layer->outputs, c->least);
        } else if (layer->bias) {
            wrong += differs(pair, l, CNNVP_TRAIN_BIAS_VELOCITY, layer->dbeta, layer->outputs, c->least);
        }
        wrong += differs(pair, l, CNNVP_TRAIN_WEIGHT_VELOCITY, layer->gradient, train_weight_count(layer), c->least);
    }
    return wrong;
}

static void check(const struct gradient_case *c)
{
    struct pair pair = {0};
    done(cnnvp_dataset_new(c->dataset, 0, &pair.dataset, &text));
    done(cnnvp_dataset_fit_network(pair.dataset, c->network, &text));
    print_message("%u bits, exponents %d, sigma from the %s, against %s\n", (unsigned)c->bits, (int)c->block,
                  c->bn == CNNVP_TRAIN_BN_RANGE ? "range" : "variance",
                  c->judge == FLOAT_STEP ? "the float step" : "binary64 from the same forward pass");
    step_platform(&pair, c);
    step_reference(&pair, c);
    assert_int_equal(cnnvp_trainer_layers(pair.trainer), pair.net.layer_count);
    const int wrong = compare(&pair, c);
    cnnvp_platform_free(pair.platform);
    cnnvp_trainer_free(pair.trainer);
    cnnvp_dataset_free(pair.dataset);
    cnnvp_config_free(pair.config);
    train_net_free(&pair.net);
    assert_int_equal(wrong, 0);
}

static void check_bias(enum cnnvp_train_block block, uint32_t bits)
{
    struct problem problem;
    problem_new(&problem, PROBLEM_BIASED, SEED, BATCH, 1);
    check(&(const struct gradient_case){.network = problem.network, .dataset = problem.dataset, .block = block,
                                        .bits = bits, .judge = FLOAT_STEP, .least = LEAST});
    problem_free(&problem);
}

static void gradients_with_bias(void **state)
{
    (void)state;
    check_bias(CNNVP_TRAIN_BLOCK_TENSOR, 8);
}

/* The convolution has fewer channels than the matrices have outputs, whose exponents are held as well. */
static void gradients_of_other_blocks(void **state)
{
    (void)state;
    check_bias(CNNVP_TRAIN_BLOCK_IMAGE, 16);
    check_bias(CNNVP_TRAIN_BLOCK_CHANNEL, 16);
}

static void check_norm(enum cnnvp_train_bn bn, enum cnnvp_train_block block, uint32_t bits, enum judge judge,
                       double least)
{
    if (network_file == NULL)
        skip();
    check(&(const struct gradient_case){.network = network_file, .dataset = dataset_text, .bn = bn, .block = block,
                                        .bits = bits, .judge = judge, .least = least});
}

static void gradients_with_norm(void **state)
{
    (void)state;
    check_norm(CNNVP_TRAIN_BN_STANDARD, CNNVP_TRAIN_BLOCK_TENSOR, 8, FROM_FORWARD, LEAST);
    check_norm(CNNVP_TRAIN_BN_STANDARD, CNNVP_TRAIN_BLOCK_IMAGE, 8, FROM_FORWARD, LEAST);
    check_norm(CNNVP_TRAIN_BN_STANDARD, CNNVP_TRAIN_BLOCK_CHANNEL, 8, FROM_FORWARD, LEAST);
    check_norm(CNNVP_TRAIN_BN_RANGE, CNNVP_TRAIN_BLOCK_IMAGE, 8, FROM_FORWARD, LEAST);
    check_norm(CNNVP_TRAIN_BN_RANGE, CNNVP_TRAIN_BLOCK_CHANNEL, 8, FROM_FORWARD, LEAST);
}

/* What 8 bits do not reach. */
static void gradients_of_8_bits_elsewhere(void **state)
{
    (void)state;
    check_norm(CNNVP_TRAIN_BN_RANGE, CNNVP_TRAIN_BLOCK_TENSOR, 8, FROM_FORWARD, 0.95);
    check_norm(CNNVP_TRAIN_BN_RANGE, CNNVP_TRAIN_BLOCK_IMAGE, 8, FLOAT_STEP, 0.9);
    check_norm(CNNVP_TRAIN_BN_STANDARD, CNNVP_TRAIN_BLOCK_TENSOR, 8, FLOAT_STEP, 0.9);
}

static void gradients_of_more_bits(void **state)
{
    (void)state;
    for (int bn = 0; bn < 2; ++bn) {
        check_norm((enum cnnvp_train_bn)bn, CNNVP_TRAIN_BLOCK_TENSOR, 12, FLOAT_STEP, LEAST);
        check_norm((enum cnnvp_train_bn)bn, CNNVP_TRAIN_BLOCK_TENSOR, 16, FLOAT_STEP, LEAST);
        check_norm((enum cnnvp_train_bn)bn, CNNVP_TRAIN_BLOCK_TENSOR, 24, FLOAT_STEP, 1 - 1e-8);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_with_bias),
        cmocka_unit_test(gradients_of_other_blocks),
        cmocka_unit_test(gradients_with_norm),
        cmocka_unit_test(gradients_of_8_bits_elsewhere),
        cmocka_unit_test(gradients_of_more_bits),
    };
    if (argc == 3) {
        network_file = argv[1];
        dataset_text = argv[2];
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
