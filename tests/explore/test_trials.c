/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp_tune: the same choice however many trials run at a time, and as a host program's own trials would choose. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>
#include <jansson.h>

#include "cnnvp_explore.h"

/* LeNet-5 on a platform where the planner's own plan is not the fastest. */
struct fixture {
    cnnvp_config *config;
    cnnvp_network *network;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    const struct cnnvp_network_options options = {
        .struct_size = sizeof options, .rounding = CNNVP_ROUND_NEAREST, .block = 8, .timing_only = 1, .images = 1};
    char file[4096];
    (void)snprintf(file, sizeof file, "%s/scripts/networks/lenet5.onnx", getenv("SOURCE"));
    *state = &fixture;
    assert_int_equal(cnnvp_config_new("window", &fixture.config, NULL), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(fixture.config, "dma.outstanding=1", NULL), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(fixture.config, NULL), CNNVP_DONE);
    assert_int_equal(cnnvp_network_new(file, fixture.config, &options, &fixture.network, NULL), CNNVP_DONE);
    return 0;
}

static int tear_down(void **state)
{
    const struct fixture *fixture = *state;
    cnnvp_network_free(fixture->network);
    cnnvp_config_free(fixture->config);
    return 0;
}

/* Cycles of a trial of the plan, or of the network as it is. */
static uint64_t cycles_of(const struct fixture *fixture, int trial, size_t plan)
{
    const struct cnnvp_platform_options options = {.struct_size = sizeof options, .timing_only = 1, .verbosity = -1};
    struct cnnvp_run_result end;
    cnnvp_platform *platform = NULL;
    char *json = NULL;
    assert_int_equal(cnnvp_platform_new(fixture->config, &options, &platform, NULL), CNNVP_DONE);
    assert_int_equal(trial ? cnnvp_network_load_trial(fixture->network, plan, platform, NULL)
                           : cnnvp_network_load(fixture->network, platform, NULL),
                     CNNVP_DONE);
    assert_int_equal(cnnvp_platform_run(platform, &end), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_stats(platform, &json), CNNVP_DONE);
    cnnvp_platform_free(platform);
    json_t *root = json_loads(json, JSON_ALLOW_NUL, NULL);
    const json_t *total = json_object_get(root, "total");
    const uint64_t cycles = (uint64_t)json_integer_value(json_object_get(total, "accel_cycles"));
    json_decref(root);
    free(json);
    return cycles;
}

static int stops(void)
{
    return 1;
}

static void assert_no_children(void)
{
    assert_int_equal(waitpid(-1, NULL, 0), -1);
    assert_int_equal(errno, ECHILD);
}

static void the_fastest_plan_is_chosen(void **state)
{
    const struct fixture *fixture = *state;
    const size_t plans = cnnvp_network_plans(fixture->network);
    size_t best = 0;
    uint64_t least = UINT64_MAX;
    assert_true(plans > 2);
    const uint64_t first = cycles_of(fixture, 0, 0);
    assert_int_equal(cycles_of(fixture, 1, 0), first);
    for (size_t plan = 0; plan < plans; ++plan) {
        const uint64_t cycles = cycles_of(fixture, 1, plan);
        best = cycles < least ? plan : best;
        least = cycles < least ? cycles : least;
    }
    assert_true(least < first);
    /* Trials leave the network as it is. */
    assert_int_equal(cycles_of(fixture, 0, 0), first);
    for (uint32_t jobs = 0; jobs < 6; ++jobs) {
        const struct cnnvp_tune_options options = {.struct_size = sizeof options, .jobs = jobs};
        struct cnnvp_tuned tuned;
        assert_int_equal(cnnvp_network_choose(fixture->network, 0, NULL), CNNVP_DONE);
        assert_int_equal(cycles_of(fixture, 0, 0), first);
        assert_int_equal(cnnvp_tune(fixture->network, fixture->config, &options, &tuned, NULL), CNNVP_DONE);
        assert_int_equal(tuned.plans, plans);
        assert_int_equal(tuned.plan, best);
        assert_int_equal(tuned.cycles, least);
        assert_int_equal(tuned.first_cycles, first);
        assert_int_equal(cycles_of(fixture, 0, 0), least);
        assert_no_children();
    }
}

/* Each plan is the network's when it is chosen, and there is no other one. */
static void plans_are_chosen(void **state)
{
    const struct fixture *fixture = *state;
    const size_t plans = cnnvp_network_plans(fixture->network);
    struct cnnvp_error error = {""};
    for (size_t plan = 0; plan < plans; plan += 7) {
        assert_int_equal(cnnvp_network_choose(fixture->network, plan, &error), CNNVP_DONE);
        assert_int_equal(cycles_of(fixture, 0, 0), cycles_of(fixture, 1, plan));
        assert_int_equal(cnnvp_network_plans(fixture->network), plans);
    }
    assert_int_equal(cnnvp_network_choose(fixture->network, plans, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "the network has"));
}

static void what_stops_trials_leaves_the_plan(void **state)
{
    const struct fixture *fixture = *state;
    struct cnnvp_tuned tuned;
    struct cnnvp_error error = {""};
    const uint64_t first = cycles_of(fixture, 0, 0);
    struct cnnvp_tune_options options = {.struct_size = sizeof options, .max_time_ps = 1000};
    assert_int_equal(cnnvp_tune(fixture->network, fixture->config, &options, &tuned, &error), CNNVP_DONE);
    assert_int_equal(tuned.cycles, 0);
    assert_int_equal(tuned.plan, 0);
    options = (struct cnnvp_tune_options){.struct_size = sizeof options, .stopped = stops};
    assert_int_not_equal(cnnvp_tune(fixture->network, fixture->config, &options, &tuned, &error), CNNVP_DONE);
    assert_non_null(strstr(error.text, "interrupted"));
    assert_no_children();
    options.struct_size = 1;
    assert_int_equal(cnnvp_tune(fixture->network, fixture->config, &options, &tuned, &error), CNNVP_BAD_INPUT);
    assert_int_equal(cycles_of(fixture, 0, 0), first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_fastest_plan_is_chosen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(plans_are_chosen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_stops_trials_leaves_the_plan, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
