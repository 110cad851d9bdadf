/* SPDX-License-Identifier: Apache-2.0 */
/* What each requester gets, and what it is counted for. */
#include "dram_case.h"

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

static void test_bad_shares(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "dram",
        "=3",
        "dram=",
        "dram=0",
        "dram=65",
        "dram=-1",
        "dram=3x",
        "dram=3,",
        "nobody=3",
        "dram=2,dram=3",
        ",dram=3",
        "dram=3,,",
        "dram=99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        struct fake_sim sim;
        fake_sim_init(&sim, 1000, 0, 0);
        struct cnnvp_host *host = fake_add(&sim, &cnnvp_unit_dram);
        set_text(host, "shares", bad[i]);
        assert_int_equal(fake_start(host), CNNVP_E_INVAL);
        assert_int_equal(host->config_errors, 1);
        const int follows = strncmp(bad[i], "dram=3", 6) == 0 && bad[i][7] == '\0'; /* a number that is right */
        assert_int_equal(strstr(host->message, "after dram=3 comes \"") != NULL, follows);
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
        cmocka_unit_test(test_requesters),
        cmocka_unit_test(test_bad_shares),
        cmocka_unit_test(test_nobody_starves),
        cmocka_unit_test(test_interleave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
