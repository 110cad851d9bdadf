/* SPDX-License-Identifier: Apache-2.0 */
/* From text to typed parameters of known models. */
#include <string.h>

#include "config_case.h"

static void resolves_everything(void **state)
{
    (void)state;
    cnnvp_config *config = test_config("base.yaml", test_platform);
    assert_int_equal(cnnvp_config_resolved(config)->instance_count, 6);
    assert_string_equal(cnnvp_config_resolved(config)->platform_name, "base");
    assert_int_equal(test_get(config, "first.rows"), 8);
    assert_int_equal(test_get(config, "second.rows"), 4);
    assert_int_equal(test_get(config, "second.depth"), 2048);
    assert_int_equal(test_get(config, "second.overlap"), 1);
    assert_int_equal(cnnvp_config_get(config, "second.nothing", NULL, NULL), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_config_get(config, "nobody.rows", NULL, NULL), CNNVP_BAD_INPUT);

    uint64_t base = 0, size = 0;
    assert_int_equal(cnnvp_config_window(config, "dram", &base, &size), CNNVP_DONE);
    assert_int_equal(base, 0x80000000);
    assert_int_equal(size, 16 << 20);
    assert_int_equal(cnnvp_config_window(config, "cpu", &base, &size), CNNVP_BAD_INPUT);

    const struct cnnvp_instance *first = test_instance(config, "first");
    assert_int_equal(first->clock, test_instance(config, "cpu")->number);
    assert_int_equal(test_instance(config, "second")->clock, CNNVP_NO_INSTANCE);
    assert_int_equal(first->bus_port, 0);
    assert_int_equal(first->binding_count, 3);
    /* irq first, then the ports in the order of the unit's table */
    assert_int_equal(first->bindings[0].port, 3);
    assert_int_equal(first->bindings[0].target, test_instance(config, "plic")->number);
    assert_int_equal(first->bindings[0].target_port, 1);
    assert_int_equal(first->bindings[0].target_line, 1);
    assert_int_equal(first->bindings[1].port, 1);
    assert_int_equal(first->bindings[1].target, test_instance(config, "dram")->number);
    assert_int_equal(first->bindings[2].target, test_instance(config, "second")->number);
    assert_int_equal(first->bindings[2].target_port, 4);
    const struct cnnvp_instance *cpu = test_instance(config, "cpu");
    assert_int_equal(cpu->binding_count, 1);
    assert_null(cnnvp_config_resolved(config)->instances[cpu->bindings[0].target].unit);
    cnnvp_config_free(config);
}

/* Another model keeps the wiring and what it knows of the parameters; what it does not know stays behind. */
static void another_model(void **state)
{
    (void)state;
    struct cnnvp_error error;
    (void)test_write_text("base.yaml", test_platform);
    cnnvp_config *config = test_config("tuned.yaml", "base: base.yaml\nunits: {cpu: {clock_mhz: 500, quantum: 7}}\n");
    assert_int_equal(cnnvp_config_set(config, "cpu.model=native", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_DONE);
    assert_string_equal(test_instance(config, "cpu")->unit->kind, "native");
    assert_int_equal(test_get(config, "cpu.clock_mhz"), 500);
    assert_int_equal(test_instance(config, "cpu")->binding_count, 1);
    assert_int_equal(cnnvp_config_set(config, "cpu.quantum=3", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "--set cpu.quantum=3: cpu: model native has no parameter \"quantum\""));
    cnnvp_config_free(config);
}

static void keys_and_types(void **state)
{
    (void)state;
    const struct test_refusal cases[] = {
        {"  first: {rows: 1, rows: 2}\n", ":3:20: ", "key \"rows\" is there twice; first at "},
        {"  first: {rows: 1}\n  first: {rows: 2}\n", ":4:3: ", "key \"first\" is there twice"},
        {"  first: {rosw: 1}\n", ":3:11: ", "first: model engine has no parameter \"rosw\"; did you mean \"rows\"?"},
        {"  first: {zzzzzz: 1}\n", ":3:11: ", "it has rows, cols, depth"},
        {"  first: {rows: [1]}\n", ":3:17: ", "first.\"rows\": a list where a single value is expected"},
        {"  first: {rows: {a: 1}}\n", ":3:17: ", "a map where a single value is expected"},
        {"  first: {rows: }\n", ":3:1", "nothing where a single value is expected"},
        {"  first: {model: ~}\n", ":3:18: ", "nothing where a single value is expected"},
        {"  first: {rows: 0}\n", ":3:17: ", "first.rows: \"0\" is out of range: 1 to 64"},
        {"  first: {rows: -1}\n", ":3:17: ", "out of range"},
        {"  first: {rows: 8.5}\n", ":3:17: ", "not a whole number"},
        {"  first: {rows: \"8\"}\n", ":3:17: ", "in quotes"},
        {"  first: {depth: -4}\n", ":3:18: ", "out of range: 1KiB to 16MiB"},
        {"  first: {detail: quick}\n", ":3:19: ", "\"quick\" is not one of fast|cycle"},
        {"  first: 5\n", ":3:10: ", "\"first\": a single value where a map is expected"},
        {"  first: []\n", ":3:10: ", "a list where a map is expected"},
        {"  fourth: null\n", ":3:11: ", "the base has no instance of this name"},
        {"  frist: {rows: 4}\n", ":3:3: ",
         "frist: has no `model:`, and no base has an instance of this name; "
         "did you mean \"first\"?"},
        {"  extra: {model: enginee}\n", ":3:18: ", "extra.model: there is no unit of kind enginee; did you mean"},
        {"  extra: {model: ./libx.so:x}\n", ":3:18: ", "libx.so cannot be loaded"},
        {"  extra: {model: wrong}\n", ":3:3: ", "extra.rows: the model's default \"0\" is out of range"},
        {"  bus: {rows: 3}\n", ":3:9: ", "bus: model bus has no parameter \"rows\""},
    };
    TEST_REFUSED(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resolves_everything),
        cmocka_unit_test(another_model),
        cmocka_unit_test(keys_and_types),
    };
    return cmocka_run_group_tests(tests, test_make_folder, test_remove_folder);
}
