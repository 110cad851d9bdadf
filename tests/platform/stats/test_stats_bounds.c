/* SPDX-License-Identifier: Apache-2.0 */
/* What binds a layer and a run. */
#include "stats_case.h"

/* What has the most cycles, of equal ones the first. */
static void what_binds(void **state)
{
    static const struct {
        uint32_t stat;
        uint64_t cycles;
    } fed[] = {{ARRAY_COMPUTE, 10}, {ARRAY_INPUT, 6},      {ARRAY_WEIGHT, 4},     {ARRAY_OUTPUT, 1},
               {ARRAY_VECTOR, 1},   {ARRAY_INPUT_PORT, 1}, {ARRAY_HOST, 12},      {ARRAY_WRITEOUT, 5},
               {ARRAY_BIAS, 4},     {ARRAY_FILL, 3},       {ARRAY_INSTRUCTION, 1}};
    cnnvp_recorder *recorder = stats_make(0);

    (void)state;
    assert_int_equal(cnnvp_stats_describe(&recorder->stats, &stats_work), CNNVP_DONE);
    for (size_t i = 0; i < sizeof fed / sizeof fed[0]; ++i)
        cnnvp_stats_count(&recorder->stats, ARRAY, fed[i].stat, 1, fed[i].cycles);
    cnnvp_stats_count(&recorder->stats, ARRAY, ARRAY_COMPUTE, 2, 52);
    json_t *root = stats_json(recorder, 1);
    assert_string_equal(stats_text(json_array_get(stats_member(root, "layers"), 0), "bound_by"), "core");
    assert_string_equal(stats_text(json_array_get(stats_member(root, "layers"), 1), "bound_by"), "compute");
    assert_string_equal(stats_text(root, "summary.bound_by"), "compute");
    assert_close(stats_real(root, "summary.bound_shares.compute"), 0.62, 1e-9);
    assert_close(stats_real(root, "summary.bound_shares.memory"), 0.11, 1e-9);
    assert_close(stats_real(root, "summary.bound_shares.port"), 0.01, 1e-9);
    assert_close(stats_real(root, "summary.bound_shares.core"), 0.12, 1e-9);
    assert_close(stats_real(root, "summary.bound_shares.pipeline"), 0.12, 1e-9);
    assert_int_equal(stats_count(root, "total.accel_cycles"), 100);
    assert_close(stats_real(root, "summary.peak_share"), (double)stats_count(root, "total.macs") / (48 * 64 + 52 * 8),
                 1e-9);
    json_decref(root);
    cnnvp_recorder_free(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_binds),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
