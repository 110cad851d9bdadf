/* SPDX-License-Identifier: Apache-2.0 */
/* See dram_queue.h. */
#include "dram_queue.h"

#include "dram_policy.h"

#include <stdlib.h>

static uint32_t turns_of(const struct dram_queue *queue)
{
    const struct dram_map *map = &queue->map;
    const uint32_t groups = queue->timing.groups, *t = queue->timing.t;
    if (map->lanes > 1)
        return 0;
    if (map->shift[DRAM_COLUMN] == 0)
        return 1;
    /* at the border of two blocks, a group has its turn again one turn sooner */
    return map->shift[DRAM_GROUP] == 0 && map->shift[DRAM_COLUMN] == map->group_bits &&
                   t[DRAM_T_ccd_l] <= (groups - 1u) * t[DRAM_T_ccd_s]
               ? groups
               : 0;
}

int cnnvp_dram_queue_init(struct dram_queue *queue, const struct dram_options *options,
                          const struct dram_timing *timing)
{
    queue->options = *options;
    queue->timing = *timing;
    cnnvp_dram_map_init(options, timing, &queue->map);
    queue->turns = turns_of(queue);
    queue->port.burst_fs = cnnvp_dram_port_time(options, timing);
    queue->leaps = cnnvp_minimum(DRAM_BLOCK, timing->columns * queue->turns) * DRAM_BURST_BYTES - 1u;
    /* one channel more to look ahead with */
    queue->channel = calloc(options->channels + 1u, sizeof *queue->channel);
    if (queue->channel == NULL)
        return CNNVP_E_NOMEM;
    cnnvp_dram_queue_reset(queue, 0);
    return CNNVP_OK;
}

static void free_streams(struct dram_queue *queue)
{
    for (uint32_t i = 0; i < queue->stream_count; ++i)
        free(queue->streams[i].ends);
    queue->stream_count = 0;
    queue->waiting = 0;
}

void cnnvp_dram_queue_fini(struct dram_queue *queue)
{
    free_streams(queue);
    free(queue->channel);
    queue->channel = NULL;
}

void cnnvp_dram_queue_show(struct dram_queue *queue, struct dram_windows *windows)
{
    for (uint32_t i = 0; i < queue->options.channels; ++i)
        queue->channel[i].windows = windows;
}

void cnnvp_dram_queue_reset(struct dram_queue *queue, cnnvp_time now)
{
    struct dram_windows *const windows = queue->channel[0].windows;
    free_streams(queue);
    cnnvp_dram_queue_counts(queue, &queue->before);
    queue->clock = now / queue->timing.tck_ps + 1u;
    for (uint32_t i = 0; i < queue->options.channels; ++i)
        cnnvp_dram_channel_init(&queue->channel[i], &queue->options, &queue->timing, queue->clock);
    cnnvp_dram_queue_show(queue, windows);
    queue->served = queue->decided = queue->fair = 0;
    queue->port = (struct dram_port){.burst_fs = queue->port.burst_fs};
    queue->reads = 0;
    queue->change_begun.request = NULL;
    queue->entered = NULL;
    queue->done = NULL;
}

void cnnvp_dram_queue_counts(const struct dram_queue *queue, struct dram_counts *counts)
{
    struct dram_counts sum = queue->before;
    for (uint32_t i = 0; i < queue->options.channels; ++i)
        cnnvp_dram_counts_add(&sum, &queue->channel[i].counts);
    *counts = sum;
}

/* ---- requests ---- */

static struct dram_stream *stream_of(struct dram_queue *queue, const struct cnnvp_request *request)
{
    for (uint32_t i = 0; i < queue->stream_count; ++i)
        if (queue->streams[i].initiator == request->initiator && queue->streams[i].op == request->op)
            return &queue->streams[i];
    if (queue->stream_count == DRAM_STREAMS)
        return NULL;
    struct dram_stream *stream = &queue->streams[queue->stream_count];
    *stream = (struct dram_stream){.initiator = request->initiator, .op = request->op};
    stream->each = DRAM_FAIR / (queue->share != NULL ? queue->share(queue->context, request->initiator) : 1u);
    stream->ends = calloc(DRAM_OUTSTANDING, sizeof *stream->ends);
    if (stream->ends == NULL)
        return NULL;
    ++queue->stream_count;
    return stream;
}

int cnnvp_dram_queue_add(struct dram_queue *queue, struct cnnvp_request *request, cnnvp_time now)
{
    struct dram_stream *stream = stream_of(queue, request);
    if (stream == NULL)
        return queue->stream_count == DRAM_STREAMS ? CNNVP_E_STATE : CNNVP_E_NOMEM;
    if (now / queue->timing.tck_ps > queue->decided)
        cnnvp_dram_queue_catch_up(queue, now);
    dram_set_next(request, NULL);
    request->scratch[DRAM_TIME] = now;
    request->scratch[DRAM_BURSTS] = (uint64_t)(stream - queue->streams) << 16;
    request->scratch[DRAM_LATENCY] = 0;
    if (stream->first != NULL)
        dram_set_next(stream->last, request);
    else
        dram_stream_begin(queue, stream, request);
    stream->last = request;
    return CNNVP_OK;
}

/* ---- bursts ---- */

/* 1 if a burst of `a` goes before one of `b` that can enter at the same clock. */
static int precedes(const struct dram_queue *queue, const struct dram_stream *a, const struct dram_stream *b)
{
    const struct dram_arbiter *arbiter = dram_arbiters[queue->options.arbiter];
    const int first = arbiter->precedes != NULL ? arbiter->precedes(queue, a, b) : -1;
    if (first >= 0)
        return first;
    if (a->served != b->served)
        return a->served < b->served;
    if (a->initiator != b->initiator)
        return a->initiator < b->initiator;
    return a->op < b->op;
}

static struct dram_stream *choose(struct dram_queue *queue, uint64_t *clock)
{
    struct dram_stream *best = NULL;
    *clock = DRAM_NEVER;
    for (uint64_t left = queue->waiting; left; left &= left - 1u) {
        struct dram_stream *stream = &queue->streams[dram_lowest_bit(left)];
        const uint64_t at = dram_entering(queue, stream, dram_free_place(stream));
        if (at < *clock || (at == *clock && best != NULL && precedes(queue, stream, best))) {
            best = stream;
            *clock = at;
        }
    }
    return best;
}

/* Occupies the port for a burst, from when the port became free if that was within the last clock. */
static void hold_port(struct dram_queue *queue, uint32_t op, uint64_t clock)
{
    struct dram_port *port = &queue->port;
    const uint64_t tck = queue->timing.tck_ps * DRAM_FS, now = clock * tck;
    if (!port->burst_fs)
        return;
    port->free_fs[op] = (port->free_fs[op] + tck > now ? port->free_fs[op] : now) + port->burst_fs;
    port->free[op] = (port->free_fs[op] + tck - 1u) / tck;
}

/* Records the end of a read. */
static void note_end(const struct dram_queue *queue, struct dram_stream *stream, struct cnnvp_request *request,
                     uint64_t end)
{
    const cnnvp_time time = end * queue->timing.tck_ps;
    dram_keep_end(stream->ends, stream->end_first, &stream->end_count, end);
    if (time > request->scratch[DRAM_TIME])
        request->scratch[DRAM_TIME] = time;
    if (!request->first_data || time < request->first_data)
        request->first_data = time;
    request->scratch[DRAM_LATENCY] += time;
}

/* Enters the stream's next burst. */
static void enter(struct dram_queue *queue, struct dram_stream *stream, uint64_t clock)
{
    struct cnnvp_request *request = stream->first;
    const uint32_t write = stream->op == CNNVP_WRITE;
    const cnnvp_time sent = dram_sendable(queue, stream, dram_free_place(stream));
    const uint32_t source = (uint32_t)(stream - queue->streams);
    uint64_t end;
    queue->clock = clock;
    stream->taken = clock * queue->timing.tck_ps;
    stream->waited += stream->taken - sent;
    dram_stream_served(queue, stream, 1);
    hold_port(queue, stream->op, clock);
    request->scratch[DRAM_BURSTS] += UINT64_C(1) << 24;
    request->scratch[DRAM_LATENCY] -= sent;
    struct dram_channel *channel = &queue->channel[stream->place.channel];
    const enum dram_enter how =
        cnnvp_dram_channel_enter(channel, &stream->place, write, clock,
                                 write ? (void *)(uintptr_t)stream->address : request, request->tag, source, &end);
    if (queue->burst != NULL)
        queue->burst(queue->context, stream, request, clock);
    if (write) {
        request->scratch[DRAM_LATENCY] += stream->taken;
        request->scratch[DRAM_TIME] = stream->taken;
        if (!request->first_data)
            request->first_data = stream->taken;
    } else {
        dram_take_place(stream);
        if (how == DRAM_FORWARDED) {
            note_end(queue, stream, request, end);
        } else {
            ++request->scratch[DRAM_BURSTS];
            ++queue->reads;
        }
    }
    dram_stream_step(queue, stream);
}

/* Enters the stream's next burst and, while no other stream waits, those after it that can enter at the same clock: no
 * command comes before them. */
static void enter_all(struct dram_queue *queue, struct dram_stream *stream, uint64_t clock)
{
    const uint64_t alone = UINT64_C(1) << (stream - queue->streams);
    do
        enter(queue, stream, clock);
    while (queue->waiting == alone && dram_entering(queue, stream, dram_free_place(stream)) == clock);
}

/* ---- the channels ---- */

static struct dram_channel *first_channel(struct dram_queue *queue, uint64_t *clock)
{
    return dram_first_channel(queue->channel, queue->options.channels, clock);
}

/* A clock before which no channel issues anything, whatever its plan will be. */
static uint64_t earliest_command(const struct dram_queue *queue)
{
    uint64_t earliest = DRAM_NEVER;
    for (uint32_t i = 0; i < queue->options.channels; ++i)
        earliest = cnnvp_minimum(earliest, cnnvp_minimum(queue->channel[i].clock, queue->channel[i].refresh_at));
    return earliest;
}

static inline void note_issued(struct dram_queue *queue, const struct dram_issued *issued)
{
    /* a burst that has left a queue makes room at the next clock */
    if (issued->clock >= queue->clock)
        queue->clock = issued->clock + 1u;
    if (queue->issued != NULL)
        queue->issued(queue->context, issued);
    if (issued->command != DRAM_RD && issued->command != DRAM_RDA)
        return;
    struct cnnvp_request *request = issued->entry.owner;
    struct dram_stream *stream = &queue->streams[cnnvp_dram_queue_stream(request)];
    note_end(queue, stream, request, issued->done);
    --request->scratch[DRAM_BURSTS];
    --queue->reads;
    if (!dram_request_pending(request) && stream->first != request)
        dram_stream_end(queue, request);
}

static void issue(struct dram_queue *queue, struct dram_channel *channel)
{
    struct dram_issued issued;
    cnnvp_dram_channel_issue(channel, &issued);
    if (issued.command != DRAM_REFRESH_DUE)
        note_issued(queue, &issued);
}

/* ---- time ---- */

static int channels_wait(const struct dram_queue *queue)
{
    return dram_channels_wait(queue->channel, queue->options.channels);
}

static void run(struct dram_queue *queue, cnnvp_time bound, int idle_too)
{
    const int reads = dram_reads_are_possible(queue);
    cnnvp_time due = cnnvp_dram_queue_due(queue);
    uint64_t last = (due < bound ? due : bound) / queue->timing.tck_ps; /* a completion can cause a request */
    for (;;) {
        uint64_t enters, commands;
        if (cnnvp_dram_queue_due(queue) < due) {
            due = cnnvp_dram_queue_due(queue);
            last = (due < bound ? due : bound) / queue->timing.tck_ps;
        }
        const enum dram_progress progress =
            reads && dram_reads_are_next(queue) ? dram_reads_run(queue, last) : DRAM_STUCK;
        if (progress == DRAM_DECIDED)
            break;
        if (progress == DRAM_MOVED && cnnvp_dram_queue_due(queue) < due)
            continue;
        struct dram_stream *stream = choose(queue, &enters);
        if (enters <= last && enters <= earliest_command(queue)) { /* a plan made here would have to be made again */
            enter_all(queue, stream, enters);
            continue;
        }
        struct dram_channel *channel = first_channel(queue, &commands);
        const uint64_t first = enters < commands ? enters : commands;
        if (first > last)
            break;
        if (enters <= commands)
            enter_all(queue, stream, enters);
        else if (idle_too || queue->waiting || channels_wait(queue))
            issue(queue, channel);
        else
            return;
    }
    queue->decided = last;
}

void cnnvp_dram_queue_schedule(struct dram_queue *queue, cnnvp_time bound)
{
    run(queue, bound, 0);
}

void cnnvp_dram_queue_catch_up(struct dram_queue *queue, cnnvp_time now)
{
    const uint64_t clock = now / queue->timing.tck_ps;
    for (uint32_t i = 0; i < queue->options.channels && !queue->waiting && !queue->reads; ++i)
        cnnvp_dram_channel_skip(&queue->channel[i], clock);
    run(queue, now, 1);
    for (uint32_t i = 0; i < queue->options.channels; ++i)
        cnnvp_dram_channel_count_low(&queue->channel[i], clock);
}

void cnnvp_dram_queue_classify(struct dram_queue *queue,
                               void (*classified)(void *context, const struct dram_issued *issued))
{
    struct dram_channel *copy = &queue->channel[queue->options.channels];
    for (uint32_t i = 0; i < queue->options.channels; ++i) {
        if (!cnnvp_dram_channel_waiting(&queue->channel[i]))
            continue;
        *copy = queue->channel[i];
        copy->windows = NULL;
        while (cnnvp_dram_channel_waiting(copy)) {
            struct dram_issued issued;
            cnnvp_dram_channel_issue(copy, &issued);
            if (issued.row_class != DRAM_UNCLASSIFIED)
                classified(queue->context, &issued);
        }
    }
}

void cnnvp_dram_queue_unfinished(const struct dram_queue *queue,
                                 void (*unfinished)(void *context, const struct cnnvp_request *request))
{
    for (uint32_t i = 0; i < queue->stream_count; ++i)
        if (queue->streams[i].first != NULL && cnnvp_dram_queue_bursts(queue->streams[i].first) != 0)
            unfinished(queue->context, queue->streams[i].first);
    for (const struct cnnvp_request *request = queue->entered; request != NULL; request = dram_request_next(request))
        unfinished(queue->context, request);
    for (const struct cnnvp_request *request = queue->done; request != NULL; request = dram_request_next(request))
        if (cnnvp_dram_queue_bursts(request) != 0)
            unfinished(queue->context, request);
}

struct cnnvp_request *cnnvp_dram_queue_take(struct dram_queue *queue)
{
    struct cnnvp_request *request = queue->done;
    queue->done = dram_request_next(request);
    return request;
}

cnnvp_time cnnvp_dram_queue_work(struct dram_queue *queue)
{
    uint64_t enters, commands;
    if (!queue->waiting && !queue->reads)
        return CNNVP_TIME_NEVER;
    (void)choose(queue, &enters);
    (void)first_channel(queue, &commands);
    /* if nothing waits, the next commands are refreshes, which may be long overdue */
    return dram_work(queue, channels_wait(queue) ? cnnvp_minimum(enters, commands) : enters) * queue->timing.tck_ps;
}
