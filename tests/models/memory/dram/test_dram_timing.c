/* SPDX-License-Identifier: Apache-2.0 */
/* One channel in closed form: what single accesses to open rows and to others take, clocks of the data bus, address
 * mappings. Commands of any traffic, clock by clock: test_dram_plan.c. */
#include "dram_options.h"
#include "dram_patterns.h"
#include "cnnvp_integer.h"
#include "random.h"

#include "test.h"

/* Every mapping places each burst once, and neighbours where its name says. */
static void test_mappings(void **state)
{
    (void)state;
    static uint8_t seen[4][64][32];
    for (uint32_t mapping = 0; mapping < 4; ++mapping) {
        struct dram_options options;
        struct dram_timing timing;
        struct dram_map map;
        char message[100];
        uint32_t wrong;
        cnnvp_dram_options_init(&options);
        options.mapping = mapping;
        options.ranks = 2;
        options.channels = 3;
        assert_int_equal(cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong), CNNVP_OK);
        cnnvp_dram_map_init(&options, &timing, &map);
        const struct dram_place zero = cnnvp_dram_map(&map, 0), one = cnnvp_dram_map(&map, 64),
                                next = cnnvp_dram_map(&map, 192);
        assert_int_equal(zero.bank + zero.row + zero.column + zero.channel, 0);
        assert_int_equal(one.channel, 1);
        assert_int_equal(next.channel, 0);
        if (mapping == 0 || mapping == 2)
            assert_int_equal(next.column, 1);
        else
            assert_int_equal(next.bank, mapping == 1 ? 16 : 4); /* rank, or bank group */
        /* capacity: 3 channels, 2 ranks of 8 GiB each; sampled at an odd step all places differ */
        memset(seen, 0, sizeof seen);
        const uint64_t bursts = (UINT64_C(48) << 30) / 64;
        for (uint64_t i = 0; i < bursts; i += 1048573) {
            const struct dram_place place = cnnvp_dram_map(&map, i * 64);
            assert_true(place.channel < 3 && place.bank < 32 && place.row < 65536 && place.column < 128);
            uint64_t back = place.column;
            back = mapping == 0 ? (((uint64_t)place.row * 4 + place.bank % 4) * 4 + place.bank / 4 % 4) * 256 +
                                      (place.bank / 16) * 128 + place.column
                                : back;
            if (mapping == 0)
                assert_int_equal(back * 3 + place.channel, i);
        }
        assert_int_equal(cnnvp_dram_map(&map, bursts * 64).row, 0);
    }
}

/* Bursts that follow each other at a power of two lie in all bank groups, and in all banks where no row is the same. */
static void test_hashed(void **state)
{
    (void)state;
    struct dram_options options;
    struct dram_timing timing;
    struct dram_map map;
    char message[100];
    uint32_t wrong;
    cnnvp_dram_options_init(&options);
    options.mapping = 4;
    assert_int_equal(cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong), CNNVP_OK);
    cnnvp_dram_map_init(&options, &timing, &map);
    static uint8_t seen[16][16][128];
    memset(seen, 0, sizeof seen);
    for (uint64_t burst = 0; burst < 16u * 16u * 128u; ++burst) { /* 16 rows of each bank, once each */
        const struct dram_place place = cnnvp_dram_map(&map, burst * 64);
        assert_true(place.row < 16 && !seen[place.row][place.bank][place.column]);
        seen[place.row][place.bank][place.column] = 1;
    }
    for (uint32_t shift = 12; shift < 29; ++shift) {
        uint32_t groups = 0, banks = 0;
        for (uint64_t i = 0; i < 64; ++i) {
            const struct dram_place place = cnnvp_dram_map(&map, i << shift);
            groups |= UINT32_C(1) << place.bank / 4u;
            banks |= UINT32_C(1) << place.bank;
        }
        assert_int_equal(groups, 15);
        if (shift >= 15)
            assert_int_equal(banks, 65535);
    }
}

/* Without refresh one read at a time: of row after row, or each of another row of one bank. */
static void read_alone(uint32_t preset, int of_one_bank, struct dram_timing *timing, struct dram_replay_result *result)
{
    struct dram_options options;
    char message[200];
    uint32_t wrong;
    cnnvp_dram_options_init(&options);
    options.preset = preset;
    options.timings[DRAM_T_refi] = 262143;
    assert_int_equal(cnnvp_dram_timing_init(&options, timing, message, sizeof message, &wrong), CNNVP_OK);
    const uint64_t row = (uint64_t)timing->columns * 64u, count = of_one_bank ? 300 : 4 * row / 64u;
    struct dram_replay *replay = cnnvp_dram_replay_new(&options, timing, 1, NULL, NULL);
    assert_non_null(replay);
    for (uint64_t i = 0; i < count; ++i)
        cnnvp_dram_replay_burst(replay, 0, i * (of_one_bank ? row * timing->banks * timing->groups : 64u));
    cnnvp_dram_replay_end(replay, DRAM_NEVER, result);
    cnnvp_dram_replay_free(replay);
}

/* Closed forms of every part. A row's opening and, for each burst, its latency and the clock at which its place is free
 * again; lpddr5's WCK has stopped by then, and a CAS takes a clock. */
static void test_one_by_one(void **state)
{
    (void)state;
    for (uint32_t preset = 0; preset < 8; ++preset) {
        struct dram_timing timing;
        struct dram_replay_result result;
        read_alone(preset, 0, &timing, &result);
        const uint32_t *t = timing.t;
        assert_int_equal(result.clocks,
                         4u * t[DRAM_T_rcd] +
                             (uint64_t)4u * timing.columns * ((t[DRAM_T_wck] != 0) + t[DRAM_T_cl] + t[DRAM_T_bl] + 1u));
        assert_int_equal(result.counts.misses, 4);
        assert_int_equal(result.counts.hits, 4 * timing.columns - 4);
    }
}

/* Held by the latency or by tRAS. */
static void test_one_bank(void **state)
{
    (void)state;
    for (uint32_t preset = 0; preset < 8; ++preset) {
        struct dram_timing timing;
        struct dram_replay_result result;
        read_alone(preset, 1, &timing, &result);
        const uint32_t *t = timing.t;
        const uint32_t opened = t[DRAM_T_rcd] + (t[DRAM_T_wck] != 0), latency = opened + t[DRAM_T_cl] + t[DRAM_T_bl];
        const uint64_t period =
            cnnvp_maximum32(latency + 1u, cnnvp_maximum32(t[DRAM_T_ras], opened + t[DRAM_T_rtp])) + t[DRAM_T_rp];
        assert_int_equal(result.clocks, 1u + latency + 299u * period);
        assert_int_equal(result.counts.conflicts, 299);
    }
}

/* Every clock of the data bus is data or one cause of none, exactly, whatever the traffic. */
static void test_clocks_add_up(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (uint32_t preset = 0; preset < 8; ++preset) {
        for (uint32_t kind = 0; kind < 4; ++kind) {
            struct dram_options options;
            struct dram_timing timing;
            struct dram_replay_result result;
            char message[100];
            uint32_t wrong;
            uint64_t clock = 1;
            cnnvp_dram_options_init(&options);
            options.preset = preset;
            options.ranks = kind == 3 ? 2 : 1;
            options.row_policy = kind == 2;
            options.pseudo_channels = kind == 1 && (preset == 4 || preset == 7) ? 2 : 1;
            assert_int_equal(cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong), CNNVP_OK);
            struct dram_replay *replay = cnnvp_dram_replay_new(&options, &timing, 8, NULL, NULL);
            assert_non_null(replay);
            for (uint32_t i = 0; i < 5000; ++i) {
                (void)next_state(&random);
                const uint64_t address = random >> 34 & 0x3fffffc0u;
                clock += random >> 60 ? random >> 62 : 300; /* now and then nothing for a while */
                if (kind)
                    cnnvp_dram_replay_timed(replay, random >> 33 & 1u, address, clock);
                else
                    cnnvp_dram_replay_burst(replay, random >> 33 & 1u, address);
            }
            cnnvp_dram_replay_end(replay, DRAM_NEVER, &result);
            cnnvp_dram_replay_free(replay);
            const struct dram_counts *counts = &result.counts;
            assert_int_equal(counts->data_clocks, (5000u - counts->forwarded - counts->merged) * timing.t[DRAM_T_bl]);
            const uint64_t clocks = counts->data_clocks + counts->idle_clocks + counts->refresh_clocks +
                                    counts->turnaround_clocks + counts->row_clocks;
            if (options.pseudo_channels == 1)
                assert_int_equal(clocks, result.last_data - 1u);
            else /* the other one's last data come somewhat before */
                assert_in_range(clocks, 2 * (result.last_data - 1u) - 1000u, 2 * (result.last_data - 1u));
            assert_true(counts->refresh_clocks > 0 && counts->turnaround_clocks > 0 && counts->row_clocks > 0);
        }
    }
}

/* Two pseudo channels have the bytes and the rate of both side by side; each has its own clocks of refresh, and of
 * nothing to do while the other one reads. */
static void test_pseudo_channels(void **state)
{
    (void)state;
    for (uint32_t preset = 4; preset < 8; preset += 3) {
        struct dram_options options;
        struct dram_timing both, each;
        struct dram_replay_result result[2];
        char message[100];
        uint32_t wrong;
        cnnvp_dram_options_init(&options);
        options.preset = preset;
        assert_int_equal(cnnvp_dram_timing_init(&options, &both, message, sizeof message, &wrong), CNNVP_OK);
        const uint64_t capacity = cnnvp_dram_capacity(&options, &both), rate = cnnvp_dram_bytes_per_s(&options, &both);
        options.pseudo_channels = 2;
        assert_int_equal(cnnvp_dram_timing_init(&options, &each, message, sizeof message, &wrong), CNNVP_OK);
        assert_int_equal(cnnvp_dram_capacity(&options, &each), capacity);
        assert_int_equal(cnnvp_dram_bytes_per_s(&options, &each), rate);
        for (uint32_t one = 0; one < 2; ++one) {
            struct dram_replay *replay = cnnvp_dram_replay_new(&options, &each, 32, NULL, NULL);
            assert_non_null(replay);
            for (uint64_t i = 0; i < 9000; ++i)
                cnnvp_dram_replay_burst(replay, 0, i * (one ? 128 : 64));
            cnnvp_dram_replay_burst(replay, 0, 64);
            cnnvp_dram_replay_end(replay, DRAM_NEVER, &result[one]);
            cnnvp_dram_replay_free(replay);
        }
        const struct dram_counts *all = &result[0].counts, *alone = &result[1].counts;
        assert_true(all->refresh_clocks > all->commands[DRAM_REF] * each.t[DRAM_T_rfc] * 9 / 10);
        assert_true(all->idle_clocks < 100 && alone->idle_clocks > result[1].last_data * 9 / 10);
    }
}

/* What sources say of a timing lies on both sides of the preset's. */
static void test_ranges(void **state)
{
    static const struct {
        uint32_t preset, timing, low, high;
    } ranges[] = {
#define CNNVP_DRAM_RANGE(preset, timing, low, high, sources) {preset, DRAM_T_##timing, low, high},
#include "memory/dram/dram.def"
    };
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; ++i) {
        struct dram_options options;
        uint32_t t[DRAM_TIMINGS];
        cnnvp_dram_options_init(&options);
        options.preset = ranges[i].preset;
        (void)cnnvp_dram_clocks(&options, t);
        assert_true(ranges[i].low < ranges[i].high);
        assert_in_range(t[ranges[i].timing], ranges[i].low, ranges[i].high);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_by_one),      cmocka_unit_test(test_one_bank), cmocka_unit_test(test_clocks_add_up),
        cmocka_unit_test(test_mappings),        cmocka_unit_test(test_hashed),   cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_pseudo_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
