/* SPDX-License-Identifier: Apache-2.0 */
/* The off-chip memory as a unit: times, arbitration, independence of how often it is called, data, errors, counts. */
#include "dram_case.h"

/* A burst that arrives between two clock edges enters at the next; then ACT, RD, data. */
static void test_one_burst(void **state)
{
    (void)state;
    static const cnnvp_time tck[] = {1250, 833, 625, 625, 1000, 416, 1250, 625};
    /* of lpddr4 RD's and of hbm2's, ddr5's and hbm3's ACT further clocks too; in hbm2's and hbm3's pseudo channels the
     * second half comes tCCD_L after the first */
    static const cnnvp_time clocks[] = {11 + 11 + 4,         16 + 16 + 4,     22 + 22 + 4,     29 + 3 + 31 + 8,
                                        1 + 14 + 14 + 4 + 2, 1 + 39 + 40 + 8, 15 + 1 + 17 + 2, 1 + 31 + 20 + 4 + 2};
    for (uint64_t preset = 0; preset < 8; ++preset) {
        struct bench *bench = bench_new("preset", preset);
        fake_run(&bench->sim, 5300);
        send_new(bench, 1, CNNVP_READ, 64, 64, 4);
        run_to_end(bench);
        assert_int_equal(bench->done[0], (5300 / tck[preset] + 1 + clocks[preset]) * tck[preset]);
        assert_int_equal(bench->requests[0].first_data, bench->done[0]);
        bench->dram->unit->flush(bench->dram->self);
        assert_int_equal(fake_count(bench->dram, "read_latency_ps"), bench->done[0] - 5300);
        bench_free(bench);
    }
}

/* Reads of one requester and its writes are two streams: its writes are taken at once. */
static void test_read_and_write(void **state)
{
    (void)state;
    struct bench *bench = bench_new(NULL, 0);
    send_new(bench, 1, CNNVP_READ, 65536, 100 * 64, 8);
    send_new(bench, 1, CNNVP_WRITE, 0, 32 * 64, 1);
    run_to_end(bench);
    assert_int_equal(bench->done[1], TCK);
    assert_true(bench->done[0] > 100 * 4 * TCK);
    bench_free(bench);
    /* the first ACT, at clock 1, moves a burst out of the full queue, the second WR, tCCD_L after the first, another */
    bench = bench_new(NULL, 0);
    send_new(bench, 1, CNNVP_WRITE, 0, 33 * 64, 1);
    send_new(bench, 2, CNNVP_WRITE, 33 * 64, 64, 1);
    run_to_end(bench);
    assert_int_equal(bench->done[1], TCK);
    assert_int_equal(bench->done[0], (1 + RCD + 6 + 1) * TCK);
    bench_free(bench);
}

static void test_counts(void **state)
{
    (void)state;
    struct bench *bench = bench_new(NULL, 0);
    send_new(bench, 1, CNNVP_READ, 60, 8, 4);   /* two bursts */
    send_new(bench, 2, CNNVP_WRITE, 64, 64, 4); /* one */
    send_new(bench, 2, CNNVP_WRITE, 63, 66, 4); /* three */
    run_to_end(bench);
    bench->dram->unit->flush(bench->dram->self);
    assert_int_equal(fake_tag_count(bench->dram, "read_bytes", 1), 8);
    assert_int_equal(fake_tag_count(bench->dram, "write_bytes", 2), 130);
    assert_int_equal(fake_count(bench->dram, "read_bytes"), 8);
    assert_int_equal(fake_count(bench->dram, "bursts"), 6);
    assert_int_equal(fake_count(bench->dram, "reads"), 2);
    assert_int_equal(fake_count(bench->dram, "requests"), 3);
    bench_free(bench);

    /* Sequential bursts come close to one in tCCD_L, of all bank groups by turns to what the bus can carry; never more,
     * but for the byte to which a window of 1 us is counted. */
    const uint64_t bus = UINT64_C(64) * 1000000000000u / (4 * TCK);
    for (uint64_t mapping = 0; mapping < 5; mapping += 4) {
        bench = bench_new("mapping", mapping);
        send_new(bench, 1, CNNVP_READ, 0, 900 * 64, 1024);
        run_to_end(bench);
        bench->dram->unit->flush(bench->dram->self);
        const uint64_t counter_peak = bench->dram->counter_peak[0], least = mapping ? bus : bus * 4u / 6u;
        assert_in_range(counter_peak, least * 95 / 100, bus + 1000000u);
        bench_free(bench);
    }
}

static uint64_t classes_of(struct bench *bench)
{
    static const char *const names[] = {"row_hits", "row_misses", "row_conflicts", "forwarded", "merged"};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        sum += fake_count(bench->dram, names[i]);
    return sum;
}

/* Each burst is in one row class, also those that still wait when the counts are taken. */
static void test_rows_add_up(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        struct bench *bench = random_run(seed, 0);
        send_new(bench, 1, CNNVP_WRITE, 0, 3000, 1);
        fake_run(&bench->sim, bench->sim.now + 10 * TCK);
        bench->dram->unit->flush(bench->dram->self);
        fake_run(&bench->sim, bench->sim.now + 100000 * TCK);
        bench->dram->unit->flush(bench->dram->self);
        assert_int_equal(classes_of(bench), fake_count(bench->dram, "bursts"));
        const uint64_t carried = fake_count(bench->dram, "bus_read_bytes") + fake_count(bench->dram, "bus_write_bytes");
        assert_int_equal(carried, fake_count(bench->dram, "data_clocks") / 4 * 64);
        assert_true(fake_count(bench->dram, "row_hits") > 0);
        assert_true(fake_count(bench->dram, "row_misses") > 0);
        uint64_t by_tag = 0;
        uint64_t carried_by_tag = 0;
        for (uint32_t tag = 0; tag < 4; ++tag) {
            by_tag += fake_tag_count(bench->dram, "row_hits", tag);
            carried_by_tag += fake_tag_count(bench->dram, "bus_read_bytes", tag);
        }
        assert_int_equal(by_tag, fake_count(bench->dram, "row_hits"));
        assert_int_equal(carried_by_tag, fake_count(bench->dram, "bus_read_bytes"));
        bench_free(bench);
    }
    /* right after a write has been taken */
    struct bench *bench = bench_new(NULL, 0);
    send_new(bench, 1, CNNVP_WRITE, 0, 10 * 64, 1);
    send_new(bench, 2, CNNVP_WRITE, 131072, 64, 1); /* another row of the same bank */
    bench->sim.other_activity = 2 * TCK;
    fake_run(&bench->sim, 2 * TCK);
    assert_int_equal(bench->completed, 2);
    assert_int_equal(fake_count(bench->dram, "activates"), 0);
    for (uint32_t i = 0; i < 2; ++i) {
        bench->dram->unit->flush(bench->dram->self);
        assert_int_equal(fake_count(bench->dram, "row_hits"), 9);
        assert_int_equal(fake_count(bench->dram, "row_misses"), 1);
        assert_int_equal(fake_count(bench->dram, "row_conflicts"), 1);
        assert_int_equal(fake_tag_count(bench->dram, "row_conflicts", 2), 1);
        bench->sim.other_activity = CNNVP_TIME_NEVER;
        fake_run(&bench->sim, 1000 * TCK);
        bench->dram->unit->flush(bench->dram->self);
    }
    assert_int_equal(fake_count(bench->dram, "activates"), 2);
    assert_int_equal(fake_count(bench->dram, "precharges"), 1);
    bench_free(bench);
}

/* A reset in the middle of transfers: bursts that have entered count, whether the counts were taken before or not. */
static void test_reset_rows(void **state)
{
    (void)state;
    uint64_t hits[2];
    for (uint32_t taken = 0; taken < 2; ++taken) {
        struct bench *bench = bench_new(NULL, 0);
        send_new(bench, 1, CNNVP_READ, 0, 100 * 64, 8);
        send_new(bench, 2, CNNVP_WRITE, 131072, 20 * 64, 1); /* another row of the same bank */
        fake_run(&bench->sim, 50 * TCK);
        if (taken)
            bench->dram->unit->flush(bench->dram->self);
        fake_reset(bench->dram);
        bench->dram->unit->flush(bench->dram->self);
        hits[taken] = fake_count(bench->dram, "row_hits");
        assert_true(hits[taken] > 0);
        assert_int_equal(classes_of(bench), fake_count(bench->dram, "bursts"));
        bench_free(bench);
    }
    assert_int_equal(hits[0], hits[1]);
}

/* Refreshes go on where nothing else does. */
static void test_idle_refresh(void **state)
{
    (void)state;
    struct bench *bench = bench_new(NULL, 0);
    fake_run(&bench->sim, 100 * 9364 * TCK);
    bench->dram->unit->flush(bench->dram->self);
    assert_int_equal(fake_count(bench->dram, "refreshes"), 100);
    assert_int_equal(bench->dram->event_at[0], CNNVP_TIME_NEVER);
    bench_free(bench);
}

static void test_impossible(void **state)
{
    (void)state;
    static const struct {
        const char *param;
        uint64_t value;
        const char *message;
    } bad[] = {
        {"t_ras", 10, "t_ras is 10 clocks, less than t_rcd, which is 16"},
        {"t_rcd", 60, "t_ras is 39 clocks, less than t_rcd, which is 60"},
        {"t_rc", 54, "t_rc is 54 clocks; it must be t_ras + t_rp, 39 + 16 = 55 (0 sets it so)"},
        {"t_ccd_l", 3, "t_ccd_l is 3 clocks, less than t_ccd_s, which is 4"},
        {"t_bl", 5, "t_ccd_s is 4 clocks, less than t_bl, which is 5"},
        {"t_wtr_l", 2, "t_wtr_l is 2 clocks, less than t_wtr_s, which is 3"},
        {"t_refi", 433, "t_refi is 433 clocks: a refresh and one access to a row take 542, nothing is left for data"},
        {"ranks", 3, "ranks is 3; it must be 1, 2 or 4"},
        {"drain_low", 80, "drain_low is 80 percent; it must be less than drain_high, 80"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        struct fake_sim sim;
        fake_sim_init(&sim, 1000, 0, 0);
        struct cnnvp_host *dram = fake_add(&sim, &cnnvp_unit_dram);
        fake_set(dram, "size", 1u << 20);
        fake_set(dram, bad[i].param, bad[i].value);
        assert_int_equal(fake_start(dram), CNNVP_E_INVAL);
        assert_int_equal(dram->config_errors, 1);
        assert_string_equal(dram->message, bad[i].message);
        fake_sim_free(&sim);
    }
    /* what follows from an override is derived: tRC from tRAS and tRP */
    struct bench *bench = bench_new("t_ras", 50);
    bench_free(bench);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        uint64_t address, size, count;
        int64_t stride;
        int32_t status;
    } bad[] = {
        {1u << 20, 1, 1, 0, CNNVP_E_ADDR},
        {(1u << 20) - 4, 8, 1, 0, CNNVP_E_ADDR},
        {UINT64_MAX - 3, 8, 1, 0, CNNVP_E_ADDR},
        {0, 8, 3, 1 << 19, CNNVP_E_ADDR},
        {0, 8, 2, -8, CNNVP_E_ADDR},
        {1000, 8, 2, INT64_MIN, CNNVP_E_ADDR},
        {1000, 8, 2, INT64_MAX, CNNVP_E_ADDR},
        {0, 0, 1, 0, CNNVP_E_INVAL},
        {0, 8, 0, 0, CNNVP_E_INVAL},
        {0, 8, UINT64_MAX, 0, CNNVP_E_INVAL},
    };
    struct bench *bench = bench_new(NULL, 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        struct cnnvp_request *request = add(bench, 1, CNNVP_READ, bad[i].address, bad[i].size, 4);
        request->count = bad[i].count;
        request->stride = bad[i].stride;
        send(bench, request);
        run_to_end(bench);
        assert_int_equal(request->status, bad[i].status);
    }
    assert_int_equal(bench->dram->warnings, sizeof bad / sizeof bad[0]);
    assert_int_equal(fake_count(bench->dram, "failed"), sizeof bad / sizeof bad[0]);
    assert_int_equal(fake_count(bench->dram, "read_bytes"), 0);
    /* what just fits */
    struct cnnvp_request *request = add(bench, 1, CNNVP_READ, (1u << 20) - 8, 8, 4);
    request->count = 2;
    request->stride = -(int64_t)((1u << 20) - 8);
    send(bench, request);
    run_to_end(bench);
    assert_int_equal(request->status, CNNVP_OK);
    bench_free(bench);
}

static void test_access(void **state)
{
    (void)state;
    struct bench *bench = bench_new(NULL, 0);
    uint32_t value = 0x12345678;
    struct cnnvp_access access = {
        .op = CNNVP_WRITE, .flags = CNNVP_UNTIMED, .address = 0xffffc, .data = &value, .size = 4};
    assert_int_equal(fake_access(bench->dram, "mem", &access), CNNVP_OK);
    assert_int_equal(access.delay, 0);
    bench->dram->unit->flush(bench->dram->self);
    assert_int_equal(fake_count(bench->dram, "write_bytes"), 0);
    access.address = 0xffffd;
    assert_int_equal(fake_access(bench->dram, "mem", &access), CNNVP_E_ADDR);
    access.op = CNNVP_COMMAND;
    assert_int_equal(fake_access(bench->dram, "mem", &access), CNNVP_E_ACCESS);
    access =
        (struct cnnvp_access){.op = CNNVP_READ, .tag = 3, .address = 0xffffc, .data = &value, .size = 4, .delay = 5};
    value = 0;
    assert_int_equal(fake_access(bench->dram, "mem", &access), CNNVP_OK);
    assert_int_equal(value, 0x12345678);
    assert_int_equal(access.delay, 5 + (RCD + CL + BL) * TCK);
    bench->dram->unit->flush(bench->dram->self);
    assert_int_equal(fake_tag_count(bench->dram, "read_bytes", 3), 4);
    struct cnnvp_dmi dmi;
    assert_int_equal(bench->dram->unit->dmi(bench->dram->self, 0, 0x100000, &dmi), CNNVP_E_ADDR);
    assert_int_equal(bench->dram->unit->dmi(bench->dram->self, 0, 0xfffff, &dmi), CNNVP_OK);
    assert_int_equal(dmi.start, 0);
    assert_int_equal(dmi.end, 0xfffff);
    assert_int_equal(dmi.data[0xffffc], 0x78);
    /* contents survive a reset, requests do not */
    send_new(bench, 1, CNNVP_READ, 0, 640, 4);
    fake_run(&bench->sim, 50000);
    fake_reset(bench->dram);
    fake_run(&bench->sim, 1000000);
    assert_int_equal(bench->completed, 0);
    assert_int_equal(dmi.data[0xffffc], 0x78);
    bench->count = 0;
    send_new(bench, 1, CNNVP_READ, 0, 64, 4);
    run_to_end(bench);
    assert_int_equal(bench->done[0], (1000000 / TCK + 1 + RCD + CL + BL) * TCK);
    bench_free(bench);
}

/* What the port carries, whatever its clock; more than the part's bus carries changes nothing. */
static void test_port(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes, mhz, ps; /* of a burst */
    } ports[] = {{8, 1000, 8000},  {8, 500, 16000},  {20, 1000, 4000},
                 {64, 100, 10000}, {128, 100, 5000}, {4, 0, 16 * TCK}};
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; ++i) {
        struct bench *bench = bench_port(ports[i].bytes, ports[i].mhz, "round-robin", "");
        send_new(bench, 1, CNNVP_READ, 0, 100u * 64u, 100);
        send_new(bench, 2, CNNVP_WRITE, 1u << 18, 20u * 64u, 100);
        run_to_end(bench);
        /* both directions at once: the reads do not wait for the writes at the port */
        assert_in_range(bench->done[0], 99u * ports[i].ps + (CL + BL) * TCK,
                        99u * ports[i].ps + 6u * (RCD + CL + BL) * TCK);
        bench_free(bench);
    }
    struct bench *wide = bench_port(4096, 0, "round-robin", ""), *open = bench_port(0, 0, "round-robin", "");
    send_new(wide, 1, CNNVP_READ, 0, 6400, 100);
    send_new(open, 1, CNNVP_READ, 0, 6400, 100);
    run_to_end(wide);
    run_to_end(open);
    assert_int_equal(wide->done[0], open->done[0]);
    bench_free(wide);
    bench_free(open);
}

/* Refreshes of long idle times are counted at once where nobody looks at counters: the statistics, and the ends of what
 * comes later, are as with each of them issued. */
static void test_long_idle_times(void **state)
{
    static const struct {
        const char *param;
        uint64_t value;
    } choices[] = {{"refresh", 0}, {"refresh", 1}, {"refresh", 2}, {"power_down", 1}, {"power_down", 2}};
    (void)state;
    for (uint32_t c = 0; c < 2u * sizeof choices / sizeof choices[0]; ++c) {
        struct bench *benches[2];
        for (int unwatched = 0; unwatched < 2; ++unwatched) {
            struct bench *bench = calloc(1, sizeof *bench);
            assert_non_null(bench);
            fake_sim_init(&bench->sim, 1000, 0, 0);
            bench->sim.unwatched = unwatched;
            bench->dram = fake_add(&bench->sim, &cnnvp_unit_dram);
            fake_set(bench->dram, "size", 1u << 20);
            fake_set(bench->dram, "ranks", 2);
            fake_set(bench->dram, "channels", 1 + c % 2);
            fake_set(bench->dram, choices[c / 2].param, choices[c / 2].value);
            bench->dram->completed = completed;
            bench->dram->completed_context = bench;
            assert_int_equal(fake_start(bench->dram), CNNVP_OK);
            cnnvp_time at = 0;
            for (uint64_t i = 0; i < 40; ++i) {
                send_new(bench, 1, i % 3 == 0 ? CNNVP_WRITE : CNNVP_READ, 4096 * i, 64 * (1 + i % 7), 4);
                at += i % 4 ? 1000000 + 777777 * i : 1000000000 + 1234567 * i; /* us, and every fourth time ms */
                bench->sim.other_activity = at;
                fake_run(&bench->sim, at);
                if (i % 5 == 0)
                    bench->dram->unit->flush(bench->dram->self);
            }
            bench->dram->unit->flush(bench->dram->self);
            benches[unwatched] = bench;
        }
        assert_memory_equal(benches[0]->done, benches[1]->done, sizeof benches[0]->done);
        assert_int_equal(benches[0]->completed, 40);
        for (size_t i = 0; i < cnnvp_unit_dram.stat_count; ++i)
            if (fake_count(benches[0]->dram, cnnvp_unit_dram.stats[i].name) !=
                fake_count(benches[1]->dram, cnnvp_unit_dram.stats[i].name))
                fail_msg("%s, %s: %llu and %llu", choices[c / 2].param, cnnvp_unit_dram.stats[i].name,
                         (unsigned long long)fake_count(benches[0]->dram, cnnvp_unit_dram.stats[i].name),
                         (unsigned long long)fake_count(benches[1]->dram, cnnvp_unit_dram.stats[i].name));
        bench_free(benches[0]);
        bench_free(benches[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_idle_times), cmocka_unit_test(test_port),        cmocka_unit_test(test_one_burst),
        cmocka_unit_test(test_read_and_write),  cmocka_unit_test(test_rows_add_up), cmocka_unit_test(test_idle_refresh),
        cmocka_unit_test(test_impossible),      cmocka_unit_test(test_counts),      cmocka_unit_test(test_errors),
        cmocka_unit_test(test_access),          cmocka_unit_test(test_reset_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
