/* SPDX-License-Identifier: Apache-2.0 */
/* Which burst comes first. */
#include "timing_case.h"

#include "memory/dram/dram_policy.h"

static void use_fcfs(struct dram_options *options)
{
    options->scheduler = 1;
}

/* fr-fcfs lets a hit pass a burst that waits for its row; fcfs does not. */
static void test_schedulers(void **state)
{
    (void)state;
    for (uint32_t fcfs = 0; fcfs < 2; ++fcfs) {
        struct bench *bench = begin(1, 8, fcfs ? use_fcfs : NULL);
        read_at(bench, 0);
        read_at(bench, BANK_BYTES);
        read_at(bench, SAME_BANK_BYTES + BANK_BYTES);
        read_at(bench, 64);
        end(bench);
        const struct dram_issued *last = nth(bench, DRAM_RD, 3);
        assert_int_equal(last->row, fcfs ? 0 : 1);
        done(bench);
    }
}

/* Data take longer than tRAS, so that the row could be closed between them. */
static void spread(struct dram_options *options)
{
    options->timings[DRAM_T_ccd_s] = options->timings[DRAM_T_ccd_l] = 40;
}

static void spread_row_hit(struct dram_options *options)
{
    spread(options);
    options->scheduler = DRAM_SCHEDULER_fr_fcfs_row_hit;
}

/* Reads of a row wait, then one of another row of the bank, then one of the first again: row-hit closes the row when
 * the older ones have been read, a tRTP after the last; the younger one opens it again. fr-fcfs closes it after
 * each. */
static void test_row_hit(void **state)
{
    (void)state;
    static const uint64_t addresses[] = {0, 64, 128, 192, SAME_BANK_BYTES, 256};
    for (uint32_t kept = 0; kept < 2; ++kept) {
        struct bench *bench = begin(1, 8, kept ? spread_row_hit : spread);
        cnnvp_dram_replay_timed(bench->replay, 0, addresses[0], 1);
        for (uint32_t i = 1; i < 6; ++i)
            cnnvp_dram_replay_timed(bench->replay, 0, addresses[i], i + 1);
        end(bench);
        uint32_t before = 0;
        while (nth(bench, DRAM_RD, before)->clock < nth(bench, DRAM_PRE, 0)->clock)
            ++before;
        assert_int_equal(before, kept ? 4 : 1);
        if (kept)
            assert_int_equal(nth(bench, DRAM_PRE, 0)->clock,
                             nth(bench, DRAM_RD, 3)->clock + bench->timing.t[DRAM_T_rtp]);
        assert_int_equal(bench->result.counts.commands[DRAM_ACT], kept ? 3 : 6);
        done(bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedulers),
        cmocka_unit_test(test_row_hit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
