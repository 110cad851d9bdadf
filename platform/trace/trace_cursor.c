/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one stream of a trace in order of time. Needs memory for one chunk if the stream has spilled.
 *
 * Records that are out of order by at most REORDER records are sorted. A later record, or a span that begins inside its
 * predecessor, is moved to the predecessor's end. Times on a stream therefore never decrease, and spans of a track do
 * not overlap, whatever a model reports.
 */
#include "trace_cursor.h"

#include "trace_record.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Records read ahead in a stream that is out of order; a power of two. */
#define REORDER 32u

#define PICOSECONDS_PER_SECOND UINT64_C(1000000000000)

struct record {
    cnnvp_time time;
    uint64_t length; /* of a span */
    uint64_t value;  /* flow of a span; value; level */
    uint32_t name;
    uint32_t tag;
    int has_about; /* for a span */
    struct cnnvp_command about;
};

/* Ring buffer, sorted by time. */
struct cnnvp_ahead {
    struct record records[REORDER];
    uint32_t first;
    uint32_t count;
};

/* ---- decoding ---- */

static int fail(struct cnnvp_trace *trace, int error)
{
    trace->error = error;
    return 0;
}

static int read_spill(struct cnnvp_trace *trace, const struct cnnvp_chunk *chunk, unsigned char *data)
{
    size_t done = 0;

    while (done < chunk->used) {
        ssize_t got = pread(trace->spill, data + done, chunk->used - done, (off_t)(chunk->offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(trace, got < 0 ? errno : EIO);
        done += (size_t)got;
    }
    return 1;
}

/* Opens the next chunk. Returns 0 at the end or after an error. */
static int next_chunk(struct cnnvp_cursor *cursor)
{
    const struct cnnvp_chunk *chunk = cursor->chunk;

    if (chunk == NULL) {
        if (cursor->buffer_read || !cursor->stream->used)
            return 0;
        cursor->buffer_read = 1;
        cursor->at = cursor->stream->buffer;
        cursor->end = cursor->at + cursor->stream->used;
        return 1;
    }
    cursor->chunk = chunk->next;
    cursor->at = chunk->data;
    if (chunk->data == NULL) {
        if (cursor->copy == NULL)
            cursor->copy = malloc(CNNVP_CHUNK_BYTES);
        if (cursor->copy == NULL)
            return fail(cursor->trace, ENOMEM);
        if (!read_spill(cursor->trace, chunk, cursor->copy))
            return 0;
        cursor->at = cursor->copy;
    }
    cursor->end = cursor->at + chunk->used;
    return 1;
}

/* Reads the command's fields of a record. */
static const unsigned char *decode_about(const unsigned char *at, struct record *record)
{
    uint64_t count, opcode, status, halves, immediate, word;

    at = cnnvp_varint_get(at, &count);
    record->has_about = count != 0;
    if (count == 0)
        return at;
    at = cnnvp_varint_get(cnnvp_varint_get(cnnvp_varint_get(at, &opcode), &status), &halves);
    at = cnnvp_varint_get(at, &immediate);
    record->about = (struct cnnvp_command){
        .opcode = (uint32_t)opcode,
        .status = (uint32_t)status,
        .halves = (uint32_t)halves,
        .immediate = (uint32_t)immediate,
        .count = (uint32_t)count - 1u};
    for (uint32_t i = 0; i < record->about.count; ++i) {
        at = cnnvp_varint_get(at, &word);
        record->about.descriptor[i] = (uint32_t)word;
    }
    return at;
}

static void decode_span(struct cnnvp_cursor *cursor, struct record *record)
{
    const unsigned char *at = cursor->at;
    uint64_t gap, name, tag, flow;

    at = cnnvp_varint_get_signed(at, &gap);
    at = cnnvp_varint_get(at, &record->length);
    at = cnnvp_varint_get(at, &name);
    at = cnnvp_varint_get(at, &tag);
    at = cnnvp_varint_get_signed(at, &flow);
    record->time = cursor->time + gap;
    cursor->time = record->time + record->length;
    cursor->value += flow;
    record->name = (uint32_t)name;
    record->tag = (uint32_t)tag;
    record->value = cursor->value;
    cursor->at = decode_about(at, record);
}

static inline void decode_pair(struct cnnvp_cursor *cursor, struct record *record)
{
    struct cnnvp_pair pair;

    cursor->at = cnnvp_pair_get(cursor->at, &pair);
    cursor->time += pair.time;
    cursor->value = cursor->stream->kind == CNNVP_STREAM_COUNTER ? cursor->value + pair.number : pair.number;
    record->time = cursor->time;
    record->value = cursor->value;
}

static inline int decode(struct cnnvp_cursor *cursor, struct record *record)
{
    if (cursor->at == cursor->end && !next_chunk(cursor))
        return 0;
    if (cursor->stream->kind == CNNVP_STREAM_TRACK || cursor->stream->kind == CNNVP_STREAM_WHOLE)
        decode_span(cursor, record);
    else
        decode_pair(cursor, record);
    return 1;
}

/* ---- order ---- */

static struct record *ahead(struct cnnvp_ahead *ring, uint32_t position)
{
    return &ring->records[(ring->first + position) & (REORDER - 1)];
}

/* Keeps the ring full. A record is inserted after all records that are not later. */
static void look_ahead(struct cnnvp_cursor *cursor)
{
    struct cnnvp_ahead *ring = cursor->ahead;
    struct record record = {0};

    while (ring->count < REORDER && decode(cursor, &record)) {
        uint32_t position = ring->count++;

        while (position && ahead(ring, position - 1)->time > record.time) {
            *ahead(ring, position) = *ahead(ring, position - 1);
            --position;
        }
        *ahead(ring, position) = record;
    }
}

static int next_in_order(struct cnnvp_cursor *cursor, struct record *record)
{
    if (cursor->ahead == NULL)
        cursor->ahead = calloc(1, sizeof *cursor->ahead);
    if (cursor->ahead == NULL)
        return fail(cursor->trace, ENOMEM);
    look_ahead(cursor);
    if (!cursor->ahead->count)
        return 0;
    *record = *ahead(cursor->ahead, 0);
    cursor->ahead->first = (cursor->ahead->first + 1) & (REORDER - 1);
    --cursor->ahead->count;
    return 1;
}

static inline int next_record(struct cnnvp_cursor *cursor, struct record *record)
{
    return cursor->stream->is_late ? next_in_order(cursor, record) : decode(cursor, record);
}

/* ---- events ---- */

/* Value of a window: bytes per second, or the share of time in millionths. */
static uint64_t window_value(const struct cnnvp_stream *stream, uint64_t number, uint64_t width)
{
    const uint64_t sum = number < stream->window_count ? stream->windows[number] : 0;
    return stream->kind == CNNVP_STREAM_PATH ? (uint64_t)((double)sum / (double)width * 1e6 + 0.5)
                                             : sum * (PICOSECONDS_PER_SECOND / width);
}

/* Returns the next change of a windowed value; it starts from 0 and ends with 0. */
static int next_window(struct cnnvp_cursor *cursor)
{
    const struct cnnvp_stream *stream = cursor->stream;
    const uint64_t width = stream->kind == CNNVP_STREAM_PATH ? cursor->trace->path_window_ps : cursor->trace->window_ps;

    while (cursor->window <= stream->window_count && stream->windows != NULL) {
        uint64_t number = cursor->window++;
        uint64_t value = window_value(stream, number, width);

        if (value != cursor->event.value) {
            cursor->event.time = number * width;
            cursor->event.value = value;
            return 1;
        }
    }
    return 0;
}

/* Ends the innermost call; the event names the function that continues. */
static int end_call(struct cnnvp_cursor *cursor)
{
    --cursor->depth;
    cursor->event.type = CNNVP_EVENT_END;
    cursor->event.name = cursor->depth ? cursor->calls[cursor->depth - 1] : UINT32_MAX;
    return 1;
}

/* Returns the next call or return. Calls that are open at the end of the run end there. */
static int next_call(struct cnnvp_cursor *cursor)
{
    struct record record;

    if (cursor->calls == NULL)
        cursor->calls = malloc(CNNVP_CALL_DEPTH * sizeof *cursor->calls);
    if (cursor->calls == NULL)
        return fail(cursor->trace, ENOMEM);
    while (next_record(cursor, &record)) {
        if (record.time > cursor->floor)
            cursor->floor = record.time;
        cursor->event.time = cursor->floor;
        if (record.value && cursor->depth == CNNVP_CALL_DEPTH) {
            ++cursor->beyond;
        } else if (record.value) {
            cursor->event.type = CNNVP_EVENT_BEGIN;
            cursor->event.name = (uint32_t)record.value - 1;
            cursor->calls[cursor->depth++] = cursor->event.name;
            return 1;
        } else if (cursor->beyond) {
            --cursor->beyond;
        } else if (cursor->depth) {
            return end_call(cursor);
        }
    }
    cursor->event.time = cursor->trace->end_ps > cursor->floor ? cursor->trace->end_ps : cursor->floor;
    return cursor->depth ? end_call(cursor) : 0;
}

/* Returns the begin of a span, then its end. */
static int next_span_event(struct cnnvp_cursor *cursor)
{
    struct cnnvp_event *event = &cursor->event;
    struct record record;
    cnnvp_time end;

    cursor->is_open = !cursor->is_open;
    if (!cursor->is_open) {
        event->type = CNNVP_EVENT_END;
        event->time = event->value;
        return 1;
    }
    if (!next_record(cursor, &record))
        return 0;
    end = record.time + record.length;
    event->type = CNNVP_EVENT_BEGIN;
    event->time = record.time > cursor->floor ? record.time : cursor->floor;
    event->value = end > event->time ? end : event->time;
    event->name = record.name;
    event->tag = record.tag;
    event->flow = record.value;
    event->about = record.has_about ? &cursor->about : NULL;
    if (record.has_about)
        cursor->about = record.about;
    cursor->floor = event->value;
    return 1;
}

static int next_value(struct cnnvp_cursor *cursor)
{
    struct record record;

    if (!next_record(cursor, &record))
        return 0;
    if (record.time > cursor->floor)
        cursor->floor = record.time;
    cursor->event.time = cursor->floor;
    cursor->event.value = record.value;
    return 1;
}

void cnnvp_cursor_init(struct cnnvp_cursor *cursor, struct cnnvp_trace *trace, uint32_t stream)
{
    *cursor = (struct cnnvp_cursor){.trace = trace, .stream = &trace->streams[stream]};
    cursor->chunk = cursor->stream->first;
    cursor->event.type = CNNVP_EVENT_VALUE;
    cursor->event.stream = stream;
}

int cnnvp_cursor_advance(struct cnnvp_cursor *cursor)
{
    switch (cursor->stream->kind) {
    case CNNVP_STREAM_TRACK:
    case CNNVP_STREAM_WHOLE:
        return next_span_event(cursor);
    case CNNVP_STREAM_LINK:
    case CNNVP_STREAM_PATH:
        return next_window(cursor);
    case CNNVP_STREAM_CALLS:
        return next_call(cursor);
    case CNNVP_STREAM_COUNTER:
    case CNNVP_STREAM_LEVEL:
        break;
    }
    return next_value(cursor);
}

void cnnvp_cursor_fini(struct cnnvp_cursor *cursor)
{
    free(cursor->copy);
    free(cursor->calls);
    free(cursor->ahead);
}
