/* SPDX-License-Identifier: Apache-2.0 */
/* Members of a JSON text, found without reading the rest. */

#include "test.h"

#include "explore.h"

static int is_first_or_last(const void *context, const char *section, size_t length)
{
    (void)context;
    return cnnvp_section_is(section, length, "first.x") || cnnvp_section_is(section, length, "last");
}

/* Whatever stands between, members are found whole, and others are left out. */
static void test_sections(void **state)
{
    static const char *const between[] = {
        "",
        "\"a\":1,",
        "\"a\":{\"last\":{\"b\":[1,{\"first\":2}]}},",
        "\"a\":\"}],\\\"last\\\":3\",",
        "\"fir\":[],\"firstx\":{},",
        " \"a\" : [ [ ] , { } , \"\\\\\" ] ,\n\t",
        "\"\\\"\":null,\"a\":-1.5e3,"};
    static const char *const broken[] = {
        "", "[]", "3", "{", "{\"first\":", "{\"first\":1", "{\"last\":\"}", "{\"last\":[}", "{\"a"};
    (void)state;
    for (size_t i = 0; i < sizeof between / sizeof *between; ++i) {
        char text[400];
        (void)snprintf(text, sizeof text, " {%s\"first\":{\"x\":[1,\"]\",{}]},%s\"last\" : \"}\\\"\"}", between[i],
                       between[i]);
        json_t *part = cnnvp_stats_sections(text, is_first_or_last, NULL), *whole = json_loads(text, 0, NULL);
        assert_non_null(whole);
        assert_int_equal(json_object_size(part), 2);
        assert_true(json_equal(json_object_get(part, "first"), json_object_get(whole, "first")));
        assert_true(json_equal(json_object_get(part, "last"), json_object_get(whole, "last")));
        json_decref(part);
        json_decref(whole);
    }
    for (size_t i = 0; i < sizeof broken / sizeof *broken; ++i)
        assert_null(cnnvp_stats_sections(broken[i], is_first_or_last, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sections)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
