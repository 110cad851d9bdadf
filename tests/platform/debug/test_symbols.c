/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and lines of a program with debugging information. */
#include "profile_case.h"

static void assert_function(uint32_t address, const char *name, uint32_t begin)
{
    uint32_t found = 0;

    assert_string_equal(cnnvp_symbols_function(profile_symbols, address, &found), name);
    assert_int_equal(found, begin);
}

/* Up to the next one. */
static void functions_begin_at_their_symbols(void **state)
{
    uint32_t begin = 77;

    (void)state;
    assert_function(TEXT, "_start", TEXT);
    assert_function(TWICE - 1, "_start", TEXT);
    assert_function(TWICE, "twice", TWICE);
    assert_function(TWICE + 0x100, "twice", TWICE);
    assert_null(cnnvp_symbols_function(profile_symbols, TEXT - 1, &begin));
    assert_int_equal(begin, 77);
}

static void assert_line(uint32_t address, uint32_t line)
{
    const char *file = "";

    assert_int_equal(cnnvp_symbols_line(profile_symbols, address, &file), line);
    if (line == 0)
        assert_null(file);
    else
        assert_string_equal(strrchr(file, '/'), "/two_functions.S");
}

static void lines_are_those_of_the_source(void **state)
{
    (void)state;
    assert_line(TEXT - 1, 0);
    assert_line(TEXT, 6);
    assert_line(TEXT + 3, 6);
    assert_line(TEXT + 4, 7);
    assert_line(TWICE, 12);
    assert_line(TWICE + 7, 13);
    assert_line(TWICE + 8, 0); /* the sequence has ended */
}

/* As for a program of which only functions are asked. */
static void without_lines_none_is_known(void **state)
{
    struct cnnvp_error error;
    struct cnnvp_elf *elf;
    const char *file = "";

    (void)state;
    assert_int_equal(cnnvp_elf_read(TWO_FUNCTIONS, &elf, &error), CNNVP_DONE);
    cnnvp_symbols_free(profile_symbols);
    profile_symbols = cnnvp_symbols_new(elf, 0);
    cnnvp_elf_free(elf);
    assert_line(TEXT, 0);
    assert_function(TWICE + 4, "twice", TWICE);
    assert_int_equal(cnnvp_symbols_line(profile_symbols, TEXT, &file), 0);
    cnnvp_symbols_free(NULL);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, profile_case_set_up, profile_case_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(functions_begin_at_their_symbols),
        CASE(lines_are_those_of_the_source),
        CASE(without_lines_none_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
