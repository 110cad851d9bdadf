/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters that have an effect only under others, by the conditions of the made-up engine (fake_registry.c). */
#include <string.h>

#include "config_case.h"

struct setting {
    const char *sets[3];
    const char *message; /* NULL: each set has an effect, or need not have one */
};

static void check(const struct setting *setting)
{
    cnnvp_config *config = test_config("conditions.yaml", test_platform);
    struct cnnvp_error error = {""};
    for (size_t i = 0; i < 3 && setting->sets[i] != NULL; ++i)
        assert_int_equal(cnnvp_config_set(config, setting->sets[i], &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_in_vain(config, 0, &error), setting->message != NULL);
    if (setting->message != NULL)
        assert_string_equal(error.text, setting->message);
    assert_false(cnnvp_config_in_vain(config, 1, &error));
    cnnvp_config_free(config);
}

static void settings_without_effect(void **state)
{
    static const struct setting settings[] = {
        {{"first.depth=32KiB"},
         "--set first.depth=32KiB: first.depth: changes nothing; it has an effect only where detail=cycle"},
        {{"first.detail=cycle", "first.depth=32KiB"}, NULL},
        {{"first.depth=32KiB", "first.detail=cycle"}, NULL},
        {{"first.depth=32KiB", "first.detail=cycle", "first.detail=fast"},
         "--set first.depth=32KiB: first.depth: changes nothing; it has an effect only where detail=cycle"},
        {{"first.cols=4"}, NULL},
        {{"first.rows=2", "first.cols=4"},
         "--set first.cols=4: first.cols: changes nothing; it has an effect only where rows!=1|2"},
        {{"first.rows=0x3", "first.cols=4"}, NULL},
        {{"first.overlap=off"},
         "--set first.overlap=off: first.overlap: off changes nothing; it has an effect only where label!="},
        {{"first.overlap=on"}, NULL},
        {{"first.overlap=off", "first.label=x"}, NULL},
        {{"first.table=0x1000"}, NULL}, /* no time or result ever depends on it, but what is possible may */
        {{"first.rows=2"}, NULL},       /* nobody sets cols */
        {{"first.depth=65536"}, NULL},  /* the default */
    };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; ++i)
        check(&settings[i]);
}

static void conditions_of_a_parameter(void **state)
{
    cnnvp_config *config = test_config("conditions.yaml", test_platform);
    const struct cnnvp_instance *first = test_instance(config, "first");
    const uint32_t cols = cnnvp_unit_param(first->unit, "cols"), table = cnnvp_unit_param(first->unit, "table");
    (void)state;
    assert_string_equal(cnnvp_unit_condition(first->unit, cols, 0)->where, "rows!=1|2");
    assert_null(cnnvp_unit_condition(first->unit, cols, 1));
    assert_null(cnnvp_instance_unmet(first, cols, 4));
    assert_int_equal(cnnvp_condition_of(first->unit, cnnvp_unit_condition(first->unit, cols, 0)),
                     cnnvp_unit_param(first->unit, "rows"));
    assert_null(cnnvp_instance_unmet(first, table, 0)->where);
    assert_int_equal(cnnvp_condition_of(first->unit, cnnvp_unit_condition(first->unit, table, 0)), UINT32_MAX);
    cnnvp_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_without_effect),
        cmocka_unit_test(conditions_of_a_parameter),
    };
    return cmocka_run_group_tests(tests, test_make_folder, test_remove_folder);
}
