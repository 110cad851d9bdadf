/* SPDX-License-Identifier: Apache-2.0 */
/* Specifications that are wrong; what is wrong with a single parameter is in test_axis.c. */

#include "test.h"

#include "explore_case.h"

static void test_key_errors(void **state)
{
    static const struct explore_error cases[] = {
        /* from line 3 on */
        {"parameters: {pe_array.rwos: [4]}",
         ":3:14: the platform has no parameter \"pe_array.rwos\"; did you mean \"pe_array.rows\"?"},
        {"parameters: {pe_array.rows: [4, 8]}\nconstraints: [\"pe_array.rows > 100\"]",
         "allow none of the 2 combinations"},
        {"parameters: {pe_array.rows: [4, 8]}\nconstraints: [\"pe_array.rowz > 100\"]", ":4:16: there is no parameter"},
        {"objectives: [total.time]",
         ":3:14: the statistics have no number \"total.time\"; did you mean \"total.time_ps\"?"},
        {"objectives: [total.time_ps, total.time_ps]", ":3:29: objective \"total.time_ps\" is there twice"},
        {"objectives: [platform]", ":3:14: the statistics have no number"},
        {"serch: grid", ":3:1: unknown key \"serch\"; did you mean \"search\"?"},
        {"search: best", ":3:9: search: grid, {random: N}"},
        {"search: {random: 0}", ":3:18: random: \"0\" is out of range"},
        {"search: {nsga2: {population: 8, generations: 2}}", ":3:17: nsga2 needs objectives"},
        {"command: rnu", ":3:10: command: \"rnu\" is none of run, train and exec"},
        {"platform: nosuch", "nosuch"},
        {"parameters: [pe_array.rows]", ":3:13: parameters: a list where a map"},
        {"parameters: {dram.power_down_after: [8, 16]}",
         ":3:14: dram.power_down_after changes nothing; it has an effect only where dram.power_down!=off"},
        {"parameters: {dram.power_down: [off], cpu.dcache_ways: [1, 2]}",
         ":3:38: cpu.dcache_ways changes nothing; it has an effect only where cpu.memory=cache"},
        {"parameters: {pe_array.rows: [4, 8]}\nderive: {dma.receive_share: pe_array.rows}",
         ":4:29: dma.receive_share changes nothing; it has an effect only where dma.arbiter=priority|weighted"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        explore_check_error(explore_with_network(cases[i].text), &cases[i]);
}

static void test_option_errors(void **state)
{
    static const struct explore_error cases[] = {
        /* from line 2 on */
        {"options: {shedule: layer}",
         "\"shedule\" is no option of run that a sweep can take; did you mean \"schedule\"?"},
        {"options: {schedule: [layer, wide]}", ":2:29: schedule: \"wide\" is not one of layer|depth-first"},
        {"options: {timing_only: 3}", "timing_only: true or false is expected"},
        {"options: {max_time: 3}", "\"3\" is not a time above 0"},
        {"options: {epochs: 3}", "\"epochs\" is no option of run"},
        {"options: {input: /nonexistent.npy}", "input: /nonexistent.npy: cannot be read"},
    };
    static const struct explore_error network[] = {
        {"network: nosuch.onnx", ":1:10: network: nosuch.onnx: No such file or directory"},
        {"network: [lenet5, lenet]",
         ":1:19: network: there is no file and no installed network \"lenet\"; did you mean \"lenet5\"?"},
        {"platform: nfu", "the key network is missing"},
    };
    char text[1024];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        (void)snprintf(text, sizeof text, "network: %s/scripts/networks/lenet5.onnx\n%s", getenv("SOURCE"),
                       cases[i].text);
        explore_check_error(text, &cases[i]);
    }
    for (size_t i = 0; i < sizeof network / sizeof *network; ++i)
        explore_check_error(network[i].text, &network[i]);
}

/* Parameters that have an effect in some points: another one, or what is derived from it, is their condition. */
static void test_effects(void **state)
{
    static const char *const right[] = {
        "parameters: {dram.power_down: [off, power-down], dram.power_down_after: [8, 16]}",
        "parameters: {dram.power_down_after: [8, 16], dram.power_down: [off, power-down]}",
        "parameters: {dram.port_mhz: [100, 200]}\nderive: {dram.port_bytes: dram.port_mhz / 50}",
        "parameters: {dram.size: [1GiB, 2GiB], dram.refresh: [all-ranks, staggered]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof *right; ++i)
        cnnvp_sweep_free(explore_sweep(right[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_errors), cmocka_unit_test(test_option_errors), cmocka_unit_test(test_effects)};
    return cmocka_run_group_tests(tests, explore_case_begin, explore_case_end);
}
