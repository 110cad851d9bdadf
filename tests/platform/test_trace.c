/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of the recorder, read back by the strict readers of this folder. */
#include "machine.h"
#include "trace_record.h"
#include "trace_support.h"
#include "vcd_check.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a small run, compared in full ---- */

static void feed_small(cnnvp_recorder *recorder)
{
    static const struct cnnvp_layer_info layers[] = {
        {"C1", "conv", "forward", 1, 0, 0}, {"S2", "pool", "forward", 1, 0, 0}};
    const struct cnnvp_work_info work = {.struct_size = sizeof work, .layers = layers, .layer_count = 2};
    uint32_t link;

    assert_int_equal(cnnvp_recorder_describe(recorder, &work), CNNVP_DONE);
    link = cnnvp_recorder_link(recorder, ARRAY, DRAM);
    cnnvp_recorder_span(recorder, ELEMENT, 0, "issue", 1, 9, 0, 1000);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "conv", 1, 9, 1500, 4700);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "max", 2, 0, 4700, 4900);
    cnnvp_recorder_level(recorder, ARRAY, ARRAY_IRQ, 4900, 1);
    cnnvp_recorder_level(recorder, ARRAY, ARRAY_IRQ, 6000, 0);
    cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, 0, 5);
    cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, 1500, 0);
    /* 100 ns windows: 1000 bytes are 10 GB/s. */
    transfer(recorder, link, 120000, 600, 0);
    transfer(recorder, link, 199999, 0, 400);
    transfer(recorder, link, 200000, 1, 0);
    transfer(recorder, link, 450000, 2, 0);
}

static const char small_vcd[] =
    "$version cnnvp " CNNVP_VERSION " $end\n"
    "$timescale 1 ps $end\n"
    "$scope module test_platform $end\n"
    "$scope module instruction $end\n"
    "$var wire 1 ! issue_busy $end\n"
    "$var reg 32 \" issue_spans $end\n"
    "$var reg 16 # issue_layer $end\n"
    "$var reg 256 $ issue_op $end\n"
    "$upscope $end\n"
    "$scope module pe_array $end\n"
    "$var wire 1 % conv_busy $end\n"
    "$var reg 32 & conv_spans $end\n"
    "$var reg 16 ' conv_layer $end\n"
    "$var reg 256 ( conv_op $end\n"
    "$var wire 1 ) vector_unit_busy $end\n"
    "$var reg 32 * vector_unit_spans $end\n"
    "$var reg 16 + vector_unit_layer $end\n"
    "$var reg 256 , vector_unit_op $end\n"
    "$var wire 1 - irq $end\n"
    "$upscope $end\n"
    "$scope module input_buffer $end\n"
    "$var reg 64 . features $end\n"
    "$var reg 64 / feature_bytes $end\n"
    "$upscope $end\n"
    "$scope module output_buffer $end\n"
    "$var reg 64 0 features $end\n"
    "$var reg 64 1 feature_bytes $end\n"
    "$upscope $end\n"
    "$scope module dram $end\n"
    "$var reg 64 2 queue $end\n"
    "$var reg 64 3 bandwidth $end\n"
    "$var reg 256 4 functions $end\n"
    "$upscope $end\n"
    "$scope module links $end\n"
    "$var reg 64 5 pe_array_to_dram $end\n"
    "$upscope $end\n"
    "$upscope $end\n"
    "$enddefinitions $end\n"
    "#0\n"
    "$dumpvars\n"
    "1!\nb1 \"\nb1 #\nb0110100101110011011100110111010101100101 $\n"
    "0%\nb0 &\nb0 '\nb0 (\n0)\nb0 *\nb0 +\nb0 ,\n0-\nb101 .\nb0 /\nb0 0\nb0 1\nb0 2\nb0 3\nb0 4\nb0 5\n"
    "$end\n"
    "#1000\n0!\nb0 #\nb0 $\n"
    "#1500\n1%\nb1 &\nb1 '\nb01100011011011110110111001110110 (\nb0 .\n"
    /* One span ends, the next begins: busy stays 1, spans counts. */
    "#4700\nb10 '\nb011011010110000101111000 (\nb10 &\n"
    "#4900\n0%\nb0 '\nb0 (\n1-\n"
    "#6000\n0-\n"
    "#100000\nb1001010100000010111110010000000000 5\n"
    "#200000\nb100110001001011010000000 5\n"
    "#300000\nb0 5\n"
    "#400000\nb1001100010010110100000000 5\n"
    "#500000\nb0 5\n"
    "#777000\n";

static void small_waveform_in_full(void **state)
{
    struct vcd_result result;
    size_t size;
    cnnvp_recorder *recorder = make(path("small.vcd"));
    char *text;

    (void)state;
    feed_small(recorder);
    assert_int_equal(file_count(), 0);
    finish(recorder, 777000);
    assert_int_equal(file_count(), 1);
    text = content("small.vcd", &size);
    assert_string_equal(text, small_vcd);
    if (!vcd_check(text, size, NULL, NULL, &result))
        fail_msg("%s", result.error);
    free(text);
}

static void small_timeline_in_full(void **state)
{
    static const char expected[] =
        "0 instruction/issue begin issue layer=C1 ps=0-1000 flow=9\n"
        "0 input_buffer/features 5 feature_words\n"
        "1 instruction/issue end\n"
        "1 pe_array/conv begin conv layer=C1 ps=1500-4700 flow=9\n"
        "1 input_buffer/features 0 feature_words\n"
        "4 pe_array/conv end\n"
        "4 pe_array/conv begin max layer=S2 ps=4700-4900 flow=0\n"
        "4 pe_array/conv end\n"
        "4 pe_array/irq 1 \n"
        "6 pe_array/irq 0 \n"
        "100 links/pe_array to dram 10000000000 bytes/s\n"
        "200 links/pe_array to dram 10000000 bytes/s\n"
        "300 links/pe_array to dram 0 bytes/s\n"
        "400 links/pe_array to dram 20000000 bytes/s\n"
        "500 links/pe_array to dram 0 bytes/s\n";
    struct perfetto_result result;
    char list[LIST_BYTES] = "";
    size_t size;
    cnnvp_recorder *recorder = make(path("small.pftrace"));
    char *data;

    (void)state;
    feed_small(recorder);
    finish(recorder, 777000);
    data = content("small.pftrace", &size);
    if (!perfetto_check(data, size, list_event, list, &result))
        fail_msg("%s", result.error);
    assert_string_equal(list, expected);
    free(data);
}

/* ---- calls ---- */

static const char *function_at(const void *context, uint64_t address)
{
    (void)context;
    return address == 0x100 ? "main" : address == 0x200 ? "work" : address == 0x300 ? "trap" : NULL;
}

static void call(cnnvp_recorder *recorder, uint64_t at, uint64_t address)
{
    cnnvp_recorder_counter(recorder, DRAM, DRAM_FUNCTIONS, at, address ? address | UINT64_C(1) << 32 : 0);
}

static void feed_calls(cnnvp_recorder *recorder)
{
    cnnvp_recorder_set_functions(recorder, function_at, NULL);
    call(recorder, 1000, 0); /* nothing is open */
    call(recorder, 1000, 0x100);
    call(recorder, 2000, 0x200);
    call(recorder, 2000, 0x300);
    call(recorder, 3000, 0);
    call(recorder, 4000, 0);
    call(recorder, 5000, 0x200);
    call(recorder, 6000, 0x400);
    finish(recorder, 9000);
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
    struct perfetto_result result;
    char list[LIST_BYTES] = "";
    cnnvp_recorder *recorder = make(path("calls.pftrace"));
    size_t size;
    char *data;

    (void)state;
    feed_calls(recorder);
    data = content("calls.pftrace", &size);
    if (!perfetto_check(data, size, list_event, list, &result))
        fail_msg("%s", result.error);
    assert_string_equal(list, expected);
    free(data);
}

static void list_functions(void *context, uint64_t time, const char *name, const char *value)
{
    char *list = context;
    size_t length = strlen(list);
    char text[40] = "";

    if (strstr(name, ".functions") == NULL)
        return;
    for (size_t i = 0; value[0] != '0' && i < (strlen(value) + 7) / 8; ++i)
        for (size_t bit = 0; bit < 8; ++bit) {
            size_t place = 8 * i + bit + strlen(value);
            size_t whole = (strlen(value) + 7) / 8 * 8;

            text[i] = (char)(text[i] << 1 | (place >= whole && value[place - whole] == '1'));
        }
    snprintf(list + length, LIST_BYTES - length, "%" PRIu64 " %s\n", time, text);
}

static void the_innermost_call_is_a_signal(void **state)
{
    struct vcd_result result;
    char list[LIST_BYTES] = "";
    cnnvp_recorder *recorder = make(path("calls.vcd"));
    size_t size;
    char *text;

    (void)state;
    feed_calls(recorder);
    text = content("calls.vcd", &size);
    if (!vcd_check(text, size, list_functions, list, &result))
        fail_msg("%s", result.error);
    assert_string_equal(list, "0 \n1000 main\n2000 trap\n3000 work\n4000 main\n5000 work\n6000 0x00000400\n9000 \n");
    free(text);
}

/* ---- long random runs ---- */

static void run_random(const char *file)
{
    uint64_t last;
    cnnvp_recorder *recorder = make(path(file));

    (void)cnnvp_recorder_link(recorder, ARRAY, DRAM);
    feed_random(recorder, NULL, &last);
    finish(recorder, last);
}

struct sums {
    uint64_t begins;
    uint64_t busy_ps;
    uint64_t bytes;
    uint64_t flows;
    uint64_t changes;
    uint64_t window_ns;
    uint64_t link_time;
    uint64_t link_value;
};

static void sum_events(void *context, const struct perfetto_event *event)
{
    struct sums *sums = context;

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
    struct sums sums = {0};
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

static void sum_changes(void *context, uint64_t time, const char *name, const char *value)
{
    struct sums *sums = context;

    (void)time;
    if (strcmp(name, "test_platform.pe_array.conv_spans") == 0)
        sums->begins = strtoull(value, NULL, 2);
    else if (strcmp(name, "test_platform.pe_array.vector_unit_spans") == 0)
        sums->flows = strtoull(value, NULL, 2);
}

static void random_waveform_is_valid(void **state)
{
    struct vcd_result result;
    struct sums sums = {0};
    size_t size;
    char *text;

    (void)state;
    run_random("random.vcd");
    text = content("random.vcd", &size);
    if (!vcd_check(text, size, sum_changes, &sums, &result))
        fail_msg("%s", result.error);
    assert_int_equal(sums.begins + sums.flows, SPANS);
    free(text);
}

static const char *plain_layer(const void *context, uint32_t tag, char *buffer, size_t size)
{
    (void)context;
    snprintf(buffer, size, "tag_%" PRIu32, tag);
    return buffer;
}

/* The same events with a memory limit of some chunks: all the rest goes through the file. */
static void a_spilled_recording_gives_the_same_file(void **state)
{
    static const char *const suffixes[] = {"pftrace", "vcd"};
    struct cnnvp_error error;

    (void)state;
    for (int i = 0; i < 2; ++i) {
        struct cnnvp_trace *trace;
        char name[32];
        uint64_t last;
        size_t size;
        size_t spilled_size;
        char *data;
        char *spilled;

        snprintf(name, sizeof name, "kept.%s", suffixes[i]);
        run_random(name);
        data = content(name, &size);
        snprintf(name, sizeof name, "spilled.%s", suffixes[i]);
        assert_int_equal(cnnvp_trace_new(machine(), path(name), &trace, &error), CNNVP_DONE);
        trace->memory_limit = 3 * CNNVP_CHUNK_BYTES;
        trace->layer_name = plain_layer;
        cnnvp_trace_link(trace, 0, ARRAY, DRAM);
        feed_random(NULL, trace, &last);
        assert_true(trace->spill_size > 0);
        assert_true(trace->memory_used <= trace->memory_limit);
        cnnvp_trace_links_finish(trace, last);
        assert_int_equal(cnnvp_trace_finish(trace, last, &error), CNNVP_DONE);
        cnnvp_trace_free(trace);
        spilled = content(name, &spilled_size);
        assert_int_equal(size, spilled_size);
        assert_memory_equal(data, spilled, size);
        free(data);
        free(spilled);
    }
    assert_int_equal(file_count(), 4);
}

static void the_same_run_gives_the_same_bytes(void **state)
{
    size_t sizes[2];
    char *data[2];

    (void)state;
    run_random("first.pftrace");
    run_random("second.pftrace");
    data[0] = content("first.pftrace", &sizes[0]);
    data[1] = content("second.pftrace", &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(data[0], data[1], sizes[0]);
    free(data[0]);
    free(data[1]);
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
    struct perfetto_result result;
    char list[LIST_BYTES] = "", expected[LIST_BYTES] = "";
    size_t size, length = 0;
    char *data;

    (void)state;
    for (size_t i = 0; i < VALUES; ++i) {
        const uint64_t at = times[i < TIMES ? i : TIMES - 1];

        cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, at, values[i]);
        length +=
            (size_t)snprintf(expected + length, sizeof expected - length,
                             "%" PRIu64 " input_buffer/features %" PRIu64 " feature_words\n", at / 1000, values[i]);
    }
    finish(recorder, UINT64_MAX);
    data = content("values.pftrace", &size);
    if (!perfetto_check(data, size, list_event, list, &result))
        fail_msg("%s", result.error);
    assert_string_equal(list, expected);
    free(data);
}

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

/* A counter keeps its value; what says the same again is not worth an event. */
static void a_value_is_written_once(void **state)
{
    cnnvp_recorder *recorder = make(path("once.pftrace"));
    struct perfetto_result result;
    char list[LIST_BYTES] = "";
    size_t size;
    char *data;

    (void)state;
    for (uint64_t i = 0; i < 6; ++i)
        cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, 1000 * i, i / 3);
    finish(recorder, 10000);
    data = content("once.pftrace", &size);
    if (!perfetto_check(data, size, list_event, list, &result))
        fail_msg("%s", result.error);
    assert_string_equal(list, "0 input_buffer/features 0 feature_words\n3 input_buffer/features 1 feature_words\n");
    free(data);
}

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
    assert_int_equal(cnnvp_recorder_json(with, last, 0, &texts[0]), CNNVP_DONE);
    assert_int_equal(cnnvp_recorder_json(without, last, 0, &texts[1]), CNNVP_DONE);
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
    cnnvp_recorder_free(with);
    cnnvp_recorder_free(without);
    /* Not finished: no file. */
    assert_int_equal(file_count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(small_waveform_in_full, remove_files),
        cmocka_unit_test_teardown(small_timeline_in_full, remove_files),
        cmocka_unit_test_teardown(calls_are_nested_slices, remove_files),
        cmocka_unit_test_teardown(the_innermost_call_is_a_signal, remove_files),
        cmocka_unit_test_teardown(random_timeline_holds_all_that_was_fed, remove_files),
        cmocka_unit_test_teardown(random_waveform_is_valid, remove_files),
        cmocka_unit_test_teardown(a_spilled_recording_gives_the_same_file, remove_files),
        cmocka_unit_test_teardown(the_same_run_gives_the_same_bytes, remove_files),
        cmocka_unit_test_teardown(all_values_of_a_counter_are_read_back, remove_files),
        cmocka_unit_test(pairs_are_read_back),
        cmocka_unit_test_teardown(a_value_is_written_once, remove_files),
        cmocka_unit_test_teardown(tracing_changes_no_statistic, remove_files),
    };

    return cmocka_run_group_tests_name("trace", tests, set_up, tear_down);
}
