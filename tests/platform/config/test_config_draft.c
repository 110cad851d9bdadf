/* SPDX-License-Identifier: Apache-2.0 */
/* Bases, what overrides what, presets, and the keys of a file. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_case.h"

/* `memory: external` is another model for the instance dram: the window stays, its way out needs no connection. */
static void memory_outside(void **state)
{
    (void)state;
    (void)test_write_text("base.yaml", test_platform);
    cnnvp_config *config =
        test_config("outside.yaml", "base: base.yaml\nmemory: external\nunits: {dram: {size: 32MiB}}\n");
    const struct cnnvp_instance *dram = test_instance(config, "dram");
    assert_string_equal(dram->unit->kind, "external");
    assert_int_equal(dram->binding_count, 0);
    assert_int_equal(dram->base, 0x80000000);
    assert_int_equal(dram->size, 32 << 20);
    assert_non_null(strstr(dram->place.text, "outside.yaml:2:9"));
    cnnvp_config_free(config);
}

static void overrides_and_removes(void **state)
{
    (void)state;
    (void)test_write_text("base.yaml", test_platform);
    (void)test_write_text("middle.yaml", "platform: middle\nbase: base.yaml\nunits:\n  second: {rows: 16, cols: 16}\n");
    cnnvp_config *config = test_config(
        "top.yaml",
        "base: ./middle.yaml\n"
        "units:\n"
        "  first: null\n"
        "  second: {rows: 32, connect: {irq: plic.source.3}}\n"
        "  third: {model: engine, at: 0x10000000, connect: {mem: dram}}\n");
    assert_string_equal(cnnvp_config_resolved(config)->platform_name, "middle");
    assert_null(cnnvp_box_find(cnnvp_config_resolved(config), "first"));
    assert_int_equal(test_get(config, "second.rows"), 32);
    assert_int_equal(test_get(config, "second.cols"), 16);
    assert_int_equal(test_get(config, "second.depth"), 2048);
    assert_int_equal(test_get(config, "third.rows"), 8);
    assert_int_equal(test_instance(config, "second")->bindings[1].target_line, 3);
    cnnvp_config_free(config);
}

/* A port, an address and an interrupt can be taken away. */
static void null_takes_away(void **state)
{
    (void)state;
    (void)test_write_text("base.yaml", test_platform);
    cnnvp_config *config =
        test_config("less.yaml", "base: base.yaml\n"
                                 "units:\n"
                                 "  first: {irq: null, clock: ~, connect: {next: }}\n"
                                 "  dram: {at: null}\n");
    assert_int_equal(test_instance(config, "first")->binding_count, 1);
    assert_int_equal(test_instance(config, "first")->clock, CNNVP_NO_INSTANCE);
    assert_int_equal(test_instance(config, "dram")->on_bus, 0);
    cnnvp_config_free(config);
}

static void presets_are_found(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_config *config = NULL;
    (void)test_write_text("small.yaml", test_platform);
    assert_int_equal(setenv("CNNVP_PRESETS", test_folder, 1), 0);
    assert_int_equal(test_load("small", &config, &error), CNNVP_DONE);
    cnnvp_config_free(config);
    config = test_config("on_preset.yaml", "base: small\nunits: {first: {rows: 3}}\n");
    assert_int_equal(test_get(config, "first.rows"), 3);
    cnnvp_config_free(config);
    assert_int_equal(test_load("smal", &config, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "there is no preset \"smal\" here; did you mean \"small\"?"));
    assert_int_equal(test_load("elsewhere", &config, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "there is no preset \"elsewhere\" here; there are "));
    assert_non_null(strstr(error.text, "small"));
    assert_int_equal(unsetenv("CNNVP_PRESETS"), 0);
}

static void bases(void **state)
{
    (void)state;
    (void)test_write_text("loop_a.yaml", "base: loop_b.yaml\nunits: {}\n");
    const char *loop_b = test_write_text("loop_b.yaml", "base: ./loop_a.yaml\nunits: {}\n");
    cnnvp_config *config = NULL;
    struct cnnvp_error error;
    assert_int_equal(test_load(loop_b, &config, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "loop_a.yaml:1:7: base: "));
    assert_non_null(strstr(error.text, "is its own base"));
    test_refused_file(test_write_text("self.yaml", "base: self.yaml\n"), ":1:7: ", "is its own base");
    test_refused_file(test_write_text("lost.yaml", "base: nowhere.yaml\n"), ":1:7: ", "cannot be read: No such file");
    test_refused_file(test_write_text("lost.yaml", "base: nowhere\n"), ":1:7: ", "there is no preset \"nowhere\"");
    /* A chain that is too long, though no file repeats. */
    char name[32], text[64];
    for (int i = 0; i <= CNNVP_CONFIG_BASES + 1; ++i) {
        (void)snprintf(name, sizeof name, "chain%d.yaml", i);
        (void)snprintf(text, sizeof text, "base: chain%d.yaml\nunits: {}\n", i + 1);
        (void)test_write_text(name, text);
    }
    const char *first = test_write_text("chain0.yaml", "base: chain1.yaml\nunits: {}\n");
    assert_int_equal(test_load(first, &config, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "a chain of more than"));
}

static void keys_and_names(void **state)
{
    (void)state;
    const struct test_refusal cases[] = {
        {"!platform: x\n", "", "has no units"},
        {"!units: [1, 2]\n", ":1:8: ", "units: a list where a map of instances is expected"},
        {"!units:\n", ":1:", "units: nothing where a map"},
        {"!base: [nfu]\n", ":1:7: ", "base: a list where a name is expected"},
        {"!base: ''\nunits: {}\n", ":1:7: ", "base: nothing where a name is expected"},
        {"!unit: {}\n", ":1:1: ", "unknown key \"unit\"; did you mean \"units\"?"},
        {"!base: base.yaml\nmemory: ddr4\n",
         ":2:9: ", "memory: \"ddr4\" is neither dram, the platform's own model, nor external"},
        {"!base: base.yaml\nmemory: {}\n", ":2:9: ", "memory: a map where a name is expected"},
        {"!memory: external\nunits: {cpu: {model: core}}\n", ":1:9: ", "memory: there is no instance dram"},
        {"!base: base.yaml\nmemory: external\nunits: {dram: {rows: 3}}\n",
         ":3:16: ", "model external has no parameter \"rows\""},
        {"!base: base.yaml\nmemory: external\nunits: {dram: {connect: {socket: dram}}}\n",
         ":3:34: ", "dram.connect.socket: leads out of the platform"},
        {"!units: {\xc3\xa9: {model: core}}\n", ":1:9: ", "is not a name for an instance"},
        {"!units: {a.b: {model: core}}\n", ":1:9: ", "is not a name for an instance"},
        {"!units: {1a: {model: core}}\n", ":1:9: ", "is not a name for an instance"},
        {"!units: {one: {model: core}, One: {model: core}}\n",
         ":1:29: ", "One differs from one only in small and capital letters"},
    };
    TEST_REFUSED(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_outside),  cmocka_unit_test(overrides_and_removes),
        cmocka_unit_test(null_takes_away), cmocka_unit_test(presets_are_found),
        cmocka_unit_test(bases),           cmocka_unit_test(keys_and_names),
    };
    return cmocka_run_group_tests(tests, test_make_folder, test_remove_folder);
}
