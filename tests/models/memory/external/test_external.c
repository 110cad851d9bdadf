/* SPDX-License-Identifier: Apache-2.0 */
/* The unit alone, on a memory of the fake host: how requests are split, bounds on bursts in flight, order, errors,
 * reset. */

#include "test.h"

#include "units.h"
#include "fake_host.h"

#define SIZE 65536u
#define LATENCY 1000u

struct bench {
    struct fake_sim sim;
    struct cnnvp_host *unit;
    struct cnnvp_request *done[16];
    cnnvp_time at[16];
    uint32_t count;
};

static void completed(void *context, struct cnnvp_request *request)
{
    struct bench *bench = context;
    assert_true(bench->count < 16);
    bench->at[bench->count] = bench->sim.now;
    bench->done[bench->count++] = request;
}

static void begin(struct bench *bench, const char *param, uint64_t value)
{
    memset(bench, 0, sizeof *bench);
    fake_sim_init(&bench->sim, 1000, 0, SIZE);
    bench->sim.memory_latency = LATENCY;
    bench->sim.memory_ps_per_byte = 0;
    bench->unit = fake_add(&bench->sim, &cnnvp_unit_external);
    fake_set(bench->unit, "size", SIZE);
    if (param != NULL)
        fake_set(bench->unit, param, value);
    bench->unit->completed = completed;
    bench->unit->completed_context = bench;
    assert_int_equal(fake_start(bench->unit), CNNVP_OK);
    for (uint32_t i = 0; i < SIZE; ++i)
        bench->sim.memory[i] = (uint8_t)(i * 7u + i / 256u);
}

static struct cnnvp_request request(uint32_t op, uint64_t address, uint64_t size, uint64_t count, int64_t stride,
                                    void *data)
{
    return (struct cnnvp_request){
        .op = op,
        .tag = 3,
        .address = address,
        .data = data,
        .size = size,
        .count = count,
        .stride = stride,
        .burst_bytes = 64,
        .outstanding = 4};
}

static void send(struct bench *bench, struct cnnvp_request *what)
{
    assert_int_equal(bench->unit->unit->request(bench->unit->self, 0, what), CNNVP_OK);
}

static void run(struct bench *bench)
{
    fake_run(&bench->sim, bench->sim.now + 1000000);
}

/* Whole bursts in the middle, what is left at the ends; data in their place. */
static void test_split(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t data[300];
    begin(&bench, NULL, 0);
    struct cnnvp_request read = request(CNNVP_READ, 50, 300, 1, 0, data);
    send(&bench, &read);
    run(&bench);
    assert_int_equal(bench.count, 1);
    assert_int_equal(read.status, CNNVP_OK);
    assert_memory_equal(data, bench.sim.memory + 50, 300);
    static const uint64_t addresses[] = {50, 64, 128, 192, 256, 320}, sizes[] = {14, 64, 64, 64, 64, 30};
    assert_int_equal(bench.sim.record_count, 6);
    for (uint32_t i = 0; i < 6; ++i) {
        assert_int_equal(bench.sim.records[i].address, addresses[i]);
        assert_int_equal(bench.sim.records[i].size, sizes[i]);
        assert_int_equal(bench.sim.records[i].count, 1);
    }
    assert_int_equal(fake_count(bench.unit, "read_bytes"), 300);
    assert_int_equal(fake_tag_count(bench.unit, "read_bytes", 3), 300);
    assert_int_equal(fake_count(bench.unit, "bursts"), 6);
    assert_int_equal(fake_count(bench.unit, "requests"), 1);
    /* four at a time: two rounds of the memory's latency, and that is what each burst took */
    assert_int_equal(bench.at[0], 2 * LATENCY);
    assert_int_equal(read.first_data, LATENCY);
    assert_int_equal(fake_count(bench.unit, "read_latency_ps"), 6 * LATENCY);
    fake_sim_free(&bench.sim);
}

/* Rows apart, and backwards. */
static void test_strided(void **state)
{
    (void)state;
    static const int64_t strides[] = {1000, -200, 96, 40};
    for (size_t i = 0; i < sizeof strides / sizeof strides[0]; ++i) {
        struct bench bench;
        uint8_t data[5 * 96];
        begin(&bench, NULL, 0);
        struct cnnvp_request read = request(CNNVP_READ, 4000, 96, 5, strides[i], data);
        send(&bench, &read);
        run(&bench);
        assert_int_equal(read.status, CNNVP_OK);
        for (int64_t row = 0; row < 5; ++row)
            assert_memory_equal(data + row * 96, bench.sim.memory + 4000 + row * strides[i], 96);
        for (uint32_t j = 0; j < 96; ++j)
            data[j] = (uint8_t)(255u - j);
        struct cnnvp_request write = request(CNNVP_WRITE, 8000, 96, 5, strides[i] == 40 ? 96 : strides[i], data);
        send(&bench, &write);
        run(&bench);
        assert_int_equal(bench.count, 2);
        for (int64_t row = 0; row < 5; ++row)
            assert_memory_equal(data + row * 96, bench.sim.memory + 8000 + row * write.stride, 96);
        assert_int_equal(fake_count(bench.unit, "write_bytes"), 5 * 96);
        fake_sim_free(&bench.sim);
    }
}

/* The bound holds for all requests of a requester in one direction together, and for each requester and direction
 * alone. */
static void test_bound_of_requester(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t data[4][256] = {{0}};
    begin(&bench, NULL, 0);
    struct cnnvp_request requests[] = {
        request(CNNVP_READ, 0, 256, 1, 0, data[0]), request(CNNVP_READ, 4096, 256, 1, 0, data[1]),
        request(CNNVP_WRITE, 8192, 256, 1, 0, data[2]), request(CNNVP_READ, 12288, 256, 1, 0, data[3])};
    static const uint32_t initiators[] = {1, 1, 1, 2};
    static const cnnvp_time ends[] = {LATENCY, LATENCY, LATENCY, 2 * LATENCY};
    for (size_t i = 0; i < 4; ++i) {
        requests[i].initiator = initiators[i];
        send(&bench, &requests[i]);
    }
    run(&bench);
    assert_int_equal(bench.count, 4);
    for (size_t i = 0; i < 4; ++i)
        assert_int_equal(bench.at[i], ends[i]);
    assert_ptr_equal(bench.done[3], &requests[1]);
    fake_sim_free(&bench.sim);
}

/* Two requesters take turns, burst by burst; one requester's reads stay in order. */
static void test_turns(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t data[3][256];
    begin(&bench, "in_flight", 1);
    struct cnnvp_request a = request(CNNVP_READ, 0, 256, 1, 0, data[0]);
    struct cnnvp_request b = request(CNNVP_READ, 4096, 128, 1, 0, data[1]);
    struct cnnvp_request c = request(CNNVP_READ, 8192, 64, 1, 0, data[2]);
    a.initiator = c.initiator = 1;
    b.initiator = 2;
    send(&bench, &a);
    send(&bench, &b);
    send(&bench, &c);
    run(&bench);
    static const uint64_t order[] = {0, 4096, 64, 4160, 128, 192, 8192};
    assert_int_equal(bench.sim.record_count, 7);
    for (uint32_t i = 0; i < 7; ++i)
        assert_int_equal(bench.sim.records[i].address, order[i]);
    assert_ptr_equal(bench.done[0], &b);
    assert_ptr_equal(bench.done[1], &a);
    assert_ptr_equal(bench.done[2], &c);
    assert_int_equal(bench.at[2], 7 * LATENCY);
    fake_sim_free(&bench.sim);
}

/* The request ends with the first error, when what is under way has come back; the others go on. */
static void test_error(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t data[2][1024];
    begin(&bench, NULL, 0);
    bench.sim.memory_error_address = 300;
    struct cnnvp_request bad = request(CNNVP_READ, 0, 1024, 1, 0, data[0]);
    struct cnnvp_request good = request(CNNVP_READ, 2048, 1024, 1, 0, data[1]);
    bad.initiator = 1;
    good.initiator = 2;
    send(&bench, &bad);
    send(&bench, &good);
    run(&bench);
    assert_int_equal(bench.count, 2);
    assert_int_equal(bad.status, CNNVP_E_MEMORY);
    assert_int_equal(good.status, CNNVP_OK);
    assert_memory_equal(data[1], bench.sim.memory + 2048, 1024);
    assert_int_equal(fake_count(bench.unit, "failed"), 1);
    assert_int_equal(fake_count(bench.unit, "errors"), 1);
    assert_int_equal(fake_count(bench.unit, "requests"), 1);
    assert_int_equal(fake_count(bench.unit, "read_bytes"), 1024);
    assert_int_equal(bench.unit->warnings, 1);
    assert_non_null(strstr(bench.unit->message, "read of 64 bytes at 0x100: the memory"));
    fake_sim_free(&bench.sim);
}

/* A memory that refuses transactions for what they are: the message says what can be set. */
static void test_refused(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, NULL, 0);
    bench.sim.memory_error_address = 0;
    bench.sim.memory_error = CNNVP_E_ACCESS;
    struct cnnvp_request bad = request(CNNVP_WRITE, 0, 1024, 1, 0, NULL);
    send(&bench, &bad);
    run(&bench);
    assert_int_equal(bad.status, CNNVP_E_ACCESS);
    assert_non_null(strstr(bench.unit->message, "write of 64 bytes at 0x0: the memory"));
    assert_non_null(strstr(bench.unit->message, "; burst_bytes sets the longest transaction"));
    fake_sim_free(&bench.sim);
}

static void test_outside(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench, NULL, 0);
    struct cnnvp_request wrong[] = {
        request(CNNVP_READ, SIZE, 1, 1, 0, NULL), request(CNNVP_READ, SIZE - 8, 16, 1, 0, NULL),
        request(CNNVP_READ, 0, 16, 3, -16, NULL), request(CNNVP_WRITE, 0, 64, 1025, 64, NULL)};
    for (uint32_t i = 0; i < 4; ++i)
        send(&bench, &wrong[i]);
    run(&bench);
    assert_int_equal(bench.count, 4);
    for (uint32_t i = 0; i < 4; ++i)
        assert_int_equal(wrong[i].status, CNNVP_E_ADDR);
    assert_int_equal(bench.sim.record_count, 0);
    assert_int_equal(fake_count(bench.unit, "failed"), 4);
    fake_sim_free(&bench.sim);
}

/* What the platform keeps itself: writes go out with their data, reads come from here. */
static void test_own_storage(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t data[200], back[200] = {0};
    begin(&bench, "storage", 1);
    for (uint32_t i = 0; i < 200; ++i)
        data[i] = (uint8_t)(i ^ 0x5a);
    struct cnnvp_request write = request(CNNVP_WRITE, 100, 200, 1, 0, data);
    struct cnnvp_request read = request(CNNVP_READ, 100, 200, 1, 0, back);
    send(&bench, &write);
    run(&bench);
    assert_memory_equal(bench.sim.memory + 100, data, 200);
    memset(bench.sim.memory, 0, SIZE);
    send(&bench, &read);
    run(&bench);
    assert_memory_equal(back, data, 200);
    struct cnnvp_dmi dmi;
    assert_int_equal(cnnvp_unit_external.dmi(bench.unit->self, 0, 0, &dmi), CNNVP_OK);
    assert_memory_equal(dmi.data + 100, data, 200);
    fake_sim_free(&bench.sim);
}

static void test_reset(void **state)
{
    (void)state;
    struct bench bench;
    uint8_t data[512];
    begin(&bench, "in_flight", 2);
    struct cnnvp_request lost = request(CNNVP_READ, 0, 512, 1, 0, data);
    struct cnnvp_request next = request(CNNVP_READ, 64, 512, 1, 0, data);
    send(&bench, &lost);
    fake_run(&bench.sim, LATENCY + LATENCY / 2);
    fake_reset(bench.unit);
    bench.sim.pending_count = 0; /* a host drops what is under way */
    send(&bench, &next);
    run(&bench);
    assert_int_equal(bench.count, 1);
    assert_ptr_equal(bench.done[0], &next);
    assert_memory_equal(data, bench.sim.memory + 64, 512);
    fake_sim_free(&bench.sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),   cmocka_unit_test(test_strided),     cmocka_unit_test(test_bound_of_requester),
        cmocka_unit_test(test_turns),   cmocka_unit_test(test_error),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_outside), cmocka_unit_test(test_own_storage), cmocka_unit_test(test_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
