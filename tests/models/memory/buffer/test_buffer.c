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

/* The busiest bank's addresses among those of a beat, each counted in its bank: row r of map m is in bank r mod B of
 * the map's B, streams that are no rows are in one bank after the other. */
static uint64_t busiest(uint64_t banks, uint64_t streams, uint64_t rows, uint64_t row_step)
{
    uint64_t counts[64] = {0};
    uint64_t most = 0;
    const uint64_t maps = rows != 0 ? streams / rows : streams;
    const uint64_t each = maps < banks ? banks / maps : 1u;
    for (uint64_t s = 0; s < streams; ++s) {
        const uint64_t map = rows != 0 ? s / rows : s;
        const uint64_t row = rows != 0 ? s % rows * row_step : 0;
        const uint64_t n = ++counts[(map * each + row % each) % (maps > banks ? banks : 64u)];
        most = n > most ? n : most;
    }
    return most;
}

/* An access of any pattern: in each cycle a beat's words through the port, where every bank serves one address. */
static void test_patterns(void **state)
{
    uint64_t seed = 31;
    (void)state;
    for (uint32_t n = 0; n < 3000u; ++n) {
        struct fixture f;
        const uint64_t banks = between(&seed, 1, 40);
        const uint64_t width = between(&seed, 1, 20);
        struct cnnvp_access access = {
            .op = CNNVP_BORROW_READ,
            .size = 180,
            .words = between(&seed, 1, 300),
            .cycles = between(&seed, 1, 40),
            .rows = between(&seed, 0, 4)};
        access.row_step = between(&seed, 1, 8);
        access.streams = between(&seed, 1, 12) * (access.rows != 0 ? access.rows : 1u);
        fake_sim_init(&f.sim, MHZ, 0, 0);
        f.host = fake_add(&f.sim, &cnnvp_unit_buffer);
        fake_set(f.host, "banks", banks);
        fake_set(f.host, "width_words", width);
        assert_int_equal(fake_start(f.host), CNNVP_OK);
        uint64_t needed = 0;
        for (uint64_t left = access.words; left != 0; left -= left < width ? left : width)
            needed += busiest(banks, access.streams, access.rows, access.row_step);
        const uint64_t late = needed > access.cycles ? needed - access.cycles : 0;
        assert_int_equal(fake_access(f.host, "port", &access), CNNVP_OK);
        if (access.delay != late * 1000u)
            fail_msg("%llu words of %llu, %u streams, %u rows of step %u, %llu banks: %llu ps, not %llu cycles",
                     (unsigned long long)access.words, (unsigned long long)width, access.streams, access.rows,
                     access.row_step, (unsigned long long)banks, (unsigned long long)access.delay,
                     (unsigned long long)late);
        assert_int_equal(fake_count(f.host, "port_conflict_cycles"), late);
        assert_int_equal(fake_count(f.host, "calculation_port_words"), access.words);
        fake_sim_free(&f.sim);
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
        cmocka_unit_test(test_halves_are_apart), cmocka_unit_test(test_ones),      cmocka_unit_test(test_bad_accesses),
        cmocka_unit_test(test_port_limit),       cmocka_unit_test(test_few_banks), cmocka_unit_test(test_latency),
        cmocka_unit_test(test_dilated_rows),     cmocka_unit_test(test_patterns),  cmocka_unit_test(test_passes),
        cmocka_unit_test(test_timing_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
