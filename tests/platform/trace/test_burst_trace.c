/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts as three programs read them. */
#include "burst_trace.h"
#include "machine.h"
#include "trace_support.h"

#include "test.h"

static void expect(const char *name, const char *expected)
{
    struct cnnvp_burst_trace *trace = NULL;
    struct cnnvp_error error;
    size_t size;
    assert_int_equal(cnnvp_burst_trace_new(machine(), path(name), &trace, &error), CNNVP_DONE);
    cnnvp_burst_trace_add(trace, DRAM, 833, 1, ARRAY, 0, CNNVP_READ, 0x40);
    cnnvp_burst_trace_add(trace, BUFFER_A, 834, 1, ARRAY, 0, CNNVP_READ, 0x7777); /* another memory */
    cnnvp_burst_trace_add(trace, DRAM, 1666, 2, ELEMENT, 4, CNNVP_WRITE, UINT64_C(0x123456780));
    cnnvp_burst_trace_reset(trace, 2000);
    cnnvp_burst_trace_add(trace, DRAM, 2499, 3, INSTANCES, 1, CNNVP_READ, 0);
    assert_int_equal(file_count(), 0);
    assert_int_equal(cnnvp_burst_trace_finish(trace, 5000, &error), CNNVP_DONE);
    char *text = content(name, &size);
    const char *line = *text == '#' ? strchr(text, '\n') + 1 : text;
    assert_string_equal(line, expected);
    free(text);
}

static void three_forms(void **state)
{
    (void)state;
    expect("bursts.txt",
           "R 0x40 833 # pe_array\nW 0x123456780 1666 # instruction 3\nZ 2000\nR 0x0 2499 # - 0\nE 5000\n");
    assert_int_equal(remove_files(state), 0);
    expect("bursts.ramulator2", "LD 0x40\nST 0x123456780\nLD 0x0\n");
    assert_int_equal(remove_files(state), 0);
    expect("bursts.dramsim3", "0x40 READ 1\n0x123456780 WRITE 2\n0x0 READ 3\n");
}

static void nothing_half_written_stays(void **state)
{
    struct cnnvp_burst_trace *trace = NULL;
    struct cnnvp_error error;
    (void)state;
    assert_int_equal(cnnvp_burst_trace_new(machine(), path("bursts.txt"), &trace, &error), CNNVP_DONE);
    cnnvp_burst_trace_add(trace, DRAM, 833, 1, ARRAY, 0, CNNVP_READ, 0x40);
    cnnvp_burst_trace_free(trace);
    cnnvp_burst_trace_free(NULL);
    assert_int_equal(file_count(), 0);
    assert_int_not_equal(cnnvp_burst_trace_new(machine(), path("none/bursts.txt"), &trace, &error), CNNVP_DONE);
    assert_non_null(strstr(error.text, "none/bursts.txt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(three_forms, remove_files),
        cmocka_unit_test_teardown(nothing_half_written_stays, remove_files),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
