/* SPDX-License-Identifier: Apache-2.0 */
/* Points of a grid and of a random search. */

#include "test.h"

#include "explore_case.h"

static void test_grid(void **state)
{
    struct cnnvp_error error = {""};
    uint64_t *numbers = NULL, allowed = 0;
    size_t count = 0;
    cnnvp_sweep *sweep =
        explore_sweep("parameters:\n  pe_array.rows: {from: 4, to: 16, step: 4}\n"
                      "  pe_array.cols: {log2: [4, 32]}\nconstraints: pe_array.rows == pe_array.cols\n");
    (void)state;
    assert_int_equal(cnnvp_space_points(sweep, 0, &numbers, &count, &allowed, &error), CNNVP_DONE);
    assert_int_equal(count, 3); /* 4, 8, 16 */
    assert_int_equal(allowed, 3);
    for (size_t i = 0; i < count; ++i) {
        static const char *const expected[] = {
            "{\"pe_array.rows\":4,\"pe_array.cols\":4}", "{\"pe_array.rows\":8,\"pe_array.cols\":8}",
            "{\"pe_array.rows\":16,\"pe_array.cols\":16}"};
        json_t *params = cnnvp_point_params(sweep, numbers[i]);
        char *text = json_dumps(params, JSON_COMPACT);
        assert_string_equal(text, expected[i]);
        free(text);
        json_decref(params);
    }
    free(numbers);
    cnnvp_sweep_free(sweep);
}

/* Checks that one combination is allowed, and its params. */
static void check_only(const char *spec, const char *expected)
{
    struct cnnvp_error error = {""};
    uint64_t *numbers = NULL, allowed = 0;
    size_t count = 0;
    cnnvp_sweep *sweep = explore_sweep(spec);
    assert_int_equal(cnnvp_space_points(sweep, 0, &numbers, &count, &allowed, &error), CNNVP_DONE);
    assert_int_equal(count, 1);
    json_t *params = cnnvp_point_params(sweep, numbers[0]);
    char *text = json_dumps(params, JSON_COMPACT);
    assert_string_equal(text, expected);
    free(text);
    json_decref(params);
    free(numbers);
    cnnvp_sweep_free(sweep);
}

/* A 0 that means "as the part" or "as the memory needs" counts as the number of the point's platform. A stack of HBM2
 * has 8 channels of 128 bits (JESD235); a DIMM of DDR4 has one of 64. */
static void test_numbers_of_the_part(void **state)
{
    (void)state;
    check_only("parameters: {dram.preset: [ddr4-2400, hbm2]}\nconstraints: dram.channels == 8",
               "{\"dram.preset\":\"hbm2\"}");
    check_only("parameters: {dram.preset: [ddr4-2400, hbm2]}\n"
               "constraints: dram.channels * dram.width_bits == 64 and dram.pseudo_channels == 1",
               "{\"dram.preset\":\"ddr4-2400\"}");
    check_only("parameters: {dram.channels: [0, 2]}\nconstraints: dram.channels == 1", "{\"dram.channels\":0}");
    check_only("parameters: {dram.preset: [ddr4-2400, hbm2]}\nconstraints: dma.port_bytes > 64",
               "{\"dram.preset\":\"hbm2\"}");
    check_only("parameters: {dram.preset: [hbm2]}\nderive: {vector.lanes: dram.channels, dram.ranks: vector.lanes / 8}",
               "{\"dram.preset\":\"hbm2\",\"vector.lanes\":8,\"dram.ranks\":1}");
}

/* Many derived parameters of which each sees the part's numbers: the time grows with their number, not with 2 to it. */
static void test_many_derived(void **state)
{
    char spec[4096] = "parameters: {dram.preset: [ddr4-2400]}\nderive:\n",
         params[4096] = "{\"dram.preset\":\"ddr4-2400\"";
    static const char *const names[] = {
        "input_buffer.banks",
        "weight_buffer.banks",
        "output_buffer.banks",
        "input_buffer.line_words",
        "weight_buffer.line_words",
        "output_buffer.line_words",
        "input_buffer.width_words",
        "weight_buffer.width_words",
        "output_buffer.width_words",
        "vector.lanes",
        "pe_array.rows",
        "pe_array.cols",
        "dram.ranks",
        "dram.queue",
        "cpu.clock_mhz",
        "pe_array.clock_mhz",
        "instruction.queue_depth",
        "dma.burst_bytes",
        "dma.outstanding",
        "dma.port_bytes"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const size_t used = strlen(spec), shown = strlen(params);
        (void)snprintf(spec + used, sizeof spec - used, "  %s: dram.channels * 64\n", names[i]);
        (void)snprintf(params + shown, sizeof params - shown, ",\"%s\":64", names[i]);
    }
    (void)strcat(params, "}");
    check_only(spec, params);
}

static void check_random(const char *spec, size_t expected, uint64_t combinations)
{
    struct cnnvp_error error = {""};
    uint64_t *a = NULL, *b = NULL, *c = NULL, allowed = 0;
    size_t count_a = 0, count_b = 0, count_c = 0;
    cnnvp_sweep *sweep = explore_sweep(spec);
    assert_true(sweep->combinations == combinations);
    assert_int_equal(cnnvp_space_points(sweep, 1, &a, &count_a, &allowed, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_space_points(sweep, 1, &b, &count_b, &allowed, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_space_points(sweep, 2, &c, &count_c, &allowed, &error), CNNVP_DONE);
    assert_int_equal(count_a, expected);
    assert_int_equal(count_b, expected);
    assert_int_equal(count_c, expected);
    assert_memory_equal(a, b, expected * sizeof *a);
    assert_memory_not_equal(a, c, expected * sizeof *a);
    for (size_t i = 0; i < expected; ++i) {
        int allowed = 0;
        assert_true(i == 0 || a[i] > a[i - 1]);
        assert_int_equal(cnnvp_point_allowed(sweep, a[i], &allowed, &error), CNNVP_DONE);
        assert_true(allowed);
    }
    free(a);
    free(b);
    free(c);
    cnnvp_sweep_free(sweep);
}

static void test_random(void **state)
{
    (void)state;
    check_random("parameters: {pe_array.rows: {from: 1, to: 64, step: 1}, pe_array.cols: {from: 1, to: 64, step: 1}}\n"
                 "constraints: [pe_array.rows < pe_array.cols]\nsearch: {random: 100}",
                 100, 4096);
    check_random("parameters: {pe_array.rows: {from: 1, to: 64, step: 1}, pe_array.cols: {from: 1, to: 64, step: 1},\n"
                 "  instruction.queue_depth: {from: 64, to: 4096, step: 1}}\n"
                 "constraints: [pe_array.rows < pe_array.cols]\nsearch: {random: 100}",
                 100, 4096u * 4033u);
}

static void test_chance(void **state)
{
    /* Vigna's reference values of splitmix64 for the seed 1234567. */
    struct cnnvp_chance chance = {.seed = 1234567};
    uint32_t seen[7] = {0};
    (void)state;
    assert_true(cnnvp_chance_next(&chance) == UINT64_C(6457827717110365317));
    assert_true(cnnvp_chance_next(&chance) == UINT64_C(3203168211198807973));
    for (int i = 0; i < 7000; ++i)
        ++seen[cnnvp_chance_below(&chance, 7)];
    for (int i = 0; i < 7; ++i)
        assert_in_range(seen[i], 850, 1150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid), cmocka_unit_test(test_numbers_of_the_part), cmocka_unit_test(test_many_derived),
        cmocka_unit_test(test_random), cmocka_unit_test(test_chance)};
    return cmocka_run_group_tests(tests, explore_case_begin, explore_case_end);
}
