/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed at once, messages with places, suggestions. */

#include "test.h"

#include "base/base.h"

/* Pieces of all sizes, from nothing to more than a chunk, are zeroed, aligned and apart. */
static void memory_is_apart(void **state)
{
    (void)state;
    enum { PIECES = 300 };
    struct cnnvp_arena arena = {0};
    unsigned char *pieces[PIECES];
    for (size_t i = 0; i < PIECES; ++i) {
        const size_t size = i * i % 4099 + (i == 150 ? 100000 : 0);
        pieces[i] = cnnvp_arena_alloc(&arena, size);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        for (size_t j = 0; j < size; ++j)
            assert_int_equal(pieces[i][j], 0);
        memset(pieces[i], (int)(i % 255 + 1), size);
    }
    for (size_t i = 0; i < PIECES; ++i)
        for (size_t j = 0; j < i * i % 4099; ++j)
            assert_int_equal(pieces[i][j], i % 255 + 1);
    assert_false(arena.failed);
    assert_null(cnnvp_arena_alloc(&arena, SIZE_MAX));
    assert_true(arena.failed);
    arena.failed = 0;
    assert_null(cnnvp_arena_array(&arena, SIZE_MAX / 4, 8)); /* the product would not fit */
    assert_true(arena.failed);
    assert_string_equal(cnnvp_arena_copy(&arena, "abc", 2), "ab");
    assert_string_equal(cnnvp_arena_printf(&arena, "%s%d", "x", 12), "x12");
    cnnvp_arena_free(&arena);
    assert_null(arena.chunk);
}

static void folders_of_paths(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"a/b/c.yaml", "a/b"}, {"c.yaml", "."}, {"/c.yaml", "/"}, {"./c", "."}};
    struct cnnvp_arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        assert_string_equal(cnnvp_config_folder(&arena, cases[i][0]), cases[i][1]);
    cnnvp_arena_free(&arena);
}

static void messages_have_places(void **state)
{
    (void)state;
    struct cnnvp_error error;
    assert_int_equal(cnnvp_config_error(&error, "a:1:2", "%d is wrong", 3), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "a:1:2: 3 is wrong");
    assert_int_equal(cnnvp_config_error(&error, "", "alone"), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "alone");
    char place[2 * sizeof error.text];
    memset(place, 'p', sizeof place - 1);
    place[sizeof place - 1] = '\0';
    assert_int_equal(cnnvp_config_error(&error, place, "lost"), CNNVP_BAD_INPUT);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_int_equal(cnnvp_config_error(NULL, "a", "b"), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_config_no_memory(&error), CNNVP_FAILED);
}

static const char *suggestion(struct cnnvp_suggest *suggest, const char *wanted)
{
    static const char *const names[] = {"rows", "columns", "depth", NULL};
    cnnvp_suggest_begin(suggest, wanted);
    for (size_t i = 0; names[i]; ++i)
        cnnvp_suggest_offer(suggest, names[i]);
    return cnnvp_suggest_text(suggest, "there are");
}

/* Two changes in a short name, a third of a longer one; a swap of neighbours is one change, and case is none. */
static void near_names_are_suggested(void **state)
{
    (void)state;
    struct cnnvp_suggest suggest;
    assert_string_equal(suggestion(&suggest, "rosw"), "; did you mean \"rows\"?");
    assert_string_equal(suggestion(&suggest, "DEPHT"), "; did you mean \"depth\"?");
    assert_string_equal(suggestion(&suggest, "colum"), "; did you mean \"columns\"?");
    assert_string_equal(suggestion(&suggest, "oclumsn"), "; did you mean \"columns\"?");
    assert_string_equal(suggestion(&suggest, "col"), "; there are rows, columns, depth");
    assert_string_equal(suggestion(&suggest, "kolomms"), "; there are rows, columns, depth");
    assert_string_equal(suggestion(&suggest, ""), "; there are rows, columns, depth");
    cnnvp_suggest_begin(&suggest, "zzzzzzzz");
    assert_string_equal(cnnvp_suggest_text(&suggest, "there are"), "");
    for (int i = 0; i < 400; ++i)
        cnnvp_suggest_offer(&suggest, "aname");
    const char *list = cnnvp_suggest_text(&suggest, "there are");
    assert_true(strlen(list) < sizeof suggest.text);
    assert_string_equal(list + strlen(list) - 12, ", aname, ...");
}

/* Cut where a character begins; a text without such a place is cut too. */
static void shown_texts(void **state)
{
    (void)state;
    char text[200];
    for (size_t length = 0; length < sizeof text - 1; ++length)
        for (int escapes = 0; escapes < 2; ++escapes) {
            memset(text, 0x80, length);
            if (escapes && length >= 70)
                memset(text + 66, 0x01, 4);
            text[length] = '\0';
            const struct cnnvp_shown shown = cnnvp_config_show(text);
            const size_t used = strnlen(shown.text, sizeof shown.text);
            assert_true(used < sizeof shown.text);
            assert_int_equal(shown.text[0], '"');
            assert_int_equal(shown.text[used - 1], '"');
            assert_int_equal(strstr(shown.text, "...") != NULL, length >= (escapes ? 70u : 71u));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_apart),      cmocka_unit_test(folders_of_paths),
        cmocka_unit_test(messages_have_places), cmocka_unit_test(near_names_are_suggested),
        cmocka_unit_test(shown_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
