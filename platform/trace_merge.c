/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the streams of a trace back, merged in order of time. A cursor on each stream decodes its chunks one after the
 * other; a heap of cursors gives the earliest event. Memory: one chunk for each stream that has spilled.
 *
 * Within a stream, records that came a little late (at most REORDER records) are put in order of time; a record later
 * than that, and a span that begins inside the one before, is moved to where its predecessor ends. So times never run
 * backwards on a stream and spans of a track follow each other, whatever a model reports.
 */
#include "trace.h"

#include "varint.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Records looked ahead in a stream; a power of two. */
#define REORDER 32u

#define PICOSECONDS_PER_SECOND UINT64_C(1000000000000)

struct record {
    cnnvp_time time;
    uint64_t length; /* of a span */
    uint64_t value;  /* flow of a span, value, level */
    uint32_t name;
    uint32_t tag;
};

struct cursor {
    struct cnnvp_stream *stream;
    const struct cnnvp_chunk *chunk; /* the next one to open; NULL: the stream's own buffer, then the end */
    int buffer_read;
    const unsigned char *at;
    const unsigned char *end;
    unsigned char *copy; /* of a chunk from the spill file */
    uint64_t time;       /* decoder state, as in struct cnnvp_stream */
    uint64_t value;
    struct record ahead[REORDER]; /* ring in order of time */
    uint32_t first;
    uint32_t count;
    cnnvp_time floor; /* nothing of this stream comes before it any more */
    uint32_t *calls; /* names of the open calls */
    uint32_t depth;
    uint32_t window; /* link: the first window that has not been handed out */
    struct cnnvp_event event; /* the next one to hand out */
    struct cnnvp_event after; /* the end of the span whose begin is `event` */
    int has_after;
};

/* Of a cursor with an event; the time beside its number, so that a comparison does not touch the cursors. */
struct entry {
    cnnvp_time time;
    uint32_t cursor;
};

struct cnnvp_merge {
    struct cnnvp_trace *trace;
    struct cursor *cursors;
    struct entry *heap; /* the earliest first */
    uint32_t heap_count;
};

/* ---- decoding ---- */

static int read_spill(struct cnnvp_trace *trace, const struct cnnvp_chunk *chunk, unsigned char *data)
{
    size_t done = 0;

    while (done < chunk->used) {
        ssize_t got = pread(trace->spill, data + done, chunk->used - done, (off_t)(chunk->offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            trace->error = got < 0 ? errno : EIO;
            return 0;
        }
        done += (size_t)got;
    }
    return 1;
}

/* Opens the next chunk; 0 at the end or after an error. */
static int next_chunk(struct cnnvp_trace *trace, struct cursor *cursor)
{
    const struct cnnvp_chunk *chunk = cursor->chunk;

    if (!chunk) {
        if (cursor->buffer_read || !cursor->stream->used)
            return 0;
        cursor->buffer_read = 1;
        cursor->at = cursor->stream->buffer;
        cursor->end = cursor->at + cursor->stream->used;
        return 1;
    }
    cursor->chunk = chunk->next;
    cursor->at = chunk->data;
    if (!chunk->data) {
        if (!cursor->copy)
            cursor->copy = malloc(CNNVP_CHUNK_BYTES);
        if (!cursor->copy) {
            trace->error = ENOMEM;
            return 0;
        }
        if (!read_spill(trace, chunk, cursor->copy))
            return 0;
        cursor->at = cursor->copy;
    }
    cursor->end = cursor->at + chunk->used;
    return 1;
}

static int decode(struct cnnvp_trace *trace, struct cursor *cursor, struct record *record)
{
    uint64_t a;

    if (cursor->at == cursor->end && !next_chunk(trace, cursor))
        return 0;
    *record = (struct record){0};
    cursor->at = cnnvp_varint_get_signed(cursor->at, &a);
    cursor->time += a;
    record->time = cursor->time;
    switch (cursor->stream->kind) {
    case CNNVP_STREAM_TRACK:
        cursor->at = cnnvp_varint_get(cursor->at, &record->length);
        cursor->time += record->length;
        cursor->at = cnnvp_varint_get(cursor->at, &a);
        record->name = (uint32_t)a;
        cursor->at = cnnvp_varint_get(cursor->at, &a);
        record->tag = (uint32_t)a;
        cursor->at = cnnvp_varint_get_signed(cursor->at, &a);
        cursor->value += a;
        record->value = cursor->value;
        break;
    case CNNVP_STREAM_COUNTER:
        cursor->at = cnnvp_varint_get_signed(cursor->at, &a);
        cursor->value += a;
        record->value = cursor->value;
        break;
    case CNNVP_STREAM_CALLS:
    case CNNVP_STREAM_LEVEL:
        cursor->at = cnnvp_varint_get(cursor->at, &record->value);
        break;
    case CNNVP_STREAM_LINK:
        break; /* has windows, no records */
    }
    return 1;
}

/* ---- order within a stream ---- */

static struct record *ahead(struct cursor *cursor, uint32_t position)
{
    return &cursor->ahead[(cursor->first + position) & (REORDER - 1)];
}

/* Keeps the ring full. A record goes behind all that are not later. */
static void look_ahead(struct cnnvp_trace *trace, struct cursor *cursor)
{
    struct record record;

    while (cursor->count < REORDER && decode(trace, cursor, &record)) {
        uint32_t position = cursor->count++;

        while (position && ahead(cursor, position - 1)->time > record.time) {
            *ahead(cursor, position) = *ahead(cursor, position - 1);
            position--;
        }
        *ahead(cursor, position) = record;
    }
}

static int next_record(struct cnnvp_trace *trace, struct cursor *cursor, struct record *record)
{
    look_ahead(trace, cursor);
    if (!cursor->count)
        return 0;
    *record = *ahead(cursor, 0);
    cursor->first = (cursor->first + 1) & (REORDER - 1);
    cursor->count--;
    return 1;
}

/* ---- events of a stream ---- */

/* Bandwidth over windows: a value where it changes, from 0 on. */
static int next_window(const struct cnnvp_merge *merge, struct cursor *cursor)
{
    uint64_t width = merge->trace->window_ps;

    while (cursor->window <= cursor->stream->window_count && cursor->window < CNNVP_LINK_WINDOWS &&
           cursor->stream->windows) {
        uint64_t number = cursor->window++;
        uint64_t value = cursor->stream->windows[number] * (PICOSECONDS_PER_SECOND / width);

        if (value != cursor->event.value) {
            cursor->event.time = number * width;
            cursor->event.value = value;
            return 1;
        }
    }
    return 0;
}

/* The call that is left ends; the event names the function that goes on. */
static int end_call(struct cursor *cursor)
{
    cursor->depth--;
    cursor->event.type = CNNVP_EVENT_END;
    cursor->event.name = cursor->depth ? cursor->calls[cursor->depth - 1] : UINT32_MAX;
    return 1;
}

/* Calls and returns in order of time; what is open at the end of the run ends there. */
static int next_call(struct cnnvp_merge *merge, struct cursor *cursor)
{
    struct record record;

    if (!cursor->calls)
        cursor->calls = malloc(CNNVP_CALL_DEPTH * sizeof *cursor->calls);
    if (!cursor->calls) {
        merge->trace->error = ENOMEM;
        return 0;
    }
    while (next_record(merge->trace, cursor, &record)) {
        if (record.time > cursor->floor)
            cursor->floor = record.time;
        cursor->event.time = cursor->floor;
        if (!record.value && cursor->depth)
            return end_call(cursor);
        if (!record.value || cursor->depth == CNNVP_CALL_DEPTH)
            continue;
        cursor->event.type = CNNVP_EVENT_BEGIN;
        cursor->event.name = (uint32_t)record.value - 1;
        cursor->calls[cursor->depth++] = cursor->event.name;
        return 1;
    }
    cursor->event.time = merge->trace->end_ps > cursor->floor ? merge->trace->end_ps : cursor->floor;
    return cursor->depth ? end_call(cursor) : 0;
}

/* Sets the cursor's next event; 0 at the end. */
static int advance(struct cnnvp_merge *merge, struct cursor *cursor)
{
    struct record record;
    cnnvp_time end;

    if (cursor->stream->kind == CNNVP_STREAM_LINK)
        return next_window(merge, cursor);
    if (cursor->stream->kind == CNNVP_STREAM_CALLS)
        return next_call(merge, cursor);
    if (cursor->has_after) {
        cursor->event = cursor->after;
        cursor->has_after = 0;
        return 1;
    }
    if (!next_record(merge->trace, cursor, &record))
        return 0;
    end = record.time + record.length;
    if (record.time < cursor->floor)
        record.time = cursor->floor;
    if (end < record.time)
        end = record.time;
    cursor->floor = end;
    cursor->event.time = record.time;
    if (cursor->stream->kind != CNNVP_STREAM_TRACK) {
        cursor->event.value = record.value;
        return 1;
    }
    cursor->event.type = CNNVP_EVENT_BEGIN;
    cursor->event.name = record.name;
    cursor->event.tag = record.tag;
    cursor->event.flow = record.value;
    cursor->event.value = end;
    cursor->after = cursor->event;
    cursor->after.type = CNNVP_EVENT_END;
    cursor->after.time = end;
    cursor->has_after = 1;
    return 1;
}

/* ---- the heap ---- */

static int earlier(const struct entry *a, const struct entry *b)
{
    return a->time != b->time ? a->time < b->time : a->cursor < b->cursor;
}

static void sift_down(struct cnnvp_merge *merge, uint32_t at)
{
    struct entry *heap = merge->heap;
    const struct entry moved = heap[at];

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child + 1 < merge->heap_count && earlier(&heap[child + 1], &heap[child]))
            child++;
        if (child >= merge->heap_count || !earlier(&heap[child], &moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

struct cnnvp_merge *cnnvp_merge_new(struct cnnvp_trace *trace)
{
    struct cnnvp_merge *merge = calloc(1, sizeof *merge);

    if (!merge)
        return NULL;
    merge->trace = trace;
    merge->cursors = calloc(trace->stream_count + 1, sizeof *merge->cursors);
    merge->heap = calloc(trace->stream_count + 1, sizeof *merge->heap);
    if (!merge->cursors || !merge->heap) {
        cnnvp_merge_free(merge);
        return NULL;
    }
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        struct cursor *cursor = &merge->cursors[i];

        cursor->stream = &trace->streams[i];
        cursor->chunk = cursor->stream->first;
        cursor->event.type = CNNVP_EVENT_VALUE;
        cursor->event.stream = i;
        if (advance(merge, cursor))
            merge->heap[merge->heap_count++] = (struct entry){cursor->event.time, i};
    }
    for (uint32_t i = merge->heap_count; i-- > 0;)
        sift_down(merge, i);
    return merge;
}

int cnnvp_merge_next(struct cnnvp_merge *merge, struct cnnvp_event *event)
{
    struct cursor *cursor;

    if (!merge->heap_count || merge->trace->error)
        return 0;
    cursor = &merge->cursors[merge->heap[0].cursor];
    *event = cursor->event;
    if (advance(merge, cursor))
        merge->heap[0].time = cursor->event.time;
    else
        merge->heap[0] = merge->heap[--merge->heap_count];
    if (merge->heap_count)
        sift_down(merge, 0);
    return 1;
}

void cnnvp_merge_free(struct cnnvp_merge *merge)
{
    if (!merge)
        return;
    for (uint32_t i = 0; merge->cursors && i < merge->trace->stream_count; i++) {
        free(merge->cursors[i].copy);
        free(merge->cursors[i].calls);
    }
    free(merge->cursors);
    free(merge->heap);
    free(merge);
}
