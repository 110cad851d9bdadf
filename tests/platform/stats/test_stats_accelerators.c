/* SPDX-License-Identifier: Apache-2.0 */
/* Two instruction elements, each with an array of its own, and one memory. */
#include "stats_case.h"

enum { ELEMENT_0, ELEMENT_1, ARRAY_0, ARRAY_1, MEMORY, UNITS };

static struct cnnvp_unit element;
static struct cnnvp_instance instances[UNITS];
static struct cnnvp_binding to_array[2], to_memory[2];
static const struct cnnvp_resolved platform = {"two", instances, UNITS, NULL};

static int set_up(void **state)
{
    static const struct cnnvp_port port = {.name = "units", .kind = CNNVP_PORT_MEM_INITIATOR};
    static const char *const names[] = {"instruction", "instruction_2", "pe_array", "pe_array_2", "dram"};
    static const unsigned like[] = {ELEMENT, ELEMENT, ARRAY, ARRAY, DRAM};

    (void)state;
    for (uint32_t i = 0; i < UNITS; ++i) {
        instances[i] = machine()->instances[like[i]];
        instances[i].name = names[i];
        instances[i].speedup = 1;
    }
    element = *instances[ELEMENT_0].unit;
    element.ports = &port;
    element.port_count = 1;
    for (uint32_t i = 0; i < 2; ++i) {
        to_array[i] = (struct cnnvp_binding){.target = ARRAY_0 + i, .text = names[ARRAY_0 + i]};
        to_memory[i] = (struct cnnvp_binding){.port = ARRAY_MEM, .target = MEMORY, .text = names[MEMORY]};
        instances[ELEMENT_0 + i].unit = &element;
        instances[ELEMENT_0 + i].bindings = &to_array[i];
        instances[ARRAY_0 + i].bindings = &to_memory[i];
        instances[ELEMENT_0 + i].binding_count = instances[ARRAY_0 + i].binding_count = 1;
    }
    return 0;
}

static json_t *run(void)
{
    cnnvp_recorder *recorder = stats_make_for(&platform, 0);

    cnnvp_stats_count(&recorder->stats, ELEMENT_0, ELEMENT_INSTRUCTIONS, 1, 3);
    cnnvp_stats_count(&recorder->stats, ELEMENT_1, ELEMENT_INSTRUCTIONS, 1, 5);
    cnnvp_stats_count(&recorder->stats, ELEMENT_1, ELEMENT_IDLE, 0, 11);
    cnnvp_stats_count(&recorder->stats, ARRAY_0, ARRAY_COMPUTE, 1, 100);
    cnnvp_stats_count(&recorder->stats, ARRAY_1, ARRAY_COMPUTE, 1, 20);
    cnnvp_stats_count(&recorder->stats, ARRAY_1, ARRAY_INPUT, 2, 30);
    cnnvp_stats_count(&recorder->stats, MEMORY, DRAM_READ_BYTES, 1, 100);
    cnnvp_stats_count_for(&recorder->stats, MEMORY, DRAM_READ_BYTES, ARRAY_0, 64);
    cnnvp_stats_count_for(&recorder->stats, MEMORY, DRAM_READ_BYTES, ARRAY_1, 36);
    json_t *root = stats_json(recorder, 1000);
    json_t *list = json_incref(stats_member(root, "accelerators"));
    json_decref(root);
    cnnvp_recorder_free(recorder);
    return list;
}

static void each_has_its_own_units_and_its_share_of_memory(void **state)
{
    json_t *list = run();

    (void)state;
    assert_int_equal(json_array_size(list), 2);
    json_t *first = json_array_get(list, 0), *second = json_array_get(list, 1);
    assert_string_equal(stats_text(second, "name"), "instruction_2");
    assert_int_equal(json_array_size(stats_member(second, "units")), 2); /* the memory is both's */
    assert_string_equal(json_string_value(json_array_get(stats_member(second, "units"), 1)), "pe_array_2");
    assert_int_equal(stats_count(first, "cycles"), 100);
    assert_int_equal(stats_count(first, "dram_read_bytes"), 64);
    assert_string_equal(stats_text(first, "bound_by"), "compute");
    assert_int_equal(stats_count(second, "instructions"), 5);
    assert_int_equal(stats_count(second, "cycles"), 20 + 30 + 11);
    assert_int_equal(stats_count(second, "compute_cycles"), 20);
    assert_int_equal(stats_count(second, "stall_cycles.input"), 30);
    assert_int_equal(stats_count(second, "dram_read_bytes"), 36);
    assert_string_equal(stats_text(second, "bound_by"), "memory");
    json_decref(list);
}

/* One accelerator can have the memory to itself while the other idles: 70 bytes at 1 GB/s take 70 cycles of 1 ns. */
static void the_memory_bounds_the_cycles_of_one(void **state)
{
    cnnvp_recorder *recorder = stats_make_for(&platform, 0);

    (void)state;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &stats_work), CNNVP_DONE);
    cnnvp_stats_count(&recorder->stats, ELEMENT_0, ELEMENT_INSTRUCTIONS, 1, 3);
    cnnvp_stats_count(&recorder->stats, ELEMENT_1, ELEMENT_INSTRUCTIONS, 1, 5);
    cnnvp_stats_count(&recorder->stats, ELEMENT_1, ELEMENT_IDLE, 0, 75);
    cnnvp_stats_count(&recorder->stats, ARRAY_0, ARRAY_COMPUTE, 1, 75);
    cnnvp_stats_count(&recorder->stats, MEMORY, DRAM_BUS, 0, 1000000000);
    json_t *root = stats_json(recorder, 75000);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "layers"), 0), "least_cycles"), 70);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

/* An array with twice the clock of the first: its 100 cycles with 64 MACs in each are 50 cycles, all busy. */
static void a_faster_array_is_busy_at_most_always(void **state)
{
    instances[ARRAY_1].speedup = 2;
    cnnvp_recorder *recorder = stats_make_for(&platform, 0);

    (void)state;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &stats_work), CNNVP_DONE);
    cnnvp_stats_count(&recorder->stats, ARRAY_1, ARRAY_COMPUTE, 1, 100);
    cnnvp_stats_count(&recorder->stats, ARRAY_1, ARRAY_MACS, 1, 6400);
    json_t *root = stats_json(recorder, 50000);
    json_t *layer = json_array_get(stats_member(root, "layers"), 0);
    assert_int_equal(stats_count(layer, "macs"), 6400);
    assert_int_equal(stats_count(layer, "cycles"), 50);
    assert_close(stats_real(layer, "utilization"), 1, 0);
    assert_close(stats_real(layer, "compute_utilization"), 1, 0);
    assert_int_equal(stats_count(layer, "least_cycles"), 50);
    /* with 4 x 500 MACs of the third layer, which are described and not counted */
    assert_close(stats_real(root, "summary.peak_share"), (3200 + 2000) / 3200.0, 0);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

/* An interrupt is no way to a unit. */
static void interrupts_make_no_unit_shared(void **state)
{
    (void)state;
    to_memory[0].port = ARRAY_IRQ;
    json_t *list = run();
    assert_int_equal(json_array_size(stats_member(json_array_get(list, 0), "units")), 2);
    assert_int_equal(json_array_size(stats_member(json_array_get(list, 1), "units")), 3);
    json_decref(list);
}

static void one_element_has_no_list(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);
    json_t *root = stats_json(recorder, 1000);

    (void)state;
    assert_null(stats_member(root, "accelerators"));
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_has_its_own_units_and_its_share_of_memory, set_up),
        cmocka_unit_test_setup(the_memory_bounds_the_cycles_of_one, set_up),
        cmocka_unit_test_setup(a_faster_array_is_busy_at_most_always, set_up),
        cmocka_unit_test_setup(interrupts_make_no_unit_shared, set_up),
        cmocka_unit_test(one_element_has_no_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
