/* SPDX-License-Identifier: Apache-2.0 */
/* What tracks and counters have said last, fed by the recorder, and nothing where it is not kept. */

#include "test.h"

#include "machine.h"
#include "recorder.h"

static cnnvp_recorder *make(void)
{
    struct cnnvp_error error;
    cnnvp_recorder *recorder = NULL;
    assert_int_equal(cnnvp_recorder_new(machine(), NULL, 0, &recorder, &error), CNNVP_DONE);
    return recorder;
}

static void test_last_of_each(void **state)
{
    struct cnnvp_error error;
    cnnvp_recorder *recorder = make();
    (void)state;
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "early", 1, 0, 0, 10);
    assert_null(recorder->snapshot);
    assert_int_equal(cnnvp_recorder_keep_snapshot(recorder, &error), CNNVP_DONE);
    const struct cnnvp_snapshot *snapshot = recorder->snapshot;
    assert_null(cnnvp_snapshot_get_span(snapshot, ARRAY, TRACK_CONV)->name);
    assert_int_equal(cnnvp_snapshot_get_counter(snapshot, DRAM, DRAM_QUEUE), 0);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "conv", 1, 0, 10, 20);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_VECTOR, "relu", 2, 0, 5, 7);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "pool", 3, 0, 20, 35);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_QUEUE, 4, 17);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_BANDWIDTH, 4, 18);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_QUEUE, 6, 3);
    const struct cnnvp_snapshot_span *span = cnnvp_snapshot_get_span(snapshot, ARRAY, TRACK_CONV);
    assert_string_equal(span->name, "pool");
    assert_int_equal(span->tag, 3);
    assert_int_equal(span->begin, 20);
    assert_int_equal(span->end, 35);
    assert_string_equal(cnnvp_snapshot_get_span(snapshot, ARRAY, TRACK_VECTOR)->name, "relu");
    assert_int_equal(cnnvp_snapshot_get_counter(snapshot, DRAM, DRAM_QUEUE), 3);
    assert_int_equal(cnnvp_snapshot_get_counter(snapshot, DRAM, DRAM_BANDWIDTH), 18);
    cnnvp_recorder_free(recorder);
}

/* Numbers that no table has are ignored, and answered with nothing. */
static void test_wrong_numbers(void **state)
{
    struct cnnvp_error error;
    cnnvp_recorder *recorder = make();
    (void)state;
    assert_int_equal(cnnvp_recorder_keep_snapshot(recorder, &error), CNNVP_DONE);
    const struct cnnvp_snapshot *snapshot = recorder->snapshot;
    cnnvp_recorder_counter(recorder, 1000, 0, 4, 5);
    cnnvp_recorder_counter(recorder, DRAM, 1000, 4, 5);
    assert_null(cnnvp_snapshot_get_span(snapshot, 1000, 0));
    assert_null(cnnvp_snapshot_get_span(snapshot, ARRAY, 1000));
    assert_int_equal(cnnvp_snapshot_get_counter(snapshot, 1000, 0), 0);
    assert_int_equal(cnnvp_snapshot_get_counter(snapshot, DRAM, 1000), 0);
    cnnvp_recorder_free(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_of_each),
        cmocka_unit_test(test_wrong_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
