/* SPDX-License-Identifier: Apache-2.0 */
/* What a core's calls and instructions leave in a profile. */
#include "profile_case.h"

static const struct profile_arc *arc_of(uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < profile->arc_count; ++i)
        if (profile->arcs[i]->key.from == from && profile->arcs[i]->key.to == to)
            return profile->arcs[i];
    fail_msg("no call from %x to %x", (unsigned)from, (unsigned)to);
    return NULL;
}

/* An instruction's calls of one function are one; each has what happened until it returned. */
static void calls_have_what_they_took(void **state)
{
    (void)state;
    profile_run();
    profile_leave(); /* nothing is open */
    assert_int_equal(profile->arc_count, 3);
    assert_int_equal(arc_of(0, TEXT)->cost.cycles, 3 + 1 + 5 + 1 + 7 + 2);
    assert_int_equal(arc_of(TEXT + 4, TWICE)->cost.cycles, 5);
    assert_int_equal(arc_of(TEXT + 8, TWICE)->cost.cycles, 7);
    assert_int_equal(arc_of(TEXT + 8, TWICE)->cost.stalls, 5);
    profile_run();
    assert_int_equal(profile->arc_count, 3);
    assert_int_equal(arc_of(TEXT + 8, TWICE)->calls, 2);
    assert_int_equal(arc_of(TEXT + 8, TWICE)->cost.instructions, 4);
}

/* The tables grow, and find every page and call again. */
static void thousands_of_pages_and_calls(void **state)
{
    (void)state;
    for (uint32_t pass = 0; pass < 2; ++pass) {
        for (uint32_t i = 0; i < 3000; ++i) {
            profile_execute(i * CNNVP_PROFILE_PAGE, 1);
            profile_call(4 * i, TWICE);
            profile_leave();
        }
    }
    assert_int_equal(profile->page_count, 3000);
    assert_int_equal(profile->arc_count, 3000);
    for (uint32_t i = 0; i < 3000; ++i) {
        assert_int_equal(arc_of(4 * i, TWICE)->calls, 2);
        assert_int_equal(profiler->page(profiler->context, i * CNNVP_PROFILE_PAGE)->cycles, 2);
    }
}

/* Calls deeper than the stack are not told, and their returns close no others. */
static void deeper_calls_are_left_out(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PROFILE_DEPTH + 2; ++i)
        profile_call(TEXT + 4, TWICE);
    profile_execute(TWICE, 9);
    profile_leave();
    profile_leave();
    assert_int_equal(arc_of(TEXT + 4, TWICE)->calls, 0);
    profile_leave();
    assert_int_equal(arc_of(TEXT + 4, TWICE)->calls, 1);
    assert_int_equal(arc_of(TEXT + 4, TWICE)->cost.cycles, 9);
}

static void a_file_that_cannot_be_is_refused(void **state)
{
    struct cnnvp_error error = {""};
    struct cnnvp_profile *none = profile;

    (void)state;
    assert_int_equal(cnnvp_profile_new("no_such_folder/profile", &none, &error), CNNVP_BAD_INPUT);
    assert_null(none);
    assert_non_null(strstr(error.text, "no_such_folder"));
    cnnvp_profile_free(none);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, profile_case_set_up, profile_case_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(calls_have_what_they_took),
        CASE(thousands_of_pages_and_calls),
        CASE(deeper_calls_are_left_out),
        CASE(a_file_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
