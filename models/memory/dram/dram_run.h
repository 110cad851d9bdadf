/* SPDX-License-Identifier: Apache-2.0 */
/* Shortcuts for the reads of a single stream from open rows, without planning: along a row, from one row to the next,
 * and trains of waiting reads. Here is what they share. Host-free. */
#pragma once

#include "dram_columns.h"
#include "dram_stream.h"

struct dram_run {
    struct dram_queue *queue;
    struct dram_channel *channel;
    struct dram_stream *stream;           /* the only stream that waits; NULL: none does */
    uint64_t last;                        /* clock up to which the run decides */
    int cut;                              /* 1 if that is less than was asked for, because a refresh comes first */
    uint64_t latency;                     /* clocks from an RD to the end of its data */
    uint64_t spacing;                     /* clocks between two RDs in a bank group */
    uint64_t pace;                        /* clocks between two RDs along rows */
    uint64_t window_command, window_data; /* last clocks of the windows in which `columns` counts commands and data */
    struct dram_columns columns;          /* RDs that are not yet reported */
};

/* 1 if `columns` counts bursts of the request. */
static inline int dram_counts(const struct dram_run *run, const struct cnnvp_request *request)
{
    return request->tag == run->columns.tag && cnnvp_dram_queue_stream(request) == run->columns.source;
}

/* A burst of a request that reads along rows. */
struct dram_cursor {
    uint64_t address;
    struct dram_place place;
};

static inline struct dram_cursor dram_cursor_at(const struct dram_queue *queue, uint64_t address)
{
    return (struct dram_cursor){address, cnnvp_dram_map(&queue->map, address)};
}

static inline void dram_cursor_step(const struct dram_queue *queue, struct dram_cursor *cursor)
{
    cursor->address += DRAM_BURST_BYTES;
    if (cursor->address & queue->leaps)
        dram_follow(queue, cursor->address, &cursor->place);
    else
        cursor->place = cnnvp_dram_map(&queue->map, cursor->address);
}

/* Reports the RDs that `columns` counts. */
void dram_report(struct dram_run *run);

/* Reports the RDs that `columns` counts, and begins a new count at an RD at `clock` with data up to `done`. */
void dram_begin_window(struct dram_run *run, uint32_t tag, uint32_t source, uint64_t clock, uint64_t done);

/* Clock at which the data of the next RD have returned. */
static inline uint64_t dram_done_of(const struct dram_run *run, const struct dram_next_column *next)
{
    return cnnvp_maximum(next->clock + run->latency, run->channel->returned);
}

/* Clocks that the window of `columns` has left for RDs and their data, with the first RD at `ready`. */
static inline uint64_t dram_window_room(const struct dram_run *run, uint64_t ready)
{
    const uint64_t done = ready + run->latency;
    if (ready > run->window_command || done > run->window_data)
        return 0;
    return cnnvp_minimum(run->window_command - ready, run->window_data - done) + 1u;
}

/* Begins a new count if `columns` cannot count `next`, the RD of this burst. */
static inline void dram_count_from(struct dram_run *run, const struct dram_next_column *next,
                                   const struct dram_entry *entry)
{
    const uint64_t clock = next->clock, done = dram_done_of(run, next);
    if (clock < run->columns.clock || clock > run->window_command || done > run->window_data ||
        entry->source != run->columns.source || entry->tag != run->columns.tag || run->channel->bus[0].last_write != 0)
        dram_begin_window(run, entry->tag, entry->source, clock, done);
}

/* Counts an RD. */
static inline void dram_count(struct dram_run *run, const struct dram_next_column *next, const struct dram_entry *entry)
{
    dram_count_from(run, next, entry);
    ++run->columns.bursts;
    run->columns.hits += !entry->classified;
    run->columns.queue_clocks += next->clock - entry->entered;
}

/* Enters the stream's next burst, a read whose row is open, at `clock`. It takes the place of a burst that ended at
 * `place`. */
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

/* Accounts for `count` bursts of a request whose data end, the first at clock `done` and each `spacing` after the one
 * before. The stream's `ends` already include them. */
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

/* 1 if the stream is in steady state: all waiting bursts are of its first request, in one row or in one row of each
 * bank group in turn, and until the row ends one burst enters for each RD, every `pace` clocks. */
int dram_is_periodic(const struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

/* Advances the stream by `count` bursts that entered, the last at clock `entered`, and as many that issued. The ends of
 * the bursts in flight move by `span` clocks. `latency` and `waited` are sums in clocks, from sending to end and from
 * sending to entry. */
void dram_advance_periodic(struct dram_run *run, uint64_t entered, uint64_t count, uint64_t span, uint64_t latency,
                           uint64_t waited);

/* ---- along one row: dram_row.c ---- */

/* In steady state (dram_is_periodic()): makes all bursts that fit before the row, the request or the time ends, and
 * returns 1. Returns 0 if these are few. */
int dram_row_repeat(struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

/* ---- from the end of one row to the next: dram_change.c ---- */

/* If the stream is in steady state and its next burst is the first of a row whose bank is closed: goes on to the steady
 * state in that row as it did the last time in the same situation, and returns 1. Otherwise returns 0; if the situation
 * is new, begins to learn it. */
int dram_row_change(struct dram_run *run, const struct dram_next_column *next, uint64_t enters);

/* The stream is in steady state in the next burst's row. If dram_row_change() began to learn the change to this row,
 * keeps the result. */
void dram_change_learn(struct dram_run *run, uint64_t ready);

/* ---- trains: dram_train.c ---- */

/* `next` is the RD of a waiting burst, and `columns` can count it. If RDs follow from it on at one spacing, all in one
 * bank group or no two in a row in the same group: makes those of the waiting bursts, with the bursts that enter
 * meanwhile, and returns 1. */
int dram_train(struct dram_run *run, const struct dram_next_column *next, uint64_t enters);
