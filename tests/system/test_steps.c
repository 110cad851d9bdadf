/* SPDX-License-Identifier: Apache-2.0 */
/* A program that drives a platform step by step: the same output, statistics and end as a run in one piece. */

#include "test.h"

#include "cnnvp_network.h"

static struct cnnvp_error problem;

static void done(cnnvp_result result)
{
    if (result != CNNVP_DONE)
        fail_msg("%s", problem.text);
}

struct outcome {
    struct cnnvp_run_result end;
    struct cnnvp_array output;
    char *stats; /* without the host's time */
    unsigned steps;
};

static char *without_host_time(char *json)
{
    char *begin = strstr(json, "\"wall_seconds\"");
    assert_non_null(begin);
    const char *end = strchr(begin, '\n');
    assert_non_null(end);
    memmove(begin, end, strlen(end) + 1);
    return json;
}

/* `step`: picoseconds of each of the first `count` steps, the last has no limit. `reads`: the statistics are asked for
 * after each step. */
static void run(const cnnvp_network *network, const cnnvp_config *config, uint64_t step, unsigned count, int reads,
                struct outcome *outcome)
{
    cnnvp_platform *platform;
    done(cnnvp_platform_new(config, NULL, &platform, &problem));
    done(cnnvp_network_load(network, platform, &problem));
    *outcome = (struct outcome){.steps = 0};
    cnnvp_result result;
    do {
        const uint64_t limit = outcome->steps < count ? (outcome->steps + 1) * step : 0;
        cnnvp_platform_set_max_time(platform, limit);
        result = cnnvp_platform_run(platform, &outcome->end);
        if (outcome->end.end == CNNVP_END_MAX_TIME)
            assert_int_equal(outcome->end.time_ps, limit);
        if (reads) {
            struct cnnvp_layer_result layer;
            assert_int_equal(cnnvp_platform_stats(platform, &outcome->stats), CNNVP_DONE);
            free(outcome->stats);
            (void)!cnnvp_platform_layer(platform, 0, &layer);
        }
        ++outcome->steps;
    } while (outcome->end.end == CNNVP_END_MAX_TIME);
    assert_int_equal(result, CNNVP_DONE);
    done(cnnvp_network_output(network, platform, 0, &outcome->output, &problem));
    assert_int_equal(cnnvp_platform_stats(platform, &outcome->stats), CNNVP_DONE);
    without_host_time(outcome->stats);
    cnnvp_platform_free(platform);
}

static void clear(struct outcome *outcome)
{
    cnnvp_array_clear(&outcome->output);
    free(outcome->stats);
}

static void steps_change_nothing(void **state)
{
    (void)state;
    static const char *const presets[] = {"nfu", "window", "trainer"};
    /* Steps of less than a clock cycle, of a prime length, of many cycles. */
    static const struct {
        uint64_t step;
        unsigned count;
        int reads;
    } cuts[] = {{1, 500, 0}, {777, 5000, 0}, {999983, 10000, 0}, {12345678, 10000, 0}, {999983, 10000, 1}};
    for (size_t p = 0; p < sizeof presets / sizeof *presets; ++p) {
        const struct cnnvp_network_options options = {
            .struct_size = sizeof options, .rounding = CNNVP_ROUND_NEAREST, .images = 2, .seed = 3};
        cnnvp_config *config;
        cnnvp_network *network;
        struct outcome whole, parts;
        done(cnnvp_config_new(presets[p], &config, &problem));
        done(cnnvp_config_resolve(config, &problem));
        done(cnnvp_network_new(TEST_NETWORK, config, &options, &network, &problem));
        run(network, config, 0, 0, 0, &whole);
        assert_int_equal(whole.steps, 1);
        for (size_t c = 0; c < sizeof cuts / sizeof *cuts; ++c) {
            run(network, config, cuts[c].step, cuts[c].count, cuts[c].reads, &parts);
            assert_true(parts.steps > 2);
            assert_int_equal(parts.end.time_ps, whole.end.time_ps);
            assert_int_equal(parts.output.shape[1], whole.output.shape[1]);
            assert_memory_equal(parts.output.data, whole.output.data,
                                whole.output.shape[0] * whole.output.shape[1] * sizeof(float));
            assert_string_equal(parts.stats, whole.stats);
            clear(&parts);
        }
        clear(&whole);
        cnnvp_network_free(network);
        cnnvp_config_free(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
