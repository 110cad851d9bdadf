/* SPDX-License-Identifier: Apache-2.0 */
/* What refreshes take. */
#include "timing_case.h"

/* Hits in one row, one at a time. Returns the clocks. */
static uint64_t hits_in_one_row(uint32_t refi, uint64_t *refreshes)
{
    struct dram_options options;
    struct dram_timing timing;
    struct dram_replay_result result;
    char message[100];
    uint32_t wrong;
    cnnvp_dram_options_init(&options);
    options.timings[DRAM_T_refi] = refi;
    assert_int_equal(cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong), CNNVP_OK);
    struct dram_replay *replay = cnnvp_dram_replay_new(&options, &timing, 1, NULL, NULL);
    assert_non_null(replay);
    for (uint64_t i = 0; i < 200000; ++i)
        cnnvp_dram_replay_burst(replay, 0, i % 128 * 64);
    cnnvp_dram_replay_end(replay, DRAM_NEVER, &result);
    cnnvp_dram_replay_free(replay);
    *refreshes = result.counts.commands[DRAM_REF];
    assert_int_equal(*refreshes, result.clocks / timing.t[DRAM_T_refi]);
    return result.clocks;
}

/* A refresh takes tRFC and closing and opening the row, less what a burst's data hide of the way to the precharge. */
static void test_refresh_share(void **state)
{
    (void)state;
    uint64_t often, rare;
    const uint64_t with = hits_in_one_row(0, &often), without = hits_in_one_row(262143, &rare);
    const double each = (double)(with - without) / (double)(often - rare);
    if (each < 16 + 433 + 16 - 21 + 9 || each > 16 + 433 + 16)
        fail_msg("a refresh takes %f clocks", each);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refresh_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
