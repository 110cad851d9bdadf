/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a file for callgrind's readers. */
#include "profile_case.h"
#include "read_file.h"

#include <unistd.h>

/* Without the folder of the source, which is where the tree is. */
static char *read_profile(void)
{
    size_t size;
    char *text = read_file(PROFILE_FILE, &size);

    assert_non_null(text);
    char *slash = strchr(text, '/');
    if (slash != NULL) {
        char *name = strstr(slash, "two_functions.S");
        assert_non_null(name);
        memmove(slash, name, strlen(name) + 1);
    }
    return text;
}

/* Costs: cycles, instructions, stalls, sleep. A name is written once. */
static void the_file_in_full(void **state)
{
    static const char expected[] =
        "events: Cycles Instructions Stalls Sleep\n"
        "summary: 19 8 11 0\n\n"
        "ob=(1) two_functions\n\n"
        "fl=(1) two_functions.S\n"
        "fn=(1) _start\n"
        "0x10000 6 3 1 2 0\n"
        "0x10004 7 1 1 0 0\n"
        "cfi=(1)\n"
        "cfn=(2) twice\n"
        "calls=1 0x10010 12\n"
        "0x10004 7 5 2 3 0\n"
        "0x10008 8 1 1 0 0\n"
        "cfi=(1)\n"
        "cfn=(2)\n"
        "calls=1 0x10010 12\n"
        "0x10008 8 7 2 5 0\n"
        "0x1000c 9 2 1 1 0\n\n"
        "fl=(1)\n"
        "fn=(2)\n"
        "0x10010 12 10 2 8 0\n"
        "0x10014 13 2 2 0 0\n";
    struct cnnvp_error error = {""};

    (void)state;
    profile_run();
    assert_int_equal(cnnvp_profile_finish(profile, &error), CNNVP_DONE);
    char *text = read_profile();
    assert_memory_equal(text, "# callgrind format\nversion: 1\n", 30);
    assert_string_equal(strstr(text, "events:"), expected);
    free(text);
}

static void it_is_written_once(void **state)
{
    struct cnnvp_error error = {""};

    (void)state;
    profile_run();
    assert_int_equal(cnnvp_profile_finish(profile, &error), CNNVP_DONE);
    assert_int_equal(unlink(PROFILE_FILE), 0);
    assert_int_equal(cnnvp_profile_finish(profile, &error), CNNVP_DONE);
    assert_int_equal(access(PROFILE_FILE, F_OK), -1);
}

/* No program has come. */
static void without_a_program_there_is_no_file(void **state)
{
    struct cnnvp_error error = {""};

    (void)state;
    (void)cnnvp_profile_profiler(profile, NULL, NULL);
    assert_int_equal(cnnvp_profile_finish(profile, &error), CNNVP_DONE);
    assert_int_equal(access(PROFILE_FILE, F_OK), -1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, profile_case_set_up, profile_case_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_file_in_full),
        CASE(it_is_written_once),
        CASE(without_a_program_there_is_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
