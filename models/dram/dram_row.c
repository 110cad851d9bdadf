/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lone request that reads along an open row: after each RD the next follows at the spacing of reads of a bank group, and a burst
 * enters when its stream may send it, so nothing has to be chosen. That is how weights arrive, and most bursts are weights.
 */
#include "dram_row.h"

#include "dram_bandwidth.h"
#include "dram_reads.h"

struct row {
    struct dram_queue *queue;
    struct dram_channel *channel;
    struct dram_stream *stream;
    struct cnnvp_request *request;
    struct dram_list *list;
    uint64_t spacing; /* of RD to RD, clocks */
    uint64_t ready;   /* clock of the next RD */
    uint64_t clock;   /* the channel's */
    uint64_t left;    /* bursts that may enter */
    uint32_t most;    /* bursts on their way */
    uint64_t window_command, window_data; /* last clocks of the windows in which `reads` counts */
    struct dram_reads reads;
};

/* Bursts that may enter before the row or the request's segment ends, without the last one. */
static uint64_t bursts_left(const struct dram_queue *queue, const struct dram_stream *stream)
{
    const struct cnnvp_request *request = stream->first;
    const uint64_t end = request->address + stream->segment * (uint64_t)request->stride + request->size;
    const uint64_t of_segment = (end - stream->address + DRAM_BURST_BYTES - 1u) / DRAM_BURST_BYTES;
    const uint64_t of_row = queue->map.mask[DRAM_COLUMN] + UINT64_C(1) - stream->place.column;
    return dram_lesser(of_segment, of_row) - 1u;
}

static int is_row(const struct dram_queue *queue, const struct dram_stream *stream)
{
    const struct dram_channel *channel = queue->channel;
    const uint64_t bank = UINT64_C(1) << stream->place.bank;
    return queue->columns_follow && !queue->burst && channel->count[0] && !channel->active_count
           && channel->hits[0] == bank && channel->last_write == 0 && dram_read_is_open(channel, &stream->place)
           && (stream->first->scratch[DRAM_BURSTS] & 0xffffu) == channel->count[0]
           && !(channel->count[1] && dram_next_mode(channel));
}

static inline uint64_t enters(const struct row *row)
{
    const struct dram_stream *stream = row->stream;
    uint64_t first = stream->arrival_clock;
    if (row->channel->count[0] == row->channel->capacity)
        return DRAM_NEVER;
    if (stream->on_their_way >= row->most) {
        const uint32_t index = stream->on_their_way - row->most;
        if (index >= stream->end_count)
            return DRAM_NEVER;
        first = dram_later(first, stream->ends[(stream->end_first + index) % DRAM_OUTSTANDING]);
    }
    return dram_later(first + 1u, row->queue->clock);
}

static inline void enter(struct row *row, uint64_t clock)
{
    struct dram_channel *channel = row->channel;
    struct dram_stream *stream = row->stream;
    const uint8_t index = channel->free[--channel->free_count];
    row->request->scratch[DRAM_LATENCY] -= cnnvp_dram_queue_sendable(row->queue, stream);
    cnnvp_dram_queue_take_ends(stream, clock);
    channel->entry[index] = (struct dram_entry){
        .entered = clock, .order = ++channel->order, .owner = row->request, .row = stream->place.row,
        .column = stream->place.column++, .tag = row->request->tag, .source = (uint16_t)row->reads.source,
        .bank = (uint8_t)stream->place.bank, .next = DRAM_NONE};
    channel->entry[row->list->last].next = index;
    row->list->last = index;
    ++row->list->count;
    ++channel->count[0];
    row->queue->clock = clock;
    ++stream->on_their_way;
    stream->address += DRAM_BURST_BYTES;
    --row->left;
    if (clock > row->clock) {
        row->clock = clock;
        channel->write_mode = 0;
    }
}

static void report(struct row *row)
{
    if (row->reads.bursts && row->queue->reads_issued)
        row->queue->reads_issued(row->queue->context, &row->reads);
    row->reads.bursts = row->reads.hits = row->reads.queue_clocks = 0;
}

/* The first RD of a window. */
static void begin_window(struct row *row, uint64_t done)
{
    const uint64_t tck = row->queue->timing.tck_ps;
    report(row);
    row->reads.clock = row->ready;
    row->reads.done = done;
    row->window_command = cnnvp_dram_window_end(row->ready * tck) / tck;
    row->window_data = cnnvp_dram_window_end(done * tck) / tck;
}

static inline void note_done(struct row *row, uint64_t done)
{
    struct dram_stream *stream = row->stream;
    const cnnvp_time time = done * row->queue->timing.tck_ps;
    stream->ends[(stream->end_first + stream->end_count++) % DRAM_OUTSTANDING] = done;
    row->request->scratch[DRAM_TIME] = time;
    if (!row->request->first_data)
        row->request->first_data = time;
    row->request->scratch[DRAM_LATENCY] += time;
}

static inline void issue(struct row *row)
{
    struct dram_channel *channel = row->channel;
    const uint32_t *t = channel->timing->t;
    const uint64_t clock = row->ready;
    const uint64_t done = dram_later(clock + t[DRAM_T_cl] + t[DRAM_T_bl], channel->returned + 1u);
    const uint8_t index = row->list->first;
    const struct dram_entry *entry = &channel->entry[index];
    if (clock > row->window_command || done > row->window_data)
        begin_window(row, done);
    row->reads.hits += !entry->classified;
    row->reads.queue_clocks += clock - entry->entered;
    channel->counts.hits += !entry->classified;
    channel->counts.queue_clocks[0] += clock - entry->entered;
    ++row->reads.bursts;
    channel->free[channel->free_count++] = index;
    row->list->first = entry->next;
    --row->list->count;
    --channel->count[0];
    dram_account(channel, clock + t[DRAM_T_cl], 0, 0);
    channel->returned = done;
    channel->write_mode = 0;
    note_done(row, done);
    row->clock = clock + 1u;
    row->queue->clock = dram_later(row->queue->clock, clock + 1u);
    row->ready = clock + row->spacing;
}

/* Brings what each burst would have brought step by step up to date. */
static void finish(struct row *row, uint64_t last_read, uint64_t entered, uint64_t issued)
{
    struct dram_channel *channel = row->channel;
    struct dram_list *list = row->list;
    const uint64_t bank = UINT64_C(1) << row->stream->place.bank;
    report(row);
    channel->clock = row->clock;
    channel->plan.valid = 0;
    list->hit = list->first;
    if (list->count) {
        list->first_order = list->hit_order = channel->entry[list->first].order;
    } else {
        list->first_order = list->hit_order = 0;
        list->last = DRAM_NONE;
        channel->waiting[0] &= ~bank;
        channel->hits[0] &= ~bank;
        if (!channel->count[1])
            channel->empty_from = last_read;
    }
    if (issued)
        dram_space_read(channel, row->stream->place.bank, last_read);
    channel->counts.commands[DRAM_RD] += issued;
    row->queue->reads += (uint32_t)entered - (uint32_t)issued;
    row->request->scratch[DRAM_BURSTS] += (entered << 24) + entered - issued;
    if (entered) {
        row->queue->served += entered;
        row->stream->served = row->queue->served;
    }
}

int cnnvp_dram_queue_run_row(struct dram_queue *queue, struct dram_stream *stream, uint64_t last)
{
    struct dram_channel *channel = queue->channel;
    if (!is_row(queue, stream))
        return 0;
    const uint32_t *t = queue->timing.t;
    const uint32_t wanted = stream->first->outstanding;
    struct row row = {
        .queue = queue, .channel = channel, .stream = stream, .request = stream->first,
        .list = &channel->list[0][stream->place.bank],
        .spacing = dram_later(t[DRAM_T_ccd_s], t[DRAM_T_ccd_l]),
        .ready = dram_later(channel->clock, dram_column_ready(channel, stream->place.bank, 0)),
        .clock = channel->clock, .left = bursts_left(queue, stream),
        .most = wanted < DRAM_OUTSTANDING ? wanted : DRAM_OUTSTANDING,
        .reads = {.tag = stream->first->tag, .source = (uint32_t)(stream - queue->streams)}};
    uint64_t issued = 0, last_read = 0, taken = 0;
    const uint64_t before = row.left;
    while (row.left && row.list->count) {
        const uint64_t next = enters(&row);
        if (dram_lesser(next, row.ready) > last)
            break;
        if (next <= row.ready) {
            enter(&row, next);
            taken = next;
        } else {
            last_read = row.ready;
            issue(&row);
            ++issued;
        }
    }
    if (before == row.left && !issued)
        return 0;
    if (before != row.left)
        stream->taken = taken * queue->timing.tck_ps;
    finish(&row, last_read, before - row.left, issued);
    return 1;
}
