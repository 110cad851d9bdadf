/* SPDX-License-Identifier: Apache-2.0 */
/* A command's options by name: defaults, values, lists, what is refused, and what the compiler is told. */
#include "test.h"

#include <string.h>

#include "cnnvp_train.h"
#include "command_options.h"

static void set(cnnvp_options *options, const char *name, const char *value)
{
    struct cnnvp_error error = {""};
    if (cnnvp_options_set(options, name, value, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
}

static void must_refuse(const char *command, const char *name, const char *value, const char *message)
{
    struct cnnvp_error error = {""};
    cnnvp_options *options = cnnvp_options_new(command);
    assert_int_equal(cnnvp_options_set(options, name, value, &error), CNNVP_BAD_INPUT);
    if (strstr(error.text, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, error.text);
    cnnvp_options_free(options);
}

static void test_defaults(void **state)
{
    cnnvp_options *run = cnnvp_options_new("run"), *train = cnnvp_options_new("train");
    const struct cnnvp_network_options network = cnnvp_network_options_of(run);
    const struct cnnvp_trainer_options trainer = cnnvp_trainer_options_of(train);
    (void)state;
    assert_null(cnnvp_options_new("fly"));
    char command[] = "train"; /* the caller's, who may have something else there later */
    cnnvp_options *named = cnnvp_options_new(command);
    (void)memset(command, 'x', sizeof command - 1);
    assert_int_equal(cnnvp_options_set(named, "epochs", "3", NULL), CNNVP_DONE);
    cnnvp_options_free(named);
    assert_int_equal(network.rounding, CNNVP_ROUND_NEAREST);
    assert_int_equal(network.images, 1);
    assert_int_equal(network.input_images, 0);
    assert_int_equal(network.batch, 0);
    assert_int_equal(network.block, 8);
    assert_int_equal(network.issue, CNNVP_ISSUE_FASTER);
    assert_null(network.plan);
    assert_int_equal(trainer.rounding, CNNVP_ROUND_STOCHASTIC);
    assert_int_equal(trainer.batch, 32);
    assert_int_equal(trainer.errors, CNNVP_TRAIN_ERRORS_DEFAULT);
    assert_true(trainer.rate > 0.0199f && trainer.rate < 0.0201f);
    assert_int_equal(trainer.narrow, 0);
    cnnvp_options_free(run);
    cnnvp_options_free(train);
    cnnvp_options_free(NULL);
}

static void test_values(void **state)
{
    static const char plan[] = "plan.yaml";
    cnnvp_options *run = cnnvp_options_new("run"), *train = cnnvp_options_new("train");
    (void)state;
    set(run, "objective", "energy");
    set(run, "timing-only", "true");
    set(run, "on_chip", "true");
    set(run, "on-chip", "false");
    set(run, "schedule", "auto");
    set(run, "issue", "scheduler");
    set(run, "images", "3");
    set(run, "seed", "0xffffffffffffffff");
    set(run, "plan", plan);
    set(run, "max-time", "1.5ns");
    set(run, "verbose", "true");
    set(run, "verbose", "true");
    set(run, "shape", "1x1x32x32");
    set(run, "shape", "x=1x1x32x32");
    const struct cnnvp_network_options network = cnnvp_network_options_of(run);
    assert_int_equal(network.objective, CNNVP_OBJECTIVE_ENERGY);
    assert_int_equal(network.schedule, CNNVP_SCHEDULE_AUTO);
    assert_int_equal(network.issue, CNNVP_ISSUE_SCHEDULER);
    assert_int_equal(network.images, 3);
    assert_int_equal(network.input_images, 3);
    assert_int_equal(network.seed, UINT64_MAX);
    assert_ptr_equal(network.plan, plan);
    assert_int_equal(network.shape_count, 2);
    assert_string_equal(network.shapes[1], "x=1x1x32x32");
    assert_true(network.timing_only && !network.on_chip);
    assert_int_equal(run->max_time, 1500);
    assert_int_equal(run->verbose, 2);
    set(train, "weight-bits", "8");
    set(train, "errors", "carried");
    set(train, "rounding", "floor");
    set(train, "momentum", "0.5");
    const struct cnnvp_trainer_options trainer = cnnvp_trainer_options_of(train);
    assert_int_equal(trainer.narrow, 1);
    assert_int_equal(trainer.errors, CNNVP_TRAIN_ERRORS_CARRIED);
    assert_int_equal(trainer.rounding, CNNVP_ROUND_FLOOR);
    assert_true(trainer.momentum > 0.49f && trainer.momentum < 0.51f);
    cnnvp_options_free(run);
    cnnvp_options_free(train);
}

static void test_refusals(void **state)
{
    (void)state;
    must_refuse("run", "objective", NULL, "--objective: no value is given");
    must_refuse("run", "objectiv", "energy", "did you mean \"objective\"");
    must_refuse("run", "cpu", "host", "\"cpu\" is no option of run");
    must_refuse("run", "epochs", "3", "is no option of run");
    must_refuse("run", "objective", "power", "--objective: \"power\" is not one of time|energy|edp|traffic");
    must_refuse("run", "rounding", "up", "truncate|nearest|stochastic|floor");
    must_refuse("train", "batch", "65536", "--batch: ");
    must_refuse("run", "tune", "yes", "--tune: true or false is expected");
    must_refuse("run", "max-time", "5", "--max-time: ");
}

/* Options in pairs, as "NAME VALUE NAME VALUE"; NULL: they go together. */
static void test_clashes(void **state)
{
    static const struct {
        const char *command, *names[2], *values[2], *message;
    } cases[] = {
        {"run", {"schedule", "block"}, {"depth-first", "4"}, NULL},
        {"run", {"schedule", "block"}, {"fused", "4"}, "--block changes nothing without --schedule depth-first"},
        {"run", {"schedule", "issue"}, {"auto", "guest"}, NULL},
        {"run", {"schedule", "issue"}, {"auto", "scheduler"}, "use it with --schedule depth-first"},
        {"run", {"schedule", "issue"}, {"auto", "list"}, NULL},
        {"run", {"schedule", "issue"}, {"depth-first", "list"}, "use --issue guest or scheduler"},
        {"run", {"schedule", "on_chip"}, {"layer", "true"}, NULL},
        {"run", {"schedule", "on_chip"}, {"fused", "true"}, "--on-chip keeps every map"},
        {"run", {"batch", "plan"}, {"2", "p.yaml"}, "--batch: a plan takes one image"},
        {"run", {"batch", "plan"}, {"1", "p.yaml"}, NULL},
        {"run", {"plan", "on_chip"}, {"p.yaml", "true"}, "--plan says what stays on chip"},
        {"run", {"dump", "timing_only"}, {"d", "true"}, "--dump needs the values"},
        {"train", {"checkpoint_every", "dataset"}, {"2", "idx:a,b"}, "--checkpoint-every needs --checkpoint"},
        {"train", {"lr", "epochs"}, {"0.1", "2"}, "--dataset is missing"},
        {"train", {"dataset", "resume"}, {"idx:a,b", "file"}, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct cnnvp_error error = {""};
        cnnvp_options *options = cnnvp_options_new(cases[i].command);
        for (size_t n = 0; n < 2; ++n)
            set(options, cases[i].names[n], cases[i].values[n]);
        const cnnvp_result result = cnnvp_options_check(options, &error);
        assert_int_equal(result, cases[i].message == NULL ? CNNVP_DONE : CNNVP_BAD_INPUT);
        if (cases[i].message != NULL && strstr(error.text, cases[i].message) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", cases[i].message, error.text);
        cnnvp_options_free(options);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_defaults), cmocka_unit_test(test_values),
                                       cmocka_unit_test(test_refusals), cmocka_unit_test(test_clashes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
