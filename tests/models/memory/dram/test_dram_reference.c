/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a published cycle-accurate simulator (Ramulator 2.1: DDR4_2400R, 8 Gb x8, generic DDR controller, FRFCFS, open
 * rows, all-bank refresh, addresses row, bank, bank group, rank, column, channel) gives for the same bursts: to the
 * clock, and latencies to the digit that is given. And what its rules give for other presets, patterns and numbers of
 * reads on their way (dram_reference.def), and what it gives itself for the default mapping (dram_simulator.def),
 * with both of its schedulers.
 */

#include "test.h"

#include "dram_options.h"
#include "memory/dram/dram_policy.h"
#include "dram_patterns.h"

static const struct {
    enum dram_pattern pattern;
    uint32_t outstanding;
    uint64_t bursts;
    uint64_t clocks;
    double gb_per_s;
    double latency_ns;
} rows[] = {
    {SEQ_READ, 32, 100000, 547514, 14.033, 145.1},    {SEQ_WRITE, 32, 100000, 536664, 14.316, 0.0},
    {COPY, 32, 100000, 767784, 10.007, 408.4},        {READ2_WRITE1, 32, 100000, 604987, 12.700, 241.0},
    {RANDOM_READ, 32, 100000, 684644, 11.222, 181.6}, {RANDOM_70_30, 32, 100000, 702198, 10.941, 266.9},
    {STRIDE_8K, 32, 100000, 684725, 11.221, 181.7},   {STRIDE_128K, 32, 100000, 5766277, 1.332, 1536.0},
    {TILE_4X1K, 32, 100000, 420834, 18.257, 111.3},   {BLOCK_COPY_4K, 32, 100000, 635383, 12.092, 326.5},
    {SEQ_READ, 1, 30000, 666085, 3.460, 17.7},        {SEQ_READ, 4, 30000, 192419, 11.979, 20.5},
    {RANDOM_READ, 1, 30000, 1627561, 1.416, 44.4},    {RANDOM_READ, 4, 30000, 467366, 4.932, 51.1},
    {STRIDE_128K, 1, 30000, 1729654, 1.333, 47.2},    {STRIDE_128K, 4, 30000, 1729654, 1.333, 191.3},
};

enum { HBM2 = 4, DDR5 = 5, LPDDR5 = 6, HBM3 = 7 };

static void assert_rounds(double value, double wanted, double unit)
{
    if (value < wanted - unit * 0.51 || value > wanted + unit * 0.51)
        fail_msg("%f does not round to %f", value, wanted);
}

static void test_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct dram_options options;
        struct dram_replay_result result;
        uint32_t tck_ps;
        cnnvp_dram_options_init(&options);
        dram_pattern_replay(&options, rows[i].pattern, rows[i].bursts, rows[i].outstanding, 1, &result, &tck_ps);
        assert_int_equal(result.clocks, rows[i].clocks);
        assert_rounds((double)rows[i].bursts * 64e3 / ((double)result.clocks * tck_ps), rows[i].gb_per_s, 0.001);
        if (result.reads)
            assert_rounds((double)result.read_clocks * tck_ps / 1e3 / (double)result.reads, rows[i].latency_ns, 0.1);
    }
}

static const struct {
    uint32_t preset;
    enum dram_pattern pattern;
    uint32_t outstanding;
    uint64_t clocks, read_clocks;
} others[] = {
#define DRAM_REFERENCE(preset, pattern, outstanding, clocks, reads) {preset, pattern, outstanding, clocks, reads},
#include "dram_reference.def"
};

static void test_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
        struct dram_options options;
        struct dram_replay_result result;
        uint32_t tck_ps;
        cnnvp_dram_options_init(&options);
        options.preset = others[i].preset;
        if (others[i].preset == HBM2)
            dram_pattern_hbm2_of_dramsim3(&options);
        dram_pattern_replay(&options, others[i].pattern, 8000, others[i].outstanding, 1, &result, &tck_ps);
        if (result.clocks != others[i].clocks || result.read_clocks != others[i].read_clocks)
            fail_msg("preset %u, %s, %u reads on their way: %llu clocks and %llu of reads, not %llu and %llu",
                     (unsigned)others[i].preset, dram_pattern_name(others[i].pattern), (unsigned)others[i].outstanding,
                     (unsigned long long)result.clocks, (unsigned long long)result.read_clocks,
                     (unsigned long long)others[i].clocks, (unsigned long long)others[i].read_clocks);
    }
}

static const struct {
    uint32_t preset;
    enum dram_pattern pattern;
    uint32_t outstanding;
    uint64_t clocks;
} hashed[] = {
#define DRAM_SIMULATOR(preset, pattern, outstanding, clocks) {preset, pattern, outstanding, clocks},
#include "dram_simulator.def"
};

/* The default mapping: ddr3 and ddr4 to the clock, the others within 5 % a run and 1 % in the mean. */
static void test_simulator(void **state)
{
    enum { PRESETS = 8 };
    double sum[PRESETS] = {0};
    uint32_t runs[PRESETS] = {0};
    (void)state;
    for (size_t i = 0; i < sizeof hashed / sizeof hashed[0]; ++i) {
        const uint32_t preset = hashed[i].preset;
        struct dram_options options;
        struct dram_replay_result result;
        uint32_t tck_ps;
        cnnvp_dram_options_init(&options);
        options.preset = preset;
        options.mapping = 4;
        if (preset == LPDDR5)
            options.timings[DRAM_T_wck] = 65535;
        dram_pattern_replay(&options, hashed[i].pattern, 8000, hashed[i].outstanding, 1, &result, &tck_ps);
        const double theirs = (double)hashed[i].clocks;
        const double apart =
            ((double)result.clocks > theirs ? (double)result.clocks - theirs : theirs - (double)result.clocks) / theirs;
        sum[preset] += apart;
        ++runs[preset];
        if (apart > (preset < DDR5 ? 0 : 0.05))
            fail_msg("preset %u, %s, %u reads on their way: %llu clocks, not %llu", (unsigned)preset,
                     dram_pattern_name(hashed[i].pattern), (unsigned)hashed[i].outstanding,
                     (unsigned long long)result.clocks, (unsigned long long)hashed[i].clocks);
    }
    for (uint32_t preset = 0; preset < PRESETS; ++preset)
        if (runs[preset] != 0 && sum[preset] / runs[preset] > 0.01)
            fail_msg("preset %u: %.1f %% in the mean of %u runs", (unsigned)preset, 100.0 * sum[preset] / runs[preset],
                     (unsigned)runs[preset]);
}

static const struct {
    uint32_t preset;
    enum dram_pattern pattern;
    uint32_t outstanding;
    uint64_t clocks, activates;
} row_hits[] = {
#define DRAM_ROW_HIT(preset, pattern, outstanding, clocks, activates) {preset, pattern, outstanding, clocks, activates},
#include "dram_simulator.def"
};

/* The same with its other scheduler: clocks and activations. */
static void test_row_hit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof row_hits / sizeof row_hits[0]; ++i) {
        struct dram_options options;
        struct dram_replay_result result;
        uint32_t tck_ps;
        cnnvp_dram_options_init(&options);
        options.preset = row_hits[i].preset;
        options.mapping = 4;
        options.scheduler = DRAM_SCHEDULER_fr_fcfs_row_hit;
        dram_pattern_replay(&options, row_hits[i].pattern, 8000, row_hits[i].outstanding, 1, &result, &tck_ps);
        if (result.clocks != row_hits[i].clocks || result.counts.commands[DRAM_ACT] != row_hits[i].activates)
            fail_msg("preset %u, %s, %u reads on their way: %llu clocks and %llu ACT, not %llu and %llu",
                     (unsigned)row_hits[i].preset, dram_pattern_name(row_hits[i].pattern),
                     (unsigned)row_hits[i].outstanding, (unsigned long long)result.clocks,
                     (unsigned long long)result.counts.commands[DRAM_ACT], (unsigned long long)row_hits[i].clocks,
                     (unsigned long long)row_hits[i].activates);
    }
}

static const struct {
    uint32_t preset;
    enum dram_pattern pattern;
    uint32_t outstanding;
    uint64_t whole, halves;
} pseudo[] = {
#define DRAM_PSEUDO(preset, pattern, outstanding, clocks, halves) {preset, pattern, outstanding, clocks, halves},
#include "dram_simulator.def"
};

/* Where it changes from reads to writes and back, the simulator leaves second halves behind, and opens their rows a
 * second time: 1242 of random_50_50's 8000 bursts. Here a burst is served as a whole. */
static int leaves_halves(enum dram_pattern pattern)
{
    static const enum dram_pattern some[] = {
        COPY, RANDOM_70_30, RANDOM_90_10, RANDOM_50_50, RANDOM_10_90, READ2_WRITE1, IN_PLACE, HOT_ROWS_8, SAME_GROUP};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; ++i)
        if (some[i] == pattern)
            return 1;
    return 0;
}

/* Of hbm2 and hbm3 with both pseudo channels: bursts that are one request to the clock (hbm2) or 3.5 % (hbm3, whose ACT
 * takes 1.5 clocks and PRE half a one), by halves within 5 % but where these are torn apart. */
static void test_pseudo_channels(void **state)
{
    double sum[2] = {0};
    (void)state;
    for (size_t i = 0; i < sizeof pseudo / sizeof pseudo[0]; ++i) {
        struct dram_options options;
        struct dram_replay_result result;
        uint32_t tck_ps;
        cnnvp_dram_options_init(&options);
        options.preset = pseudo[i].preset;
        options.pseudo_channels = 2;
        options.mapping = 4;
        dram_pattern_replay(&options, pseudo[i].pattern, 8000, pseudo[i].outstanding, 1, &result, &tck_ps);
        const double ours = (double)result.clocks, halves = ours / (double)pseudo[i].halves,
                     whole = ours / (double)pseudo[i].whole;
        const double most = pseudo[i].preset == HBM2 ? 0 : 0.035, torn = leaves_halves(pseudo[i].pattern) ? 0.2 : 0.05;
        sum[0] += whole > 1 ? whole - 1 : 1 - whole;
        sum[1] += halves > 1 ? halves - 1 : 1 - halves;
        if (whole > 1 + most || whole < 1 - most || halves > 1 + torn || halves < 1 - torn)
            fail_msg("preset %u, %s, %u reads on their way: %llu clocks, not %llu, by halves %llu",
                     (unsigned)pseudo[i].preset, dram_pattern_name(pseudo[i].pattern), (unsigned)pseudo[i].outstanding,
                     (unsigned long long)result.clocks, (unsigned long long)pseudo[i].whole,
                     (unsigned long long)pseudo[i].halves);
    }
    const size_t count = sizeof pseudo / sizeof pseudo[0];
    const double runs = (double)count;
    if (sum[0] / runs > 0.003 || sum[1] / runs > 0.02)
        fail_msg("%.2f %% and %.2f %% in the mean", 100 * sum[0] / runs, 100 * sum[1] / runs);
}

static const struct {
    enum dram_pattern pattern;
    uint64_t clocks[2];
} stopping[] = {
#define DRAM_WCK(pattern, one, many) {pattern, {one, many}},
#include "dram_simulator.def"
};

/* lpddr5's WCK stops where nothing is read or written, and a CAS starts it again. */
static void test_wck(void **state)
{
    double sum = 0, most = 0;
    (void)state;
    for (size_t i = 0; i < 2u * sizeof stopping / sizeof stopping[0]; ++i) {
        struct dram_options options;
        struct dram_replay_result result;
        uint32_t tck_ps;
        cnnvp_dram_options_init(&options);
        options.preset = LPDDR5;
        options.mapping = 4;
        dram_pattern_replay(&options, stopping[i / 2].pattern, 8000, i % 2 ? 32 : 1, 1, &result, &tck_ps);
        const uint64_t *clocks = stopping[i / 2].clocks;
        const double apart = (double)result.clocks / (double)clocks[i % 2];
        const double size = apart > 1 ? apart - 1 : 1 - apart;
        sum += size;
        if (size > most)
            most = size;
        if (size > 0.025)
            fail_msg("%s, %u reads on their way: %llu clocks, not %llu", dram_pattern_name(stopping[i / 2].pattern),
                     i % 2 ? 32u : 1u, (unsigned long long)result.clocks,
                     (unsigned long long)stopping[i / 2].clocks[i % 2]);
    }
    if (sum * (double)(sizeof stopping[0]) / (double)(2u * sizeof stopping) > 0.005)
        fail_msg("%.2f %% in the mean, %.2f %% at most", 100 * sum / 74, 100 * most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference), cmocka_unit_test(test_others),          cmocka_unit_test(test_simulator),
        cmocka_unit_test(test_row_hit),   cmocka_unit_test(test_pseudo_channels), cmocka_unit_test(test_wck)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
