/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains of reads: the bursts that wait, all of open rows, of one bank group or of two by turns, are read at one
 * spacing, whatever enters behind them meanwhile. So a loop over those that leave and one over those that enter do what
 * else would be chosen command by command. That is how a stream goes from one row to the next, and how its last bursts
 * leave.
 */
#include "dram_run.h"

/* `count` RDs at `ready` and each `spacing` later, of the oldest burst of banks[0], banks[1], banks[0] and so on. */
struct train {
    uint64_t ready, spacing, count;
    uint64_t banks[2];
    uint64_t until; /* clock from which on something else could be next */
};

static void bound(struct train *train, uint64_t clock)
{
    train->until = dram_lesser(train->until, clock);
}

/* Banks with bursts whose row can be read when the train begins. */
static uint64_t ready_banks(const struct dram_channel *channel, struct train *train)
{
    uint64_t banks = 0;
    for (uint64_t left = channel->hits[0]; left; left &= left - 1u) {
        const uint64_t column = channel->bank[dram_lowest_bit(left)].column;
        if (column > train->ready)
            bound(train, column);
        else
            banks |= left & (0u - left);
    }
    return banks;
}

/* Those of `banks` that are of a bank group, and their bursts. */
static uint64_t of_group(const struct dram_channel *channel, uint64_t banks, uint32_t group, uint64_t *bursts)
{
    uint64_t found = 0;
    *bursts = 0;
    for (uint64_t left = banks; left; left &= left - 1u) {
        const uint32_t bank = dram_lowest_bit(left);
        if (dram_group_of(channel, bank) != group)
            continue;
        found |= left & (0u - left);
        *bursts += channel->list[0][bank].count;
    }
    return found;
}

/* Which banks are read, of their bursts that wait. 0 if there are more groups, or the second is not ready in its turn.
 * Of two groups, each is ready again when the other has had its turn. */
static int find_banks(const struct dram_run *run, const struct dram_next_read *next, struct train *train)
{
    const struct dram_channel *channel = run->channel;
    const uint32_t *t = channel->timing->t;
    uint64_t bursts, others;
    for (uint64_t left = channel->active; left; left &= left - 1u)
        bound(train, channel->bank[dram_lowest_bit(left)].column);
    const uint64_t banks = ready_banks(channel, train);
    train->banks[0] = train->banks[1] = of_group(channel, banks, dram_group_of(channel, next->bank), &bursts);
    train->count = bursts;
    train->spacing = run->spacing;
    const uint64_t rest = banks & ~train->banks[0];
    if (!rest)
        return 1;
    const uint32_t second = dram_lowest_bit(rest), other = dram_group_of(channel, second);
    train->banks[1] = of_group(channel, rest, other, &others);
    train->count = dram_lesser(2u * bursts, 2u * others + 1u);
    train->spacing = t[DRAM_T_ccd_s];
    return train->banks[1] == rest && dram_rank_of(channel, second) == dram_rank_of(channel, next->bank)
           && t[DRAM_T_ccd_s] < t[DRAM_T_ccd_l] && t[DRAM_T_ccd_l] <= 2u * t[DRAM_T_ccd_s]
           && channel->group[other].column[0] <= train->ready + train->spacing;
}

/* Clock at which the stream's burst after `ahead` others enters: one for each end of a burst. */
static uint64_t enters_after(const struct dram_run *run, const struct train *train, uint64_t ahead)
{
    const struct dram_stream *stream = run->stream;
    const uint64_t end = stream->on_their_way - stream->most + ahead;
    if (end < stream->end_count)
        return stream->ends[(stream->end_first + end) % DRAM_OUTSTANDING] + 1u;
    return train->ready + (end - stream->end_count) * train->spacing + run->latency + 1u;
}

/* Bursts of the stream that can enter and change nothing, as others of their bank wait; the next one bounds the
 * train. */
static uint64_t find_entering(const struct dram_run *run, struct train *train)
{
    const struct dram_channel *channel = run->channel;
    const struct dram_stream *stream = run->stream;
    uint64_t most = 0;
    if (channel->hits[0] >> stream->place.bank & 1u && dram_read_is_open(channel, &stream->place))
        most = dram_lesser(dram_row_left(run->queue, stream), channel->capacity - channel->count[0]);
    bound(train, enters_after(run, train, most));
    return most;
}

static uint32_t oldest_bank(const struct dram_channel *channel, uint64_t banks)
{
    uint32_t oldest = dram_lowest_bit(banks);
    for (uint64_t left = banks & (banks - 1u); left; left &= left - 1u) {
        const uint32_t bank = dram_lowest_bit(left);
        const struct dram_list *list = &channel->list[0][bank];
        if (list->count && (!channel->list[0][oldest].count || list->hit_order < channel->list[0][oldest].hit_order))
            oldest = bank;
    }
    return oldest;
}

/* The bursts of a request leave. Returns how many. */
static uint64_t leave(struct dram_run *run, const struct train *train, const struct cnnvp_request *request)
{
    struct dram_channel *channel = run->channel;
    struct dram_stream *stream = &run->queue->streams[run->reads.source];
    const uint32_t rtp = channel->timing->t[DRAM_T_rtp];
    uint64_t clock = train->ready, hits = 0, clocks = 0, i = 0;
    for (; i < train->count; ++i) {
        const uint32_t bank = oldest_bank(channel, train->banks[i & 1u]);
        const struct dram_entry *entry = &channel->entry[channel->list[0][bank].first];
        if (entry->owner != request)
            break;
        hits += !entry->classified;
        clocks += clock - entry->entered;
        channel->free[channel->free_count++] = dram_take_read(channel, bank);
        dram_raise(&channel->bank[bank].pre, clock + rtp);
        stream->ends[(stream->end_first + stream->end_count++) % DRAM_OUTSTANDING] = clock + run->latency;
        clock += train->spacing;
    }
    run->reads.bursts += i;
    run->reads.hits += hits;
    run->reads.queue_clocks += clocks;
    return i;
}

/* What `count` RDs mean for the channel, but for its queue. */
static void account(struct dram_run *run, const struct train *train, uint64_t count)
{
    struct dram_channel *channel = run->channel;
    const uint32_t *t = channel->timing->t;
    const uint64_t more = count - 1u, last = train->ready + more * train->spacing;
    dram_account(channel, train->ready + t[DRAM_T_cl], 0, 0);
    channel->bus_end += more * train->spacing;
    channel->counts.data_clocks += more * t[DRAM_T_bl];
    channel->counts.row_clocks += more * (train->spacing - t[DRAM_T_bl]);
    channel->returned = last + run->latency;
    dram_space_reads(channel, dram_lowest_bit(train->banks[more & 1u]), last);
    if (more)
        dram_space_reads(channel, dram_lowest_bit(train->banks[~more & 1u]), last - train->spacing);
}

/* At most `most` bursts have entered up to clock `last`. */
static void enter(struct dram_run *run, uint64_t most, uint64_t last)
{
    struct dram_queue *queue = run->queue;
    struct dram_channel *channel = run->channel;
    struct dram_stream *stream = run->stream;
    struct cnnvp_request *request = stream->first;
    const uint32_t places = stream->on_their_way - stream->most;
    uint64_t sum = 0, end = 0;
    uint32_t i = 0;
    for (; i < most && places + i < stream->end_count; ++i) {
        const uint64_t next = stream->ends[(stream->end_first + places + i) % DRAM_OUTSTANDING];
        if (next >= last)
            break;
        const uint8_t index = channel->free[--channel->free_count];
        channel->entry[index] = (struct dram_entry){
            .entered = next + 1u, .order = ++channel->order, .owner = request, .row = stream->place.row,
            .column = stream->place.column + i, .tag = request->tag, .source = (uint16_t)(stream - queue->streams),
            .bank = (uint8_t)stream->place.bank, .next = DRAM_NONE};
        dram_add_read(channel, index);
        sum += end = next;
    }
    if (!i)
        return;
    stream->end_first = (stream->end_first + places + i) % DRAM_OUTSTANDING;
    stream->end_count -= places + i;
    stream->on_their_way = stream->most;
    queue->reads += i;
    request->scratch[DRAM_LATENCY] -= sum * queue->timing.tck_ps;
    request->scratch[DRAM_BURSTS] += ((UINT64_C(1) << 24) + 1u) * i;
    stream->taken = (end + 1u) * queue->timing.tck_ps;
    stream->served = queue->served += i;
    stream->address += (uint64_t)i * DRAM_BURST_BYTES;
    stream->place.column += i;
}

/* 1 if the stream's bursts enter as others end, from `enters` on. */
static int enters_by_ends(const struct dram_run *run, uint64_t ready, uint64_t enters)
{
    const struct dram_stream *stream = run->stream;
    const uint64_t end = dram_free_place(stream);
    return stream->on_their_way >= stream->most
           && (end == DRAM_NEVER ? ready >= stream->arrival_clock : end > stream->arrival_clock && enters == end + 1u);
}

/* RDs that fit before something else comes up. */
static uint64_t fitting(const struct dram_run *run, const struct train *train)
{
    const uint64_t window = dram_lesser(run->window_command + run->latency, run->window_data);
    const uint64_t last = dram_lesser(dram_lesser(run->last, train->until - 1u) + run->latency, window);
    const uint64_t first = train->ready + run->latency;
    return last < first ? 0 : dram_lesser(train->count, (last - first) / train->spacing + 1u);
}

int dram_train(struct dram_run *run, const struct dram_next_read *next, uint64_t enters)
{
    struct dram_channel *channel = run->channel;
    const struct dram_stream *stream = run->stream;
    struct cnnvp_request *request = channel->entry[channel->list[0][next->bank].first].owner;
    struct train train = {.ready = next->clock, .until = DRAM_NEVER};
    if (train.ready + run->latency <= channel->returned
        || channel->refresh_to > train.ready + channel->timing->t[DRAM_T_cl] || !dram_counts(run, request)
        || (stream && !enters_by_ends(run, train.ready, enters)))
        return 0;
    const uint64_t most = stream ? find_entering(run, &train) : 0;
    if (train.until <= train.ready + 1u || !find_banks(run, next, &train))
        return 0;
    train.count = fitting(run, &train);
    if (train.count < 2) /* not worth it */
        return 0;
    const uint64_t count = leave(run, &train, request), last = train.ready + (count - 1u) * train.spacing;
    account(run, &train, count);
    if (stream)
        enter(run, most, last);
    if (!cnnvp_dram_channel_waiting(channel))
        channel->empty_from = last;
    channel->clock = last + 1u;
    channel->plan.valid = 0;
    channel->write_mode = 0;
    run->queue->clock = dram_later(run->queue->clock, last + 1u);
    dram_note_done(run, request, train.ready + run->latency, train.spacing, count);
    return 1;
}
