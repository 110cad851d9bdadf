/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines, read back by the strict reader of this folder. */
#include "cnnvp_isa.h"
#include "machine.h"
#include "trace_support.h"

#include <inttypes.h>

#include "test.h"

static void small_timeline_in_full(void **state)
{
    static const char expected[] =
        "0 instruction/issue begin issue layer=C1 ps=0-1000 flow=9 phase=forward\n"
        "0 input_buffer/features 5 feature_words\n"
        "1 instruction/issue end\n"
        "1 pe_array/conv begin conv layer=C1 ps=1500-4700 flow=9 phase=forward\n"
        "1 input_buffer/features 0 feature_words\n"
        "4 pe_array/conv end\n"
        "4 pe_array/conv begin max layer=S2 ps=4700-4900 flow=0 phase=forward\n"
        "4 pe_array/conv end\n"
        "4 pe_array/irq 1 \n"
        "6 pe_array/irq 0 \n"
        "100 links/pe_array to dram 10000000000 bytes/s\n"
        "200 links/pe_array to dram 10000000 bytes/s\n"
        "300 links/pe_array to dram 0 bytes/s\n"
        "400 links/pe_array to dram 20000000 bytes/s\n"
        "500 links/pe_array to dram 0 bytes/s\n";
    cnnvp_recorder *recorder = make(path("small.pftrace"));

    (void)state;
    feed_small(recorder);
    finish(recorder, 777000);
    expect_events("small.pftrace", expected);
}

/* Spans of a command's flow on the unit that has it say what it works on, and where its bytes are from. */
static void spans_say_what_they_are_about(void **state)
{
    static const char expected[] =
        "0 dram/queue 1 requests\n"
        "1 pe_array/conv begin receive layer=C1 ps=1000-2000 flow=7 phase=forward weight_buffer_half=1 "
        "memory_addr=4196 "
        "buffer_addr=32 row_bytes=6 rows=5 memory_row_stride=8 buffer_row_stride=10 planes=2 memory_plane_stride=64 "
        "buffer_plane_stride=99 feature_words=4294967295 bytes=60 tensor=map tensor_kind=input tensor_offset=100 "
        "channel=9 image=1\n"
        "2 pe_array/conv end\n"
        "2 pe_array/conv begin other layer= ps=2000-3000 flow=8\n"
        "3 instruction/issue begin element's layer= ps=3000-4000 flow=7\n"
        "3 pe_array/conv end\n"
        "4 instruction/issue end\n"
        "4 pe_array/conv begin of pairs layer=C1 ps=4000-5000 flow=9 phase=forward weight_buffer_half=1 "
        "memory_addr=4206 "
        "buffer_addr=32 row_bytes=6 rows=5 memory_row_stride=8 buffer_row_stride=10 planes=2 memory_plane_stride=64 "
        "buffer_plane_stride=99 feature_words=4294967295 bytes=60 tensor=map tensor_kind=input tensor_offset=110 "
        "channel=9 image=1\n"
        "5 pe_array/conv end\n";
    static const struct cnnvp_layer_info layer = {"C1", "conv", "forward", 1, 0, 0};
    static const struct cnnvp_place_info places[] = {
        {"unused", NULL, 0, 4096, 0, 0, 0, 0}, {"map", "input", 4136, 200, 40, 40, 10, 7}};
    const struct cnnvp_work_info work = {
        .struct_size = sizeof work, .layers = &layer, .layer_count = 1, .places = places, .place_count = 2};
    struct cnnvp_command command = {
        .opcode = CNNVP_OPCODE_receive,
        .status = 1u << CNNVP_STATUS_receive_buffer,
        .halves = CNNVP_HALF_WEIGHT,
        .count = sizeof(struct cnnvp_transfer) / 4u,
        .sequence = 7,
        .descriptor = {4196, 32, 6, 5, 8, 10, 2, 64, 99, UINT32_MAX}};
    cnnvp_recorder *recorder = make(path("about.pftrace"));

    (void)state;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &work), CNNVP_DONE);
    cnnvp_recorder_about(recorder, ARRAY, &command);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "receive", 1, 7, 1000, 2000);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "other", 0, 8, 2000, 3000);
    cnnvp_recorder_span(recorder, ELEMENT, 0, "element's", 0, 7, 3000, 4000);
    command.sequence = 9;
    command.immediate = 2; /* channels lie interleaved */
    command.descriptor[0] += 10u;
    cnnvp_recorder_about(recorder, ARRAY, &command);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "of pairs", 1, 9, 4000, 5000);
    command.count = CNNVP_DESCRIPTOR_MAX + 1u; /* no such command */
    cnnvp_recorder_about(recorder, ARRAY, &command);
    cnnvp_recorder_counter(recorder, DRAM, 0, 0, 1);
    finish(recorder, 5000);
    expect_events("about.pftrace", expected);
}

static void calls_are_nested_slices(void **state)
{
    static const char expected[] =
        "1 dram/functions begin main layer= ps=0-0 flow=0\n"
        "2 dram/functions begin work layer= ps=0-0 flow=0\n"
        "2 dram/functions begin trap layer= ps=0-0 flow=0\n"
        "3 dram/functions end\n"
        "4 dram/functions end\n"
        "5 dram/functions begin work layer= ps=0-0 flow=0\n"
        "6 dram/functions begin 0x00000400 layer= ps=0-0 flow=0\n"
        "9 dram/functions end\n"
        "9 dram/functions end\n"
        "9 dram/functions end\n";
    cnnvp_recorder *recorder = make(path("calls.pftrace"));

    (void)state;
    feed_calls(recorder);
    expect_events("calls.pftrace", expected);
}

static void sum_events(void *context, const struct perfetto_event *event)
{
    struct trace_sums *sums = context;

    if (event->type == 1) {
        assert_int_equal(event->time_ns, event->begin_ps / 1000);
        assert_true(event->end_ps >= event->begin_ps);
        ++sums->begins;
        sums->busy_ps += event->end_ps - event->begin_ps;
        sums->flows += event->flow != 0;
    } else if (strcmp(event->parent, "links") == 0) {
        /* The integral of the bandwidth is the bytes that were moved. */
        sums->bytes += sums->link_value * (event->time_ns - sums->link_time) / 1000000000u;
        sums->link_time = event->time_ns;
        sums->link_value = (uint64_t)event->value;
    }
}

static void random_timeline_holds_all_that_was_fed(void **state)
{
    struct perfetto_result result;
    struct trace_sums sums = {0};
    uint64_t ends[2] = {0, 0};
    uint64_t busy = 0;
    uint64_t bytes = 0;
    uint64_t flows = 0;
    size_t size;
    char *data;

    (void)state;
    run_random("random.pftrace");
    data = content("random.pftrace", &size);
    if (!perfetto_check(data, size, sum_events, &sums, &result))
        fail_msg("%s", result.error);
    free(data);
    /* What feed_random drew. */
    random_state = RANDOM_SEED;
    for (uint32_t i = 0; i < SPANS; ++i) {
        uint32_t track = (uint32_t)random_below(2);
        uint64_t begin = ends[track] + random_below(3) * random_below(2000);
        uint64_t end = begin + random_below(3) * random_below(5000);

        if (begin > 3000)
            (void)random_below(3000);
        (void)random_below(5);
        (void)random_below(70000);
        flows += random_below(2) * random_state != 0;
        if (random_below(4))
            (void)random_below(1000);
        ends[track] = end;
        busy += end - begin;
        (void)random_below(2);
        bytes += random_below(5000);
        bytes += random_below(50);
    }
    assert_int_equal(sums.begins, SPANS);
    assert_int_equal(sums.busy_ps, busy);
    assert_int_equal(sums.flows, flows);
    assert_int_equal(sums.bytes, bytes);
}

/* Values at the limits of what fits into 32 bits, as the differences that they are. */
static void all_values_of_a_counter_are_read_back(void **state)
{
    static const uint64_t values[] = {
        0,
        1,
        UINT64_C(1) << 31,
        1,
        UINT64_C(1) << 32,
        (UINT64_C(1) << 31) - 1,
        INT64_MAX,
        INT64_MAX - (UINT64_C(1) << 31),
        5};
    static const uint64_t times[] = {
        0,
        1000,
        1001000,
        UINT64_C(4294967295000),
        UINT64_C(4294969000000),
        UINT64_C(8589936295000),
        UINT64_C(8589936296000),
        UINT64_C(18446744073000000)};
    enum { VALUES = sizeof values / sizeof values[0], TIMES = sizeof times / sizeof times[0] };
    cnnvp_recorder *recorder = make(path("values.pftrace"));
    char expected[LIST_BYTES] = "";
    size_t length = 0;

    (void)state;
    for (size_t i = 0; i < VALUES; ++i) {
        const uint64_t at = times[i < TIMES ? i : TIMES - 1];

        cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, at, values[i]);
        length +=
            (size_t)snprintf(expected + length, sizeof expected - length,
                             "%" PRIu64 " input_buffer/features %" PRIu64 " feature_words\n", at / 1000, values[i]);
    }
    finish(recorder, UINT64_MAX);
    expect_events("values.pftrace", expected);
}

/* A counter keeps its value; what says the same again is not worth an event. */
static void a_value_is_written_once(void **state)
{
    cnnvp_recorder *recorder = make(path("once.pftrace"));

    (void)state;
    for (uint64_t i = 0; i < 6; ++i)
        cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, 1000 * i, i / 3);
    finish(recorder, 10000);
    expect_events("once.pftrace", "0 input_buffer/features 0 feature_words\n3 input_buffer/features 1 feature_words\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(small_timeline_in_full, remove_files),
        cmocka_unit_test_teardown(spans_say_what_they_are_about, remove_files),
        cmocka_unit_test_teardown(calls_are_nested_slices, remove_files),
        cmocka_unit_test_teardown(random_timeline_holds_all_that_was_fed, remove_files),
        cmocka_unit_test_teardown(all_values_of_a_counter_are_read_back, remove_files),
        cmocka_unit_test_teardown(a_value_is_written_once, remove_files),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
