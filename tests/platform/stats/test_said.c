/* SPDX-License-Identifier: Apache-2.0 */
/* What a program says of itself. */
#include "stats_case.h"

/* A program that says a layer for each of its images. */
static void macs_of_a_layer_said_again_add_up(void **state)
{
    cnnvp_recorder *recorder = stats_make(0);
    json_t *root;

    (void)state;
    for (uint64_t macs = 1000; macs != 0; macs /= 10)
        assert_int_equal(cnnvp_said_layer(&recorder->stats.said, 2, macs == 1 ? "last" : "first", "conv", "", macs), 0);
    assert_int_equal(cnnvp_said_layer(&recorder->stats.said, 2, "not a name", "conv", "", 5), -1);
    cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_COMPUTE, 2, 625);
    root = stats_json(recorder, 3000);
    assert_string_equal(stats_text(json_array_get(stats_member(root, "layers"), 0), "name"), "last");
    assert_int_equal(stats_count(json_array_get(stats_member(root, "layers"), 0), "macs"), 1111);
    assert_int_equal(stats_count(root, "total.macs"), 1111);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(macs_of_a_layer_said_again_add_up),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
