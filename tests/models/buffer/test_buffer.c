/* SPDX-License-Identifier: Apache-2.0 */
/* The buffer on a host of the tests. Expected values come from arithmetic of this file's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buffer/buffer.h"
#include "fake_host.h"

#define MHZ 1000u /* a cycle is 1000 ps */
#define HALF 4096u

struct fixture {
    struct fake_sim sim;
    struct cnnvp_host *host;
};

static void open_buffer(struct fixture *f, int timing_only, int pingpong)
{
    fake_sim_init(&f->sim, MHZ, 0, 0);
    f->sim.timing_only = timing_only;
    f->host = fake_add(&f->sim, &cnnvp_unit_buffer);
    fake_set(f->host, "size", pingpong ? 2u * HALF : HALF);
    fake_set(f->host, "pingpong", (uint64_t)pingpong);
    assert_int_equal(fake_start(f->host), CNNVP_OK);
}

static int go(struct fixture *f, uint32_t op, uint32_t half, uint32_t offset, uint64_t size, void *data, uint32_t mode)
{
    struct cnnvp_access access = {
        .op = op, .address = cnnvp_buffer_address(half, offset), .size = size, .data = data, .mode = mode};
    return fake_access(f->host, "port", &access);
}

static int16_t *borrow(struct fixture *f, uint32_t half, uint32_t offset, uint64_t size)
{
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ, .flags = CNNVP_DEBUG, .address = cnnvp_buffer_address(half, offset), .size = size};
    assert_int_equal(fake_access(f->host, "port", &access), CNNVP_OK);
    return access.data;
}

static int update(struct fixture *f, struct cnnvp_update *u)
{
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = u, .size = sizeof *u};
    return fake_access(f->host, "port", &access);
}

static struct cnnvp_update plain_update(const int64_t *sums, uint64_t planes, uint64_t plane_words)
{
    return (struct cnnvp_update){
        .sums = sums,
        .planes = planes,
        .plane_words = plane_words,
        .plane_stride = plane_words,
        .acc_bits = 48,
        .rounding = CNNVP_ROUNDING_NEAREST,
        .shift = 4};
}

/* ---- tiles ---- */

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
        for (size_t i = 0; i < 7u; ++i) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            draw[i] = seed >> 33;
        }
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

/* ---- updates ---- */

static int64_t random_sum(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const int64_t wide = (int64_t)(*seed ^ (*seed >> 29));
    const uint32_t narrow = (uint32_t)(*seed >> 58); /* 0 .. 63 */
    return wide / (int64_t)(UINT64_C(1) << (narrow > 62 ? 62 : narrow));
}

/* The value a 128-bit machine would give: wrap to bits, shift, round, clip. */
static int16_t expected_word(int64_t sum, int32_t shift, uint32_t rounding, uint64_t random, uint64_t *clipped)
{
    __extension__ typedef __int128 wide;
    wide value = sum;
    if (shift <= 0) {
        value *= (wide)1 << -shift;
    } else {
        const wide unit = (wide)1 << shift;
        wide quotient = value / unit;
        wide rest = value % unit;
        if (rest < 0) {
            rest += unit;
            quotient -= 1;
        }
        if (rounding == CNNVP_ROUNDING_TRUNCATE)
            value = quotient + (value < 0 && rest != 0);
        else if (rounding == CNNVP_ROUNDING_NEAREST)
            value = quotient + (2 * rest > unit || (2 * rest == unit && quotient % 2 != 0));
        else
            value = quotient + (rest > (wide)random % unit);
    }
    if (value > 32767 || value < -32768) {
        ++*clipped;
        value = value > 0 ? 32767 : -32768;
    }
    return (int16_t)value;
}

static int64_t expected_wrap(int64_t sum, uint32_t bits)
{
    if (bits == 64)
        return sum;
    const int64_t unit = (int64_t)(UINT64_C(1) << (bits - 1u));
    int64_t low = sum % unit; /* -unit < low < unit */
    const int odd = (sum / unit) % 2 != 0;
    if (odd)
        low += low >= 0 ? -unit : unit;
    if (low == unit)
        low = -unit;
    return low;
}

static void test_write_out(void **state)
{
    static const int32_t shifts[] = {-48, -3, 0, 1, 2, 8, 15, 31, 47, 62, 63};
    static const uint32_t widths[] = {16, 33, 48, 63, 64};
    enum { PLANES = 3, WORDS = 301 };
    static int64_t sums[PLANES * WORDS];
    uint64_t seed = 7;
    (void)state;
    for (size_t s = 0; s < sizeof shifts / sizeof shifts[0]; ++s)
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; ++w)
            for (uint32_t rounding = 0; rounding < 3; ++rounding) {
                struct fixture f;
                open_buffer(&f, 0, 1);
                for (size_t i = 0; i < PLANES * WORDS; ++i)
                    sums[i] = random_sum(&seed);
                sums[0] = INT64_MIN;
                sums[1] = INT64_MAX;
                sums[2] = 3; /* a tie at shift 1 */
                sums[3] = -3;
                struct cnnvp_update u = plain_update(sums, PLANES, WORDS);
                u.half = 1;
                u.plane_stride = WORDS + 5;
                u.out_address = 10;
                u.acc_bits = widths[w];
                u.shift = shifts[s];
                u.rounding = rounding;
                u.seed = 99;
                assert_int_equal(update(&f, &u), CNNVP_OK);
                uint64_t clipped = 0;
                for (uint64_t p = 0; p < PLANES; ++p)
                    for (uint64_t i = 0; i < WORDS; ++i) {
                        const uint64_t n = p * WORDS + i;
                        const int16_t expected = expected_word(expected_wrap(sums[n], widths[w]), shifts[s], rounding,
                                                               cnnvp_round_random(99, n), &clipped);
                        const uint32_t at = (uint32_t)(10u + 2u * (p * (WORDS + 5u) + i));
                        assert_int_equal(*borrow(&f, 1, at, 2), expected);
                    }
                assert_int_equal(u.saturated, clipped);
                assert_int_equal(fake_count(f.host, "write_words"), PLANES * WORDS);
                fake_sim_free(&f.sim);
            }
}

/* Three updates: initialise, accumulate and maximise partial sums, then a write-out on top of them. */
static void test_partial_sums(void **state)
{
    static const int64_t first[] = {10, -20, 1000, -1000};
    static const int64_t second[] = {5, 5, -2000, 900};
    static const int64_t third[] = {100, -100, 0, -99};
    static const int64_t fourth[] = {1, 1, 1, 1};
    /* 15 -15 -1000 -100 | max: 100 -15 0 -99 | + 1: 101 -14 1 -98, / 4 ties to even: 25.25 -3.5 0.25 -24.5 */
    static const int16_t expected[] = {25, -4, 0, -24};
    struct fixture f;
    (void)state;
    open_buffer(&f, 0, 1);
    struct cnnvp_update u = plain_update(first, 2, 2);
    u.acc_address = 64;
    u.partial = 1;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    u.sums = second;
    u.mode = CNNVP_UPDATE_ACCUMULATE;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    u.sums = third;
    u.mode = CNNVP_UPDATE_MAXIMISE;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    assert_int_equal(fake_counter(f.host, "feature_bytes"), 32);
    assert_int_equal(fake_count(f.host, "calculation_port_words"), 3 * 16 + 2 * 16); /* sums that were there, too */
    int64_t kept[4];
    memcpy(kept, borrow(&f, 0, 64, 32), sizeof kept);
    assert_int_equal(kept[0], 100);
    assert_int_equal(kept[1], -15);
    assert_int_equal(kept[2], 0);
    assert_int_equal(kept[3], -99);
    u.sums = fourth;
    u.mode = CNNVP_UPDATE_ACCUMULATE;
    u.partial = 0;
    u.shift = 2;
    u.out_address = 64; /* in place: compaction */
    assert_int_equal(update(&f, &u), CNNVP_OK);
    assert_memory_equal(borrow(&f, 0, 64, 8), expected, sizeof expected);
    assert_int_equal(fake_counter(f.host, "feature_words"), 4);
    assert_int_equal(fake_counter(f.host, "feature_bytes"), 8);
    assert_int_equal(fake_count(f.host, "updates_initialise"), 4);
    assert_int_equal(fake_count(f.host, "updates_accumulate"), 8);
    assert_int_equal(fake_count(f.host, "updates_maximise"), 4);
    assert_int_equal(fake_count(f.host, "partial_write_words"), 3 * 16);
    assert_int_equal(fake_count(f.host, "partial_read_words"), 3 * 16);
    assert_int_equal(fake_count(f.host, "write_words"), 4);
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

/* Compaction of more sums than one chunk, and with gaps between the planes of the result. */
static void test_compaction(void **state)
{
    enum { PLANES = 2, WORDS = 250 };
    static int64_t sums[PLANES * WORDS];
    static int64_t zero[PLANES * WORDS];
    (void)state;
    for (uint64_t stride = WORDS; stride <= 2u * WORDS; stride += WORDS) {
        struct fixture f;
        open_buffer(&f, 0, 1);
        for (int i = 0; i < PLANES * WORDS; ++i)
            sums[i] = 16 * (i - 77);
        struct cnnvp_update u = plain_update(sums, PLANES, WORDS);
        u.partial = 1;
        assert_int_equal(update(&f, &u), CNNVP_OK);
        u.sums = zero;
        u.mode = CNNVP_UPDATE_ACCUMULATE;
        u.partial = 0;
        u.plane_stride = stride;
        assert_int_equal(update(&f, &u), CNNVP_OK);
        for (uint64_t p = 0; p < PLANES; ++p)
            for (uint64_t i = 0; i < WORDS; ++i)
                assert_int_equal(*borrow(&f, 0, (uint32_t)(2u * (p * stride + i)), 2), (int)(p * WORDS + i) - 77);
        fake_sim_free(&f.sim);
    }
}

static void test_bad_updates(void **state)
{
    static const int64_t sums[16] = {0};
    struct fixture f;
    (void)state;
    open_buffer(&f, 0, 1);
    const struct cnnvp_update good = plain_update(sums, 4, 4);
    struct {
        struct cnnvp_update u;
        int status;
    } cases[14];
    for (size_t c = 0; c < 14; ++c) {
        cases[c].u = good;
        cases[c].status = CNNVP_E_INVAL;
    }
    cases[0].u.planes = 0;
    cases[1].u.plane_words = 0;
    cases[2].u.mode = 3;
    cases[3].u.acc_bits = 15;
    cases[4].u.shift = 64;
    cases[5].u.rounding = 3;
    cases[6].u.plane_stride = 3;
    cases[7].u.mode = CNNVP_UPDATE_ACCUMULATE; /* results would run over sums that are still to be read */
    cases[7].u.acc_address = 8;
    cases[7].u.out_address = 24;
    cases[8].u.sums = NULL;
    cases[9].u.half = 2;
    cases[9].status = CNNVP_E_ADDR;
    cases[10].u.out_address = HALF - 30u;
    cases[10].status = CNNVP_E_ADDR;
    cases[11].u.planes = UINT64_C(1) << 62;
    cases[11].u.plane_words = UINT64_C(1) << 62;
    cases[11].u.plane_stride = UINT64_C(1) << 62;
    cases[11].status = CNNVP_E_ADDR;
    cases[12].u.plane_stride = UINT64_MAX / 2u;
    cases[12].status = CNNVP_E_ADDR;
    cases[13].u.partial = 1;
    cases[13].u.acc_address = 12;
    cases[13].status = CNNVP_E_ACCESS;
    for (size_t c = 0; c < 14; ++c)
        assert_int_equal(update(&f, &cases[c].u), cases[c].status);
    struct cnnvp_update u = good;
    u.partial = 1;
    u.acc_address = HALF - 120u;
    assert_int_equal(update(&f, &u), CNNVP_E_ADDR);
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = &u, .size = 8};
    assert_int_equal(fake_access(f.host, "port", &access), CNNVP_E_INVAL);
    u = good;
    u.out_address = HALF - 32u;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    /* initialise does not look at acc_address */
    u.acc_address = 0xffffffffu;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    fake_sim_free(&f.sim);
}

/* ---- live values ---- */

static void expect_live(const struct fixture *f, uint64_t words)
{
    assert_int_equal(fake_counter(f->host, "feature_words"), words);
}

static void test_live_values(void **state)
{
    struct fixture f;
    (void)state;
    open_buffer(&f, 1, 1);
    /* a tile of 100 values in a frame of 144, then its border, then a part of another channel */
    go(&f, CNNVP_BORROW_WRITE, 0, 0, 288, NULL, cnnvp_buffer_dma_mode(100));
    go(&f, CNNVP_BORROW_WRITE, 0, 0, 24, NULL, cnnvp_buffer_dma_mode(0));
    expect_live(&f, 100);
    go(&f, CNNVP_BORROW_WRITE, 0, 288, 288, NULL, cnnvp_buffer_dma_mode(100));
    expect_live(&f, 200);
    assert_int_equal(fake_counter(f.host, "occupancy"), 576);
    /* the other half, loaded twice */
    go(&f, CNNVP_BORROW_WRITE, 1, 0, 288, NULL, cnnvp_buffer_dma_mode(100));
    go(&f, CNNVP_BORROW_WRITE, 1, 24, 240, NULL, cnnvp_buffer_dma_mode(90));
    expect_live(&f, 290);
    /* reads by the array change nothing, a store of one channel takes it away */
    go(&f, CNNVP_BORROW_READ, 0, 0, 576, NULL, 0);
    expect_live(&f, 290);
    go(&f, CNNVP_BORROW_READ, 0, 288, 288, NULL, cnnvp_buffer_dma_mode(0));
    expect_live(&f, 190);
    fake_reset(f.host);
    expect_live(&f, 0);
    fake_sim_free(&f.sim);
}

static void read_as(const struct fixture *f, uint32_t half, uint32_t offset, uint64_t size, uint64_t instruction)
{
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ, .flow = instruction, .address = cnnvp_buffer_address(half, offset), .size = size};
    assert_int_equal(fake_access(f->host, "port", &access), CNNVP_OK);
}

/* What memory holds too counts while an instruction reads it: not before, not when the next one reads elsewhere. */
static void test_live_copies(void **state)
{
    struct fixture f;
    (void)state;
    open_buffer(&f, 1, 1);
    go(&f, CNNVP_BORROW_WRITE, 0, 0, 200, NULL, cnnvp_buffer_dma_mode(100) | CNNVP_BUFFER_COPIES);
    go(&f, CNNVP_BORROW_WRITE, 0, 200, 100, NULL, cnnvp_buffer_dma_mode(50) | CNNVP_BUFFER_COPIES);
    go(&f, CNNVP_BORROW_WRITE, 1, 0, 80, NULL, cnnvp_buffer_dma_mode(40) | CNNVP_BUFFER_COPIES);
    go(&f, CNNVP_BORROW_WRITE, 1, 80, 20, NULL, cnnvp_buffer_dma_mode(10));
    expect_live(&f, 10);
    read_as(&f, 0, 0, 100, 7);
    expect_live(&f, 110);
    read_as(&f, 0, 200, 100, 7); /* a second operand */
    expect_live(&f, 160);
    read_as(&f, 1, 0, 80, 8);
    expect_live(&f, 50);
    read_as(&f, 1, 80, 20, 9);
    expect_live(&f, 10);
    read_as(&f, 0, 0, 200, 10); /* again */
    expect_live(&f, 110);
    go(&f, CNNVP_BORROW_WRITE, 0, 0, 200, NULL, cnnvp_buffer_dma_mode(100) | CNNVP_BUFFER_COPIES);
    expect_live(&f, 10);
    fake_sim_free(&f.sim);
}

static void test_live_marks(void **state)
{
    struct fixture f;
    (void)state;
    open_buffer(&f, 1, 1);
    assert_int_equal(go(&f, CNNVP_WRITE, 0, 64, 200, NULL, cnnvp_buffer_dma_mode(25) | CNNVP_BUFFER_MARK), CNNVP_OK);
    expect_live(&f, 25);
    /* results come to lie there; they are counted by whoever marks */
    go(&f, CNNVP_BORROW_WRITE, 0, 64, 100, NULL, cnnvp_buffer_dma_mode(0));
    expect_live(&f, 25);
    assert_int_equal(go(&f, CNNVP_WRITE, 0, 64, 200, NULL, cnnvp_buffer_dma_mode(75) | CNNVP_BUFFER_MARK), CNNVP_OK);
    expect_live(&f, 75);
    assert_int_equal(go(&f, CNNVP_WRITE, 0, 64, 200, NULL, cnnvp_buffer_dma_mode(0) | CNNVP_BUFFER_MARK), CNNVP_OK);
    expect_live(&f, 0);
    assert_int_equal(fake_count(f.host, "dma_port_words"), 50); /* of the one write */
    fake_sim_free(&f.sim);
}

/* A map of 2 channels of 8 rows of 8, made in two row tiles of 4, worked on in place, stored in two parts. */
static void test_live_row_tiles(void **state)
{
    struct fixture f;
    (void)state;
    open_buffer(&f, 1, 1);
    struct cnnvp_update u = plain_update(NULL, 2, 32);
    u.plane_stride = 64;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    expect_live(&f, 64);
    u.out_address = 64;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    expect_live(&f, 128);
    go(&f, CNNVP_BORROW_WRITE, 0, 0, 128, NULL, cnnvp_buffer_write_mode(64));
    expect_live(&f, 128);
    go(&f, CNNVP_BORROW_READ, 0, 0, 192, NULL, cnnvp_buffer_dma_mode(64));
    expect_live(&f, 64);
    go(&f, CNNVP_BORROW_READ, 0, 64, 192, NULL, cnnvp_buffer_dma_mode(64));
    expect_live(&f, 0);
    fake_sim_free(&f.sim);
}

/* A map written row by row. */
static void test_live_rows(void **state)
{
    struct fixture f;
    (void)state;
    open_buffer(&f, 1, 1);
    for (uint32_t row = 0; row < 100; ++row)
        go(&f, CNNVP_BORROW_WRITE, 0, 16u * row, 16, NULL, cnnvp_buffer_write_mode(8));
    expect_live(&f, 800);
    go(&f, CNNVP_BORROW_WRITE, 0, 16u * 50, 16, NULL, cnnvp_buffer_write_mode(8)); /* once more */
    expect_live(&f, 800);
    go(&f, CNNVP_BORROW_READ, 0, 0, 800, NULL, cnnvp_buffer_dma_mode(400));
    expect_live(&f, 400);
    fake_sim_free(&f.sim);
}

/* More ranges than are kept apart: none of the values is lost. */
static void test_live_many_ranges(void **state)
{
    struct fixture f;
    (void)state;
    open_buffer(&f, 1, 1);
    for (uint32_t i = 0; i < 100; ++i)
        go(&f, CNNVP_BORROW_WRITE, 0, 16u * i, 16, NULL, cnnvp_buffer_dma_mode(8));
    expect_live(&f, 800);
    go(&f, CNNVP_BORROW_READ, 0, 0, 1600, NULL, cnnvp_buffer_dma_mode(800));
    expect_live(&f, 0);
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
        cmocka_unit_test(test_write_out),        cmocka_unit_test(test_partial_sums),
        cmocka_unit_test(test_compaction),       cmocka_unit_test(test_bad_updates),
        cmocka_unit_test(test_live_values),      cmocka_unit_test(test_live_row_tiles),
        cmocka_unit_test(test_live_many_ranges), cmocka_unit_test(test_live_copies),
        cmocka_unit_test(test_live_marks),       cmocka_unit_test(test_live_rows),
        cmocka_unit_test(test_passes),           cmocka_unit_test(test_timing_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
