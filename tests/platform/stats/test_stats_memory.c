/* SPDX-License-Identifier: Apache-2.0 */
/* The memory, the storage on chip, tensors. */
#include "stats_case.h"

static void memory_and_storage(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);
    json_t *root;

    (void)state;
    cnnvp_stats_count(&recorder->stats, DRAM, DRAM_READ_BYTES, 0, 3000);
    cnnvp_stats_count(&recorder->stats, DRAM, DRAM_WRITE_BYTES, 0, 1000);
    cnnvp_stats_count(&recorder->stats, DRAM, DRAM_BURSTS, 0, 62);
    cnnvp_stats_count(&recorder->stats, DRAM, DRAM_ROW_HITS, 0, 60);
    cnnvp_stats_count(&recorder->stats, DRAM, DRAM_READS, 0, 8);
    cnnvp_stats_count(&recorder->stats, DRAM, DRAM_READ_LATENCY, 0, 100);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_BANDWIDTH, 10, 500);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_BANDWIDTH, 20, 900);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_BANDWIDTH, 30, 100);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_QUEUE, 30, 10000);
    /* Together 10+0, 10+5, 4+5, 4+10: the worst moment is 15. */
    cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, 1, 10);
    cnnvp_recorder_counter(recorder, BUFFER_B, BUFFER_FEATURES, 2, 5);
    cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_FEATURES, 3, 4);
    cnnvp_recorder_counter(recorder, BUFFER_B, BUFFER_FEATURES, 4, 10);
    cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_BYTES, 4, 31);
    cnnvp_recorder_counter(recorder, BUFFER_A, BUFFER_BYTES, 5, 0);
    root = stats_json(recorder, 1000000);
    assert_int_equal(stats_count(root, "memory.read_bytes"), 3000);
    assert_int_equal(stats_count(root, "memory.write_bytes"), 1000);
    assert_int_equal(stats_count(root, "memory.bursts"), 62);
    assert_int_equal(stats_count(root, "memory.row_hits"), 60);
    assert_int_equal(stats_count(root, "memory.row_conflicts"), 0);
    assert_int_equal(stats_count(root, "memory.peak_bytes_per_s"), 900);
    assert_close(stats_real(root, "memory.mean_read_latency_ps"), 12.5, 0);
    assert_close(stats_real(root, "memory.mean_bytes_per_s"), 4e9, 1e-3);
    json_t *shorter = stats_json(recorder, 250000);
    assert_int_equal(stats_count(shorter, "memory.peak_bytes_per_s"), 3600); /* in a quarter of the window */
    json_decref(shorter);
    assert_int_equal(stats_count(root, "storage.peak_feature_words"), 15);
    assert_int_equal(stats_count(root, "storage.peak_feature_bytes"), 31);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void tensors_get_what_was_moved_for_them(void **state)
{
    struct cnnvp_tensor_info tensors[] = {{"W", "weights", 0x1000, 0x100, 256, 0}, {"map", NULL, 0x1100, 64, 32, 16}};
    struct cnnvp_work_info mine = {
        .struct_size = sizeof mine, .images = 1, .pes = 1, .tensors = tensors, .tensor_count = 2};
    cnnvp_recorder *recorder = stats_make(0);
    json_t *root;

    (void)state;
    tensors[1].address = 0x10ff; /* reaches into it */
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &mine), CNNVP_BAD_INPUT);
    tensors[1].address = 0x1100;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &mine), CNNVP_DONE);
    tensors[0].name = "changed";
    stats_move(recorder, CNNVP_READ, 0x1000, 5, 1);
    stats_move(recorder, CNNVP_READ, 0x10ff, 7, 2);
    stats_move(recorder, CNNVP_WRITE, 0x1100, 11, 1);
    stats_move(recorder, CNNVP_READ, 0x113f, 13, 1);
    stats_move(recorder, CNNVP_READ, 0xfff, 100, 3);
    stats_move(recorder, CNNVP_WRITE, 0x1140, 100, 3);
    root = stats_json(recorder, 1);
    assert_string_equal(stats_text(json_array_get(stats_member(root, "tensors"), 0), "name"), "W");
    assert_int_equal(stats_count(json_array_get(stats_member(root, "tensors"), 0), "read_bytes"), 12);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "tensors"), 0), "least_read_bytes"), 256);
    assert_string_equal(stats_text(json_array_get(stats_member(root, "tensors"), 1), "kind"), "feature");
    assert_int_equal(stats_count(json_array_get(stats_member(root, "tensors"), 0), "burst_bytes"), 3 * 64);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "tensors"), 1), "burst_bytes"), 2 * 64);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "tensors"), 1), "read_bytes"), 13);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "tensors"), 1), "write_bytes"), 11);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_and_storage),
        cmocka_unit_test(tensors_get_what_was_moved_for_them),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
