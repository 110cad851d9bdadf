/* SPDX-License-Identifier: Apache-2.0 */
/* Time series of a trace for the report page. */
#include "machine.h"
#include "trace_support.h"

#include <jansson.h>

#include "test.h"

static json_t *series_of(const char *file)
{
    size_t size;
    char *text = content(file, &size);
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);

    assert_non_null(root);
    free(text);
    return root;
}

static void small_series_in_full(void **state)
{
    static const char expected[] =
        "{\"schema\":\"cnnvp-series/1\",\"end_ps\":777000,\"window_ps\":759,\"names\":[\"issue\",\"conv\",\"max\"],\n"
        "\"streams\":["
        "{\"kind\":\"track\",\"unit\":\"instruction\",\"name\":\"issue\",\"begin\":[0],\"length\":[1000],"
        "\"busy\":[1000],\"text\":[0],\"tag\":[1],\"count\":[1]},\n"
        "{\"kind\":\"track\",\"unit\":\"pe_array\",\"name\":\"conv\",\"begin\":[1500,4700],\"length\":[3200,200],"
        "\"busy\":[3200,200],\"text\":[1,2],\"tag\":[1,2],\"count\":[1,1]},\n"
        "{\"kind\":\"counter\",\"unit\":\"input_buffer\",\"name\":\"features\",\"of\":\"feature_words\","
        "\"window\":[0,1],\"min\":[5,0],\"max\":[5,0],\"last\":[5,0],\"mean\":[5,4.881422925]},\n"
        "{\"kind\":\"link\",\"unit\":\"pe_array\",\"name\":\"dram\",\"window\":[131,263,395,527,658],"
        "\"min\":[10000000000,10000000,0,20000000,0],\"max\":[10000000000,10000000,0,20000000,0],"
        "\"last\":[10000000000,10000000,0,20000000,0],\"mean\":[2476943347,5051067194,2569169.96,19815546.77,15230566."
        "53]}]}\n";
    cnnvp_recorder *recorder = make(path("small.series"));
    size_t size;

    (void)state;
    feed_small(recorder);
    finish(recorder, 777000);
    char *text = content("small.series", &size);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(text, expected, size);
    free(text);
}

/* Of a window the least, the most, the last value and the mean over its 1000 ps. */
static void values_share_a_window(void **state)
{
    cnnvp_recorder *recorder = make(path("window.series"));

    (void)state;
    for (uint64_t i = 0; i < 4; ++i)
        cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, 10 * i, (uint64_t[]){5, 9, 2, 7}[i]);
    cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, 1023999, 1);
    finish(recorder, 1023999);
    json_t *root = series_of("window.series");
    json_t *stream = json_array_get(json_object_get(root, "streams"), 0);
    char *text = json_dumps(stream, JSON_COMPACT);
    assert_string_equal(text, "{\"kind\":\"counter\",\"unit\":\"input_buffer\",\"name\":\"features\","
                              "\"of\":\"feature_words\",\"window\":[0,1023],\"min\":[2,1],\"max\":[9,1],"
                              "\"last\":[7,1],\"mean\":[6.9500000000000002,6.9939999999999998]}");
    free(text);
    json_decref(root);
}

/* Names from a file may have any bytes; JSON is UTF-8. */
static void names_are_utf8(void **state)
{
    cnnvp_recorder *recorder = make(path("names.series"));

    (void)state;
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV,
                        "\xff"
                        "C\xe9",
                        0, 0, 0, 10);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "\xc3\xa9", 0, 0, 10, 20);
    finish(recorder, 20);
    json_t *root = series_of("names.series");
    const json_t *names = json_object_get(root, "names");
    assert_string_equal(json_string_value(json_array_get(names, 0)), "?C?");
    assert_string_equal(json_string_value(json_array_get(names, 1)), "\xc3\xa9");
    json_decref(root);
}

static json_int_t sum_of(const json_t *stream, const char *member)
{
    json_int_t sum = 0;
    const json_t *list = json_object_get(stream, member);

    for (size_t i = 0; i < json_array_size(list); ++i)
        sum += json_integer_value(json_array_get(list, i));
    return sum;
}

/* More than 20000 spans: fewer stay, which stand for all, and no time is lost; what is far away stays alone. */
static void many_spans_are_joined(void **state)
{
    const uint64_t count = 50001, far = 1000 * count;
    cnnvp_recorder *recorder = make(path("many.series"));

    (void)state;
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t begin = 1000 * i + (i == count - 1 ? far : 0);
        cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, i % 2 ? "odd" : "even", 1, 0, begin, begin + 600);
    }
    cnnvp_recorder_span(recorder, ARRAY, TRACK_VECTOR, "relu", 1, 0, 0, 7);
    finish(recorder, 2 * far);
    json_t *root = series_of("many.series");
    const json_t *streams = json_object_get(root, "streams");
    const json_t *conv = json_array_get(streams, 0);
    const size_t spans = json_array_size(json_object_get(conv, "begin"));
    assert_true(spans > 1000 && spans < 20000);
    assert_int_equal(sum_of(conv, "count"), count);
    assert_int_equal(sum_of(conv, "busy"), 600 * count);
    assert_int_equal(sum_of(conv, "length"), 1000 * count - 400 * spans);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(conv, "length"), spans - 1)), 600);
    assert_int_equal(sum_of(json_array_get(streams, 1), "length"), 7);
    json_decref(root);
}

#define CASE(test) cmocka_unit_test_teardown(test, remove_files)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(small_series_in_full),
        CASE(values_share_a_window),
        CASE(names_are_utf8),
        CASE(many_spans_are_joined),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
