/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads from open rows, most bursts of a network: of one stream, while no other waits, so that nothing has to be chosen
 * or planned. What is reported of them is summed over a window of the statistics.
 */
#include "dram_run.h"

#include "dram_bandwidth.h"

static void report(struct dram_run *run)
{
    struct dram_counts *counts = &run->channel->counts;
    struct dram_reads *reads = &run->reads;
    if (!reads->bursts)
        return;
    counts->commands[DRAM_RD] += reads->bursts;
    counts->hits += reads->hits;
    counts->queue_clocks[0] += reads->queue_clocks;
    counts->turnarounds += (uint64_t)reads->turned;
    if (run->queue->reads_issued)
        run->queue->reads_issued(run->queue->context, reads);
    reads->bursts = 0;
}

void dram_begin_window(struct dram_run *run, uint32_t tag, uint32_t source, uint64_t clock, uint64_t done)
{
    const uint64_t tck = run->queue->timing.tck_ps;
    report(run);
    run->reads = (struct dram_reads){.clock = clock, .done = done, .tag = tag, .source = source,
                                     .turned = run->channel->last_write == 1};
    run->window_command = cnnvp_dram_window_end(clock * tck) / tck;
    run->window_data = cnnvp_dram_window_end(done * tck) / tck;
}

/* Clock up to which the bus carries the data of the next read. */
static inline uint64_t done_of(const struct dram_run *run, const struct dram_next_read *next)
{
    return dram_later(next->clock + run->latency, run->channel->returned);
}

/* `reads` counts the next read, which is of this burst. */
static inline void count_from(struct dram_run *run, const struct dram_next_read *next, const struct dram_entry *entry)
{
    const uint64_t clock = next->clock, done = done_of(run, next);
    if (clock < run->reads.clock || clock > run->window_command || done > run->window_data
        || entry->source != run->reads.source || entry->tag != run->reads.tag || run->channel->last_write)
        dram_begin_window(run, entry->tag, entry->source, clock, done);
}

static inline void issue(struct dram_run *run, const struct dram_next_read *next)
{
    struct dram_channel *channel = run->channel;
    const uint64_t clock = next->clock, done = done_of(run, next);
    const uint32_t index = dram_read_leaves(channel, next);
    const struct dram_entry *entry = &channel->entry[index];
    struct dram_reads *reads = &run->reads;
    count_from(run, next, entry);
    ++reads->bursts;
    reads->hits += !entry->classified;
    reads->queue_clocks += clock - entry->entered;
    dram_account(channel, clock + channel->timing->t[DRAM_T_cl], 0, channel->last_write == 1);
    channel->last_write = 0;
    channel->returned = done;
    dram_space_read(channel, next->bank, clock);
    /* what leaves a queue makes room at the next clock */
    run->queue->clock = dram_later(run->queue->clock, clock + 1u);
    struct dram_stream *stream = &run->queue->streams[entry->source];
    /* ascending, as only one channel reads */
    stream->ends[(stream->end_first + stream->end_count++) % DRAM_OUTSTANDING] = done;
    dram_note_done(run, entry->owner, done, 0, 1);
}

static inline void enter(struct dram_run *run, uint64_t clock, uint64_t place, const struct dram_next_read *next)
{
    struct dram_queue *queue = run->queue;
    struct dram_stream *stream = run->stream;
    dram_reads_pass(run->channel, clock, next->looked);
    if (queue->burst)
        queue->burst(queue->context, stream, stream->first, clock);
    dram_run_enter(run, clock, place);
}

/* The stream's next burst enters, and those behind it that have a place. Returns whether `next` is still next: behind
 * others of its bank a burst changes nothing. */
static int enter_all(struct dram_run *run, uint64_t clock, uint64_t place, const struct dram_next_read *next)
{
    const struct dram_channel *channel = run->channel;
    const struct dram_stream *stream = run->stream;
    const uint32_t bank = stream->place.bank;
    const int behind = channel->list[0][bank].count && (clock < next->clock || !next->active);
    enter(run, clock, place, next);
    while (behind && run->queue->waiting && stream->place.bank == bank && stream->on_their_way < stream->most
           && stream->arrival_clock < clock && channel->count[0] < channel->capacity
           && dram_read_is_open(channel, &stream->place))
        enter(run, clock, 0, next);
    return behind;
}

/* 1 if none but a stream that reads waits. */
static int is_lone(const struct dram_queue *queue)
{
    return !(queue->waiting & (queue->waiting - 1u))
           && (!queue->waiting || queue->streams[dram_lowest_bit(queue->waiting)].op == CNNVP_READ);
}

/* Reads that follow each other, and what enters meanwhile, in one step; 0 if they must be looked at one by one. */
static int repeat(struct dram_run *run, const struct dram_next_read *next, uint64_t enters)
{
    const struct dram_channel *channel = run->channel;
    if (run->queue->burst || next->active || next->clock == DRAM_NEVER || channel->last_write)
        return 0;
    count_from(run, next, &channel->entry[channel->list[0][next->bank].first]);
    return (run->stream && (dram_row_repeat(run, next, enters) || dram_row_change(run, next, enters)))
           || dram_train(run, next, enters);
}

static int run_on(struct dram_run *run)
{
    struct dram_queue *queue = run->queue;
    struct dram_channel *channel = run->channel;
    const struct cnnvp_request *done = queue->done;
    struct dram_next_read next = dram_next_read(channel);
    for (int moved = 0; queue->done == done; moved = 1) {
        const struct dram_stream *stream = run->stream = queue->waiting ? run->stream : NULL;
        const uint64_t place = stream ? dram_free_place(stream) : DRAM_NEVER;
        const uint64_t enters = stream ? dram_entering(queue, stream, place) : DRAM_NEVER;
        if (dram_lesser(enters, next.clock) > run->last || dram_writes_are_due(channel, &next))
            return moved;
        if (repeat(run, &next, enters)) {
            next = dram_next_read(channel);
        } else if (enters > next.clock) {
            issue(run, &next);
            next = dram_next_read(channel);
        } else if (dram_read_is_open(channel, &stream->place)) {
            if (!enter_all(run, enters, place, &next))
                next = dram_next_read(channel);
        } else {
            return moved;
        }
    }
    return 1;
}

int dram_queue_run_reads(struct dram_queue *queue, uint64_t last)
{
    struct dram_channel *channel = queue->channel;
    if (queue->stepwise || queue->options.channels != 1 || !dram_reads_are_open(channel) || !is_lone(queue))
        return 0;
    const uint32_t *t = queue->timing.t;
    struct dram_run run = {.queue = queue, .channel = channel,
                           .stream = queue->waiting ? &queue->streams[dram_lowest_bit(queue->waiting)] : NULL,
                           .last = dram_lesser(last, channel->refresh_at - 1u),
                           .latency = t[DRAM_T_cl] + t[DRAM_T_bl],
                           .spacing = dram_later(t[DRAM_T_ccd_s], t[DRAM_T_ccd_l])};
    const int moved = run_on(&run);
    report(&run);
    return moved;
}
