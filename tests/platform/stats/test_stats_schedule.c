/* SPDX-License-Identifier: Apache-2.0 */
/* The member `schedule`. */
#include "stats_case.h"

static json_t *schedule_of(const struct cnnvp_work_info *work)
{
    cnnvp_recorder *recorder = stats_make(0);

    assert_int_equal(cnnvp_stats_describe(&recorder->stats, work), CNNVP_DONE);
    json_t *root = stats_json(recorder, 1000);
    json_t *schedule = json_incref(stats_member(root, "schedule"));
    json_decref(root);
    cnnvp_recorder_free(recorder);
    return schedule;
}

static void layer_by_layer_there_is_none(void **state)
{
    (void)state;
    assert_null(schedule_of(&stats_work));
}

static void chains_are_named_by_their_layers(void **state)
{
    static const struct cnnvp_chain_info chains[] = {
        {0, 1, 2, 16, 700, 1, "fits", 300}, {2, STATS_LAYERS, 1, 4, 50, 0, NULL, 0}};
    struct cnnvp_work_info work = stats_work;

    (void)state;
    work.block = 8;
    work.order = "morton";
    work.chains = chains;
    work.chain_count = 2;
    json_t *schedule = schedule_of(&work);
    assert_members(schedule, "name block order chains");
    assert_string_equal(stats_text(schedule, "name"), "depth-first");
    assert_int_equal(stats_count(schedule, "block"), 8);
    json_t *first = json_array_get(stats_member(schedule, "chains"), 0);
    assert_members(first, "first last layers blocks issued_by issue_reason weight_bytes resident_weight_bytes");
    assert_string_equal(stats_text(first, "first"), "C1");
    assert_string_equal(stats_text(first, "last"), "S2");
    assert_string_equal(stats_text(first, "issued_by"), "scheduler");
    assert_int_equal(stats_count(first, "weight_bytes"), 700);
    assert_int_equal(stats_count(first, "resident_weight_bytes"), 300);
    json_t *second = json_array_get(stats_member(schedule, "chains"), 1);
    assert_string_equal(stats_text(second, "last"), ""); /* there is no such layer */
    assert_string_equal(stats_text(second, "issued_by"), "guest");
    assert_string_equal(stats_text(second, "issue_reason"), "");
    assert_int_equal(json_array_size(stats_member(schedule, "chains")), 2);
    json_decref(schedule);
}

static void a_plan_has_groups_and_what_stays(void **state)
{
    static const struct cnnvp_group_info group = {1, 2, 3, 4, 5, 6, "row", 64, 32, 16};
    static const struct cnnvp_resident_info resident = {"map", 0, 2, 1, 128};
    struct cnnvp_work_info work = stats_work;

    (void)state;
    work.schedule = "fused";
    work.groups = &group;
    work.group_count = 1;
    work.residents = &resident;
    work.resident_count = 1;
    json_t *schedule = schedule_of(&work);
    assert_members(schedule, "name groups on_chip residents");
    json_t *line = json_array_get(stats_member(schedule, "groups"), 0);
    assert_string_equal(stats_text(line, "first"), "S2");
    assert_string_equal(stats_text(line, "last"), "C1"); /* the second one */
    assert_int_equal(stats_count(line, "tile_columns"), 4);
    assert_int_equal(stats_count(line, "tile_h"), 5);
    assert_string_equal(stats_text(line, "halo"), "row");
    assert_string_equal(json_string_value(json_array_get(stats_member(schedule, "on_chip"), 0)), "map");
    line = json_array_get(stats_member(schedule, "residents"), 0);
    assert_members(line, "first last tensor half bytes");
    assert_int_equal(stats_count(line, "bytes"), 128);
    json_decref(schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layer_by_layer_there_is_none),
        cmocka_unit_test(chains_are_named_by_their_layers),
        cmocka_unit_test(a_plan_has_groups_and_what_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
