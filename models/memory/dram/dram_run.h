/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of a lone stream from open rows, without planning: the shortcuts along a row, from one row to the next and of
 * all that wait, and what they share. Host-free. */
#ifndef CNNVP_DRAM_RUN_H
#define CNNVP_DRAM_RUN_H

#include "dram_columns.h"
#include "dram_stream.h"

struct dram_run {
    struct dram_queue *queue;
    struct dram_channel *channel;
    struct dram_stream *stream;           /* the only one that waits, NULL: none does */
    uint64_t last;                        /* clock up to which things are decided, */
    int cut;                              /* which is less far than was asked for */
    uint64_t latency;                     /* of RD to the end of its data, clocks */
    uint64_t spacing;                     /* of RD to RD in a bank group, clocks */
    uint64_t pace;                        /* of RD to RD along rows, clocks */
    uint64_t window_command, window_data; /* last clocks of the windows in which `columns` counts */
    struct dram_columns columns;          /* not yet reported */
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
    return cnnvp_maximum(next->clock + run->latency, run->channel->returned);
}

/* Clocks that the window which `columns` counts has for RDs and their data, the first RD at `ready`. */
static inline uint64_t dram_window_room(const struct dram_run *run, uint64_t ready)
{
    const uint64_t done = ready + run->latency;
    if (ready > run->window_command || done > run->window_data)
        return 0;
    return cnnvp_minimum(run->window_command - ready, run->window_data - done) + 1u;
}

/* The same where that is so. `next`, of this burst, can be counted. */
static inline void dram_count_from(struct dram_run *run, const struct dram_next_column *next,
                                   const struct dram_entry *entry)
{
    const uint64_t clock = next->clock, done = dram_done_of(run, next);
    if (clock < run->columns.clock || clock > run->window_command || done > run->window_data ||
        entry->source != run->columns.source || entry->tag != run->columns.tag || run->channel->bus[0].last_write != 0)
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

/* The stream's next burst, a read that is open, enters at `clock`, in the place of one that ended at `place`. */
static inline void dram_run_enter(struct dram_run *run, uint64_t clock, uint64_t place)
{
    struct dram_queue *queue = run->queue;
    struct dram_stream *stream = run->stream;
    struct cnnvp_request *request = stream->first;
    const cnnvp_time sent = dram_sendable(queue, stream, place);
    request->scratch[DRAM_LATENCY] -= sent;
    request->scratch[DRAM_BURSTS] += (UINT64_C(1) << 24) + 1u;
    dram_take_place(stream);
    ++queue->reads;
    stream->taken = clock * queue->timing.tck_ps;
    stream->waited += stream->taken - sent;
    dram_stream_served(queue, stream, 1);
    queue->clock = clock;
    dram_read_enters(run->channel, &stream->place, clock, request, request->tag, (uint32_t)(stream - queue->streams));
    dram_stream_step(queue, stream);
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
        dram_stream_end(queue, request);
}

/* 1 if all that waits are bursts of the stream's first request in the bank of `next`, and as many enter as issue, by
 * turns, each pair `spacing` clocks after the one before, while they are of one row. */
int dram_is_periodic(const struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

/* `count` bursts have entered, the last at clock `entered`, and as many have issued; the ends of those on their way are
 * what they were, `span` clocks later. `latency` and `waited` clocks are the sums of what lies between sending and end,
 * and sending and entering. */
void dram_advance_periodic(struct dram_run *run, uint64_t entered, uint64_t count, uint64_t span, uint64_t latency,
                           uint64_t waited);

/* ---- along one row: dram_row.c ---- */

/* Bursts of one row enter and issue by turns (dram_is_periodic()): makes all that fit before the row, the request or
 * the time ends, and returns 1; 0 if there are few. */
int dram_row_repeat(struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

/* ---- from the end of one row to the next: dram_change.c ---- */

/* If bursts of one row enter and issue by turns (dram_is_periodic()), and the next burst is the first of a row whose
 * bank is closed: goes on to where it is so again in that row, as it went the last time that it was like that, and
 * returns 1. */
int dram_row_change(struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

/* It is so in the next burst's row: if that was changed to since dram_row_change() was asked, keeps how. */
void dram_change_learn(struct dram_run *run, uint64_t ready);

/* ---- trains: dram_train.c ---- */

/* `next`, of a waiting burst, belongs to the window that `columns` counts. If from it on RDs follow each other at one
 * spacing, those of one bank group or of two by turns: makes those of the bursts that wait, with what enters meanwhile,
 * and returns 1. */
int dram_train(struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

#endif
