/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two channels: when memory requests are sent, and when transfers complete. The transfers of a channel go to
 * memory, and complete, in program order.
 *
 * Bursts in flight. The memory keeps at most `outstanding` bursts of a channel in flight, whichever pieces (memory
 * requests) they belong to. Pieces are sent until `outstanding` bursts are in flight and one more piece waits, so that
 * the memory knows that piece before a burst ends.
 */
#include "dma_internal.h"

#include "cnnvp_integer.h"

/* ---- hazards ---- */

/* 1 if `transfer`, whose next bytes are at `order` in the program, must wait for an earlier transfer. */
static int must_wait(struct dma *dma, uint32_t number, const struct dma_transfer *transfer, uint64_t order)
{
    for (uint32_t c = 0; c < DMA_CHANNELS; ++c) {
        struct dma_channel *channel = &dma->channels[c];
        if (number == DMA_READ && c == DMA_READ)
            continue; /* reads do not disturb reads */
        for (uint32_t place = 0; place < channel->count; ++place) {
            const struct dma_transfer *other = dma_slot(dma, channel, place);
            const int earlier =
                c == DMA_WRITE ? other->order < order
                               : other->flying != 0 || (other->received && other->receive_order < order);
            if (other != transfer && earlier && dma_shape_overlap(&transfer->memory, &other->memory))
                return 1;
        }
    }
    return 0;
}

/* Ends a wait. One of no duration is not counted, as it depends on the order of events within an instant. */
static void end_wait(struct dma *dma, struct dma_transfer *transfer)
{
    const cnnvp_time since = transfer->waits;
    transfer->waits = CNNVP_TIME_NEVER;
    if (transfer->waited || since >= dma->ops->now(dma->host))
        return;
    transfer->waited = 1;
    dma->ops->count(dma->host, STAT_hazard_waits, transfer->tag, 1);
}

/* ---- asking the memory ---- */

static struct dma_piece *free_piece(struct dma_channel *channel)
{
    for (uint32_t p = 0; p < DMA_PIECES; ++p)
        if (channel->pieces[p].bursts == 0)
            return &channel->pieces[p];
    return NULL;
}

static void count_peak(struct dma *dma, uint32_t tag)
{
    uint64_t now = 0;
    for (uint32_t c = 0; c < DMA_CHANNELS; ++c)
        now += dma->channels[c].bursts < dma->outstanding ? dma->channels[c].bursts : dma->outstanding;
    if (now > dma->peak) {
        dma->ops->count(dma->host, STAT_outstanding_peak, tag, now - dma->peak);
        dma->peak = now;
    }
}

/* Sends the next piece of a transfer. 1: sent, or the transfer has failed; 0: there is no room in flight. */
static int send_piece(struct dma *dma, uint32_t number, struct dma_transfer *transfer, uint64_t limit)
{
    struct dma_channel *channel = &dma->channels[number];
    struct dma_piece_shape shape;
    const uint64_t bytes = dma_shape_piece(&transfer->memory, transfer->posted, limit, &shape);
    struct dma_piece *piece = free_piece(channel);
    if (piece == NULL || channel->bursts >= dma->outstanding + channel->newest)
        return 0;
    const int by_receive = number == DMA_READ && transfer->received;
    piece->slot = (uint32_t)(transfer - channel->slots);
    piece->request = (struct cnnvp_request){
        .op = number == DMA_READ ? CNNVP_READ : CNNVP_WRITE,
        .tag = by_receive ? transfer->receive_tag : transfer->tag,
        .flow = by_receive ? transfer->command.sequence : transfer->flow,
        .address = shape.address,
        .data = dma->timing_only ? NULL : transfer->staging.data + transfer->posted,
        .size = shape.size,
        .count = shape.count,
        .stride = (int64_t)shape.stride,
        .burst_bytes = (uint32_t)dma->burst_bytes,
        .outstanding = (uint32_t)dma->outstanding,
        .cookie = number,
    };
    if (transfer->posted == 0) {
        transfer->started = dma->ops->now(dma->host);
        dma->ops->join(dma->host, CNNVP_PATH_NOW, dma_slot_moment(dma, number, transfer, MOMENT_ASKED));
    }
    if (number == DMA_READ && !transfer->received)
        dma->ahead += bytes;
    transfer->posted += bytes;
    const int status = dma->ops->request(dma->host, PORT_mem, &piece->request);
    if (status != CNNVP_OK) {
        transfer->status = status;
        return 1;
    }
    piece->bursts = dma_piece_bursts(&shape, dma->burst_bytes);
    channel->bursts += piece->bursts;
    channel->newest = piece->bursts;
    ++transfer->flying;
    dma->ops->count(dma->host, STAT_memory_requests, piece->request.tag, 1);
    count_peak(dma, piece->request.tag);
    return 1;
}

/* How many of a transfer's next bytes may be requested now. */
static uint64_t allowance(const struct dma *dma, const struct dma_transfer *transfer)
{
    const uint64_t left = transfer->status == CNNVP_OK ? transfer->bytes - transfer->posted : 0;
    if (transfer->received)
        return left;
    const uint64_t room = dma->outstanding * dma->burst_bytes - dma->ahead;
    return left < room ? left : room;
}

static void send_pieces(struct dma *dma, uint32_t number)
{
    struct dma_channel *channel = &dma->channels[number];
    for (uint32_t place = 0; place < channel->count; ++place) {
        struct dma_transfer *transfer = dma_slot(dma, channel, place);
        const int by_receive = number == DMA_READ && transfer->received;
        uint64_t limit;
        while ((limit = allowance(dma, transfer)) != 0) {
            if (must_wait(dma, number, transfer, by_receive ? transfer->receive_order : transfer->order)) {
                transfer->waits = cnnvp_minimum(transfer->waits, dma->ops->now(dma->host));
                return;
            }
            end_wait(dma, transfer);
            if (!send_piece(dma, number, transfer, limit))
                return;
        }
        if (transfer->status == CNNVP_OK && transfer->posted != transfer->bytes)
            return; /* the rest waits for the receive, and later transfers wait for the rest */
    }
}

/* ---- completion ---- */

/* The oldest transfer of a channel if its receive or store has been issued, else NULL. */
static struct dma_transfer *oldest_issued(struct dma *dma, uint32_t number)
{
    struct dma_channel *channel = &dma->channels[number];
    struct dma_transfer *transfer = channel->count != 0 ? dma_slot(dma, channel, 0) : NULL;
    return transfer != NULL && transfer->received ? transfer : NULL;
}

static void enter_port(struct dma *dma, uint32_t number)
{
    struct dma_transfer *transfer = oldest_issued(dma, number);
    if (transfer == NULL || transfer->at_port)
        return;
    transfer->at_port = 1;
    const uint32_t port = dma_channel_moment(number, MOMENT_PORT);
    dma->ops->keep(dma->host, port, dma_slot_moment(dma, number, transfer, MOMENT_ISSUED), transfer->receive_tag);
    dma->ops->join(dma->host, port, dma_channel_moment(number, MOMENT_DONE));
    dma_port_enter(dma, number, cnnvp_maximum(transfer->port_from, dma->channels[number].port_free), transfer);
}

/* Sets the time at which the oldest transfer will complete, as soon as it is known. */
static void set_finish(struct dma *dma, uint32_t number)
{
    struct dma_transfer *transfer = oldest_issued(dma, number);
    if (transfer == NULL || transfer->in_buffer || transfer->flying != 0 ||
        (transfer->status == CNNVP_OK && transfer->posted != transfer->bytes))
        return;
    if (transfer->data == CNNVP_TIME_NEVER)
        transfer->data = dma_after(dma, dma->ops->now(dma->host), 0);
    const cnnvp_time through = cnnvp_edge_time(dma->clock_mhz, dma_port_end(dma, number));
    const cnnvp_time finish = cnnvp_maximum(through, transfer->data);
    if (finish == transfer->finish)
        return;
    transfer->finish = finish;
    (void)dma->ops->notify(dma->host, number, finish);
}

void dma_advance(struct dma *dma)
{
    for (uint32_t c = 0; c < DMA_CHANNELS; ++c) {
        send_pieces(dma, c);
        enter_port(dma, c);
    }
    for (uint32_t c = 0; c < DMA_CHANNELS; ++c)
        set_finish(dma, c);
}

void dma_complete(void *self, uint32_t port, struct cnnvp_request *request)
{
    struct dma *dma = self;
    struct dma_channel *channel = &dma->channels[request->cookie];
    (void)port;
    for (uint32_t p = 0; p < DMA_PIECES; ++p) {
        struct dma_piece *piece = &channel->pieces[p];
        if (&piece->request != request || piece->bursts == 0)
            continue;
        struct dma_transfer *transfer = &channel->slots[piece->slot];
        channel->bursts -= piece->bursts;
        piece->bursts = 0;
        --transfer->flying;
        if (request->status != CNNVP_OK && transfer->status == CNNVP_OK)
            transfer->status = request->status;
        if (transfer->flying == 0) {
            transfer->data = dma_after(dma, dma->ops->now(dma->host), 0);
            dma_keep(dma, (uint32_t)request->cookie, transfer, MOMENT_DATA);
        }
        if (request->status == CNNVP_OK)
            dma->ops->count(dma->host, request->op == CNNVP_READ ? STAT_read_bytes : STAT_write_bytes, request->tag,
                            request->size * request->count);
    }
    dma_advance(dma);
}

/* Puts received data into the buffer. Returns the time that the buffer took beyond the DMA's port. */
static cnnvp_time write_buffer(struct dma *dma, struct dma_transfer *transfer)
{
    struct cnnvp_access access;
    const int status = dma_buffer_access(
        dma, CNNVP_BORROW_WRITE, 0, transfer->index, transfer->half, &transfer->buffer, transfer, &access);
    transfer->in_buffer = 1;
    if (status != CNNVP_OK) {
        transfer->status = status;
        return 0;
    }
    if (access.data != NULL && !dma->timing_only)
        dma_cross(transfer, access.data, 1);
    return access.delay;
}

static void record(struct dma *dma, uint32_t number, const struct dma_transfer *transfer)
{
    static const char *const names[DMA_CHANNELS] = {"receive", "store"};
    static const uint32_t commands[DMA_CHANNELS] = {STAT_receives, STAT_stores};
    static const uint32_t busy[DMA_CHANNELS] = {STAT_read_busy_cycles, STAT_write_busy_cycles};
    struct dma_channel *channel = &dma->channels[number];
    const uint32_t tag = transfer->receive_tag;
    const cnnvp_time end = transfer->finish;
    cnnvp_time begin = transfer->started > channel->track_end ? transfer->started : channel->track_end;
    if (begin > end)
        begin = end;
    channel->track_end = end;
    if (transfer->status == CNNVP_OK) {
        dma->ops->count(dma->host, commands[number], tag, transfer->command.sequence != 0);
    } else {
        dma->ops->count(dma->host, STAT_failed, tag, 1);
        dma->ops->log(dma->host, CNNVP_LOG_WARNING, "instruction %llu: %s of %llu bytes at 0x%llx failed: %s",
                      (unsigned long long)transfer->command.sequence, names[number],
                      (unsigned long long)transfer->bytes, (unsigned long long)transfer->memory.address,
                      cnnvp_status_text(transfer->status));
    }
    dma->ops->count(dma->host, busy[number], tag,
                    cnnvp_edge_at_or_after(dma->clock_mhz, end) - cnnvp_edge_at_or_after(dma->clock_mhz, begin));
    dma->ops->about(dma->host, &transfer->command);
    dma->ops->span(dma->host, number, names[number], tag, transfer->command.sequence, begin, end);
}

static void announce(struct dma *dma, uint64_t sequence, uint32_t tag, int status)
{
    struct cnnvp_completion completion = {sequence, status, 0};
    struct cnnvp_access access = {
        .op = CNNVP_COMMAND, .tag = tag, .flow = sequence, .data = &completion, .size = sizeof completion};
    const int answer = dma->ops->access(dma->host, PORT_done, &access);
    if (answer != CNNVP_OK)
        dma->ops->log(dma->host, CNNVP_LOG_WARNING, "instruction %llu: its completion was refused: %s",
                      (unsigned long long)sequence, cnnvp_status_text(answer));
}

/* Continues the critical path from the port or from memory, whichever ended the transfer. */
static void follow_finish(struct dma *dma, uint32_t number, const struct dma_transfer *transfer)
{
    const uint32_t port = dma_channel_moment(number, MOMENT_PORT), tag = transfer->receive_tag;
    const uint32_t data = dma_slot_moment(dma, number, transfer, MOMENT_DATA);
    if (!transfer->in_buffer) {
        dma->ops->extend(dma->host, port, tag, cnnvp_edge_time(dma->clock_mhz, dma_port_end(dma, number)));
        dma->ops->extend(dma->host, data, tag, transfer->data);
        dma->ops->join(dma->host, port, data);
    }
    dma->ops->follow(dma->host, port, tag);
}

void dma_event(void *self, uint32_t number)
{
    struct dma *dma = self;
    struct dma_channel *channel = &dma->channels[number];
    if (channel->count == 0)
        return;
    struct dma_transfer *transfer = dma_slot(dma, channel, 0);
    follow_finish(dma, number, transfer);
    if (number == DMA_READ && transfer->command.sequence != 0 && transfer->status == CNNVP_OK && !transfer->in_buffer) {
        const cnnvp_time extra = write_buffer(dma, transfer);
        if (extra != 0) {
            dma->ops->keep(dma->host, dma_channel_moment(number, MOMENT_PORT), CNNVP_PATH_ANSWER,
                           transfer->receive_tag);
            transfer->finish += extra;
            (void)dma->ops->notify(dma->host, number, transfer->finish);
            return;
        }
    }
    record(dma, number, transfer);
    const struct dma_crossing *crossing = &dma->port.crossing[number];
    dma->ops->count(dma->host, STAT_port_wait_cycles, transfer->receive_tag,
                    dma_port_end(dma, number) - crossing->since - crossing->cycles);
    channel->port_free = transfer->finish;
    dma->ops->keep(dma->host, dma_channel_moment(number, MOMENT_DONE), CNNVP_PATH_NOW, transfer->receive_tag);
    channel->first = (channel->first + 1u) % dma->slots;
    --channel->count;
    /* From here on the slot may be reused: the instruction element can issue a command from within its port `done`. */
    if (transfer->command.sequence != 0) /* 0: forgotten */
        announce(dma, transfer->command.sequence, transfer->receive_tag, transfer->status);
    dma_advance(dma);
}

void dma_show(void *self, const struct cnnvp_show *show)
{
    const struct dma *dma = self;
    static const char *const buffers[DMA_BUFFERS] = {"input", "weight", "output"};
    for (uint32_t number = 0; number < DMA_CHANNELS; ++number) {
        const struct dma_channel *channel = &dma->channels[number];
        for (uint32_t place = 0; place < channel->count; ++place) {
            const struct dma_transfer *transfer = &channel->slots[(channel->first + place) % dma->slots];
            show->line(show->context, "%s 0x%08llx %s %s buffer, half %u, 0x%06llx: %llu bytes, %llu asked for%s",
                       number == DMA_READ ? "read " : "write", (unsigned long long)transfer->memory.address,
                       number == DMA_READ ? "to" : "from", buffers[transfer->index], transfer->half,
                       (unsigned long long)transfer->buffer.address, (unsigned long long)transfer->bytes,
                       (unsigned long long)transfer->posted, transfer->received ? "" : ", no receive yet");
        }
    }
}
