/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are no YAML, or more than a platform needs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_case.h"

static void wrong_yaml(void **state)
{
    (void)state;
    const struct test_refusal cases[] = {
        {"!", "", "is empty"},
        {"!\n# nothing\n", "", "is empty"},
        {"!~\n", "", "is empty"},
        {"!- a\n- b\n", ":1:1: ", "a list where a map is expected"},
        {"!hello\n", ":1:1: ", "a single value where a map is expected"},
        {"!units: {cpu: {model: core\n", ":2:1: ", "missing comma in flow mapping"},
        {"!units:\n\tcpu: 1\n", ":2:1: ", "tab character"},
        {"!a: b: c\n", ":1:5: ", "invalid nested block mapping"},
        {"!units: \"abc\n", ":1:9: ", "without closing quote"},
        {"!units: {}\n---\nunits: {}\n", ":2:1: ", "a second document"},
        {"!units: {a: &x {model: core}, b: *x}\n", ":1:", "anchors, aliases and tags"},
        {"!units: {a: !!map {model: core}}\n", ":1:", "anchors, aliases and tags"},
        {"!units: {a: {<<: {model: core}}}\n", ":1:13: ", "merge keys"},
        {"!units: {[a]: b}\n", ":1:9: ", "a key must be a single word"},
        {"!units: {a: \x01}\n", ":1:12: ", "control character 0x01"},
        {"!units: {a: \xff}\n", ":1:12: ", "byte 0xff is not UTF-8"},
        {"!units: {\xc3\xa9: \xc0\x80}\n", ":1:12: ", "byte 0xc0 is not UTF-8"},
    };
    TEST_REFUSED(cases);
}

static void large_and_deep(void **state)
{
    (void)state;
    const size_t limit = CNNVP_YAML_FILE_BYTES;
    char *text = malloc(limit + 2);
    assert_non_null(text);
    memset(text, ' ', limit + 2);
    test_refused_file(test_write("large.yaml", text, limit + 1), ": ", "is larger than 1 MiB");
    memset(text, '[', limit);
    test_refused_file(test_write("deep.yaml", text, limit), ":1:17: ", "nested more than 16 deep");
    memset(text, '\n', limit);
    test_refused_file(test_write("lines.yaml", text, limit), ": ", "is empty");
    size_t length = (size_t)sprintf(text, "units:\n");
    for (int i = 0; length < limit - 64; ++i)
        length += (size_t)sprintf(text + length, "  u%d: {model: core}\n", i);
    test_refused_file(test_write("many.yaml", text, length), ":8194:", "more than 8192 entries");
    length = (size_t)sprintf(text, "units:\n");
    for (int i = 0; i <= 1024; ++i)
        length += (size_t)sprintf(text + length, "  u%d: {model: core}\n", i);
    test_refused_file(test_write("units.yaml", text, length), ":1026:", "more than 1024 instances");
    /* A name and a value as long as the file. */
    length = (size_t)sprintf(text, "units: {cpu: {model: ");
    memset(text + length, 'm', limit - length - 2);
    memcpy(text + limit - 2, "}}", 2);
    test_refused_file(test_write("long.yaml", text, limit), ":1:", "mmm");
    length = (size_t)sprintf(text, "units: {");
    memset(text + length, 'n', 1000);
    length += 1000;
    length += (size_t)sprintf(text + length, ": {model: core}}");
    test_refused_file(test_write("long.yaml", text, length), ":1:9: ", "is not a name for an instance");
    const char zeros[] = "units: {a: \0}\n";
    test_refused_file(test_write("zero.yaml", zeros, sizeof zeros - 1), ":1:12: ", "control character 0x00");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_yaml),
        cmocka_unit_test(large_and_deep),
    };
    return cmocka_run_group_tests(tests, test_make_folder, test_remove_folder);
}
