/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that fetch more than was asked for. */
#include "stats_case.h"

/* Strided rows, whole bursts, more kinds than are listed, and more than have a row of their own. */
static void accesses_that_fetch_in_vain_are_listed(void **state)
{
    struct cnnvp_tensor_info tensor = {"W", "weights", 0x10000, 0x10000, 0, 0};
    struct cnnvp_work_info mine = {
        .struct_size = sizeof mine, .images = 1, .pes = 1, .tensors = &tensor, .tensor_count = 1};
    struct cnnvp_request rows = {.op = CNNVP_READ, .address = 0x10040, .size = 16, .count = 10, .stride = 72, .tag = 3};
    cnnvp_recorder *recorder = stats_make(0);
    uint64_t bytes = 0, burst_bytes = 0;

    (void)state;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &mine), CNNVP_DONE);
    cnnvp_recorder_moved(recorder, &rows, 640 + 64);
    cnnvp_recorder_moved(recorder, &rows, 640);
    stats_move(recorder, CNNVP_READ, 0x10000, 128, 2); /* nothing in vain */
    stats_move(recorder, CNNVP_WRITE, 0x40002, 30, 1);
    json_t *root = stats_json(recorder, 1);
    json_t *list = stats_member(root, "memory.overfetch"), *first = json_array_get(list, 0);
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(stats_text(first, "tensor"), "W");
    assert_string_equal(stats_text(first, "access"), "read");
    assert_int_equal(stats_count(first, "row_bytes"), 16);
    assert_int_equal(stats_count(first, "alignment"), 8);
    assert_int_equal(stats_count(first, "rows"), 20);
    assert_int_equal(stats_count(first, "bytes"), 320);
    assert_int_equal(stats_count(first, "burst_bytes"), 1344);
    assert_string_equal(stats_text(json_array_get(list, 1), "tensor"), "");
    assert_string_equal(stats_text(json_array_get(list, 1), "access"), "write");
    assert_int_equal(stats_count(json_array_get(list, 1), "alignment"), 2);
    json_decref(root);
    for (uint64_t size = 1; size < 10000; ++size)
        stats_move(recorder, CNNVP_READ, 0x100000, size, size / 64 + 2);
    root = stats_json(recorder, 1);
    list = stats_member(root, "memory.overfetch");
    assert_int_equal(json_array_size(list), 33);
    for (size_t i = 0; i < 33; ++i) {
        bytes += stats_count(json_array_get(list, i), "bytes");
        burst_bytes += stats_count(json_array_get(list, i), "burst_bytes");
    }
    uint64_t moved = 1344 + 64, asked = 320 + 30;
    for (uint64_t size = 1; size < 10000; ++size) {
        moved += (size / 64 + 2) * 64;
        asked += size;
    }
    assert_int_equal(bytes, asked);
    assert_int_equal(burst_bytes, moved);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_that_fetch_in_vain_are_listed),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
