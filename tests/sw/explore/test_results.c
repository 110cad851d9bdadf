/* SPDX-License-Identifier: Apache-2.0 */
/* Files of one point's result: what is written is read, what is cut is refused. */
#define _XOPEN_SOURCE 700
#include <unistd.h>

#include "test.h"

#include "explore_case.h"

static void test_result_files(void **state)
{
    static const char key[] = "0123456789abcdef0123456789abcdef";
    struct cnnvp_error error = {""};
    char params[] = "{\"a\":1}", stats[] = "{\"total\":{}}", message[] = "x: \"y\"\nz", file[200];
    struct cnnvp_row row = {.params = params, .stats = stats, .seconds = 0.25}, back;
    char *text = NULL;
    size_t size = 0;
    (void)state;
    memcpy(row.key, key, sizeof row.key);
    (void)snprintf(file, sizeof file, "%s/%s.result", explore_folder, key);
    assert_int_equal(cnnvp_result_write(explore_folder, &row, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_result_read(file, &back, &error), CNNVP_DONE);
    assert_string_equal(back.stats, stats);
    assert_string_equal(back.params, params);
    assert_true(!back.failed && back.error == NULL && back.seconds == 0.25);
    cnnvp_row_clear(&back);
    /* Cut anywhere, it is refused. */
    assert_int_equal(cnnvp_input_text(file, 1 << 20, &text, &size, &error), CNNVP_DONE);
    for (size_t cut = 0; cut < size; ++cut) {
        assert_int_equal(cnnvp_write_text(file, text, cut, &error), CNNVP_DONE);
        assert_int_equal(cnnvp_result_read(file, &back, &error), CNNVP_BAD_INPUT);
        cnnvp_row_clear(&back);
    }
    free(text);
    row.failed = 1;
    row.stats = NULL;
    row.error = message;
    assert_int_equal(cnnvp_result_write(explore_folder, &row, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_result_read(file, &back, &error), CNNVP_DONE);
    assert_true(back.failed && back.stats == NULL);
    assert_string_equal(back.error, message);
    cnnvp_row_clear(&back);
    (void)unlink(file);
}

/* Of the statistics in a database the wanted members come, each whole, and nothing of damaged ones. */
static void test_members(void **state)
{
    static const char key[] = "0123456789abcdef0123456789abcdef";
    static const char whole[] =
        "{\"schema\":\"cnnvp-stats/2\",\"a\":{\"last\":{\"b\":[1,{\"first\":2}]}},\"fir\":[],"
        "\"first\":{\"x\":[1.25,\"]\",{},true]},\"firstx\":{},\"c\":\"}],\\\"last\\\":3\","
        "\"last\":\"}\\\"\",\"number\":12345678901234567}";
    static const char wanted[] =
        "{\"first\":{\"x\":[1.25,\"]\",{},true]},\"last\":\"}\\\"\",\"number\":12345678901234567}";
    struct cnnvp_error error = {""};
    struct cnnvp_results *results = NULL;
    char params[] = "{}", stats[sizeof whole], database[200];
    struct cnnvp_row row = {.params = params, .stats = stats, .seconds = 0.5}, back;
    (void)state;
    memcpy(row.key, key, sizeof row.key);
    (void)snprintf(database, sizeof database, "%s/members.sqlite", explore_folder);
    assert_int_equal(cnnvp_results_open(database, 1, &results, &error), CNNVP_DONE);
    for (size_t size = sizeof whole - 1; size >= sizeof whole - 3; --size) {
        const int good = size == sizeof whole - 1;
        (void)snprintf(stats, sizeof stats, "%.*s", (int)size, whole);
        assert_int_equal(cnnvp_results_put(results, &row, &error), CNNVP_DONE);
        assert_int_equal(cnnvp_results_get(results, key, NULL, &back, &error), CNNVP_DONE);
        assert_true(back.stats == NULL && back.damaged == !good && back.failed == !good && back.seconds == 0.5);
        assert_string_equal(back.params, params);
        cnnvp_row_clear(&back);
        assert_int_equal(cnnvp_results_get(results, key, " first last number ", &back, &error), CNNVP_DONE);
        json_t *found = back.stats != NULL ? json_loads(back.stats, 0, NULL) : NULL,
               *expected = json_loads(wanted, 0, NULL);
        assert_true(good ? json_equal(found, expected) : back.stats == NULL);
        json_decref(found);
        json_decref(expected);
        cnnvp_row_clear(&back);
    }
    assert_int_equal(cnnvp_results_get(results, "none", " first ", &back, &error), CNNVP_DONE);
    assert_true(*back.key == '\0' && back.stats == NULL);
    cnnvp_results_close(results);
    (void)unlink(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_result_files), cmocka_unit_test(test_members)};
    return cmocka_run_group_tests(tests, explore_case_begin, explore_case_end);
}
