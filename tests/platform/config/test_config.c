/* SPDX-License-Identifier: Apache-2.0 */
/* Settings over files, copies, files that cannot be read. */
#include <string.h>

#include "config_case.h"

static void set_overrides_files(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_config *config = test_config("base.yaml", test_platform);
    assert_int_equal(cnnvp_config_set(config, "second.rows=5", &error), CNNVP_DONE);
    assert_null(cnnvp_config_resolved(config));
    assert_int_equal(cnnvp_config_set(config, "second.rows=6", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(config, "first.label=a=b.c", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(config, "first.depth=1 MiB", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(config, "first.at=0x20000000", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    const char *text = NULL;
    assert_int_equal(cnnvp_config_get(config, "first.label", NULL, &text), CNNVP_DONE);
    assert_string_equal(text, "a=b.c");
    assert_int_equal(test_get(config, "second.rows"), 6);
    assert_int_equal(test_get(config, "first.depth"), 1 << 20);
    assert_int_equal(test_instance(config, "first")->base, 0x20000000);
    cnnvp_config_place_error(test_instance(config, "second"), 0, "is too few", &error);
    assert_string_equal(error.text, "--set second.rows=6: second.rows: is too few");
    cnnvp_config_place_error(test_instance(config, "second"), UINT32_MAX, "is wrong", &error);
    assert_non_null(strstr(error.text, "base.yaml:8:3: second: is wrong"));
    cnnvp_config_free(config);
}

/* A set that is refused by resolve leaves a configuration that can be freed, and set again. */
static void wrong_set_can_be_corrected(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_config *config = test_config("base.yaml", test_platform);
    assert_int_equal(cnnvp_config_set(config, "second.rows=0", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "--set second.rows=0: second.rows: \"0\" is out of range: 1 to 64");
    assert_int_equal(cnnvp_config_set(config, "second.rows=9", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    assert_int_equal(test_get(config, "second.rows"), 9);
    cnnvp_config_free(config);
}

static void copies_are_independent(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_config *config = test_config("base.yaml", test_platform);
    cnnvp_config *copy = cnnvp_config_copy(config);
    assert_non_null(copy);
    assert_int_equal(cnnvp_config_set(config, "second.rows=9", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    assert_int_equal(test_get(config, "second.rows"), 9);
    assert_int_equal(test_get(copy, "second.rows"), 4);
    cnnvp_config_free(config);
    assert_int_equal(test_get(copy, "second.rows"), 4);
    assert_string_equal(test_instance(copy, "second")->name, "second");
    cnnvp_config_free(copy);
}

static void unreadable(void **state)
{
    (void)state;
    cnnvp_config *config = NULL;
    struct cnnvp_error error;
    assert_int_equal(test_load("/nonexistent/x.yaml", &config, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "/nonexistent/x.yaml: cannot be read: No such file or directory");
    assert_int_equal(test_load("/", &config, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "/: cannot be read: Is a directory");
    assert_int_equal(test_load("", &config, &error), CNNVP_BAD_INPUT);
}

static void wrong_sets(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_config *config = NULL;
    assert_int_equal(test_load(test_write_text("base.yaml", test_platform), &config, &error), CNNVP_DONE);
    static const char *const cases[][2] = {
        {"rows", "--set \"rows\": is not of the form INSTANCE.PARAM=VALUE"},
        {"first.rows", "is not of the form"},
        {"first=3", "is not of the form"},
        {".rows=3", "is not of the form"},
        {"first.=3", "is not of the form"},
        {"", "is not of the form"},
        {"frist.rows=3", "the platform has no such instance; did you mean \"first\"?"},
        {"first.connect=3", "connections are made in the platform file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assert_int_equal(cnnvp_config_set(config, cases[i][0], &error), CNNVP_BAD_INPUT);
        if (strstr(error.text, cases[i][1]) == NULL)
            fail_msg("\"%s\" without \"%s\"", error.text, cases[i][1]);
    }
    assert_int_equal(cnnvp_config_set(config, "first.rosw=3", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "--set first.rosw=3: first: model engine has no parameter \"rosw\"; "
                                    "did you mean \"rows\"?");
    cnnvp_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_overrides_files),
        cmocka_unit_test(wrong_set_can_be_corrected),
        cmocka_unit_test(copies_are_independent),
        cmocka_unit_test(unreadable),
        cmocka_unit_test(wrong_sets),
    };
    return cmocka_run_group_tests(tests, test_make_folder, test_remove_folder);
}
