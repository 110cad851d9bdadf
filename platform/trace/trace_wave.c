/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as waveform signals, with one scope for each instance:
 *   TRACK_busy   1 during a span                TRACK_spans  number of spans begun (separates adjacent spans)
 *   TRACK_layer  the span's tag: layer + 1      TRACK_op     its name in ASCII
 * Also the name of the guest's innermost function, counters as 64-bit numbers, interrupts as wires, and in the scope
 * `links` each link's bandwidth in bytes per second. A signal changes at most once at a time, to its last value then; a
 * span of length 0 appears only in TRACK_spans.
 */
#include "trace_wave.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum part { BUSY, SPANS, LAYER, OP, TRACK_PARTS };

struct signal {
    uint64_t value; /* for TRACK_op: index as in dump.texts */
    uint64_t shown;
    uint32_t width;
    int is_text;
    int changed; /* 1: it is in the list of changes */
};

/* A name as the value of a signal. */
struct text {
    char bits[8 * CNNVP_WAVE_CHARACTERS];
    size_t count;
};

struct dump {
    const struct cnnvp_trace *trace;
    const struct cnnvp_wave_writer *writer;
    void *file;
    struct signal *signals;
    uint32_t *first;          /* first signal of each stream */
    uint32_t *texts;          /* for each name: 0: nothing to show; otherwise 1 + the first name with the same text */
    struct text *shown_texts; /* for each name that is the first with its text */
    uint32_t signal_count;
    uint32_t *changes;
    uint32_t change_count;
    cnnvp_time now;
    int started; /* the initial values have been written */
};

/* ---- declarations ---- */

/* Makes an identifier of a scope or signal name. */
static void put_identifier(char *name, size_t size, const char *text, const char *suffix)
{
    snprintf(name, size, "%.100s%s", text, suffix);
    for (char *c = name; *c; ++c)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_'))
            *c = '_';
}

static void declare(struct dump *dump, const char *text, const char *suffix, uint32_t width)
{
    char name[160];

    put_identifier(name, sizeof name, text, suffix);
    dump->writer->declare(dump->file, dump->signal_count, name, width);
    dump->signals[dump->signal_count++].width = width;
}

static void declare_stream(struct dump *dump, uint32_t number)
{
    const struct cnnvp_stream *stream = &dump->trace->streams[number];
    const char *const name = cnnvp_stream_name(dump->trace, stream);
    const int is_text = stream->kind == CNNVP_STREAM_CALLS;
    char link[256];

    dump->first[number] = dump->signal_count;
    if (stream->kind == CNNVP_STREAM_TRACK || stream->kind == CNNVP_STREAM_WHOLE) {
        declare(dump, name, "_busy", 1);
        declare(dump, name, "_spans", 32);
        declare(dump, name, "_layer", 16);
        declare(dump, name, "_op", 8 * CNNVP_WAVE_CHARACTERS);
        dump->signals[dump->first[number] + OP].is_text = 1;
    } else if (stream->kind == CNNVP_STREAM_LINK) {
        snprintf(link, sizeof link, "%.45s_to_%.45s", dump->trace->platform->instances[stream->instance].name, name);
        declare(dump, link, "", 64);
    } else {
        declare(dump, name, "", is_text ? 8 * CNNVP_WAVE_CHARACTERS : stream->kind == CNNVP_STREAM_LEVEL ? 1 : 64);
        dump->signals[dump->first[number]].is_text = is_text;
    }
}

static void open_scope(struct dump *dump, const char *text)
{
    char name[128];

    put_identifier(name, sizeof name, text, "");
    dump->writer->open_scope(dump->file, name);
}

static void declare_all(struct dump *dump)
{
    const struct cnnvp_trace *trace = dump->trace;
    uint32_t last = UINT32_MAX;

    open_scope(dump, trace->platform->platform_name != NULL && trace->platform->platform_name[0]
                         ? trace->platform->platform_name
                         : "platform");
    for (uint32_t i = 0; i < trace->stream_count; ++i) {
        const enum cnnvp_stream_kind kind = trace->streams[i].kind;
        if (cnnvp_trace_leaves_out(&trace->streams[i]))
            continue;
        const char *const shared = kind == CNNVP_STREAM_LINK ? "links" : kind == CNNVP_STREAM_WHOLE ? "whole" : NULL;
        const uint32_t scope = shared != NULL ? UINT32_MAX - 1 - (uint32_t)kind : trace->streams[i].instance;

        if (scope != last) {
            if (last != UINT32_MAX)
                dump->writer->close_scope(dump->file);
            open_scope(dump, shared != NULL ? shared : trace->platform->instances[scope].name);
        }
        last = scope;
        declare_stream(dump, i);
    }
    if (last != UINT32_MAX)
        dump->writer->close_scope(dump->file);
    dump->writer->close_scope(dump->file);
}

/* ---- changes ---- */

static void change(struct dump *dump, uint32_t number, uint64_t value)
{
    struct signal *signal = &dump->signals[number];

    signal->value = value;
    if (!signal->changed) {
        signal->changed = 1;
        dump->changes[dump->change_count++] = number;
    }
}

static const char nibbles[16][5] = {"0000", "0001", "0010", "0011", "0100", "0101", "0110", "0111",
                                    "1000", "1001", "1010", "1011", "1100", "1101", "1110", "1111"};

/* Writes a number without leading zeros so that it ends at `end`. */
static struct cnnvp_wave_value number_bits(char *end, uint64_t number)
{
    char *p = end;

    do {
        p -= 4;
        memcpy(p, nibbles[number & 15], 4);
        number >>= 4;
    } while (number);
    while (*p == '0' && p + 1 < end)
        ++p;
    return (struct cnnvp_wave_value){p, (size_t)(end - p)};
}

static void write_value(struct dump *dump, uint32_t number)
{
    struct signal *signal = &dump->signals[number];
    char bits[64];
    struct cnnvp_wave_value value;

    if (signal->is_text && signal->value) {
        const struct text *text = &dump->shown_texts[signal->value - 1];

        value = (struct cnnvp_wave_value){text->bits, text->count};
    } else {
        value = number_bits(bits + sizeof bits, signal->value);
    }
    dump->writer->value(dump->file, number, signal->width, value);
    signal->shown = signal->value;
}

/* Writes all changes at the current time. */
static void write_step(struct dump *dump)
{
    int has_time = 0;

    if (!dump->started) {
        dump->started = 1;
        dump->writer->begin_first(dump->file);
        for (uint32_t i = 0; i < dump->signal_count; ++i)
            write_value(dump, i);
        dump->writer->end_first(dump->file);
        has_time = 1;
    }
    for (uint32_t i = 0; i < dump->change_count; ++i) {
        struct signal *signal = &dump->signals[dump->changes[i]];

        signal->changed = 0;
        if (signal->value == signal->shown)
            continue;
        if (!has_time)
            dump->writer->time(dump->file, dump->now);
        has_time = 1;
        write_value(dump, dump->changes[i]);
    }
    dump->change_count = 0;
}

static void apply(struct dump *dump, const struct cnnvp_event *event)
{
    uint32_t first = dump->first[event->stream];

    if (dump->trace->streams[event->stream].kind == CNNVP_STREAM_CALLS) {
        change(dump, first, event->name == UINT32_MAX ? 0 : dump->texts[event->name]);
        return;
    }

    switch (event->type) {
    case CNNVP_EVENT_BEGIN:
        change(dump, first + BUSY, 1);
        change(dump, first + SPANS, (dump->signals[first + SPANS].value + 1) & UINT32_MAX);
        change(dump, first + LAYER, event->tag & 0xFFFF);
        change(dump, first + OP, dump->texts[event->name]);
        break;
    case CNNVP_EVENT_END:
        change(dump, first + BUSY, 0);
        change(dump, first + LAYER, 0);
        change(dump, first + OP, 0);
        break;
    case CNNVP_EVENT_VALUE:
        change(dump, first, event->value);
        break;
    }
}

static void write_changes(struct dump *dump, struct cnnvp_merge *merge)
{
    const struct cnnvp_event *event;

    while ((event = cnnvp_merge_next(merge)) != NULL) {
        if (event->time > dump->now) {
            write_step(dump);
            dump->now = event->time;
        }
        apply(dump, event);
    }
    write_step(dump);
    if (dump->trace->end_ps > dump->now)
        dump->writer->time(dump->file, dump->trace->end_ps);
}

/* Encodes each character in eight bits, the first character highest. */
static void set_text(struct text *text, const char *name)
{
    for (; *name && text->count < sizeof text->bits; ++name, text->count += 8) {
        memcpy(text->bits + text->count, nibbles[(unsigned char)*name >> 4], 4);
        memcpy(text->bits + text->count + 4, nibbles[(unsigned char)*name & 15], 4);
    }
}

static void number_texts(struct dump *dump)
{
    char **names = dump->trace->names;

    for (uint32_t i = 0; i < dump->trace->name_count; ++i) {
        uint32_t same = 0;

        while (strncmp(names[same], names[i], CNNVP_WAVE_CHARACTERS) != 0)
            ++same;
        dump->texts[i] = names[i][0] ? same + 1 : 0;
        if (same == i)
            set_text(&dump->shown_texts[i], names[i]);
    }
}

void cnnvp_wave_write(struct cnnvp_trace *trace, const struct cnnvp_wave_writer *writer, void *file)
{
    struct dump dump = {.trace = trace, .writer = writer, .file = file};
    struct cnnvp_merge *merge = cnnvp_merge_new(trace);
    size_t signals = (size_t)trace->stream_count * TRACK_PARTS + 1; /* upper bound */

    CNNVP_SCOPED(cnnvp_arena_free) struct cnnvp_arena arena = {0};
    dump.signals = cnnvp_arena_array(&arena, signals, sizeof *dump.signals);
    dump.changes = cnnvp_arena_array(&arena, signals, sizeof *dump.changes);
    dump.first = cnnvp_arena_array(&arena, trace->stream_count, sizeof *dump.first);
    dump.texts = cnnvp_arena_array(&arena, trace->name_count, sizeof *dump.texts);
    dump.shown_texts = cnnvp_arena_array(&arena, trace->name_count, sizeof *dump.shown_texts);
    if (merge != NULL && dump.signals != NULL && dump.changes != NULL && dump.first != NULL && dump.texts != NULL &&
        dump.shown_texts != NULL) {
        number_texts(&dump);
        declare_all(&dump);
        write_changes(&dump, merge);
    } else {
        trace->error = ENOMEM;
    }
    cnnvp_merge_free(merge);
}
