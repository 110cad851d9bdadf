/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains of reads: the bursts that wait, all of open rows, of one bank group or of two by turns, are read at one
 * spacing, whatever enters behind them meanwhile. So nothing has to be chosen from command to command. That is how a
 * stream goes from one row to the next, and how its last bursts leave.
 */
#include "dram_run.h"

/* RDs at `ready` and each `spacing` later, `count` at most, of the oldest burst of banks[0], banks[1], banks[0] and so
 * on. */
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

/* Those of `banks` that are of a bank group. */
static uint64_t of_group(const struct dram_channel *channel, uint64_t banks, uint32_t group)
{
    uint64_t found = 0;
    for (uint64_t left = banks; left; left &= left - 1u) {
        if (dram_group_of(channel, dram_lowest_bit(left)) == group)
            found |= left & (0u - left);
    }
    return found;
}

/* Which banks are read, of their bursts that wait. 0 if there are more groups, or the second is not ready in its turn.
 * Of two groups, each is ready again when the other has had its turn. */
static int find_banks(const struct dram_run *run, const struct dram_next_read *next, struct train *train)
{
    const struct dram_channel *channel = run->channel;
    const uint32_t *t = channel->timing->t;
    for (uint64_t left = channel->active; left; left &= left - 1u)
        bound(train, channel->bank[dram_lowest_bit(left)].column);
    const uint64_t banks = ready_banks(channel, train);
    train->banks[0] = train->banks[1] = of_group(channel, banks, dram_group_of(channel, next->bank));
    train->spacing = run->spacing;
    const uint64_t rest = banks & ~train->banks[0];
    if (!rest)
        return 1;
    const uint32_t second = dram_lowest_bit(rest), other = dram_group_of(channel, second);
    train->banks[1] = of_group(channel, rest, other);
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

/* Bursts of the stream that can enter and change nothing, as others of their bank wait or it is not ready; the next one
 * bounds the train. */
static uint64_t find_entering(const struct dram_run *run, struct train *train)
{
    const struct dram_channel *channel = run->channel;
    const struct dram_stream *stream = run->stream;
    uint64_t most = 0;
    if (dram_read_is_open(channel, &stream->place)) {
        most = dram_lesser(dram_row_left(run->queue, stream), channel->capacity - channel->count[0]);
        if (!(channel->hits[0] >> stream->place.bank & 1u))
            bound(train, channel->bank[stream->place.bank].column);
    }
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

/* What has entered. */
struct entered {
    uint64_t count, ends; /* bursts, and the sum of the ends whose places they took */
    uint64_t last;        /* of those ends */
};

/* Bursts of the stream enter up to `clock`, `most` in all. */
static inline void enter(struct dram_run *run, uint64_t clock, uint64_t most, struct entered *entered)
{
    struct dram_channel *channel = run->channel;
    const struct dram_stream *stream = run->stream;
    const struct dram_place *place = &stream->place;
    for (;; ++entered->count) {
        const uint64_t at = stream->on_their_way - stream->most + entered->count;
        if (entered->count == most || at >= stream->end_count)
            return;
        const uint64_t end = stream->ends[(stream->end_first + at) % DRAM_OUTSTANDING];
        if (end >= clock || !channel->count[0]) /* an empty queue is idle */
            return;
        const uint8_t index = channel->free[--channel->free_count];
        channel->entry[index] = (struct dram_entry){
            .entered = end + 1u, .order = ++channel->order, .owner = stream->first, .row = place->row,
            .column = place->column + (uint32_t)entered->count, .tag = stream->first->tag,
            .source = (uint16_t)(stream - run->queue->streams), .bank = (uint8_t)place->bank, .next = DRAM_NONE};
        dram_add_read(channel, index);
        entered->ends += end;
        entered->last = end;
    }
}

/* The bursts of a request leave, and those of the stream enter meanwhile, `most` of them. Returns how many leave. */
static uint64_t leave(struct dram_run *run, const struct train *train, const struct cnnvp_request *request,
                      uint64_t most, struct entered *entered)
{
    struct dram_channel *channel = run->channel;
    struct dram_stream *stream = &run->queue->streams[run->reads.source];
    const uint32_t rtp = channel->timing->t[DRAM_T_rtp];
    uint64_t clock = train->ready, hits = 0, clocks = 0, i = 0;
    for (; i < train->count; ++i) {
        if (most)
            enter(run, clock, most, entered);
        const uint32_t bank = oldest_bank(channel, train->banks[i & 1u]);
        const struct dram_list *list = &channel->list[0][bank];
        if (!list->count || channel->entry[list->first].owner != request)
            break;
        const struct dram_entry *entry = &channel->entry[list->first];
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
    if (!cnnvp_dram_channel_waiting(channel))
        channel->empty_from = last;
}

/* What entered, for the stream. */
static void advance(struct dram_run *run, const struct entered *entered)
{
    struct dram_queue *queue = run->queue;
    struct dram_stream *stream = run->stream;
    struct cnnvp_request *request = stream->first;
    const uint32_t count = (uint32_t)entered->count, ended = stream->on_their_way - stream->most + count;
    stream->end_first = (stream->end_first + ended) % DRAM_OUTSTANDING;
    stream->end_count -= ended;
    stream->on_their_way = stream->most;
    queue->reads += count;
    request->scratch[DRAM_LATENCY] -= entered->ends * queue->timing.tck_ps;
    request->scratch[DRAM_BURSTS] += ((UINT64_C(1) << 24) + 1u) * count;
    stream->taken = (entered->last + 1u) * queue->timing.tck_ps;
    stream->served = queue->served += count;
    stream->address += (entered->count - 1u) * DRAM_BURST_BYTES;
    stream->place.column += count - 1u;
    dram_queue_step(queue, stream);
}

/* 1 if the stream's bursts enter as others end, from `enters` on. */
static int enters_by_ends(const struct dram_run *run, uint64_t ready, uint64_t enters)
{
    const struct dram_stream *stream = run->stream;
    const uint64_t end = dram_free_place(stream);
    return stream->on_their_way >= stream->most
           && (end == DRAM_NEVER ? ready >= stream->arrival_clock : end > stream->arrival_clock && enters == end + 1u);
}

/* RDs of the request that fit before something else comes up. Where it goes on entering along one row, so many make the
 * ends of bursts regular, and dram_row_repeat does the rest. */
static uint64_t fitting(const struct dram_run *run, const struct train *train, const struct cnnvp_request *request)
{
    const uint64_t window = dram_lesser(run->window_command + run->latency, run->window_data);
    const uint64_t last = dram_lesser(dram_lesser(run->last, train->until - 1u) + run->latency, window);
    const uint64_t first = train->ready + run->latency;
    const uint64_t hits = run->channel->hits[0];
    const int along_row = run->stream && run->stream->first == request && !(hits & (hits - 1u));
    const uint64_t most = along_row ? run->latency / run->spacing + 1u : DRAM_NEVER;
    return last < first ? 0 : dram_lesser((last - first) / train->spacing + 1u, most);
}

/* 1 if two RDs fit before the time or a window ends, or the stream comes to a row that is not open. */
static int fits(const struct dram_run *run, uint64_t ready, uint64_t enters)
{
    const uint64_t second = ready + run->channel->timing->t[DRAM_T_ccd_s];
    return second <= run->last && second <= run->window_command && second + run->latency <= run->window_data
           && (enters > second || dram_read_is_open(run->channel, &run->stream->place));
}

int dram_train(struct dram_run *run, const struct dram_next_read *next, uint64_t enters)
{
    struct dram_channel *channel = run->channel;
    const struct dram_stream *stream = run->stream;
    struct cnnvp_request *request = channel->entry[channel->list[0][next->bank].first].owner;
    struct train train = {.ready = next->clock, .until = DRAM_NEVER};
    if (!fits(run, train.ready, enters) || train.ready + run->latency <= channel->returned
        || channel->refresh_to > train.ready + channel->timing->t[DRAM_T_cl] || !dram_counts(run, request)
        || (stream && !enters_by_ends(run, train.ready, enters)) || !find_banks(run, next, &train))
        return 0;
    const uint64_t most = stream ? find_entering(run, &train) : 0;
    train.count = fitting(run, &train, request);
    if (train.count < 2) /* not worth it */
        return 0;
    struct entered entered = {.count = 0};
    const uint64_t count = leave(run, &train, request, most, &entered);
    account(run, &train, count);
    if (entered.count)
        advance(run, &entered);
    channel->clock = dram_later(train.ready + (count - 1u) * train.spacing, entered.last) + 1u;
    channel->plan.valid = 0;
    channel->write_mode = 0;
    run->queue->clock = dram_later(run->queue->clock, channel->clock);
    dram_note_done(run, request, train.ready + run->latency, train.spacing, count);
    return 1;
}
