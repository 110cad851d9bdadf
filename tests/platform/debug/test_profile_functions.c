/* SPDX-License-Identifier: Apache-2.0 */
/* A profile by function. */
#include "profile_case.h"

static struct cnnvp_profile_function functions[4], sum;

static void those_with_most_cycles_come_first(void **state)
{
    (void)state;
    profile_run();
    assert_int_equal(cnnvp_profile_functions(profile, functions, 4, &sum), 2);
    assert_string_equal(functions[0].name, "twice");
    assert_int_equal(functions[0].cycles, 12);
    assert_int_equal(functions[0].instructions, 4);
    assert_int_equal(functions[0].stall_cycles, 8);
    assert_int_equal(functions[0].calls, 2);
    assert_int_equal(functions[0].line, 12);
    assert_string_equal(functions[1].name, "_start");
    assert_int_equal(functions[1].cycles, 7); /* its own */
    assert_int_equal(functions[1].calls, 1);
    assert_int_equal(sum.cycles, 19);
    assert_int_equal(sum.calls, 3);
    assert_int_equal(cnnvp_profile_functions(profile, functions, 1, &sum), 2); /* asked again, with less room */
    assert_int_equal(sum.cycles, 19);
}

/* Before the first symbol a function is where a call leads to, or the first instruction of all. */
static void functions_without_a_symbol_are_addresses(void **state)
{
    (void)state;
    profile_execute(0x104, 2);
    profile_call(0x104, 0x200);
    profile_execute(0x202, 5);
    profile_leave();
    assert_int_equal(cnnvp_profile_functions(profile, functions, 4, &sum), 2);
    assert_string_equal(functions[0].name, "0x00000200");
    assert_null(functions[0].file);
    assert_int_equal(functions[0].cycles, 5);
    assert_string_equal(functions[1].name, "0x00000104");
    assert_int_equal(functions[1].calls, 0);
}

/* Calls that are open end there, and nothing is recorded after. */
static void asking_closes_the_profile(void **state)
{
    (void)state;
    profile_call(0, TEXT);
    profile_execute(TEXT, 3);
    profile_call(TEXT + 4, TWICE);
    profile_execute(TWICE, 4);
    assert_int_equal(cnnvp_profile_functions(profile, functions, 4, &sum), 2);
    assert_int_equal(sum.calls, 2);
    assert_int_equal(profile->arcs[0]->cost.cycles, 7);
    assert_int_equal(profile->arcs[1]->cost.cycles, 4);
    assert_null(profiler->page(profiler->context, TEXT));
    profile_call(TEXT + 8, TWICE);
    assert_int_equal(profile->arc_count, 2);
}

static void nothing_has_run(void **state)
{
    (void)state;
    assert_int_equal(cnnvp_profile_functions(profile, functions, 4, &sum), 0);
    assert_int_equal(sum.cycles, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, profile_case_set_up, profile_case_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(those_with_most_cycles_come_first),
        CASE(functions_without_a_symbol_are_addresses),
        CASE(asking_closes_the_profile),
        CASE(nothing_has_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
