/* SPDX-License-Identifier: Apache-2.0 */
/* Tilings that are tried on platforms of their own: what that leaves behind is a plan, the same whoever makes it, and
 * nothing else. */

#include "test.h"

#include "network.h"

static struct cnnvp_error problem;

static void done(cnnvp_result result)
{
    if (result != CNNVP_DONE)
        fail_msg("%s", problem.text);
}

static cnnvp_config *configure(const char *preset, const char *const *settings)
{
    cnnvp_config *config;
    done(cnnvp_config_new(preset, &config, &problem));
    for (; settings != NULL && *settings != NULL; ++settings)
        done(cnnvp_config_set(config, *settings, &problem));
    done(cnnvp_config_resolve(config, &problem));
    return config;
}

static cnnvp_network *tuned(const cnnvp_config *config, int timing_only)
{
    const struct cnnvp_network_options options = {
        .struct_size = sizeof options,
        .rounding = CNNVP_ROUND_NEAREST,
        .images = 2,
        .seed = 3,
        .tune = 1,
        .timing_only = timing_only};
    cnnvp_network *network;
    done(cnnvp_network_new(TEST_NETWORK, config, &options, &network, &problem));
    assert_true(cnnvp_network_trials(network) > 0);
    return network;
}

static cnnvp_platform *platform_of(const cnnvp_config *config, int timing_only)
{
    const struct cnnvp_platform_options options = {.struct_size = sizeof options, .timing_only = timing_only};
    cnnvp_platform *platform;
    done(cnnvp_platform_new(config, &options, &platform, &problem));
    return platform;
}

/* To the end; statistics without the host's time. Frees the platform. */
static char *finish(cnnvp_platform *platform)
{
    struct cnnvp_run_result end;
    char *json;
    cnnvp_platform_set_max_time(platform, 0);
    assert_int_equal(cnnvp_platform_run(platform, &end), CNNVP_DONE);
    assert_int_equal(end.end, CNNVP_END_EXIT);
    assert_int_equal(cnnvp_platform_stats(platform, &json), CNNVP_DONE);
    cnnvp_platform_free(platform);
    char *begin = strstr(json, "\"wall_seconds\"");
    assert_non_null(begin);
    const char *rest = strchr(begin, '\n');
    assert_non_null(rest);
    memmove(begin, rest, strlen(rest) + 1);
    return json;
}

static char *run(const cnnvp_network *network, const cnnvp_config *config, int timing_only)
{
    cnnvp_platform *platform = platform_of(config, timing_only);
    done(cnnvp_network_load(network, platform, &problem));
    return finish(platform);
}

static const char *const narrow[] = {"dma.outstanding=1", "input_buffer.size=12KiB", "weight_buffer.size=12KiB", NULL};
static const struct {
    const char *preset;
    const char *const *settings;
} platforms[] = {{"nfu", NULL}, {"window", NULL}, {"nfu", narrow}};
enum { PLATFORMS = sizeof platforms / sizeof platforms[0] };

/* A network that is made while there is a platform, which is loaded and in the middle of a run or not: its plan is the
 * one that it has alone, and the platform goes on as if nothing had been. */
static void a_platform_beside_is_not_disturbed(void **state)
{
    (void)state;
    for (size_t p = 0; p < PLATFORMS; ++p) {
        cnnvp_config *config = configure(platforms[p].preset, platforms[p].settings);
        cnnvp_network *alone = tuned(config, 0);
        char *expected = run(alone, config, 0);
        for (uint64_t cut = 0; cut < 3; ++cut) {
            struct cnnvp_run_result end;
            cnnvp_platform *platform = platform_of(config, 0);
            done(cnnvp_network_load(alone, platform, &problem));
            if (cut != 0) {
                cnnvp_platform_set_max_time(platform, cut * 7654321);
                assert_int_not_equal(cnnvp_platform_run(platform, &end), CNNVP_DONE);
                assert_int_equal(end.end, CNNVP_END_MAX_TIME);
            }
            cnnvp_network *beside = tuned(config, 0);
            char *stats = finish(platform);
            assert_string_equal(stats, expected);
            free(stats);
            stats = run(beside, config, 0);
            assert_string_equal(stats, expected);
            free(stats);
            cnnvp_network_free(beside);
        }
        free(expected);
        cnnvp_network_free(alone);
        cnnvp_config_free(config);
    }
}

/* Platforms that run in turn, a piece each, have the statistics that each has alone. */
static void platforms_run_in_turn(void **state)
{
    cnnvp_config *configs[2] = {configure("nfu", NULL), configure("window", NULL)};
    cnnvp_network *networks[2];
    cnnvp_platform *platforms_in_turn[2];
    char *expected[2];
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        networks[i] = tuned(configs[i], 0);
        expected[i] = run(networks[i], configs[i], 0);
    }
    for (size_t i = 0; i < 2; ++i)
        platforms_in_turn[i] = platform_of(configs[i], 0);
    for (size_t i = 2; i-- > 0;)
        done(cnnvp_network_load(networks[i], platforms_in_turn[i], &problem));
    for (uint64_t piece = 1; piece < 4; ++piece)
        for (size_t i = 0; i < 2; ++i) {
            struct cnnvp_run_result end;
            cnnvp_platform_set_max_time(platforms_in_turn[i], piece * 1234567);
            assert_int_not_equal(cnnvp_platform_run(platforms_in_turn[i], &end), CNNVP_DONE);
            assert_int_equal(end.end, CNNVP_END_MAX_TIME);
            assert_int_equal(end.time_ps, piece * 1234567);
        }
    for (size_t i = 0; i < 2; ++i) {
        char *stats = finish(platforms_in_turn[i]);
        assert_string_equal(stats, expected[i]);
        free(stats);
        free(expected[i]);
        cnnvp_network_free(networks[i]);
        cnnvp_config_free(configs[i]);
    }
}

/* Leaves only the member `layers` of statistics, which a timing-only run has as well. */
static char *only_layers(char *stats)
{
    char *begin = strstr(stats, "\n  \"layers\": [");
    assert_non_null(begin);
    char *end = strstr(begin, "\n  ]");
    assert_non_null(end);
    *end = '\0';
    memmove(stats, begin, strlen(begin) + 1);
    return stats;
}

/* What the trials find does not depend on what the network is made for. */
static void the_plan_does_not_depend_on_who_asks(void **state)
{
    static const char *const cycle[] = {"pe_array.detail=cycle", NULL};
    (void)state;
    cnnvp_config *config = configure("nfu", NULL);
    cnnvp_config *stepped = configure("nfu", cycle);
    cnnvp_network *full = tuned(config, 0);
    cnnvp_network *timing = tuned(config, 1);
    cnnvp_network *detailed = tuned(stepped, 0);
    char *expected = run(full, config, 0);
    char *stats = run(detailed, config, 0);
    assert_string_equal(stats, expected);
    free(stats);
    stats = only_layers(run(timing, config, 1));
    assert_string_equal(stats, only_layers(expected));
    free(stats);
    free(expected);
    cnnvp_network_free(full);
    cnnvp_network_free(timing);
    cnnvp_network_free(detailed);
    cnnvp_config_free(config);
    cnnvp_config_free(stepped);
}

/* Trials that cannot be made are refused, with a message and nothing left behind. */
static void impossible_trials_are_refused(void **state)
{
    static const char *const external[] = {"dram.model=external", NULL};
    const struct cnnvp_network_options options = {
        .struct_size = sizeof options, .rounding = CNNVP_ROUND_NEAREST, .images = 1, .tune = 1};
    cnnvp_config *config = configure("nfu", external);
    cnnvp_network *network = NULL;
    (void)state;
    assert_int_not_equal(cnnvp_network_new(TEST_NETWORK, config, &options, &network, &problem), CNNVP_DONE);
    assert_null(network);
    assert_non_null(strstr(problem.text, "third-party"));
    cnnvp_config_free(config);
}

static void check_trial(const char *platform, uint64_t images)
{
    const struct cnnvp_network_options options = {
        .struct_size = sizeof options, .rounding = CNNVP_ROUND_NEAREST, .images = images, .timing_only = 1};
    cnnvp_config *config = configure(platform, NULL);
    cnnvp_network *network;
    struct cnnvp_plan_taken taken;
    done(cnnvp_network_new(TEST_NETWORK, config, &options, &network, &problem));
    done(cnnvp_network_take(network, config, &taken, &problem));
    char *stats = run(network, config, 1);
    const char *time = strstr(stats, "\"time_ps\": "), *energy = strstr(stats, "\"total_pj\": ");
    assert_non_null(time);
    assert_non_null(energy);
    const double ps = strtod(time + strlen("\"time_ps\": "), NULL),
                 pj = strtod(energy + strlen("\"total_pj\": "), NULL);
    assert_true(taken.ps >= ps && taken.ps <= ps);
    assert_true(taken.pj > pj * 0.9995 && taken.pj < pj * 1.0005);
    free(stats);
    cnnvp_network_free(network);
    cnnvp_config_free(config);
}

/* What a trial of the whole network takes is what its run does, also where one of two accelerators has no image. */
static void a_trial_takes_what_the_run_does(void **state)
{
    (void)state;
    check_trial("nfu", 2);
    check_trial(TEST_DUAL, 1);
    check_trial(TEST_DUAL, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_platform_beside_is_not_disturbed),   cmocka_unit_test(platforms_run_in_turn),
        cmocka_unit_test(the_plan_does_not_depend_on_who_asks), cmocka_unit_test(impossible_trials_are_refused),
        cmocka_unit_test(a_trial_takes_what_the_run_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
