/* SPDX-License-Identifier: Apache-2.0 */
/* Between the queue in front of the channels (dram_queue.c), its shortcuts for reads from open rows (dram_run.c), of
 * those that wait (dram_train.c), along one row (dram_row.c) and from one to the next (dram_change.c), and what it expects (dram_work.c). Host-free. */
#ifndef CNNVP_DRAM_RUN_H
#define CNNVP_DRAM_RUN_H

#include "dram_columns.h"
#include "dram_queue.h"

static inline struct cnnvp_request *dram_request_next(const struct cnnvp_request *request)
{
    return (struct cnnvp_request *)(uintptr_t)request->scratch[DRAM_NEXT];
}

/* Bursts on their way whose end is not known. */
static inline uint32_t dram_request_pending(const struct cnnvp_request *request)
{
    return (uint32_t)(request->scratch[DRAM_BURSTS] & 0xffffu);
}

static inline uint64_t dram_segment_start(const struct cnnvp_request *request, uint64_t segment)
{
    return request->address + segment * (uint64_t)request->stride;
}

/* Clocks of the next burst that enters a queue and of the next command; DRAM_NEVER where something else must happen
 * first. */
void dram_queue_next(struct dram_queue *queue, uint64_t *enters, uint64_t *commands);

/* ---- a stream's next burst ---- */

/* Reads that a request may have on their way. */
static inline uint32_t dram_most(const struct cnnvp_request *request)
{
    return request->outstanding < DRAM_OUTSTANDING ? request->outstanding : DRAM_OUTSTANDING;
}

/* Clock at which a burst ends whose place the stream's next one takes: 0 if a place is free, DRAM_NEVER if that end is
 * not known. */
static inline uint64_t dram_free_place(const struct dram_stream *stream)
{
    if (stream->op == CNNVP_WRITE || stream->on_their_way < stream->most) /* writes: any number at one clock */
        return 0;
    const uint32_t index = stream->on_their_way - stream->most;
    if (index >= stream->end_count)
        return DRAM_NEVER;
    return stream->ends[(stream->end_first + index) % DRAM_OUTSTANDING];
}

/* Clock at which the next burst of a stream with a request can enter its queue, given its free place; DRAM_NEVER if
 * something else must happen first. Ends of bursts are whole clocks: a division here would be half of the time of a
 * sweep over streams. */
static inline uint64_t dram_entering(const struct dram_queue *queue, const struct dram_stream *stream, uint64_t place)
{
    const struct dram_channel *channel = &queue->channel[stream->place.channel];
    if (place == DRAM_NEVER || !cnnvp_dram_channel_takes(channel, &stream->place, stream->op == CNNVP_WRITE))
        return DRAM_NEVER;
    return dram_later(dram_later(stream->arrival_clock, place) + 1u, queue->clock);
}

/* When the requester could send the stream's next burst, which enters now. */
static inline cnnvp_time dram_sendable(const struct dram_queue *queue, const struct dram_stream *stream, uint64_t place)
{
    return dram_later(stream->arrival, stream->op == CNNVP_WRITE ? stream->taken : place * queue->timing.tck_ps);
}

/* The stream's next read, which enters now, takes the place of one that has ended; what else has ended keeps its own
 * for those behind, so that each could be sent at an end of its own. */
static inline void dram_take_place(struct dram_stream *stream)
{
    for (; stream->on_their_way >= stream->most; --stream->on_their_way) {
        stream->end_first = (stream->end_first + 1u) % DRAM_OUTSTANDING;
        --stream->end_count;
    }
    ++stream->on_their_way;
}

/* Goes on to the burst behind, which is not the next one of the row: a request that has no more moves to the
 * completions when the end of its data is known. */
void dram_queue_leap(struct dram_queue *queue, struct dram_stream *stream);

/* Goes on to the burst behind. */
static inline void dram_queue_step(struct dram_queue *queue, struct dram_stream *stream)
{
    const uint64_t behind = stream->address + DRAM_BURST_BYTES;
    if (behind >= stream->segment_end || !queue->columns_follow
        || stream->place.column == queue->map.mask[DRAM_COLUMN]) {
        dram_queue_leap(queue, stream);
        return;
    }
    stream->address = behind;
    ++stream->place.column;
}

/* Bursts that the stream sends before the row or its request's segment ends, without the request's last: what follows
 * that one may not have to wait for a place. */
static inline uint64_t dram_row_left(const struct dram_queue *queue, const struct dram_stream *stream)
{
    const uint64_t last = stream->segment + 1u == stream->first->count;
    const uint64_t of_segment = (stream->segment_end - stream->address + DRAM_BURST_BYTES - 1u) / DRAM_BURST_BYTES;
    const uint64_t of_row = queue->map.mask[DRAM_COLUMN] + UINT64_C(1) - stream->place.column;
    return queue->columns_follow ? dram_lesser(of_segment - last, of_row) : 0;
}

/* The data of the last burst of a request, all of which have entered, end. */
void dram_queue_end(struct dram_queue *queue, struct cnnvp_request *request);

/* ---- bursts of open rows ---- */

struct dram_run {
    struct dram_queue *queue;
    struct dram_channel *channel;
    struct dram_stream *stream; /* the only one that waits, NULL: none does */
    uint64_t last;              /* clock up to which things are decided, */
    int cut;                    /* which is less far than was asked for */
    uint64_t latency;           /* of RD to the end of its data, clocks */
    uint64_t spacing;           /* of RD to RD in a bank group, clocks */
    uint64_t window_command, window_data; /* last clocks of the windows in which `columns` counts */
    struct dram_columns columns; /* not yet reported */
};

/* 1 if `columns` counts bursts of the request. */
static inline int dram_counts(const struct dram_run *run, const struct cnnvp_request *request)
{
    return request->tag == run->columns.tag && cnnvp_dram_queue_stream(request) == run->columns.source;
}

/* What has been counted is reported. */
void dram_report(struct dram_run *run);

/* An RD at `clock`, with data up to `done`, cannot be counted with those before: what has been counted is reported. */
void dram_begin_window(struct dram_run *run, uint32_t tag, uint32_t source, uint64_t clock, uint64_t done);

/* Clock up to which the bus carries the data of the next RD. */
static inline uint64_t dram_done_of(const struct dram_run *run, const struct dram_next_column *next)
{
    return dram_later(next->clock + run->latency, run->channel->returned);
}

/* Clocks that the window which `columns` counts has for RDs and their data, the first RD at `ready`. */
static inline uint64_t dram_window_room(const struct dram_run *run, uint64_t ready)
{
    const uint64_t done = ready + run->latency;
    if (ready > run->window_command || done > run->window_data)
        return 0;
    return dram_lesser(run->window_command - ready, run->window_data - done) + 1u;
}

/* The same where that is so. `next`, of this burst, can be counted. */
static inline void dram_count_from(struct dram_run *run, const struct dram_next_column *next, const struct dram_entry *entry)
{
    const uint64_t clock = next->clock, done = dram_done_of(run, next);
    if (clock < run->columns.clock || clock > run->window_command || done > run->window_data
        || entry->source != run->columns.source || entry->tag != run->columns.tag
        || run->channel->last_write != 0)
        dram_begin_window(run, entry->tag, entry->source, clock, done);
}

/* It is counted. */
static inline void dram_count(struct dram_run *run, const struct dram_next_column *next, const struct dram_entry *entry)
{
    dram_count_from(run, next, entry);
    ++run->columns.bursts;
    run->columns.hits += !entry->classified;
    run->columns.queue_clocks += next->clock - entry->entered;
}

enum dram_progress {
    DRAM_STUCK,   /* nothing was done */
    DRAM_MOVED,   /* something was */
    DRAM_DECIDED, /* nothing is left to do up to `last` */
};

/* Goes on to `last`, or as far as a lone stream reads from open rows, or to a new first completion. */
enum dram_progress dram_queue_run(struct dram_queue *queue, uint64_t last);

/* The stream's next burst, a read that is open, enters at `clock`, in the place of one that ended at `place`. */
static inline void dram_run_enter(struct dram_run *run, uint64_t clock, uint64_t place)
{
    struct dram_queue *queue = run->queue;
    struct dram_stream *stream = run->stream;
    struct cnnvp_request *request = stream->first;
    request->scratch[DRAM_LATENCY] -= dram_sendable(queue, stream, place);
    request->scratch[DRAM_BURSTS] += (UINT64_C(1) << 24) + 1u;
    dram_take_place(stream);
    ++queue->reads;
    stream->taken = clock * queue->timing.tck_ps;
    stream->served = ++queue->served;
    queue->clock = clock;
    dram_read_enters(run->channel, &stream->place, clock, request, request->tag, (uint32_t)(stream - queue->streams));
    dram_queue_step(queue, stream);
}

/* `count` bursts of a request are complete, at clock `done` and each `spacing` later, and their ends noted. */
static inline void dram_note_done(struct dram_run *run, struct cnnvp_request *request, uint64_t done, uint64_t spacing,
                                  uint64_t count)
{
    struct dram_queue *queue = run->queue;
    const uint64_t tck = queue->timing.tck_ps, span = (count - 1u) * spacing;
    request->scratch[DRAM_TIME] = (done + span) * tck;
    if (!request->first_data)
        request->first_data = done * tck;
    request->scratch[DRAM_LATENCY] += (done * count + span * count / 2u) * tck;
    request->scratch[DRAM_BURSTS] -= count;
    queue->reads -= (uint32_t)count;
    if (!dram_request_pending(request) && queue->streams[cnnvp_dram_queue_stream(request)].first != request)
        dram_queue_end(queue, request);
}

/* `next`, of a waiting burst, belongs to the window that `columns` counts. If from it on RDs follow each other at one
 * spacing, those of one bank group or of two by turns: makes those of the bursts that wait, with what enters meanwhile,
 * and returns 1. */
int dram_train(struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

/* The same; if bursts of one row enter and issue by turns, each pair as the one before: makes all that fit before the
 * row, the request or the time ends, and returns 1. */
int dram_row_repeat(struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

/* 1 if all that waits are bursts of the stream's first request in the bank of `next`, and as many enter as issue, by
 * turns, each pair `spacing` clocks after the one before, while they are of one row. */
int dram_is_periodic(const struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

/* `count` bursts have entered, the last at clock `entered`, and as many have issued; the ends of those on their way are
 * what they were, `span` clocks later. `latency` clocks are the sum of what lies between sending and end. */
void dram_advance_periodic(struct dram_run *run, uint64_t entered, uint64_t count, uint64_t span, uint64_t latency);

/* If that is so and the next burst is the first of a row whose bank is closed: goes on to where it is so again in that
 * row, as it went the last time that it was like that, and returns 1. */
int dram_row_change(struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

/* It is so in the next burst's row: where that was changed to since dram_row_change() was asked, keeps how. */
void dram_change_learn(struct dram_run *run, uint64_t ready);

#endif
