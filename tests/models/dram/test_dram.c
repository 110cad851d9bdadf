/* SPDX-License-Identifier: Apache-2.0 */
/* The off-chip memory as a unit: times, arbitration, independence of how often it is called, data, errors, counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dram/dram.h"
#include "dram/dram_replay.h"
#include "fake_host.h"

#define REQUESTS 256u
/* ddr4-2400 */
#define TCK ((cnnvp_time)833)
#define RCD 16u
#define CL 16u
#define BL 4u

struct bench {
    struct fake_sim sim;
    struct cnnvp_host *dram;
    struct cnnvp_request requests[REQUESTS];
    cnnvp_time done[REQUESTS]; /* 0: not yet */
    uint32_t order[REQUESTS];  /* completion order */
    uint32_t completed;
    uint32_t count;
    uint32_t chain; /* requests that follow at once when one of initiator 1 completes */
};

static void follow(struct bench *bench);

static void completed(void *context, struct cnnvp_request *request)
{
    struct bench *bench = context;
    const size_t index = (size_t)(request - bench->requests);
    assert_int_equal(bench->done[index], 0);
    bench->done[index] = bench->sim.now;
    bench->order[bench->completed++] = (uint32_t)index;
    if (request->initiator == 1 && bench->chain) {
        --bench->chain;
        follow(bench);
    }
}

/* With rows of one bank after another, unless `param` is the mapping: what the tests state. */
static struct bench *bench_new(const char *param, uint64_t value)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    fake_sim_init(&bench->sim, 1000, 0, 0);
    bench->dram = fake_add(&bench->sim, &cnnvp_unit_dram);
    fake_set(bench->dram, "size", 1u << 20);
    fake_set(bench->dram, "mapping", 0);
    if (param != NULL)
        fake_set(bench->dram, param, value);
    bench->dram->completed = completed;
    bench->dram->completed_context = bench;
    assert_int_equal(fake_start(bench->dram), CNNVP_OK);
    return bench;
}

static void bench_free(struct bench *bench)
{
    fake_sim_free(&bench->sim);
    free(bench);
}

static struct cnnvp_request *add(struct bench *bench, uint32_t initiator, uint32_t op, uint64_t address, uint64_t size,
                                 uint32_t outstanding)
{
    struct cnnvp_request *request = &bench->requests[bench->count++];
    *request = (struct cnnvp_request){
        .op = op,
        .initiator = initiator,
        .tag = initiator,
        .address = address,
        .size = size,
        .count = 1,
        .burst_bytes = 64,
        .outstanding = outstanding};
    return request;
}

static void send(struct bench *bench, struct cnnvp_request *request)
{
    assert_int_equal(bench->dram->unit->request(bench->dram->self, 0, request), CNNVP_OK);
}

static void send_new(struct bench *bench, uint32_t initiator, uint32_t op, uint64_t address, uint64_t size,
                     uint32_t outstanding)
{
    send(bench, add(bench, initiator, op, address, size, outstanding));
}

static void follow(struct bench *bench)
{
    send_new(bench, 1, CNNVP_READ, 65536 + 64u * bench->chain, 300 + 64u * (bench->chain % 5u), 4);
}

static void run_to_end(struct bench *bench)
{
    bench->sim.other_activity = CNNVP_TIME_NEVER;
    fake_run(&bench->sim, bench->sim.now + 1000000000u);
    assert_int_equal(bench->completed, bench->count);
}

/* A burst that arrives between two clock edges enters at the next; then ACT, RD, data. */
static void test_one_burst(void **state)
{
    (void)state;
    static const cnnvp_time tck[] = {1250, 833, 625, 625, 1000, 416, 1250, 625};
    /* of lpddr4 RD's and of hbm2's, ddr5's and hbm3's ACT further clocks too */
    static const cnnvp_time clocks[] = {11 + 11 + 4,     16 + 16 + 4,     22 + 22 + 4, 29 + 3 + 31 + 8,
                                        1 + 14 + 14 + 2, 1 + 39 + 40 + 8, 15 + 17 + 2, 1 + 31 + 20 + 2};
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

static uint64_t replay_end(uint32_t channels, uint32_t outstanding, const struct cnnvp_request *request)
{
    struct dram_options options;
    struct dram_timing timing;
    struct dram_replay_result result;
    char message[100];
    uint32_t wrong;
    cnnvp_dram_options_init(&options);
    options.channels = channels;
    assert_int_equal(cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong), CNNVP_OK);
    struct dram_replay *replay = cnnvp_dram_replay_new(&options, &timing, outstanding, NULL, NULL);
    assert_non_null(replay);
    for (uint64_t i = 0; i < request->count; ++i)
        for (uint64_t k = 0; k < request->size; k += 64)
            cnnvp_dram_replay_burst(replay, request->op, i * (uint64_t)request->stride + k);
    cnnvp_dram_replay_end(replay, DRAM_NEVER, &result);
    cnnvp_dram_replay_free(replay);
    return result.clocks;
}

/* A lone requester's bursts go as the replay's, which is held against a published simulator's figures. */
static void test_as_replay(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 60; ++round) {
        const uint32_t outstanding = 1u << round % 6u, channels = 1u + round % 3u;
        struct bench *bench = bench_new("channels", channels);
        struct cnnvp_request *request =
            add(bench, 1, round & 1u ? CNNVP_WRITE : CNNVP_READ, 0, 64 * (1 + round / 10u), outstanding);
        request->stride = 64 * 17 * (1 + (int64_t)round % 5);
        request->count = ((1u << 20) - request->size) / (uint64_t)request->stride;
        send(bench, request);
        run_to_end(bench);
        assert_int_equal(bench->done[0], replay_end(channels, outstanding, request) * TCK);
        bench_free(bench);
    }
}

/* Two requesters share burst by burst: each gets about half while both are there. */
static void test_interleave(void **state)
{
    (void)state;
    cnnvp_time alone[2];
    for (uint32_t i = 0; i < 2; ++i) {
        struct bench *bench = bench_new(NULL, 0);
        send_new(bench, 1, CNNVP_READ, i * 65536, (100 - 50 * i) * 64, 64);
        run_to_end(bench);
        alone[i] = bench->done[0];
        bench_free(bench);
    }
    struct bench *bench = bench_new(NULL, 0);
    send_new(bench, 2, CNNVP_READ, 0, 100 * 64, 64);
    send_new(bench, 1, CNNVP_READ, 65536, 50 * 64, 64);
    send_new(bench, 2, CNNVP_READ, 0, 64, 64); /* same stream: behind the first */
    run_to_end(bench);
    assert_true(bench->done[1] < bench->done[0]);
    assert_true(bench->done[1] > alone[1] * 5 / 4);
    assert_true(bench->done[0] > alone[0]);
    assert_true(bench->done[0] < alone[0] + alone[1] + 100 * TCK);
    assert_true(bench->done[2] > bench->done[0]);
    /* of two that could enter at the same clock, initiator 1 went first */
    assert_int_equal(bench->requests[1].first_data, (1 + RCD + CL + BL) * TCK);
    bench_free(bench);
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

static uint32_t below(uint64_t *state, uint32_t limit)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % limit;
}

/* Random arrivals; `pace`: something else happens so often, 0 never. */
static struct bench *random_run(uint64_t seed, cnnvp_time pace)
{
    struct bench *bench = bench_new("channels", 1 + seed % 3);
    cnnvp_time at = 0;
    bench->chain = 100;
    for (uint32_t i = 0; i < 60; ++i) {
        const cnnvp_time next = at + (below(&seed, 3) ? below(&seed, 2000) : below(&seed, 400000));
        while (pace && at + pace < next) {
            at += pace;
            bench->sim.other_activity = at;
            fake_run(&bench->sim, at);
        }
        at = next;
        bench->sim.other_activity = at;
        fake_run(&bench->sim, at);
        struct cnnvp_request *request = add(
            bench, below(&seed, 4), below(&seed, 2), below(&seed, 60000), 1 + below(&seed, 2000), 1 + below(&seed, 20));
        request->count = 1 + below(&seed, 8);
        request->stride = (int64_t)below(&seed, 10000) - 5000;
        if (request->stride < 0)
            request->address += 65536;
        send(bench, request);
    }
    run_to_end(bench);
    return bench;
}

static void test_independent_of_calls(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        struct bench *alone = random_run(seed, 0);
        static const cnnvp_time paces[] = {777, 833, 5000, 33333};
        for (size_t p = 0; p < 4; ++p) {
            struct bench *paced = random_run(seed, paces[p]);
            assert_memory_equal(alone->done, paced->done, sizeof alone->done);
            assert_memory_equal(alone->order, paced->order, sizeof alone->order);
            assert_memory_equal(alone->dram->counts, paced->dram->counts, sizeof alone->dram->counts);
            for (uint32_t i = 0; i < alone->count; ++i)
                assert_int_equal(alone->requests[i].first_data, paced->requests[i].first_data);
            bench_free(paced);
        }
        bench_free(alone);
    }
}

static void test_data(void **state)
{
    (void)state;
    struct bench *bench = bench_new(NULL, 0);
    uint8_t source[300];
    uint8_t back[300] = {0};
    uint8_t row[1000];
    for (size_t i = 0; i < sizeof source; ++i)
        source[i] = (uint8_t)(i * 7u + 1u);
    struct cnnvp_request *write = add(bench, 1, CNNVP_WRITE, 1000, 30, 4);
    write->count = 10;
    write->stride = 100;
    write->data = source;
    send(bench, write);
    run_to_end(bench);
    struct cnnvp_access access = {
        .op = CNNVP_READ, .flags = CNNVP_DEBUG, .address = 1000, .data = row, .size = sizeof row};
    assert_int_equal(fake_access(bench->dram, "mem", &access), CNNVP_OK);
    for (size_t i = 0; i < sizeof row; ++i)
        assert_int_equal(row[i], i % 100 < 30 ? source[i / 100 * 30 + i % 100] : 0);
    struct cnnvp_request *read = add(bench, 1, CNNVP_READ, 1900, 30, 4); /* last row first */
    read->count = 10;
    read->stride = -100;
    read->data = back;
    send(bench, read);
    run_to_end(bench);
    for (size_t i = 0; i < sizeof back; ++i)
        assert_int_equal(back[i], source[(9 - i / 30) * 30 + i % 30]);
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
        const uint64_t classes =
            fake_count(bench->dram, "row_hits") + fake_count(bench->dram, "row_misses") +
            fake_count(bench->dram, "row_conflicts") + fake_count(bench->dram, "forwarded") +
            fake_count(bench->dram, "merged");
        assert_int_equal(classes, fake_count(bench->dram, "bursts"));
        assert_true(fake_count(bench->dram, "row_hits") > 0);
        assert_true(fake_count(bench->dram, "row_misses") > 0);
        uint64_t by_tag = 0;
        for (uint32_t tag = 0; tag < 4; ++tag)
            by_tag += fake_tag_count(bench->dram, "row_hits", tag);
        assert_int_equal(by_tag, fake_count(bench->dram, "row_hits"));
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

/* A whole transfer costs a few calls, however long it is. */
static void test_one_call(void **state)
{
    (void)state;
    struct bench *bench = bench_new(NULL, 0);
    uint32_t calls = 0;
    send_new(bench, 1, CNNVP_READ, 0, 1u << 20, 16);
    while (!bench->completed) {
        fake_run(&bench->sim, bench->dram->event_at[0]);
        ++calls;
    }
    assert_in_range(calls, 1, 3);
    bench_free(bench);
}

/* Row hits go before another row of their bank, but not for ever: a refresh closes the row, then the oldest is first.
 */
static void test_nobody_starves(void **state)
{
    (void)state;
    static const cnnvp_time refresh = 9364, takes = 433, rest = 300; /* clocks: tREFI, tRFC, a queue and its rows */
    for (uint64_t fcfs = 0; fcfs < 2; ++fcfs) {
        struct bench *bench = bench_new("scheduler", fcfs);
        struct cnnvp_request *hits = add(bench, 1, CNNVP_READ, 0, 8192, 64);
        hits->count = 400;
        send(bench, hits);
        fake_run(&bench->sim, 1000000);
        send_new(bench, 2, CNNVP_READ, 3 * 131072, 64, 1);
        run_to_end(bench);
        assert_true(bench->done[0] > 10 * refresh * TCK);
        assert_in_range(bench->done[1], 1000000, 1000000 + (fcfs ? rest : refresh + takes + rest) * TCK);
        bench_free(bench);
    }
}

/* ---- two requesters at a narrow port ---- */

#define PORT_PS 8000u /* that a burst takes of 8 bytes at 1000 MHz; the part takes 3332 */
#define EACH 240u

static void set_text(struct cnnvp_host *host, const char *name, const char *text)
{
    for (size_t i = 0; i < host->unit->param_count; ++i)
        if (strcmp(host->unit->params[i].name, name) == 0)
            host->texts[i] = text;
}

static uint64_t index_of(const char *choices, const char *choice)
{
    uint64_t index = 0;
    for (const char *at = choices; strncmp(at, choice, strlen(choice)) != 0; at = strchr(at, '|') + 1)
        ++index;
    return index;
}

static uint64_t arbiter(const char *name)
{
    for (size_t i = 0; i < cnnvp_unit_dram.param_count; ++i)
        if (strcmp(cnnvp_unit_dram.params[i].name, "arbiter") == 0)
            return index_of(cnnvp_unit_dram.params[i].choices, name);
    return 0;
}

/* Without refreshes, whose time would count too. */
static struct bench *bench_port(uint64_t bytes, uint64_t mhz, const char *which, const char *shares)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    fake_sim_init(&bench->sim, 1000, 0, 0);
    bench->dram = fake_add(&bench->sim, &cnnvp_unit_dram);
    fake_set(bench->dram, "size", 1u << 20);
    fake_set(bench->dram, "port_bytes", bytes);
    fake_set(bench->dram, "port_mhz", mhz);
    fake_set(bench->dram, "refresh", 2);
    fake_set(bench->dram, "arbiter", arbiter(which));
    set_text(bench->dram, "shares", shares);
    bench->dram->completed = completed;
    bench->dram->completed_context = bench;
    assert_int_equal(fake_start(bench->dram), CNNVP_OK);
    return bench;
}

/* Requesters 0, whose name is dram here, and 1 read EACH bursts each, of different rows, all sent at once. */
static struct bench *compete(const char *which, const char *shares)
{
    struct bench *bench = bench_port(8, 1000, which, shares);
    send_new(bench, 1, CNNVP_READ, 1u << 18, EACH * 64u, EACH);
    send_new(bench, 0, CNNVP_READ, 0, EACH * 64u, EACH);
    run_to_end(bench);
    bench->dram->unit->flush(bench->dram->self);
    return bench;
}

/* From the last burst's turn at the port, the `turns`th, to its data: at least the part's, at most two rows more. */
static void check_turns(const struct bench *bench, size_t request, uint64_t turns)
{
    const uint64_t port = (turns - 1u) * PORT_PS, least = (CL + BL) * TCK, most = 4u * (RCD + CL + BL) * TCK;
    assert_in_range(bench->done[request], port + least, port + most);
}

/* Sum of what bursts wait for the port that have these turns, the first, each step'th; entering is a clock later at
 * most, and may be one sooner. */
static void check_waits(const struct bench *bench, uint32_t requester, uint64_t first, uint64_t step)
{
    const uint64_t sum = EACH * (first - 1u) * PORT_PS + step * PORT_PS * (EACH * (EACH - 1u) / 2u);
    assert_in_range(fake_requester_count(bench->dram, "wait_ps", requester), sum - EACH * TCK, sum + 2u * EACH * TCK);
}

static void test_arbiters(void **state)
{
    (void)state;
    /* by turns: both end together, and each waits for every other turn */
    struct bench *bench = compete("round-robin", "dram=64");
    check_turns(bench, 1, 2u * EACH - 1u);
    check_turns(bench, 0, 2u * EACH);
    check_waits(bench, 0, 1, 2);
    check_waits(bench, 1, 2, 2);
    assert_int_equal(fake_count(bench->dram, "wait_ps"),
                     fake_requester_count(bench->dram, "wait_ps", 0) + fake_requester_count(bench->dram, "wait_ps", 1));
    bench_free(bench);
    /* one after the other */
    bench = compete("priority", "dram=2");
    check_turns(bench, 1, EACH);
    check_turns(bench, 0, 2u * EACH);
    check_waits(bench, 0, 1, 1);
    check_waits(bench, 1, EACH + 1u, 1);
    bench_free(bench);
    /* three of four turns: it has all of its own when the other has a third of them */
    bench = compete("weighted", "dram=3");
    check_turns(bench, 1, EACH + EACH / 3u);
    check_turns(bench, 0, 2u * EACH);
    bench_free(bench);
    bench = compete("weighted", "");
    check_turns(bench, 1, 2u * EACH - 1u);
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

static void test_bad_shares(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "dram",    "=3",       "dram=",         "dram=0",  "dram=65",  "dram=-1",
        "dram=3x", "nobody=3", "dram=2,dram=3", ",dram=3", "dram=3,,", "dram=99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        struct fake_sim sim;
        fake_sim_init(&sim, 1000, 0, 0);
        struct cnnvp_host *host = fake_add(&sim, &cnnvp_unit_dram);
        set_text(host, "shares", bad[i]);
        assert_int_equal(fake_start(host), CNNVP_E_INVAL);
        assert_int_equal(host->config_errors, 1);
        fake_sim_free(&sim);
    }
}

/* The shares of the requesters make up the totals; each burst is told once, in order. */
static void test_requesters(void **state)
{
    (void)state;
    static const char *const shared[] = {
        "read_bytes", "write_bytes", "bursts",        "reads",       "read_latency_ps",   "write_latency_ps",
        "row_hits",   "row_misses",  "row_conflicts", "turnarounds", "read_queue_clocks", "write_queue_clocks"};
    struct bench *bench = bench_new("ranks", 2);
    send_new(bench, 1, CNNVP_READ, 0, 20000, 8);
    send_new(bench, 2, CNNVP_READ, 500000, 3000, 4);
    send_new(bench, 2, CNNVP_WRITE, 300000, 5000, 4);
    send_new(bench, 3, CNNVP_WRITE, 64, 100, 1);
    run_to_end(bench);
    cnnvp_unit_dram.flush(bench->dram->self);
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; ++i) {
        uint64_t sum = 0;
        for (uint32_t requester = 0; requester < FAKE_TAGS; ++requester)
            sum += fake_requester_count(bench->dram, shared[i], requester);
        if (sum != fake_count(bench->dram, shared[i]))
            fail_msg("%s: the shares make %llu of %llu", shared[i], (unsigned long long)sum,
                     (unsigned long long)fake_count(bench->dram, shared[i]));
    }
    assert_int_equal(fake_requester_count(bench->dram, "read_bytes", 1), 20000);
    assert_int_equal(fake_requester_count(bench->dram, "write_bytes", 2), 5000);
    assert_int_equal(fake_requester_count(bench->dram, "write_bytes", 3), 100);
    assert_int_equal(bench->dram->burst_count, fake_count(bench->dram, "bursts"));
    assert_true(fake_count(bench->dram, "row_clocks") > 0);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requesters),     cmocka_unit_test(test_arbiters),
        cmocka_unit_test(test_port),           cmocka_unit_test(test_bad_shares),
        cmocka_unit_test(test_nobody_starves), cmocka_unit_test(test_one_burst),
        cmocka_unit_test(test_as_replay),      cmocka_unit_test(test_interleave),
        cmocka_unit_test(test_read_and_write), cmocka_unit_test(test_independent_of_calls),
        cmocka_unit_test(test_rows_add_up),    cmocka_unit_test(test_idle_refresh),
        cmocka_unit_test(test_impossible),     cmocka_unit_test(test_data),
        cmocka_unit_test(test_counts),         cmocka_unit_test(test_errors),
        cmocka_unit_test(test_access),         cmocka_unit_test(test_one_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
