/* SPDX-License-Identifier: Apache-2.0 */
/* Requests under way, and the order of transfers. */
#include "dma_case.h"

/* Only outstanding * burst_bytes bytes come before the receive; the tail is asked for with it. */
static void test_head_and_tail(void **state)
{
    struct fixture f;
    const struct tile tile = flat(BASE, 0, 4096);
    const struct tile next = flat(BASE + 8192, 0, 128);
    (void)state;
    open_dma(&f, 0);
    assert_int_equal(issue(&f, OP_request, WEIGHT, 0, &tile), CNNVP_OK);
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &next), CNNVP_OK);
    fake_run(&f.sim, 1000 * CYCLE);
    assert_int_equal(f.sim.record_count, 1);
    assert_int_equal(f.sim.records[0].size, 1024);
    assert_int_equal(issue(&f, OP_receive, WEIGHT, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 2000 * CYCLE);
    assert_int_equal(f.sim.record_count, 3); /* the tail, and the next request's head after it */
    assert_int_equal(f.sim.records[1].address, BASE + 1024);
    assert_int_equal(f.sim.records[1].size, 3072);
    assert_int_equal(f.sim.records[1].issued, 1000 * CYCLE);
    /* the tail has more than 16 bursts, so one request waits after it; it ends 50 + 384 cycles later */
    assert_int_equal(f.sim.records[2].issued, 1000 * CYCLE);
    assert_int_equal(f.done_count, 1);
    assert_int_equal(f.done[0].at, 1434 * CYCLE);
    assert_memory_equal(half_data(&f, WEIGHT, 0), f.sim.memory, 4096);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 3000 * CYCLE);
    assert_int_equal(f.done[1].at, 2004 * CYCLE);
    assert_memory_equal(half_data(&f, INPUT, 0), f.sim.memory + 8192, 128);
    close_dma(&f);
}

/* A range is declared live and dead; nothing moves, and no port is used. */
static void test_live(void **state)
{
    struct fixture f;
    struct tile tile = {0, 128, 32, 4, 0, 48, 2, 0, 256, 100};
    cnnvp_time delay = 0;
    (void)state;
    open_dma(&f, 0);
    struct cnnvp_command live = make(&f, OP_live, INPUT, CNNVP_HALF_INPUT, &tile);
    assert_int_equal(issue_command(&f, &live, &delay), CNNVP_OK);
    assert_int_equal(delay, CYCLE);
    assert_int_equal(fake_counter(f.buffers[INPUT], "feature_words"), 100);
    assert_int_equal(fake_count(f.buffers[INPUT], "dma_port_words"), 0);
    tile.feature_words = 64;
    assert_int_equal(issue(&f, OP_live, INPUT, CNNVP_HALF_INPUT, &tile), CNNVP_OK);
    assert_int_equal(fake_counter(f.buffers[INPUT], "feature_words"), 64);
    tile.feature_words = 0;
    assert_int_equal(issue(&f, OP_live, INPUT, CNNVP_HALF_INPUT, &tile), CNNVP_OK);
    assert_int_equal(fake_counter(f.buffers[INPUT], "feature_words"), 0);
    tile.buffer_addr = HALF - 16;
    assert_int_equal(issue(&f, OP_live, INPUT, 0, &tile), CNNVP_E_ADDR);
    close_dma(&f);
}

/* A read after a store to the same addresses sees its data; one to others does not wait. */
static void test_read_after_write(void **state)
{
    struct fixture f;
    const struct tile out = {BASE, 0, 8, 4, 16, 8, 1, 0, 0, 0};
    const struct tile between = {BASE + 8, 0, 8, 4, 16, 8, 1, 0, 0, 0}; /* the columns beside */
    const struct tile back = {BASE + 2, 64, 4, 4, 16, 4, 1, 0, 0, 0};
    (void)state;
    open_dma(&f, 0);
    memset(half_data(&f, OUTPUT, 0), 0xaa, 32);
    assert_int_equal(issue(&f, OP_store, OUTPUT, 0, &out), CNNVP_PENDING);
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &between), CNNVP_OK);
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &back), CNNVP_OK);
    fake_run(&f.sim, 0);
    assert_int_equal(f.sim.record_count, 2);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 1000 * CYCLE);
    assert_int_equal(f.sim.record_count, 3);
    assert_int_equal(f.sim.records[2].issued, 54 * CYCLE); /* when the store is complete */
    assert_int_equal(fake_count(f.dma, "hazard_waits"), 1);
    for (uint32_t i = 0; i < 16; ++i)
        assert_int_equal(half_data(&f, INPUT, 0)[64 + i], 0xaa);
    /* a store after a received read: the read gets what was there */
    const struct tile all = flat(BASE, 0, 2048);
    assert_int_equal(issue(&f, OP_request, INPUT, CNNVP_HALF_INPUT, &all), CNNVP_OK);
    assert_int_equal(issue(&f, OP_receive, INPUT, CNNVP_HALF_INPUT, NULL), CNNVP_PENDING);
    const struct tile over = flat(BASE + 2000, 0, 32);
    assert_int_equal(issue(&f, OP_store, OUTPUT, 0, &over), CNNVP_PENDING);
    fake_run(&f.sim, 2000 * CYCLE);
    assert_int_equal(half_data(&f, INPUT, 1)[2000], (uint8_t)(2000u * 7u + 2000u / 256u));
    assert_int_equal(f.sim.memory[2000], 0xaa);
    assert_int_equal(fake_count(f.dma, "hazard_waits"), 2);
    assert_int_equal(f.done_count, 5);
    close_dma(&f);
}

/* A store between a request and its receive must not wait for a receive that may come after it. */
static void test_store_inside_a_request(void **state)
{
    struct fixture f;
    const struct tile in = flat(BASE, 0, 4096);
    const struct tile out = flat(BASE + 3000, 0, 64);
    (void)state;
    open_dma(&f, 0);
    memset(half_data(&f, OUTPUT, 0), 0x55, 64);
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &in), CNNVP_OK);
    assert_int_equal(issue(&f, OP_store, OUTPUT, 0, &out), CNNVP_PENDING);
    fake_run(&f.sim, 1000 * CYCLE);
    assert_int_equal(f.done_count, 1);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 2000 * CYCLE);
    assert_int_equal(f.done_count, 2);
    assert_int_equal(half_data(&f, INPUT, 0)[3000], 0x55); /* the tail is read at the receive */
    /* what is being read ahead is read first */
    const struct tile ahead = flat(BASE + 8192, 0, 64);
    f.sim.record_count = 0;
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &ahead), CNNVP_OK);
    assert_int_equal(issue(&f, OP_store, OUTPUT, 0, &ahead), CNNVP_PENDING);
    fake_run(&f.sim, 3000 * CYCLE);
    assert_int_equal(f.sim.record_count, 2);
    assert_int_equal(f.sim.records[1].issued, 2058 * CYCLE);
    close_dma(&f);
}

static void test_slots(void **state)
{
    struct fixture f;
    const struct tile tile = flat(BASE, 0, 64);
    (void)state;
    set_up(&f, 0);
    fake_set(f.dma, "requests", 2);
    assert_int_equal(fake_start(f.dma), CNNVP_OK);
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &tile), CNNVP_OK);
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &tile), CNNVP_OK);
    struct cnnvp_command third = make(&f, OP_request, INPUT, 0, &tile);
    assert_int_equal(issue_command(&f, &third, NULL), CNNVP_E_STATE);
    assert_int_equal(fake_count(f.dma, "refused"), 1);
    f.reissue = &third; /* again as soon as one is complete, from within the completion */
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 1000 * CYCLE);
    assert_int_equal(f.done_count, 1);
    assert_int_equal(f.reissue_status, CNNVP_OK);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_E_INVAL);
    fake_run(&f.sim, 2000 * CYCLE);
    assert_int_equal(f.done_count, 3);
    close_dma(&f);
}

/* Again while every slot is taken. */
static void issue_until_accepted(struct fixture *f, uint32_t opcode, uint32_t status, const struct tile *tile)
{
    struct cnnvp_command command = make(f, opcode, status, 0, tile);
    int answer;
    while ((answer = issue_command(f, &command, NULL)) == CNNVP_E_STATE)
        fake_run(&f->sim, f->sim.now + 10 * CYCLE);
    assert_true(answer == CNNVP_OK || answer == CNNVP_PENDING);
}

/* Reads and stores at addresses that touch each other, issued as fast as they are accepted: what is in memory and in
 * the buffer in the end is what one after the other gives. */
static void test_order_through_memory(void **state)
{
    static uint8_t memory[MEMORY];
    static uint8_t expected[HALF];
    uint64_t waits = 0;
    (void)state;
    for (uint32_t seed = 1; seed <= 100; ++seed) {
        struct fixture f;
        uint32_t x = seed * 7919u;
        open_dma(&f, 0);
        memcpy(memory, f.sim.memory, MEMORY);
        memset(expected, 0, sizeof expected);
        for (uint32_t n = 0; n < 16; ++n) {
            uint32_t r[6];
            for (int i = 0; i < 6; ++i)
                r[i] = (x = x * 1664525u + 1013904223u) >> 16;
            const uint32_t row = 2u + r[0] % 40u * 2u;
            const uint32_t rows = 1u + r[1] % 5u;
            const uint32_t stride = r[2] % 2u ? 100u : row + r[2] % 30u;
            const uint32_t at = r[3] % 1500u;
            const struct tile tile = {BASE + at, 512u * n, row, rows, stride, row, 1, 0, 0, 0};
            uint8_t *const source = half_data(&f, WEIGHT, 0);
            if (r[4] % 2u) {
                for (uint32_t i = 0; i < row * rows; ++i)
                    source[512u * n + i] = (uint8_t)(n * 16u + i);
                issue_until_accepted(&f, OP_store, WEIGHT, &tile);
            } else {
                issue_until_accepted(&f, OP_request, INPUT, &tile);
                issue_until_accepted(&f, OP_receive, INPUT, NULL);
            }
            for (uint32_t i = 0; i < row * rows; ++i) {
                uint8_t *const place = &memory[at + i / row * stride + i % row];
                if (r[4] % 2u)
                    *place = (uint8_t)(n * 16u + i);
                else
                    expected[512u * n + i] = *place;
            }
        }
        fake_run(&f.sim, f.sim.now + 100000 * CYCLE);
        assert_memory_equal(f.sim.memory, memory, MEMORY);
        assert_memory_equal(half_data(&f, INPUT, 0), expected, HALF);
        waits += fake_count(f.dma, "hazard_waits");
        close_dma(&f);
    }
    assert_in_range(waits, 100, 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head_and_tail),
        cmocka_unit_test(test_live),
        cmocka_unit_test(test_read_after_write),
        cmocka_unit_test(test_store_inside_a_request),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_order_through_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
