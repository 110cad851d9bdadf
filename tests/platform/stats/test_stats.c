/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of the recorder: what is fed is compared with what the text of stats.json says. */
#include "stats_case.h"
#include "trace_support.h"

static const char *const causes[] = {"bias",        "fill",  "writeout", "vector", "input_port",  "weight_port",
                                     "output_port", "input", "weight",   "output", "instruction", "host"};
#define CAUSES (sizeof causes / sizeof causes[0])

/* Random feeding against sums kept here. */
static void sums_are_those_of_what_was_fed(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);
    uint64_t totals[ARRAY_STATS] = {0};
    uint64_t by_tag[STATS_LAYERS + 1][ARRAY_STATS];
    uint64_t cycles = 0;
    uint64_t idle;
    json_t *root;

    (void)state;
    memset(by_tag, 0, sizeof by_tag);
    random_state = 88172645463325252u;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &stats_work), CNNVP_DONE);
    for (int i = 0; i < 20000; ++i) {
        uint32_t stat = (uint32_t)random_below(ARRAY_STATS);
        uint32_t tag = (uint32_t)random_below(STATS_LAYERS + 1);
        uint64_t n = random_below(1000);

        cnnvp_stats_count(&recorder->stats, ARRAY, stat, tag, n);
        totals[stat] += n;
        by_tag[tag][stat] += n;
    }
    cnnvp_stats_count(&recorder->stats, ELEMENT, ELEMENT_IDLE, 0, 12345);
    cnnvp_stats_count(&recorder->stats, ELEMENT, ELEMENT_INSTRUCTIONS, 2, 77);
    cnnvp_stats_count(&recorder->stats, CPU, CPU_INSTRUCTIONS, 0, 4242);
    root = stats_json(recorder, 2000000);
    for (size_t i = 0; i < STATS_LAYERS; ++i) {
        json_t *layer = json_array_get(stats_member(root, "layers"), i);
        const uint64_t *mine = by_tag[i + 1];
        uint64_t sum = mine[ARRAY_COMPUTE];

        for (size_t c = 0; c < CAUSES; ++c) {
            assert_int_equal(stats_count(stats_member(layer, "stall_cycles"), causes[c]), mine[ARRAY_BIAS + c]);
            sum += mine[ARRAY_BIAS + c];
        }
        cycles += sum;
        assert_int_equal(stats_count(layer, "index"), i);
        assert_string_equal(stats_text(layer, "name"), stats_layers[i].name);
        assert_string_equal(stats_text(layer, "phase"), stats_layers[i].phase);
        assert_int_equal(stats_count(layer, "macs"), mine[ARRAY_MACS]);
        assert_int_equal(stats_count(layer, "cycles"), sum);
        assert_int_equal(stats_count(layer, "compute_cycles"), mine[ARRAY_COMPUTE]);
        assert_int_equal(stats_count(layer, "input_words"), mine[ARRAY_INPUT_WORDS]);
        assert_int_equal(stats_count(layer, "weight_words"), mine[ARRAY_WEIGHT_WORDS]);
        assert_int_equal(stats_count(layer, "output_words"), mine[ARRAY_OUTPUT_WORDS]);
        assert_close(stats_real(layer, "compute_utilization"),
                     (double)mine[ARRAY_MACS] /
                         ((double)mine[ARRAY_COMPUTE] * (double)(stats_layers[i].pes != 0 ? stats_layers[i].pes : 64)),
                     1e-12);
    }
    idle = 12345 + by_tag[0][ARRAY_COMPUTE];
    for (size_t c = 0; c < CAUSES; ++c)
        idle += by_tag[0][ARRAY_BIAS + c];
    assert_int_equal(stats_count(root, "total.macs"), totals[ARRAY_MACS]);
    assert_int_equal(stats_count(root, "total.accel_cycles"), cycles + idle);
    assert_int_equal(stats_count(root, "total.idle_cycles"), idle);
    assert_int_equal(stats_count(root, "total.guest_instructions"), 4242);
    assert_int_equal(stats_count(root, "total.accel_instructions"), 77);
    assert_int_equal(stats_count(root, "total.time_ps"), 2000000);
    assert_close(stats_real(root, "total.images_per_s"), 4 / 2e-6, 1e-3);
    assert_int_equal(stats_count(root, "units.pe_array.macs"), totals[ARRAY_MACS]);
    assert_int_equal(stats_count(root, "units.pe_array.host_cycles"), totals[ARRAY_HOST]);
    assert_int_equal(cnnvp_recorder_total(recorder, ARRAY, ARRAY_HOST), totals[ARRAY_HOST]);
    /* Two layers of one name share a member. */
    assert_int_equal(stats_count(root, "values.saturations.C1"),
                     by_tag[1][ARRAY_SATURATIONS] + by_tag[3][ARRAY_SATURATIONS]);
    assert_int_equal(stats_count(root, "values.saturations.S2"), by_tag[2][ARRAY_SATURATIONS]);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void layers_sum_over_units(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);
    json_t *root;

    (void)state;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &stats_work), CNNVP_DONE);
    cnnvp_stats_count(&recorder->stats, DRAM, DRAM_READ_BYTES, 1, 100);
    cnnvp_stats_count(&recorder->stats, DRAM, DRAM_LAYER_READ, 1, 11);
    cnnvp_stats_count(&recorder->stats, DRAM, DRAM_WRITE_BYTES, 1, 7);
    cnnvp_stats_count(&recorder->stats, DRAM, DRAM_READ_BYTES, 0, 1000);
    root = stats_json(recorder, 1);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "layers"), 0), "dram_read_bytes"), 111);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "layers"), 0), "dram_write_bytes"), 7);
    assert_int_equal(stats_count(root, "units.dram.read_bytes"), 1100);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void layer_times_are_first_and_last_of_its_spans(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);
    json_t *root;

    (void)state;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &stats_work), CNNVP_DONE);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "conv", 2, 0, 500, 700);
    cnnvp_recorder_span(recorder, ELEMENT, 0, "issue", 2, 0, 300, 350);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_VECTOR, "add", 2, 0, 600, 900);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "conv", 0, 0, 0, 5000);
    root = stats_json(recorder, 1);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "layers"), 1), "start_ps"), 300);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "layers"), 1), "end_ps"), 900);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "layers"), 0), "end_ps"), 0);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_what_was_fed),
        cmocka_unit_test(layers_sum_over_units),
        cmocka_unit_test(layer_times_are_first_and_last_of_its_spans),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
