/* SPDX-License-Identifier: Apache-2.0 */
/* Merges all streams of a trace in order of time; a heap of cursors yields the earliest event. */
#include "trace_cursor.h"

#include <stdlib.h>

/* A cursor with an event. The entry has a copy of the time, so that comparisons do not access the cursors. */
struct entry {
    cnnvp_time time;
    uint32_t cursor;
};

struct cnnvp_merge {
    struct cnnvp_trace *trace;
    struct cnnvp_cursor *cursors;
    uint32_t cursor_count;
    struct entry *heap; /* earliest first */
    uint32_t heap_count;
    int is_taken; /* the first entry's event has been returned */
};

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
            ++child;
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

    if (merge == NULL)
        return NULL;
    merge->trace = trace;
    merge->cursors = calloc(trace->stream_count + 1, sizeof *merge->cursors);
    merge->heap = calloc(trace->stream_count + 1, sizeof *merge->heap);
    if (merge->cursors == NULL || merge->heap == NULL) {
        cnnvp_merge_free(merge);
        return NULL;
    }
    merge->cursor_count = trace->stream_count;
    for (uint32_t i = 0; i < trace->stream_count; ++i) {
        struct cnnvp_cursor *cursor = &merge->cursors[i];

        cnnvp_cursor_init(cursor, trace, i);
        if (cnnvp_cursor_advance(cursor))
            merge->heap[merge->heap_count++] = (struct entry){cursor->event.time, i};
    }
    for (uint32_t i = merge->heap_count; i-- > 0;)
        sift_down(merge, i);
    return merge;
}

const struct cnnvp_event *cnnvp_merge_next(struct cnnvp_merge *merge)
{
    struct entry *first = merge->heap;

    if (merge->is_taken) {
        struct cnnvp_cursor *cursor = &merge->cursors[first->cursor];

        if (cnnvp_cursor_advance(cursor))
            first->time = cursor->event.time;
        else
            *first = merge->heap[--merge->heap_count];
        if (merge->heap_count)
            sift_down(merge, 0);
    }
    merge->is_taken = merge->heap_count && !merge->trace->error;
    return merge->is_taken ? &merge->cursors[first->cursor].event : NULL;
}

void cnnvp_merge_free(struct cnnvp_merge *merge)
{
    if (merge == NULL)
        return;
    for (uint32_t i = 0; i < merge->cursor_count; ++i)
        cnnvp_cursor_fini(&merge->cursors[i]);
    free(merge->cursors);
    free(merge->heap);
    free(merge);
}
