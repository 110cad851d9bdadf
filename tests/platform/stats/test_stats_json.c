/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the statistics: its members, their order, zeros. */
#include "stats_case.h"

static void members_and_their_order(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);
    json_t *root;

    (void)state;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &stats_work), CNNVP_DONE);
    (void)cnnvp_recorder_link(recorder, ARRAY, DRAM);
    root = stats_json(recorder, 1000);
    assert_members(root, "schema cnnvp build command seed wall_seconds platform network total layers tensors units "
                         "links memory storage energy area summary values");
    assert_string_equal(stats_text(root, "schema"), "cnnvp-stats/2");
    assert_string_equal(stats_text(root, "command"), "run");
    assert_string_equal(stats_text(root, "network.name"), "net.onnx");
    assert_string_equal(stats_text(root, "network.xxh3"), "0000000000abcdef");
    assert_int_equal(stats_count(root, "network.macs"), 1000); /* forward, one image */
    assert_int_equal(stats_count(root, "seed"), 7);
    assert_close(stats_real(root, "wall_seconds"), 0.25, 0);
    assert_members(stats_member(root, "total"),
                   "time_ps accel_cycles idle_cycles guest_instructions accel_instructions macs "
                   "images images_per_s");
    assert_members(json_array_get(stats_member(root, "layers"), 1),
                   "index name op phase macs pes start_ps end_ps cycles compute_cycles stall_cycles utilization "
                   "compute_utilization "
                   "input_words weight_words output_words dram_read_bytes dram_write_bytes dram_burst_bytes "
                   "dram_bus_bytes "
                   "least_dram_bytes least_cycles bound_by energy_pj static_pj energy_by_unit");
    assert_members(stats_member(json_array_get(stats_member(root, "layers"), 1), "stall_cycles"),
                   "bias fill writeout vector input_port weight_port output_port input weight output instruction host");
    assert_members(json_array_get(stats_member(root, "links"), 0),
                   "from to read_bytes write_bytes transactions energy_pj");
    assert_members(stats_member(root, "memory"),
                   "read_bytes write_bytes bursts burst_bytes row_hits row_misses row_conflicts refreshes "
                   "mean_read_latency_ps peak_bytes_per_s mean_bytes_per_s over_time overfetch");
    assert_members(stats_member(root, "storage"), "peak_feature_words peak_feature_bytes");
    assert_members(stats_member(root, "energy"),
                   "table technology total_pj dynamic_pj static_pj low_pj high_pj no_layer_pj by_unit unknown");
    assert_members(stats_member(root, "summary"),
                   "peak_share bandwidth_share least_dram_bytes layers_least_dram_bytes dram_excess "
                   "energy_per_image_pj tops_per_watt bound_by bound_shares");
    assert_int_equal(stats_count(root, "summary.least_dram_bytes"), 50);
    assert_int_equal(stats_count(root, "summary.layers_least_dram_bytes"), 90);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "layers"), 1), "least_dram_bytes"), 20);
    assert_members(stats_member(root, "summary.bound_shares"),
                   "compute mapping memory port vector core instruction pipeline");
    assert_members(stats_member(root, "units"), "cpu bus instruction pe_array input_buffer output_buffer dram");
    assert_members(stats_member(root, "units.input_buffer"), "words conflicts");
    assert_null(stats_member(root, "units.pe_array.saturations"));
    assert_string_equal(stats_text(root, "platform.platform"), "test platform");
    assert_string_equal(stats_text(root, "platform.units.bus.model"), "bus");
    assert_string_equal(stats_text(root, "platform.units.pe_array.detail"), "fast");
    assert_int_equal(stats_count(root, "platform.units.pe_array.rows"), 8);
    assert_string_equal(stats_text(root, "platform.units.pe_array.limit"), "18446744073709551615");
    assert_int_equal(stats_count(root, "platform.units.instruction.at"), 0x10000000);
    assert_null(stats_member(root, "partial"));
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

/* 6400 MACs on 64 PEs take 100 cycles; 70 of them lie beside another layer's work. */
static void work_beside_other_layers_is_no_more_than_busy(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);

    (void)state;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &stats_work), CNNVP_DONE);
    cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_MACS, 1, 6400);
    cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_HOST, 1, 30);
    json_t *root = stats_json(recorder, 100000);
    json_t *layer = json_array_get(stats_member(root, "layers"), 0);
    assert_int_equal(stats_count(layer, "pes"), 64);
    assert_int_equal(stats_count(layer, "cycles"), 30);
    assert_close(stats_real(layer, "utilization"), 1, 0);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void nothing_counted_gives_zeros(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);
    json_t *root;
    json_t *layer;

    (void)state;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &stats_work), CNNVP_DONE);
    root = stats_json(recorder, 0);
    layer = json_array_get(stats_member(root, "layers"), 0);
    assert_int_equal(json_array_size(stats_member(root, "layers")), STATS_LAYERS);
    assert_close(stats_real(layer, "utilization"), 0, 0);
    assert_int_equal(stats_count(layer, "start_ps"), 0);
    assert_int_equal(stats_count(layer, "end_ps"), 0);
    assert_int_equal(stats_count(layer, "cycles"), 0);
    assert_close(stats_real(root, "total.images_per_s"), 0, 0);
    assert_close(stats_real(root, "memory.mean_read_latency_ps"), 0, 0);
    assert_close(stats_real(root, "memory.mean_bytes_per_s"), 0, 0);
    assert_close(stats_real(root, "energy.total_pj"), 0, 0);
    assert_int_equal(stats_count(root, "values.saturations.C1"), 0);
    assert_int_equal(stats_count(root, "values.saturations.S2"), 0);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void timing_only_has_no_values(void **state)
{
    json_t *root;
    cnnvp_recorder *recorder = stats_make(1);

    (void)state;
    cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_SATURATIONS, 1, 3);
    root = stats_json(recorder, 1);
    assert_null(stats_member(root, "values"));
    /* A tag that only data counted for gives no line: timing-only runs count none of them. */
    assert_int_equal(json_array_size(stats_member(root, "layers")), 0);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void tags_that_nobody_described(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);
    json_t *root;
    json_t *list;

    (void)state;
    cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_COMPUTE, 65535, 5);
    cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_COMPUTE, 300, 6);
    cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_COMPUTE, 65536, 7); /* no such tag: counts for none */
    cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_COMPUTE, UINT32_MAX, 8);
    cnnvp_recorder_span(recorder, ARRAY, TRACK_CONV, "conv", UINT32_MAX, 0, 1, 2);
    root = stats_json(recorder, 1);
    list = stats_member(root, "layers");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(stats_text(json_array_get(list, 0), "name"), "tag_300");
    assert_int_equal(stats_count(json_array_get(list, 0), "index"), 299);
    assert_int_equal(stats_count(json_array_get(list, 0), "cycles"), 6);
    assert_int_equal(stats_count(json_array_get(list, 1), "cycles"), 5);
    assert_int_equal(stats_count(root, "total.accel_cycles"), 26);
    assert_int_equal(stats_count(root, "total.idle_cycles"), 7 + 8);
    assert_int_equal(stats_count(root, "units.pe_array.compute_cycles"), 26);
    assert_string_equal(stats_text(root, "command"), "exec");
    assert_null(stats_member(root, "network"));
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void a_partial_run_says_so(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);
    json_t *root;

    (void)state;
    recorder->stats.partial = 1;
    root = stats_json(recorder, 1);
    assert_true(json_is_true(stats_member(root, "partial")));
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

/* The text itself, for what a JSON reader hides: same text again, form of real numbers. */
static void the_text_is_reproducible(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);
    char *first;
    char *second;

    (void)state;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &stats_work), CNNVP_DONE);
    cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_COMPUTE, 1, 625);
    first = stats_text_of(recorder, 3000);
    second = stats_text_of(recorder, 3000);
    assert_string_equal(first, second);
    assert_non_null(strstr(first, "\"utilization\": 0.1,"));
    assert_non_null(strstr(first, "\"images_per_s\": 1333333333.33333\n"));
    free(first);
    free(second);
    cnnvp_recorder_free(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_their_order),     cmocka_unit_test(work_beside_other_layers_is_no_more_than_busy),
        cmocka_unit_test(nothing_counted_gives_zeros), cmocka_unit_test(timing_only_has_no_values),
        cmocka_unit_test(tags_that_nobody_described),  cmocka_unit_test(a_partial_run_says_so),
        cmocka_unit_test(the_text_is_reproducible),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
