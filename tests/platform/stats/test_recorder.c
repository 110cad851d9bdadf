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

/* Progress is of what is described, from a reset on of what comes after it, also if the reset came in mid-image. */
static void progress_begins_anew_after_a_reset(void **state)
{
    enum { EACH = 16, IMAGES = 4 };
    static const struct cnnvp_layer_info layers[] = {
        {"A", "conv", "forward", 99, 0, 0}, {"B", "conv", "forward", 299, 0, 0}};
    static const struct cnnvp_tensor_info output = {"out", "output", 0x1000, EACH * IMAGES, 0, EACH * IMAGES};
    const struct cnnvp_work_info mine = {
        .struct_size = sizeof mine,
        .command = "run",
        .network = "n",
        .images = IMAGES,
        .pes = 1,
        .layers = layers,
        .layer_count = 2,
        .tensors = &output,
        .tensor_count = 1};
    cnnvp_recorder *recorder = stats_make(0);
    struct cnnvp_progress now;
    cnnvp_time at = 0;

    (void)state;
    for (int load = 0; load < 4; ++load) {
        assert_int_equal(cnnvp_stats_describe(&recorder->stats, &mine), CNNVP_DONE);
        cnnvp_recorder_progress(recorder, &now);
        assert_close(now.share, 0, 0);
        for (int image = 0; image < IMAGES - load; ++image) {
            at += 10;
            cnnvp_recorder_span(recorder, ARRAY, 0, "work", 1, 0, at, at + 5); /* a quarter of the operations */
            cnnvp_recorder_progress(recorder, &now);
            assert_close(now.share, (image + 0.25) / IMAGES, 1e-12);
            if (image == 2 && load == 1)
                break; /* the reset comes here */
            at += 10;
            cnnvp_recorder_span(recorder, ARRAY, 0, "work", 2, 0, at, at + 5);
            stats_move(recorder, CNNVP_WRITE, 0x1000 + (uint64_t)image * EACH, EACH, 1);
            cnnvp_recorder_progress(recorder, &now);
            assert_close(now.share, (image + 1.0) / IMAGES, 1e-12);
        }
        recorder->stats.partial = load != 0; /* as of a run that ended, and of those that did not */
        cnnvp_stats_note_reset(&recorder->stats);
    }
    cnnvp_recorder_free(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_by_pair),
        cmocka_unit_test(indexes_out_of_range_count_nothing),
        cmocka_unit_test(a_description_is_checked_and_copied),
        cmocka_unit_test(progress_begins_anew_after_a_reset),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
