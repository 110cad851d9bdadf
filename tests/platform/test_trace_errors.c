/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of models that report nonsense, and files that cannot be written. */
#include "machine.h"
#include "trace_support.h"
#include "vcd_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- what a model gets wrong ---- */

static void overlapping_spans_are_put_one_behind_the_other(void **state)
{
    static const char expected[] =
        "1 pe_array/conv begin a layer= ps=1000-9000 flow=0\n"
        "9 pe_array/conv end\n"
        "9 pe_array/conv begin b layer= ps=9000-9000 flow=0\n"
        "9 pe_array/conv end\n"
        "9 pe_array/conv begin c layer= ps=9000-12000 flow=0\n"
        "12 pe_array/conv end\n"
        "20 pe_array/conv begin d layer= ps=20000-20000 flow=0\n"
        "20 pe_array/conv end\n";
    struct perfetto_result result;
    char list[LIST_BYTES] = "";
    size_t size;
    cnnvp_recorder *recorder = make(path("overlap.pftrace"));
    char *data;

    (void)state;
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "a", 0, 0, 1000, 9000);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "b", 0, 0, 2000, 3000);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "c", 0, 0, 4000, 12000);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "d", 0, 0, 20000, 5); /* ends before it begins */
    cnnvp_recorder_span(recorder, ARRAY, 99, "e", 0, 0, 1, 2);             /* no such track */
    cnnvp_recorder_span(recorder, INSTANCES, 0, "e", 0, 0, 1, 2);
    cnnvp_recorder_level(recorder, ARRAY, ARRAY_MEM, 1, 1); /* not an interrupt */
    finish(recorder, 30000);
    data = content("overlap.pftrace", &size);
    if (!perfetto_check(data, size, list_event, list, &result))
        fail_msg("%s", result.error);
    assert_string_equal(list, expected);
    free(data);
}

static void late_values_are_put_in_order(void **state)
{
    static const char expected[] =
        "10 dram/queue 2 requests\n"
        "20 dram/queue 3 requests\n"
        "30 dram/queue 1 requests\n";
    struct perfetto_result result;
    char list[LIST_BYTES] = "";
    size_t size;
    cnnvp_recorder *recorder = make(path("late.pftrace"));
    char *data;

    (void)state;
    cnnvp_recorder_counter(recorder, DRAM, DRAM_QUEUE, 30000, 1);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_QUEUE, 10000, 2);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_QUEUE, 20000, 3);
    finish(recorder, 30000);
    data = content("late.pftrace", &size);
    if (!perfetto_check(data, size, list_event, list, &result))
        fail_msg("%s", result.error);
    assert_string_equal(list, expected);
    free(data);
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

/* ---- files that cannot be written ---- */

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
        cmocka_unit_test_teardown(overlapping_spans_are_put_one_behind_the_other, remove_files),
        cmocka_unit_test_teardown(late_values_are_put_in_order, remove_files),
        cmocka_unit_test_teardown(an_empty_run_gives_valid_files, remove_files),
        cmocka_unit_test_teardown(names_that_cannot_work_are_refused_at_once, remove_files),
        cmocka_unit_test_teardown(a_full_disk_is_reported_and_leaves_nothing, remove_files),
        cmocka_unit_test_teardown(a_full_disk_while_recording_is_reported, remove_files),
    };

    return cmocka_run_group_tests_name("trace_errors", tests, set_up, tear_down);
}
