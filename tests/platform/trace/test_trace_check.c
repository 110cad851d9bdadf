/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of traces must refuse what is broken, or the tests that use them prove nothing. */
#include "perfetto_check.h"
#include "vcd_check.h"

#include "test.h"

#define HEAD "$timescale 1 ps $end\n$scope module top $end\n$var wire 1 ! a $end\n$var reg 4 \" n $end\n$upscope $end\n"
#define START "$enddefinitions $end\n#0\n$dumpvars\n0!\nb0 \"\n$end\n"

static int check(const char *text, struct vcd_result *result)
{
    return vcd_check(text, strlen(text), NULL, NULL, result);
}

static void a_valid_dump_passes(void **state)
{
    struct vcd_result result;

    (void)state;
    assert_true(check(HEAD START "#5\n1!\nb101 \"\n#9\n0!\n#12\n", &result));
    assert_int_equal(result.signals, 2);
    assert_int_equal(result.changes, 3);
    assert_int_equal(result.end_time, 12);
}

static void broken_dumps_are_refused(void **state)
{
    static const struct {
        const char *text;
        const char *reason;
    } broken[] = {
        {HEAD START "#5\n1!\n#5\n0!\n", "does not grow"},
        {HEAD START "#5\n1!\n#4\n0!\n", "does not grow"},
        {HEAD START "#5\n#6\n1!\n", "nothing changed"},
        {HEAD START "#5\n1?\n", "not been declared"},
        {HEAD START "#5\nb10000 \"\n", "width"},
        {HEAD START "#5\n1\"\n", "width"},
        {HEAD START "#5\nb1 !\n", "width"},
        {HEAD START "#5\nb12 \"\n", "value expected"},
        {HEAD START "#5\n0!\n", "changes nothing"},
        {HEAD START "#5\n1!\n0!\n", "second value"},
        {HEAD START "#5\n1!", "last line"},
        {HEAD START "#x\n1!\n", "not a number"},
        {HEAD START "#99999999999999999999\n1!\n", "too large"},
        {HEAD START "hello\n", "value expected"},
        {HEAD "$enddefinitions $end\n#0\n1!\n", "$dumpvars expected"},
        {HEAD "$enddefinitions $end\n#0\n$dumpvars\n0!\n$end\n", "no first value"},
        {HEAD "$enddefinitions $end\n#0\n$dumpvars\n0!\nb0 \"\n", "no $end"},
        {HEAD, "no $enddefinitions"},
        {HEAD "$enddefinitions $end\n", "time expected"},
        {"$scope module top $end\n$upscope $end\n" START, "no $timescale"},
        {"$timescale 2 ps $end\n" START, "1, 10 or 100"},
        {"$timescale 1 fortnight $end\n" START, "unit of time"},
        {HEAD "$scope module open $end\n" START, "a scope is open"},
        {HEAD "$upscope $end\n" START, "no scope is open"},
        {HEAD "$scope module top $end\n$var wire 1 ! b $end\n$upscope $end\n" START, "identifier declared twice"},
        {HEAD "$scope module top $end\n$var wire 1 # a $end\n$upscope $end\n" START, "name declared twice"},
        {HEAD "$scope module top $end\n$var wire 0 # b $end\n$upscope $end\n" START, "width"},
        {HEAD "$scope module top $end\n$var wire 1 # c b $end\n$upscope $end\n" START, "$end expected"},
        {HEAD "$scope module top $end\n$var wire 1 # a-b $end\n$upscope $end\n" START, "not a name"},
        {HEAD "$var wire 1 # b $end\n" START, "outside all scopes"},
        {"", "no $enddefinitions"},
    };
    struct vcd_result result;

    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; ++i) {
        assert_false(check(broken[i].text, &result));
        if (strstr(result.error, broken[i].reason) == NULL)
            fail_msg("'%s' does not say '%s'", result.error, broken[i].reason);
    }
}

/* ---- Perfetto ---- */

/* Packets by hand: sequence 1; flags 1 for the first, then 2. */
#define NAME                                                   \
    "\x0a\x0d\x50\x01\x68\x01\x62\x07\x12\x05\x08\x01\x12\x01" \
    "x"
#define TRACK                                              \
    "\x0a\x0c\x50\x01\x68\x02\xe2\x03\x05\x08\x05\x12\x01" \
    "t"
#define BEGIN(time) "\x0a\x0e\x40" time "\x50\x01\x68\x02\x5a\x06\x48\x01\x58\x05\x50\x01"
#define END(time) "\x0a\x0c\x40" time "\x50\x01\x68\x02\x5a\x04\x48\x02\x58\x05"
#define END_WITHOUT_STATE(time) "\x0a\x0a\x40" time "\x50\x01\x5a\x04\x48\x02\x58\x05"
#define COUNTER(time) "\x0a\x0f\x40" time "\x50\x01\x68\x02\x5a\x07\x48\x04\x58\x05\xf0\x01\x01"

static int check_packets(const char *data, size_t size, struct perfetto_result *result)
{
    return perfetto_check(data, size, NULL, NULL, result);
}

static void a_valid_trace_passes(void **state)
{
    static const char data[] = NAME TRACK BEGIN("\x03") END("\x07") BEGIN("\x07") END_WITHOUT_STATE("\x07");
    struct perfetto_result result;

    (void)state;
    assert_true(check_packets(data, sizeof data - 1, &result));
    assert_int_equal(result.tracks, 1);
    assert_int_equal(result.events, 4);
    assert_int_equal(result.packets, 6);
}

static void broken_traces_are_refused(void **state)
{
#define CASE(text, reason)             \
    {                                  \
        text, sizeof(text) - 1, reason \
    }
    static const struct {
        const char *data;
        size_t size;
        const char *reason;
    } broken[] = {
        CASE(NAME TRACK BEGIN("\x03"), "does not end"),
        CASE(NAME TRACK END("\x03"), "has not begun"),
        CASE(NAME TRACK BEGIN("\x03") BEGIN("\x04") END("\x05") END("\x06"), "inside another"),
        CASE(NAME TRACK BEGIN("\x03") END("\x02"), "backwards"),
        CASE(NAME BEGIN("\x03") END("\x04"), "track has not been described"),
        CASE(NAME TRACK TRACK, "used twice"),
        CASE(NAME NAME, "used twice"),
        CASE(TRACK, "cleared first"),
        CASE(NAME TRACK COUNTER("\x03"), "does not fit the track"),
        CASE(NAME TRACK "\x0a\x0c\x40\x03\x50\x01\x5a\x06\x48\x01\x58\x05\x50\x01", "does not say it needs state"),
        CASE("\x12\x01\x00", "not a packet"),
    };
    static const char valid[] = NAME TRACK BEGIN("\x03") END("\x07");
    struct perfetto_result result;

    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; ++i) {
        assert_false(check_packets(broken[i].data, broken[i].size, &result));
        if (strstr(result.error, broken[i].reason) == NULL)
            fail_msg("case %zu: '%s' does not say '%s'", i, result.error, broken[i].reason);
    }
    /* A file that is cut anywhere inside a packet. */
    for (size_t size = 1; size < sizeof valid - 1; ++size)
        if (size != sizeof NAME - 1 && size != sizeof NAME TRACK - 1)
            assert_false(check_packets(valid, size, &result));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_valid_dump_passes),
        cmocka_unit_test(broken_dumps_are_refused),
        cmocka_unit_test(a_valid_trace_passes),
        cmocka_unit_test(broken_traces_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
