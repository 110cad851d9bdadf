/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records a trace in records of a few bytes (trace_record.h). Full chunks stay in memory up to a limit; further ones go
 * to an unlinked file beside the output.
 */
#include "trace.h"

#include "trace_record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limit of the chunks in memory, in bytes. */
#define MEMORY_LIMIT (64u * 1024u * 1024u)
#define FIRST_WINDOW_PS 100000u

static const struct cnnvp_trace_format *const formats[] = {
    &cnnvp_trace_perfetto, &cnnvp_trace_vcd, &cnnvp_trace_fst, &cnnvp_trace_series};

#define FORMATS (sizeof formats / sizeof formats[0])

static cnnvp_result find_format(const char *file, const struct cnnvp_trace_format **format, struct cnnvp_error *error)
{
    int length;

    for (size_t i = 0; i < FORMATS; ++i) {
        if (cnnvp_before_ending(file, formats[i]->suffix) == 0)
            continue;
        *format = formats[i];
        if (formats[i]->write != NULL)
            return CNNVP_DONE;
        return cnnvp_config_error(error, NULL,
                                  "%.1000s: this cnnvp was built without GTKWave's fstapi.c and cannot write %s; write "
                                  ".vcd, or install Debian's package verilator, which has it, and build again",
                                  file, formats[i]->suffix);
    }
    length = snprintf(error->text, sizeof error->text, "%.1000s: unknown kind of trace; the name ends in", file);
    for (size_t i = 0; i < FORMATS; ++i)
        length += snprintf(error->text + length, sizeof error->text - (size_t)length, "%s %s (%s)",
                           i == 0             ? ""
                           : i + 1 == FORMATS ? " or"
                                              : ",",
                           formats[i]->suffix, formats[i]->title);
    return CNNVP_BAD_INPUT;
}

/* ---- streams ---- */

static void add_stream(struct cnnvp_trace *trace, enum cnnvp_stream_kind kind, uint32_t instance, uint32_t index)
{
    struct cnnvp_stream *streams = cnnvp_grow(trace->streams, trace->stream_count, sizeof *streams);
    if (streams == NULL) {
        trace->error = ENOMEM;
        return;
    }
    trace->streams = streams;
    streams[trace->stream_count++] = (struct cnnvp_stream){.kind = kind, .instance = instance, .index = index};
}

static int is_calls(const struct cnnvp_counter *counter)
{
    return counter->unit != NULL && strcmp(counter->unit, "function") == 0;
}

static void add_whole(struct cnnvp_trace *trace, enum cnnvp_whole_track track, const char *suffix)
{
    add_stream(trace, CNNVP_STREAM_WHOLE, 0, track);
    trace->streams[trace->stream_count - 1].name =
        cnnvp_arena_printf(&trace->arena, "%s%s", cnnvp_whole_names[track], suffix);
}

static void add_streams(struct cnnvp_trace *trace)
{
    for (uint32_t i = 0; i < trace->platform->instance_count; ++i) {
        const struct cnnvp_unit *unit = trace->platform->instances[i].unit;

        trace->tracks[i] = trace->stream_count;
        for (uint32_t k = 0; unit != NULL && k < unit->track_count; ++k)
            add_stream(trace, CNNVP_STREAM_TRACK, i, k);
        trace->counters[i] = trace->stream_count;
        for (uint32_t k = 0; unit != NULL && k < unit->counter_count; ++k)
            add_stream(trace, is_calls(&unit->counters[k]) ? CNNVP_STREAM_CALLS : CNNVP_STREAM_COUNTER, i, k);
        trace->levels[i] = trace->stream_count;
        for (uint32_t k = 0; unit != NULL && k < unit->port_count; ++k)
            if (unit->ports[k].kind == CNNVP_PORT_IRQ_OUT)
                add_stream(trace, CNNVP_STREAM_LEVEL, i, k);
        trace->paths[i] = trace->stream_count;
        if (unit != NULL)
            add_stream(trace, CNNVP_STREAM_PATH, i, 0);
    }
    trace->whole = trace->stream_count;
    for (uint32_t k = 0; k < CNNVP_WHOLE_COUNT; ++k)
        add_whole(trace, k, "");
    for (uint32_t i = 0; i < trace->platform->instance_count; ++i) {
        const char *suffix = cnnvp_trace_suffix(trace->platform, i);
        if (suffix[0] != '\0' && strcmp(trace->platform->instances[i].model, CNNVP_INSTRUCTION_ELEMENT) == 0)
            add_whole(trace, CNNVP_WHOLE_LAYERS, suffix);
    }
    trace->fixed_streams = trace->stream_count;
}

const char *cnnvp_stream_name(const struct cnnvp_trace *trace, const struct cnnvp_stream *stream)
{
    const struct cnnvp_instance *instances = trace->platform->instances;
    const struct cnnvp_unit *unit = instances[stream->instance].unit;

    switch (stream->kind) {
    case CNNVP_STREAM_TRACK:
        return unit->tracks[stream->index];
    case CNNVP_STREAM_COUNTER:
    case CNNVP_STREAM_CALLS:
        return unit->counters[stream->index].name;
    case CNNVP_STREAM_LEVEL:
        return unit->ports[stream->index].name;
    case CNNVP_STREAM_PATH:
        return "critical_path";
    case CNNVP_STREAM_WHOLE:
        return stream->name;
    case CNNVP_STREAM_LINK:
        break;
    }
    return instances[stream->index].name;
}

cnnvp_result cnnvp_trace_add_file(struct cnnvp_trace *trace, const char *file, struct cnnvp_error *error)
{
    struct cnnvp_trace_file *added = &trace->files[trace->file_count];

    CNNVP_TRY(find_format(file, &added->format, error));
    CNNVP_TRY(cnnvp_output_check(file, error));
    added->name = cnnvp_arena_text(&trace->arena, file);
    CNNVP_TRY_MEMORY(added->name != NULL, error);
    if (trace->file_count++ == 0)
        trace->file = added->name;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_trace_new(const struct cnnvp_resolved *platform, const char *file, struct cnnvp_trace **trace,
                             struct cnnvp_error *error)
{
    struct cnnvp_trace *made;
    cnnvp_result result;

    *trace = NULL;
    made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->platform = platform;
        made->spill = -1;
        made->memory_limit = MEMORY_LIMIT;
        made->window_ps = FIRST_WINDOW_PS;
        made->tracks = cnnvp_arena_array(&made->arena, platform->instance_count, sizeof *made->tracks);
        made->counters = cnnvp_arena_array(&made->arena, platform->instance_count, sizeof *made->counters);
        made->paths = cnnvp_arena_array(&made->arena, platform->instance_count, sizeof *made->paths);
        made->levels = cnnvp_arena_array(&made->arena, platform->instance_count, sizeof *made->levels);
    }
    if (made == NULL || made->arena.failed) {
        cnnvp_trace_free(made);
        return cnnvp_config_no_memory(error);
    }
    result = cnnvp_trace_add_file(made, file, error);
    if (result == CNNVP_DONE)
        add_streams(made);
    if (result == CNNVP_DONE && (made->error != 0 || made->arena.failed))
        result = cnnvp_config_no_memory(error);
    if (result == CNNVP_DONE)
        *trace = made;
    else
        cnnvp_trace_free(made);
    return result;
}

void cnnvp_trace_free(struct cnnvp_trace *trace)
{
    if (trace == NULL)
        return;
    for (uint32_t i = 0; i < trace->stream_count; ++i) {
        struct cnnvp_chunk *chunk = trace->streams[i].first;

        while (chunk != NULL) {
            struct cnnvp_chunk *next = chunk->next;

            free(chunk->data);
            free(chunk);
            chunk = next;
        }
        free(trace->streams[i].buffer);
        free(trace->streams[i].windows);
    }
    if (trace->spill >= 0)
        (void)close(trace->spill);
    free(trace->names);
    free(trace->marks);
    free(trace->streams);
    cnnvp_arena_free(&trace->arena);
    free(trace);
}

/* ---- chunks ---- */

/* Creates an unlinked file in the output's folder, where the user expects large files. */
static int open_spill(struct cnnvp_trace *trace)
{
    CNNVP_FREED char *name = cnnvp_text_printf("%s.spill-XXXXXX", trace->file);

    if (name == NULL) {
        errno = ENOMEM;
        return 0;
    }
    trace->spill = mkstemp(name);
    if (trace->spill >= 0)
        (void)unlink(name);
    return trace->spill >= 0;
}

static int write_spill(struct cnnvp_trace *trace, const unsigned char *data, size_t size)
{
    if (trace->spill < 0 && !open_spill(trace))
        return 0;
    while (size) {
        ssize_t written = pwrite(trace->spill, data, size, (off_t)trace->spill_size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return 0;
        data += written;
        size -= (size_t)written;
        trace->spill_size += (uint64_t)written;
    }
    return 1;
}

/* Stores the full buffer as a chunk and makes room for the next. */
static int seal(struct cnnvp_trace *trace, struct cnnvp_stream *stream)
{
    struct cnnvp_chunk *chunk = calloc(1, sizeof *chunk);

    if (chunk == NULL)
        return 0;
    chunk->used = stream->used;
    chunk->offset = trace->spill_size;
    if (stream->last != NULL)
        stream->last->next = chunk;
    else
        stream->first = chunk;
    stream->last = chunk;
    stream->used = 0;
    if (trace->memory_used + CNNVP_CHUNK_BYTES > trace->memory_limit)
        return write_spill(trace, stream->buffer, chunk->used);
    trace->memory_used += CNNVP_CHUNK_BYTES;
    chunk->data = stream->buffer;
    stream->buffer = malloc(CNNVP_CHUNK_BYTES);
    return stream->buffer != NULL;
}

/* Room for the next record; NULL after an error. */
static unsigned char *room_slow(struct cnnvp_trace *trace, struct cnnvp_stream *stream)
{
    if (trace->error)
        return NULL;
    errno = ENOMEM;
    if (stream->buffer == NULL)
        stream->buffer = malloc(CNNVP_CHUNK_BYTES);
    else if (!seal(trace, stream))
        goto failed;
    if (stream->buffer != NULL)
        return stream->buffer;
failed:
    trace->error = errno ? errno : EIO;
    return NULL;
}

static inline unsigned char *room(struct cnnvp_trace *trace, struct cnnvp_stream *stream)
{
    if (stream->buffer == NULL || stream->used > CNNVP_CHUNK_BYTES - CNNVP_RECORD_BYTES || trace->error)
        return room_slow(trace, stream);
    return stream->buffer + stream->used;
}

static inline void filled(struct cnnvp_stream *stream, const unsigned char *end)
{
    stream->used = (uint32_t)(end - stream->buffer);
}

/* ---- names of spans ---- */

uint32_t cnnvp_trace_text(struct cnnvp_trace *trace, const char *text)
{
    for (uint32_t i = 0; i < trace->name_count; ++i)
        if (strcmp(trace->names[i], text) == 0)
            return i;
    char **names = cnnvp_grow(trace->names, trace->name_count, sizeof *names);

    if (names == NULL)
        return UINT32_MAX;
    trace->names = names;
    trace->names[trace->name_count] = cnnvp_arena_text(&trace->arena, text);
    return trace->names[trace->name_count] != NULL ? trace->name_count++ : UINT32_MAX;
}

static uint32_t name_index(struct cnnvp_trace *trace, const char *name)
{
    const uint64_t hash = (uint64_t)(uintptr_t)name * UINT64_C(0x9E3779B97F4A7C15);
    struct cnnvp_name *cached = &trace->name_cache[(hash >> 32) % CNNVP_NAME_CACHE];

    if (cached->key != name)
        *cached = (struct cnnvp_name){name, cnnvp_trace_text(trace, name)};
    return cached->index;
}

/* ---- records ---- */

/* NULL: no such instance, or the instance has no unit. */
static const struct cnnvp_unit *unit_of(const struct cnnvp_trace *trace, uint32_t instance)
{
    return instance < trace->platform->instance_count ? trace->platform->instances[instance].unit : NULL;
}

/* Writes a span with the stream's current name. */
static void put_span(struct cnnvp_trace *trace, struct cnnvp_stream *stream, uint32_t tag, uint64_t flow,
                     cnnvp_time begin, cnnvp_time end, const struct cnnvp_command *about)
{
    unsigned char *p = room(trace, stream);

    if (p == NULL)
        return;
    stream->is_late |= begin < stream->time;
    p = cnnvp_varint_put_signed(p, begin - stream->time);
    p = cnnvp_varint_put(p, end - begin);
    p = cnnvp_varint_put(p, stream->name_index);
    p = cnnvp_varint_put(p, tag);
    p = cnnvp_varint_put_signed(p, flow - stream->value);
    p = cnnvp_varint_put(p, about != NULL ? about->count + 1u : 0);
    if (about != NULL) {
        p = cnnvp_varint_put(cnnvp_varint_put(cnnvp_varint_put(p, about->opcode), about->status), about->halves);
        p = cnnvp_varint_put(p, about->immediate);
        for (uint32_t i = 0; i < about->count; ++i)
            p = cnnvp_varint_put(p, about->descriptor[i]);
    }
    stream->time = end;
    stream->value = flow;
    filled(stream, p);
}

void cnnvp_trace_span(struct cnnvp_trace *trace, uint32_t instance, uint32_t track, const char *name, uint32_t tag,
                      uint64_t flow, cnnvp_time begin, cnnvp_time end)
{
    const struct cnnvp_unit *unit = unit_of(trace, instance);
    struct cnnvp_stream *stream;

    if (unit == NULL || track >= unit->track_count)
        return;
    stream = &trace->streams[trace->tracks[instance] + track];
    if (name == NULL)
        name = "";
    if (name != stream->name) {
        uint32_t index = name_index(trace, name);

        if (index == UINT32_MAX) {
            trace->error = ENOMEM;
            return;
        }
        stream->name = name;
        stream->name_index = index;
    }
    if (end < begin)
        end = begin;
    const int known = flow && trace->about.sequence == flow && trace->about_instance == instance;
    put_span(trace, stream, tag, flow, begin, end, known ? &trace->about : NULL);
    if (flow && trace->waiting_count)
        cnnvp_trace_settle(trace, instance, flow, begin, end);
}

void cnnvp_trace_whole_span(struct cnnvp_trace *trace, struct cnnvp_stream *stream, uint32_t text, uint32_t tag,
                            cnnvp_time begin, cnnvp_time end)
{
    stream->name_index = text;
    put_span(trace, stream, tag, 0, begin, end, NULL);
}

static inline void put_pair(struct cnnvp_stream *stream, unsigned char *p, cnnvp_time at, uint64_t number)
{
    stream->is_late |= at < stream->time;
    filled(stream, cnnvp_pair_put(p, (struct cnnvp_pair){at - stream->time, number}));
    stream->time = at;
}

/* Stores a function's name in the cache. */
static void find_function(struct cnnvp_trace *trace, struct cnnvp_function *cached, uint64_t value)
{
    const char *name = NULL;
    char address[24];

    snprintf(address, sizeof address, "0x%08" PRIx32, (uint32_t)value);
    if (trace->function_name != NULL)
        name = trace->function_name(trace->function_context, (uint32_t)value);
    cached->name = cnnvp_trace_text(trace, name != NULL ? name : address);
    cached->value = value;
    if (cached->name == UINT32_MAX) {
        trace->error = ENOMEM;
        cached->name = 0;
    }
}

/* 0 for a return; otherwise 1 + index of the called function's name. */
static inline uint64_t call_number(struct cnnvp_trace *trace, uint64_t value)
{
    struct cnnvp_function *cached = &trace->functions[value >> 1 & (CNNVP_FUNCTION_CACHE - 1)];

    if (!value)
        return 0;
    if (cached->value != value)
        find_function(trace, cached, value);
    return cached->name + UINT64_C(1);
}

void cnnvp_trace_counter(struct cnnvp_trace *trace, uint32_t instance, uint32_t counter, cnnvp_time at, uint64_t value)
{
    const struct cnnvp_unit *unit = unit_of(trace, instance);
    struct cnnvp_stream *stream;
    unsigned char *p;

    if (unit == NULL || counter >= unit->counter_count)
        return;
    stream = &trace->streams[trace->counters[instance] + counter];
    p = room(trace, stream);
    if (p == NULL)
        return;
    put_pair(stream, p, at, stream->kind == CNNVP_STREAM_CALLS ? call_number(trace, value) : value - stream->value);
    stream->value = value;
}

void cnnvp_trace_level(struct cnnvp_trace *trace, uint32_t instance, uint32_t port, cnnvp_time at, int level)
{
    const struct cnnvp_unit *unit = unit_of(trace, instance);
    struct cnnvp_stream *stream;
    unsigned char *p;

    if (unit == NULL || port >= unit->port_count || unit->ports[port].kind != CNNVP_PORT_IRQ_OUT)
        return;
    stream = &trace->streams[trace->levels[instance]];
    while (stream->index != port)
        ++stream;
    p = room(trace, stream);
    if (p != NULL)
        put_pair(stream, p, at, level != 0);
}

void cnnvp_trace_link(struct cnnvp_trace *trace, uint32_t link, uint32_t from, uint32_t to)
{
    if (link != trace->stream_count - trace->fixed_streams)
        return; /* already known */
    add_stream(trace, CNNVP_STREAM_LINK, from, to);
}

/* ---- the end ---- */

static cnnvp_result write_file(struct cnnvp_trace *trace, const struct cnnvp_trace_format *format,
                               struct cnnvp_error *error)
{
    cnnvp_output *output;

    if (!trace->error) {
        CNNVP_TRY(cnnvp_output_new(trace->file, &output, error));
        format->write(trace, output);
        if (!trace->error)
            return cnnvp_output_finish(output, error);
        cnnvp_output_discard(output);
    }
    snprintf(error->text, sizeof error->text, "%.1000s: recording of the trace failed: %s", trace->file,
             strerror(trace->error));
    return CNNVP_FAILED;
}

cnnvp_result cnnvp_trace_finish(struct cnnvp_trace *trace, uint64_t end_ps, struct cnnvp_error *error)
{
    trace->end_ps = end_ps;
    for (uint32_t i = 0; i < trace->file_count; ++i) {
        trace->file = trace->files[i].name;
        CNNVP_TRY(write_file(trace, trace->files[i].format, error));
    }
    return CNNVP_DONE;
}
