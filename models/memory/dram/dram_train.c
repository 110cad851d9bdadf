/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trains of reads: the waiting bursts, all of open rows, are read at one spacing, whatever enters after them meanwhile.
 * They are of one bank group, or of several of which none has two turns in a row. So nothing has to be planned from
 * command to command. A stream reads short pieces in this way, goes from one row to the next, and reads its last
 * bursts.
 */
#include "dram_run.h"

/* At most `count` RDs, the first at `ready` and each `spacing` after the one before, of the oldest burst of `banks`. */
struct train {
    uint64_t ready, spacing, count;
    uint64_t banks;
    uint32_t bank, before;  /* bank of the last RD, and of the one before it */
    int by_turns;           /* after an RD of a bank group, another group has its turn */
    uint64_t until;         /* clock from which on another command could be next */
    uint64_t entered;       /* clock at which a burst last entered; 0: none has */
    uint64_t place, enters; /* of the stream's next burst, see dram_entering() */
};

static void bound(struct train *train, uint64_t clock)
{
    train->until = cnnvp_minimum(train->until, clock);
}

/* Banks with bursts to their open row that can be read when the train begins. */
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

/* The banks of a bank's group. */
static inline uint64_t group_banks(const struct dram_channel *channel, uint32_t bank)
{
    return channel->group_banks << (bank >> channel->bank_bits << channel->bank_bits);
}

/* 1 if a bank is in the rank of the train, and its group can be read by the second RD. */
static int has_turn(const struct dram_channel *channel, const struct train *train, uint32_t bank)
{
    return dram_rank_of(channel, bank) == dram_rank_of(channel, train->bank) &&
           channel->group[dram_group_of(channel, bank)].column[0] <= train->ready + train->spacing;
}

/* Finds the banks of the train. Returns 0 if a bank of another group than the first is not ready in its turn, or if a
 * group is not ready again after the turn of another. */
static int find_banks(const struct dram_run *run, struct train *train)
{
    const struct dram_channel *channel = run->channel;
    const uint32_t *t = channel->timing->t;
    for (uint64_t left = channel->active; left; left &= left - 1u)
        bound(train, channel->bank[dram_lowest_bit(left)].column);
    train->banks = ready_banks(channel, train);
    const uint64_t rest = train->banks & ~group_banks(channel, train->bank);
    train->by_turns = rest != 0;
    train->spacing = train->by_turns ? t[DRAM_T_ccd_s] : run->spacing;
    for (uint64_t left = rest; left; left &= left - 1u)
        if (!has_turn(channel, train, dram_lowest_bit(left)))
            return 0;
    return !rest || (t[DRAM_T_ccd_s] < t[DRAM_T_ccd_l] && t[DRAM_T_ccd_l] <= 2u * t[DRAM_T_ccd_s]);
}

/* The bank with the oldest burst, of banks with bursts to their open row. */
static inline uint32_t oldest_bank(const struct dram_channel *channel, uint64_t banks)
{
    uint32_t oldest = dram_lowest_bit(banks);
    for (uint64_t left = banks & (banks - 1u); left; left &= left - 1u) {
        const uint32_t bank = dram_lowest_bit(left);
        if (channel->list[0][bank].hit_order < channel->list[0][oldest].hit_order)
            oldest = bank;
    }
    return oldest;
}

/* Accounts for the RDs from number `from` to before `to`, which have read bursts of a request. */
static inline void note_done(struct dram_run *run, const struct train *train, struct cnnvp_request *request,
                             uint64_t from, uint64_t to)
{
    if (to > from)
        dram_note_done(run, request, train->ready + from * train->spacing + run->latency, train->spacing, to - from);
}

/* 1 if the next burst can enter without changing the RDs before `until`. */
static int can_enter(const struct dram_run *run, struct train *train)
{
    const struct dram_channel *channel = run->channel;
    const struct dram_place *place = &run->stream->place;
    const uint64_t column = channel->bank[place->bank].column;
    const uint64_t banks = dram_rank_banks(channel, dram_rank_of(channel, place->bank));
    if (!dram_read_is_open(channel, place) || !(channel->waiting[0] & banks)) /* if nothing waits, the rank is idle */
        return 0;
    if (train->banks >> place->bank & 1u)
        return 1;
    /* before the first RD, the burst could itself be read first */
    if (train->by_turns && train->enters > train->ready && column <= train->ready &&
        has_turn(channel, train, place->bank))
        train->banks |= UINT64_C(1) << place->bank;
    else
        bound(train, column);
    return 1;
}

static inline void look_ahead(const struct dram_run *run, struct train *train)
{
    const struct dram_queue *queue = run->queue;
    train->place = queue->waiting ? dram_free_place(run->stream) : DRAM_NEVER;
    train->enters = queue->waiting ? dram_entering(queue, run->stream, train->place) : DRAM_NEVER;
}

/* Enters bursts of the stream up to `clock`; returns 0 if one cannot enter. */
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

/* Issues the bursts of the train while those of the stream enter. Returns how many issue before another command could
 * be next or a request is complete. */
static uint64_t leave(struct dram_run *run, struct train *train)
{
    struct dram_queue *queue = run->queue;
    struct dram_channel *channel = run->channel;
    struct dram_stream *stream = &queue->streams[run->columns.source];
    const struct cnnvp_request *const done = queue->done;
    const uint32_t rtp = channel->timing->t[DRAM_T_rtp];
    struct cnnvp_request *request = NULL;
    uint64_t clock = train->ready, count = 0, noted = 0, turn = group_banks(channel, train->bank);
    look_ahead(run, train);
    for (; count < train->count && enter_up_to(run, train, clock) && clock < train->until;
         ++count, clock += train->spacing) {
        const uint64_t banks = channel->hits[0] & train->banks & turn;
        if (!banks)
            break;
        const uint32_t bank = oldest_bank(channel, banks);
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
        if (train->by_turns)
            turn = ~group_banks(channel, bank);
        train->before = train->bank;
        train->bank = bank;
        dram_raise(&channel->bank[bank].pre, clock + rtp);
        stream->ends[(stream->end_first + stream->end_count++) % DRAM_OUTSTANDING] = clock + run->latency;
        queue->clock = clock + 1u;
        if (train->enters == DRAM_NEVER) /* the next burst may have a known place, or room, from here on */
            look_ahead(run, train);
    }
    note_done(run, train, request, noted, count);
    run->columns.bursts += count;
    return count;
}

/* Updates the channel, but not its queue, for `count` RDs. */
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
    dram_space_reads(channel, train->bank, last);
    if (more)
        dram_space_reads(channel, train->before, last - train->spacing);
    if (!cnnvp_dram_channel_waiting(channel))
        channel->bus[0].empty_from = last;
    channel->clock = last + (channel->timing->buses == 1);
    channel->plan.valid = 0;
    dram_serve(channel, 0);
    dram_hold_bus(channel, last);
}

/* RDs that fit before another command could be next. If the request of the first one goes on along one row, only as
 * many as make the ends of bursts regular: dram_row_repeat() does the rest. */
static uint64_t fitting(const struct dram_run *run, const struct train *train, const struct cnnvp_request *request)
{
    const uint64_t window = cnnvp_minimum(run->window_command + run->latency, run->window_data);
    const uint64_t last = cnnvp_minimum(cnnvp_minimum(run->last, train->until - 1u) + run->latency, window);
    const uint64_t first = train->ready + run->latency;
    const uint64_t few = run->latency / run->pace + 1u;
    const int along_row =
        run->stream != NULL && run->stream->first == request && dram_row_left(run->queue, run->stream) > few;
    return last < first ? 0 : cnnvp_minimum((last - first) / train->spacing + 1u, along_row ? few : DRAM_NEVER);
}

/* 1 if two RDs fit before the time or a window ends, or the stream comes to a row that is not open. The spacing is at
 * most the latency, so the end of the first one's data does not affect what enters between them. */
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
    struct train train = {.ready = next->clock, .bank = next->bank, .before = next->bank, .until = DRAM_NEVER};
    if (!fits(run, train.ready, enters) || train.ready + run->latency <= channel->returned ||
        channel->bus[0].refresh_to > train.ready + channel->timing->t[DRAM_T_cl] || !find_banks(run, &train))
        return 0;
    train.count = fitting(run, &train, channel->entry[channel->list[0][next->bank].first].owner);
    if (train.count < 2) /* too few to gain time */
        return 0;
    const uint64_t count = leave(run, &train);
    if (count)
        account(run, &train, count);
    if (train.entered)
        dram_columns_pass(channel, train.entered, 1);
    return count || train.entered;
}
