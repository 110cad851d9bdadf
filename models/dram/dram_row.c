/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lone request that reads along an open row: after each RD the next follows at the spacing of reads of a bank
 * group, and a burst enters when its stream may send it, so nothing has to be chosen. That is how weights arrive, and
 * most bursts are weights. Once the data of the bursts on their way end at that spacing too, each period of it is as
 * the one before, and all that fit before the row, the request, the time or a window of the statistics ends are made
 * in one step.
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

/* 1 if bursts enter and issue by turns, each pair `spacing` after the one before. `entering`: clock of the next. */
static int is_periodic(const struct row *row, uint64_t entering)
{
    const struct dram_channel *channel = row->channel;
    const struct dram_stream *stream = row->stream;
    const uint32_t *t = channel->timing->t;
    const uint64_t latency = t[DRAM_T_cl] + t[DRAM_T_bl];
    const uint64_t first = stream->end_count ? stream->ends[stream->end_first] : 0;
    if (row->left < 4 || !first || stream->on_their_way != row->most || entering != first + 1u
        || entering > row->ready + row->spacing || first * row->queue->timing.tck_ps < stream->arrival)
        return 0;
    if (channel->returned + row->spacing != row->ready + latency || channel->bus_end != channel->returned
        || channel->idle || channel->refresh_to > channel->bus_end || !row->request->first_data || row->list->count < 2)
        return 0;
    for (uint32_t i = 1; i < stream->end_count; ++i)
        if (stream->ends[(stream->end_first + i) % DRAM_OUTSTANDING] != first + i * row->spacing)
            return 0;
    return first + (stream->end_count - 1u) * row->spacing == channel->returned;
}

/* Periods that fit; the window of the next RD has begun. */
static uint64_t periods(const struct row *row, uint64_t entering, uint64_t last)
{
    const uint64_t done = row->channel->returned + row->spacing;
    uint64_t room = dram_lesser(last - dram_later(entering, row->ready), row->window_command - row->ready);
    room = dram_lesser(room, row->window_data - done);
    return dram_lesser(room / row->spacing + 1u, row->left);
}

/* The places in the queue of those that issue go to those that enter. Returns the sum of the clocks at which what issues
 * has entered. */
static uint64_t turn_over(struct row *row, uint64_t entering, uint64_t count)
{
    struct dram_channel *channel = row->channel;
    struct dram_list *list = row->list;
    const uint64_t places = dram_lesser(count, list->count), through = count - places;
    uint64_t sum = through * entering + row->spacing * (through * (through - 1u) / 2u);
    for (uint64_t i = 0; i < places; ++i) {
        const uint8_t index = list->first;
        struct dram_entry *entry = &channel->entry[index];
        sum += entry->entered;
        row->reads.hits -= entry->classified;
        channel->counts.hits -= entry->classified;
        entry->classified = 0;
        entry->entered = entering + (through + i) * row->spacing;
        entry->order = channel->order + through + i + 1u;
        entry->column = row->stream->place.column + (uint32_t)(through + i);
        channel->entry[list->last].next = index;
        list->last = index;
        list->first = entry->next;
        entry->next = DRAM_NONE;
    }
    return sum;
}

/* `count` bursts enter and as many issue, by turns. */
static void repeat(struct row *row, uint64_t entering, uint64_t count)
{
    struct dram_channel *channel = row->channel;
    struct dram_stream *stream = row->stream;
    const uint64_t span = count * row->spacing, bl = channel->timing->t[DRAM_T_bl];
    const uint64_t issues = count * row->ready + row->spacing * (count * (count - 1u) / 2u);
    const uint64_t clocks = issues - turn_over(row, entering, count);
    row->request->scratch[DRAM_LATENCY] +=
        count * (channel->returned + row->spacing - stream->ends[stream->end_first]) * row->queue->timing.tck_ps;
    for (uint32_t i = 0; i < stream->end_count; ++i)
        stream->ends[(stream->end_first + i) % DRAM_OUTSTANDING] += span;
    row->reads.bursts += count;
    row->reads.hits += count;
    row->reads.queue_clocks += clocks;
    channel->counts.hits += count;
    channel->counts.queue_clocks[0] += clocks;
    channel->counts.data_clocks += count * bl;
    channel->counts.row_clocks += count * (row->spacing - bl);
    channel->bus_end += span;
    channel->returned += span;
    channel->order += count;
    channel->write_mode = 0;
    row->request->scratch[DRAM_TIME] = channel->returned * row->queue->timing.tck_ps;
    stream->address += count * DRAM_BURST_BYTES;
    stream->place.column += (uint32_t)count;
    row->left -= count;
    row->ready += span;
    row->clock = row->queue->clock = dram_later(entering + span - row->spacing, row->ready - row->spacing + 1u);
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
        if (dram_later(next, row.ready) <= last && row.ready <= row.window_command && is_periodic(&row, next)
            && channel->returned + row.spacing <= row.window_data) {
            const uint64_t count = periods(&row, next, last);
            repeat(&row, next, count);
            issued += count;
            taken = next + (count - 1u) * row.spacing;
            last_read = row.ready - row.spacing;
        } else if (next <= row.ready) {
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
