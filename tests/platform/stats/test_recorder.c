/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions, links, indexes that nothing has. */
#include "stats_case.h"

static void links_by_pair(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);
    uint32_t a = cnnvp_recorder_link(recorder, ARRAY, DRAM);
    uint32_t b = cnnvp_recorder_link(recorder, ARRAY, BUFFER_A);
    json_t *root;

    (void)state;
    assert_int_equal(cnnvp_recorder_link(recorder, ARRAY, DRAM), a);
    assert_int_not_equal(a, b);
    transfer(recorder, a, 5, 100, 0);
    transfer(recorder, a, 6, 0, 20);
    transfer(recorder, b, 7, 1, 2);
    transfer(recorder, 99, 7, 1, 2); /* no such link */
    root = stats_json(recorder, 1);
    assert_int_equal(json_array_size(stats_member(root, "links")), 2);
    assert_string_equal(stats_text(json_array_get(stats_member(root, "links"), 0), "from"), "pe_array");
    assert_string_equal(stats_text(json_array_get(stats_member(root, "links"), 0), "to"), "dram");
    assert_int_equal(stats_count(json_array_get(stats_member(root, "links"), 0), "read_bytes"), 100);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "links"), 0), "write_bytes"), 20);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "links"), 0), "transactions"), 2);
    assert_int_equal(stats_count(json_array_get(stats_member(root, "links"), 1), "transactions"), 1);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

static void indexes_out_of_range_count_nothing(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);

    (void)state;
    cnnvp_stats_count(&recorder->stats, INSTANCES, 0, 0, 1);
    cnnvp_stats_count(&recorder->stats, BUS, 0, 0, 1);
    cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_STATS, 0, 1);
    cnnvp_recorder_counter(recorder, ARRAY, 0, 0, 1);
    cnnvp_recorder_counter(recorder, INSTANCES, 0, 0, 1);
    assert_int_equal(cnnvp_recorder_total(recorder, ARRAY, ARRAY_STATS), 0);
    assert_int_equal(cnnvp_recorder_total(recorder, INSTANCES, 0), 0);
    cnnvp_recorder_free(recorder);
}

static void a_description_is_checked_and_copied(void **state)
{
    struct cnnvp_layer_info changed[1] = {{.macs = 3}};
    char name[] = "bad \xFF name";
    struct cnnvp_work_info mine = {.images = 1, .pes = 1, .layers = changed, .layer_count = 1};
    cnnvp_recorder *recorder = stats_make(0);
    json_t *root;

    (void)state;
    mine.struct_size = 3;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &mine), CNNVP_BAD_INPUT);
    mine.struct_size = sizeof mine;
    mine.layer_count = 65536;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &mine), CNNVP_BAD_INPUT);
    mine.layer_count = 1;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &mine), CNNVP_DONE);
    changed[0].name = name; /* not UTF-8, as an ONNX file may have it */
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &mine), CNNVP_DONE);
    name[0] = 'X';
    root = stats_json(recorder, 1);
    assert_string_equal(stats_text(json_array_get(stats_member(root, "layers"), 0), "name"), "bad ? name");
    assert_int_equal(stats_count(root, "values.saturations.bad ? name"), 0);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_by_pair),
        cmocka_unit_test(indexes_out_of_range_count_nothing),
        cmocka_unit_test(a_description_is_checked_and_copied),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
