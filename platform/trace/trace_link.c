/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bandwidth of links: bytes in windows of time. A unit passes on a whole tile at one time, but the bytes cross the link
 * while the unit works on it. A transfer is therefore spread evenly over its duration. For a split transaction this is
 * the time from its first data to its completion; otherwise it is the span that the initiator reports for the same
 * instruction.
 */
#include "trace.h"

#include "windows.h"

#include <errno.h>
#include <stdlib.h>

#define PICOSECONDS_PER_SECOND UINT64_C(1000000000000)

/* ---- windows ---- */

/* Window sizes are 100 ns times at most 2^7 5^7, reached factor by factor, so that a second has a whole number of
 * windows. */
static void widen(struct cnnvp_trace *trace)
{
    const uint32_t factor = trace->widened++ < 7 ? 2 : 5;

    for (uint32_t i = trace->fixed_streams; i < trace->stream_count; ++i) {
        struct cnnvp_stream *stream = &trace->streams[i];

        stream->window_count = cnnvp_windows_widen(stream->windows, stream->window_count, factor);
    }
    trace->window_ps *= factor;
}

static int is_too_late(const struct cnnvp_trace *trace, cnnvp_time time)
{
    return time / trace->window_ps >= CNNVP_LINK_WINDOWS && trace->window_ps < PICOSECONDS_PER_SECOND;
}

static void add(void *context, uint64_t window, uint64_t bytes)
{
    struct cnnvp_stream *stream = context;
    uint32_t index = window < CNNVP_LINK_WINDOWS ? (uint32_t)window : CNNVP_LINK_WINDOWS - 1;

    stream->windows[index] += bytes;
    if (index >= stream->window_count)
        stream->window_count = index + 1;
}

static void spread(struct cnnvp_trace *trace, const struct cnnvp_moved *transfer)
{
    struct cnnvp_stream *stream = &trace->streams[trace->fixed_streams + transfer->link];
    cnnvp_time end = transfer->end > transfer->begin ? transfer->end : transfer->begin + 1;

    while (is_too_late(trace, end - 1))
        widen(trace);
    if (stream->windows == NULL)
        stream->windows = calloc(CNNVP_LINK_WINDOWS, sizeof *stream->windows);
    if (stream->windows == NULL) {
        trace->error = ENOMEM;
        return;
    }
    cnnvp_windows_spread(trace->window_ps, transfer->begin, end, transfer->bytes, add, stream);
}

/* ---- transfers ---- */

static void settle_first(struct cnnvp_trace *trace)
{
    spread(trace, &trace->waiting[0]);
    --trace->waiting_count;
    for (uint32_t i = 0; i < trace->waiting_count; ++i)
        trace->waiting[i] = trace->waiting[i + 1];
}

void cnnvp_trace_transfer(struct cnnvp_trace *trace, const struct cnnvp_moved *transfer)
{
    if (transfer->link >= trace->stream_count - trace->fixed_streams || !transfer->bytes || trace->error)
        return;
    if (!transfer->flow) {
        spread(trace, transfer);
        return;
    }
    if (trace->waiting_count == CNNVP_WAITING_TRANSFERS)
        settle_first(trace);
    trace->waiting[trace->waiting_count++] = *transfer;
}

void cnnvp_trace_settle(struct cnnvp_trace *trace, uint32_t instance, uint64_t flow, cnnvp_time begin, cnnvp_time end)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < trace->waiting_count; ++i) {
        struct cnnvp_moved transfer = trace->waiting[i];

        if (transfer.flow == flow && trace->streams[trace->fixed_streams + transfer.link].instance == instance) {
            transfer.begin = begin;
            transfer.end = end;
            spread(trace, &transfer);
        } else {
            trace->waiting[kept++] = transfer;
        }
    }
    trace->waiting_count = kept;
}

void cnnvp_trace_links_finish(struct cnnvp_trace *trace, cnnvp_time end)
{
    while (trace->waiting_count)
        settle_first(trace);
    while (is_too_late(trace, end))
        widen(trace);
}

/* ---- limits ---- */

/* Moves the excess of each window to the next one; what is left at the end moves back. */
static void level(struct cnnvp_stream *stream, uint64_t most)
{
    uint64_t *windows = stream->windows;
    uint64_t rest = 0;

    for (uint32_t i = 0; i < CNNVP_LINK_WINDOWS && (i < stream->window_count || rest); ++i) {
        windows[i] += rest;
        rest = windows[i] > most ? windows[i] - most : 0;
        windows[i] -= rest;
        if (i == stream->window_count)
            ++stream->window_count;
    }
    for (uint32_t i = CNNVP_LINK_WINDOWS; i-- > 0 && rest;) {
        uint64_t fits = most - windows[i] < rest ? most - windows[i] : rest;

        windows[i] += fits;
        rest -= fits;
    }
    windows[0] += rest;
}

void cnnvp_trace_limit(struct cnnvp_trace *trace, uint32_t instance, uint64_t bytes_per_s)
{
    uint64_t most = bytes_per_s / (PICOSECONDS_PER_SECOND / trace->window_ps);

    for (uint32_t i = trace->fixed_streams; i < trace->stream_count && most; ++i)
        if (trace->streams[i].index == instance && trace->streams[i].windows != NULL)
            level(&trace->streams[i], most);
}
