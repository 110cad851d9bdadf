/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one stream of a recorded trace; private to the recorder. */
#pragma once

#include "trace.h"

struct cnnvp_ahead;

struct cnnvp_cursor {
    struct cnnvp_event event; /* current event */
    struct cnnvp_trace *trace;
    const struct cnnvp_stream *stream;
    const struct cnnvp_chunk *chunk; /* next chunk to open; NULL: the stream's own buffer, then the end */
    int buffer_read;
    const unsigned char *at;
    const unsigned char *end;
    unsigned char *copy; /* copy of a chunk from the spill file */
    uint64_t time;       /* decoder state, as in struct cnnvp_stream */
    uint64_t value;
    struct cnnvp_ahead *ahead; /* only for a stream that is out of order; NULL: nothing read yet */
    cnnvp_time floor;          /* no later event of this stream is before it */
    uint32_t *calls;           /* names of the open calls */
    uint32_t depth;
    uint64_t beyond; /* open calls that are dropped */
    uint32_t window; /* for a link: first window not yet returned */
    int is_open;     /* for a track: `event` is the begin of a span */
    struct cnnvp_command about;
};

/* Positions the cursor before the first event. */
void cnnvp_cursor_init(struct cnnvp_cursor *cursor, struct cnnvp_trace *trace, uint32_t stream);
/* Moves to the next event. Returns 0 at the end or after an error (trace->error). */
int cnnvp_cursor_advance(struct cnnvp_cursor *cursor);
void cnnvp_cursor_fini(struct cnnvp_cursor *cursor);
