/* SPDX-License-Identifier: Apache-2.0 */
/* What units say of their costs, and what it comes to. */
#include "stats_case.h"
#include "energy.h"

#include <math.h>

/* Over units and over layers the same, to the last femtojoule; sizes make odd numbers of picojoules. */
static void energy_adds_up(void **state)
{
    static const char *const units[] = {"pe_array", "input_buffer", "output_buffer", "dram"};
    struct cnnvp_resolved platform = *machine();
    struct cnnvp_energy_table table;
    cnnvp_recorder *recorder;
    json_t *root;
    long long by_unit = 0, by_layer = 0;

    (void)state;
    assert_true(cnnvp_energy_builtin(1, &table));
    assert_string_equal(table.name, "eyeriss");
    table.picojoules[CNNVP_ENERGY_dram_byte] = 0.123456789;
    table.picojoules[CNNVP_ENERGY_global_word] = 0.777;
    table.sram_scaling = 1;
    platform.energy = &table;
    recorder = stats_make_for(&platform, 0);
    const uint32_t links[] = {
        cnnvp_recorder_link(recorder, ARRAY, BUFFER_A), cnnvp_recorder_link(recorder, ARRAY, BUFFER_B)};
    for (uint32_t tag = 0; tag < 40; ++tag) {
        const struct cnnvp_link_bytes bytes = {
            .tag = tag, .read = 17 * tag, .write = 1, .initiator = CNNVP_NO_INSTANCE};
        cnnvp_recorder_transfer(recorder, links[tag % 2], &bytes);
        if (tag == 20) /* what has been counted stays where it was */
            (void)cnnvp_recorder_link(recorder, CPU, BUS);
        cnnvp_stats_count(&recorder->stats, BUFFER_A, BUFFER_WORDS, tag, 7 * tag + 1);
        cnnvp_stats_count(&recorder->stats, BUFFER_B, BUFFER_WORDS, tag, 3 * tag + 2);
        cnnvp_stats_count(&recorder->stats, DRAM, DRAM_READ_BYTES, tag, 1000 + 13 * tag);
        cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_MACS, tag, 11 * tag);
        cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_COMPUTE, tag, 5 * tag);
    }
    root = stats_json(recorder, 39 * 20 * 5 * 1000 + 777);
    assert_true(stats_real(root, "energy.static_pj") > 1);
    /* Of even tags 17 * 380 + 20 bytes, of odd ones 17 * 400 + 20, across the chip. */
    const double word = 0.777 * sqrt(64 * (3.082 * 256 + 10.6 * 16) / 0.7) / 1000;
    assert_close(stats_real(json_array_get(stats_member(root, "links"), 0), "energy_pj"), 3240 * word, 0.02);
    assert_close(stats_real(json_array_get(stats_member(root, "links"), 1), "energy_pj"), 3410 * word, 0.02);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        char path[60];
        (void)snprintf(path, sizeof path, "energy.by_unit.%s.dynamic_pj", units[i]);
        by_unit += llround(1000 * stats_real(root, path));
        (void)snprintf(path, sizeof path, "energy.by_unit.%s.static_pj", units[i]);
        by_unit += llround(1000 * stats_real(root, path));
    }
    for (size_t i = 0; i < json_array_size(stats_member(root, "layers")); ++i)
        by_layer += llround(1000 * stats_real(json_array_get(stats_member(root, "layers"), i), "energy_pj"));
    assert_int_equal(json_array_size(stats_member(root, "layers")), 39);
    assert_int_equal(by_unit, llround(1000 * stats_real(root, "energy.total_pj")));
    assert_int_equal(by_layer + llround(1000 * stats_real(root, "energy.no_layer_pj")), by_unit);
    assert_string_equal(stats_text(root, "energy.table"), "eyeriss");
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static struct cnnvp_part said_part;
static struct cnnvp_range said_range;
static uint32_t said_stat;

static void say_part(const uint64_t *params, const struct cnnvp_costs *costs)
{
    (void)params;
    costs->part(costs->context, &said_part);
}

static void say_energy(const uint64_t *params, const struct cnnvp_costs *costs)
{
    (void)params;
    costs->energy(costs->context, said_stat, &said_range);
}

static void say_power(const uint64_t *params, const struct cnnvp_costs *costs)
{
    (void)params;
    costs->power(costs->context, &said_range);
}

static void assert_costs_refused(void (*costs)(const uint64_t *, const struct cnnvp_costs *), const char *why)
{
    struct cnnvp_error error = {""};
    cnnvp_recorder *recorder = NULL;

    assert_int_equal(cnnvp_recorder_new(machine_that(costs), NULL, 0, &recorder, &error), CNNVP_BAD_INPUT);
    if (strstr(error.text, why) == NULL || strstr(error.text, "extra") == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, why);
}

static void impossible_costs_are_refused(void **state)
{
    (void)state;
    said_part = (struct cnnvp_part){.kind = (enum cnnvp_part_kind)77, .bits = 1, .count = 1, .what = "what"};
    assert_costs_refused(say_part, "part \"what\"");
    said_part = (struct cnnvp_part){.kind = CNNVP_PART_SRAM, .bytes = UINT64_MAX, .count = 1, .what = "huge"};
    assert_costs_refused(say_part, "part \"huge\"");
    said_part = (struct cnnvp_part){.kind = CNNVP_PART_SRAM, .bytes = 64, .count = 1, .what = "closed"};
    assert_costs_refused(say_part, "part \"closed\": kind 4, 0 bits and 64 bytes");
    said_range = (struct cnnvp_range){1, 2, 3};
    said_stat = 5;
    assert_costs_refused(say_energy, "no statistic");
    said_stat = 0;
    said_range = (struct cnnvp_range){-1, 2, 3};
    assert_costs_refused(say_energy, "odd is -1");
    said_range = (struct cnnvp_range){NAN, NAN, NAN};
    assert_costs_refused(say_energy, "odd is nan");
    said_range = (struct cnnvp_range){3, 2, 1};
    assert_costs_refused(say_power, "power is 3, 2, 1");
    said_range = (struct cnnvp_range){0, 0, INFINITY};
    assert_costs_refused(say_power, "power is 0, 0, inf");
}

/* Picojoules of 100 bytes over a link, as it and its first end say; the energies of both ends' units are otherwise 0.
 */
static double pj_of_link(const struct cnnvp_resolved *platform, uint32_t from, uint32_t to)
{
    cnnvp_recorder *recorder = stats_make_for(platform, 0);
    const struct cnnvp_link_bytes bytes = {.tag = 3, .read = 60, .write = 40, .initiator = CNNVP_NO_INSTANCE};
    char path[60];

    cnnvp_stats_cross(&recorder->stats, cnnvp_recorder_link(recorder, from, to), &bytes);
    json_t *root = stats_json(recorder, 1);
    json_t *link = json_array_get(stats_member(root, "links"), 0);
    const double energy = stats_real(link, "energy_pj");
    assert_int_equal(stats_count(link, "read_bytes"), 0); /* it crossed, but is nobody's traffic */
    (void)snprintf(path, sizeof path, "energy.by_unit.%s.dynamic_pj", platform->instances[from].name);
    if (energy != 0)
        assert_close(stats_real(root, path), energy, 1e-9);
    assert_close(stats_real(root, "energy.dynamic_pj"), energy, 1e-9);
    json_decref(root);
    cnnvp_recorder_free(recorder);
    return energy;
}

/* 50 words: across the chip from whoever has a port to memory, or to the bus; else half of both sides; off chip 0. */
static void links_cost_by_their_distance(void **state)
{
    const uint32_t extra = INSTANCES;
    const double array_um2 = 64 * (3.082 * 256 + 10.6 * 16) / 0.7, extra_um2 = 1000 * 4.28 * 16 / 0.7;
    const double side = sqrt(array_um2 + extra_um2) / 1000;
    struct cnnvp_energy_table table;

    (void)state;
    said_part = (struct cnnvp_part){.kind = CNNVP_PART_ADDER, .bits = 16, .count = 1000, .what = "adders"};
    struct cnnvp_resolved platform = *machine_that(say_part);
    assert_close(pj_of_link(&platform, ARRAY, DRAM), 0, 0);
    assert_close(pj_of_link(&platform, ARRAY, BUFFER_A), 50 * 5.9 * side, 1e-3);
    assert_close(pj_of_link(&platform, CPU, BUS), 50 * 5.9 * side, 1e-3);
    assert_close(pj_of_link(&platform, extra, ARRAY), 50 * 5.2 * (sqrt(array_um2) + sqrt(extra_um2)) / 2000, 1e-3);
    assert_close(pj_of_link(&platform, CPU, extra), 50 * 5.2 * sqrt(extra_um2) / 2000, 1e-3);
    assert_close(pj_of_link(&platform, BUS, ELEMENT), 0, 0);
    assert_close(pj_of_link(&platform, ELEMENT, ARRAY), 0, 0); /* its costs are unknown */
    /* Logic's energy scales what is on chip. */
    cnnvp_energy_default(&table);
    table.technology = 2;
    platform.energy = &table;
    assert_close(pj_of_link(&platform, ARRAY, BUFFER_A), 50 * 5.9 * side * sqrt(0.38) * 0.532, 1e-3);
    /* The way inside of an SRAM is in its accesses. */
    said_part = (struct cnnvp_part){.kind = CNNVP_PART_SRAM, .bits = 64, .bytes = 2048, .count = 16, .what = "banks"};
    assert_close(pj_of_link(machine_that(say_part), CPU, extra), 0, 0);
}

static void assert_sram_area(uint32_t bits, double low, double typical, double high)
{
    struct cnnvp_error error = {""};
    cnnvp_recorder *recorder = NULL;

    said_part = (struct cnnvp_part){.kind = CNNVP_PART_SRAM, .bits = bits, .bytes = 2048, .count = 16, .what = "banks"};
    assert_int_equal(cnnvp_recorder_new(machine_that(say_part), NULL, 0, &recorder, &error), CNNVP_DONE);
    json_t *root = stats_json(recorder, 1);
    const double array = 64 * (3.082 * 256 + 10.6 * 16);
    assert_close(stats_real(root, "area.by_unit.extra"), 16 * 0.39 * typical, 1e-6);
    assert_close(stats_real(root, "area.low_um2"), 16 * 0.36 * low + array / 0.8, 1e-6);
    assert_close(stats_real(root, "area.high_um2"), 16 * 0.64 * high + array / 0.6, 1e-6);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

/* Banks of 2 KiB: their bits, and what each bit of the port, each word and each bank takes beside them. */
static void an_sram_has_the_area_of_its_port_too(void **state)
{
    (void)state;
    assert_sram_area(64, 16384 + 124 * 64, 16384 + 164 * 64 + 4.9 * 256 + 774, 16384 + 204 * 64 + 23.6 * 256 + 2670);
    assert_sram_area(16, 16384 + 124 * 16, 16384 + 164 * 16 + 4.9 * 1024 + 774, 16384 + 204 * 16 + 23.6 * 1024 + 2670);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_adds_up),
        cmocka_unit_test(links_cost_by_their_distance),
        cmocka_unit_test(impossible_costs_are_refused),
        cmocka_unit_test(an_sram_has_the_area_of_its_port_too),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
