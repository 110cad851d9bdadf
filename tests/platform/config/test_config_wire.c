/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, clocks, instances that nothing uses. */
#include <stdlib.h>
#include <string.h>

#include "config_case.h"

static void addresses(void **state)
{
    (void)state;
    const struct test_refusal cases[] = {
        {"  second: {at: 0x10000ffc}\n",
         ":3:16: ", "first (0x10000000 to 0x10000fff) and second (0x10000ffc to 0x10001ffb) overlap"},
        {"  dram: {size: 2GiB}\n  first: {at: 0xfffff000}\n",
         ":4:15: ", "dram (0x80000000 to 0xffffffff) and first (0xfffff000 to 0xffffffff) overlap"},
        {"  dram: {size: 2GiB, at: 0x80001000}\n", ":3:26: ", "reaches beyond 0xffffffff"},
        {"  first: {at: 0x100000000}\n", ":3:15: ", "first.at: \"0x100000000\" is out of range: 0x0 to 0xffffffff"},
        {"  first: {at: -4}\n", ":3:15: ", "out of range"},
        {"  first: {at: 0x10000002}\n", ":3:15: ", "is not a multiple of 4"},
        {"  first: {at: here}\n", ":3:15: ", "a whole number is expected"},
        {"  cpu: {at: 0x1000}\n", ":3:9: ", "cpu.at: model core has no port that the bus could reach"},
        {"  bus: {at: 0x1000}\n", ":3:9: ", "bus.at: model bus has no port"},
        {"  hole: {model: empty, at: 0x1000}\n", ":3:28: ", "hole: its window has no bytes"},
        {"  bus2: {model: bus}\n", ":3:3: ", "bus and bus2 are both a bus; a platform has one"},
        {"!units: {dram: {model: memory, at: 0x80000000}}\n", ":1:31: ", "there is no instance of model bus"},
        {"  first: {at: null}\n", NULL, "first: nothing reaches its registers (port regs)"},
    };
    TEST_REFUSED(cases);
}

static void clocks(void **state)
{
    (void)state;
    const struct test_refusal cases[] = {
        {"  first: {clock: dram}\n",
         ":3:18: ", "first.clock: \"dram\" has no parameter clock_mhz; those with a clock are"},
        {"  first: {clock: cpuu}\n", ":3:18: ", "is not an instance; did you mean \"cpu\"?"},
        {"  cpu: {clock: cpu}\n", ":3:9: ", "has a clock of its own"},
    };
    TEST_REFUSED(cases);
}

static void idle(void **state)
{
    (void)state;
    const struct test_refusal cases[] = {
        {"  spare: {model: block, idle: maybe}\n", ":3:31: ", "spare.idle: "},
        {"  spare: {model: block}\n", ":3:3: ",
         "spare: no other instance's port leads to it, so it would do nothing; connect one to it, or write "
         "`idle: true` if that is meant"},
        {"  spare: {model: block, idle: false}\n", ":3:3: ", "spare: no other instance's port leads to it"},
    };
    TEST_REFUSED(cases);
    cnnvp_config *config = NULL;
    struct cnnvp_error error;
    const char *file = test_write_text("idle.yaml", "base: base.yaml\nunits:\n  spare: {model: block, idle: true}\n");
    assert_int_equal(test_load(file, &config, &error), CNNVP_DONE);
    char *yaml = NULL;
    char *map = NULL;
    assert_int_equal(cnnvp_config_text(config, &yaml, &map), CNNVP_DONE);
    assert_non_null(strstr(yaml, "    model: block\n    idle: true\n"));
    free(yaml);
    free(map);
    cnnvp_config_free(config);
}

static void speedup(void **state)
{
    (void)state;
    const struct test_refusal cases[] = {
        {"  first: {speedup: 3}\n", ":3:20: ", "first.speedup: \"3\" is out of range: 1 to 2"},
        {"  bus: {speedup: 2}\n", ":3:9: ", "bus.speedup: its times are not the platform's"},
        {"  dram: {model: external, speedup: 2}\n", ":3:27: ", "dram.speedup: its times are not the platform's"},
    };
    TEST_REFUSED(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        cmocka_unit_test(clocks),
        cmocka_unit_test(idle),
        cmocka_unit_test(speedup),
    };
    return cmocka_run_group_tests(tests, test_make_folder, test_remove_folder);
}
