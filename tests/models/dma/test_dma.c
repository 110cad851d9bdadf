/* SPDX-License-Identifier: Apache-2.0 */
/* The DMA between real buffers and a memory of fixed latency and bandwidth. Times are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buffer/buffer.h"
#include "dma/dma.h"
#include "fake_host.h"

enum {
#define CNNVP_OPCODE(mnemonic, code, class_, format, unit, descriptor, status_mask, help) OP_##mnemonic = (code),
#include "instruction/opcodes.def"
};

#define CYCLE 1000u /* ps at 1000 MHz */
#define BASE 0x80000000u
#define MEMORY 65536u
#define LATENCY 50000u   /* ps */
#define PS_PER_BYTE 125u /* 8 bytes a cycle */
#define HALF 8192u
enum { INPUT = 0, WEIGHT = 1, OUTPUT = 2 };

struct completion {
    uint64_t sequence;
    int32_t status;
    cnnvp_time at;
};

struct fixture {
    struct fake_sim sim;
    struct cnnvp_host *dma;
    struct cnnvp_host *buffers[3];
    struct completion done[64];
    uint32_t done_count;
    uint64_t sequence;
    struct cnnvp_command *reissue; /* issued from within the next completion */
    int reissue_status;
};

/* A descriptor in the order of descriptors.def. */
struct tile {
    uint32_t memory_addr, buffer_addr, row_bytes, rows, memory_row_stride, buffer_row_stride, planes;
    uint32_t memory_plane_stride, buffer_plane_stride, feature_words;
};

static int issue_command(struct fixture *f, struct cnnvp_command *command, cnnvp_time *delay)
{
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = command, .size = sizeof *command, .tag = command->tag};
    const int status = fake_access(f->dma, "command", &access);
    if (delay != NULL)
        *delay = access.delay;
    return status;
}

static int on_done(void *context, struct cnnvp_access *access)
{
    struct fixture *f = context;
    const struct cnnvp_completion *completion = access->data;
    assert_int_equal(access->op, CNNVP_COMMAND);
    f->done[f->done_count++] = (struct completion){completion->sequence, completion->status, f->sim.now};
    if (f->reissue != NULL) {
        struct cnnvp_command *command = f->reissue;
        f->reissue = NULL;
        f->reissue_status = issue_command(f, command, NULL);
    }
    return CNNVP_OK;
}

static void set_up(struct fixture *f, int timing_only)
{
    static const char *const ports[] = {"input", "weight", "output"};
    memset(f, 0, sizeof *f);
    fake_sim_init(&f->sim, 1000, BASE, MEMORY);
    f->sim.timing_only = timing_only;
    f->sim.memory_latency = LATENCY;
    f->sim.memory_ps_per_byte = PS_PER_BYTE;
    for (uint32_t i = 0; i < MEMORY; ++i)
        f->sim.memory[i] = (uint8_t)(i * 7u + i / 256u);
    f->dma = fake_add(&f->sim, &cnnvp_unit_dma);
    for (int b = 0; b < 3; ++b) {
        f->buffers[b] = fake_add(&f->sim, &cnnvp_unit_buffer);
        fake_set(f->buffers[b], "size", 2u * HALF);
        assert_int_equal(fake_start(f->buffers[b]), CNNVP_OK);
        fake_connect(f->dma, ports[b], f->buffers[b], "port");
    }
    fake_handle(f->dma, "done", on_done, f);
}

static void open_dma(struct fixture *f, int timing_only)
{
    set_up(f, timing_only);
    assert_int_equal(fake_start(f->dma), CNNVP_OK);
}

static void close_dma(struct fixture *f)
{
    fake_sim_free(&f->sim);
}

static struct cnnvp_command make(struct fixture *f, uint32_t opcode, uint32_t status, uint32_t halves,
                                 const struct tile *tile)
{
    struct cnnvp_command command = {
        .opcode = opcode, .status = status, .halves = halves, .tag = 3, .count = 10, .sequence = ++f->sequence};
    if (tile != NULL)
        memcpy(command.descriptor, tile, sizeof *tile);
    return command;
}

static int issue(struct fixture *f, uint32_t opcode, uint32_t status, uint32_t halves, const struct tile *tile)
{
    struct cnnvp_command command = make(f, opcode, status, halves, tile);
    return issue_command(f, &command, NULL);
}

static uint8_t *half_data(struct fixture *f, int buffer, uint32_t half)
{
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ, .flags = CNNVP_DEBUG, .address = cnnvp_buffer_address(half, 0), .size = HALF};
    assert_int_equal(fake_access(f->buffers[buffer], "port", &access), CNNVP_OK);
    return access.data;
}

static struct tile flat(uint32_t memory_addr, uint32_t buffer_addr, uint32_t bytes)
{
    return (struct tile){memory_addr, buffer_addr, bytes, 1, 0, 0, 1, 0, 0, 0};
}

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

/* A buffer port narrower than the DMA's lengthens the transfer. */
static void test_narrow_port(void **state)
{
    struct fixture f;
    const struct tile tile = flat(BASE, 0, 512);
    (void)state;
    set_up(&f, 0);
    f.buffers[INPUT] = fake_add(&f.sim, &cnnvp_unit_buffer);
    fake_set(f.buffers[INPUT], "size", 2u * HALF);
    fake_set(f.buffers[INPUT], "width_words", 4); /* 8 bytes a cycle */
    assert_int_equal(fake_start(f.buffers[INPUT]), CNNVP_OK);
    fake_connect(f.dma, "input", f.buffers[INPUT], "port");
    assert_int_equal(fake_start(f.dma), CNNVP_OK);
    assert_int_equal(issue(&f, OP_request, INPUT, 0, &tile), CNNVP_OK);
    fake_run(&f.sim, 1000 * CYCLE);
    assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
    fake_run(&f.sim, 2000 * CYCLE);
    assert_int_equal(f.done[0].at, 1064 * CYCLE);
    cnnvp_time delay = 0;
    const struct tile move_tile = flat(0, 0, 512);
    struct cnnvp_command move = make(&f, OP_move, INPUT | OUTPUT << 2, 0, &move_tile);
    assert_int_equal(issue_command(&f, &move, &delay), CNNVP_OK);
    assert_int_equal(delay, 64 * CYCLE);
    assert_int_equal(fake_count(f.buffers[INPUT], "port_conflict_cycles"), 96);
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
        {{BASE, 0, 0, 1, 0, 0, 1, 0, 0, 0}, CNNVP_E_INVAL},
        {{BASE, 0, 3, 1, 0, 0, 1, 0, 0, 0}, CNNVP_E_INVAL},
        {{BASE, 0, 2, 0, 0, 0, 1, 0, 0, 0}, CNNVP_E_INVAL},
        {{BASE, 0, 2, 1, 0, 0, 0, 0, 0, 0}, CNNVP_E_INVAL},
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

/* A receive and a store of 512 cycles of the port, the store 0 or more cycles after the receive, whose data are there.
 */
static void test_one_port(void **state)
{
    enum { SEPARATE, ROUND_ROBIN, PRIORITY, WEIGHTED };
    static const struct {
        uint64_t arbiter, receive_share, store_share, later, receive_cycles, store_cycles, wait;
    } cases[] = {
        {SEPARATE, 1, 1, 0, 512, 512, 0},
        {ROUND_ROBIN, 1, 1, 0, 1023, 1024, 1023},
        {ROUND_ROBIN, 5, 1, 100, 923, 1024, 823}, /* 412 of the receive's are left when the store comes */
        {ROUND_ROBIN, 1, 1, 512, 512, 1024, 0},
        {PRIORITY, 2, 1, 0, 512, 1024, 512},
        {PRIORITY, 1, 2, 0, 1024, 512, 512},
        {PRIORITY, 1, 2, 100, 1024, 612, 512},
        {PRIORITY, 3, 3, 0, 1023, 1024, 1023},
        {WEIGHTED, 3, 1, 0, 683, 1024, 683}, /* 171 of the store's among them */
        {WEIGHTED, 1, 3, 0, 1024, 683, 683},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct fixture f;
        const struct tile in = flat(BASE, 0, 1024);
        const struct tile out = flat(BASE + 8192, 0, 1024);
        set_up(&f, 0);
        fake_set(f.dma, "port_bytes", 2);
        fake_set(f.dma, "arbiter", cases[i].arbiter);
        fake_set(f.dma, "receive_share", cases[i].receive_share);
        fake_set(f.dma, "store_share", cases[i].store_share);
        assert_int_equal(fake_start(f.dma), CNNVP_OK);
        assert_int_equal(issue(&f, OP_request, INPUT, 0, &in), CNNVP_OK);
        fake_run(&f.sim, 1000 * CYCLE);
        assert_int_equal(issue(&f, OP_receive, INPUT, 0, NULL), CNNVP_PENDING);
        fake_run(&f.sim, (1000 + cases[i].later) * CYCLE);
        assert_int_equal(issue(&f, OP_store, OUTPUT, 0, &out), CNNVP_PENDING);
        fake_run(&f.sim, 9000 * CYCLE);
        assert_int_equal(f.done_count, 2);
        for (uint32_t d = 0; d < 2; ++d)
            assert_int_equal(
                f.done[d].at,
                (1000 + (f.done[d].sequence == 2 ? cases[i].receive_cycles : cases[i].store_cycles)) * CYCLE);
        assert_int_equal(fake_count(f.dma, "port_wait_cycles"), cases[i].wait);
        assert_memory_equal(half_data(&f, INPUT, 0), f.sim.memory, 1024);
        close_dma(&f);
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
        cmocka_unit_test(test_head_and_tail),
        cmocka_unit_test(test_clock_edges),
        cmocka_unit_test(test_strided),
        cmocka_unit_test(test_planes_share_bursts),
        cmocka_unit_test(test_short_planes_fill_bursts),
        cmocka_unit_test(test_move_and_fill),
        cmocka_unit_test(test_live),
        cmocka_unit_test(test_read_after_write),
        cmocka_unit_test(test_store_inside_a_request),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_narrow_port),
        cmocka_unit_test(test_memory_errors),
        cmocka_unit_test(test_bad_commands),
        cmocka_unit_test(test_reset_in_the_middle),
        cmocka_unit_test(test_random_programs),
        cmocka_unit_test(test_order_through_memory),
        cmocka_unit_test(test_one_port),
        cmocka_unit_test(test_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
