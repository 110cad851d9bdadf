/* SPDX-License-Identifier: Apache-2.0 */
/* Trainings on the platform: closed forms, accounting, what must change nothing, states, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "odd.h"
#include "session.h"

#define DIGITS TEST_NETWORKS "/digits.onnx"
#define LENET5 TEST_NETWORKS "/lenet5.onnx"
#define VGG16 TEST_NETWORKS "/vgg16_cifar.onnx"

/* ---- runs and what is compared of them ---- */

struct outcome {
    json_t *stats;
    void *state;
    size_t state_size;
    struct cnnvp_train_record records[SESSION_STEPS];
    size_t record_count;
};

static struct outcome outcome_of(const struct session_setup *setup)
{
    struct outcome outcome = {.stats = NULL};
    struct session session;
    json_error_t error;
    if (session_run(setup, &session) != CNNVP_DONE)
        fail_msg("%s", session.error.text);
    outcome.stats = json_loads(session.stats, 0, &error);
    assert_non_null(outcome.stats);
    memcpy(outcome.records, session.records, sizeof outcome.records);
    outcome.record_count = session.record_count;
    if (!setup->options.timing_only && cnnvp_trainer_get_state(session.trainer, session.platform, &outcome.state,
                                                               &outcome.state_size, &session.error) != CNNVP_DONE)
        fail_msg("%s", session.error.text);
    session_close(&session);
    return outcome;
}

static void outcome_clear(struct outcome *outcome)
{
    json_decref(outcome->stats);
    free(outcome->state);
}

static uint64_t number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    assert_true(json_is_integer(value));
    return (uint64_t)json_integer_value(value);
}

static int is(const json_t *object, const char *name, const char *text)
{
    return strcmp(json_string_value(json_object_get(object, name)), text) == 0;
}

/* Sum of a member over the layers of an op and a phase. */
static uint64_t sum(const struct outcome *outcome, const char *op, const char *phase, const char *member)
{
    size_t i;
    json_t *layer;
    uint64_t all = 0;
    json_array_foreach(json_object_get(outcome->stats, "layers"), i,
                       layer) if (is(layer, "op", op) && is(layer, "phase", phase)) all += number(layer, member);
    return all;
}

static void assert_accounts(const struct outcome *outcome)
{
    const json_t *total = json_object_get(outcome->stats, "total");
    const json_t *memory = json_object_get(outcome->stats, "memory");
    uint64_t cycles = number(total, "idle_cycles");
    uint64_t read = 0;
    uint64_t written = 0;
    uint64_t macs = 0;
    size_t i;
    json_t *layer;
    json_array_foreach(json_object_get(outcome->stats, "layers"), i, layer)
    {
        uint64_t mine = number(layer, "compute_cycles");
        const char *cause;
        json_t *stalled;
        json_object_foreach(json_object_get(layer, "stall_cycles"), cause, stalled) mine +=
            (uint64_t)json_integer_value(stalled);
        assert_int_equal(mine, number(layer, "cycles"));
        cycles += mine;
        read += number(layer, "dram_read_bytes");
        written += number(layer, "dram_write_bytes");
        macs += number(layer, "macs");
    }
    assert_int_equal(cycles, number(total, "accel_cycles"));
    assert_int_equal(macs, number(total, "macs"));
    assert_int_equal(read, number(memory, "read_bytes"));
    assert_int_equal(written, number(memory, "write_bytes"));
}

/* A member of the statistics. */
static void assert_same_member(const struct outcome *a, const struct outcome *b, const char *name)
{
    const json_t *left = json_object_get(a->stats, name);
    const json_t *right = json_object_get(b->stats, name);
    if (json_equal(left, right))
        return;
    char *texts[] = {json_dumps(left, JSON_INDENT(1)), json_dumps(right, JSON_INDENT(1))};
    size_t at = 0;
    while (texts[0][at] != '\0' && texts[0][at] == texts[1][at])
        ++at;
    at = at > 200 ? at - 200 : 0;
    fail_msg("%s differs:\n%.400s\n--- and ---\n%.400s", name, texts[0] + at, texts[1] + at);
}

static void assert_same_stats(const struct outcome *a, const struct outcome *b)
{
    static const char *const members[] = {"total", "layers", "units", "links", "memory", "storage", "energy"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; ++i)
        assert_same_member(a, b, members[i]);
}

static void assert_same_results(const struct outcome *a, const struct outcome *b)
{
    assert_int_equal(a->record_count, b->record_count);
    for (size_t i = 0; i < a->record_count; ++i) {
        assert_int_equal(a->records[i].correct, b->records[i].correct);
        assert_memory_equal(&a->records[i].loss, &b->records[i].loss, sizeof(double));
    }
    assert_int_equal(a->state_size, b->state_size);
    assert_memory_equal(a->state, b->state, a->state_size);
}

static struct session_setup digits(void)
{
    struct session_setup setup = session_setup(DIGITS, 1, 8, 10);
    setup.images = 10;
    setup.evaluation = 6;
    setup.options.cpu_host = 1;
    return setup;
}

/* ---- closed forms (reference/README.md) ---- */

static void test_vgg16_cycles(void **state)
{
    (void)state;
    struct session_setup setup = session_setup(VGG16, 3, 32, 10);
    setup.images = 4;
    setup.options.timing_only = 1;
    struct outcome outcome = outcome_of(&setup);
    assert_int_equal(sum(&outcome, "conv", "forward", "compute_cycles"), 3262464);
    assert_int_equal(sum(&outcome, "conv", "backward", "compute_cycles"), 3244032);
    assert_int_equal(sum(&outcome, "conv", "gradient", "compute_cycles"), 4 * 817152);
    assert_int_equal(sum(&outcome, "fc", "forward", "compute_cycles"), 512);
    assert_int_equal(sum(&outcome, "fc", "backward", "compute_cycles"), 10 * 16);
    assert_int_equal(sum(&outcome, "fc", "gradient", "compute_cycles"), 4 * 128);
    assert_int_equal(sum(&outcome, "conv", "forward", "macs"), 4 * UINT64_C(313196544));
    assert_int_equal(sum(&outcome, "conv", "gradient", "macs"), 4 * UINT64_C(313196544));
    assert_int_equal(sum(&outcome, "conv", "backward", "macs"), 4 * (UINT64_C(313196544) - 64 * 3 * 9 * 1024));
    assert_accounts(&outcome);
    outcome_clear(&outcome);
}

static void check_lenet5(uint32_t images, uint32_t passes)
{
    struct session_setup setup = session_setup(LENET5, 1, 32, 10);
    setup.images = setup.options.batch = images;
    setup.options.cpu_host = 1;
    struct outcome outcome = outcome_of(&setup);
    assert_int_equal(sum(&outcome, "conv", "forward", "compute_cycles"), passes * (9408 + 7200));
    assert_int_equal(sum(&outcome, "fc", "forward", "compute_cycles"), passes * (400 * 4 + 120 * 3 + 84));
    /* The bias is one more channel of one tap, a cause of its own (Part B 0-8). */
    const json_t *units = json_object_get(outcome.stats, "units");
    assert_int_equal(number(json_object_get(units, "pe_array"), "bias_cycles") > 0, 1);
    assert_int_equal(sum(&outcome, "conv", "backward", "compute_cycles"), passes * 16 * 14 * 14 * 3 * 4);
    assert_int_equal(sum(&outcome, "conv", "gradient", "compute_cycles"),
                     images * (3 * 28 * 28 * 4 + 2 * 3 * 10 * 10 * 4));
    assert_accounts(&outcome);
    outcome_clear(&outcome);
}

static void test_lenet5_cycles(void **state)
{
    (void)state;
    check_lenet5(4, 1);
    check_lenet5(6, 2); /* a short pass masks arrays and costs a whole one */
}

/* ---- traffic of the two orders (Part B 1-3) ---- */

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

/* ---- what must change nothing ---- */

static void test_core_and_host(void **state)
{
    (void)state;
    struct session_setup setup = digits();
    struct outcome host = outcome_of(&setup);
    setup.options.cpu_host = 0;
    struct outcome core = outcome_of(&setup);
    static const char *const phases[] = {"forward", "backward", "gradient"};
    static const char *const members[] = {
        "compute_cycles", "input_words", "weight_words", "output_words", "dram_read_bytes", "dram_write_bytes"};
    assert_same_results(&host, &core);
    for (size_t p = 0; p < 3; ++p)
        for (size_t m = 0; m < sizeof members / sizeof members[0]; ++m)
            assert_int_equal(sum(&host, "conv", phases[p], members[m]), sum(&core, "conv", phases[p], members[m]));
    assert_same_member(&host, &core, "links");
    outcome_clear(&host);
    outcome_clear(&core);
}

static void test_quantum(void **state)
{
    (void)state;
    struct session_setup setup = digits();
    setup.options.cpu_host = 0;
    struct outcome coarse = outcome_of(&setup);
    setup.sets[0] = "cpu.quantum=100";
    struct outcome fine = outcome_of(&setup);
    assert_same_results(&coarse, &fine);
    assert_same_stats(&coarse, &fine);
    outcome_clear(&coarse);
    outcome_clear(&fine);
}

static void check_timing_only(struct session_setup setup)
{
    struct outcome full = outcome_of(&setup);
    setup.options.timing_only = 1;
    struct outcome timing = outcome_of(&setup);
    assert_int_equal(full.record_count, timing.record_count);
    assert_same_stats(&full, &timing);
    outcome_clear(&full);
    outcome_clear(&timing);
}

static void test_timing_only(void **state)
{
    (void)state;
    struct session_setup setup = digits();
    check_timing_only(setup);
    setup.options.bn = CNNVP_TRAIN_BN_STANDARD;
    setup.options.block = CNNVP_TRAIN_BLOCK_IMAGE;
    check_timing_only(setup);
    setup.options.narrow = 1;
    setup.options.block = CNNVP_TRAIN_BLOCK_CHANNEL;
    check_timing_only(setup);
}

static void check_depths(struct session_setup setup)
{
    struct outcome fast = outcome_of(&setup);
    setup.sets[0] = "pe_array.detail=cycle";
    setup.sets[1] = "multi_function.detail=cycle";
    struct outcome stepped = outcome_of(&setup);
    assert_same_results(&fast, &stepped);
    assert_same_stats(&fast, &stepped);
    outcome_clear(&fast);
    outcome_clear(&stepped);
}

static void test_cycle_stepped(void **state)
{
    (void)state;
    struct session_setup setup = digits();
    setup.images = 6;
    setup.evaluation = 0;
    check_depths(setup);
    setup.options.bn = CNNVP_TRAIN_BN_STANDARD;
    setup.options.block = CNNVP_TRAIN_BLOCK_IMAGE;
    setup.options.rounding = CNNVP_ROUND_NEAREST;
    check_depths(setup);
}

/* Smaller buffers: more tiles, maps in rows, the same bits and the same compute cycles, also where all rows of PEs work
 * in fully connected layers. */
static void test_buffers(void **state)
{
    (void)state;
    static const char *const sets[][3] = {
        {"input_buffer.size=256", NULL, NULL}, /* and a weight buffer for few kernels */
        {"intermediate_buffer.size=24KiB", NULL, NULL},
        {"input_buffer.pingpong=off", "weight_buffer.pingpong=off", "intermediate_buffer.pingpong=off"},
        {"input_buffer.size=1MiB", "weight_buffer.size=1MiB", "intermediate_buffer.size=8MiB"},
    };
    static const char *const phases[] = {"forward", "backward", "gradient"};
    static const char *const engines[][2] = {{NULL, NULL}, {"pe_array.fc_rows=3", "pe_array.cols=2"}};
    static const char *const few[] = {"weight_buffer.size=2048", "weight_buffer.size=256"};
    for (size_t i = 0; i < 2 * sizeof sets / sizeof sets[0]; ++i) {
        struct session_setup setup = digits();
        const size_t used = i % 2 * 2;
        memcpy(setup.sets, engines[i % 2], sizeof engines[0]);
        struct outcome usual = outcome_of(&setup);
        memcpy(setup.sets + used, sets[i / 2], sizeof sets[0]);
        if (i / 2 == 0)
            setup.sets[used + 1] = few[i % 2];
        struct outcome other = outcome_of(&setup);
        assert_same_results(&usual, &other);
        assert_accounts(&other);
        for (size_t p = 0; p < 6; ++p)
            assert_int_equal(sum(&usual, p % 2 ? "fc" : "conv", phases[p / 2], "compute_cycles"),
                             sum(&other, p % 2 ? "fc" : "conv", phases[p / 2], "compute_cycles"));
        outcome_clear(&other);
        outcome_clear(&usual);
    }
}

/* ---- odd shapes ---- */

static struct session_setup odd(const char *network)
{
    struct session_setup setup = session_setup(network, ODD_CHANNELS, ODD_HEIGHT, ODD_CLASSES);
    setup.width = ODD_WIDTH;
    setup.images = 5;
    setup.options.batch = 5;
    setup.options.cpu_host = 1;
    return setup;
}

static void test_odd_tiles(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "input_buffer.size=800", "weight_buffer.size=1200", "intermediate_buffer.size=48KiB"};
    char name[64];
    odd_write(name, 0);
    struct session_setup setup = odd(name);
    setup.options.epochs = 2;
    struct outcome usual = outcome_of(&setup);
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; ++i) {
        setup.sets[0] = sets[i];
        struct outcome other = outcome_of(&setup);
        assert_same_results(&usual, &other);
        outcome_clear(&other);
    }
    outcome_clear(&usual);
    (void)remove(name);
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

/* ---- learning ---- */

static void check_learns(struct session_setup setup)
{
    setup.images = 24;
    setup.options.batch = 12;
    setup.options.epochs = 12;
    setup.options.rate = 0.02f;
    struct outcome outcome = outcome_of(&setup);
    const double first = outcome.records[0].loss;
    const double last = outcome.records[outcome.record_count - 2u].loss;
    if (!(last < first / 4.0))
        fail_msg("loss %g in the first step, %g in the last", first, last);
    outcome_clear(&outcome);
}

static void test_learns(void **state)
{
    (void)state;
    struct session_setup setup = digits();
    check_learns(setup);
    setup.options.block = CNNVP_TRAIN_BLOCK_IMAGE;
    check_learns(setup);
    setup.options.block = CNNVP_TRAIN_BLOCK_CHANNEL;
    check_learns(setup);
    setup.options.block = CNNVP_TRAIN_BLOCK_TENSOR;
    setup.options.narrow = 1;
    check_learns(setup);
    setup.options.narrow = 0;
    setup.options.momentum = 0.0f;
    setup.options.bn = CNNVP_TRAIN_BN_STANDARD;
    check_learns(setup);
    setup.sets[0] = "pe_array.mantissa_bits=20";
    check_learns(setup);
}

/* ---- states ---- */

static void test_resume(void **state)
{
    (void)state;
    struct session_setup setup = digits();
    setup.options.epochs = 2;
    struct outcome whole = outcome_of(&setup);
    for (uint64_t stop = 1; stop < 6; stop += 2) {
        setup.stop_after = stop;
        setup.state = NULL;
        struct outcome begun = outcome_of(&setup);
        setup.stop_after = 0;
        setup.state = begun.state;
        setup.state_size = begun.state_size;
        struct outcome resumed = outcome_of(&setup);
        assert_int_equal(whole.state_size, resumed.state_size);
        assert_memory_equal(whole.state, resumed.state, whole.state_size);
        outcome_clear(&begun);
        outcome_clear(&resumed);
    }
    outcome_clear(&whole);
}

static void assert_refused(const struct session_setup *setup, const char *why)
{
    struct session session;
    const cnnvp_result result = session_run(setup, &session);
    if (result != CNNVP_BAD_INPUT)
        fail_msg("result %d where \"%s\" is expected", (int)result, why);
    if (strstr(session.error.text, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", session.error.text, why);
    session_close(&session);
}

static void test_foreign_states(void **state)
{
    (void)state;
    struct session_setup setup = digits();
    setup.stop_after = 1;
    struct outcome begun = outcome_of(&setup);
    setup.stop_after = 0;
    setup.state = begun.state;
    setup.state_size = begun.state_size - 1u;
    assert_refused(&setup, "bytes");
    setup.state_size = 7;
    assert_refused(&setup, "7 bytes");
    setup.state_size = begun.state_size;
    setup.options.seed = 2;
    assert_refused(&setup, "another training");
    setup.options.seed = 1;
    setup.options.batch = 5;
    assert_refused(&setup, "another training");
    setup.options.batch = 4;
    ((char *)begun.state)[0] ^= 1;
    assert_refused(&setup, "not the state of a training");
    outcome_clear(&begun);
}

/* ---- what is refused ---- */

static void test_refused(void **state)
{
    (void)state;
    struct session_setup setup = digits();
    setup.options.batch = 0;
    assert_refused(&setup, "a batch of 0 images");
    setup = digits();
    setup.options.rate = 0.0f;
    assert_refused(&setup, "learning rate 0");
    setup = digits();
    setup.options.momentum = 1.0f;
    assert_refused(&setup, "momentum 1");
    setup = digits();
    setup.options.epochs = 0;
    assert_refused(&setup, "0 epochs");
    setup = digits();
    setup.width = setup.height = 9;
    assert_refused(&setup, "1 x 9 x 9");
    setup = digits();
    setup.classes = 12;
    assert_refused(&setup, "the network has 10 classes");
    setup = digits();
    setup.network = TEST_NETWORKS "/mixed.onnx";
    assert_refused(&setup, "node \"");
    setup = digits();
    setup.sets[0] = "input_buffer.size=16";
    assert_refused(&setup, "input_buffer.size");
    setup = digits();
    setup.sets[0] = "max_min_buffer.size=64";
    assert_refused(&setup, "max_min_buffer");
    setup = digits();
    setup.sets[0] = "dram.size=1088KiB";
    assert_refused(&setup, "dram");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vgg16_cycles),   cmocka_unit_test(test_lenet5_cycles), cmocka_unit_test(test_orders),
        cmocka_unit_test(test_core_and_host),  cmocka_unit_test(test_quantum),       cmocka_unit_test(test_timing_only),
        cmocka_unit_test(test_cycle_stepped),  cmocka_unit_test(test_buffers),       cmocka_unit_test(test_learns),
        cmocka_unit_test(test_odd_tiles),      cmocka_unit_test(test_odd_gradient),  cmocka_unit_test(test_resume),
        cmocka_unit_test(test_foreign_states), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
