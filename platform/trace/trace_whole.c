/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of the platform as a whole: the unit that the run waited for, the layer at work, and the phase, over time. */
#include "trace.h"

#include <errno.h>
#include <stdlib.h>

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

struct at_work {
    struct cnnvp_trace *trace;
    enum cnnvp_whole_track track;
    uint32_t name; /* UINT32_MAX: none yet */
    uint32_t tag;  /* for a layer: its phases have the same name */
    cnnvp_time begin, end;
};

static void put(const struct at_work *work)
{
    if (work->name != UINT32_MAX)
        cnnvp_trace_whole_span(work->trace, work->track, work->name, work->tag, work->begin, work->end);
}

/* Extends the current span, or begins one with another name or tag at `begin`, where the previous span ends at the
 * latest. */
static void change(struct at_work *work, const char *name, uint32_t tag, cnnvp_time begin, cnnvp_time end)
{
    const uint32_t index = cnnvp_trace_text(work->trace, name);

    if (index != work->name || tag != work->tag) {
        work->end = work->end < begin ? work->end : begin;
        put(work);
        work->name = index;
        work->tag = tag;
        work->begin = work->end = begin;
    }
    work->end = end > work->end ? end : work->end;
}

/* Joins adjacent spans of the same layer over all calculating units, and likewise of the same phase. */
void cnnvp_trace_add_layers(struct cnnvp_trace *trace)
{
    struct cnnvp_merge *merge = cnnvp_merge_new(trace);
    struct at_work layer = {trace, CNNVP_WHOLE_LAYERS, UINT32_MAX, 0, 0, 0};
    struct at_work phase = {trace, CNNVP_WHOLE_PHASES, UINT32_MAX, 0, 0, 0};
    const struct cnnvp_event *event;
    const char *of_phase;
    char buffer[32];

    if (merge == NULL)
        trace->error = ENOMEM;
    while (merge != NULL && (event = cnnvp_merge_next(merge)) != NULL) {
        const struct cnnvp_stream *stream = &trace->streams[event->stream];

        if (event->type != CNNVP_EVENT_BEGIN || event->tag == 0 || stream->kind != CNNVP_STREAM_TRACK ||
            !calculates(trace->platform->instances[stream->instance].unit))
            continue;
        change(&layer, trace->layer_name(trace->layer_context, event->tag, buffer, sizeof buffer), event->tag,
               event->time, event->value);
        of_phase = trace->layer_phase(trace->layer_context, event->tag);
        if (of_phase[0] != '\0')
            change(&phase, of_phase, 0, event->time, event->value);
    }
    put(&layer);
    put(&phase);
    cnnvp_merge_free(merge);
}
