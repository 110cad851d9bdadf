/* SPDX-License-Identifier: Apache-2.0 */
/* The energy table of a platform. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "energy.h"

#include "config_case.h"

/* A file of one's own that starts from a built-in table, over it the platform's entries, over these --set. */
static void energy_table(void **state)
{
    (void)state;
    struct cnnvp_error error;
    char *yaml = NULL, *map = NULL;
    (void)test_write_text("base.yaml", test_platform);
    (void)test_write_text("energy.yaml", "table: mine\nbase: eyeriss\nentries: {int16_mac: 2, dram_byte: 7.5}\n");
    cnnvp_config *config = test_config("table.yaml", "base: base.yaml\nenergy: {table: energy.yaml, dram_byte: 9}\n");
    const struct cnnvp_energy_table *table = cnnvp_config_resolved(config)->energy;
    assert_string_equal(table->name, "mine");
    assert_true(table->picojoules[CNNVP_ENERGY_int16_mac] == 2.0);
    assert_true(table->picojoules[CNNVP_ENERGY_dram_byte] == 9.0);
    assert_true(table->picojoules[CNNVP_ENERGY_neighbour_word] == 2.0 * 1.1);
    assert_int_equal(table->sram_scaling, 0);
    assert_int_equal(cnnvp_config_set(config, "energy.dram_byte=11", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(config, "energy.sram_scaling=true", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    table = cnnvp_config_resolved(config)->energy;
    assert_true(table->picojoules[CNNVP_ENERGY_dram_byte] == 11.0);
    assert_int_equal(table->sram_scaling, 1);
    /* what is printed means the same */
    assert_int_equal(cnnvp_config_text(config, &yaml, &map), CNNVP_DONE);
    const struct cnnvp_energy_table before = *table;
    cnnvp_config_free(config);
    config = test_config("again.yaml", yaml);
    table = cnnvp_config_resolved(config)->energy;
    assert_memory_equal(table->picojoules, before.picojoules, sizeof before.picojoules);
    assert_int_equal(table->sram_scaling, 1);
    free(yaml);
    free(map);
    cnnvp_config_free(config);
}

/* Printed tables read back as the same: very small numbers, and a dram_byte that is the built-in table's. */
static void printed_tables(void **state)
{
    static const char *const entries[] = {
        "int8_mul: 0.00001",
        "int8_mul: 0.0000000000000000000000000123",
        "int8_mul: .00000000000000000000000000001",
        "int8_mul: 123456789.0625",
        "int8_mul: 0.3",
        "dram_byte: 243.75",
        "table: eyeriss, dram_byte: 243.75"};
    (void)state;
    (void)test_write_text("base.yaml", test_platform);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; ++i) {
        char *yaml = NULL, *map = NULL, text[160];
        (void)snprintf(text, sizeof text, "base: base.yaml\nenergy: {%s}\n", entries[i]);
        cnnvp_config *config = test_config("printed.yaml", text);
        assert_int_equal(cnnvp_config_text(config, &yaml, &map), CNNVP_DONE);
        cnnvp_config *again = test_config("again.yaml", yaml);
        const struct cnnvp_energy_table *one = cnnvp_config_resolved(config)->energy;
        const struct cnnvp_energy_table *other = cnnvp_config_resolved(again)->energy;
        assert_memory_equal(one->picojoules, other->picojoules, sizeof one->picojoules);
        assert_int_equal(one->own_energies, other->own_energies);
        free(yaml);
        free(map);
        cnnvp_config_free(config);
        cnnvp_config_free(again);
    }
}

static void wrong_tables(void **state)
{
    (void)state;
    const struct test_refusal cases[] = {
        {"!zzz: {}\n",
         ":1:1: ", "unknown key \"zzz\"; a platform file has platform, base, memory, technology, energy, units"},
        {"!base: base.yaml\nenergy: eyeris\n", ":2:9: ", "there is no table \"eyeris\"; did you mean \"eyeriss\"?"},
        {"!base: base.yaml\nenergy: {table: none.yaml}\n", ":2:17: ", "none.yaml cannot be read: No such file"},
        {"!base: base.yaml\nenergy: {dram_bit: 3}\n", ":2:10: ", "no entry \"dram_bit\"; did you mean \"dram_byte\"?"},
        {"!base: base.yaml\nenergy: {dram_byte: -3}\n", ":2:21: ", "\"-3\" is no number of picojoules"},
        {"!base: base.yaml\nenergy: {dram_byte: 1e9}\n", ":2:21: ", "is no number of picojoules"},
        {"!base: base.yaml\nenergy: {sram_scaling: 1}\n", ":2:24: ", "energy.sram_scaling: \"1\" is not one of off|on"},
        {"!units: {energy: {model: core}}\n", ":1:9: ", "energy is the energy table"},
    };
    TEST_REFUSED(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_table),
        cmocka_unit_test(printed_tables),
        cmocka_unit_test(wrong_tables),
    };
    return cmocka_run_group_tests(tests, test_make_folder, test_remove_folder);
}
