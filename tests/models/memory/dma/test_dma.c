/* SPDX-License-Identifier: Apache-2.0 */
/* The DMA between real buffers and a memory of fixed latency and bandwidth. Times are worked out by hand. */
#include "dma_case.h"

/* A small tile: the request reads it ahead, the receive only needs the port. */
static void test_request_and_receive(void **state)
{
    struct fixture f;
    const struct tile tile = flat(BASE + 64, 256, 512);
    cnnvp_time delay = 0;
    (void)state;
    open_dma(&f, 0);
    struct cnnvp_command request = make(&f, OP_request, INPUT, CNNVP_HALF_INPUT, &tile);
    assert_int_equal(issue_command(&f, &request, &delay), CNNVP_OK);
    assert_int_equal(delay, CYCLE);
    fake_run(&f.sim, 200 * CYCLE); /* data are there at 50 + 64 cycles */
    assert_int_equal(f.done_count, 0);
    assert_int_equal(half_data(&f, INPUT, 1)[256], 0);
    assert_int_equal(issue(&f, OP_receive, INPUT, CNNVP_HALF_INPUT, &tile), CNNVP_PENDING);
    fake_run(&f.sim, 1000 * CYCLE);
    assert_int_equal(f.done_count, 1);
    assert_int_equal(f.done[0].sequence, 2);
    assert_int_equal(f.done[0].status, CNNVP_OK);
    assert_int_equal(f.done[0].at, 216 * CYCLE); /* 512 bytes at 32 a cycle */
    assert_memory_equal(half_data(&f, INPUT, 1) + 256, f.sim.memory + 64, 512);
    assert_int_equal(half_data(&f, INPUT, 0)[256], 0);
    assert_int_equal(f.sim.record_count, 1);
    assert_int_equal(f.sim.records[0].size, 512);
    assert_int_equal(f.sim.records[0].outstanding, 16);
    assert_int_equal(fake_count(f.dma, "read_bytes"), 512);
    assert_int_equal(fake_count(f.dma, "outstanding_peak"), 8);
    assert_int_equal(f.dma->span_count, 1);
    assert_int_equal(f.dma->spans[0].begin, 0);
    assert_int_equal(f.dma->spans[0].end, 216 * CYCLE);
    assert_int_equal(f.dma->spans[0].flow, 2);
    assert_int_equal(fake_count(f.dma, "read_busy_cycles"), 216);
    assert_int_equal(fake_count(f.buffers[INPUT], "dma_write_words"), 256);
    close_dma(&f);
}

/* Completion lies on a clock edge. */
static void test_clock_edges(void **state)
{
    struct fixture f;
    const struct tile tile = flat(BASE, 0, 64);
    (void)state;
    open_dma(&f, 0);
    f.sim.clock_mhz = 300;
    fake_reset(f.dma);
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &tile), CNNVP_OK);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 1000 * CYCLE);
    assert_int_equal(f.done[0].at, 60000); /* data at 58000, edge 18 */
    close_dma(&f);
}

/* A 3 x 4 x 5-word tile from the middle of a map into a frame with borders, and back to another place. */
static void test_strided(void **state)
{
    struct fixture f;
    const struct tile in = {BASE + 2, 40, 10, 4, 20, 14, 3, 200, 84, 60};
    const struct tile out = {BASE + 4096, 40, 10, 4, 12, 14, 3, 50, 84, 60};
    (void)state;
    open_dma(&f, 0);
    assert_int_equal(issue(&f, OP_request, OUTPUT, 0, &in), CNNVP_OK);
    assert_int_equal(issue(&f, OP_receive, OUTPUT, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 1000 * CYCLE);
    assert_int_equal(f.done_count, 1);
    assert_int_equal(f.sim.record_count, 3); /* a request for each plane */
    assert_int_equal(f.sim.records[0].count, 4);
    assert_int_equal(f.sim.records[0].outstanding, 16);
    assert_int_equal(f.sim.records[2].address, BASE + 402);
    /* copies of what memory holds: they are not read */
    assert_int_equal(fake_counter(f.buffers[OUTPUT], "feature_words"), 0);
    assert_int_equal(fake_counter(f.buffers[OUTPUT], "occupancy"), 10 + 3 * 14 + 2 * 84);
    assert_int_equal(issue(&f, OP_store, OUTPUT, 0, &out), CNNVP_PENDING);
    assert_int_equal(fake_counter(f.buffers[OUTPUT], "feature_words"), 0);
    fake_run(&f.sim, 2000 * CYCLE);
    assert_int_equal(f.done_count, 2);
    for (uint32_t p = 0; p < 3; ++p)
        for (uint32_t r = 0; r < 4; ++r) {
            const uint8_t *source = f.sim.memory + 2 + p * 200 + r * 20;
            assert_memory_equal(half_data(&f, OUTPUT, 0) + 40 + p * 84 + r * 14, source, 10);
            assert_memory_equal(f.sim.memory + 4096 + p * 50 + r * 12, source, 10);
        }
    assert_int_equal(half_data(&f, OUTPUT, 0)[50], 0); /* the border */
    assert_int_equal(f.sim.memory[4096 + 10], (uint8_t)(4106u * 7u + 4106u / 256u));
    assert_int_equal(fake_count(f.buffers[OUTPUT], "dma_write_words"), 60);
    assert_int_equal(fake_count(f.buffers[OUTPUT], "dma_read_words"), 60);
    close_dma(&f);
}

/* Six planes of 4 x 5 words, of which so many lie interleaved in memory, into a frame in the buffer and back. */
static void check_interleaved(uint32_t word_bytes, uint32_t together)
{
    enum { PLANES = 6, ROWS = 4, COLUMNS = 5, ROW_STRIDE = 80, PLANE_STRIDE = 400, FRAME_ROW = 14, FRAME = 84 };
    const uint32_t status = word_bytes == 1u ? 1u << 4 : 0;
    const struct tile in = {
        BASE + 2, 40, COLUMNS * word_bytes, ROWS, ROW_STRIDE, FRAME_ROW, PLANES, PLANE_STRIDE, FRAME, 0};
    struct tile out = in;
    struct fixture f;
    open_dma(&f, 0);
    out.memory_addr += 8192;
    assert_int_equal(issue_interleaved(&f, OP_request, OUTPUT | status, together, &in), CNNVP_OK);
    assert_int_equal(issue(&f, OP_receive, OUTPUT | status, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 1000 * CYCLE);
    assert_int_equal(f.sim.record_count, PLANES / together); /* a request for each block */
    assert_int_equal(f.sim.records[0].size, COLUMNS * word_bytes * together);
    assert_int_equal(issue_interleaved(&f, OP_store, OUTPUT | status, together, &out), CNNVP_PENDING);
    fake_run(&f.sim, 2000 * CYCLE);
    assert_int_equal(f.done_count, 2);
    for (uint32_t p = 0; p < PLANES; ++p)
        for (uint32_t r = 0; r < ROWS; ++r)
            for (uint32_t c = 0; c < COLUMNS; ++c) {
                const uint32_t word = p / together * together * PLANE_STRIDE + r * ROW_STRIDE +
                                      (c * together + p % together) * word_bytes;
                const uint8_t *source = f.sim.memory + 2 + word;
                assert_memory_equal(half_data(&f, OUTPUT, 0) + 40 + p * FRAME + r * FRAME_ROW + c * word_bytes, source,
                                    word_bytes);
                assert_memory_equal(source + 8192, source, word_bytes);
            }
    assert_int_equal(half_data(&f, OUTPUT, 0)[40 + COLUMNS * word_bytes], 0); /* the border */
    assert_int_equal(fake_count(f.dma, "write_bytes"), PLANES * ROWS * COLUMNS * word_bytes);
    close_dma(&f);
}

static void test_interleaved_planes(void **state)
{
    (void)state;
    for (uint32_t word_bytes = 1; word_bytes <= 2; ++word_bytes)
        for (uint32_t together = 1; together <= 6; together += together)
            check_interleaved(word_bytes, together == 4 ? 6 : together == 2 ? 3 : together);
}

/* Twelve planes of 40 words, which have been read ahead, in blocks of three. */
static void test_interleaved_planes_take_their_time(void **state)
{
    static const struct {
        uint64_t words, banks, cycles;
    } cases[] = {{0, 16, 30},  /* 16 words a cycle cross */
                 {64, 16, 30}, /* no more of them */
                 {4, 16, 120}, /* four go to their planes */
                 {0, 2, 60},   /* two planes' words are in one bank */
                 {2, 1, 480},  /* one is in its plane's */
                 {1, 1, 480}};
    const struct tile tile = {BASE, 0, 20, 4, 64, 20, 12, 100, 80, 0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct fixture f;
        set_up(&f, 1);
        fake_set(f.dma, "transpose_words", cases[i].words);
        fake_set(f.dma, "outstanding", 64);
        fake_set(f.buffers[INPUT], "banks", cases[i].banks);
        assert_int_equal(fake_start(f.buffers[INPUT]), CNNVP_OK);
        assert_int_equal(fake_start(f.dma), CNNVP_OK);
        assert_int_equal(issue_interleaved(&f, OP_request, INPUT, 3, &tile), CNNVP_OK);
        fake_run(&f.sim, 1000 * CYCLE);
        assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
        fake_run(&f.sim, 3000 * CYCLE);
        assert_int_equal(f.done[0].at, (1000 + cases[i].cycles) * CYCLE);
        close_dma(&f);
    }
}

/* A long plane and one more after it: the memory keeps the bursts of both together within the bound. */
static void test_planes_share_bursts(void **state)
{
    struct fixture f;
    const struct tile in = {BASE, 0, 64, 16, 128, 64, 4, 4000, 1024, 0}; /* 16 bursts a plane */
    (void)state;
    open_dma(&f, 0);
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &in), CNNVP_OK);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 0);
    assert_int_equal(f.sim.record_count, 2);
    for (uint32_t r = 0; r < f.sim.record_count; ++r)
        assert_int_equal(f.sim.records[r].outstanding, 16);
    fake_run(&f.sim, 10000 * CYCLE);
    assert_int_equal(fake_count(f.dma, "outstanding_peak"), 16);
    assert_int_equal(f.done_count, 1);
    for (uint32_t p = 0; p < 4; ++p)
        for (uint32_t r = 0; r < 16; ++r)
            assert_memory_equal(half_data(&f, INPUT, 0) + p * 1024 + r * 64, f.sim.memory + p * 4000 + r * 128, 64);
    close_dma(&f);
}

/* Short planes: as many as fill the bursts in flight, a row that crosses a burst's end counts twice, and one more. */
static void test_short_planes_fill_bursts(void **state)
{
    static const uint32_t first[] = {0, 32};   /* of a row in its burst: rows of 48 bytes need one, or two */
    static const uint32_t planes[] = {7u, 4u}; /* of 3 or 6 bursts: 18 bursts and one more plane */
    (void)state;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; ++i) {
        struct fixture f;
        const struct tile in = {BASE + first[i], 0, 48, 3, 128, 48, 12, 1024, 144, 0};
        open_dma(&f, 0);
        assert_int_equal(issue(&f, OP_request, INPUT, 0, &in), CNNVP_OK);
        assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
        fake_run(&f.sim, 0);
        assert_int_equal(f.sim.record_count, planes[i]);
        fake_run(&f.sim, 10000 * CYCLE);
        assert_int_equal(f.done_count, 1);
        assert_int_equal(f.sim.record_count, 12);
        close_dma(&f);
    }
}

static void test_move_and_fill(void **state)
{
    struct fixture f;
    struct tile tile = {64, 128, 32, 4, 48, 32, 1, 0, 0, 64};
    cnnvp_time delay = 0;
    (void)state;
    open_dma(&f, 0);
    for (uint32_t i = 0; i < HALF; ++i)
        half_data(&f, OUTPUT, 1)[i] = (uint8_t)(i ^ i >> 8);
    struct cnnvp_command move = make(&f, OP_move, INPUT | OUTPUT << 2, CNNVP_HALF_OUTPUT, &tile);
    assert_int_equal(issue_command(&f, &move, &delay), CNNVP_OK);
    assert_int_equal(delay, 4 * CYCLE);
    for (uint32_t r = 0; r < 4; ++r)
        assert_memory_equal(half_data(&f, INPUT, 0) + 128 + r * 32, half_data(&f, OUTPUT, 1) + 64 + r * 48, 32);
    assert_int_equal(fake_counter(f.buffers[INPUT], "feature_words"), 64);
    /* in the same half, source and destination overlapping; the copy engine is busy until cycle 4 */
    uint8_t before[64];
    memcpy(before, half_data(&f, INPUT, 0) + 128, sizeof before);
    tile = flat(128, 130, 64);
    struct cnnvp_command shift = make(&f, OP_move, INPUT | INPUT << 2, 0, &tile);
    assert_int_equal(issue_command(&f, &shift, &delay), CNNVP_OK);
    assert_int_equal(delay, 6 * CYCLE);
    assert_memory_equal(half_data(&f, INPUT, 0) + 130, before, 64);
    tile = (struct tile){0, 4, 6, 2, 0, 10, 2, 0, 100, 0};
    struct cnnvp_command fill = make(&f, OP_fill, WEIGHT, CNNVP_HALF_WEIGHT, &tile);
    fill.immediate = 0xffff1234u;
    fake_run(&f.sim, 100 * CYCLE);
    assert_int_equal(issue_command(&f, &fill, &delay), CNNVP_OK);
    assert_int_equal(delay, 1 * CYCLE);
    uint32_t filled = 0;
    for (uint32_t i = 0; i < HALF; i += 2u) {
        uint16_t word;
        memcpy(&word, half_data(&f, WEIGHT, 1) + i, 2);
        assert_true(word == 0 || word == 0x1234);
        filled += word != 0;
    }
    assert_int_equal(filled, 12);
    assert_int_equal(fake_count(f.dma, "move_bytes"), 192);
    assert_int_equal(fake_count(f.dma, "fill_bytes"), 24);
    assert_int_equal(fake_count(f.dma, "copy_busy_cycles"), 7);
    close_dma(&f);
}

static void test_memory_errors(void **state)
{
    struct fixture f;
    const struct tile tile = flat(BASE + 1024, 0, 4096);
    const struct tile outside = flat(BASE + MEMORY - 64u, 0, 128);
    (void)state;
    open_dma(&f, 0);
    f.sim.memory_error_address = BASE + 1100;
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &tile), CNNVP_OK);
    fake_run(&f.sim, 1000 * CYCLE);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    assert_int_equal(issue(&f, OP_store, OUTPUT, 0, &tile), CNNVP_PENDING);
    fake_run(&f.sim, 3000 * CYCLE);
    assert_int_equal(f.done_count, 2);
    assert_int_equal(f.done[0].status, CNNVP_E_MEMORY);
    assert_int_equal(f.done[1].status, CNNVP_E_MEMORY);
    assert_int_equal(half_data(&f, INPUT, 0)[0], 0);
    /* nothing there at all: the memory refuses */
    assert_int_equal(issue(&f, OP_store, OUTPUT, 0, &outside), CNNVP_PENDING);
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &outside), CNNVP_OK);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 4000 * CYCLE);
    assert_int_equal(f.done_count, 4);
    assert_int_equal(f.done[2].status, CNNVP_E_ADDR);
    assert_int_equal(f.done[3].status, CNNVP_E_ADDR);
    assert_int_equal(fake_count(f.dma, "failed"), 4);
    assert_int_equal(fake_count(f.dma, "read_bytes"), 0);
    /* and the channels still work */
    f.sim.memory_error_address = UINT64_MAX;
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &tile), CNNVP_OK);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 6000 * CYCLE);
    assert_int_equal(f.done[4].status, CNNVP_OK);
    assert_memory_equal(half_data(&f, INPUT, 0), f.sim.memory + 1024, 4096);
    close_dma(&f);
}

static void test_bad_commands(void **state)
{
    static const struct {
        struct tile tile;
        int status;
    } cases[] = {
        {{BASE, 0, 3, 1, 0, 0, 1, 0, 0, 0}, CNNVP_E_INVAL},
        {{BASE, 1, 2, 1, 0, 0, 1, 0, 0, 0}, CNNVP_E_INVAL},
        {{BASE, 0, 2, 2, 2, 3, 1, 0, 0, 0}, CNNVP_E_INVAL},
        {{BASE, 0, 8, 2, 8, 4, 1, 0, 0, 0}, CNNVP_E_INVAL},          /* rows over each other */
        {{BASE, 0, 8, 4, 8, 8, 2, 32, 16, 0}, CNNVP_E_INVAL},        /* planes over each other */
        {{BASE, 0, 2, 1, 0, 0, 1, 0, 0, 2}, CNNVP_E_INVAL},          /* more features than words */
        {{0xffffffc0u, 0, 128, 1, 0, 0, 1, 0, 0, 0}, CNNVP_E_INVAL}, /* over the end of 32 bits */
        {{BASE, 0, 0xfffffffeu, 0xffffffffu, 0, 0xfffffffeu, 0xffffffffu, 0, 0, 0}, CNNVP_E_INVAL},
        {{BASE, 0, 2, 0x7fffffffu, 0, 2, 0x7fffffffu, 0, 0xfffffffeu, 0}, CNNVP_E_INVAL},
        {{BASE, 0x80000000u, 2, 1, 0, 0, 1, 0, 0, 0}, CNNVP_E_INVAL},
        {{BASE, HALF - 2u, 4, 1, 0, 0, 1, 0, 0, 0}, CNNVP_E_ADDR},
        {{BASE, 0, 2, 2, 2, HALF, 1, 0, 0, 0}, CNNVP_E_ADDR},
    };
    struct fixture f;
    const struct tile good = flat(BASE, 0, 64);
    (void)state;
    open_dma(&f, 0);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
        assert_int_equal(issue(&f, OP_request, INPUT, 0, &cases[c].tile), cases[c].status);
        assert_int_equal(issue(&f, OP_store, INPUT, 0, &cases[c].tile), cases[c].status);
    }
    /* of interleaved planes whole blocks are moved */
    const struct tile planes = {BASE, 0, 2, 1, 0, 0, 4, 16, 2, 0};
    assert_int_equal(issue_interleaved(&f, OP_request, INPUT, 3, &planes), CNNVP_E_INVAL);
    assert_int_equal(issue_interleaved(&f, OP_store, INPUT, 8, &planes), CNNVP_E_INVAL);
    assert_non_null(strstr(f.dma->message, "imm32 divides planes"));
    /* what is wrong with the rows themselves comes first */
    const struct tile odd = {BASE, 1, 2, 1, 0, 0, 4, 16, 2, 0};
    assert_int_equal(issue_interleaved(&f, OP_store, INPUT, 3, &odd), CNNVP_E_INVAL);
    assert_non_null(strstr(f.dma->message, "addresses and strides in a buffer are even"));
    /* a fill has no memory side, and a move's is a buffer */
    const struct tile far_fill = {1, 0, 2, 2, 1, 4, 1, 0, 0, 0};
    assert_int_equal(issue(&f, OP_fill, INPUT, 0, &far_fill), CNNVP_OK);
    assert_int_equal(issue(&f, OP_move, INPUT, 0, &far_fill), CNNVP_E_INVAL);
    const struct tile far_move = flat(HALF, 0, 2);
    assert_int_equal(issue(&f, OP_move, INPUT | OUTPUT << 2, 0, &far_move), CNNVP_E_ADDR);
    assert_int_equal(issue(&f, OP_move, INPUT | 3u << 2, 0, &good), CNNVP_E_INVAL);
    assert_int_equal(issue(&f, OP_request, 3, 0, &good), CNNVP_E_INVAL);
    assert_int_equal(issue(&f, OP_conv, 0, 0, &good), CNNVP_E_INVAL);
    struct cnnvp_command incomplete = make(&f, OP_store, INPUT, 0, &good);
    incomplete.count = 9;
    assert_int_equal(issue_command(&f, &incomplete, NULL), CNNVP_E_INVAL);
    struct cnnvp_access access = {.op = CNNVP_READ, .size = 4};
    assert_int_equal(fake_access(f.dma, "command", &access), CNNVP_E_ACCESS);
    /* a receive of something else than was asked for; nothing was lost by it */
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &good), CNNVP_OK);
    assert_int_equal(issue(&f, OP_receive, WEIGHT, 0, NULL), CNNVP_E_INVAL);
    assert_int_equal(issue(&f, OP_receive, INPUT, CNNVP_HALF_INPUT, NULL), CNNVP_E_INVAL);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 1000 * CYCLE);
    assert_int_equal(f.done_count, 1);
    assert_int_equal(f.done[0].status, CNNVP_OK);
    close_dma(&f);

    set_up(&f, 0);
    fake_set(f.dma, "burst_bytes", 48);
    assert_int_equal(fake_start(f.dma), CNNVP_E_INVAL);
    assert_int_equal(f.dma->config_errors, 1);
    close_dma(&f);
}

static void test_reset_in_the_middle(void **state)
{
    struct fixture f;
    const struct tile tile = flat(BASE, 0, 4096);
    (void)state;
    open_dma(&f, 0);
    for (cnnvp_time when = 0; when < 700 * CYCLE; when += 37 * CYCLE) {
        f.done_count = 0;
        const cnnvp_time start = f.sim.now;
        assert_int_equal(issue(&f, OP_request, INPUT, 0, &tile), CNNVP_OK);
        assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
        assert_int_equal(issue(&f, OP_store, OUTPUT, 0, &tile), CNNVP_PENDING);
        assert_int_equal(issue(&f, OP_request, WEIGHT, 0, &tile), CNNVP_OK);
        fake_run(&f.sim, start + when);
        fake_reset(f.dma);
        f.done_count = 0;
        fake_run(&f.sim, start + 5000 * CYCLE);
        assert_int_equal(f.done_count, 0);
        assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_E_INVAL);
        f.sim.memory_free = f.sim.now;
        memset(f.sim.memory, 0x77, 4096);
        assert_int_equal(issue(&f, OP_request, INPUT, CNNVP_HALF_INPUT, &tile), CNNVP_OK);
        assert_int_equal(issue(&f, OP_receive, INPUT, CNNVP_HALF_INPUT, NULL), CNNVP_PENDING);
        fake_run(&f.sim, start + 10000 * CYCLE);
        assert_int_equal(f.done_count, 1);
        assert_memory_equal(half_data(&f, INPUT, 1), f.sim.memory, 4096);
        f.dma->span_count = 0;
        f.sim.record_count = 0;
    }
    close_dma(&f);
}

/* A copy does not wait for one from before a reset; their spans do not overlap. */
static void test_reset_in_a_copy(void **state)
{
    struct fixture f;
    const struct tile tile = flat(0, 0, 4096);
    cnnvp_time first = 0, again = 0;
    (void)state;
    open_dma(&f, 1);
    struct cnnvp_command fill = make(&f, OP_fill, INPUT, 0, &tile);
    assert_int_equal(issue_command(&f, &fill, &first), CNNVP_OK);
    fake_run(&f.sim, 10 * CYCLE);
    fake_reset(f.dma);
    assert_int_equal(issue_command(&f, &fill, &again), CNNVP_OK);
    assert_int_equal(first, 4096 / 32 * CYCLE);
    assert_int_equal(again, first);
    assert_int_equal(f.dma->span_count, 2);
    assert_true(f.dma->spans[1].begin >= f.dma->spans[0].end);
    assert_true(f.dma->spans[1].begin <= f.dma->spans[1].end);
    close_dma(&f);
}

/* The element's reset by the guest: a request without a receive writes nothing into the buffer, and asks the memory for
 * no more than it has. A receive that was issued goes on. */
static void test_forgotten_requests(void **state)
{
    const struct tile tile = flat(BASE, 0, 4096);
    const uint8_t untouched[4096] = {0};
    (void)state;
    for (cnnvp_time when = 0; when < 400 * CYCLE; when += 37 * CYCLE) {
        struct fixture f;
        open_dma(&f, 0);
        struct cnnvp_command forget = make(&f, CNNVP_COMMAND_FORGET, 0, 0, NULL);
        assert_int_equal(issue(&f, OP_request, WEIGHT, 0, &tile), CNNVP_OK);
        assert_int_equal(issue(&f, OP_receive, WEIGHT, 0, NULL), CNNVP_PENDING);
        assert_int_equal(issue(&f, OP_request, INPUT, 0, &tile), CNNVP_OK);
        fake_run(&f.sim, when);
        assert_int_equal(issue_command(&f, &forget, NULL), CNNVP_OK);
        fake_run(&f.sim, 5000 * CYCLE);
        assert_memory_equal(half_data(&f, INPUT, 0), untouched, sizeof untouched);
        assert_memory_equal(half_data(&f, WEIGHT, 0), f.sim.memory, sizeof untouched);
        assert_int_equal(f.done_count, 1);
        assert_int_equal(fake_count(f.dma, "receives"), 1);
        assert_in_range(fake_count(f.dma, "read_bytes"), 4096, 4096 + 1024); /* 16 bursts are read ahead */
        /* the slots and the bytes that may be read ahead are free again */
        assert_int_equal(issue(&f, OP_request, INPUT, 0, &tile), CNNVP_OK);
        assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
        fake_run(&f.sim, 10000 * CYCLE);
        assert_memory_equal(half_data(&f, INPUT, 0), f.sim.memory, sizeof untouched);
        close_dma(&f);
    }
    /* it waits for a store, and has not asked the memory for anything */
    struct fixture f;
    open_dma(&f, 0);
    struct cnnvp_command forget = make(&f, CNNVP_COMMAND_FORGET, 0, 0, NULL);
    fake_run(&f.sim, 2000 * CYCLE);
    assert_int_equal(issue(&f, OP_store, OUTPUT, 0, &tile), CNNVP_PENDING);
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &tile), CNNVP_OK);
    assert_int_equal(issue_command(&f, &forget, NULL), CNNVP_OK);
    fake_run(&f.sim, 5000 * CYCLE);
    assert_int_equal(f.done_count, 1);
    assert_int_equal(fake_count(f.dma, "read_bytes"), 0);
    assert_int_equal(fake_count(f.dma, "read_busy_cycles"), 0);
    close_dma(&f);
}

/* Random programs: timing-only gives the same times and counts, and real data are what a plain copy gives. */
static void test_random_programs(void **state)
{
    static struct fixture f[2];
    static uint8_t expected[MEMORY];
    (void)state;
    for (uint32_t seed = 1; seed <= 30; ++seed) {
        for (int t = 0; t < 2; ++t) {
            uint32_t x = seed;
            open_dma(&f[t], t);
            memcpy(expected, f[t].sim.memory, MEMORY);
            for (int n = 0; n < 8; ++n) {
                uint32_t r[8];
                for (int i = 0; i < 8; ++i)
                    r[i] = (x = x * 1664525u + 1013904223u) >> 16;
                const uint32_t row = 2u + r[0] % 100u * 2u;
                const uint32_t rows = 1u + r[1] % 6u;
                const uint32_t planes = 1u + r[2] % 3u;
                const uint32_t stride = row + r[3] % 20u;
                const uint32_t plane = stride * rows + r[4] % 40u;
                const uint32_t from = r[5] % 20000u;
                const uint32_t to = r[6] % 20000u;
                const struct tile in = {BASE + from, 0, row, rows, stride, row, planes, plane, row * rows, 0};
                const struct tile out = {BASE + to, 0, row, rows, stride, row, planes, plane, row * rows, 0};
                assert_int_equal(issue(&f[t], OP_request, INPUT, 0, &in), CNNVP_OK);
                assert_int_equal(issue(&f[t], OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
                const uint32_t before = f[t].done_count;
                while (f[t].done_count == before || f[t].done[f[t].done_count - 1].sequence != f[t].sequence)
                    fake_run(&f[t].sim, f[t].sim.now + CYCLE); /* stores may still be on their way */
                assert_int_equal(issue(&f[t], OP_store, INPUT, 0, &out), CNNVP_PENDING);
                uint8_t packed[8192];
                for (uint32_t i = 0; i < row * rows * planes; ++i)
                    packed[i] = expected[from + i / (row * rows) * plane + i / row % rows * stride + i % row];
                for (uint32_t i = 0; i < row * rows * planes; ++i)
                    expected[to + i / (row * rows) * plane + i / row % rows * stride + i % row] = packed[i];
            }
            fake_run(&f[t].sim, f[t].sim.now + 100000 * CYCLE);
            assert_int_equal(f[t].done_count, 16);
            if (t == 0)
                assert_memory_equal(f[t].sim.memory, expected, MEMORY);
        }
        for (uint32_t d = 0; d < 16; ++d)
            assert_true(f[0].done[d].sequence == f[1].done[d].sequence && f[0].done[d].at == f[1].done[d].at);
        assert_memory_equal(f[0].dma->counts, f[1].dma->counts, sizeof f[0].dma->counts);
        for (int b = 0; b < 3; ++b)
            assert_memory_equal(f[0].buffers[b]->counts, f[1].buffers[b]->counts, sizeof f[0].dma->counts);
        close_dma(&f[0]);
        close_dma(&f[1]);
    }
}

static void assert_fits(struct cnnvp_host *dma, uint64_t mhz, const struct cnnvp_memory_rate *rate,
                        uint64_t outstanding, uint64_t port_bytes)
{
    cnnvp_unit_dma.fit(dma->params, mhz, rate);
    for (size_t p = 0; p < cnnvp_unit_dma.param_count; ++p) {
        if (strcmp(cnnvp_unit_dma.params[p].name, "outstanding") == 0)
            assert_int_equal(dma->params[p], outstanding);
        if (strcmp(cnnvp_unit_dma.params[p].name, "port_bytes") == 0)
            assert_int_equal(dma->params[p], port_bytes);
    }
}

/* What says 0 follows from the memory: bytes that it carries in the time of a read, and in a cycle. */
static void test_fit(void **state)
{
    static const struct {
        uint64_t bytes_per_s, latency, mhz, burst_bytes, outstanding, port_bytes;
    } cases[] = {
        {0, 0, 1000, 64, 16, 32},                                           /* does not say */
        {UINT64_C(32000000000), 32000, 1000, 64, 16, 32},                   /* 1024 bytes, and 32 */
        {UINT64_C(32000000000), 32001, 1000, 64, 32, 32},                   /* a byte more */
        {UINT64_C(32001000000), 32000, 1000, 64, 32, 64},                   /* likewise */
        {UINT64_C(256000000000), 44000, 1000, 64, 256, 256},                /* 176 bursts */
        {UINT64_C(256000000000), 44000, 1000, 128, 128, 256},               /* 88 */
        {UINT64_C(256000000000), 44000, 200, 64, 256, 2048},                /* 1280 bytes a cycle */
        {UINT64_C(100000000000000), UINT64_C(1000000), 1, 64, 1024, 65536}, /* no more than parameters can say */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct fixture f;
        const struct cnnvp_memory_rate rate = {sizeof rate, cases[i].bytes_per_s, cases[i].latency};
        set_up(&f, 1);
        fake_set(f.dma, "burst_bytes", cases[i].burst_bytes);
        assert_fits(f.dma, cases[i].mhz, &rate, cases[i].outstanding, cases[i].port_bytes);
        fake_set(f.dma, "outstanding", 3);
        fake_set(f.dma, "port_bytes", 6);
        assert_fits(f.dma, cases[i].mhz, &rate, 3, 6);
        close_dma(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_and_receive),
        cmocka_unit_test(test_clock_edges),
        cmocka_unit_test(test_strided),
        cmocka_unit_test(test_interleaved_planes),
        cmocka_unit_test(test_interleaved_planes_take_their_time),
        cmocka_unit_test(test_planes_share_bursts),
        cmocka_unit_test(test_short_planes_fill_bursts),
        cmocka_unit_test(test_move_and_fill),
        cmocka_unit_test(test_memory_errors),
        cmocka_unit_test(test_bad_commands),
        cmocka_unit_test(test_reset_in_the_middle),
        cmocka_unit_test(test_reset_in_a_copy),
        cmocka_unit_test(test_forgotten_requests),
        cmocka_unit_test(test_random_programs),
        cmocka_unit_test(test_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
