/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains of reads: the bursts that wait, all of open rows, of one bank group or of two by turns, are read at one
 * spacing, whatever enters after them meanwhile. So nothing has to be chosen from command to command. That is how a
 * stream goes from one row to the next, and how its last bursts leave.
 */
#include "dram_train.h"

/* RDs at `ready` and each `spacing` later, `count` at most, of the oldest burst of banks[0], banks[1], banks[0] and so
 * on. */
struct train {
    uint64_t ready, spacing, count;
    uint64_t banks[2];
    uint64_t until;         /* clock from which on something else could be next */
    uint64_t entered;       /* clock at which a burst has entered last, 0: none has */
    uint64_t place, enters; /* of the stream's next burst, see dram_entering() */
};

static void bound(struct train *train, uint64_t clock)
{
    train->until = cnnvp_minimum(train->until, clock);
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
static int find_banks(const struct dram_run *run, const struct dram_next_column *next, struct train *train)
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
    return train->banks[1] == rest && dram_rank_of(channel, second) == dram_rank_of(channel, next->bank) &&
           t[DRAM_T_ccd_s] < t[DRAM_T_ccd_l] && t[DRAM_T_ccd_l] <= 2u * t[DRAM_T_ccd_s] &&
           channel->group[other].column[0] <= train->ready + train->spacing;
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

/* RDs `from` up to `to` have read bursts of a request. */
static inline void note_done(struct dram_run *run, const struct train *train, struct cnnvp_request *request,
                             uint64_t from, uint64_t to)
{
    if (to > from)
        dram_note_done(run, request, train->ready + from * train->spacing + run->latency, train->spacing, to - from);
}

/* The next burst changes nothing about the RDs before `until`. */
static int can_enter(const struct dram_run *run, struct train *train)
{
    const struct dram_channel *channel = run->channel;
    const struct dram_place *place = &run->stream->place;
    if (!dram_read_is_open(channel, place) || !channel->count[0]) /* an empty queue is idle */
        return 0;
    if (!((train->banks[0] | train->banks[1]) >> place->bank & 1u))
        bound(train, channel->bank[place->bank].column);
    return 1;
}

static inline void look_ahead(const struct dram_run *run, struct train *train)
{
    const struct dram_queue *queue = run->queue;
    train->place = queue->waiting ? dram_free_place(run->stream) : DRAM_NEVER;
    train->enters = queue->waiting ? dram_entering(queue, run->stream, train->place) : DRAM_NEVER;
}

/* Bursts of the stream enter up to `clock`; 0 if one cannot. */
static inline int enter_up_to(struct dram_run *run, struct train *train, uint64_t clock)
{
    while (train->enters <= clock) {
        if (train->enters > train->until || !can_enter(run, train))
            return 0;
        train->entered = train->enters;
        dram_run_enter(run, train->enters, train->place);
        look_ahead(run, train);
    }
    return 1;
}

/* Bursts leave, and those of the stream enter meanwhile. Returns how many leave before something else comes up or a
 * request is complete. */
static uint64_t leave(struct dram_run *run, struct train *train)
{
    struct dram_queue *queue = run->queue;
    struct dram_channel *channel = run->channel;
    struct dram_stream *stream = &queue->streams[run->columns.source];
    const struct cnnvp_request *const done = queue->done;
    const uint32_t rtp = channel->timing->t[DRAM_T_rtp];
    struct cnnvp_request *request = NULL;
    uint64_t clock = train->ready, count = 0, noted = 0;
    look_ahead(run, train);
    for (; count < train->count && enter_up_to(run, train, clock) && clock < train->until;
         ++count, clock += train->spacing) {
        const uint32_t bank = oldest_bank(channel, train->banks[count & 1u]);
        if (!channel->list[0][bank].count)
            break;
        const struct dram_entry *entry = &channel->entry[channel->list[0][bank].first];
        if (entry->owner != request) {
            note_done(run, train, request, noted, count);
            noted = count;
            if (queue->done != done || !dram_counts(run, entry->owner))
                break;
            request = entry->owner;
        }
        run->columns.hits += !entry->classified;
        run->columns.queue_clocks += clock - entry->entered;
        channel->free[channel->free_count++] = dram_take_read(channel, bank);
        dram_raise(&channel->bank[bank].pre, clock + rtp);
        stream->ends[(stream->end_first + stream->end_count++) % DRAM_OUTSTANDING] = clock + run->latency;
        queue->clock = clock + 1u;
        if (train->enters == DRAM_NEVER) /* an end is known, or there is room, for the next */
            look_ahead(run, train);
    }
    note_done(run, train, request, noted, count);
    run->columns.bursts += count;
    return count;
}

/* What `count` RDs mean for the channel, but for its queue. */
static void account(struct dram_run *run, const struct train *train, uint64_t count)
{
    struct dram_channel *channel = run->channel;
    const uint32_t *t = channel->timing->t;
    const uint64_t more = count - 1u, last = train->ready + more * train->spacing;
    dram_account(channel, channel->bus, train->ready + t[DRAM_T_cl], 0, 0);
    channel->bus[0].end += more * train->spacing;
    channel->counts.data_clocks += more * t[DRAM_T_bl];
    channel->counts.row_clocks += more * (train->spacing - t[DRAM_T_bl]);
    channel->returned = last + run->latency;
    dram_space_reads(channel, dram_lowest_bit(train->banks[more & 1u]), last);
    if (more)
        dram_space_reads(channel, dram_lowest_bit(train->banks[~more & 1u]), last - train->spacing);
    if (!cnnvp_dram_channel_waiting(channel))
        channel->bus[0].empty_from = last;
    channel->clock = last + (channel->timing->buses == 1);
    channel->plan.valid = 0;
    dram_serve(channel, 0);
    dram_hold_bus(channel, last);
}

/* RDs that fit before something else comes up. Where the request of the first goes on entering along one row, this many
 * make the ends of bursts regular, and dram_row_repeat does the rest. */
static uint64_t fitting(const struct dram_run *run, const struct train *train, const struct cnnvp_request *request)
{
    const uint64_t window = cnnvp_minimum(run->window_command + run->latency, run->window_data);
    const uint64_t last = cnnvp_minimum(cnnvp_minimum(run->last, train->until - 1u) + run->latency, window);
    const uint64_t first = train->ready + run->latency;
    const uint64_t hits = run->channel->hits[0];
    const int along_row = run->stream != NULL && run->stream->first == request && !(hits & (hits - 1u));
    const uint64_t most = along_row ? run->latency / run->spacing + 1u : DRAM_NEVER;
    return last < first ? 0 : cnnvp_minimum((last - first) / train->spacing + 1u, most);
}

/* 1 if two RDs fit before the time or a window ends, or the stream comes to a row that is not open. What enters between
 * them is decided before the first one's data end. */
static int fits(const struct dram_run *run, uint64_t ready, uint64_t enters)
{
    const uint64_t second = ready + run->channel->timing->t[DRAM_T_ccd_s];
    return run->spacing <= run->latency && second <= run->last && second <= run->window_command &&
           second + run->latency <= run->window_data &&
           (enters > second || dram_read_is_open(run->channel, &run->stream->place));
}

int dram_train(struct dram_run *run, const struct dram_next_column *next, uint64_t enters)
{
    struct dram_channel *channel = run->channel;
    struct train train = {.ready = next->clock, .until = DRAM_NEVER};
    if (!fits(run, train.ready, enters) || train.ready + run->latency <= channel->returned ||
        channel->bus[0].refresh_to > train.ready + channel->timing->t[DRAM_T_cl] || !find_banks(run, next, &train))
        return 0;
    train.count = fitting(run, &train, channel->entry[channel->list[0][next->bank].first].owner);
    if (train.count < 2) /* not worth it */
        return 0;
    const uint64_t count = leave(run, &train);
    if (count)
        account(run, &train, count);
    if (train.entered)
        dram_columns_pass(channel, train.entered, 1);
    return count || train.entered;
}
