/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong use of the platform's public functions. */
#include "test.h"

#include "cnnvp.h"

static void wrong_use_is_refused(void **state)
{
    struct cnnvp_platform_options options = {.struct_size = 3};
    cnnvp_platform *platform, *second;
    cnnvp_config *config;
    struct cnnvp_error error;

    (void)state;
    assert_int_equal(cnnvp_config_new("nfu", &config, &error), CNNVP_DONE);
    assert_int_not_equal(cnnvp_platform_new(config, NULL, &platform, &error), CNNVP_DONE); /* not resolved */
    assert_null(platform);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_new(config, &options, &platform, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "struct cnnvp_platform_options: its struct_size is 3"));
    assert_int_equal(cnnvp_platform_new(config, NULL, &platform, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_new(config, NULL, &second, &error), CNNVP_DONE);
    cnnvp_platform_free(second);
    assert_int_equal(cnnvp_platform_load_elf(platform, "no_such.elf", 0, NULL, &error), CNNVP_BAD_INPUT);
    cnnvp_platform_free(platform);
    cnnvp_platform_free(NULL);
    cnnvp_config_free(config);
    assert_int_equal(strchr(cnnvp_systemc_version(), '.') != NULL, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_use_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
