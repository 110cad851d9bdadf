/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gradients [NETWORK.onnx DATASET [LARGE [LARGE_RANGE]]]: the gradients of the platform's first step, mantissas
 * rounded to nearest, point where those of the same formulas in binary64 do: the cosine of the angle between them is
 * 0.99 or more for each tensor. The network with bias is one of problem.h's; NETWORK is one with batch norm, whose
 * sigma is taken from the range and from the variance. LARGE and LARGE_RANGE are batches (sigma from the variance, and
 * from the range) at which 8 bits reach 0.99 of the float step as well.
 *
 * Which binary64? That of the float network's own step, from first to last, where the batch is large enough: weights
 * and activations of 8 bits turn a few ReLUs, maxima of pools and extremes of channels over. What that does to an
 * image's gradient has a sign by chance, and the mean over the batch loses it, but 32 images are too few after batch
 * norm: of the digits network (seed 1) forward in 8 bits alone leaves 0.931 and 0.975 (sigma from the range and from
 * the variance) of the first convolution's gradient, whatever the way back does. So there it is the gradient in
 * binary64 of what the engine computes forward (FROM_FORWARD): autograd of the network as it is quantised. README.md
 * has the cosines by network, setting and batch.
 *
 * Errors carry their remainders (c_api/cnnvp_bfp.h). Without that 8 bits are far off: batch norm's way back leaves a
 * few large values, of the range those at each channel's extremes, 25 times the root mean square, and beside them many
 * that are all less than half a unit, of one sign, and vanish: 0.59, 0.97 of the first convolution's gradient. Of the
 * range, exponents of images are needed as well, since one for all images is set by the largest extreme of all.
 */

#include "test.h"

#include "gradients.h"
#include "problem.h"

enum { BATCH = 32, SEED = 1 };

static const double LEAST = 0.99;

static const char *network_file;
static const char *dataset_text;
static uint32_t large_batch; /* 0: not asked for */
static uint32_t large_range_batch;

/* What is asked of each tensor, and how many have less. */
struct demand {
    double least;
    int wrong;
};

static void judge(void *context, const struct gradient *gradient)
{
    struct demand *demand = context;
    const int wrong = !(gradient->cosine >= demand->least);
    demand->wrong += wrong;
    print_message("%s %s: %.9f%s\n", gradient->layer, gradient->tensor, gradient->cosine, wrong ? ", too little" : "");
}

static void check(const struct gradient_case *c, double least)
{
    struct cnnvp_error error = {""};
    struct demand demand = {.least = least};
    print_message("%u bits, batch %u, exponents %d, sigma from the %s, against %s\n", (unsigned)c->bits,
                  (unsigned)c->batch, (int)c->block, c->bn == CNNVP_TRAIN_BN_RANGE ? "range" : "variance",
                  c->judge == GRADIENT_FLOAT_STEP ? "the float step" : "binary64 from the same forward pass");
    if (gradients_compare(c, judge, &demand, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_int_equal(demand.wrong, 0);
}

static void check_bias(enum cnnvp_train_block block, uint32_t bits)
{
    struct problem problem;
    problem_new(&problem, PROBLEM_BIASED, SEED, BATCH, 1);
    check(&(const struct gradient_case){.network = problem.network,
                                        .dataset = problem.dataset,
                                        .block = block,
                                        .bits = bits,
                                        .batch = BATCH,
                                        .seed = SEED},
          LEAST);
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

/* A setting of the network with batch norm. */
static void check_norm(enum cnnvp_train_bn bn, enum cnnvp_train_block block, uint32_t bits, uint32_t batch,
                       enum gradient_judge judge_of, double least)
{
    if (network_file == NULL)
        skip();
    check(
        &(const struct gradient_case){
            .network = network_file,
            .dataset = dataset_text,
            .bn = bn,
            .block = block,
            .bits = bits,
            .batch = batch,
            .seed = SEED,
            .judge = judge_of},
        least);
}

static void gradients_of_a_large_batch(void **state)
{
    (void)state;
    if (large_batch == 0)
        skip();
    for (int block = CNNVP_TRAIN_BLOCK_TENSOR; block <= CNNVP_TRAIN_BLOCK_CHANNEL; ++block)
        check_norm(CNNVP_TRAIN_BN_STANDARD, (enum cnnvp_train_block)block, 8, large_batch, GRADIENT_FLOAT_STEP, LEAST);
    if (large_range_batch != 0)
        check_norm(CNNVP_TRAIN_BN_RANGE, CNNVP_TRAIN_BLOCK_IMAGE, 8, large_range_batch, GRADIENT_FLOAT_STEP, LEAST);
}

static void gradients_with_norm(void **state)
{
    (void)state;
    check_norm(CNNVP_TRAIN_BN_STANDARD, CNNVP_TRAIN_BLOCK_TENSOR, 8, BATCH, GRADIENT_FROM_FORWARD, LEAST);
    check_norm(CNNVP_TRAIN_BN_STANDARD, CNNVP_TRAIN_BLOCK_IMAGE, 8, BATCH, GRADIENT_FROM_FORWARD, LEAST);
    check_norm(CNNVP_TRAIN_BN_STANDARD, CNNVP_TRAIN_BLOCK_CHANNEL, 8, BATCH, GRADIENT_FROM_FORWARD, LEAST);
    check_norm(CNNVP_TRAIN_BN_RANGE, CNNVP_TRAIN_BLOCK_IMAGE, 8, BATCH, GRADIENT_FROM_FORWARD, LEAST);
    check_norm(CNNVP_TRAIN_BN_RANGE, CNNVP_TRAIN_BLOCK_CHANNEL, 8, BATCH, GRADIENT_FROM_FORWARD, LEAST);
}

/* What 8 bits do not reach. */
static void gradients_of_8_bits_elsewhere(void **state)
{
    (void)state;
    check_norm(CNNVP_TRAIN_BN_RANGE, CNNVP_TRAIN_BLOCK_TENSOR, 8, BATCH, GRADIENT_FROM_FORWARD, 0.95);
    check_norm(CNNVP_TRAIN_BN_RANGE, CNNVP_TRAIN_BLOCK_IMAGE, 8, BATCH, GRADIENT_FLOAT_STEP, 0.9);
    check_norm(CNNVP_TRAIN_BN_STANDARD, CNNVP_TRAIN_BLOCK_TENSOR, 8, BATCH, GRADIENT_FLOAT_STEP, 0.9);
}

static void gradients_of_more_bits(void **state)
{
    (void)state;
    for (int bn = 0; bn < 2; ++bn) {
        const enum cnnvp_train_bn sigma = (enum cnnvp_train_bn)bn;
        check_norm(sigma, CNNVP_TRAIN_BLOCK_TENSOR, 12, BATCH, GRADIENT_FLOAT_STEP, LEAST);
        check_norm(sigma, CNNVP_TRAIN_BLOCK_TENSOR, 16, BATCH, GRADIENT_FLOAT_STEP, LEAST);
        check_norm(sigma, CNNVP_TRAIN_BLOCK_TENSOR, 24, BATCH, GRADIENT_FLOAT_STEP, 1 - 1e-8);
    }
}

/* After steps on the platform, from what they have learned. */
static void gradients_of_a_later_step(void **state)
{
    (void)state;
    if (network_file == NULL)
        skip();
    check(&(const struct gradient_case){.network = network_file,
                                        .dataset = dataset_text,
                                        .bn = CNNVP_TRAIN_BN_STANDARD,
                                        .bits = 24,
                                        .batch = BATCH,
                                        .seed = SEED,
                                        .steps = 20},
          1 - 1e-6);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_with_bias),           cmocka_unit_test(gradients_of_other_blocks),
        cmocka_unit_test(gradients_of_a_large_batch),    cmocka_unit_test(gradients_with_norm),
        cmocka_unit_test(gradients_of_8_bits_elsewhere), cmocka_unit_test(gradients_of_more_bits),
        cmocka_unit_test(gradients_of_a_later_step),
    };
    if (argc >= 3) {
        network_file = argv[1];
        dataset_text = argv[2];
    }
    if (argc >= 4)
        large_batch = (uint32_t)strtoul(argv[3], NULL, 10);
    if (argc >= 5)
        large_range_batch = (uint32_t)strtoul(argv[4], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
