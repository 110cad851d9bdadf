/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DMA: the transfers between off-chip memory and the buffers, and between buffers.
 *
 * Modelled: S000's off-chip storage functional unit, with "send read request" and "read in" as two steps (A1 L3-4);
 * S003's data interaction instructions (c7); planes of rows with strides on both sides (the next-layer storage
 * parameters of S000, Part B 0-6); bursts in flight; the last burst of each direction, which is held so that rows less
 * than a burst apart share it; the ports of the buffers; planes that are interleaved in memory
 * ([block][row][column][plane]) and transposed on the way; memory order (dma.h). Not modelled: address translation,
 * unaligned byte lanes, a queue between the channels and the memory's arbiter.
 *
 * A tile is one access to a buffer, of the range that it spans. Memory sees one request for each plane, or one for all
 * if the strides allow. A request is cut at the limit of the bytes that may be read ahead of a receive.
 */
#include "dma_internal.h"
#include "unit/parts.h"

#include <stdlib.h>
#include <string.h>

#include "cnnvp_buffer.h"
#include "cnnvp_integer.h"

#define CNNVP_FIELDS struct cnnvp_transfer
#include "unit/descriptor.h"

CNNVP_DESCRIPTOR(TRANSFER, transfer_form);

/* Maximum bytes of a half (parameter `size` of the buffer). */
#define MAX_BYTES (UINT64_C(1) << 28)
/* Lower bounds of the parameters that are fitted to the memory. */
enum { MINIMUM_OUTSTANDING = 16, MINIMUM_PORT_BYTES = 32 };
/* Bytes that the memory side can address. */
#define MEMORY_END (UINT64_C(1) << 32)

/* ---- helpers ---- */

/* Makes room for `bytes`; the contents are lost. CNNVP_OK or CNNVP_E_NOMEM. */
CNNVP_MUST_USE static int reserve_store(struct dma_store *store, uint64_t bytes)
{
    uint64_t capacity = 4096u;
    if (store->capacity >= bytes)
        return CNNVP_OK;
    while (capacity < bytes)
        capacity *= 2u;
    free(store->data);
    store->data = malloc((size_t)capacity);
    store->capacity = store->data == NULL ? 0 : capacity;
    return store->data == NULL ? CNNVP_E_NOMEM : CNNVP_OK;
}

cnnvp_time dma_after(const struct dma *dma, cnnvp_time time, uint64_t cycles)
{
    return cnnvp_edge_time(dma->clock_mhz, cnnvp_edge_at_or_after(dma->clock_mhz, time) + cycles);
}

/* Bytes that cross the port in a cycle. */
static uint64_t bytes_a_cycle(const struct dma *dma, const struct dma_transfer *transfer)
{
    const uint64_t turned = transfer->interleaved > 1u ? dma->transpose_words * transfer->word_bytes : UINT64_MAX;
    return cnnvp_minimum(dma->port_bytes, turned);
}

uint64_t dma_port_cycles(const struct dma *dma, const struct dma_transfer *transfer, uint64_t bytes)
{
    return cnnvp_divide_up(bytes, bytes_a_cycle(dma, transfer));
}

/* The clocks of a transfer of interleaved planes: a cycle carries words of as many planes as possible. */
static struct cnnvp_buffer_clocks turned_clocks(const struct dma *dma, const struct dma_transfer *transfer,
                                                uint64_t cycles)
{
    const uint32_t words = (uint32_t)(bytes_a_cycle(dma, transfer) / transfer->word_bytes);
    const uint32_t planes = cnnvp_minimum32(transfer->interleaved, words);
    return (struct cnnvp_buffer_clocks){
        .times = cycles, .cycles = 1, .maps = planes, .rows = 1, .columns = words / planes};
}

int dma_buffer_access(struct dma *dma, enum cnnvp_op op, uint32_t flags, uint32_t index, uint32_t half,
                      const struct dma_shape *shape, const struct dma_transfer *whose, struct cnnvp_access *access)
{
    const uint64_t bytes = dma_shape_bytes(shape);
    const uint64_t cycles = dma_port_cycles(dma, whose, bytes);
    const struct cnnvp_buffer_clocks turned = turned_clocks(dma, whose, cycles);
    *access = (struct cnnvp_access){
        .op = op,
        .flags = flags,
        .tag = whose->receive_tag,
        .flow = whose->command.sequence,
        .address = cnnvp_buffer_address(half, (uint32_t)shape->address),
        .size = dma_shape_span(shape),
        .words = bytes / whose->word_bytes,
        .word_bytes = whose->word_bytes,
        .cycles = cycles,
        .clocks = whose->interleaved > 1u ? &turned : NULL,
        .clock_count = whose->interleaved > 1u,
        .mode = cnnvp_buffer_dma_mode(whose->feature_words) |
                (op == CNNVP_BORROW_WRITE && whose->from_memory ? CNNVP_BUFFER_COPIES : 0u),
    };
    const int status = dma->ops->access(dma->host, PORT_input + index, access);
    access->clocks = NULL;
    access->clock_count = 0;
    return status;
}

static uint32_t word_bytes_of(const struct dma *dma, const struct cnnvp_command *command)
{
    return CNNVP_STATUS_OF(command, request, bytes) != 0 ? 1u : dma->word_bytes;
}

static int refuse(struct dma *dma, const struct cnnvp_command *command, int status, const char *why)
{
    dma->ops->log(dma->host, CNNVP_LOG_WARNING, "instruction %llu, opcode 0x%02x: %s",
                  (unsigned long long)command->sequence, command->opcode, why);
    return status;
}

/* The descriptor of a command that has been checked. */
static struct cnnvp_transfer described(const struct cnnvp_command *command)
{
    struct cnnvp_transfer transfer;
    memcpy(&transfer, command->descriptor, sizeof transfer);
    return transfer;
}

static int uses_memory(const struct cnnvp_command *command)
{
    return command->opcode == CNNVP_OPCODE_request || command->opcode == CNNVP_OPCODE_receive ||
           command->opcode == CNNVP_OPCODE_store;
}

static uint32_t interleaved_of(const struct cnnvp_command *command)
{
    return uses_memory(command) ? cnnvp_maximum32(command->immediate, 1u) : 1u;
}

/* The shape of one side of a transfer. */
static struct dma_shape side(const struct cnnvp_command *command, int memory)
{
    const struct cnnvp_transfer r = described(command);
    const uint64_t planes = interleaved_of(command);
    return memory ? dma_shape_make(r.memory_addr, planes * r.row_bytes, r.rows, r.memory_row_stride, r.planes / planes,
                                   planes * r.memory_plane_stride)
                  : dma_shape_make(r.buffer_addr, r.row_bytes, r.rows, r.buffer_row_stride, r.planes,
                                   r.buffer_plane_stride);
}

/* Checks what a buffer needs: rows that do not overlap, addresses and strides of whole words. The buffer checks the
 * range itself. Returns what is wrong, or NULL. */
static const char *buffer_side_error(uint32_t word, uint64_t address, uint64_t row_bytes, uint64_t rows,
                                     uint64_t row_stride, uint64_t planes, uint64_t plane_stride)
{
    const uint64_t bytes = row_bytes * rows * planes;
    const uint64_t span = (planes - 1u) * plane_stride + (rows - 1u) * row_stride + row_bytes;
    if (address % word != 0 || (rows > 1u && row_stride % word != 0) || (planes > 1u && plane_stride % word != 0))
        return "addresses and strides in a buffer are even";
    if ((rows > 1u && row_stride < row_bytes) || (planes > 1u && plane_stride < row_bytes) || bytes > span)
        return "rows overlap in the buffer";
    if (address >= MAX_BYTES || span > MAX_BYTES)
        return "the transfer is larger than any buffer";
    return NULL;
}

/* Returns what is wrong with a command's descriptor, or NULL. `second`: the memory_ registers name a buffer. */
static const char *descriptor_error(struct dma *dma, const struct cnnvp_command *command, int second)
{
    struct cnnvp_transfer r;
    const char *error = cnnvp_descriptor_read(&transfer_form, command, UINT32_MAX, 0, &r, dma->refusal);
    if (error != NULL)
        return error;
    const uint64_t row_bytes = r.row_bytes;
    const uint64_t rows = r.rows;
    const uint64_t planes = r.planes;
    const uint32_t word_bytes = word_bytes_of(dma, command);
    if (row_bytes % word_bytes != 0)
        return "row_bytes is even";
    /* in this order no product below overflows */
    if (rows > MAX_BYTES / row_bytes || planes > MAX_BYTES / (row_bytes * rows))
        return "the transfer is larger than any buffer";
    if (r.feature_words > row_bytes * rows * planes / word_bytes)
        return "feature_words is more than the words of the transfer";
    error = buffer_side_error(
        word_bytes, r.buffer_addr, row_bytes, rows, r.buffer_row_stride, planes, r.buffer_plane_stride);
    if (error == NULL && second)
        error = buffer_side_error(
            word_bytes, r.memory_addr, row_bytes, rows, r.memory_row_stride, planes, r.memory_plane_stride);
    if (error == NULL && planes % interleaved_of(command) != 0)
        error = "planes that lie interleaved are moved together: imm32 divides planes";
    if (error == NULL && uses_memory(command)) {
        const struct dma_shape memory = side(command, 1);
        if (memory.address + dma_shape_span(&memory) > MEMORY_END)
            error = "the transfer leaves the 32-bit address space";
    }
    return error;
}

/* ---- commands ---- */

/* Fills a new transfer at the end of a channel from the command; NULL: no slot is free. */
static struct dma_transfer *new_transfer(struct dma *dma, uint32_t number, const struct cnnvp_command *command,
                                         uint32_t index)
{
    struct dma_channel *channel = &dma->channels[number];
    if (channel->count == dma->slots) {
        dma->ops->count(dma->host, STAT_refused, command->tag, 1);
        return NULL;
    }
    struct dma_transfer *transfer = dma_slot(dma, channel, channel->count);
    const struct dma_store staging = transfer->staging;
    *transfer = (struct dma_transfer){
        .memory = side(command, 1),
        .buffer = side(command, 0),
        .command = *command,
        .index = index,
        .half = command->halves >> index & 1u,
        .feature_words = described(command).feature_words,
        .word_bytes = word_bytes_of(dma, command),
        .interleaved = interleaved_of(command),
        .order = ++dma->order,
        .flow = command->sequence,
        .tag = command->tag,
        .receive_tag = command->tag,
        .waits = CNNVP_TIME_NEVER,
        .finish = CNNVP_TIME_NEVER,
        .data = CNNVP_TIME_NEVER,
        .staging = staging,
    };
    transfer->bytes = dma_shape_bytes(&transfer->buffer);
    return transfer;
}

void dma_cross(const struct dma_transfer *transfer, uint8_t *base, int to_buffer)
{
    const struct cnnvp_transfer r = described(&transfer->command);
    const size_t word = transfer->word_bytes, columns = r.row_bytes / word, planes = transfer->interleaved;
    uint8_t *const packed = transfer->staging.data;
    if (planes == 1u) {
        if (to_buffer)
            dma_scatter(&transfer->buffer, packed, base);
        else
            dma_gather(&transfer->buffer, base, packed);
        return;
    }
    for (size_t plane = 0; plane < r.planes; ++plane)
        for (size_t row = 0; row < r.rows; ++row)
            for (size_t column = 0; column < columns; ++column) {
                uint8_t *const in_buffer =
                    base + plane * r.buffer_plane_stride + row * r.buffer_row_stride + column * word;
                uint8_t *const in_memory =
                    packed + (((plane / planes * r.rows + row) * columns + column) * planes + plane % planes) * word;
                memcpy(to_buffer ? in_buffer : in_memory, to_buffer ? in_memory : in_buffer, word);
            }
}

static int reserve_staging(struct dma *dma, struct dma_transfer *transfer)
{
    return dma->timing_only ? CNNVP_OK : reserve_store(&transfer->staging, transfer->bytes);
}

static int do_request(struct dma *dma, const struct cnnvp_command *command, uint32_t index, cnnvp_time *delay)
{
    struct dma_transfer *transfer = new_transfer(dma, DMA_READ, command, index);
    struct cnnvp_access access;
    if (transfer == NULL)
        return CNNVP_E_STATE;
    transfer->from_memory = 1;
    int status = dma_buffer_access(
        dma, CNNVP_BORROW_WRITE, CNNVP_DEBUG, index, transfer->half, &transfer->buffer, transfer, &access);
    if (status != CNNVP_OK)
        return refuse(dma, command, status, "the tile does not fit the half of the buffer");
    status = reserve_staging(dma, transfer);
    if (status != CNNVP_OK)
        return status;
    ++dma->channels[DMA_READ].count;
    dma->ops->count(dma->host, STAT_requests, command->tag, 1);
    dma_keep(dma, DMA_READ, transfer, MOMENT_ASKED);
    const cnnvp_time now = dma->ops->now(dma->host);
    *delay += dma_after(dma, now, 1) - now;
    dma_advance(dma);
    return CNNVP_OK;
}

static int do_receive(struct dma *dma, const struct cnnvp_command *command, uint32_t index, cnnvp_time delay)
{
    struct dma_channel *channel = &dma->channels[DMA_READ];
    struct dma_transfer *transfer = NULL;
    for (uint32_t place = 0; place < channel->count && transfer == NULL; ++place)
        if (!dma_slot(dma, channel, place)->received)
            transfer = dma_slot(dma, channel, place);
    if (transfer == NULL)
        return refuse(dma, command, CNNVP_E_INVAL, "there is no request to receive");
    if (transfer->index != index || transfer->half != (command->halves >> index & 1u))
        return refuse(dma, command, CNNVP_E_INVAL, "buffer or half is not that of the oldest request");
    dma->ahead -= transfer->posted;
    transfer->received = 1;
    transfer->receive_order = ++dma->order;
    transfer->command.sequence = command->sequence;
    transfer->command.opcode = command->opcode;
    transfer->receive_tag = command->tag;
    transfer->port_from = dma->ops->now(dma->host) + delay;
    dma_keep(dma, DMA_READ, transfer, MOMENT_ISSUED);
    dma_advance(dma);
    return CNNVP_PENDING;
}

/* Drops the requests for which no receive will come: what they have asked the memory for still arrives, but goes
 * nowhere. */
static int do_forget(struct dma *dma)
{
    struct dma_channel *channel = &dma->channels[DMA_READ];
    for (uint32_t place = 0; place < channel->count; ++place) {
        struct dma_transfer *transfer = dma_slot(dma, channel, place);
        if (transfer->received)
            continue;
        dma->ahead -= transfer->posted;
        transfer->bytes = transfer->posted;
        if (transfer->posted == 0)
            transfer->started = dma->ops->now(dma->host);
        transfer->received = 1;
        transfer->receive_order = ++dma->order;
        transfer->command.sequence = 0;
        transfer->receive_tag = transfer->tag;
        transfer->port_from = dma->ops->now(dma->host);
        dma_keep(dma, DMA_READ, transfer, MOMENT_ISSUED);
    }
    dma_advance(dma);
    return CNNVP_OK;
}

static int do_store(struct dma *dma, const struct cnnvp_command *command, uint32_t index, cnnvp_time delay)
{
    struct dma_transfer *transfer = new_transfer(dma, DMA_WRITE, command, index);
    struct cnnvp_access access;
    if (transfer == NULL)
        return CNNVP_E_STATE;
    /* the range is checked before memory is reserved for it */
    int status = dma_buffer_access(
        dma, CNNVP_BORROW_READ, CNNVP_DEBUG, index, transfer->half, &transfer->buffer, transfer, &access);
    if (status == CNNVP_OK)
        status = reserve_staging(dma, transfer);
    if (status == CNNVP_OK)
        status =
            dma_buffer_access(dma, CNNVP_BORROW_READ, 0, index, transfer->half, &transfer->buffer, transfer, &access);
    if (status != CNNVP_OK)
        return refuse(dma, command, status, "the tile is outside its half of the buffer");
    if (!dma->timing_only && access.data != NULL)
        dma_cross(transfer, access.data, 0);
    transfer->received = 1;
    transfer->port_from = dma->ops->now(dma->host) + delay + access.delay;
    ++dma->channels[DMA_WRITE].count;
    dma_keep(dma, DMA_WRITE, transfer, MOMENT_ASKED);
    dma->ops->keep(dma->host, dma_slot_moment(dma, DMA_WRITE, transfer, MOMENT_ISSUED), CNNVP_PATH_ANSWER,
                   command->tag);
    dma_advance(dma);
    return CNNVP_PENDING;
}

/* Moves and fills share one copy engine. Adds the time of a copy to `delay`; `extra` is the time of the buffers' ports
 * beyond that of `bytes`. */
static void finish_copy(struct dma *dma, const struct dma_transfer *whose, uint64_t bytes, cnnvp_time extra,
                        cnnvp_time *delay)
{
    const struct cnnvp_command *command = &whose->command;
    const int is_move = command->opcode == CNNVP_OPCODE_move;
    const cnnvp_time now = dma->ops->now(dma->host);
    const cnnvp_time from = dma_after(dma, dma->copy_end > now ? dma->copy_end : now, 0);
    const uint64_t waits = cnnvp_delay_cycles(dma->clock_mhz, now, extra);
    const cnnvp_time end = dma_after(dma, from, dma_port_cycles(dma, whose, bytes) + waits);
    dma->copy_end = end;
    *delay += end - now;
    dma->ops->count(dma->host, is_move ? STAT_moves : STAT_fills, command->tag, 1);
    dma->ops->count(dma->host, is_move ? STAT_move_bytes : STAT_fill_bytes, command->tag, bytes);
    dma->ops->count(dma->host, STAT_copy_busy_cycles, command->tag,
                    cnnvp_edge_at_or_after(dma->clock_mhz, end) - cnnvp_edge_at_or_after(dma->clock_mhz, from));
    /* the span of a copy from before a reset may reach beyond `from` */
    const cnnvp_time drawn_from = cnnvp_maximum(from, dma->copy_track_end);
    dma->copy_track_end = cnnvp_maximum(end, drawn_from);
    dma->ops->span(dma->host, TRACK_copy, is_move ? "move" : "fill", command->tag, command->sequence, drawn_from,
                   dma->copy_track_end);
}

static struct dma_transfer copy_transfer(const struct dma *dma, const struct cnnvp_command *command)
{
    return (struct dma_transfer){
        .feature_words = described(command).feature_words,
        .word_bytes = word_bytes_of(dma, command),
        .interleaved = 1,
        .command = *command,
        .receive_tag = command->tag};
}

static int do_move(struct dma *dma, const struct cnnvp_command *command, uint32_t index, cnnvp_time *delay)
{
    const uint32_t from = CNNVP_STATUS_OF(command, move, source);
    const struct dma_shape source = side(command, 1);
    const struct dma_shape target = side(command, 0);
    const struct dma_transfer whose = copy_transfer(dma, command);
    const uint64_t bytes = dma_shape_bytes(&target);
    struct cnnvp_access read;
    struct cnnvp_access write;
    if (from >= DMA_BUFFERS)
        return refuse(dma, command, CNNVP_E_INVAL, "source is no buffer: 0 input, 1 weight, 2 output");
    /* both ranges are checked before anything happens */
    int status = dma_buffer_access(
        dma, CNNVP_BORROW_WRITE, CNNVP_DEBUG, index, command->halves >> index & 1u, &target, &whose, &write);
    if (status == CNNVP_OK && !dma->timing_only)
        status = reserve_store(&dma->scratch, bytes);
    if (status == CNNVP_OK)
        status =
            dma_buffer_access(dma, CNNVP_BORROW_READ, 0, from, command->halves >> from & 1u, &source, &whose, &read);
    if (status == CNNVP_OK)
        status = dma_buffer_access(
            dma, CNNVP_BORROW_WRITE, 0, index, command->halves >> index & 1u, &target, &whose, &write);
    if (status != CNNVP_OK)
        return refuse(dma, command, status, "source or destination does not fit its half");
    if (!dma->timing_only && read.data != NULL && write.data != NULL) {
        dma_gather(&source, read.data, dma->scratch.data);
        dma_scatter(&target, dma->scratch.data, write.data);
    }
    finish_copy(dma, &whose, bytes, read.delay > write.delay ? read.delay : write.delay, delay);
    return CNNVP_OK;
}

static int do_fill(struct dma *dma, const struct cnnvp_command *command, uint32_t index, cnnvp_time *delay)
{
    const struct dma_shape target = side(command, 0);
    const struct dma_transfer whose = copy_transfer(dma, command);
    struct cnnvp_access write;
    const int status =
        dma_buffer_access(dma, CNNVP_BORROW_WRITE, 0, index, command->halves >> index & 1u, &target, &whose, &write);
    if (status != CNNVP_OK)
        return refuse(dma, command, status, "the tile does not fit the half of the buffer");
    if (!dma->timing_only && write.data != NULL)
        dma_fill(&target, command->immediate, whose.word_bytes, write.data);
    finish_copy(dma, &whose, dma_shape_bytes(&target), write.delay, delay);
    return CNNVP_OK;
}

/* Marks live values of a buffer: no words cross a port. */
static int do_live(struct dma *dma, const struct cnnvp_command *command, uint32_t index, cnnvp_time *delay)
{
    const struct dma_shape range = side(command, 0);
    struct cnnvp_access mark = {
        .op = CNNVP_WRITE,
        .flags = CNNVP_UNTIMED,
        .tag = command->tag,
        .flow = command->sequence,
        .address = cnnvp_buffer_address(command->halves >> index & 1u, (uint32_t)range.address),
        .size = dma_shape_span(&range),
        .word_bytes = word_bytes_of(dma, command),
        .mode = cnnvp_buffer_dma_mode(described(command).feature_words) | CNNVP_BUFFER_MARK,
    };
    const int status = dma->ops->access(dma->host, PORT_input + index, &mark);
    if (status != CNNVP_OK)
        return refuse(dma, command, status, "the range does not fit the half of the buffer");
    const cnnvp_time now = dma->ops->now(dma->host);
    *delay += dma_after(dma, now, 1) - now;
    return CNNVP_OK;
}

/* Answers an estimate: the time of the transfer from its request on. A `request` itself takes a cycle. */
static int answer(struct dma *dma, const struct cnnvp_command *command, uint32_t index, cnnvp_time *delay)
{
    const struct dma_shape memory = side(command, 1);
    const struct dma_shape buffer = side(command, 0);
    const cnnvp_time now = dma->ops->now(dma->host);
    if (command->opcode == CNNVP_OPCODE_request) {
        *delay += dma_after(dma, now, 1) - now;
        return CNNVP_OK;
    }
    const struct dma_transfer whose = {.from_memory = command->opcode != CNNVP_OPCODE_store,
                                       .word_bytes = word_bytes_of(dma, command),
                                       .interleaved = interleaved_of(command)};
    const int status = dma_estimate(dma, index, command->halves >> index & 1u, &whose, &memory, &buffer, delay);
    return status == CNNVP_OK ? status : refuse(dma, command, status, "the transfer is refused");
}

/* ---- callbacks ---- */

static int dma_access(void *self, uint32_t port, struct cnnvp_access *access)
{
    struct dma *dma = self;
    const struct cnnvp_command *command = access->data;
    (void)port;
    if (access->op != CNNVP_COMMAND || command == NULL || access->size < sizeof *command)
        return CNNVP_E_ACCESS;
    if (access->flags & CNNVP_DEBUG)
        return CNNVP_OK;
    const uint32_t opcode = command->opcode;
    if (opcode == CNNVP_COMMAND_FORGET)
        return do_forget(dma);
    if (!uses_memory(command) && opcode != CNNVP_OPCODE_move && opcode != CNNVP_OPCODE_fill &&
        opcode != CNNVP_OPCODE_live)
        return refuse(dma, command, CNNVP_E_INVAL, "the DMA has no such instruction");
    /* all of these instructions have the field `buffer` at the same place */
    const uint32_t index = CNNVP_STATUS_OF(command, request, buffer);
    if (index >= DMA_BUFFERS)
        return refuse(dma, command, CNNVP_E_INVAL, "buffer is none: 0 input, 1 weight, 2 output");
    if (opcode == CNNVP_OPCODE_receive && !(access->flags & CNNVP_ESTIMATE))
        return do_receive(dma, command, index, access->delay);
    const char *error = descriptor_error(dma, command, opcode == CNNVP_OPCODE_move);
    if (error != NULL)
        return refuse(dma, command, CNNVP_E_INVAL, error);
    if ((access->flags & CNNVP_ESTIMATE) && uses_memory(command))
        return answer(dma, command, index, &access->delay);
    if (opcode == CNNVP_OPCODE_request)
        return do_request(dma, command, index, &access->delay);
    if (opcode == CNNVP_OPCODE_store)
        return do_store(dma, command, index, access->delay);
    if (opcode == CNNVP_OPCODE_move)
        return do_move(dma, command, index, &access->delay);
    return opcode == CNNVP_OPCODE_live ? do_live(dma, command, index, &access->delay)
                                       : do_fill(dma, command, index, &access->delay);
}

static int dma_init(void *self, const struct cnnvp_init *init)
{
    struct dma *dma = self;
    dma->host = init->host;
    dma->ops = init->ops;
    dma->burst_bytes = init->ops->param(init->host, PARAM_burst_bytes);
    dma->outstanding = init->ops->param(init->host, PARAM_outstanding);
    dma->slots = (uint32_t)init->ops->param(init->host, PARAM_requests);
    dma->port_bytes = init->ops->param(init->host, PARAM_port_bytes);
    dma->transpose_words = init->ops->param(init->host, PARAM_transpose_words);
    dma->arbiter = init->ops->param(init->host, PARAM_arbiter);
    dma->share[DMA_READ] = init->ops->param(init->host, PARAM_receive_share);
    dma->share[DMA_WRITE] = init->ops->param(init->host, PARAM_store_share);
    dma->word_bytes = (uint32_t)init->ops->param(init->host, PARAM_word_bytes);
    dma->timing_only = init->ops->timing_only(init->host);
    if ((dma->burst_bytes & (dma->burst_bytes - 1u)) != 0)
        return init->ops->config_error(init->host, PARAM_burst_bytes, "burst_bytes must be a power of two, %llu is not",
                                       (unsigned long long)dma->burst_bytes);
    if (dma->port_bytes % 2u != 0)
        return init->ops->config_error(
            init->host, PARAM_port_bytes, "port_bytes must be even, %llu is not", (unsigned long long)dma->port_bytes);
    return CNNVP_OK;
}

static void dma_fini(void *self)
{
    struct dma *dma = self;
    for (uint32_t c = 0; c < DMA_CHANNELS; ++c)
        for (uint32_t s = 0; s < DMA_SLOTS; ++s)
            free(dma->channels[c].slots[s].staging.data);
    free(dma->scratch.data);
}

/* Forgets transfers under way; the host drops their completions. The staging memory stays for the next ones. */
static void dma_reset(void *self)
{
    struct dma *dma = self;
    dma->clock_mhz = dma->ops->clock_mhz(dma->host);
    dma->ahead = 0;
    dma->copy_end = 0;
    memset(&dma->port, 0, sizeof dma->port);
    for (uint32_t c = 0; c < DMA_CHANNELS; ++c) {
        struct dma_channel *channel = &dma->channels[c];
        channel->first = 0;
        channel->count = 0;
        channel->bursts = 0;
        channel->newest = 0;
        channel->port_free = 0;
        for (uint32_t p = 0; p < DMA_PIECES; ++p)
            channel->pieces[p].bursts = 0;
        (void)dma->ops->cancel(dma->host, c);
    }
}

static void dma_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 64u, params[PARAM_outstanding] + 4u * params[PARAM_requests],
                   "bursts and requests");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 8u, 2u * params[PARAM_burst_bytes], "a burst of each channel");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 8u, params[PARAM_port_bytes], "words at the port");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, 8u, "addresses");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, params[PARAM_transpose_words], "addresses of words in planes");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 16u, params[PARAM_transpose_words], "words on their way to planes");
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

/* The smallest power of two not below `value`, within bounds that are powers of two. */
static uint64_t power_within(uint64_t value, uint64_t low, uint64_t high)
{
    uint64_t power = low;
    while (power < value && power < high)
        power *= 2u;
    return power;
}

/* Fits the bytes in flight to what the memory carries in the time of a read, and the port to what it carries in a
 * cycle. */
static void dma_fit(uint64_t *values, uint64_t clock_mhz, const struct cnnvp_memory_rate *memory)
{
    const uint64_t bytes_per_us = cnnvp_divide_up(memory->bytes_per_s, 1000000u);
    const uint64_t on_their_way = cnnvp_divide_up(bytes_per_us * memory->latency, 1000000u);
    if (values[PARAM_outstanding] == 0)
        values[PARAM_outstanding] = power_within(cnnvp_divide_up(on_their_way, values[PARAM_burst_bytes]),
                                                 MINIMUM_OUTSTANDING, params[PARAM_outstanding].max);
    if (values[PARAM_port_bytes] == 0)
        values[PARAM_port_bytes] =
            power_within(cnnvp_divide_up(bytes_per_us, clock_mhz), MINIMUM_PORT_BYTES, params[PARAM_port_bytes].max);
    if (values[PARAM_transpose_words] == 0)
        values[PARAM_transpose_words] = values[PARAM_port_bytes];
}

const struct cnnvp_unit cnnvp_unit_dma = {
    UNIT_TABLES,
    .kind = "dma",
    .version = "1.0",
    .summary = "transfers between off-chip memory and buffers, with request and data as two steps",
    .instance_size = sizeof(struct dma),
    .event_count = DMA_CHANNELS,
    .init = dma_init,
    .fini = dma_fini,
    .reset = dma_reset,
    .access = dma_access,
    .complete = dma_complete,
    .event = dma_event,
    .show = dma_show,
    .costs = dma_costs,
    .fit = dma_fit,
};
