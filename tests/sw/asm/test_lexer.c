/* SPDX-License-Identifier: Apache-2.0 */
/* Lines, names and comments, and places in messages. */
#include "asm_case.h"

#include "lexer.h"

static struct asm_lexer lexer_of(const char *text, struct cnnvp_error *error)
{
    return (struct asm_lexer){.file = "t.s", .line = text, .at = text, .number = 1, .error = error};
}

static void expect_name(struct asm_lexer *lexer, const char *expected)
{
    cnnvp_asm_blanks(lexer);
    const struct asm_name name = cnnvp_asm_name(lexer);
    if (expected == NULL) {
        assert_null(name.text);
        return;
    }
    assert_int_equal(name.length, strlen(expected));
    assert_memory_equal(name.text, expected, name.length);
}

static void test_pieces(void **state)
{
    (void)state;
    struct cnnvp_error error;
    struct asm_lexer lexer = lexer_of(" \t_a1 , b2\r\n9c / x", &error);
    expect_name(&lexer, "_a1");
    assert_int_equal(cnnvp_asm_take(&lexer, ';'), 0);
    assert_int_equal(cnnvp_asm_take(&lexer, ','), 1);
    assert_int_equal(cnnvp_asm_line_done(&lexer), 0);
    expect_name(&lexer, "b2");
    assert_int_equal(cnnvp_asm_line_done(&lexer), 1);
    assert_int_equal(cnnvp_asm_next_line(&lexer), 1);
    assert_int_equal(lexer.number, 2);
    expect_name(&lexer, NULL); /* a digit begins no name */
    assert_int_equal(cnnvp_asm_take(&lexer, '9'), 1);
    expect_name(&lexer, "c");
    assert_int_equal(cnnvp_asm_line_done(&lexer), 0); /* one / begins no comment */
    assert_int_equal(cnnvp_asm_take(&lexer, '/'), 1);
    expect_name(&lexer, "x");
    assert_int_equal(cnnvp_asm_next_line(&lexer), 0);
}

/* A comment lasts to the end of its line. */
static void test_comments(void **state)
{
    (void)state;
    static const char *const comments[] = {"; a", "# a ; b", "// a", ";"};
    for (size_t i = 0; i < COUNT(comments); ++i) {
        char text[32];
        struct cnnvp_error error;
        (void)snprintf(text, sizeof text, "  %s\nnext", comments[i]);
        struct asm_lexer lexer = lexer_of(text, &error);
        expect_name(&lexer, NULL);
        assert_int_equal(cnnvp_asm_line_done(&lexer), 1);
        assert_int_equal(cnnvp_asm_next_line(&lexer), 1);
        expect_name(&lexer, "next");
    }
}

static void test_places(void **state)
{
    (void)state;
    struct cnnvp_error error;
    struct asm_lexer lexer = lexer_of("a\n\n bc d", &error);
    assert_int_equal(cnnvp_asm_next_line(&lexer), 1);
    assert_int_equal(cnnvp_asm_next_line(&lexer), 1);
    cnnvp_asm_blanks(&lexer);
    const struct asm_name name = cnnvp_asm_name(&lexer);
    assert_int_equal(cnnvp_asm_fail(&lexer, name.text, "no %s", "way"), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "t.s:3:2: no way");
    cnnvp_asm_blanks(&lexer);
    assert_int_equal(cnnvp_asm_fail(&lexer, lexer.at, "here"), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "t.s:3:5: here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_comments),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
