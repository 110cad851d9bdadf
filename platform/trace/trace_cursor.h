/* SPDX-License-Identifier: Apache-2.0 */
/* Reading one stream of a recorded trace; private to the recorder. */
#ifndef CNNVP_PLATFORM_TRACE_CURSOR_H
#define CNNVP_PLATFORM_TRACE_CURSOR_H

#include "trace.h"

struct cnnvp_ahead;

struct cnnvp_cursor {
    struct cnnvp_event event; /* the present one */
    struct cnnvp_trace *trace;
    const struct cnnvp_stream *stream;
    const struct cnnvp_chunk *chunk; /* the next one to open; NULL: the stream's own buffer, then the end */
    int buffer_read;
    const unsigned char *at;
    const unsigned char *end;
    unsigned char *copy; /* of a chunk from the spill file */
    uint64_t time;       /* decoder state, as in struct cnnvp_stream */
    uint64_t value;
    struct cnnvp_ahead *ahead; /* of a stream that is not in order; NULL: nothing read yet */
    cnnvp_time floor;          /* nothing of this stream comes before it any more */
    uint32_t *calls;           /* names of the open calls */
    uint32_t depth;
    uint32_t window; /* link: the first window that has not been handed out */
    int is_open;     /* track: `event` is the begin of a span */
    struct cnnvp_command about;
};

/* Before the first event. */
void cnnvp_cursor_init(struct cnnvp_cursor *cursor, struct cnnvp_trace *trace, uint32_t stream);
/* Goes to the next event; 0 at the end or after an error (trace->error). */
int cnnvp_cursor_advance(struct cnnvp_cursor *cursor);
void cnnvp_cursor_fini(struct cnnvp_cursor *cursor);

#endif
