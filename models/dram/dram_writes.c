/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes to open rows while they are served: those of one stream, or what is left of it in the queue. Reads may wait, but
 * not enter. Nothing has to be chosen or planned but which bank's oldest is first.
 */
#include "dram_run.h"

static void issue(struct dram_run *run, const struct dram_next_column *next)
{
    struct dram_channel *channel = run->channel;
    const uint64_t clock = next->clock;
    dram_columns_issue(channel, clock, 1);
    const uint8_t index = dram_take_burst(channel, 1, next->bank);
    const struct dram_entry *entry = &channel->entry[index];
    channel->free[channel->free_count++] = index;
    dram_count(run, next, entry);
    dram_account(channel, clock + channel->timing->t[DRAM_T_cwl], 1, channel->last_write == 0);
    channel->last_write = 1;
    if (!cnnvp_dram_channel_waiting(channel))
        channel->empty_from = clock;
    dram_space_write(channel, next->bank, clock);
    /* what leaves a queue makes room at the next clock */
    run->queue->clock = dram_later(run->queue->clock, clock + 1u);
}

/* The stream's next burst enters, or takes the place of the one that waits. */
static void enter(struct dram_run *run, uint64_t clock, int merges)
{
    struct dram_queue *queue = run->queue;
    struct dram_stream *stream = run->stream;
    struct cnnvp_request *request = stream->first;
    const cnnvp_time taken = clock * queue->timing.tck_ps;
    request->scratch[DRAM_LATENCY] += taken - dram_sendable(queue, stream, 0);
    request->scratch[DRAM_BURSTS] += UINT64_C(1) << 24;
    request->scratch[DRAM_TIME] = taken;
    if (!request->first_data)
        request->first_data = taken;
    stream->taken = taken;
    stream->served = ++queue->served;
    queue->clock = clock;
    if (merges) {
        ++run->channel->counts.merged;
    } else {
        dram_columns_pass(run->channel, clock, 1);
        dram_burst_enters(run->channel, &stream->place, 1, clock, NULL, request->tag, (uint32_t)(stream - queue->streams));
    }
    dram_queue_step(queue, stream);
}

/* The stream that writes, and in `others` a clock up to which no burst of another one can enter; 0 if several write. */
static int find_stream(struct dram_queue *queue, struct dram_stream **writer, uint64_t *others)
{
    *writer = NULL;
    *others = DRAM_NEVER;
    for (uint64_t left = queue->waiting; left; left &= left - 1u) {
        struct dram_stream *stream = &queue->streams[dram_lowest_bit(left)];
        if (stream->op == CNNVP_READ)
            *others = dram_lesser(*others, dram_free_place(stream)); /* a write may answer it where the queue is full */
        else if (*writer)
            return 0;
        else
            *writer = stream;
    }
    return 1;
}

static enum dram_progress run_on(struct dram_run *run)
{
    struct dram_queue *queue = run->queue;
    struct dram_channel *channel = run->channel;
    const struct cnnvp_request *done = queue->done;
    enum dram_progress progress = DRAM_STUCK;
    for (; queue->done == done; progress = DRAM_MOVED) {
        const struct dram_stream *stream = run->stream = run->stream && run->stream->first ? run->stream : NULL;
        const int merges = stream && channel->count[1] && cnnvp_dram_channel_holds(channel, &stream->place);
        const int enters = merges || (stream && channel->count[1] < channel->capacity);
        const uint64_t clock = enters ? dram_later(stream->arrival_clock + 1u, queue->clock) : DRAM_NEVER;
        struct dram_next_column next = {.clock = DRAM_NEVER};
        dram_next_queued(channel, 1, &next);
        if (!dram_next_mode(channel))
            return progress;
        if (dram_lesser(clock, next.clock) > run->last)
            return run->cut ? progress : DRAM_DECIDED;
        if (clock > next.clock)
            issue(run, &next);
        else if (merges || dram_row_is_open(channel, &stream->place))
            enter(run, clock, merges);
        else
            return progress;
    }
    return DRAM_MOVED;
}

enum dram_progress dram_run_writes(struct dram_queue *queue, uint64_t last)
{
    struct dram_channel *channel = queue->channel;
    const uint32_t *t = queue->timing.t;
    struct dram_stream *stream;
    uint64_t others;
    if (queue->burst || !dram_next_mode(channel) || !dram_writes_are_open(channel) || !find_stream(queue, &stream, &others)
        || !(stream || channel->count[1]))
        return DRAM_STUCK;
    const uint64_t bound = dram_lesser(others, channel->refresh_at - 1u);
    struct dram_run run = {.queue = queue, .channel = channel, .stream = stream, .write = 1,
                           .last = dram_lesser(last, bound), .cut = last > bound,
                           .latency = t[DRAM_T_cwl] + t[DRAM_T_bl]};
    const enum dram_progress progress = run_on(&run);
    dram_report(&run);
    return progress;
}
