/* SPDX-License-Identifier: Apache-2.0 */
/* A program whose locale writes numbers with a comma: the library reads and writes them with a point, and leaves the
 * program's locale alone. The locale is made where the test runs (CMakeLists.txt). */
#include "test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cnnvp_explore.h"

/* The platform as text, the front of a sweep, and the statistics of a run up to the host's time. */
static char *texts(void)
{
    static const char *const settings[] = {"energy.int16_mac=1.25", "energy.sram_word=0.75"};
    static const struct cnnvp_platform_options quiet = {
        .struct_size = sizeof quiet, .verbosity = -1, .series = "locale.pftrace"};
    static const struct cnnvp_sweep_options to = {.struct_size = sizeof to, .results = "locale.sqlite", .jobs = 1};
    struct cnnvp_network_options compile = {.struct_size = sizeof compile, .images = 1, .seed = 1};
    cnnvp_config *config = NULL;
    cnnvp_network *network = NULL;
    cnnvp_platform *platform = NULL;
    cnnvp_sweep *sweep = NULL;
    struct cnnvp_run_result end;
    char *yaml, *map, *stats, *front, *text;
    assert_int_equal(cnnvp_config_new("nfu", &config, NULL), CNNVP_DONE);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; ++i)
        assert_int_equal(cnnvp_config_set(config, settings[i], NULL), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, NULL), CNNVP_DONE);
    assert_int_equal(cnnvp_config_text(config, &yaml, &map), CNNVP_DONE);
    assert_non_null(strstr(yaml, "int16_mac: 1.25"));
    assert_int_equal(cnnvp_network_new("lenet5", config, &compile, &network, NULL), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_new(config, &quiet, &platform, NULL), CNNVP_DONE);
    assert_int_equal(cnnvp_network_load(network, platform, NULL), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_run(platform, &end), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_stats(platform, &stats), CNNVP_DONE);
    assert_int_equal(cnnvp_platform_close_trace(platform, NULL), CNNVP_DONE);
    cnnvp_platform_free(platform);
    cnnvp_network_free(network);
    cnnvp_config_free(config);
    (void)remove("locale.sqlite");
    assert_int_equal(cnnvp_sweep_new("locale.yaml", &sweep, NULL), CNNVP_DONE);
    struct cnnvp_sweep_progress swept;
    assert_int_equal(cnnvp_sweep_run(sweep, &to, &swept, NULL), CNNVP_DONE);
    assert_int_equal(cnnvp_sweep_front(sweep, &front, NULL), CNNVP_DONE);
    cnnvp_sweep_free(sweep);
    char *const host_time = strstr(stats, "\"wall_seconds\"");
    assert_non_null(host_time);
    *host_time = '\0';
    const char *const rest = strchr(host_time + 1, '\n');
    const size_t room = strlen(yaml) + strlen(map) + strlen(stats) + strlen(rest) + strlen(front) + 1;
    text = malloc(room);
    assert_non_null(text);
    (void)snprintf(text, room, "%s%s%s%s%s", yaml, map, stats, rest, front);
    free(yaml);
    free(map);
    free(stats);
    free(front);
    return text;
}

static void test_comma(void **state)
{
    (void)state;
    char *const before = texts();
    assert_non_null(setlocale(LC_NUMERIC, "comma"));
    char *const after = texts();
    assert_string_equal(before, after);
    free(before);
    free(after);
    char own[8];
    (void)snprintf(own, sizeof own, "%.1f", 1.5);
    assert_string_equal(own, "1,5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_comma)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
