/* SPDX-License-Identifier: Apache-2.0 */
/* The off-chip memory as a unit: bursts that the write queue answers, and from when latency counts. */

#include "test.h"

#include "units.h"
#include "fake_host.h"

#define REQUESTS 4u
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
    uint32_t count, completed;
};

static void completed(void *context, struct cnnvp_request *request)
{
    struct bench *bench = context;
    bench->done[request - bench->requests] = bench->sim.now;
    ++bench->completed;
}

static struct bench *bench_new(uint64_t channels)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    fake_sim_init(&bench->sim, 1000, 0, 0);
    bench->dram = fake_add(&bench->sim, &cnnvp_unit_dram);
    fake_set(bench->dram, "size", 1u << 20);
    fake_set(bench->dram, "mapping", 0); /* rows of one bank after another */
    fake_set(bench->dram, "channels", channels);
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

static void send(struct bench *bench, uint32_t initiator, uint32_t op, uint64_t address, void *data, uint64_t size,
                 uint32_t outstanding)
{
    struct cnnvp_request *request = &bench->requests[bench->count++];
    *request = (struct cnnvp_request){
        .op = op,
        .initiator = initiator,
        .address = address,
        .data = data,
        .size = size,
        .count = 1,
        .burst_bytes = 64,
        .outstanding = outstanding};
    assert_int_equal(bench->dram->unit->request(bench->dram->self, 0, request), CNNVP_OK);
}

static void run_to_clock(struct bench *bench, uint64_t clock)
{
    bench->sim.other_activity = clock * TCK;
    fake_run(&bench->sim, clock * TCK);
}

static void run_to_end(struct bench *bench)
{
    bench->sim.other_activity = CNNVP_TIME_NEVER;
    fake_run(&bench->sim, bench->sim.now + 1000000000u);
    assert_int_equal(bench->completed, bench->count);
    bench->dram->unit->flush(bench->dram->self);
}

/* A read of what still waits in the write queue is answered at once, with the data; one of what has opened its row is
 * not. */
static void test_forward(void **state)
{
    (void)state;
    for (uint32_t queued = 0; queued < 2; ++queued) {
        struct bench *bench = bench_new(1);
        uint8_t source[128], back[64] = {0};
        memset(source, 0x11, 64);
        memset(source + 64, 0x5a, 64);
        send(bench, 1, CNNVP_WRITE, 128, source, sizeof source, 1);
        run_to_clock(bench, 2);
        send(bench, 1, CNNVP_READ, 128 + 64 * queued, back, sizeof back, 1);
        run_to_end(bench);
        assert_memory_equal(source + 64 * queued, back, sizeof back);
        assert_int_equal(fake_count(bench->dram, "forwarded"), queued);
        assert_int_equal(fake_count(bench->dram, "bus_read_bytes"), queued ? 0 : 64);
        assert_int_equal(fake_count(bench->dram, "bus_write_bytes"), 128);
        if (queued)
            assert_int_equal(bench->done[1], 3 * TCK);
        else
            assert_true(bench->done[1] > (1 + RCD) * TCK);
        bench_free(bench);
    }
}

/* A write to 64 bytes whose write waits takes its place: it is taken at once, also by a full queue, and the bus carries
 * one. */
static void test_merge(void **state)
{
    (void)state;
    struct bench *bench = bench_new(1);
    uint8_t source[33 * 64], later[32], back[64];
    memset(source, 0x11, sizeof source);
    memset(later, 0x77, sizeof later);
    send(bench, 1, CNNVP_WRITE, 0, source, sizeof source, 1); /* one opens a row, 32 fill the queue */
    run_to_clock(bench, 4);
    send(bench, 2, CNNVP_WRITE, 1000, later, sizeof later, 1);
    send(bench, 3, CNNVP_WRITE, 33 * 64, NULL, 64, 1); /* waits for room */
    run_to_end(bench);
    assert_int_equal(bench->done[1], 5 * TCK);
    assert_true(bench->done[2] > (1 + RCD) * TCK);
    send(bench, 1, CNNVP_READ, 960, back, sizeof back, 1);
    run_to_end(bench);
    assert_memory_equal(back, source, 40);
    assert_memory_equal(back + 40, later, 24);
    assert_int_equal(fake_count(bench->dram, "merged"), 2); /* 1000 .. 1031 lies in two bursts */
    assert_int_equal(fake_count(bench->dram, "bursts"), 33 + 2 + 1 + 1);
    assert_int_equal(fake_count(bench->dram, "data_clocks"), (33 + 1 + 1) * BL);
    assert_int_equal(fake_count(bench->dram, "bus_write_bytes"), (33 + 1) * 64);
    assert_int_equal(fake_count(bench->dram, "bus_read_bytes"), 64);
    bench_free(bench);
}

/* Where two reads end at one clock, each of the two that take their places could be sent then, and not since it was
 * asked for. */
static void test_latency_of_pairs(void **state)
{
    (void)state;
    struct bench *bench = bench_new(2);
    send(bench, 1, CNNVP_READ, 0, NULL, 20 * 64, 2);
    run_to_end(bench);
    assert_int_equal(bench->done[0], (1 + RCD + CL + BL + 9 * (1 + CL + BL)) * TCK);
    assert_int_equal(fake_count(bench->dram, "read_latency_ps"),
                     2 * (1 + RCD + CL + BL) * TCK + 18 * (1 + CL + BL) * TCK);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_latency_of_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
