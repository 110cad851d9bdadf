/* SPDX-License-Identifier: Apache-2.0 */
/* Points that another program runs: a sweep of trainings, by a program in the place of cnnvp. */
#define _XOPEN_SOURCE 700
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "explore_case.h"

/* A program in the place of cnnvp: writes its arguments into the statistics, fails for 3 rows. */
static const char program_text[] =
    "#!/bin/sh\nfor word in \"$@\"; do case $word in --stats=*) file=${word#--stats=};; --set=pe_array.rows=3) "
    "echo 'cnnvp: three is refused' >&2; exit 2;; esac; done\n"
    "printf '{\"schema\": \"cnnvp-stats/2\", \"total\": {\"time_ps\": 5}, \"args\": \"%s\"}' \"$*\" >\"$file\"\n";

static int take_row(void *context, const struct cnnvp_row *row)
{
    int *seen = context;
    json_t *stats = row->stats != NULL ? json_loads(row->stats, 0, NULL) : NULL;
    const char *args = json_string_value(json_object_get(stats, "args"));
    if (row->failed) {
        assert_string_equal(row->error, "cnnvp: three is refused");
        ++seen[1];
    } else {
        assert_non_null(args);
        assert_non_null(strstr(args, "train "));
        assert_non_null(strstr(args, " --timing-only"));
        assert_non_null(strstr(args, " --lr=0.5"));
        assert_non_null(strstr(args, " --set=pe_array.rows=2"));
        assert_non_null(strstr(args, " --set=pe_array.cols=16"));
        ++seen[0];
    }
    json_decref(stats);
    return 0;
}

static void test_train(void **state)
{
    struct cnnvp_error error = {""};
    struct cnnvp_sweep_progress done;
    struct cnnvp_results *results = NULL;
    char program[100], database[100];
    int seen[2] = {0, 0};
    cnnvp_sweep *sweep = NULL;
    char text[1024];
    (void)state;
    (void)snprintf(text, sizeof text,
                   "command: train\nnetwork: %s/scripts/networks/lenet5.onnx\n"
                   "options: {timing_only: true, lr: 0.5, dataset: \"idx:%s/CMakeLists.txt,%s/CMakeLists.txt\"}\n"
                   "parameters: {pe_array.rows: [2, 3]}\nderive: {pe_array.cols: pe_array.rows / pe_array.rows * 16}\n",
                   getenv("SOURCE"), getenv("SOURCE"), getenv("SOURCE"));
    (void)snprintf(program, sizeof program, "%s/program", explore_folder);
    (void)snprintf(database, sizeof database, "%s/train.sqlite", explore_folder);
    assert_int_equal(cnnvp_write_text(program, program_text, sizeof program_text - 1, &error), CNNVP_DONE);
    assert_int_equal(chmod(program, 0755), 0);
    assert_int_equal(cnnvp_sweep_new(explore_write_spec(text), &sweep, &error), CNNVP_DONE);
    const struct cnnvp_sweep_options options = {
        .struct_size = sizeof options, .results = database, .jobs = 2, .program = program};
    if (cnnvp_sweep_run(sweep, &options, &done, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_true(done.finished == 2 && done.failed == 1 && done.found == 0);
    assert_int_equal(cnnvp_results_open(database, 0, &results, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_results_each(results, " args total ", take_row, seen, &error), CNNVP_DONE);
    assert_true(seen[0] == 1 && seen[1] == 1);
    cnnvp_results_close(results);
    cnnvp_sweep_free(sweep);
    (void)unlink(program);
    (void)unlink(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_train)};
    return cmocka_run_group_tests(tests, explore_case_begin, explore_case_end);
}
