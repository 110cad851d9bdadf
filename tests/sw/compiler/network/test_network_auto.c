/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --schedule auto runs at last, on the real platform: groups that stay make the network better by the objective
 * than it is layer by layer; where none stays, it runs as it does layer by layer.
 */
#include "test.h"

#include "network.h"

static struct cnnvp_error problem;

static void done(cnnvp_result result)
{
    if (result != CNNVP_DONE)
        fail_msg("%s", problem.text);
}

struct outcome {
    double ps, pj, bytes; /* of all images and layers */
    size_t groups;
};

static struct outcome run(const char *file, const cnnvp_config *config, enum cnnvp_schedule schedule,
                          enum cnnvp_plan_objective objective)
{
    const struct cnnvp_network_options options = {
        .struct_size = sizeof options,
        .rounding = CNNVP_ROUND_NEAREST,
        .schedule = schedule,
        .objective = objective,
        .images = 1,
        .timing_only = 1};
    const struct cnnvp_platform_options timing = {.struct_size = sizeof timing, .timing_only = 1};
    struct cnnvp_run_result end;
    cnnvp_network *network;
    cnnvp_platform *platform;
    done(cnnvp_network_new(file, config, &options, &network, &problem));
    done(cnnvp_platform_new(config, &timing, &platform, &problem));
    done(cnnvp_network_load(network, platform, &problem));
    assert_int_equal(cnnvp_platform_run(platform, &end), CNNVP_DONE);
    struct outcome outcome = {.ps = (double)end.time_ps, .groups = network->plan.run_count};
    for (size_t i = 0; i < network->graph.layer_count; ++i) {
        struct cnnvp_layer_result layer;
        done(cnnvp_platform_layer(platform, i, &layer));
        outcome.pj += layer.energy_pj;
        outcome.bytes += (double)layer.dram_burst_bytes;
    }
    cnnvp_platform_free(platform);
    cnnvp_network_free(network);
    return outcome;
}

static double score(const struct outcome *outcome, enum cnnvp_plan_objective objective)
{
    switch (objective) {
    case CNNVP_OBJECTIVE_ENERGY:
        return outcome->pj;
    case CNNVP_OBJECTIVE_EDP:
        return outcome->pj * outcome->ps;
    case CNNVP_OBJECTIVE_TRAFFIC:
        return outcome->bytes;
    default:
        return outcome->ps;
    }
}

static cnnvp_config *configure(const char *maps, int native)
{
    static const char *const buffers[] = {"input_buffer", "output_buffer"};
    cnnvp_config *config;
    done(cnnvp_config_new("nfu", &config, &problem));
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; ++i) {
        char setting[64];
        (void)snprintf(setting, sizeof setting, "%s.size=%s", buffers[i], maps);
        done(cnnvp_config_set(config, setting, &problem));
    }
    if (native)
        done(cnnvp_config_set(config, TEST_NATIVE_CPU, &problem));
    done(cnnvp_config_resolve(config, &problem));
    return config;
}

static void groups_that_stay_are_better(void **state)
{
    static const char *const networks[] = {TEST_NETWORK, TEST_NETWORK_ADDITION};
    static const char *const maps[] = {"2KiB", "8KiB", "64KiB"};
    size_t stayed[4] = {0}, left[4] = {0}; /* by objective */
    (void)state;
    for (size_t n = 0; n < 2; ++n)
        for (size_t m = 0; m < 3; ++m)
            for (int native = 0; native < 2; ++native) {
                cnnvp_config *config = configure(maps[m], native);
                const struct outcome layer = run(networks[n], config, CNNVP_SCHEDULE_LAYER, CNNVP_OBJECTIVE_TIME);
                assert_int_equal(layer.groups, 0);
                for (unsigned o = CNNVP_OBJECTIVE_TIME; o <= CNNVP_OBJECTIVE_TRAFFIC; ++o) {
                    const enum cnnvp_plan_objective objective = (enum cnnvp_plan_objective)o;
                    const struct outcome chosen = run(networks[n], config, CNNVP_SCHEDULE_AUTO, objective);
                    if (chosen.groups != 0)
                        assert_true(score(&chosen, objective) < score(&layer, objective));
                    else if (objective == CNNVP_OBJECTIVE_TIME)
                        /* the same, or what another objective plans, which turned out to be faster */
                        assert_true(chosen.ps < layer.ps ||
                                    (chosen.ps == layer.ps && chosen.pj == layer.pj && chosen.bytes == layer.bytes));
                    ++(chosen.groups != 0 ? stayed : left)[o];
                }
                cnnvp_config_free(config);
            }
    assert_true(left[CNNVP_OBJECTIVE_TIME] > 0);
    assert_true(stayed[CNNVP_OBJECTIVE_ENERGY] > 0 && left[CNNVP_OBJECTIVE_ENERGY] > 0);
    assert_int_equal(left[CNNVP_OBJECTIVE_TRAFFIC], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups_that_stay_are_better)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
