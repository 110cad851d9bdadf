/* SPDX-License-Identifier: Apache-2.0 */
/* Records as they are kept and read back: pairs of differences, what came late or overlaps. */
#include "machine.h"
#include "trace_record.h"
#include "trace_support.h"

#include <inttypes.h>

#include "test.h"

/* Each pair of differences comes back, in few bytes where both are small. */
static void pairs_are_read_back(void **state)
{
    static const uint64_t edges[] = {0, 1, INT32_MAX, UINT32_MAX - 1, UINT32_MAX, INT64_MAX, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < 3 * 3 * 49; ++i) {
        const struct cnnvp_pair pair = {edges[i % 7] + i / 49 % 3 - 1, edges[i / 7 % 7] + i / 147 - 1};
        unsigned char bytes[CNNVP_RECORD_BYTES];
        const unsigned char *end = cnnvp_pair_put(bytes, pair);
        struct cnnvp_pair read;

        assert_ptr_equal(cnnvp_pair_get(bytes, &read), end);
        assert_int_equal(read.time, pair.time);
        assert_int_equal(read.number, pair.number);
    }
}

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
    cnnvp_recorder *recorder = make(path("overlap.pftrace"));

    (void)state;
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "a", 0, 0, 1000, 9000);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "b", 0, 0, 2000, 3000);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "c", CNNVP_MAX_TAG + 1u, 0, 4000, 12000); /* of no layer */
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "d", 0, 0, 20000, 5); /* ends before it begins */
    cnnvp_recorder_span(recorder, ARRAY, 99, "e", 0, 0, 1, 2);             /* no such track */
    cnnvp_recorder_span(recorder, INSTANCES, 0, "e", 0, 0, 1, 2);
    cnnvp_recorder_level(recorder, ARRAY, ARRAY_MEM, 1, 1); /* not an interrupt */
    finish(recorder, 30000);
    expect_events("overlap.pftrace", expected);
}

static void late_values_are_put_in_order(void **state)
{
    static const char expected[] =
        "10 dram/queue 2 requests\n"
        "20 dram/queue 3 requests\n"
        "30 dram/queue 1 requests\n";
    cnnvp_recorder *recorder = make(path("late.pftrace"));

    (void)state;
    cnnvp_recorder_counter(recorder, DRAM, DRAM_QUEUE, 30000, 1);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_QUEUE, 10000, 2);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_QUEUE, 20000, 3);
    finish(recorder, 30000);
    expect_events("late.pftrace", expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_read_back),
        cmocka_unit_test_teardown(overlapping_spans_are_put_one_behind_the_other, remove_files),
        cmocka_unit_test_teardown(late_values_are_put_in_order, remove_files),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
