/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people read them, fields of CSV, files that are documents. */
#include <unistd.h>

#include "test.h"

#include "explore_case.h"

static void test_statistics(void **state)
{
    static const struct {
        const char *path;
        double value;
        const char *sign, *text;
    } cases[] = {
        {"total.time_ps", 999, "", "999 ps"},
        {"total.time_ps", 1000, "", "1 ns"},
        {"total.time_ps", 1.5e12, "", "1.5 s"},
        {"total.time_ps", 5e15, "", "5000 s"}, /* the last unit */
        {"total.time_ps", -2500, "+", "-2.5 ns"},
        {"total.time_ps", 2500, "+", "+2.5 ns"},
        {"energy.total_pj", 1234567, "", "1.23457 uJ"},
        {"memory.read_bytes", 2048, "", "2.048 kB"},
        {"memory.peak_bytes_per_s", 1.92e10, "", "19.2 GB/s"},
        {"area.total_um2", 2500000, "", "2.5 mm2"},
        {"area.by_unit.pe_array", 10, "", "10 um2"},
        {"layer C1.energy_by_unit.cpu", 136313, "", "136.313 nJ"},
        {"layer C1.critical_path.dma", 126000, "", "126 ns"},
        {"summary.gain_if_twice_as_fast.dram", 2664964, "+", "+2.66496 us"},
        {"total.macs", 0, "+", "0"},
        {"total.macs", 999, "", "999"},
        {"total.macs", 1000, "", "1,000"},
        {"total.macs", -12345678, "", "-12,345,678"},
        {"total.macs", 12345678, "+", "+12,345,678"},
        {"summary.peak_share", 0.125, "", "0.125"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[64];
        cnnvp_show_statistic(text, sizeof text, cases[i].path, cases[i].value, cases[i].sign);
        assert_string_equal(text, cases[i].text);
    }
    char few[6];
    cnnvp_show_statistic(few, sizeof few, "total.macs", 123456789, "");
    assert_true(strlen(few) < sizeof few);
}

static void test_fields(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    (void)state;
    assert_non_null(stream);
    cnnvp_csv_field(stream, "plain", 0);
    cnnvp_csv_field(stream, "a,b", 0);
    cnnvp_csv_field(stream, "say \"no\"", 0);
    cnnvp_csv_field(stream, "", 0);
    cnnvp_csv_field(stream, "two\nlines", 1);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, "plain,\"a,b\",\"say \"\"no\"\"\",,\"two\nlines\"\n");
    free(text);
}

static void test_documents(void **state)
{
    static const struct {
        const char *content, *message;
    } cases[] = {
        {"{\"schema\": \"a/1\", \"b\": 2}", NULL},
        {"{\"schema\": \"a/2\"}", "its schema is a/2; a/1 is expected"},
        {"{\"b\": 2}", "has no schema; a/1 is expected"},
        {"[]", "has no schema"},
        {"{\"schema\":\n  oops}", ":2:"},
        {"", "a/1 is expected"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct cnnvp_error error = {""};
        char file[128];
        json_t *root = NULL;
        (void)snprintf(file, sizeof file, "%s/document.json", explore_folder);
        assert_int_equal(cnnvp_write_text(file, cases[i].content, strlen(cases[i].content), &error), CNNVP_DONE);
        const cnnvp_result result = cnnvp_read_document(file, "a/1", NULL, &root, &error);
        assert_int_equal(result, cases[i].message == NULL ? CNNVP_DONE : CNNVP_BAD_INPUT);
        if (cases[i].message != NULL && strstr(error.text, cases[i].message) == NULL)
            fail_msg("\"%s\" without \"%s\"", error.text, cases[i].message);
        json_decref(root);
    }
    /* The published hash of nothing, XXH3_128bits. */
    char hash[CNNVP_KEY_BYTES], file[128];
    struct cnnvp_error error;
    (void)snprintf(file, sizeof file, "%s/document.json", explore_folder);
    assert_int_equal(cnnvp_hash_file(file, hash, &error), CNNVP_DONE);
    assert_string_equal(hash, "99aa06d3014798d86001c324468d497f");
    assert_int_equal(unlink(file), 0);
    assert_int_equal(cnnvp_hash_file("/nonexistent", hash, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "/nonexistent: cannot be read: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_documents),
    };
    return cmocka_run_group_tests(tests, explore_case_begin, explore_case_end);
}
