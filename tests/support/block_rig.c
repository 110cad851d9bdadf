/* SPDX-License-Identifier: Apache-2.0 */
/* A test rig with one block of the multi-function module (block_rig.h). */
#include "block_rig.h"

#include "cnnvp_buffer.h"
#include "units.h"

#include "test.h"

enum { MHZ = 200, CYCLE = 5000, SIZE = 1 << 16, PIPELINE = 0 /* index of the first parameter of every block */ };

static int record(void *context, struct cnnvp_access *access)
{
    struct block_rig *rig = context;
    ++rig->handed_on;
    rig->next = *access;
    rig->next_kind = ((const struct cnnvp_tile *)access->data)->kind;
    return CNNVP_OK;
}

static struct cnnvp_host *add_buffer(struct block_rig *rig, const char *port)
{
    struct cnnvp_host *buffer = fake_add(&rig->sim, &cnnvp_unit_buffer);
    fake_set(buffer, "pingpong", 0);
    fake_set(buffer, "size", SIZE);
    fake_set(buffer, "width_words", SIZE);
    fake_set(buffer, "banks", 1024);
    fake_connect(rig->block, port, buffer, "port");
    return buffer;
}

void block_rig_begin(struct block_rig *rig, const struct cnnvp_unit *unit, int timing_only)
{
    memset(rig, 0, sizeof *rig);
    fake_sim_init(&rig->sim, MHZ, 0, 0);
    rig->sim.timing_only = timing_only;
    rig->block = fake_add(&rig->sim, unit);
    for (uint32_t p = 0; p < unit->port_count; ++p) {
        const struct cnnvp_port *port = &unit->ports[p];
        if (port->kind == CNNVP_PORT_INITIATOR && (port->flags & CNNVP_PORT_CROSSES) == CNNVP_PORT_TILES)
            fake_handle(rig->block, port->name, record, rig);
        else if (port->kind == CNNVP_PORT_INITIATOR)
            rig->buffers[p] = add_buffer(rig, port->name);
    }
}

void block_rig_start(struct block_rig *rig)
{
    for (uint32_t p = 0; p < FAKE_PORTS; ++p)
        if (rig->buffers[p] != NULL)
            assert_int_equal(fake_start(rig->buffers[p]), CNNVP_OK);
    assert_int_equal(fake_start(rig->block), CNNVP_OK);
}

void block_rig_end(struct block_rig *rig)
{
    fake_sim_free(&rig->sim);
}

static struct cnnvp_host *buffer_at(struct block_rig *rig, const char *port)
{
    const struct cnnvp_unit *unit = rig->block->unit;
    uint32_t p = 0;
    while (p < unit->port_count && strcmp(unit->ports[p].name, port) != 0)
        ++p;
    assert_true(p < unit->port_count && rig->buffers[p] != NULL);
    return rig->buffers[p];
}

void *block_rig_data(struct block_rig *rig, const char *port)
{
    struct cnnvp_access access = {.op = CNNVP_BORROW_WRITE, .flags = CNNVP_DEBUG, .size = SIZE};
    assert_int_equal(fake_access(buffer_at(rig, port), "port", &access), CNNVP_OK);
    return access.data;
}

struct cnnvp_tile block_rig_tile(enum cnnvp_tile_kind kind, uint32_t images, uint32_t channels, uint32_t height,
                                 uint32_t width)
{
    return (struct cnnvp_tile){
        .kind = kind,
        .images = images,
        .channels = channels,
        .height = height,
        .width = width,
        .plane = (uint64_t)height * width,
        .pooled_height = height,
        .pooled_width = width,
        .mantissa_bits = 8,
        .sets = 2,
        .lanes = 3};
}

int block_rig_try(struct block_rig *rig, struct cnnvp_tile *tile, uint32_t flags)
{
    struct cnnvp_access access = {
        .op = CNNVP_COMMAND, .flags = flags, .tag = 1, .data = tile, .size = sizeof *tile, .words = 1};
    tile->cycles = tile->waiting_cycles = tile->fill = 0;
    const int status = fake_access(rig->block, "tile", &access);
    fake_run(&rig->sim, rig->sim.now + (tile->waiting_cycles + tile->fill) * CYCLE);
    return status;
}

void block_rig_do(struct block_rig *rig, struct cnnvp_tile *tile, uint64_t cycles)
{
    const cnnvp_time begin = rig->sim.now;
    const uint64_t pipeline = rig->block->params[PIPELINE];
    const uint64_t busy = fake_count(rig->block, "busy_cycles");
    assert_int_equal(block_rig_try(rig, tile, CNNVP_DEBUG), CNNVP_OK); /* a debug access changes nothing */
    assert_int_equal(tile->waiting_cycles + tile->fill, 0);
    assert_int_equal(fake_count(rig->block, "busy_cycles"), busy);
    rig->block->span_count = 0;
    assert_int_equal(block_rig_try(rig, tile, 0), CNNVP_OK);
    assert_int_equal(tile->waiting_cycles, cycles);
    assert_int_equal(tile->fill, pipeline);
    assert_int_equal(fake_count(rig->block, "busy_cycles"), busy + cycles + pipeline);
    assert_int_equal(rig->block->span_count, 1);
    assert_int_equal(rig->block->spans[0].begin, begin);
    assert_int_equal(rig->block->spans[0].end, begin + (cycles + pipeline) * CYCLE);
}

void block_rig_expect_next(const struct block_rig *rig, const struct cnnvp_tile *tile, uint64_t words,
                           uint32_t word_bytes)
{
    assert_true(rig->handed_on > 0);
    assert_ptr_equal(rig->next.data, tile);
    assert_int_equal(rig->next.flags & CNNVP_DEBUG, 0);
    assert_int_equal(rig->next.tag, 1);
    assert_int_equal(rig->next.words, words);
    assert_int_equal(rig->next.word_bytes, word_bytes);
}

void block_rig_check_refusals(const struct cnnvp_unit *unit, uint32_t kinds)
{
    struct block_rig rig;
    struct cnnvp_tile tile = block_rig_tile(CNNVP_TILE_STATISTICS, 1, 1, 1, 1);
    struct cnnvp_access read = {.op = CNNVP_READ, .data = &tile, .size = sizeof tile};
    struct cnnvp_access empty = {.op = CNNVP_COMMAND, .size = sizeof tile};
    struct cnnvp_access small = {.op = CNNVP_COMMAND, .data = &tile, .size = 4};
    const uint64_t none[FAKE_STATS] = {0};
    block_rig_begin(&rig, unit, 0);
    block_rig_start(&rig);
    assert_int_equal(fake_access(rig.block, "tile", &read), CNNVP_E_ACCESS);
    assert_int_equal(fake_access(rig.block, "tile", &empty), CNNVP_E_INVAL);
    assert_int_equal(fake_access(rig.block, "tile", &small), CNNVP_E_INVAL);
    for (tile.kind = 0; tile.kind < 32u; ++tile.kind)
        if ((kinds >> tile.kind & 1u) == 0)
            assert_int_equal(block_rig_try(&rig, &tile, 0), CNNVP_E_INVAL);
    assert_int_equal(rig.handed_on, 0);
    assert_memory_equal(rig.block->counts, none, sizeof none);
    block_rig_end(&rig);
}
