/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace of one run, private to the recorder. During the simulation, each stream (a unit's track, counter or interrupt,
 * or a link) appends delta-encoded records to its own chunks. At the end, a format reads the streams and writes its
 * file; some formats merge all streams in order of time. Each format is one file with one function; see the table in
 * trace.c.
 */
#pragma once

#include "config.h"
#include "base/base.h"
#include "cnnvp_command.h"
#include "base/output_file.h"
#include "path.h"

enum cnnvp_stream_kind {
    CNNVP_STREAM_TRACK,   /* spans */
    CNNVP_STREAM_COUNTER, /* values */
    CNNVP_STREAM_CALLS,   /* calls and returns: a counter with the unit "function" */
    CNNVP_STREAM_LEVEL,   /* levels of an IRQ_OUT port */
    CNNVP_STREAM_PATH,    /* the instance's share of the critical path over windows of time; trace_whole.c */
    CNNVP_STREAM_WHOLE,   /* spans of the platform as a whole: enum cnnvp_whole_track; trace_whole.c */
    CNNVP_STREAM_LINK     /* bytes per second over windows of time; trace_link.c */
};

/* Tracks of the platform as a whole. */
enum cnnvp_whole_track { CNNVP_WHOLE_LAYERS, CNNVP_WHOLE_PHASES, CNNVP_WHOLE_COUNT };
extern const char *const cnnvp_whole_names[CNNVP_WHOLE_COUNT];

#define CNNVP_CHUNK_BYTES 16384u

/* Number of windows of a link's bandwidth. When a run exceeds them, two (later five) windows are joined. */
#define CNNVP_LINK_WINDOWS 6001u
/* Number of transfers that may wait for the span of their instruction. */
#define CNNVP_WAITING_TRANSFERS 64u

/* A full part of a stream, in memory or (data NULL) in the spill file. */
struct cnnvp_chunk {
    struct cnnvp_chunk *next;
    unsigned char *data;
    uint64_t offset; /* position in the spill file */
    uint32_t used;
};

struct cnnvp_stream {
    enum cnnvp_stream_kind kind;
    uint32_t instance; /* for a link: the initiator */
    uint32_t index;    /* track, counter or port; for a link: the target */
    uint32_t used;
    unsigned char *buffer; /* the chunk being filled; NULL before the first record */
    uint64_t time;         /* of the last record: the end of a span, otherwise `at` */
    uint64_t value;        /* of the last record: the flow of a span, otherwise the value */
    const char *name;      /* name of the last span, as given; of the whole platform: the stream's */
    uint32_t name_index;
    int is_late; /* 1: some record came before the end of its predecessor */
    struct cnnvp_chunk *first;
    struct cnnvp_chunk *last;
    uint64_t *windows;     /* for each window: bytes of a link, or picoseconds of a path; NULL: all 0 */
    uint32_t window_count; /* windows from this one on are 0 */
};

/* Bytes that cross a link in a period of time. */
struct cnnvp_moved {
    uint32_t link;
    uint64_t flow; /* instruction whose span gives the time; 0: use `begin` and `end` */
    cnnvp_time begin;
    cnnvp_time end;
    uint64_t bytes;
};

/* A transfer of an image's own bytes: part of its input or output. */
struct cnnvp_image_mark {
    uint64_t flow, image;
    int is_output;
};

struct cnnvp_name {
    const char *key; /* text as given */
    uint32_t index;
};

/* Most streams of one DMA that fill buffers. */
#define CNNVP_DMA_STREAMS 4u

/* Entries of the cache for span names. */
#define CNNVP_NAME_CACHE 256u

/* Most open calls; deeper ones are dropped. */
#define CNNVP_CALL_DEPTH 1024u
/* Entries of the cache for function names; a power of two. */
#define CNNVP_FUNCTION_CACHE 1024u

struct cnnvp_function {
    uint64_t value; /* address as recorded; 0: free entry */
    uint32_t name;
};

struct cnnvp_trace;
struct isa_extension;
struct cnnvp_transfer;

/* True for empty streams of the critical path and of the whole platform, which exist only in some runs. */
static inline int cnnvp_trace_leaves_out(const struct cnnvp_stream *stream)
{
    return (stream->kind == CNNVP_STREAM_PATH && stream->windows == NULL) ||
           (stream->kind == CNNVP_STREAM_WHOLE && stream->buffer == NULL);
}

/* An output format. */
struct cnnvp_trace_format {
    const char *suffix;
    const char *title;
    /* NULL: not available in this build */
    void (*write)(struct cnnvp_trace *trace, cnnvp_output *output);
};

extern const struct cnnvp_trace_format cnnvp_trace_perfetto;
extern const struct cnnvp_trace_format cnnvp_trace_vcd;
extern const struct cnnvp_trace_format cnnvp_trace_fst;
extern const struct cnnvp_trace_format cnnvp_trace_series;

/* Most files that one recording is written to. */
#define CNNVP_TRACE_FILES 2u

struct cnnvp_trace_file {
    char *name;
    const struct cnnvp_trace_format *format;
};

struct cnnvp_trace {
    const struct cnnvp_resolved *platform;
    struct cnnvp_trace_file files[CNNVP_TRACE_FILES];
    uint32_t file_count;
    const char *file; /* the first file, or the one being written */
    struct cnnvp_stream *streams;
    uint32_t stream_count;
    uint32_t fixed_streams; /* number of streams of units and of the whole platform; links follow */
    uint32_t whole;         /* first stream of the whole platform */
    uint32_t *tracks;       /* for each instance: number of its first stream of this kind */
    uint32_t *counters;
    uint32_t *paths;
    uint32_t *levels; /* streams of its IRQ_OUT ports, in their order */
    char **names;     /* names of spans, by index */
    uint32_t name_count;
    struct cnnvp_name name_cache[CNNVP_NAME_CACHE];
    struct cnnvp_arena arena; /* for data that no longer grow */
    uint64_t memory_used;
    uint64_t memory_limit;
    uint64_t spill_size;
    int spill;          /* descriptor of the unlinked file; -1: none */
    int error;          /* errno of the first failure, which has stopped recording; 0: none */
    uint64_t window_ps; /* window of link bandwidths, initially 100 ns */
    uint64_t path_window_ps;
    uint32_t widened; /* how often windows were widened */
    struct cnnvp_moved waiting[CNNVP_WAITING_TRANSFERS];
    uint32_t waiting_count;
    const struct isa_extension *extension; /* set while a writer needs it */
    struct cnnvp_command about;            /* command of the spans with its flow on `about_instance` */
    uint32_t about_instance;
    struct cnnvp_image_mark *marks; /* sorted by flow: input transfers, if images are processed one by one;
                                     * trace_image.c */
    uint32_t mark_count;
    uint32_t dma_streams[CNNVP_DMA_STREAMS]; /* streams that fill buffers; trace_operand.c */
    uint32_t dma_count;                      /* 0: no streams, or streams of several instances */
    /* For the writers; set by cnnvp_trace_finish. */
    uint64_t end_ps;
    const char *(*function_name)(const void *context, uint64_t address);
    const void *function_context;
    struct cnnvp_function functions[CNNVP_FUNCTION_CACHE];
    const char *(*layer_name)(const void *context, uint32_t tag, char *buffer, size_t size);
    const char *(*layer_phase)(const void *context, uint32_t tag);
    const struct cnnvp_place_info *(*place_at)(const void *context, uint64_t address); /* NULL: no place has the
                                                                                        * address */
    const void *layer_context;
};

/* A stream's name within its instance; for a link, the target instance. */
const char *cnnvp_stream_name(const struct cnnvp_trace *trace, const struct cnnvp_stream *stream);

CNNVP_MUST_USE cnnvp_result cnnvp_trace_new(const struct cnnvp_resolved *platform, const char *file,
                                            struct cnnvp_trace **trace, struct cnnvp_error *error);
/* Adds another file of the same recording. */
CNNVP_MUST_USE cnnvp_result cnnvp_trace_add_file(struct cnnvp_trace *trace, const char *file,
                                                 struct cnnvp_error *error);
void cnnvp_trace_free(struct cnnvp_trace *trace);
/* Adds the critical path up to `end`, and the layers and phases at work. Call both before cnnvp_trace_finish. */
void cnnvp_trace_set_path(struct cnnvp_trace *trace, struct cnnvp_path *path, cnnvp_time end);
void cnnvp_trace_add_layers(struct cnnvp_trace *trace);
/* Writes the files. Call it after cnnvp_trace_links_finish. */
CNNVP_MUST_USE cnnvp_result cnnvp_trace_finish(struct cnnvp_trace *trace, uint64_t end_ps, struct cnnvp_error *error);

void cnnvp_trace_span(struct cnnvp_trace *trace, uint32_t instance, uint32_t track, const char *name, uint32_t tag,
                      uint64_t flow, cnnvp_time begin, cnnvp_time end);
/* Adds a span with the text of this index to a stream of the whole platform. */
void cnnvp_trace_whole_span(struct cnnvp_trace *trace, struct cnnvp_stream *stream, uint32_t text, uint32_t tag,
                            cnnvp_time begin, cnnvp_time end);
/* What the names of an accelerator's instances end in: "" for the first accelerator's. */
const char *cnnvp_trace_suffix(const struct cnnvp_resolved *platform, uint32_t instance);
/* Index of a text, in order of first appearance, so that it does not depend on addresses. UINT32_MAX: out of memory. */
uint32_t cnnvp_trace_text(struct cnnvp_trace *trace, const char *text);
void cnnvp_trace_counter(struct cnnvp_trace *trace, uint32_t instance, uint32_t counter, cnnvp_time at, uint64_t value);
void cnnvp_trace_level(struct cnnvp_trace *trace, uint32_t instance, uint32_t port, cnnvp_time at, int level);
/* Adds a link; links come in order of their numbers, from 0. */
void cnnvp_trace_link(struct cnnvp_trace *trace, uint32_t link, uint32_t from, uint32_t to);

/* ---- bandwidth of links, trace_link.c ---- */

/* A transfer with a flow is spread over the next span of that flow on the link's initiator, if there is one. */
void cnnvp_trace_transfer(struct cnnvp_trace *trace, const struct cnnvp_moved *transfer);
/* Spreads the transfers that wait for this span. */
void cnnvp_trace_settle(struct cnnvp_trace *trace, uint32_t instance, uint64_t flow, cnnvp_time begin, cnnvp_time end);
/* Spreads the remaining transfers and sets the final window size. */
void cnnvp_trace_links_finish(struct cnnvp_trace *trace, cnnvp_time end);
/* Limits the bandwidth of links to an instance: excess bytes move to neighbouring windows. Call it after
 * cnnvp_trace_links_finish. */
void cnnvp_trace_limit(struct cnnvp_trace *trace, uint32_t instance, uint64_t bytes_per_s);

/* ---- images, trace_image.c ---- */

/* 1 if the command moves data between memory and a buffer; *transfer is its description. */
int cnnvp_trace_moves(const struct cnnvp_command *command, struct cnnvp_transfer *transfer);
/* Finds the image of each instruction, and the streams that fill buffers. Required before the functions below. */
void cnnvp_trace_find_images(struct cnnvp_trace *trace);
/* The image of the instruction with this flow. Returns 0 if unknown. */
int cnnvp_trace_image(const struct cnnvp_trace *trace, uint64_t flow, uint64_t *image);

/* The first channel of the byte at this distance from the start of the place, if `interleaved` channels are
 * interleaved. */
uint64_t cnnvp_trace_channel(const struct cnnvp_place_info *place, uint64_t offset, uint64_t interleaved);

/* ---- reading back, trace_cursor.c and trace_merge.c ---- */

enum cnnvp_event_type { CNNVP_EVENT_BEGIN, CNNVP_EVENT_END, CNNVP_EVENT_VALUE };

struct cnnvp_event {
    cnnvp_time time;
    enum cnnvp_event_type type;
    uint32_t stream;
    uint32_t name;                     /* BEGIN: index in trace->names; END of a call: the caller's, or UINT32_MAX */
    uint32_t tag;                      /* BEGIN */
    uint64_t flow;                     /* BEGIN */
    uint64_t value;                    /* VALUE; BEGIN: end of the span, unknown for a call */
    const struct cnnvp_command *about; /* BEGIN: opcode, status, halves, immediate, descriptor; NULL: unknown */
};

/* ---- contents of the buffers, trace_operand.c ---- */

struct cnnvp_trace_buffers;

/* 1 if the event begins a span whose instruction fills a buffer from memory or from another buffer, or sets it. */
int cnnvp_trace_fills(const struct cnnvp_event *event);
/* For the spans of one stream, after cnnvp_trace_find_images. NULL: nothing is known, or out of memory. */
struct cnnvp_trace_buffers *cnnvp_trace_buffers_new(struct cnnvp_trace *trace);
void cnnvp_trace_buffers_free(struct cnnvp_trace_buffers *buffers);
/* The channel of the first word that a span's instruction reads in `buffer` (0 input, 1 weight). `event` begins a span
 * whose instruction is known; spans come in the order of instructions. Returns 0 if it reads no word there or the
 * channel is unknown. */
int cnnvp_trace_operand(struct cnnvp_trace_buffers *buffers, const struct cnnvp_event *event, uint32_t buffer,
                        uint64_t *channel);

struct cnnvp_merge;

/* NULL: out of memory. */
struct cnnvp_merge *cnnvp_merge_new(struct cnnvp_trace *trace);
/* The next event in order of time; at equal times in order of streams. Valid until the next call. NULL at the end or
 * after an error (trace->error). */
const struct cnnvp_event *cnnvp_merge_next(struct cnnvp_merge *merge);
void cnnvp_merge_free(struct cnnvp_merge *merge);
