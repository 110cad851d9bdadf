/* SPDX-License-Identifier: Apache-2.0 */
/* All tensors as files. */
#include "network_case.h"

static void dumps_hold_all_tensors(void **state)
{
    (void)state;
    const struct fake_config config = fake_nfu();
    struct cnnvp_error error = {""};
    const char *wrong = NULL;
    char folder[] = "/tmp/cnnvp_dump_XXXXXX";
    assert_non_null(mkdtemp(folder));
    cnnvp_network *network = network_compile(
        "mixed", &config, &(struct cnnvp_network_options){.images = 2, .rounding = CNNVP_ROUND_NEAREST});
    cnnvp_platform *platform = fake_platform_new(MEMORY);
    assert_int_equal(cnnvp_network_load(network, platform, &error), CNNVP_DONE);
    const struct test_fx16_memory memory = {.bytes = platform->memory, .size = platform->size};
    assert_int_equal(test_fx16_run(&memory, 48, &wrong), 0);
    if (cnnvp_network_dump(network, platform, folder, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    char path[256];
    (void)snprintf(path, sizeof path, "%s/sqnr.csv", folder);
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    char line[256];
    size_t rows = 0;
    assert_non_null(fgets(line, sizeof line, stream));
    assert_string_equal(line, "tensor,frac,largest,worst_error,sqnr_db\n");
    while (fgets(line, sizeof line, stream) != NULL) {
        const char *last = strrchr(line, ',');
        assert_non_null(last);
        assert_true(strtod(last + 1, NULL) > 50.0);
        ++rows;
    }
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(rows, 9);
    struct cnnvp_array array;
    struct cnnvp_array reference;
    (void)snprintf(path, sizeof path, "%s/003_tanh.npy", folder);
    assert_int_equal(cnnvp_npy_read(path, &array, &error), CNNVP_DONE);
    (void)snprintf(path, sizeof path, "%s/003_tanh.float.npy", folder);
    assert_int_equal(cnnvp_npy_read(path, &reference, &error), CNNVP_DONE);
    assert_int_equal(array.rank, 4);
    assert_int_equal(array.shape[1], 8);
    assert_true(difference(&array, &reference) < 0.002);
    cnnvp_array_clear(&array);
    cnnvp_array_clear(&reference);
    (void)snprintf(path, sizeof path, "rm -r %s", folder);
    assert_int_equal(system(path), 0);
    assert_int_equal(cnnvp_network_dump(network, platform, "/nowhere/dump", &error), CNNVP_BAD_INPUT);
    fake_platform_free(platform);
    cnnvp_network_free(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dumps_hold_all_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
