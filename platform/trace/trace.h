/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace of one run, private to the recorder. While the simulation runs, each stream (a unit's track, counter or
 * interrupt, a link) appends delta-encoded records to its own chunks. At the end a merge reads all streams in order of
 * time and a format writes them. A format is one file with one function; see the table in trace.c.
 */
#ifndef CNNVP_PLATFORM_TRACE_H
#define CNNVP_PLATFORM_TRACE_H

#include "config.h"
#include "base/base.h"
#include "cnnvp_command.h"
#include "base/output_file.h"
#include "path.h"

enum cnnvp_stream_kind {
    CNNVP_STREAM_TRACK,   /* spans */
    CNNVP_STREAM_COUNTER, /* values */
    CNNVP_STREAM_CALLS,   /* calls and returns: a counter of the unit "function" */
    CNNVP_STREAM_LEVEL,   /* levels of an IRQ_OUT port */
    CNNVP_STREAM_PATH,    /* the instance's part of the critical path over windows of time; trace_whole.c */
    CNNVP_STREAM_WHOLE,   /* spans of no instance: enum cnnvp_whole_track; trace_whole.c */
    CNNVP_STREAM_LINK     /* bytes per second over windows of time; trace_link.c */
};

/* Tracks of the platform as a whole. */
enum cnnvp_whole_track { CNNVP_WHOLE_LAYERS, CNNVP_WHOLE_PHASES, CNNVP_WHOLE_COUNT };
extern const char *const cnnvp_whole_names[CNNVP_WHOLE_COUNT];

#define CNNVP_CHUNK_BYTES 16384u

/* Windows of a link's bandwidth that are kept; when a run outlasts them, two (later five) become one. */
#define CNNVP_LINK_WINDOWS 6001u
/* Transfers that wait for the span of their instruction. */
#define CNNVP_WAITING_TRANSFERS 64u

/* A full piece of a stream, in memory or (data NULL) in the spill file. */
struct cnnvp_chunk {
    struct cnnvp_chunk *next;
    unsigned char *data;
    uint64_t offset; /* in the spill file */
    uint32_t used;
};

struct cnnvp_stream {
    enum cnnvp_stream_kind kind;
    uint32_t instance; /* link: from */
    uint32_t index;    /* track, counter or port; link: to */
    uint32_t used;
    unsigned char *buffer; /* the chunk being filled; NULL before the first record */
    uint64_t time;         /* of the last record: end of a span, otherwise `at` */
    uint64_t value;        /* of the last record: flow of a span, otherwise value */
    const char *name;      /* of the last span, as given */
    uint32_t name_index;
    int is_late; /* a record came before the end of the one before it */
    struct cnnvp_chunk *first;
    struct cnnvp_chunk *last;
    uint64_t *windows;     /* bytes of a link, picoseconds of a path in each window; NULL: nowhere any */
    uint32_t window_count; /* in windows from this one on there are none */
};

/* Bytes that crossed a link within a time. */
struct cnnvp_moved {
    uint32_t link;
    uint64_t flow; /* the instruction whose span says when; 0: `begin` and `end` do */
    cnnvp_time begin;
    cnnvp_time end;
    uint64_t bytes;
};

/* A transfer of an image's own bytes: of its input, or of its output. */
struct cnnvp_image_mark {
    uint64_t flow, image;
    int is_output;
};

struct cnnvp_name {
    const char *key; /* as given */
    uint32_t index;
};

/* Streams of one DMA that fill buffers. */
#define CNNVP_DMA_STREAMS 4u

/* Names whose indices are found without a search. */
#define CNNVP_NAME_CACHE 256u

/* Calls that are open at a time; deeper ones are dropped. */
#define CNNVP_CALL_DEPTH 1024u
/* Functions whose names are found without a search; a power of two. */
#define CNNVP_FUNCTION_CACHE 1024u

struct cnnvp_function {
    uint64_t value; /* as recorded; 0: free */
    uint32_t name;
};

struct cnnvp_trace;
struct isa_extension;
struct cnnvp_transfer;

/* What is only of runs with a critical path or layers, and has nothing here. */
static inline int cnnvp_trace_leaves_out(const struct cnnvp_stream *stream)
{
    return (stream->kind == CNNVP_STREAM_PATH && stream->windows == NULL) ||
           (stream->kind == CNNVP_STREAM_WHOLE && stream->buffer == NULL);
}

/* How events are written. */
struct cnnvp_trace_format {
    const char *suffix;
    const char *title;
    /* NULL: this build cannot */
    void (*write)(struct cnnvp_trace *trace, cnnvp_output *output);
};

extern const struct cnnvp_trace_format cnnvp_trace_perfetto;
extern const struct cnnvp_trace_format cnnvp_trace_vcd;
extern const struct cnnvp_trace_format cnnvp_trace_fst;
extern const struct cnnvp_trace_format cnnvp_trace_series;

/* Files that one recording may become. */
#define CNNVP_TRACE_FILES 2u

struct cnnvp_trace_file {
    char *name;
    const struct cnnvp_trace_format *format;
};

struct cnnvp_trace {
    const struct cnnvp_resolved *platform;
    struct cnnvp_trace_file files[CNNVP_TRACE_FILES];
    uint32_t file_count;
    const char *file; /* the first, or that which is being written */
    struct cnnvp_stream *streams;
    uint32_t stream_count;
    uint32_t fixed_streams; /* those of units and of the whole; links follow */
    uint32_t stream_capacity;
    uint32_t *tracks; /* for each instance: its first stream of that kind */
    uint32_t *counters;
    uint32_t *paths;
    uint32_t *levels; /* of the IRQ_OUT ports, in their order */
    char **names;     /* of spans, by index */
    uint32_t name_count;
    struct cnnvp_name name_cache[CNNVP_NAME_CACHE];
    struct cnnvp_arena arena; /* of what grows no more */
    uint64_t memory_used;
    uint64_t memory_limit;
    uint64_t spill_size;
    int spill;          /* descriptor of the unlinked file, -1 */
    int error;          /* errno of the first failure; recording has stopped */
    uint64_t window_ps; /* of links' bandwidth, from 100 ns on */
    uint64_t path_window_ps;
    uint32_t widened; /* how often */
    struct cnnvp_moved waiting[CNNVP_WAITING_TRANSFERS];
    uint32_t waiting_count;
    const struct isa_extension *extension; /* while a writer needs it */
    struct cnnvp_command about;            /* of spans of its flow on this instance */
    uint32_t about_instance;
    struct cnnvp_image_mark *marks; /* by flow: inputs where images come one after the other; trace_image.c */
    uint32_t mark_count;
    uint32_t dma_streams[CNNVP_DMA_STREAMS]; /* that fill buffers; trace_operand.c */
    uint32_t dma_count;                      /* 0: none do, or those of several instances */
    /* For the writers, set by cnnvp_trace_finish. */
    uint64_t end_ps;
    const char *(*function_name)(const void *context, uint64_t address);
    const void *function_context;
    struct cnnvp_function functions[CNNVP_FUNCTION_CACHE];
    const char *(*layer_name)(const void *context, uint32_t tag, char *buffer, size_t size);
    const char *(*layer_phase)(const void *context, uint32_t tag);
    const struct cnnvp_place_info *(*place_at)(const void *context, uint64_t address); /* NULL: none is there */
    const void *layer_context;
};

/* A stream's name within its instance; of a link the instance that it leads to. */
const char *cnnvp_stream_name(const struct cnnvp_trace *trace, const struct cnnvp_stream *stream);

CNNVP_MUST_USE cnnvp_result cnnvp_trace_new(const struct cnnvp_resolved *platform, const char *file,
                                            struct cnnvp_trace **trace, struct cnnvp_error *error);
/* One more file of the same recording. */
CNNVP_MUST_USE cnnvp_result cnnvp_trace_add_file(struct cnnvp_trace *trace, const char *file,
                                                 struct cnnvp_error *error);
void cnnvp_trace_free(struct cnnvp_trace *trace);
/* The critical path up to `end`, and which layer and phase was at work when: before cnnvp_trace_finish. */
void cnnvp_trace_set_path(struct cnnvp_trace *trace, struct cnnvp_path *path, cnnvp_time end);
void cnnvp_trace_add_layers(struct cnnvp_trace *trace);
/* After cnnvp_trace_links_finish. */
CNNVP_MUST_USE cnnvp_result cnnvp_trace_finish(struct cnnvp_trace *trace, uint64_t end_ps, struct cnnvp_error *error);

void cnnvp_trace_span(struct cnnvp_trace *trace, uint32_t instance, uint32_t track, const char *name, uint32_t tag,
                      uint64_t flow, cnnvp_time begin, cnnvp_time end);
/* The same on a track of the whole, of a text. */
void cnnvp_trace_whole_span(struct cnnvp_trace *trace, enum cnnvp_whole_track track, uint32_t text, uint32_t tag,
                            cnnvp_time begin, cnnvp_time end);
/* Index of a text, in order of first appearance; so it does not depend on addresses. UINT32_MAX without memory. */
uint32_t cnnvp_trace_text(struct cnnvp_trace *trace, const char *text);
void cnnvp_trace_counter(struct cnnvp_trace *trace, uint32_t instance, uint32_t counter, cnnvp_time at, uint64_t value);
void cnnvp_trace_level(struct cnnvp_trace *trace, uint32_t instance, uint32_t port, cnnvp_time at, int level);
/* Links in order of their numbers, from 0. */
void cnnvp_trace_link(struct cnnvp_trace *trace, uint32_t link, uint32_t from, uint32_t to);

/* ---- bandwidth of links, trace_link.c ---- */

/* A transfer with a flow is spread over the next span of that flow on the link's initiator, where one comes. */
void cnnvp_trace_transfer(struct cnnvp_trace *trace, const struct cnnvp_moved *transfer);
/* Spreads the transfers that wait for this span. */
void cnnvp_trace_settle(struct cnnvp_trace *trace, uint32_t instance, uint64_t flow, cnnvp_time begin, cnnvp_time end);
/* Spreads what still waits and brings the windows to their final length. */
void cnnvp_trace_links_finish(struct cnnvp_trace *trace, cnnvp_time end);
/* What the links to an instance carry at most: what lies above it moves to the windows beside. After links_finish. */
void cnnvp_trace_limit(struct cnnvp_trace *trace, uint32_t instance, uint64_t bytes_per_s);

/* ---- images, trace_image.c ---- */

/* 1: between memory and a buffer; what it says. */
int cnnvp_trace_moves(const struct cnnvp_command *command, struct cnnvp_transfer *transfer);
/* Which instructions are of which image, and which streams fill buffers: before the two below. */
void cnnvp_trace_find_images(struct cnnvp_trace *trace);
/* Of the instruction of this flow; 0: not known. */
int cnnvp_trace_image(const struct cnnvp_trace *trace, uint64_t flow, uint64_t *image);

/* Of the byte at this distance from the place's first one, where so many channels lie interleaved: the first of them.
 */
uint64_t cnnvp_trace_channel(const struct cnnvp_place_info *place, uint64_t offset, uint64_t interleaved);

/* ---- reading back, trace_cursor.c and trace_merge.c ---- */

enum cnnvp_event_type { CNNVP_EVENT_BEGIN, CNNVP_EVENT_END, CNNVP_EVENT_VALUE };

struct cnnvp_event {
    cnnvp_time time;
    enum cnnvp_event_type type;
    uint32_t stream;
    uint32_t name;  /* BEGIN: index in trace->names; END of a call: that of the caller, or UINT32_MAX */
    uint32_t tag;   /* BEGIN */
    uint64_t flow;  /* BEGIN */
    uint64_t value; /* VALUE; BEGIN: end of the span, which is not known of a call */
    const struct cnnvp_command *about; /* BEGIN: opcode, status, halves, immediate, descriptor; NULL: not known */
};

/* ---- what lies in the buffers, trace_operand.c ---- */

struct cnnvp_trace_buffers;

/* 1: the begin of a span whose instruction fills a buffer from memory or from another buffer, or sets it. */
int cnnvp_trace_fills(const struct cnnvp_event *event);
/* For the spans of one stream, after cnnvp_trace_find_images. NULL: nothing is known, or there is no memory. */
struct cnnvp_trace_buffers *cnnvp_trace_buffers_new(struct cnnvp_trace *trace);
void cnnvp_trace_buffers_free(struct cnnvp_trace_buffers *buffers);
/* The channel of the first word that a span's instruction reads in buffer 0 input, 1 weight. `event`: the begin of a
 * span whose instruction is known; spans come in the order of instructions. 0: it reads none there, or it is not known.
 */
int cnnvp_trace_operand(struct cnnvp_trace_buffers *buffers, const struct cnnvp_event *event, uint32_t buffer,
                        uint64_t *channel);

struct cnnvp_merge;

/* NULL without memory. */
struct cnnvp_merge *cnnvp_merge_new(struct cnnvp_trace *trace);
/* The next event in order of time (at equal times: of streams), valid until the next call; NULL at the end or after an
 * error (trace->error). */
const struct cnnvp_event *cnnvp_merge_next(struct cnnvp_merge *merge);
void cnnvp_merge_free(struct cnnvp_merge *merge);

#endif
