/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of the platform as a whole: the unit that the run waited for, the layer at work of each accelerator, and
 * the phase, over time. */
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"

const char *const cnnvp_whole_names[CNNVP_WHOLE_COUNT] = {"layers", "phases"};

/* ---- the critical path ---- */

static void add_part(void *context, uint32_t instance, uint32_t tag, uint32_t window, uint64_t ps)
{
    struct cnnvp_trace *trace = context;

    (void)tag;
    if (instance >= trace->platform->instance_count || trace->platform->instances[instance].unit == NULL)
        return;
    struct cnnvp_stream *stream = &trace->streams[trace->paths[instance]];
    if (stream->windows == NULL)
        stream->windows = calloc(CNNVP_PATH_WINDOWS, sizeof *stream->windows);
    if (stream->windows == NULL) {
        trace->error = ENOMEM;
        return;
    }
    stream->windows[window] += ps;
    if (window >= stream->window_count)
        stream->window_count = window + 1;
}

void cnnvp_trace_set_path(struct cnnvp_trace *trace, struct cnnvp_path *path, cnnvp_time end)
{
    cnnvp_path_walk(path, end, add_part, trace);
    trace->path_window_ps = UINT64_C(1) << path->shift;
}

/* ---- layers and phases ---- */

/* True for a unit that takes commands but does not move data to or from memory. */
static int calculates(const struct cnnvp_unit *unit)
{
    return cnnvp_unit_command_port(unit) != UINT32_MAX && !cnnvp_unit_has_port(unit, CNNVP_PORT_MEM_INITIATOR);
}

const char *cnnvp_trace_suffix(const struct cnnvp_resolved *platform, uint32_t instance)
{
    const uint32_t first = cnnvp_resolved_first(platform, instance);

    return platform->instances[instance].name + strlen(platform->instances[first].name);
}

/* What is at work in a stream of the whole platform. */
struct at_work {
    struct cnnvp_stream *stream;
    uint32_t name; /* UINT32_MAX: none yet */
    uint32_t tag;  /* for a layer: its phases have the same name */
    cnnvp_time begin, end;
};

static void put(struct cnnvp_trace *trace, const struct at_work *work)
{
    if (work->name != UINT32_MAX)
        cnnvp_trace_whole_span(trace, work->stream, work->name, work->tag, work->begin, work->end);
}

/* Extends the current span, or begins one with another name or tag at `begin`, where the previous span ends at the
 * latest. */
static void change(struct cnnvp_trace *trace, struct at_work *work, const char *name, uint32_t tag, cnnvp_time begin,
                   cnnvp_time end)
{
    const uint32_t index = cnnvp_trace_text(trace, name);

    if (index != work->name || tag != work->tag) {
        work->end = work->end < begin ? work->end : begin;
        put(trace, work);
        work->name = index;
        work->tag = tag;
        work->begin = work->end = begin;
    }
    work->end = end > work->end ? end : work->end;
}

/* For each instance, the number of its accelerator's stream of layers, from 0; UINT32_MAX: it does not calculate. */
static void find_layers(const struct cnnvp_trace *trace, uint32_t *streams)
{
    const size_t length = strlen(cnnvp_whole_names[CNNVP_WHOLE_LAYERS]);

    for (uint32_t i = 0; i < trace->platform->instance_count; ++i) {
        const char *suffix = cnnvp_trace_suffix(trace->platform, i);

        streams[i] = calculates(trace->platform->instances[i].unit) ? CNNVP_WHOLE_LAYERS : UINT32_MAX;
        for (uint32_t k = CNNVP_WHOLE_COUNT;
             streams[i] == CNNVP_WHOLE_LAYERS && k < trace->fixed_streams - trace->whole; ++k)
            if (strcmp(trace->streams[trace->whole + k].name + length, suffix) == 0)
                streams[i] = k;
    }
}

/* Joins adjacent spans of the same layer over all calculating units of an accelerator, and those of the same phase over
 * all. */
void cnnvp_trace_add_layers(struct cnnvp_trace *trace)
{
    const uint32_t count = trace->fixed_streams - trace->whole;
    struct at_work *const work = cnnvp_arena_array(&trace->arena, count, sizeof *work);
    uint32_t *const layers = cnnvp_arena_array(&trace->arena, trace->platform->instance_count, sizeof *layers);
    struct cnnvp_merge *merge = work != NULL && layers != NULL ? cnnvp_merge_new(trace) : NULL;
    const struct cnnvp_event *event;
    const char *of_phase;
    char buffer[32];

    if (merge == NULL) {
        trace->error = ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < count; ++i)
        work[i] = (struct at_work){&trace->streams[trace->whole + i], UINT32_MAX, 0, 0, 0};
    find_layers(trace, layers);
    while ((event = cnnvp_merge_next(merge)) != NULL) {
        const struct cnnvp_stream *stream = &trace->streams[event->stream];

        if (event->type != CNNVP_EVENT_BEGIN || event->tag == 0 || stream->kind != CNNVP_STREAM_TRACK ||
            layers[stream->instance] == UINT32_MAX)
            continue;
        change(trace, &work[layers[stream->instance]],
               trace->layer_name(trace->layer_context, event->tag, buffer, sizeof buffer), event->tag, event->time,
               event->value);
        of_phase = trace->layer_phase(trace->layer_context, event->tag);
        if (of_phase[0] != '\0')
            change(trace, &work[CNNVP_WHOLE_PHASES], of_phase, 0, event->time, event->value);
    }
    for (uint32_t i = 0; i < count; ++i)
        put(trace, &work[i]);
    cnnvp_merge_free(merge);
}
