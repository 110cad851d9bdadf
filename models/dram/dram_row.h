/* SPDX-License-Identifier: Apache-2.0 */
/* Between the queue in front of the channels (dram_queue.c), its shortcut along a row (dram_row.c) and what it expects
 * (dram_work.c). Host-free. */
#ifndef CNNVP_DRAM_ROW_H
#define CNNVP_DRAM_ROW_H

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

/* Clocks of the next burst that enters a queue and of the next command; DRAM_NEVER where something else must happen first. */
void dram_queue_next(struct dram_queue *queue, uint64_t *enters, uint64_t *commands);

/* Reads that a request may have on their way. */
static inline uint32_t dram_most(const struct cnnvp_request *request)
{
    return request->outstanding < DRAM_OUTSTANDING ? request->outstanding : DRAM_OUTSTANDING;
}

/* When the requester can send the stream's next burst; CNNVP_TIME_NEVER if that is not known yet. */
static inline cnnvp_time cnnvp_dram_queue_sendable(const struct dram_queue *queue, const struct dram_stream *stream)
{
    if (stream->op == CNNVP_WRITE)
        return stream->taken > stream->arrival ? stream->taken : stream->arrival;
    const uint32_t most = dram_most(stream->first);
    if (stream->on_their_way < most)
        return stream->arrival;
    const uint32_t index = stream->on_their_way - most;
    if (index >= stream->end_count)
        return CNNVP_TIME_NEVER;
    const cnnvp_time place = stream->ends[(stream->end_first + index) % DRAM_OUTSTANDING] * queue->timing.tck_ps;
    return place > stream->arrival ? place : stream->arrival;
}

/* Reads that have ended before `clock` give their place back. */
static inline void cnnvp_dram_queue_take_ends(struct dram_stream *stream, uint64_t clock)
{
    while (stream->end_count && stream->ends[stream->end_first] < clock) {
        stream->end_first = (stream->end_first + 1u) % DRAM_OUTSTANDING;
        --stream->end_count;
        --stream->on_their_way;
    }
}

/* The only stream that waits reads, the channel's reads are open: goes on up to clock `last`, no refresh being due by then, as long
 * as its first request reads along the row, but for the last burst. Returns whether anything was done. */
int cnnvp_dram_queue_run_row(struct dram_queue *queue, struct dram_stream *stream, uint64_t last);

#endif
