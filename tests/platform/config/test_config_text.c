/* SPDX-License-Identifier: Apache-2.0 */
/* What check prints of a platform. */
#include <stdlib.h>
#include <string.h>

#include "config_case.h"

/* What check prints reads back, from another test_folder, to the same print. */
static void text_reads_back(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_config *config = test_config("base.yaml", test_platform);
    assert_int_equal(cnnvp_config_set(config, "first.label=\"two\\\t words: # \xc3\xa9", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(config, "first.overlap=no", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    char *yaml = NULL, *map = NULL, *yaml_again = NULL, *map_again = NULL;
    assert_int_equal(cnnvp_config_text(config, &yaml, &map), CNNVP_DONE);
    cnnvp_config *again = test_config("again.yaml", yaml);
    assert_int_equal(cnnvp_config_text(again, &yaml_again, &map_again), CNNVP_DONE);
    assert_string_equal(yaml, yaml_again);
    assert_string_equal(map, map_again);
    assert_int_equal(test_get(again, "first.overlap"), 0);
    const char *label = NULL;
    assert_int_equal(cnnvp_config_get(again, "first.label", NULL, &label), CNNVP_DONE);
    assert_string_equal(label, "\"two\\\t words: # \xc3\xa9");
    assert_non_null(strstr(map, "0x0c000000  0x0fffffff    67108864  -     plic "));
    assert_non_null(strstr(map, "0x10000000  0x10000fff        4096  1     first"));
    free(yaml);
    free(map);
    free(yaml_again);
    free(map_again);
    cnnvp_config_free(config);
    cnnvp_config_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_reads_back),
    };
    return cmocka_run_group_tests(tests, test_make_folder, test_remove_folder);
}
