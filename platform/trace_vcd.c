/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Value change dump, IEEE 1364-2005 clause 18, without extensions. Time unit 1 ps. One scope for each instance:
 *   TRACK_busy   1 while a span lasts        TRACK_spans  number of spans begun (tells spans that touch apart)
 *   TRACK_layer  the span's tag: layer + 1   TRACK_op     its name in ASCII
 *   counters as 64-bit numbers, interrupts as wires; in the scope `links` each link's bandwidth in bytes per second.
 * At one time a signal changes once, to the last of its values; a span without length shows in TRACK_spans alone.
 */
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Characters of TRACK_op. */
#define OP_CHARACTERS 32u
/* Identifiers are numbers of base 94 in the printable characters from '!'. */
#define ID_BASE 94u
#define ID_FIRST 33u
#define LINE_BYTES (8 * OP_CHARACTERS + 32)

enum part { BUSY, SPANS, LAYER, OP, TRACK_PARTS };

struct signal {
    uint64_t value; /* TRACK_op: as in dump.texts */
    uint64_t shown;
    uint32_t width;
    int is_text;
    int changed; /* is in the list */
};

struct dump {
    const struct cnnvp_trace *trace;
    cnnvp_output *output;
    struct signal *signals;
    uint32_t *first; /* signal of each stream */
    uint32_t *texts; /* of each name: 0 nothing to show, else 1 + the first name that shows the same */
    uint32_t signal_count;
    uint32_t *changes;
    uint32_t change_count;
    cnnvp_time now;
    int started; /* the first values have been written */
};

/* ---- text ---- */

static void write_text(struct dump *dump, const char *text)
{
    cnnvp_output_write(dump->output, text, strlen(text));
}

static char *put_id(char *p, uint32_t signal)
{
    do {
        *p++ = (char)(ID_FIRST + signal % ID_BASE);
        signal /= ID_BASE;
    } while (signal);
    *p = '\0';
    return p;
}

static char *put_bits(char *p, uint64_t value)
{
    unsigned bits = 1;

    while (bits < 64 && value >> bits)
        bits++;
    while (bits--)
        *p++ = (char)('0' + (value >> bits & 1));
    return p;
}

/* Eight bits for each character, the first one highest. */
static char *put_characters(char *p, const char *text)
{
    static const char nibbles[16][5] = {"0000", "0001", "0010", "0011", "0100", "0101", "0110", "0111",
                                        "1000", "1001", "1010", "1011", "1100", "1101", "1110", "1111"};

    for (uint32_t i = 0; i < OP_CHARACTERS && text[i]; i++) {
        memcpy(p, nibbles[(unsigned char)text[i] >> 4], 4);
        memcpy(p + 4, nibbles[(unsigned char)text[i] & 15], 4);
        p += 8;
    }
    return p;
}

static char *put_decimal(char *p, uint64_t value)
{
    char digits[20];
    unsigned count = 0;

    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    while (count)
        *p++ = digits[--count];
    return p;
}

static void write_value(struct dump *dump, uint32_t number)
{
    struct signal *signal = &dump->signals[number];
    char *line = (char *)cnnvp_output_room(dump->output, LINE_BYTES);
    char *p = line;

    if (signal->width > 1)
        *p++ = 'b';
    if (signal->is_text && signal->value)
        p = put_characters(p, dump->trace->names[signal->value - 1]);
    else
        p = put_bits(p, signal->value);
    if (signal->width > 1)
        *p++ = ' ';
    p = put_id(p, number);
    *p++ = '\n';
    cnnvp_output_filled(dump->output, (size_t)(p - line));
    signal->shown = signal->value;
}

/* ---- declarations ---- */

/* Names of scopes and signals are identifiers. */
static void put_identifier(char *name, size_t size, const char *text, const char *suffix)
{
    snprintf(name, size, "%.100s%s", text, suffix);
    for (char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_'))
            *c = '_';
}

static void declare(struct dump *dump, const char *text, const char *suffix, uint32_t width)
{
    char name[160];
    char id[8];
    char line[256];

    put_identifier(name, sizeof name, text, suffix);
    (void)put_id(id, dump->signal_count);
    snprintf(line, sizeof line, "$var %s %" PRIu32 " %s %s $end\n", width > 1 ? "reg" : "wire", width, id, name);
    write_text(dump, line);
    dump->signals[dump->signal_count++].width = width;
}

static void declare_stream(struct dump *dump, uint32_t number)
{
    const struct cnnvp_stream *stream = &dump->trace->streams[number];
    const struct cnnvp_instance *instances = dump->trace->platform->instances;
    const struct cnnvp_unit *unit = instances[stream->instance].unit;
    char link[256];

    dump->first[number] = dump->signal_count;
    switch (stream->kind) {
    case CNNVP_STREAM_TRACK:
        declare(dump, unit->tracks[stream->index], "_busy", 1);
        declare(dump, unit->tracks[stream->index], "_spans", 32);
        declare(dump, unit->tracks[stream->index], "_layer", 16);
        declare(dump, unit->tracks[stream->index], "_op", 8 * OP_CHARACTERS);
        dump->signals[dump->first[number] + OP].is_text = 1;
        break;
    case CNNVP_STREAM_COUNTER:
        declare(dump, unit->counters[stream->index].name, "", 64);
        break;
    case CNNVP_STREAM_LEVEL:
        declare(dump, unit->ports[stream->index].name, "", 1);
        break;
    case CNNVP_STREAM_LINK:
        snprintf(link, sizeof link, "%.45s_to_%.45s", instances[stream->instance].name,
                 instances[stream->index].name);
        declare(dump, link, "", 64);
        break;
    }
}

static void open_scope(struct dump *dump, const char *text)
{
    char name[128];
    char line[160];

    put_identifier(name, sizeof name, text, "");
    snprintf(line, sizeof line, "$scope module %s $end\n", name);
    write_text(dump, line);
}

static void write_header(struct dump *dump)
{
    const struct cnnvp_trace *trace = dump->trace;
    uint32_t last = UINT32_MAX;

    write_text(dump, "$version cnnvp " CNNVP_VERSION " $end\n$timescale 1 ps $end\n");
    open_scope(dump, trace->platform->platform_name && trace->platform->platform_name[0]
                         ? trace->platform->platform_name
                         : "platform");
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        uint32_t scope = i < trace->fixed_streams ? trace->streams[i].instance : UINT32_MAX - 1;

        if (scope != last) {
            if (i > 0)
                write_text(dump, "$upscope $end\n");
            open_scope(dump, i < trace->fixed_streams ? trace->platform->instances[scope].name : "links");
        }
        last = scope;
        declare_stream(dump, i);
    }
    if (trace->stream_count)
        write_text(dump, "$upscope $end\n");
    write_text(dump, "$upscope $end\n$enddefinitions $end\n");
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

static void write_time(struct dump *dump, cnnvp_time time)
{
    char *line = (char *)cnnvp_output_room(dump->output, LINE_BYTES);
    char *p = line;

    *p++ = '#';
    p = put_decimal(p, time);
    *p++ = '\n';
    cnnvp_output_filled(dump->output, (size_t)(p - line));
}

/* All that has changed at the present time. */
static void write_step(struct dump *dump)
{
    int has_time = 0;

    if (!dump->started) {
        dump->started = 1;
        write_text(dump, "#0\n$dumpvars\n");
        for (uint32_t i = 0; i < dump->signal_count; i++)
            write_value(dump, i);
        write_text(dump, "$end\n");
        has_time = 1;
    }
    for (uint32_t i = 0; i < dump->change_count; i++) {
        struct signal *signal = &dump->signals[dump->changes[i]];

        signal->changed = 0;
        if (signal->value == signal->shown)
            continue;
        if (!has_time)
            write_time(dump, dump->now);
        has_time = 1;
        write_value(dump, dump->changes[i]);
    }
    dump->change_count = 0;
}

static void apply(struct dump *dump, const struct cnnvp_event *event)
{
    uint32_t first = dump->first[event->stream];

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
    struct cnnvp_event event;

    while (cnnvp_merge_next(merge, &event)) {
        if (event.time > dump->now) {
            write_step(dump);
            dump->now = event.time;
        }
        apply(dump, &event);
    }
    write_step(dump);
    if (dump->trace->end_ps > dump->now)
        write_time(dump, dump->trace->end_ps);
}

static void number_texts(struct dump *dump)
{
    char **names = dump->trace->names;

    for (uint32_t i = 0; i < dump->trace->name_count; i++) {
        uint32_t same = 0;

        while (strncmp(names[same], names[i], OP_CHARACTERS) != 0)
            same++;
        dump->texts[i] = names[i][0] ? same + 1 : 0;
    }
}

static void write_trace(struct cnnvp_trace *trace, cnnvp_output *output)
{
    struct dump dump = {.trace = trace, .output = output};
    struct cnnvp_merge *merge = cnnvp_merge_new(trace);
    size_t signals = (size_t)trace->stream_count * TRACK_PARTS + 1;

    dump.signals = calloc(signals, sizeof *dump.signals);
    dump.changes = calloc(signals, sizeof *dump.changes);
    dump.first = calloc((size_t)trace->stream_count + 1, sizeof *dump.first);
    dump.texts = calloc((size_t)trace->name_count + 1, sizeof *dump.texts);
    if (merge && dump.signals && dump.changes && dump.first && dump.texts) {
        number_texts(&dump);
        write_header(&dump);
        write_changes(&dump, merge);
    } else {
        trace->error = ENOMEM;
    }
    free(dump.signals);
    free(dump.changes);
    free(dump.first);
    free(dump.texts);
    cnnvp_merge_free(merge);
}

const struct cnnvp_trace_format cnnvp_trace_vcd = {".vcd", "waveform", write_trace};
