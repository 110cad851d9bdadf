/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp run --tune: plans by trial. Larger buffers are never slower, and the invariants of contract.md hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli.h"

/*
 * Networks and platforms. On the first two the planner's own choice is slower with larger buffers (2026-11-22): with
 * weight_buffer.size 128KiB instead of 48KiB by 0.26 %, 128KiB instead of 12KiB by 0.53 %.
 */
static const char *const platforms[] = {
    "run $net/lenet5.onnx -p nfu -s dram.preset=hbm2 --images 1",
    "run $net/lenet5.onnx -p window -s dma.outstanding=1 --images 1",
    "run $net/mixed.onnx -p nfu --images 2",
    "run $net/mixed.onnx -p window -s instruction.order=strict --images 1",
};

/* One buffer through all sizes with the others as the preset has them, or all of them together. */
static void sweep(const char *platform, const char *const buffers[3])
{
    static const int kib[] = {10, 12, 20, 32, 48, 64, 128, 200, 1024};
    long long cycles = -1;
    long long ps = -1;
    for (size_t k = 0; k < sizeof kib / sizeof kib[0]; ++k) {
        char more[256] = "-q --stats @stats --timing-only --tune";
        for (size_t b = 0; b < 3 && buffers[b] != NULL; ++b) {
            const size_t length = strlen(more);
            (void)snprintf(more + length, sizeof more - length, " -s %s.size=%dKiB", buffers[b], kib[k]);
        }
        struct cli_run run = cli_run_ok(platform, more);
        const long long now = cli_number(run.stats, "total.accel_cycles");
        if (cycles >= 0 && (now > cycles || cli_number(run.stats, "total.time_ps") > ps))
            fail_msg("%s %s: %lld cycles, with a smaller buffer %lld", platform, more, now, cycles);
        cycles = now;
        ps = cli_number(run.stats, "total.time_ps");
        cli_free(&run);
    }
}

static void larger_buffers_are_never_slower(void **state)
{
    static const char *const buffers[][3] = {{"input_buffer", NULL, NULL},
                                             {"weight_buffer", NULL, NULL},
                                             {"output_buffer", NULL, NULL},
                                             {"input_buffer", "weight_buffer", "output_buffer"}};
    (void)state;
    for (size_t p = 0; p < sizeof platforms / sizeof platforms[0]; ++p)
        for (size_t b = 0; b < sizeof buffers / sizeof buffers[0]; ++b)
            sweep(platforms[p], buffers[b]);
}

/* On a platform where trials choose another plan. */
#define TUNED \
    "run $net/lenet5.onnx -i $data/lenet5_input.npy --images 1 -s dram.preset=hbm2 --stats @stats -o @output -q"

/* Whatever else is asked for, the plan is the same, and so is what the contract says of it. */
static void the_plan_is_the_same(void **state)
{
    static const char *const others[] = {"", "-s pe_array.detail=cycle", "-s cpu.quantum=97", "--trace @trace.vcd"};
    (void)state;
    struct cli_run own = cli_run_ok(TUNED, "");
    struct cli_run tuned = cli_run_ok(TUNED, "--tune");
    cli_assert_same_file(&own.output, &tuned.output, "output");
    assert_true(cli_number(tuned.stats, "total.accel_cycles") <= cli_number(own.stats, "total.accel_cycles"));
    cli_free(&own);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
        struct cli_run other = cli_run_ok(TUNED " --tune", others[i]);
        cli_assert_same_stats(tuned.stats, other.stats, "platform");
        cli_assert_same_file(&tuned.output, &other.output, "output");
        cli_free(&other);
    }
    struct cli_run timing = cli_run_ok(TUNED, "--tune --timing-only");
    cli_assert_same_stats(tuned.stats, timing.stats, "values");
    cli_free(&timing);
    cli_free(&tuned);
}

/* The plan with --cpu host is that of --cpu iss. */
static void the_host_core_has_the_same_plan(void **state)
{
    static const char *const members[] = {"compute_cycles", "input_words", "weight_words", "output_words",
                                          "dram_read_bytes", "dram_write_bytes"};
    (void)state;
    struct cli_run iss = cli_run_ok(TUNED, "--tune");
    struct cli_run host = cli_run_ok(TUNED, "--tune --cpu host");
    cli_assert_same_file(&iss.output, &host.output, "output");
    assert_int_equal(cli_number(iss.stats, "total.accel_instructions"),
                     cli_number(host.stats, "total.accel_instructions"));
    const json_t *a = json_object_get(iss.stats, "layers");
    const json_t *b = json_object_get(host.stats, "layers");
    assert_int_equal(json_array_size(a), json_array_size(b));
    for (size_t i = 0; i < json_array_size(a); ++i)
        for (size_t m = 0; m < sizeof members / sizeof members[0]; ++m)
            assert_int_equal(cli_number(json_array_get(a, i), members[m]),
                             cli_number(json_array_get(b, i), members[m]));
    cli_free(&iss);
    cli_free(&host);
}

/* What was tried is told; where there is nothing to choose from, that. A trial that fails is no choice. */
static void what_was_tried_is_told(void **state)
{
    (void)state;
    struct cli_run run = cli_run("run $net/lenet5.onnx --timing-only --tune");
    assert_int_equal(run.status, 0);
    assert_non_null(strstr(run.out, " tried, "));
    cli_free(&run);
    run = cli_run("run $net/lenet5.onnx -p trainer --timing-only --tune");
    assert_int_equal(run.status, 0);
    assert_non_null(strstr(run.out, "1, none to choose from"));
    cli_free(&run);
    run = cli_run("run $net/lenet5.onnx --timing-only --tune --max-time 10us");
    assert_int_equal(run.status, 1);
    assert_non_null(strstr(run.err, "--max-time was reached"));
    cli_free(&run);
}

/* With a limit that the fastest plan keeps and the planner's own, which is another one, does not. */
static void the_planners_own_may_not_end(void **state)
{
    (void)state;
    char more[128];
    struct cli_run run = cli_run_ok(platforms[0], "-q --stats @stats --timing-only --tune");
    const long long fastest = cli_number(run.stats, "total.time_ps");
    cli_free(&run);
    run = cli_run_ok(platforms[0], "-q --stats @stats --timing-only");
    assert_true(cli_number(run.stats, "total.time_ps") > fastest + 1000);
    cli_free(&run);
    (void)snprintf(more, sizeof more, "--stats @stats --timing-only --tune --max-time %lldns", fastest / 1000 + 1);
    run = cli_run_ok(platforms[0], more);
    assert_non_null(strstr(run.out, "the planner's own did not come to its end"));
    assert_int_equal(cli_number(run.stats, "total.time_ps"), fastest);
    cli_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(larger_buffers_are_never_slower),
        cmocka_unit_test(the_plan_is_the_same),
        cmocka_unit_test(the_host_core_has_the_same_plan),
        cmocka_unit_test(what_was_tried_is_told),
        cmocka_unit_test(the_planners_own_may_not_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
