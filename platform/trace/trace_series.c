/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as a compact JSON file of time series for the report page (schema cnnvp-series/1). It is thinned so that the
 * page stays small for any run. Counters and links are reduced to minimum, maximum, last value and mean in those of
 * BINS windows in which they change. Spans are written one by one up to SPANS; if there are more, neighbours on a track
 * are joined unless something wider than a window would be lost. Windows reach to the last event, since a windowed
 * counter may end after the run.
 */
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BINS 1024u
#define SPANS 20000u

struct bin {
    uint64_t min;
    uint64_t max;
    uint64_t last;
    double mean; /* over the window's time */
    int used;
};

struct span {
    uint64_t begin;
    uint64_t end;
    uint64_t busy; /* time of the joined spans */
    uint32_t name;
    uint32_t tag;
    uint32_t count;
};

struct series {
    struct bin *bins;
    uint64_t time, value; /* of the last change; the means are complete up to `time` */
    struct span *spans;
    size_t span_count;
};

struct writer {
    struct cnnvp_trace *trace;
    cnnvp_output *output;
    struct series *series; /* one for each stream */
    uint64_t width;        /* window size */
    uint64_t join_ps;      /* gaps and spans up to this length are joined; 0: none */
    size_t spans;
};

/* ---- collecting ---- */

/* Spans are joined if the gap is narrow and they have the same name, or together are narrow. */
static int joins(const struct writer *writer, const struct span *before, const struct span *after)
{
    int same = before->name == after->name && before->tag == after->tag;
    int narrow = after->end - before->begin <= writer->join_ps;

    return writer->join_ps && after->begin <= before->end + writer->join_ps && (same || narrow);
}

static void join(struct span *before, const struct span *after)
{
    if (after->end - after->begin > before->busy) {
        before->name = after->name;
        before->tag = after->tag;
    }
    before->end = after->end > before->end ? after->end : before->end;
    before->busy += after->busy;
    before->count += after->count;
}

static void thin(struct writer *writer)
{
    writer->join_ps = writer->join_ps ? 2 * writer->join_ps : writer->width / 8 + 1;
    writer->spans = 0;
    for (uint32_t i = 0; i < writer->trace->stream_count; ++i) {
        struct series *series = &writer->series[i];
        size_t kept = 0;

        for (size_t k = 0; k < series->span_count; ++k) {
            if (kept && joins(writer, &series->spans[kept - 1], &series->spans[k]))
                join(&series->spans[kept - 1], &series->spans[k]);
            else
                series->spans[kept++] = series->spans[k];
        }
        series->span_count = kept;
        writer->spans += kept;
    }
}

static void add_span(struct writer *writer, const struct cnnvp_event *event)
{
    struct series *series = &writer->series[event->stream];
    struct span span = {event->time, event->value, event->value - event->time, event->name, event->tag, 1};

    if (series->span_count && joins(writer, &series->spans[series->span_count - 1], &span)) {
        join(&series->spans[series->span_count - 1], &span);
        return;
    }
    struct span *spans = cnnvp_grow(series->spans, series->span_count, sizeof *spans);

    if (spans == NULL) {
        writer->trace->error = ENOMEM;
        return;
    }
    series->spans = spans;
    series->spans[series->span_count++] = span;
    /* Touching spans on a track never become fewer than its windows; the loop ends because join_ps doubles. */
    for (writer->spans++; writer->spans > SPANS;)
        thin(writer);
}

/* Adds the counter's current value to the means up to `until`. */
static void keep_value(const struct writer *writer, struct series *series, uint64_t until)
{
    const double width = (double)writer->width, value = (double)series->value;

    while (series->value != 0 && series->time < until) {
        const uint64_t index = series->time / writer->width, edge = (index + 1) * writer->width;
        const uint64_t end = edge < until && index < BINS - 1 ? edge : until;

        series->bins[index < BINS ? index : BINS - 1].mean += value * ((double)(end - series->time) / width);
        series->time = end;
    }
    series->time = until;
}

static void add_value(struct writer *writer, const struct cnnvp_event *event)
{
    struct series *series = &writer->series[event->stream];
    uint64_t index = event->time / writer->width;
    struct bin *bin;

    if (series->bins == NULL)
        series->bins = calloc(BINS, sizeof *series->bins);
    if (series->bins == NULL) {
        writer->trace->error = ENOMEM;
        return;
    }
    keep_value(writer, series, event->time);
    series->value = event->value;
    bin = &series->bins[index < BINS ? index : BINS - 1];
    if (!bin->used || event->value < bin->min)
        bin->min = event->value;
    if (!bin->used || event->value > bin->max)
        bin->max = event->value;
    bin->last = event->value;
    bin->used = 1;
}

/* ---- writing ---- */

static void write_text(struct writer *writer, const char *text)
{
    cnnvp_output_write(writer->output, text, strlen(text));
}

static void write_number(struct writer *writer, uint64_t number, int first)
{
    cnnvp_output_printf(writer->output, "%s%" PRIu64, first ? "" : ",", number);
}

/* As in the statistics, each byte beyond ASCII becomes '?' in a text that is not UTF-8. */
static void write_quoted(struct writer *writer, const char *text)
{
    json_t *valid = json_string(text);

    write_text(writer, "\"");
    for (; *text; ++text) {
        const unsigned char byte = (unsigned char)*text;

        if (byte == '"' || byte == '\\' || byte < 0x20)
            cnnvp_output_printf(writer->output, "\\u%04x", (unsigned)byte);
        else
            cnnvp_output_write(writer->output, valid == NULL && byte >= 0x80 ? "?" : text, 1);
    }
    write_text(writer, "\"");
    json_decref(valid);
}

static void write_spans(struct writer *writer, const struct series *series)
{
    static const char *const names[] = {"begin", "length", "busy", "text", "tag", "count"};
    for (size_t member = 0; member < sizeof names / sizeof *names; ++member) {
        cnnvp_output_printf(writer->output, ",\"%s\":[", names[member]);
        for (size_t i = 0; i < series->span_count; ++i) {
            const struct span *span = &series->spans[i];
            const uint64_t members[] = {
                span->begin, span->end - span->begin, span->busy, span->name, span->tag & 0xFFFF, span->count};

            write_number(writer, members[member], i == 0);
        }
        write_text(writer, "]");
    }
}

static void write_bins(struct writer *writer, const struct series *series)
{
    static const char *const names[] = {"window", "min", "max", "last", "mean"};
    enum { MEAN = 4 };
    for (size_t member = 0; member <= MEAN; ++member) {
        const char *separator = "";

        cnnvp_output_printf(writer->output, ",\"%s\":[", names[member]);
        for (uint32_t i = 0; i < BINS; ++i) {
            const struct bin *bin = &series->bins[i];
            const uint64_t members[] = {i, bin->min, bin->max, bin->last};

            if (!bin->used)
                continue;
            if (member == MEAN)
                cnnvp_output_printf(writer->output, "%s%.10g", separator, bin->mean);
            else
                cnnvp_output_printf(writer->output, "%s%" PRIu64, separator, members[member]);
            separator = ",";
        }
        write_text(writer, "]");
    }
}

static void write_stream(struct writer *writer, uint32_t number)
{
    const struct cnnvp_stream *stream = &writer->trace->streams[number];
    const struct cnnvp_instance *instance = &writer->trace->platform->instances[stream->instance];
    const struct series *series = &writer->series[number];
    const char *const kind =
        stream->kind == CNNVP_STREAM_TRACK  ? "track"
        : stream->kind == CNNVP_STREAM_LINK ? "link"
        : stream->kind == CNNVP_STREAM_PATH ? "path"
        : stream->kind == CNNVP_STREAM_WHOLE
            ? "whole"
            : "counter";
    cnnvp_output_printf(writer->output, "{\"kind\":\"%s\",\"unit\":", kind);
    write_quoted(writer, stream->kind == CNNVP_STREAM_WHOLE ? "" : instance->name);
    write_text(writer, ",\"name\":");
    write_quoted(writer, cnnvp_stream_name(writer->trace, stream));
    if (stream->kind == CNNVP_STREAM_COUNTER && instance->unit->counters[stream->index].unit != NULL) {
        write_text(writer, ",\"of\":");
        write_quoted(writer, instance->unit->counters[stream->index].unit);
    }
    if (series->spans != NULL)
        write_spans(writer, series);
    if (series->bins != NULL)
        write_bins(writer, series);
    write_text(writer, "}");
}

static void write_all(struct writer *writer)
{
    const char *separator = "";

    write_text(writer, "{\"schema\":\"cnnvp-series/1\",\"end_ps\":");
    write_number(writer, writer->trace->end_ps, 1);
    write_text(writer, ",\"window_ps\":");
    write_number(writer, writer->width, 1);
    write_text(writer, ",\"names\":[");
    for (uint32_t i = 0; i < writer->trace->name_count; ++i) {
        write_text(writer, i ? "," : "");
        write_quoted(writer, writer->trace->names[i]);
    }
    write_text(writer, "],\n\"streams\":[");
    for (uint32_t i = 0; i < writer->trace->stream_count; ++i) {
        if (writer->series[i].spans == NULL && writer->series[i].bins == NULL)
            continue;
        write_text(writer, separator);
        write_stream(writer, i);
        separator = ",\n";
    }
    write_text(writer, "]}\n");
}

/* Time of the last event, or the end of the run. */
static uint64_t last_time(const struct cnnvp_trace *trace)
{
    uint64_t last = trace->end_ps;

    for (uint32_t i = 0; i < trace->stream_count; ++i) {
        const struct cnnvp_stream *stream = &trace->streams[i];
        const uint64_t width = stream->kind == CNNVP_STREAM_LINK ? trace->window_ps : trace->path_window_ps;
        const uint64_t time = stream->windows != NULL ? stream->window_count * width : stream->time;

        last = time > last ? time : last;
    }
    return last;
}

static void write_series(struct cnnvp_trace *trace, cnnvp_output *output)
{
    struct writer writer = {.trace = trace, .output = output, .width = last_time(trace) / BINS + 1};
    struct cnnvp_merge *merge = cnnvp_merge_new(trace);
    const struct cnnvp_event *event;

    writer.series = calloc(trace->stream_count + 1, sizeof *writer.series);
    if (merge == NULL || writer.series == NULL)
        trace->error = ENOMEM;
    while (!trace->error && (event = cnnvp_merge_next(merge)) != NULL) {
        enum cnnvp_stream_kind kind = trace->streams[event->stream].kind;

        if (kind == CNNVP_STREAM_CALLS)
            continue;
        if (event->type == CNNVP_EVENT_BEGIN)
            add_span(&writer, event);
        else if (event->type == CNNVP_EVENT_VALUE && kind != CNNVP_STREAM_LEVEL)
            add_value(&writer, event);
    }
    for (uint32_t i = 0; !trace->error && i < trace->stream_count; ++i)
        if (writer.series[i].bins != NULL)
            keep_value(&writer, &writer.series[i], BINS * writer.width);
    if (!trace->error)
        write_all(&writer);
    for (uint32_t i = 0; writer.series != NULL && i < trace->stream_count; ++i) {
        free(writer.series[i].bins);
        free(writer.series[i].spans);
    }
    free(writer.series);
    cnnvp_merge_free(merge);
}

const struct cnnvp_trace_format cnnvp_trace_series = {".series", "time series for cnnvp report", write_series};
