/* SPDX-License-Identifier: Apache-2.0 */
/* Power-down and self-refresh of ddr4-2400 against what JESD79-4 says of gaps of known length, in clocks. */
#include "test.h"

#include "dram_options.h"
#include "memory/dram/dram_policy.h"
#include "memory/dram/dram_replay.h"

enum {
    RCD = 16,
    RP = 16,
    CL = 16,
    CWL = 12,
    BL = 4,
    WR = 18,
    RFC = 433,
    REFI = 9364,
    XP = 8,
    CKE = 6,
    XS = 445,    /* tXS: tRFC and 10 ns */
    XSDLL = 768, /* tXSDLL: tDLLK */
    AFTER = 16,
    ROW = 8192,
    LAST = 16
};

struct bench {
    struct dram_replay *replay;
    struct dram_replay_result result;
    struct {
        enum dram_command command;
        uint64_t clock;
    } issued[LAST];
    uint32_t count;
};

static void note(void *context, uint32_t channel, const struct dram_issued *issued)
{
    struct bench *bench = context;
    (void)channel;
    assert_true(bench->count < LAST);
    bench->issued[bench->count].command = issued->command;
    bench->issued[bench->count++].clock = issued->clock;
}

/* Refreshes come only where self-refresh is what is asked for. */
static void begin(struct bench *bench, uint32_t power_down, uint32_t page, uint32_t ranks)
{
    struct dram_options options;
    static struct dram_timing timing;
    char message[100];
    uint32_t wrong;
    memset(bench, 0, sizeof *bench);
    cnnvp_dram_options_init(&options);
    options.power_down = power_down;
    options.power_down_after = AFTER;
    options.row_policy = page;
    options.ranks = ranks;
    options.refresh = power_down == DRAM_POWER_DOWN_self_refresh ? DRAM_REFRESH_all_ranks : DRAM_REFRESH_ideal;
    assert_int_equal(cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong), CNNVP_OK);
    bench->replay = cnnvp_dram_replay_new(&options, &timing, 1, note, bench);
    assert_non_null(bench->replay);
}

static void end(struct bench *bench, uint64_t until)
{
    cnnvp_dram_replay_end(bench->replay, until, &bench->result);
    cnnvp_dram_replay_free(bench->replay);
}

static void check_command(const struct bench *bench, uint32_t index, enum dram_command command, uint64_t clock)
{
    assert_true(index < bench->count);
    assert_int_equal(bench->issued[index].command, command);
    assert_int_equal(bench->issued[index].clock, clock);
}

static void check_low(const struct bench *bench, uint64_t active, uint64_t precharge, uint64_t self, uint64_t downs)
{
    const struct dram_counts *counts = &bench->result.counts;
    assert_int_equal(counts->low_clocks[DRAM_ACTIVE_POWER_DOWN], active);
    assert_int_equal(counts->low_clocks[DRAM_PRECHARGE_POWER_DOWN], precharge);
    assert_int_equal(counts->low_clocks[DRAM_SELF_REFRESH], self);
    assert_int_equal(counts->power_downs, downs);
}

/* ACT at 1; a clock after the last data (tRDPDEN) and 16 clocks CKE goes low. The next RD is tXP late. */
static void test_gap(void **state)
{
    const uint64_t low = 1 + RCD + CL + BL + 1 + AFTER, next = 1000, again = 1 + RCD + 30;
    struct bench bench;
    (void)state;
    begin(&bench, DRAM_POWER_DOWN_power_down, DRAM_ROW_POLICY_open, 1);
    cnnvp_dram_replay_timed(bench.replay, 0, 0, 1);
    cnnvp_dram_replay_timed(bench.replay, 0, 64, next);
    end(&bench, 2000);
    check_command(&bench, 1, DRAM_RD, 1 + RCD);
    check_command(&bench, 2, DRAM_RD, next + XP);
    check_low(&bench, (next - low) + (2000 - (next + XP + CL + BL + 1 + AFTER)), 0, 0, 2);
    /* a gap that is shorter: nothing */
    begin(&bench, DRAM_POWER_DOWN_power_down, DRAM_ROW_POLICY_open, 1);
    cnnvp_dram_replay_timed(bench.replay, 0, 0, 1);
    cnnvp_dram_replay_timed(bench.replay, 0, 64, again);
    cnnvp_dram_replay_timed(bench.replay, 0, 128, again + CL + BL + 1 + AFTER);
    end(&bench, again + 2 * (CL + BL + 1 + AFTER));
    check_command(&bench, 3, DRAM_RD, again + CL + BL + 1 + AFTER);
    check_low(&bench, 0, 0, 0, 0);
    /* off: the same as if nothing were */
    begin(&bench, DRAM_POWER_DOWN_off, DRAM_ROW_POLICY_open, 1);
    cnnvp_dram_replay_timed(bench.replay, 0, 0, 1);
    cnnvp_dram_replay_timed(bench.replay, 0, 64, next);
    end(&bench, 2000);
    check_command(&bench, 2, DRAM_RD, next);
    check_low(&bench, 0, 0, 0, 0);
}

/* A burst a clock after CKE has gone low: it stays low for tCKE. Rows closed: the ACT waits. */
static void test_shortest(void **state)
{
    const uint64_t low = 1 + RCD + CL + BL + 1 + AFTER;
    struct bench bench;
    (void)state;
    begin(&bench, DRAM_POWER_DOWN_power_down, DRAM_ROW_POLICY_closed, 1);
    cnnvp_dram_replay_timed(bench.replay, 0, 0, 1);
    cnnvp_dram_replay_timed(bench.replay, 0, ROW, low + 1);
    end(&bench, low + CKE + XP + RCD + CL);
    check_command(&bench, 2, DRAM_ACT, low + CKE + XP);
    check_low(&bench, 0, CKE, 0, 1);
}

/* A write is in the array tWR after its last data (tWRPDEN). A row conflict: the PRE waits, too. */
static void test_write(void **state)
{
    const uint64_t low = 1 + RCD + CWL + BL + WR + AFTER, next = 500;
    struct bench bench;
    (void)state;
    begin(&bench, DRAM_POWER_DOWN_power_down, DRAM_ROW_POLICY_open, 1);
    cnnvp_dram_replay_timed(bench.replay, 1, 0, 1);
    cnnvp_dram_replay_timed(bench.replay, 0, ROW * 16, next);
    end(&bench, next + XP + RP + RCD);
    check_command(&bench, 2, DRAM_PRE, next + XP);
    check_command(&bench, 3, DRAM_ACT, next + XP + RP);
    check_low(&bench, next - low, 0, 0, 1);
}

/* Of two ranks one is read again and again, the other is low all the time. */
static void test_ranks(void **state)
{
    struct bench bench;
    (void)state;
    begin(&bench, DRAM_POWER_DOWN_power_down, DRAM_ROW_POLICY_open, 2);
    for (uint64_t clock = 1; clock < 120; clock += 20)
        cnnvp_dram_replay_timed(bench.replay, 0, 0, clock);
    end(&bench, 120);
    check_low(&bench, 0, 120 - (1 + AFTER), 0, 1);
}

/* The first refresh brings CKE up, closes the row and goes as ever. Nothing comes up to the second: self-refresh, which
 * a read ends; then refreshes go on. */
static void test_self_refresh(void **state)
{
    const uint64_t low = 1 + RCD + CL + BL + 1 + AFTER, first = REFI + XP + RP, next = 4 * REFI + 100;
    const uint64_t self = 2 * REFI + XP, last = next + XSDLL + CL + BL + 1 + AFTER;
    struct bench bench;
    (void)state;
    begin(&bench, DRAM_POWER_DOWN_self_refresh, DRAM_ROW_POLICY_open, 1);
    cnnvp_dram_replay_timed(bench.replay, 0, 0, 1);
    cnnvp_dram_replay_timed(bench.replay, 0, 0, next);
    end(&bench, 5 * REFI + XP + RP);
    check_command(&bench, 2, DRAM_PREA, REFI + XP);
    check_command(&bench, 3, DRAM_REF, first);
    check_command(&bench, 4, DRAM_SRE, self);
    check_command(&bench, 5, DRAM_ACT, next + XS);
    check_command(&bench, 6, DRAM_RD, next + XSDLL);
    check_command(&bench, 7, DRAM_PREA, 5 * REFI + XP);
    check_low(&bench, (REFI - low) + (5 * REFI - last), 2 * REFI - (first + RFC + AFTER), next - self, 3);
    assert_int_equal(bench.result.counts.commands[DRAM_REF], 2);
    assert_int_equal(bench.result.counts.commands[DRAM_SRE], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gap), cmocka_unit_test(test_shortest), cmocka_unit_test(test_write),
        cmocka_unit_test(test_ranks), cmocka_unit_test(test_self_refresh)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
