/* SPDX-License-Identifier: Apache-2.0 */
/* What the units of a configuration take, asked without a run. */
#include "test.h"

#include "cnnvp_costs.h"

static struct cnnvp_error problem;

static cnnvp_config *nfu_with(const char *assignment)
{
    cnnvp_config *config = NULL;

    assert_int_equal(cnnvp_config_new("nfu", &config, &problem), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(config, assignment, &problem), CNNVP_DONE);
    if (strstr(assignment, "cache_size") != NULL)
        assert_int_equal(cnnvp_config_set(config, "cpu.memory=cache", &problem), CNNVP_DONE);
    if (cnnvp_config_resolve(config, &problem) != CNNVP_DONE)
        fail_msg("%s", problem.text);
    return config;
}

static double energy_of(const char *assignment, const char *instance, const char *stat)
{
    cnnvp_config *config = nfu_with(assignment);
    double picojoules = -1;

    assert_int_equal(cnnvp_config_energy(config, instance, stat, &picojoules, &problem), CNNVP_DONE);
    cnnvp_config_free(config);
    return picojoules;
}

static double link_of(const char *assignment, const char *from, const char *to)
{
    cnnvp_config *config = nfu_with(assignment);
    double picojoules = -1;

    assert_int_equal(cnnvp_config_link_energy(config, from, to, &picojoules, &problem), CNNVP_DONE);
    cnnvp_config_free(config);
    return picojoules;
}

static double power_of(const char *assignment)
{
    cnnvp_config *config = nfu_with(assignment);
    double milliwatts = -1;

    assert_int_equal(cnnvp_config_static_power(config, &milliwatts, &problem), CNNVP_DONE);
    cnnvp_config_free(config);
    return milliwatts;
}

/* A word has two bytes. A larger chip has longer ways across it, and more that leaks. */
static void costs_follow_the_configuration(void **state)
{
    (void)state;
    assert_true(energy_of("energy.dram_byte=100", "dram", "bus_read_bytes") == 100);
    assert_true(energy_of("energy.dram_byte=100", "dma", "read_bytes") == 0);
    assert_true(link_of("energy.port_word=30", "dma", "dram") == 0);
    const double more = energy_of("energy.port_word=30", "dram", "bus_read_bytes") -
                        energy_of("energy.port_word=0", "dram", "bus_read_bytes");
    assert_true(more > 14.999 && more < 15.001);
    assert_true(link_of("input_buffer.size=256KiB", "dma", "input_buffer") >
                link_of("input_buffer.size=64KiB", "dma", "input_buffer"));
    assert_true(power_of("input_buffer.size=256KiB") > power_of("input_buffer.size=64KiB"));
    /* sram_bytes are the data cache's: a bank of four times the size takes twice the energy an access. */
    const double data = energy_of("cpu.dcache_size=16KiB", "cpu", "sram_bytes");
    assert_true(energy_of("cpu.icache_size=256KiB", "cpu", "sram_bytes") == data);
    assert_true(energy_of("cpu.dcache_size=64KiB", "cpu", "sram_bytes") > 1.9 * data);
}

static void unknown_names_are_refused(void **state)
{
    cnnvp_config *config = nfu_with("input_buffer.size=64KiB");
    double picojoules;

    (void)state;
    assert_int_equal(cnnvp_config_energy(config, "dram", "no_such", &picojoules, &problem), CNNVP_BAD_INPUT);
    assert_string_equal(problem.text, "the platform has no statistic no_such of dram");
    assert_int_equal(cnnvp_config_energy(config, "bus", "bytes", &picojoules, &problem), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_config_link_energy(config, "dma", "no_such", &picojoules, &problem), CNNVP_BAD_INPUT);
    assert_string_equal(problem.text, "the platform has no statistic links of no_such");
    cnnvp_config_free(config);
}

static void without_resolution_there_are_no_costs(void **state)
{
    cnnvp_config *config;
    double value;

    (void)state;
    assert_int_equal(cnnvp_config_new("nfu", &config, &problem), CNNVP_DONE);
    assert_int_equal(cnnvp_config_static_power(config, &value, &problem), CNNVP_BAD_INPUT);
    assert_string_equal(problem.text, "the configuration has not been resolved");
    assert_int_equal(cnnvp_config_energy(config, "pe_array", "macs", &value, &problem), CNNVP_BAD_INPUT);
    assert_string_equal(problem.text, "the configuration has not been resolved");
    assert_int_equal(cnnvp_config_link_energy(config, "dma", "dram", &value, &problem), CNNVP_BAD_INPUT);
    assert_string_equal(problem.text, "the configuration has not been resolved");
    cnnvp_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_follow_the_configuration),
        cmocka_unit_test(unknown_names_are_refused),
        cmocka_unit_test(without_resolution_there_are_no_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
