/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, overriding, resolving and printing of platform files. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "energy.h"
#include "test_config.h"

static char folder[] = "/tmp/cnnvp_test_config_XXXXXX";

const char test_platform[] =
    "platform: base\n"
    "units:\n"
    "  cpu: {model: core, connect: {bus: bus}}\n"
    "  bus: {model: bus}\n"
    "  plic: {model: plic, at: 0x0c000000, connect: {external: cpu.2}}\n"
    "  dram: {model: memory, at: 0x80000000}\n"
    "  first: {model: engine, at: 0x10000000, irq: 1, clock: cpu, connect: {mem: dram, next: second.done}}\n"
    "  second: {model: engine, at: 0x10001000, rows: 4, depth: 2KiB, connect: {mem: dram.mem, irq: plic.source.7}}\n";

const char *test_write(const char *name, const void *data, size_t size)
{
    static char paths[8][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, PATH_MAX, "%s/%s", folder, name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(data, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
    return path;
}

const char *test_write_text(const char *name, const char *text)
{
    return test_write(name, text, strlen(text));
}

cnnvp_result test_load(const char *file, cnnvp_config **config, struct cnnvp_error *error)
{
    error->text[0] = '\0';
    cnnvp_result result = cnnvp_config_new(file, config, error);
    if (result != CNNVP_DONE)
        return result;
    result = cnnvp_config_resolve(*config, error);
    if (result == CNNVP_DONE)
        return result;
    cnnvp_config_free(*config);
    *config = NULL;
    return result;
}

static cnnvp_config *load(const char *name, const char *text)
{
    cnnvp_config *config = NULL;
    struct cnnvp_error error;
    if (test_load(test_write_text(name, text), &config, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return config;
}

static uint64_t get(const cnnvp_config *config, const char *name)
{
    uint64_t value = 0;
    assert_int_equal(cnnvp_config_get(config, name, &value, NULL), CNNVP_DONE);
    return value;
}

static const struct cnnvp_instance *instance_of(const cnnvp_config *config, const char *name)
{
    const struct cnnvp_instance *found = cnnvp_box_find(cnnvp_config_resolved(config), name);
    assert_non_null(found);
    return found;
}

static void resolves_everything(void **state)
{
    (void)state;
    cnnvp_config *config = load("base.yaml", test_platform);
    assert_int_equal(cnnvp_config_resolved(config)->instance_count, 6);
    assert_string_equal(cnnvp_config_resolved(config)->platform_name, "base");
    assert_int_equal(get(config, "first.rows"), 8);
    assert_int_equal(get(config, "second.rows"), 4);
    assert_int_equal(get(config, "second.depth"), 2048);
    assert_int_equal(get(config, "second.overlap"), 1);
    assert_int_equal(cnnvp_config_get(config, "second.nothing", NULL, NULL), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_config_get(config, "nobody.rows", NULL, NULL), CNNVP_BAD_INPUT);

    uint64_t base = 0, size = 0;
    assert_int_equal(cnnvp_config_window(config, "dram", &base, &size), CNNVP_DONE);
    assert_int_equal(base, 0x80000000);
    assert_int_equal(size, 16 << 20);
    assert_int_equal(cnnvp_config_window(config, "cpu", &base, &size), CNNVP_BAD_INPUT);

    const struct cnnvp_instance *first = instance_of(config, "first");
    assert_int_equal(first->clock, instance_of(config, "cpu")->number);
    assert_int_equal(instance_of(config, "second")->clock, CNNVP_NO_INSTANCE);
    assert_int_equal(first->bus_port, 0);
    assert_int_equal(first->binding_count, 3);
    /* irq first, then the ports in the order of the unit's table */
    assert_int_equal(first->bindings[0].port, 3);
    assert_int_equal(first->bindings[0].target, instance_of(config, "plic")->number);
    assert_int_equal(first->bindings[0].target_port, 1);
    assert_int_equal(first->bindings[0].target_line, 1);
    assert_int_equal(first->bindings[1].port, 1);
    assert_int_equal(first->bindings[1].target, instance_of(config, "dram")->number);
    assert_int_equal(first->bindings[2].target, instance_of(config, "second")->number);
    assert_int_equal(first->bindings[2].target_port, 4);
    const struct cnnvp_instance *cpu = instance_of(config, "cpu");
    assert_int_equal(cpu->binding_count, 1);
    assert_null(cnnvp_config_resolved(config)->instances[cpu->bindings[0].target].unit);
    cnnvp_config_free(config);
}

/* `memory: external` is another model for the instance dram: the window stays, its way out needs no connection. */
static void memory_outside(void **state)
{
    (void)state;
    (void)test_write_text("base.yaml", test_platform);
    cnnvp_config *config = load("outside.yaml", "base: base.yaml\nmemory: external\nunits: {dram: {size: 32MiB}}\n");
    const struct cnnvp_instance *dram = instance_of(config, "dram");
    assert_string_equal(dram->unit->kind, "external");
    assert_int_equal(dram->binding_count, 0);
    assert_int_equal(dram->base, 0x80000000);
    assert_int_equal(dram->size, 32 << 20);
    assert_non_null(strstr(dram->place.text, "outside.yaml:2:9"));
    cnnvp_config_free(config);
}

/* A file of one's own that starts from a built-in table, over it the platform's entries, over these --set. */
static void energy_table(void **state)
{
    (void)state;
    struct cnnvp_error error;
    char *yaml = NULL, *map = NULL;
    (void)test_write_text("base.yaml", test_platform);
    (void)test_write_text("energy.yaml", "table: mine\nbase: eyeriss\nentries: {int16_mac: 2, dram_byte: 7.5}\n");
    cnnvp_config *config = load("table.yaml", "base: base.yaml\nenergy: {table: energy.yaml, dram_byte: 9}\n");
    const struct cnnvp_energy_table *table = cnnvp_config_resolved(config)->energy;
    assert_string_equal(table->name, "mine");
    assert_true(table->picojoules[CNNVP_ENERGY_int16_mac] == 2.0);
    assert_true(table->picojoules[CNNVP_ENERGY_dram_byte] == 9.0);
    assert_true(table->picojoules[CNNVP_ENERGY_neighbour_word] == 2.0 * 1.1);
    assert_int_equal(table->sram_scaling, 0);
    assert_int_equal(cnnvp_config_set(config, "energy.dram_byte=11", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(config, "energy.sram_scaling=on", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    table = cnnvp_config_resolved(config)->energy;
    assert_true(table->picojoules[CNNVP_ENERGY_dram_byte] == 11.0);
    assert_int_equal(table->sram_scaling, 1);
    /* what is printed means the same */
    assert_int_equal(cnnvp_config_text(config, &yaml, &map), CNNVP_DONE);
    const struct cnnvp_energy_table before = *table;
    cnnvp_config_free(config);
    config = load("again.yaml", yaml);
    table = cnnvp_config_resolved(config)->energy;
    assert_memory_equal(table->picojoules, before.picojoules, sizeof before.picojoules);
    assert_int_equal(table->sram_scaling, 1);
    free(yaml);
    free(map);
    cnnvp_config_free(config);
}

static void overrides_and_removes(void **state)
{
    (void)state;
    (void)test_write_text("base.yaml", test_platform);
    (void)test_write_text("middle.yaml", "platform: middle\nbase: base.yaml\nunits:\n  second: {rows: 16, cols: 16}\n");
    cnnvp_config *config =
        load("top.yaml", "base: ./middle.yaml\n"
                         "units:\n"
                         "  first: null\n"
                         "  second: {rows: 32, connect: {irq: plic.source.3}}\n"
                         "  third: {model: engine, at: 0x10000000, connect: {mem: dram}}\n");
    assert_string_equal(cnnvp_config_resolved(config)->platform_name, "middle");
    assert_null(cnnvp_box_find(cnnvp_config_resolved(config), "first"));
    assert_int_equal(get(config, "second.rows"), 32);
    assert_int_equal(get(config, "second.cols"), 16);
    assert_int_equal(get(config, "second.depth"), 2048);
    assert_int_equal(get(config, "third.rows"), 8);
    assert_int_equal(instance_of(config, "second")->bindings[1].target_line, 3);
    cnnvp_config_free(config);
}

/* A port, an address and an interrupt can be taken away. */
static void null_takes_away(void **state)
{
    (void)state;
    (void)test_write_text("base.yaml", test_platform);
    cnnvp_config *config =
        load("less.yaml", "base: base.yaml\n"
                          "units:\n"
                          "  first: {irq: null, clock: ~, connect: {next: }}\n"
                          "  dram: {at: null}\n");
    assert_int_equal(instance_of(config, "first")->binding_count, 1);
    assert_int_equal(instance_of(config, "first")->clock, CNNVP_NO_INSTANCE);
    assert_int_equal(instance_of(config, "dram")->on_bus, 0);
    cnnvp_config_free(config);
}

static void set_overrides_files(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_config *config = load("base.yaml", test_platform);
    assert_int_equal(cnnvp_config_set(config, "second.rows=5", &error), CNNVP_DONE);
    assert_null(cnnvp_config_resolved(config));
    assert_int_equal(cnnvp_config_set(config, "second.rows=6", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(config, "first.label=a=b.c", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(config, "first.depth=1 MiB", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(config, "first.at=0x20000000", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    const char *text = NULL;
    assert_int_equal(cnnvp_config_get(config, "first.label", NULL, &text), CNNVP_DONE);
    assert_string_equal(text, "a=b.c");
    assert_int_equal(get(config, "second.rows"), 6);
    assert_int_equal(get(config, "first.depth"), 1 << 20);
    assert_int_equal(instance_of(config, "first")->base, 0x20000000);
    cnnvp_config_place_error(instance_of(config, "second"), 0, "is too few", &error);
    assert_string_equal(error.text, "--set second.rows=6: second.rows: is too few");
    cnnvp_config_place_error(instance_of(config, "second"), UINT32_MAX, "is wrong", &error);
    assert_non_null(strstr(error.text, "base.yaml:8:3: second: is wrong"));
    cnnvp_config_free(config);
}

/* A set that is refused by resolve leaves a configuration that can be freed, and set again. */
static void wrong_set_can_be_corrected(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_config *config = load("base.yaml", test_platform);
    assert_int_equal(cnnvp_config_set(config, "second.rows=0", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "--set second.rows=0: second.rows: \"0\" is out of range: 1 to 64");
    assert_int_equal(cnnvp_config_set(config, "second.rows=9", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    assert_int_equal(get(config, "second.rows"), 9);
    cnnvp_config_free(config);
}

/* Another model keeps the wiring and what it knows of the parameters; what it does not know stays behind. */
static void another_model(void **state)
{
    (void)state;
    struct cnnvp_error error;
    (void)test_write_text("base.yaml", test_platform);
    cnnvp_config *config = load("tuned.yaml", "base: base.yaml\nunits: {cpu: {clock_mhz: 500, quantum: 7}}\n");
    assert_int_equal(cnnvp_config_set(config, "cpu.model=native", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    assert_string_equal(instance_of(config, "cpu")->unit->kind, "native");
    assert_int_equal(get(config, "cpu.clock_mhz"), 500);
    assert_int_equal(instance_of(config, "cpu")->binding_count, 1);
    assert_int_equal(cnnvp_config_set(config, "cpu.quantum=3", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "--set cpu.quantum=3: cpu: model native has no parameter \"quantum\""));
    cnnvp_config_free(config);
}

static void copies_are_independent(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_config *config = load("base.yaml", test_platform);
    cnnvp_config *copy = cnnvp_config_copy(config);
    assert_non_null(copy);
    assert_int_equal(cnnvp_config_set(config, "second.rows=9", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    assert_int_equal(get(config, "second.rows"), 9);
    assert_int_equal(get(copy, "second.rows"), 4);
    cnnvp_config_free(config);
    assert_int_equal(get(copy, "second.rows"), 4);
    assert_string_equal(instance_of(copy, "second")->name, "second");
    cnnvp_config_free(copy);
}

/* What check prints reads back, from another folder, to the same print. */
static void text_reads_back(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_config *config = load("base.yaml", test_platform);
    assert_int_equal(cnnvp_config_set(config, "first.label=\"two\\\t words: # \xc3\xa9", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_set(config, "first.overlap=no", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    char *yaml = NULL, *map = NULL, *yaml_again = NULL, *map_again = NULL;
    assert_int_equal(cnnvp_config_text(config, &yaml, &map), CNNVP_DONE);
    cnnvp_config *again = load("again.yaml", yaml);
    assert_int_equal(cnnvp_config_text(again, &yaml_again, &map_again), CNNVP_DONE);
    assert_string_equal(yaml, yaml_again);
    assert_string_equal(map, map_again);
    assert_int_equal(get(again, "first.overlap"), 0);
    const char *label = NULL;
    assert_int_equal(cnnvp_config_get(again, "first.label", NULL, &label), CNNVP_DONE);
    assert_string_equal(label, "\"two\\\t words: # \xc3\xa9");
    assert_non_null(strstr(map, "0x0c000000  0x0fffffff    67108864  -     plic "));
    assert_non_null(strstr(map, "0x10000000  0x10000fff        4096  1     first"));
    free(yaml);
    free(map);
    free(yaml_again);
    free(map_again);
    cnnvp_config_free(config);
    cnnvp_config_free(again);
}

static void presets_are_found(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_config *config = NULL;
    (void)test_write_text("small.yaml", test_platform);
    assert_int_equal(setenv("CNNVP_PRESETS", folder, 1), 0);
    assert_int_equal(test_load("small", &config, &error), CNNVP_DONE);
    cnnvp_config_free(config);
    config = load("on_preset.yaml", "base: small\nunits: {first: {rows: 3}}\n");
    assert_int_equal(get(config, "first.rows"), 3);
    cnnvp_config_free(config);
    assert_int_equal(test_load("smal", &config, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "there is no preset \"smal\" here; did you mean \"small\"?"));
    assert_int_equal(test_load("elsewhere", &config, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "there is no preset \"elsewhere\" here; there are "));
    assert_non_null(strstr(error.text, "small"));
    assert_int_equal(unsetenv("CNNVP_PRESETS"), 0);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[PATH_MAX + 16];
    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(resolves_everything),
        cmocka_unit_test(memory_outside),
        cmocka_unit_test(energy_table),
        cmocka_unit_test(overrides_and_removes),
        cmocka_unit_test(null_takes_away),
        cmocka_unit_test(set_overrides_files),
        cmocka_unit_test(wrong_set_can_be_corrected),
        cmocka_unit_test(another_model),
        cmocka_unit_test(copies_are_independent),
        cmocka_unit_test(text_reads_back),
        cmocka_unit_test(presets_are_found),
    };
    int failures = cmocka_run_group_tests_name("config", cases, make_folder, NULL);
    failures += _cmocka_run_group_tests("config errors", test_error_cases, test_error_case_count, NULL, remove_folder);
    failures += _cmocka_run_group_tests("config values", test_value_cases, test_value_case_count, NULL, NULL);
    return failures ? 1 : 0;
}
