/* SPDX-License-Identifier: Apache-2.0 */
/* See dram_stream.h. Requests are linked through their scratch words, so nothing is allocated for one. */
#include "dram_stream.h"

static void point_at(const struct dram_queue *queue, struct dram_stream *stream, uint64_t address)
{
    stream->address = address / DRAM_BURST_BYTES * DRAM_BURST_BYTES;
    stream->place = cnnvp_dram_map(&queue->map, address);
}

void dram_stream_begin(struct dram_queue *queue, struct dram_stream *stream, struct cnnvp_request *request)
{
    const uint64_t bit = UINT64_C(1) << (stream - queue->streams);
    stream->first = request;
    stream->segment = 0;
    if (request == NULL) {
        queue->waiting &= ~bit;
        return;
    }
    queue->waiting |= bit;
    stream->arrival = request->scratch[DRAM_TIME];
    stream->arrival_clock = stream->arrival / queue->timing.tck_ps;
    stream->most = dram_most(request);
    stream->segment_end = request->address + request->size;
    request->scratch[DRAM_TIME] = 0;
    point_at(queue, stream, request->address);
}

void dram_stream_finish(struct dram_queue *queue, struct cnnvp_request *request, cnnvp_time at)
{
    struct cnnvp_request *before = NULL;
    struct cnnvp_request *after = queue->done;
    while (after != NULL && after->scratch[DRAM_TIME] <= at) {
        before = after;
        after = dram_request_next(after);
    }
    request->scratch[DRAM_TIME] = at;
    dram_set_next(request, after);
    if (before != NULL)
        dram_set_next(before, request);
    else
        queue->done = request;
}

void dram_stream_leap(struct dram_queue *queue, struct dram_stream *stream)
{
    struct cnnvp_request *request = stream->first;
    const uint64_t behind = stream->address + DRAM_BURST_BYTES;
    if (behind < stream->segment_end) {
        point_at(queue, stream, behind);
        return;
    }
    while (++stream->segment < request->count) {
        const uint64_t start = dram_segment_start(request, stream->segment);
        const int held = start / DRAM_BURST_BYTES == stream->address / DRAM_BURST_BYTES;
        stream->segment_end = start + request->size;
        if (held && behind >= stream->segment_end)
            continue;
        point_at(queue, stream, held ? behind : start);
        return;
    }
    dram_stream_begin(queue, stream, dram_request_next(request));
    if (dram_request_pending(request)) {
        dram_set_next(request, queue->entered);
        queue->entered = request;
    } else {
        dram_stream_finish(queue, request, request->scratch[DRAM_TIME]);
    }
}

/* Removes a request from `entered`. */
static void leave_entered(struct dram_queue *queue, struct cnnvp_request *request)
{
    struct cnnvp_request *before = queue->entered;
    if (before == request) {
        queue->entered = dram_request_next(request);
        return;
    }
    while (dram_request_next(before) != request)
        before = dram_request_next(before);
    dram_set_next(before, dram_request_next(request));
}

void dram_stream_end(struct dram_queue *queue, struct cnnvp_request *request)
{
    leave_entered(queue, request);
    dram_stream_finish(queue, request, request->scratch[DRAM_TIME]);
}
