/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of the table, by name. */
#include "stats_case.h"

static void energy_from_the_table(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);
    json_t *root;

    (void)state;
    cnnvp_stats_count(&recorder->stats, BUFFER_A, BUFFER_WORDS, 0, 100);
    cnnvp_stats_count(&recorder->stats, BUFFER_B, BUFFER_WORDS, 0, 100);
    cnnvp_stats_count(&recorder->stats, DRAM, DRAM_READ_BYTES, 0, 8);
    cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_MACS, 0, 10);
    root = stats_json(recorder, 1);
    /* 10 pJ per 64 bits at 8 KiB, twice that at 32 KiB; 1950 pJ per 64 bits off chip; 1.0 + 0.1 pJ a MAC. */
    assert_close(stats_real(root, "energy.by_unit.input_buffer.dynamic_pj"), 250, 1e-9);
    assert_close(stats_real(root, "energy.by_unit.output_buffer.dynamic_pj"), 500, 1e-9);
    assert_close(stats_real(root, "energy.by_unit.dram.dynamic_pj"), 1950, 1e-9);
    assert_close(stats_real(root, "energy.by_unit.pe_array.dynamic_pj"), 11, 1e-9);
    assert_close(stats_real(root, "energy.dynamic_pj"), 2711, 1e-9);
    assert_null(stats_member(root, "energy.by_unit.bus"));
    /* The element says nothing of what it costs. */
    assert_null(stats_member(root, "energy.by_unit.instruction"));
    assert_int_equal(json_array_size(stats_member(root, "energy.unknown")), 1);
    assert_string_equal(json_string_value(json_array_get(stats_member(root, "energy.unknown"), 0)), "instruction");
    /* 8 x 8 multipliers of 16 bits, 3.082 b2 + 10.6 b um2 each, 70 % of the area; 0.078 b2 uW each for a picosecond. */
    assert_close(stats_real(root, "area.total_um2"), 64 * (3.082 * 256 + 10.6 * 16) / 0.7, 1e-6);
    assert_close(stats_real(root, "energy.static_pj"), 0.001, 1e-9);
    assert_close(stats_real(root, "energy.low_pj"),
                 500 * 0.53 + 250 * 0.53 + 1950 * 0.667 + 11 * 0.8 + 64 * 0.078 * 256 * 0.3e-6, 1e-6);
    json_decref(root);

    cnnvp_recorder_free(recorder);
}

static void unknown_names_in_a_table_are_refused(void **state)
{
    static const char *const wrong[] = {"cycles", "stall_cycles", "stall_cycles.lunch", "", "Compute_cycles"};
    struct cnnvp_error error;
    cnnvp_recorder *recorder;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        assert_int_equal(cnnvp_recorder_new(machine_with(wrong[i], NULL), NULL, 0, &recorder, &error), CNNVP_BAD_INPUT);
        assert_null(recorder);
        assert_non_null(strstr(error.text, "extra"));
        assert_non_null(strstr(error.text, "stall_cycles.writeout"));
        assert_non_null(strstr(error.text, "dram_write_bytes"));
    }
    assert_int_equal(cnnvp_recorder_new(machine_with(NULL, "coal"), NULL, 0, &recorder, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "'coal'"));
    assert_non_null(strstr(error.text, "int16_mac"));
    assert_int_equal(cnnvp_recorder_new(machine_with("values.clips", "int32_add"), NULL, 0, &recorder, &error),
                     CNNVP_DONE);
    cnnvp_recorder_free(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_from_the_table),
        cmocka_unit_test(unknown_names_in_a_table_are_refused),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
