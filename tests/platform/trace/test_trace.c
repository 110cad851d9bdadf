/* SPDX-License-Identifier: Apache-2.0 */
/* Files that cannot be written, and that tracing changes nothing. */
#include "machine.h"
#include "trace_record.h"
#include "trace_support.h"
#include "vcd_check.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static void tracing_changes_no_statistic(void **state)
{
    cnnvp_recorder *with = make(path("with.vcd"));
    cnnvp_recorder *without = make(NULL);
    uint64_t last;
    char *texts[2];

    (void)state;
    (void)cnnvp_recorder_link(with, ARRAY, DRAM);
    (void)cnnvp_recorder_link(without, ARRAY, DRAM);
    feed_random(with, NULL, &last);
    feed_random(without, NULL, &last);
    assert_int_equal(cnnvp_stats_json(&with->stats, last, 0, &texts[0]), CNNVP_DONE);
    assert_int_equal(cnnvp_stats_json(&without->stats, last, 0, &texts[1]), CNNVP_DONE);
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
    cnnvp_recorder_free(with);
    cnnvp_recorder_free(without);
    /* Not finished: no file. */
    assert_int_equal(file_count(), 0);
}

static void an_empty_run_gives_valid_files(void **state)
{
    struct perfetto_result timeline;
    struct vcd_result waveform;
    size_t size;
    char *data;

    (void)state;
    finish(make(path("empty.vcd")), 0);
    data = content("empty.vcd", &size);
    if (!vcd_check(data, size, NULL, NULL, &waveform))
        fail_msg("%s", waveform.error);
    assert_int_equal(waveform.changes, 0);
    free(data);
    finish(make(path("empty.pftrace")), 0);
    data = content("empty.pftrace", &size);
    assert_true(perfetto_check(data, size, NULL, NULL, &timeline));
    assert_int_equal(timeline.events, 0);
    free(data);
}

static void names_that_cannot_work_are_refused_at_once(void **state)
{
    static const char *const names[] = {"a.json", "a", ".vcd/", "missing/a.vcd", "pftrace"};
    cnnvp_recorder *recorder;
    struct cnnvp_error error;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        assert_int_equal(cnnvp_recorder_new(machine(), path(names[i]), 0, &recorder, &error), CNNVP_BAD_INPUT);
        assert_null(recorder);
        assert_non_null(strstr(error.text, path(names[i])));
        if (strchr(names[i], '/') == NULL) {
            assert_non_null(strstr(error.text, ".pftrace"));
            assert_non_null(strstr(error.text, ".vcd"));
        }
    }
    assert_int_equal(mkdir(path("folder.vcd"), 0777), 0);
    assert_int_equal(cnnvp_recorder_new(machine(), path("folder.vcd"), 0, &recorder, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "folder"));
    assert_int_equal(rmdir(path("folder.vcd")), 0);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_is_reported_and_leaves_nothing(void **state)
{
    struct cnnvp_error error = {""};
    uint64_t last;
    cnnvp_recorder *recorder = make(path("full.vcd"));

    (void)state;
    feed_random(recorder, NULL, &last);
    limit_files(100000);
    assert_int_equal(cnnvp_recorder_finish(recorder, last, &error), CNNVP_FAILED);
    limit_files(RLIM_INFINITY);
    assert_non_null(strstr(error.text, "full.vcd"));
    assert_non_null(strstr(error.text, "File too large"));
    assert_int_equal(file_count(), 0);
    cnnvp_recorder_free(recorder);
}

static void a_full_disk_while_recording_is_reported(void **state)
{
    struct cnnvp_error error = {""};
    struct cnnvp_trace *trace;
    uint64_t last;

    (void)state;
    assert_int_equal(cnnvp_trace_new(machine(), path("full.pftrace"), &trace, &error), CNNVP_DONE);
    trace->memory_limit = 0;
    limit_files(100000);
    feed_random(NULL, trace, &last);
    limit_files(RLIM_INFINITY);
    assert_int_equal(cnnvp_trace_finish(trace, last, &error), CNNVP_FAILED);
    assert_non_null(strstr(error.text, "full.pftrace"));
    assert_non_null(strstr(error.text, "File too large"));
    cnnvp_trace_free(trace);
    assert_int_equal(file_count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(tracing_changes_no_statistic, remove_files),
        cmocka_unit_test_teardown(an_empty_run_gives_valid_files, remove_files),
        cmocka_unit_test_teardown(names_that_cannot_work_are_refused_at_once, remove_files),
        cmocka_unit_test_teardown(a_full_disk_is_reported_and_leaves_nothing, remove_files),
        cmocka_unit_test_teardown(a_full_disk_while_recording_is_reported, remove_files),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
