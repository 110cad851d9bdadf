/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries of third-party units, named in a platform file and used through the public API. */
#include <unistd.h>

#include "test.h"

#include "cnnvp.h"

static const char file[] = "abi_test_platform.yaml";

static void write_file(const char *text)
{
    FILE *stream = fopen(file, "w");

    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
}

static cnnvp_result load(const char *text, cnnvp_config **config, struct cnnvp_error *error)
{
    cnnvp_result result;

    write_file(text);
    error->text[0] = '\0';
    *config = NULL;
    result = cnnvp_config_new(file, config, error);
    if (result == CNNVP_DONE)
        result = cnnvp_config_resolve(*config, error);
    return result;
}

static cnnvp_platform *build(const char *text)
{
    const struct cnnvp_platform_options options = {.struct_size = sizeof options, .max_time_ps = 1000000000};
    cnnvp_platform *platform = NULL;
    cnnvp_config *config;
    struct cnnvp_error error;

    if (load(text, &config, &error) != CNNVP_DONE ||
        cnnvp_platform_new(config, &options, &platform, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    cnnvp_config_free(config); /* the platform has its own copy */
    return platform;
}

static const char two_of_each[] =
    "platform: somebody\n"
    "units:\n"
    "  bus: {model: bus}\n"
    "  one: {model: ./abi_good.so:ping, connect: {out: bus}, count: 4, sum: 10, at: 0x2000}\n"
    "  two: {model: ./abi_good.so:ping, connect: {out: bus}, count: 7, address: 0x1000}\n"
    "  low: {model: ./abi_good.so:echo, at: 0x1000}\n"
    "  high: {model: ./abi_good.so:echo, at: 0x80000000}\n";

/* Two instances of each unit in one process, with parameters, memory, statistics and an exit of their own. */
static void test_from_a_platform_file(void **state)
{
    const uint32_t words[] = {1, 2, 3, 4};
    uint32_t back[4] = {0};
    struct cnnvp_run_result result;
    cnnvp_platform *platform = build(two_of_each);
    char *json;

    (void)state;
    assert_int_equal(cnnvp_platform_write(platform, 0x80000000u, words, sizeof words), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_read(platform, 0x80000000u, back, sizeof back), CNNVP_DONE);
    assert_memory_equal(words, back, sizeof words);
    assert_int_equal(cnnvp_platform_read(platform, 0x1000, back, sizeof back), CNNVP_DONE);
    assert_int_equal(back[0], 0);
    assert_int_equal(cnnvp_platform_read(platform, 0x2000, back, 4), CNNVP_DONE);
    assert_int_equal(back[0], 1); /* a register's reset value */
    assert_int_equal(cnnvp_platform_read(platform, 0x3000, back, sizeof back), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_platform_run(platform, &result), CNNVP_DONE);
    assert_int_equal(result.end, CNNVP_END_EXIT);
    assert_int_equal(result.exit_code, 0);
    assert_int_equal(result.time_ps, 4 * 2000);
    assert_int_equal(cnnvp_platform_stats(platform, &json), CNNVP_DONE);
    assert_non_null(strstr(json, "\"words\": 4"));
    assert_non_null(strstr(json, "cnnvp-stats/2"));
    free(json);
    cnnvp_platform_free(platform);
}

/* The same again in the same process; freed in the middle of a run. */
static void test_again(void **state)
{
    for (int i = 0; i < 3; ++i) {
        struct cnnvp_run_result result;
        cnnvp_platform *platform = build(two_of_each);

        (void)state;
        assert_int_equal(cnnvp_platform_run(platform, &result), CNNVP_FAILED); /* the sum of zeros is not 10 */
        assert_int_equal(result.end, CNNVP_END_EXIT);
        assert_int_equal(result.exit_code, -10);
        assert_string_equal(result.reason, "one: the sum is wrong");
        cnnvp_platform_free(platform);
    }
}

static void test_init_refuses(void **state)
{
    cnnvp_platform *platform;
    cnnvp_config *config;
    struct cnnvp_error error;

    (void)state;
    assert_int_equal(load("platform: somebody\nunits:\n  bus: {model: bus}\n"
                          "  one: {model: ./abi_good.so:ping, connect: {out: bus}, count: 13}\n",
                          &config, &error),
                     CNNVP_DONE);
    assert_int_equal(cnnvp_platform_new(config, NULL, &platform, &error), CNNVP_BAD_INPUT);
    assert_null(platform);
    assert_non_null(strstr(error.text, "abi_test_platform.yaml:4:"));
    assert_non_null(strstr(error.text, "13 words are too many"));
    cnnvp_config_free(config);
}

/* From the platform file the message has its place. */
static void test_refused_with_a_place(void **state)
{
    cnnvp_config *config;
    struct cnnvp_error error;

    (void)state;
    assert_int_equal(load("platform: somebody\nunits:\n  one: {model: ./abi_major.so:ping}\n", &config, &error),
                     CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "abi_test_platform.yaml:3:"));
    assert_non_null(strstr(error.text, "model ABI 2.3"));
    cnnvp_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_a_platform_file),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_init_refuses),
        cmocka_unit_test(test_refused_with_a_place),
    };
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);

    (void)unlink(file);
    return failures;
}
