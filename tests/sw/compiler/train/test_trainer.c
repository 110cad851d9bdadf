/* SPDX-License-Identifier: Apache-2.0 */
/* Trainings on the platform: closed forms, accounting, what must change nothing, states, and what is refused. */
#include "trainer_case.h"

#include <unistd.h>

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

/* Energy of links that the core drives: the program on the host has none. */
static void forget_core_links(const struct outcome *outcome)
{
    size_t i;
    json_t *link;
    json_array_foreach(json_object_get(outcome->stats, "links"), i, link)
    {
        if (strcmp(json_string_value(json_object_get(link, "from")), "cpu") == 0)
            (void)json_object_del(link, "energy_pj");
    }
}

static void assert_same_stats(const struct outcome *a, const struct outcome *b)
{
    static const char *const members[] = {"total", "layers", "units", "links", "memory", "storage", "energy"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; ++i)
        assert_same_member(a, b, members[i]);
}

static void test_core_and_host(void **state)
{
    (void)state;
    struct session_setup setup = digits();
    struct outcome host = outcome_of(&setup);
    setup.native = 0;
    struct outcome core = outcome_of(&setup);
    static const char *const phases[] = {"forward", "backward", "gradient"};
    static const char *const members[] = {
        "compute_cycles", "input_words", "weight_words", "output_words", "dram_read_bytes", "dram_write_bytes"};
    assert_same_results(&host, &core);
    for (size_t p = 0; p < 3; ++p)
        for (size_t m = 0; m < sizeof members / sizeof members[0]; ++m)
            assert_int_equal(sum(&host, "conv", phases[p], members[m]), sum(&core, "conv", phases[p], members[m]));
    forget_core_links(&host);
    forget_core_links(&core);
    assert_same_member(&host, &core, "links");
    outcome_clear(&host);
    outcome_clear(&core);
}

static void test_quantum(void **state)
{
    (void)state;
    struct session_setup setup = digits();
    setup.native = 0;
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

/* A trainer goes from platform to platform. What one has learned is written, and the next begins where the first did.
 */
static void test_export_and_load(void **state)
{
    (void)state;
    char name[64];
    struct session session;
    const struct session_setup setup = digits();
    (void)snprintf(name, sizeof name, "exported-%ld.onnx", (long)getpid());
    assert_int_equal(session_run(&setup, &session), CNNVP_DONE);
    for (int i = 0; i < 2; ++i)
        assert_int_equal(cnnvp_trainer_export(session.trainer, session.platform, name, &session.error), CNNVP_DONE);
    (void)remove(name);
    cnnvp_platform_free(session.platform);
    const struct cnnvp_platform_options options = {
        .struct_size = sizeof options, .console = cnnvp_trainer_console, .console_context = session.trainer};
    assert_int_equal(cnnvp_platform_new(session.config, &options, &session.platform, &session.error), CNNVP_DONE);
    assert_int_equal(cnnvp_trainer_load(session.trainer, session.platform, &session.error), CNNVP_DONE);
    assert_int_equal(session_step(&session), CNNVP_DONE);
    const double begun = session.records[0].loss, again = session.records[session.record_count - 1u].loss;
    assert_false(begun < again || begun > again);
    session_close(&session);
}

/* Before a platform has the weights, its memory is that of no training. */
static void test_results_before_load(void **state)
{
    (void)state;
    const struct session_setup setup = digits();
    struct session session;
    assert_int_equal(session_open(&setup, &session), CNNVP_DONE);
    struct cnnvp_trainer_options options = setup.options;
    options.struct_size = sizeof options;
    options.dataset = session.dataset;
    cnnvp_trainer *other = NULL;
    assert_int_equal(cnnvp_trainer_new(setup.network, session.config, &options, &other, &session.error), CNNVP_DONE);
    void *saved;
    size_t size;
    struct cnnvp_array values;
    const cnnvp_result results[] = {
        cnnvp_trainer_export(other, session.platform, "never.onnx", &session.error),
        cnnvp_trainer_tensor(other, session.platform, 0, CNNVP_TRAIN_WEIGHT, &values, &session.error),
        cnnvp_trainer_get_state(other, session.platform, &saved, &size, &session.error)};
    for (size_t i = 0; i < sizeof results / sizeof results[0]; ++i)
        assert_int_equal(results[i], CNNVP_BAD_INPUT);
    assert_non_null(strstr(session.error.text, "cnnvp_trainer_load comes first"));
    cnnvp_trainer_free(other);
    session_close(&session);
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
    char sizes[64];
    (void)snprintf(sizes, sizeof sizes, "%zu bytes; %zu are needed", begun.state_size - 1u, begun.state_size);
    assert_refused(&setup, sizes);
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
    setup.sets[0] = "pe_array.layout=zones";
    setup.sets[1] = "input_buffer.size=512";
    assert_refused(&setup, "its maps are 8 wide, and a group of zones takes 7");
    setup.sets[1] = "pe_array.cols=2";
    assert_refused(&setup, "use 3 or more, not 2");
    setup = session_setup(TEST_NETWORKS "/lenet5.onnx", 1, 32, 10);
    setup.sets[0] = "relu_buffer.size=64";
    assert_refused(&setup, "relu_buffer.size or id_buffer.size");
    setup = digits();
    setup.sets[0] = "max_min_buffer.size=64";
    assert_refused(&setup, "max_min_buffer");
    setup = digits();
    setup.sets[0] = "dram.size=1088KiB";
    assert_refused(&setup, "dram");
}

/* 16 images and 10 classes: the softmax's inputs, labels of 64 bytes, gradient, and records of 16 + 40 bytes each. */
static void test_room_for_classes(void **state)
{
    (void)state;
    struct session_setup setup = digits();
    setup.images = setup.options.batch = 16;
    setup.sets[0] = "pe_array.arrays=16";
    setup.sets[1] = "pe_array.cols=1";
    setup.sets[2] = "intermediate_buffer.size=4448"; /* 2 * (640 + 64 + 640 + 896) is 4480 */
    assert_refused(&setup, "the 10 classes of 16 images do not fit into intermediate_buffer; use "
                           "intermediate_buffer.size=4480 or more");
    setup.sets[2] = "intermediate_buffer.size=4480";
    struct outcome outcome = outcome_of(&setup);
    outcome_clear(&outcome);
}

static uint64_t images_of(struct session *session)
{
    free(session->stats);
    session->stats = NULL;
    assert_int_equal(cnnvp_platform_stats(session->platform, &session->stats), CNNVP_DONE);
    json_t *stats = json_loads(session->stats, 0, NULL);
    const uint64_t images = number(json_object_get(stats, "total"), "images");
    json_decref(stats);
    return images;
}

/* The images of two trainings on one platform: of the first, and of each step of the second. */
static void test_images_after_reset(void **state)
{
    (void)state;
    struct session_setup setup = digits();
    struct session session;
    assert_int_equal(session_run(&setup, &session), CNNVP_DONE);
    assert_int_equal(images_of(&session), setup.images);
    assert_int_equal(cnnvp_platform_reset(session.platform), CNNVP_DONE);
    assert_int_equal(cnnvp_trainer_load(session.trainer, session.platform, &session.error), CNNVP_DONE);
    for (uint64_t learned = setup.options.batch; learned <= setup.images; learned += setup.options.batch) {
        assert_int_equal(session_step(&session), CNNVP_DONE);
        assert_int_equal(images_of(&session), setup.images + learned);
    }
    session_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_and_host),
        cmocka_unit_test(test_quantum),
        cmocka_unit_test(test_timing_only),
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_foreign_states),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_room_for_classes),
        cmocka_unit_test(test_export_and_load),
        cmocka_unit_test(test_results_before_load),
        cmocka_unit_test(test_images_after_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
