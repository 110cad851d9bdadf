/* SPDX-License-Identifier: Apache-2.0 */
/* Bandwidth of links in a trace: where the bytes of a transfer lie, and that none is lost. */
#include "machine.h"
#include "trace_support.h"

#include <inttypes.h>

#include "test.h"

__extension__ typedef unsigned __int128 wide; /* bandwidth times nanoseconds */

struct sums {
    uint64_t bytes;
    uint64_t highest;
    uint64_t time; /* of the last value, ns */
    uint64_t value;
};

static void sum_values(void *context, const struct perfetto_event *event)
{
    struct sums *sums = context;

    if (strcmp(event->parent, "links") != 0)
        return;
    /* A window's bandwidth times its length is whole. */
    assert_int_equal((wide)sums->value * (event->time_ns - sums->time) % 1000000000u, 0);
    sums->bytes += (uint64_t)((wide)sums->value * (event->time_ns - sums->time) / 1000000000u);
    sums->time = event->time_ns;
    sums->value = (uint64_t)event->value;
    if (sums->value > sums->highest)
        sums->highest = sums->value;
}

static void read_back(const char *file, perfetto_event_fn take, void *context)
{
    struct perfetto_result result;
    size_t size;
    char *data = content(file, &size);

    if (!perfetto_check(data, size, take, context, &result))
        fail_msg("%s", result.error);
    free(data);
}

static cnnvp_recorder *start(void)
{
    cnnvp_recorder *recorder = make(path("links.pftrace"));

    assert_int_equal(cnnvp_recorder_link(recorder, ARRAY, DRAM), 0);
    return recorder;
}

static void add(cnnvp_recorder *recorder, uint64_t flow, uint64_t begin, uint64_t end, uint64_t bytes)
{
    const struct cnnvp_link_bytes crossed = {flow, 0, begin, end, bytes, 0, CNNVP_NO_INSTANCE};

    cnnvp_recorder_transfer(recorder, 0, &crossed);
}

static void expect_list(cnnvp_recorder *recorder, uint64_t end, const char *expected)
{
    char list[LIST_BYTES] = "";

    finish(recorder, end);
    read_back("links.pftrace", list_event, list);
    assert_string_equal(list, expected);
}

/* 100 ns windows: 1000 bytes in one of them are 10 GB/s. */
static void a_transfer_is_spread_over_its_time(void **state)
{
    cnnvp_recorder *recorder = start();

    (void)state;
    add(recorder, 0, 150000, 350000, 2001);
    expect_list(recorder, 1000000,
                "100 links/pe_array to dram 5000000000 bytes/s\n"
                "200 links/pe_array to dram 10000000000 bytes/s\n"
                "300 links/pe_array to dram 5010000000 bytes/s\n"
                "400 links/pe_array to dram 0 bytes/s\n");
}

static void the_span_of_the_instruction_says_when(void **state)
{
    cnnvp_recorder *recorder = start();

    (void)state;
    add(recorder, 7, 0, 0, 4000);
    add(recorder, 8, 0, 0, 500);                                        /* its span never comes: its own time counts */
    cnnvp_recorder_span(recorder, ELEMENT, 0, "issue", 1, 7, 0, 50000); /* another unit's */
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "conv", 1, 7, 200000, 600000);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "conv", 1, 7, 600000, 900000); /* nothing is left for it */
    expect_list(
        recorder, 1000000,
        "0 instruction/issue begin issue layer=tag_1 ps=0-50000 flow=7\n"
        "0 links/pe_array to dram 5000000000 bytes/s\n"
        "50 instruction/issue end\n"
        "100 links/pe_array to dram 0 bytes/s\n"
        "200 pe_array/conv begin conv layer=tag_1 ps=200000-600000 flow=7\n"
        "200 links/pe_array to dram 10000000000 bytes/s\n"
        "600 pe_array/conv end\n"
        "600 pe_array/conv begin conv layer=tag_1 ps=600000-900000 flow=7\n"
        "600 links/pe_array to dram 0 bytes/s\n"
        "900 pe_array/conv end\n");
}

/* What two transfers at a time would carry together beyond the part's peak lies in the windows beside. */
static void a_part_never_carries_more_than_its_peak(void **state)
{
    cnnvp_recorder *recorder = start();

    (void)state;
    cnnvp_stats_count(&recorder->stats, DRAM, DRAM_BUS, 0, UINT64_C(12800000000)); /* 1280 bytes in a window */
    add(recorder, 0, 100000, 200000, 1000);
    add(recorder, 0, 100000, 200000, 1000);
    add(recorder, 0, 900000, 1000000, 2000);
    expect_list(recorder, 999999,
                "100 links/pe_array to dram 12800000000 bytes/s\n"
                "200 links/pe_array to dram 7200000000 bytes/s\n"
                "300 links/pe_array to dram 0 bytes/s\n"
                "900 links/pe_array to dram 12800000000 bytes/s\n"
                "1000 links/pe_array to dram 7200000000 bytes/s\n"
                "1100 links/pe_array to dram 0 bytes/s\n");
}

static void run_many(uint64_t stretch, struct sums *sums, uint64_t *bytes, uint64_t limit)
{
    cnnvp_recorder *recorder = start();
    uint64_t time = 0;

    *bytes = 0;
    random_state = RANDOM_SEED;
    if (limit)
        cnnvp_stats_count(&recorder->stats, DRAM, DRAM_BUS, 0, limit);
    for (uint64_t flow = 1; flow <= 20000; ++flow) {
        uint64_t begin = time + random_below(50000) * stretch;
        uint64_t end = begin + random_below(90000) * stretch;
        uint64_t moved = random_below(3) * random_below(UINT64_C(1) << random_below(20));

        add(recorder, random_below(2) * flow, begin, end, moved);
        if (random_below(3))
            cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "conv", 1, flow, begin + stretch, end + stretch);
        *bytes += moved;
        time += 60000 * stretch;
    }
    finish(recorder, time);
    *sums = (struct sums){.bytes = 0};
    read_back("links.pftrace", sum_values, sums);
    assert_int_equal(sums->value, 0);
}

/* Runs of 1 ms to 20 minutes: windows of 100 ns to 100 ms. */
static void no_byte_is_lost_or_added(void **state)
{
    (void)state;
    for (uint64_t stretch = 1; stretch <= 1000000; stretch *= 10) {
        struct sums sums;
        uint64_t bytes;

        run_many(stretch, &sums, &bytes, 0);
        assert_int_equal(sums.bytes, bytes);
    }
}

struct share {
    uint64_t begin; /* ps */
    uint64_t end;
    uint64_t bytes;
    struct sums sums;
    int wrong;
};

/* Where a value begins, all windows before hold together what the transfer's share says, rounded down. */
static void check_share(void *context, const struct perfetto_event *event)
{
    struct share *share = context;

    sum_values(&share->sums, event);
    const uint64_t now = share->sums.time * 1000;
    const wide part = now <= share->begin ? 0 : now >= share->end ? share->end - share->begin : now - share->begin;
    share->wrong += share->sums.bytes != (uint64_t)((wide)share->bytes * part / (share->end - share->begin));
}

static void each_window_holds_its_share(void **state)
{
    (void)state;
    random_state = RANDOM_SEED;
    for (unsigned trial = 0; trial < 60; ++trial) {
        const uint64_t begin = random_below(3000000), length = 1 + random_below(UINT64_C(1) << (8 + trial % 23));
        const struct share sent = {
            .begin = begin, .end = begin + length, .bytes = 1 + random_below(UINT64_C(1) << trial % 40)};
        struct share share = sent;
        cnnvp_recorder *recorder = start();

        add(recorder, 0, share.begin, share.end, share.bytes);
        finish(recorder, share.end + 1);
        read_back("links.pftrace", check_share, &share);
        assert_int_equal(share.wrong, 0);
        assert_int_equal(share.sums.bytes, share.bytes);
        remove_files(NULL);
    }
}

static void a_limit_loses_no_byte(void **state)
{
    struct sums sums;
    uint64_t bytes;

    (void)state;
    run_many(1, &sums, &bytes, UINT64_C(4000000000000));
    assert_int_equal(sums.bytes, bytes);
    assert_true(sums.highest <= UINT64_C(4000000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_transfer_is_spread_over_its_time, remove_files),
        cmocka_unit_test_teardown(the_span_of_the_instruction_says_when, remove_files),
        cmocka_unit_test_teardown(a_part_never_carries_more_than_its_peak, remove_files),
        cmocka_unit_test_teardown(no_byte_is_lost_or_added, remove_files),
        cmocka_unit_test_teardown(each_window_holds_its_share, remove_files),
        cmocka_unit_test_teardown(a_limit_loses_no_byte, remove_files),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
