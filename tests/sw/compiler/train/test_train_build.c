/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients in odd pieces, and orders of images. */
#include "trainer_case.h"

static uint64_t conv2(const struct outcome *outcome, const char *member)
{
    size_t i;
    json_t *layer;
    json_array_foreach(
        json_object_get(outcome->stats, "layers"), i,
        layer) if (is(layer, "name", "conv2") && is(layer, "phase", "forward")) return number(layer, member);
    fail_msg("no layer conv2");
    return 0;
}

/* By channel, sums of 10 images and the evaluation's 6 are read at least this many times more often than by kernel. */
static void check_orders(struct session_setup setup, uint64_t reads)
{
    struct outcome kernel = outcome_of(&setup);
    setup.options.order = CNNVP_TRAIN_ORDER_CHANNEL;
    struct outcome channel = outcome_of(&setup);
    assert_same_results(&kernel, &channel);
    assert_accounts(&channel);
    assert_int_equal(sum(&kernel, "conv", "forward", "compute_cycles"),
                     sum(&channel, "conv", "forward", "compute_cycles"));
    /* 16 channels: 15 times more the sums go to memory and come back, of 10 images and the evaluation's 6. */
    const uint64_t sums = (10 + 6) * 32 * 4 * 4 * 4;
    assert_int_equal(conv2(&channel, "dram_write_bytes") - conv2(&kernel, "dram_write_bytes"), 15 * sums);
    assert_true(conv2(&channel, "dram_read_bytes") - conv2(&kernel, "dram_read_bytes") >= reads * sums);
    outcome_clear(&kernel);
    outcome_clear(&channel);
}

static void test_orders(void **state)
{
    (void)state;
    struct session_setup setup = digits();
    check_orders(setup, 14);                    /* slices by kernel load their inputs again */
    setup.sets[0] = "pe_array.mantissa_bits=9"; /* the fewest slices: they do not */
    check_orders(setup, 15);
}

/* Sum over the tensor of the squares of its velocity: after one step of momentum m from rest that is the gradient. */
static double squares(struct session *session, size_t layer, enum cnnvp_train_tensor tensor)
{
    struct cnnvp_array array = session_tensor(session, layer, tensor);
    const float *values = array.data;
    size_t count = 1;
    double all = 0.0;
    for (size_t i = 0; i < array.rank; ++i)
        count *= array.shape[i];
    for (size_t i = 0; i < count; ++i)
        all += (double)values[i] * (double)values[i];
    cnnvp_array_clear(&array);
    return all;
}

/* A small step along the gradient lowers the loss by rate * |gradient|^2: only if every part of it is right. */
static void check_gradient(int norm, enum cnnvp_train_bn bn)
{
    char name[64];
    struct session session;
    odd_write(name, norm);
    struct session_setup setup = odd(name);
    setup.sets[0] = "pe_array.mantissa_bits=24";
    setup.options.rounding = CNNVP_ROUND_NEAREST;
    setup.options.bn = bn;
    setup.options.epochs = 2;
    setup.options.rate = 1e-3f;
    setup.options.momentum = 0.5f;
    if (session_open(&setup, &session) != CNNVP_DONE || session_step(&session) != CNNVP_DONE)
        fail_msg("%s", session.error.text);
    double all = 0.0;
    for (size_t layer = 0; layer < 3; ++layer)
        all += squares(&session, layer, CNNVP_TRAIN_WEIGHT_VELOCITY);
    if (norm)
        all += squares(&session, 0, CNNVP_TRAIN_GAMMA_VELOCITY) + squares(&session, 0, CNNVP_TRAIN_BETA_VELOCITY);
    else
        all += squares(&session, 0, CNNVP_TRAIN_BIAS_VELOCITY);
    if (session_step(&session) != CNNVP_DONE)
        fail_msg("%s", session.error.text);
    const double fall = session.records[0].loss - session.records[1].loss;
    const double expected = (double)setup.options.rate * all;
    if (!(fall > 0.97 * expected && fall < 1.03 * expected))
        fail_msg("norm %d, form %d: the loss fell by %g; %g is expected", norm, (int)bn, fall, expected);
    session_close(&session);
    (void)remove(name);
}

static void test_odd_gradient(void **state)
{
    (void)state;
    check_gradient(0, CNNVP_TRAIN_BN_RANGE);
    check_gradient(1, CNNVP_TRAIN_BN_RANGE);
    check_gradient(1, CNNVP_TRAIN_BN_STANDARD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_odd_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
