/* SPDX-License-Identifier: Apache-2.0 */
/* The buffer on a host of the tests. Expected values come from arithmetic of this file's own. */
#include "buffer_case.h"
#include "random.h"

static void test_halves_are_apart(void **state)
{
    struct fixture f;
    uint16_t words[4] = {1, 2, 3, 4};
    uint16_t back[4] = {0};
    (void)state;
    open_buffer(&f, 0, 1);
    assert_int_equal(go(&f, CNNVP_WRITE, 0, HALF - 8u, 8, words, 0), CNNVP_OK);
    words[0] = 9;
    assert_int_equal(go(&f, CNNVP_WRITE, 1, HALF - 8u, 8, words, 0), CNNVP_OK);
    assert_int_equal(go(&f, CNNVP_READ, 0, HALF - 8u, 8, back, 0), CNNVP_OK);
    assert_int_equal(back[0], 1);
    assert_int_equal(back[3], 4);
    assert_int_equal(go(&f, CNNVP_READ, 1, HALF - 8u, 8, back, CNNVP_READ_ROTATING), CNNVP_OK);
    assert_int_equal(back[0], 9);
    assert_int_equal(fake_count(f.host, "write_words"), 8);
    assert_int_equal(fake_count(f.host, "read_sequential_words"), 4);
    assert_int_equal(fake_count(f.host, "read_rotating_words"), 4);
    assert_int_equal(fake_count(f.host, "read_bytes"), 16);
    assert_int_equal(fake_count(f.host, "written_bytes"), 16);
    assert_int_equal(fake_count(f.host, "calculation_port_words"), 16);
    fake_sim_free(&f.sim);
}

static void test_ones(void **state)
{
    struct fixture f;
    uint16_t back[3] = {0};
    (void)state;
    open_buffer(&f, 0, 1);
    assert_int_equal(go(&f, CNNVP_READ, 0, 100, 6, back, CNNVP_READ_ONES), CNNVP_OK);
    assert_int_equal(back[0] + back[1] + back[2], 3);
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ, .address = cnnvp_buffer_address(1, 0), .size = HALF, .mode = CNNVP_READ_ONES};
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    for (uint32_t i = 0; i < HALF / 2u; ++i)
        assert_int_equal(((const int16_t *)access.data)[i], 1);
    assert_int_equal(fake_count(f.host, "read_ones_words"), 3 + HALF / 2u);
    assert_int_equal(fake_count(f.host, "read_bytes"), 0);
    fake_sim_free(&f.sim);
}

static void test_bad_accesses(void **state)
{
    struct fixture f;
    uint8_t bytes[16] = {0};
    struct cnnvp_access access = {.op = CNNVP_BORROW_READ, .size = 2};
    (void)state;
    open_buffer(&f, 0, 1);
    assert_int_equal(go(&f, CNNVP_READ, 0, HALF - 8u, 10, bytes, 0), CNNVP_E_ADDR);
    assert_int_equal(go(&f, CNNVP_READ, 0, HALF + 2u, 2, bytes, 0), CNNVP_E_ADDR);
    assert_int_equal(go(&f, CNNVP_WRITE, 1, 0x7ffffffeu, 2, bytes, 0), CNNVP_E_ADDR);
    assert_int_equal(go(&f, CNNVP_BORROW_WRITE, 1, 4, UINT64_MAX - 1u, NULL, 0), CNNVP_E_ADDR);
    assert_int_equal(go(&f, CNNVP_READ, 0, 1, 2, bytes, 0), CNNVP_E_ACCESS);
    assert_int_equal(go(&f, CNNVP_READ, 0, 0, 3, bytes, 0), CNNVP_E_ACCESS);
    assert_int_equal(go(&f, CNNVP_READ, 0, 0, 0, bytes, 0), CNNVP_E_ACCESS);
    assert_int_equal(go(&f, CNNVP_READ, 0, 0, 2, bytes, 3), CNNVP_E_INVAL);
    assert_int_equal(go(&f, 17, 0, 0, 2, bytes, 0), CNNVP_E_INVAL);
    access.address = UINT64_C(1) << 32;
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_E_ADDR);
    assert_int_equal(fake_count(f.host, "refused"), 10);
    assert_int_equal(f.host->warnings, 10);
    assert_int_equal(fake_count(f.host, "read_bytes"), 0);
    fake_sim_free(&f.sim);

    open_buffer(&f, 0, 0);
    assert_int_equal(go(&f, CNNVP_READ, 1, 0, 2, bytes, 0), CNNVP_E_ADDR);
    assert_int_equal(go(&f, CNNVP_READ, 0, HALF - 2u, 2, bytes, 0), CNNVP_OK);
    fake_sim_free(&f.sim);

    fake_sim_init(&f.sim, MHZ, 0, 0);
    f.host = fake_add(&f.sim, &cnnvp_unit_buffer);
    fake_set(f.host, "size", 1000);
    assert_int_equal(fake_start(f.host), CNNVP_E_INVAL);
    assert_int_equal(f.host->config_errors, 1);
    fake_sim_free(&f.sim);
}

/* extra = max(0, ceil(words / width) - cycles), in cycles; nothing where the initiator gives no cycles. */
static void test_port_limit(void **state)
{
    static const struct {
        uint64_t words, cycles, width, extra;
    } cases[] = {{640, 10, 64, 0}, {641, 10, 64, 1}, {1000, 10, 8, 115}, {1000, 0, 8, 0}, {64, 3, 64, 0}, {1, 1, 1, 0}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        struct fixture f;
        fake_sim_init(&f.sim, 300, 0, 0); /* 3333.3 ps a cycle: edges at 0, 3333, 6666, 10000 ps */
        f.host = fake_add(&f.sim, &cnnvp_unit_buffer);
        fake_set(f.host, "width_words", cases[c].width);
        assert_int_equal(fake_start(f.host), CNNVP_OK);
        f.sim.now = 3333;
        struct cnnvp_access access = {
            .op = CNNVP_BORROW_READ,
            .size = 2048,
            .words = cases[c].words,
            .cycles = cases[c].cycles,
            .delay = 6667}; /* to the edge at 10000 */
        assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
        assert_int_equal(access.delay, (3u + cases[c].extra) * 1000000u / 300u - 3333u);
        assert_int_equal(fake_count(f.host, "port_conflict_cycles"), cases[c].extra);
        fake_sim_free(&f.sim);
    }
}

/* Rows r and r + banks collide when fewer than three banks hold the rows of a window, or these are dilated. */
static void test_few_banks(void **state)
{
    struct fixture f;
    (void)state;
    fake_sim_init(&f.sim, MHZ, 0, 0);
    f.host = fake_add(&f.sim, &cnnvp_unit_buffer);
    fake_set(f.host, "banks", 1);
    fake_set(f.host, "width_words", 9);
    assert_int_equal(fake_start(f.host), CNNVP_OK);
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ, .size = 180, .cycles = 10, .mode = cnnvp_buffer_read_mode(CNNVP_READ_SEQUENTIAL)};
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    assert_int_equal(access.delay, 0);
    access.mode = cnnvp_buffer_read_mode(CNNVP_READ_ROTATING);
    access.streams = access.rows = 3;
    access.row_step = 1;
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    assert_int_equal(access.delay, 20000); /* 90 words at 9 a cycle, three times */
    access.delay = 0;
    access.streams = 5;
    access.rows = 0;
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    assert_int_equal(access.delay, 40000); /* five times */
    fake_sim_free(&f.sim);
}

/* Three rows of each of two maps, three banks a map. */
static void test_dilated_rows(void **state)
{
    static const uint32_t turns[] = {0, 1, 1, 3, 1, 1, 3};
    (void)state;
    for (uint32_t step = 1; step < 7u; ++step) {
        struct fixture f;
        fake_sim_init(&f.sim, MHZ, 0, 0);
        f.host = fake_add(&f.sim, &cnnvp_unit_buffer);
        fake_set(f.host, "banks", 6);
        fake_set(f.host, "width_words", 18);
        assert_int_equal(fake_start(f.host), CNNVP_OK);
        struct cnnvp_access access = {
            .op = CNNVP_BORROW_READ, .size = 180, .cycles = 5, .streams = 6, .rows = 3, .row_step = step};
        assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
        assert_int_equal(access.delay, 5000u * (turns[step] - 1u));
        fake_sim_free(&f.sim);
    }
}

/* An access of any pattern through a half's port and banks, cycle by cycle. */
static void test_stepped_port(void **state)
{
    uint64_t seed = 31;
    (void)state;
    for (uint32_t n = 0; n < 3000u; ++n) {
        struct fixture f[2];
        uint64_t draw[7];
        for (size_t i = 0; i < 7u; ++i)
            draw[i] = next_bits(&seed) >> 1;
        struct cnnvp_access access = {
            .op = CNNVP_BORROW_READ,
            .size = 180,
            .words = 1u + draw[0] % 300u,
            .cycles = 1u + draw[1] % 40u,
            .rows = (uint32_t)(draw[2] % 5u)};
        access.row_step = (uint32_t)(1u + draw[3] % 8u);
        access.streams = (uint32_t)(1u + draw[4] % 12u) * (access.rows != 0 ? access.rows : 1u);
        cnnvp_time delays[2];
        for (size_t detail = 0; detail < 2u; ++detail) {
            struct cnnvp_access mine = access;
            fake_sim_init(&f[detail].sim, MHZ, 0, 0);
            f[detail].host = fake_add(&f[detail].sim, &cnnvp_unit_buffer);
            fake_set(f[detail].host, "banks", 1u + draw[5] % 40u);
            fake_set(f[detail].host, "width_words", 1u + draw[6] % 20u);
            fake_set(f[detail].host, "detail", detail);
            assert_int_equal(fake_start(f[detail].host), CNNVP_OK);
            for (uint32_t again = 0; again < 2u; ++again)
                assert_int_equal(fake_access(f[detail].host, "port", &mine), CNNVP_OK);
            delays[detail] = mine.delay;
        }
        if (delays[0] != delays[1])
            fail_msg("%llu words, %u streams, %u rows of step %u: %llu ps, stepped %llu",
                     (unsigned long long)access.words, access.streams, access.rows, access.row_step,
                     (unsigned long long)delays[0], (unsigned long long)delays[1]);
        assert_int_equal(fake_count(f[0].host, "port_conflict_cycles"), fake_count(f[1].host, "port_conflict_cycles"));
        fake_sim_free(&f[0].sim);
        fake_sim_free(&f[1].sim);
    }
}

/* Reads of calculation units wait for the latency, once; writes, and the DMA, do not. */
static void test_latency(void **state)
{
    struct fixture f;
    (void)state;
    fake_sim_init(&f.sim, MHZ, 0, 0);
    f.host = fake_add(&f.sim, &cnnvp_unit_buffer);
    fake_set(f.host, "latency", 3);
    assert_int_equal(fake_start(f.host), CNNVP_OK);
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ, .size = 180, .cycles = 10, .mode = cnnvp_buffer_read_mode(CNNVP_READ_SEQUENTIAL)};
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    assert_int_equal(access.delay, 3000);
    access.delay = 0;
    access.mode = cnnvp_buffer_dma_mode(0);
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    assert_int_equal(access.delay, 0);
    access.op = CNNVP_BORROW_WRITE;
    access.mode = cnnvp_buffer_write_mode(0);
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    assert_int_equal(access.delay, 0);
    fake_sim_free(&f.sim);
}

/* An engine that sends every pass here: all but the last of five are kept and read back, over a port of 64 words. */
static void test_passes(void **state)
{
    static const int64_t sums[8] = {16, 32, 48, 64, 80, 96, 112, 128};
    struct fixture f;
    (void)state;
    open_buffer(&f, 0, 1);
    struct cnnvp_update u = plain_update(sums, 2, 4);
    struct cnnvp_access access = {
        .op = CNNVP_COMMAND, .data = &u, .size = sizeof u, .words = 8 * (4 * 4 + 1), .cycles = 4};
    u.acc_address = 64;
    u.passes = 5;
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
    assert_int_equal(borrow(&f, 0, 0, 16)[7], 8);
    assert_int_equal(fake_count(f.host, "write_words"), 8);
    assert_int_equal(fake_count(f.host, "partial_write_words"), 4 * 32);
    assert_int_equal(fake_count(f.host, "partial_read_words"), 4 * 32);
    assert_int_equal(fake_count(f.host, "written_bytes"), 2 * (4 * 32 + 8));
    assert_int_equal(fake_count(f.host, "calculation_port_words"), 8 * (2 * 4 * 4 + 1));
    assert_int_equal(fake_count(f.host, "port_conflict_cycles"), 1); /* 264 words, 64 a cycle */
    u.acc_address = 68;
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_E_ACCESS);
    u.acc_address = HALF - 56u;
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_E_ADDR);
    fake_sim_free(&f.sim);
}

/* Without data every count and time is the same, and nothing is pointed to. */
static void test_timing_only(void **state)
{
    static const int64_t sums[64] = {0};
    struct fixture f[2];
    (void)state;
    for (int t = 0; t < 2; ++t) {
        open_buffer(&f[t], t, 1);
        struct cnnvp_access access = {.op = CNNVP_BORROW_READ, .size = 512, .words = 77, .cycles = 1};
        assert_int_equal(fake_access(f[t].host, "port", &access), CNNVP_OK);
        assert_int_equal(access.delay, 1000);
        assert_true((access.data == NULL) == (t == 1));
        access.mode = CNNVP_READ_ONES;
        assert_int_equal(fake_access(f[t].host, "port", &access), CNNVP_OK);
        assert_true((access.data == NULL) == (t == 1));
        struct cnnvp_update u = plain_update(t ? NULL : sums, 4, 16);
        u.partial = 1;
        assert_int_equal(update(&f[t], &u), CNNVP_OK);
        u.partial = 0;
        u.mode = CNNVP_UPDATE_MAXIMISE;
        assert_int_equal(update(&f[t], &u), CNNVP_OK);
    }
    assert_memory_equal(f[0].host->counts, f[1].host->counts, sizeof f[0].host->counts);
    assert_memory_equal(f[0].host->counter_value, f[1].host->counter_value, sizeof f[0].host->counter_value);
    fake_sim_free(&f[0].sim);
    fake_sim_free(&f[1].sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves_are_apart), cmocka_unit_test(test_ones),
        cmocka_unit_test(test_bad_accesses),     cmocka_unit_test(test_port_limit),
        cmocka_unit_test(test_few_banks),        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_dilated_rows),     cmocka_unit_test(test_stepped_port),
        cmocka_unit_test(test_passes),           cmocka_unit_test(test_timing_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
