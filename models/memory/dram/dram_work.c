/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lower bound on the time of the next completion. A bound that is too early costs an event of the kernel, which ends
 * a run of the core; a bound that is too late would be an error.
 */
#include "dram_stream.h"

/* The banks and the alignment of requests with more rows or segments are not looked at. */
enum { ROWS = 8, SEGMENTS = 16 };

/* Minimum number of bursts of a segment. */
static uint64_t segment_bursts(const struct cnnvp_request *request)
{
    return (request->size + DRAM_BURST_BYTES - 1u) / DRAM_BURST_BYTES;
}

static uint64_t bursts_between(uint64_t from, uint64_t end)
{
    return (end - from + DRAM_BURST_BYTES - 1u) / DRAM_BURST_BYTES;
}

/* Minimum number of different bursts of a request from `address` in a segment on. A burst that ends a segment and
 * begins the next counts once. A write may replace one that waits. */
static uint64_t left_of(const struct cnnvp_request *request, uint64_t segment, uint64_t address)
{
    const uint64_t behind = request->count - segment - 1u;
    const uint64_t step = request->stride < 0 ? 0u - (uint64_t)request->stride : (uint64_t)request->stride;
    uint64_t start = dram_segment_start(request, segment);
    uint64_t bursts = bursts_between(address, start + request->size);
    const int can_end_and_begin = request->stride > 0 || request->size <= DRAM_BURST_BYTES;
    const int can_share = request->op == CNNVP_WRITE || can_end_and_begin;
    if (behind && can_share && step < request->size + DRAM_BURST_BYTES - 1u) {
        if (request->stride > 0) /* no whole burst lies between two segments */
            return bursts_between(address, start + behind * step + request->size);
        return step < request->size ? segment_bursts(request)
                                    : (behind * request->size + DRAM_BURST_BYTES - 1u) / DRAM_BURST_BYTES;
    }
    if (behind > SEGMENTS)
        return bursts + behind * segment_bursts(request);
    for (uint64_t i = 0; i < behind; ++i) {
        start += (uint64_t)request->stride;
        bursts += bursts_between(start / DRAM_BURST_BYTES * DRAM_BURST_BYTES, start + request->size);
    }
    return bursts;
}

static uint64_t left_to_enter(const struct dram_stream *stream)
{
    return left_of(stream->first, stream->segment, stream->address);
}

/* Minimum clocks from the first of `bursts` to the last, if a pseudo channel needs `each` clocks for one. */
static uint64_t spread(const struct dram_queue *queue, uint64_t bursts, uint64_t each)
{
    return bursts ? (bursts - 1u) / queue->map.lanes * each : 0;
}

static uint64_t latency(const struct dram_queue *queue)
{
    return queue->timing.t[DRAM_T_cl] + queue->timing.t[DRAM_T_bl];
}

/* Clocks between two RDs of one bank. */
static uint64_t spacing(const struct dram_queue *queue)
{
    return cnnvp_maximum(queue->timing.t[DRAM_T_ccd_s], queue->timing.t[DRAM_T_ccd_l]);
}

/* ---- bursts that queued writes answer: they take neither a command nor the bus ---- */

/* The range of addresses of a request, in whole bursts. */
static void span_of(const struct cnnvp_request *request, uint64_t *first, uint64_t *end)
{
    const uint64_t last = dram_segment_start(request, request->count - 1u);
    *first = cnnvp_minimum(request->address, last) / DRAM_BURST_BYTES * DRAM_BURST_BYTES;
    *end = (cnnvp_maximum(request->address, last) + request->size + DRAM_BURST_BYTES - 1u) / DRAM_BURST_BYTES *
           DRAM_BURST_BYTES;
}

/* The same of what is left of the stream's first request. */
static void span_left(const struct dram_stream *stream, uint64_t *first, uint64_t *end)
{
    const struct cnnvp_request *request = stream->first;
    span_of(request, first, end);
    if (stream->segment + 1u == request->count || (request->stride > 0 && (uint64_t)request->stride >= request->size))
        *first = stream->address / DRAM_BURST_BYTES * DRAM_BURST_BYTES; /* all other bursts lie behind it */
}

/* Number of queued writes to bursts between two addresses. */
static uint32_t writes_within(const struct dram_queue *queue, uint64_t first, uint64_t end)
{
    uint32_t within = 0;
    for (uint32_t i = 0; i < queue->options.channels; ++i) {
        const struct dram_channel *channel = &queue->channel[i];
        for (uint64_t banks = channel->waiting[1]; banks; banks &= banks - 1u)
            for (uint32_t at = channel->list[1][dram_lowest_bit(banks)].first; at != DRAM_NONE;
                 at = channel->entry[at].next)
                within += (uintptr_t)channel->entry[at].owner - first < end - first;
    }
    return within;
}

/* 1 if another stream has a waiting write request that overlaps the range between two addresses. */
static int write_comes(const struct dram_queue *queue, const struct dram_stream *stream, uint64_t first, uint64_t end)
{
    for (uint32_t i = 0; i < queue->stream_count; ++i) {
        if (queue->streams[i].op != CNNVP_WRITE || &queue->streams[i] == stream)
            continue;
        for (const struct cnnvp_request *write = queue->streams[i].first; write != NULL;
             write = dram_request_next(write)) {
            uint64_t from, to;
            span_of(write, &from, &to);
            if (from < end && first < to)
                return 1;
        }
    }
    return 0;
}

/* Maximum number of different bursts of the stream's requests that queued writes can answer; DRAM_NEVER if more writes
 * come. */
static uint64_t answered(const struct dram_queue *queue, const struct dram_stream *stream)
{
    uint64_t sum = 0;
    for (const struct cnnvp_request *request = stream->first; request != NULL; request = dram_request_next(request)) {
        uint64_t first, end;
        span_of(request, &first, &end);
        if (write_comes(queue, stream, first, end))
            return DRAM_NEVER;
        sum += writes_within(queue, first, end);
    }
    return sum;
}

/* ---- reads ---- */

/* Maximum reads in flight that any of a stream's requests allows. */
static uint64_t most_of(const struct dram_stream *stream)
{
    uint64_t most = 0;
    for (const struct cnnvp_request *request = stream->first; request != NULL; request = dram_request_next(request))
        most = cnnvp_maximum(most, dram_most(request));
    return most;
}

/* Minimum clocks to the end of the last of `bursts`. Queued writes may answer up to `others` of them; the bus carries
 * the rest. */
static uint64_t by_bus(const struct dram_queue *queue, uint64_t bursts, uint64_t others)
{
    const uint64_t carried = bursts > others ? bursts - others : 0;
    return carried || !others ? spread(queue, carried, queue->timing.t[DRAM_T_bl]) + latency(queue) : 0;
}

/* The same, because a burst can only enter when another ends, and at most `most` enter at one clock. */
static uint64_t by_places(const struct dram_queue *queue, const struct dram_stream *stream, uint64_t bursts,
                          uint64_t others, uint64_t most)
{
    const uint64_t unknown = stream->on_their_way - stream->end_count;
    if (bursts <= others && others)
        return bursts ? (bursts - 1u) / most : 0;
    return bursts ? (bursts - others - 1u + unknown) / most * (latency(queue) + 1u) + latency(queue) : latency(queue);
}

/* Reads that wait for a bank, in the queue or in activation. */
static uint64_t reads_of_bank(const struct dram_channel *channel, uint32_t bank)
{
    const uint8_t active = channel->bank[bank].active;
    return channel->list[0][bank].count + (active != DRAM_NONE && !channel->entry[active].write ? 1u : 0u);
}

/* Earliest clock at which one of the stream's waiting requests can complete; `start` is the clock of the next entry or
 * command. The first request can complete after the second: its bursts in flight then need not have ended. */
static uint64_t reads_end(const struct dram_queue *queue, const struct dram_stream *stream, uint64_t start)
{
    const struct cnnvp_request *second = dram_request_next(stream->first);
    const uint64_t left = left_to_enter(stream), most = most_of(stream);
    const uint64_t both = second != NULL ? left + left_of(second, 0, second->address) : left;
    const uint64_t rest = both > most ? both - most : 0, others = answered(queue, stream);
    const uint64_t alone = cnnvp_maximum(by_bus(queue, left, others), by_places(queue, stream, left, others, most));
    if (second == NULL)
        return start + alone;
    /* queued writes may answer the last bursts, which then end before entered bursts of the first request */
    const uint64_t behind = by_places(queue, stream, both, others, most), ahead = others ? latency(queue) : 0;
    const uint64_t after = cnnvp_maximum(by_bus(queue, rest, others), behind > ahead ? behind - ahead : 0);
    return start + cnnvp_minimum(alone, after);
}

/* The same for a request whose bursts have all entered. */
static uint64_t entered_ends(const struct dram_queue *queue, const struct cnnvp_request *request, uint64_t start)
{
    const uint64_t pending = dram_request_pending(request);
    const uint64_t bus = spread(queue, pending, queue->timing.t[DRAM_T_bl]);
    const struct dram_channel *channel = queue->channel;
    if (queue->map.lanes > 1)
        return start + bus + latency(queue);
    uint64_t most = 0;
    for (uint64_t banks = channel->waiting[0] | channel->active; banks; banks &= banks - 1u)
        most = cnnvp_maximum(most, reads_of_bank(channel, dram_lowest_bit(banks)));
    const uint64_t elsewhere = channel->count[0] + channel->active_count - most;
    const uint64_t row = pending > elsewhere ? (pending - elsewhere - 1u) * spacing(queue) : 0;
    return start + cnnvp_maximum(bus, row) + latency(queue);
}

/* ---- writes ---- */

/* Number of banks with waiting writes, or to which the stream's first request will write; all if that is not known. */
static uint32_t write_banks(const struct dram_queue *queue, const struct dram_stream *stream)
{
    const uint64_t row_bytes = (queue->map.mask[DRAM_COLUMN] + UINT64_C(1)) * DRAM_BURST_BYTES;
    uint64_t first, end, banks = queue->channel->waiting[1] | queue->channel->active;
    span_left(stream, &first, &end);
    if (queue->turns != 1 || (end - first) / row_bytes >= ROWS)
        return queue->options.ranks * queue->timing.groups * queue->timing.banks;
    for (uint64_t at = first; at < end; at = (at / row_bytes + 1u) * row_bytes)
        banks |= UINT64_C(1) << cnnvp_dram_map(&queue->map, at).bank;
    return (uint32_t)__builtin_popcountll(banks);
}

/* Earliest clock at which the stream's first write request can complete. A command makes room for one burst: a WR, or
 * an ACT, whose burst leaves the queue before its WR. A burst to the location of a queued write needs no room. */
static uint64_t writes_end(const struct dram_queue *queue, const struct dram_stream *stream, uint64_t start)
{
    const uint64_t left = left_to_enter(stream), capacity = queue->options.queue;
    const uint32_t *t = queue->timing.t;
    const int lone = queue->map.lanes == 1;
    const uint64_t fit = capacity * queue->options.channels - (lone ? queue->channel->count[1] : 0);
    uint64_t first, end;
    if (left <= fit)
        return start;
    span_left(stream, &first, &end);
    const uint64_t room = fit + writes_within(queue, first, end);
    if (left <= room || write_comes(queue, stream, first, end))
        return start + !cnnvp_dram_channel_takes(&queue->channel[stream->place.channel], &stream->place, 1);
    if (!lone)
        return start + spread(queue, left - room, 1) / queue->timing.buses + 1u;
    const uint64_t leave = left - room, banks = write_banks(queue, stream);
    const uint64_t each = banks == 1u ? spacing(queue) : t[DRAM_T_ccd_s];
    const uint64_t commands = (leave - 1u) / queue->timing.buses;
    return start + cnnvp_maximum(commands, leave > banks + 1u ? (leave - banks - 1u) * each : 0) + 1u;
}

uint64_t dram_work(const struct dram_queue *queue, uint64_t start)
{
    uint64_t least = DRAM_NEVER;
    for (uint64_t left = queue->waiting; left; left &= left - 1u) {
        const struct dram_stream *stream = &queue->streams[dram_lowest_bit(left)];
        least = cnnvp_minimum(
            least, stream->op == CNNVP_READ ? reads_end(queue, stream, start) : writes_end(queue, stream, start));
    }
    for (const struct cnnvp_request *request = queue->entered; request != NULL; request = dram_request_next(request))
        least = cnnvp_minimum(least, entered_ends(queue, request, start));
    return least;
}
