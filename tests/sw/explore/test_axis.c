/* SPDX-License-Identifier: Apache-2.0 */
/* What a parameter varies over: ranges, lists and times that are wrong. */

#include "test.h"

#include "explore_case.h"

static void test_errors(void **state)
{
    static const struct explore_error cases[] = {
        /* from line 3 on */
        {"parameters: {pe_array.rows: []}", ":3:29: pe_array.rows: an empty list"},
        {"parameters: {pe_array.rows: {from: 8, to: 4, step: 1}}", ":3:36: pe_array.rows: an empty range"},
        {"parameters: {pe_array.rows: {from: 8, to: 12, step: 0}}", ":3:53: pe_array.rows: a step above 0"},
        {"parameters: {pe_array.rows: {from: 8, to: 12}}",
         ":3:29: pe_array.rows: a range is {from: A, to: B, step: S}"},
        {"parameters: {pe_array.rows: {log2: [64, 4]}}", ":3:36: pe_array.rows: an empty range"},
        {"parameters: {pe_array.rows: {log2: [3, 4]}}", ":3:37: pe_array.rows: a power of two"},
        {"parameters: {pe_array.rows: [8, 1000]}", ":3:33: pe_array.rows: \"1000\" is out of range: 1 to 64"},
        {"parameters: {pe_array.rows: {log2: [32, 128]}}", ":3:36: pe_array.rows: \"128\" is out of range"},
        {"parameters: {pe_array.rows: [8, 8]}", ":3:33: pe_array.rows: \"8\" is there twice"},
        {"parameters: {input_buffer.size: [64KiB, 65536]}", ":3:41: input_buffer.size: \"65536\" is there twice"},
        {"parameters: {dram.preset: [ddr9]}", ":3:28: dram.preset: \"ddr9\" is not one of ddr3-1600"},
        {"parameters: {dram.preset: {log2: [1, 2]}}", ":3:27: dram.preset: has no order"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        explore_check_error(explore_with_network(cases[i].text), &cases[i]);
}

static void test_times(void **state)
{
    (void)state;
    assert_true(cnnvp_time_parse("1.5ms") == UINT64_C(1500000000));
    assert_true(cnnvp_time_parse("2s") == UINT64_C(2000000000000));
    assert_true(cnnvp_time_parse("2") == 0 && cnnvp_time_parse("0s") == 0 && cnnvp_time_parse("-1s") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors), cmocka_unit_test(test_times)};
    return cmocka_run_group_tests(tests, explore_case_begin, explore_case_end);
}
