/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder: statistics always, traces if requested. Each call goes to stats.c, then to trace.c. */
#include "recorder.h"

#include "trace.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

static const char *layer_name(const void *context, uint32_t tag, char *buffer, size_t size)
{
    return cnnvp_stats_layer_name(context, tag, buffer, size);
}

static const char *layer_phase(const void *context, uint32_t tag)
{
    const struct cnnvp_layer_info *layer = cnnvp_stats_layer(context, tag);
    return layer != NULL && layer->phase != NULL ? layer->phase : "";
}

static const struct cnnvp_place_info *place_at(const void *context, uint64_t address)
{
    return cnnvp_stats_place_at(context, address);
}

CNNVP_DROP(cnnvp_recorder)

cnnvp_result cnnvp_recorder_new(const struct cnnvp_resolved *platform, const char *trace_file, int timing_only,
                                cnnvp_recorder **recorder, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_recorder_drop) cnnvp_recorder *made = calloc(1, sizeof *made);

    *recorder = NULL;
    CNNVP_TRY_MEMORY(made != NULL, error);
    CNNVP_TRY(cnnvp_stats_init(&made->stats, platform, timing_only, error));
    if (trace_file != NULL)
        CNNVP_TRY(cnnvp_trace_new(platform, trace_file, &made->trace, error));
    if (made->trace != NULL) {
        made->trace->layer_name = layer_name;
        made->trace->layer_phase = layer_phase;
        made->trace->place_at = place_at;
        made->trace->layer_context = &made->stats;
    }
    *recorder = made;
    made = NULL;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_recorder_add_trace(cnnvp_recorder *recorder, const char *trace_file, struct cnnvp_error *error)
{
    return cnnvp_trace_add_file(recorder->trace, trace_file, error);
}

void cnnvp_recorder_set_functions(cnnvp_recorder *recorder, cnnvp_function_name_fn name, const void *context)
{
    if (recorder->trace == NULL)
        return;
    recorder->trace->function_name = name;
    recorder->trace->function_context = context;
}

void cnnvp_recorder_free(cnnvp_recorder *recorder)
{
    if (recorder == NULL)
        return;
    cnnvp_trace_free(recorder->trace);
    cnnvp_burst_trace_free(recorder->bursts);
    free(recorder->open);
    cnnvp_snapshot_free(recorder->snapshot);
    cnnvp_stats_fini(&recorder->stats);
    free(recorder);
}

cnnvp_result cnnvp_recorder_keep_snapshot(cnnvp_recorder *recorder, struct cnnvp_error *error)
{
    recorder->snapshot = cnnvp_snapshot_new(recorder->stats.platform);
    return recorder->snapshot != NULL ? CNNVP_DONE : cnnvp_config_no_memory(error);
}

void cnnvp_recorder_reset(cnnvp_recorder *recorder, cnnvp_time at)
{
    if (recorder->bursts != NULL)
        cnnvp_burst_trace_reset(recorder->bursts, at);
}

void cnnvp_recorder_mute(cnnvp_recorder *recorder)
{
    recorder->trace = NULL;
    recorder->bursts = NULL;
}

/* A memory reports its peak bandwidth by a statistic of this name. */
static void limit_links(cnnvp_recorder *recorder)
{
    const struct cnnvp_resolved *platform = recorder->stats.platform;

    for (uint32_t i = 0; i < platform->instance_count; ++i) {
        const struct cnnvp_unit *unit = platform->instances[i].unit;

        for (uint32_t k = 0; unit != NULL && k < unit->stat_count; ++k)
            if (strcmp(unit->stats[k].name, "bus_bytes_per_s") == 0)
                cnnvp_trace_limit(recorder->trace, i, cnnvp_recorder_total(recorder, i, k));
    }
}

void cnnvp_recorder_trace_path(cnnvp_recorder *recorder, struct cnnvp_path *path, uint64_t end_ps)
{
    if (recorder->trace != NULL && path != NULL)
        cnnvp_trace_set_path(recorder->trace, path, end_ps);
}

struct cnnvp_recorder_span {
    uint32_t instance, track, tag;
    uint64_t flow;
    cnnvp_time begin, end;
    const char *name;
};

void cnnvp_recorder_pause(cnnvp_recorder *recorder, int pauses)
{
    recorder->pauses = pauses;
}

static void trace_span(cnnvp_recorder *recorder, const struct cnnvp_recorder_span *span)
{
    cnnvp_trace_span(recorder->trace, span->instance, span->track, span->name, span->tag, span->flow, span->begin,
                     span->end);
}

static void trace_open(cnnvp_recorder *recorder)
{
    for (size_t i = 0; i < recorder->open_count; ++i)
        trace_span(recorder, &recorder->open[i]);
    recorder->open_count = 0;
}

/* Adds the span to the one of its track that a pause has ended there, or ends that one. */
static void join_open(cnnvp_recorder *recorder, struct cnnvp_recorder_span *span)
{
    for (size_t i = 0; i < recorder->open_count; ++i) {
        const struct cnnvp_recorder_span open = recorder->open[i];
        if (open.instance != span->instance || open.track != span->track)
            continue;
        memmove(&recorder->open[i], &recorder->open[i + 1], (--recorder->open_count - i) * sizeof *recorder->open);
        if (open.end == span->begin && open.tag == span->tag && open.flow == span->flow &&
            strcmp(open.name, span->name) == 0)
            span->begin = open.begin;
        else
            trace_span(recorder, &open);
        return;
    }
}

/* Returns 0 if out of memory. */
static int keep_open(cnnvp_recorder *recorder, const struct cnnvp_recorder_span *span)
{
    struct cnnvp_recorder_span *more = realloc(recorder->open, (recorder->open_count + 1) * sizeof *more);
    if (more == NULL)
        return 0;
    recorder->open = more;
    recorder->open[recorder->open_count++] = *span;
    return 1;
}

cnnvp_result cnnvp_recorder_finish(cnnvp_recorder *recorder, uint64_t end_ps, struct cnnvp_error *error)
{
    struct cnnvp_trace *trace = recorder->trace;
    cnnvp_result result = CNNVP_DONE;

    if (recorder->bursts != NULL)
        result = cnnvp_burst_trace_finish(recorder->bursts, end_ps, error);
    recorder->bursts = NULL;
    if (trace == NULL || result != CNNVP_DONE)
        return result;
    trace_open(recorder);
    cnnvp_trace_links_finish(trace, end_ps);
    limit_links(recorder);
    cnnvp_trace_add_layers(trace);
    result = cnnvp_trace_finish(trace, end_ps, error);
    cnnvp_trace_free(trace);
    recorder->trace = NULL;
    return result;
}

/* A larger tag is of no layer. */
static uint32_t known(uint32_t tag)
{
    return tag <= CNNVP_MAX_TAG ? tag : 0;
}

int cnnvp_recorder_burst(cnnvp_recorder *recorder, uint32_t instance, cnnvp_time at, uint64_t clock, uint32_t requester,
                         uint32_t tag, uint32_t op, uint64_t address)
{
    if (recorder->bursts == NULL)
        return 0;
    cnnvp_burst_trace_add(recorder->bursts, instance, at, clock, requester, known(tag), op, address);
    return 1;
}

void cnnvp_recorder_span(cnnvp_recorder *recorder, uint32_t instance, uint32_t track, const char *name, uint32_t tag,
                         uint64_t flow, cnnvp_time begin, cnnvp_time end)
{
    struct cnnvp_stats *stats = &recorder->stats;
    tag = known(tag);
    cnnvp_stats_span(stats, tag, begin, end);
    if (tag != 0 && tag < stats->tags && !stats->times[tag].begun) {
        stats->times[tag].begun = 1;
        if (recorder->on_layer != NULL && tag <= stats->work.layer_count)
            recorder->on_layer(recorder->on_layer_context, tag - 1u, begin);
    }
    if (recorder->trace != NULL) {
        struct cnnvp_recorder_span span = {instance, track, tag, flow, begin, end, name};
        join_open(recorder, &span);
        if (!recorder->pauses || !keep_open(recorder, &span))
            trace_span(recorder, &span);
    }
    if (recorder->snapshot != NULL)
        cnnvp_snapshot_set_span(
            recorder->snapshot, instance, track, &(struct cnnvp_snapshot_span){name, tag, begin, end});
}

void cnnvp_recorder_about(cnnvp_recorder *recorder, uint32_t instance, const struct cnnvp_command *command)
{
    if (recorder->trace != NULL && command->count <= CNNVP_DESCRIPTOR_MAX) {
        recorder->trace->about = *command;
        recorder->trace->about_instance = instance;
    }
}

void cnnvp_recorder_counter(cnnvp_recorder *recorder, uint32_t instance, uint32_t counter, cnnvp_time at,
                            uint64_t value)
{
    cnnvp_stats_counter(&recorder->stats, instance, counter, value);
    if (recorder->trace != NULL)
        cnnvp_trace_counter(recorder->trace, instance, counter, at, value);
    if (recorder->snapshot != NULL)
        cnnvp_snapshot_set_counter(recorder->snapshot, instance, counter, value);
}

void cnnvp_recorder_level(cnnvp_recorder *recorder, uint32_t instance, uint32_t port, cnnvp_time at, int level)
{
    if (recorder->trace != NULL)
        cnnvp_trace_level(recorder->trace, instance, port, at, level);
}

uint32_t cnnvp_recorder_link(cnnvp_recorder *recorder, uint32_t from, uint32_t to)
{
    uint32_t link = cnnvp_stats_link(&recorder->stats, from, to);

    if (recorder->trace != NULL && link != UINT32_MAX)
        cnnvp_trace_link(recorder->trace, link, from, to);
    return link;
}

static int is_core(const cnnvp_recorder *recorder, uint32_t instance)
{
    const struct cnnvp_stats *stats = &recorder->stats;
    return instance < stats->platform->instance_count && stats->instances[instance].is_core;
}

/* The core's own traffic counts only for energies and traces. */
void cnnvp_recorder_transfer(cnnvp_recorder *recorder, uint32_t link, const struct cnnvp_link_bytes *bytes)
{
    cnnvp_stats_cross(&recorder->stats, link, bytes);
    if (link >= recorder->stats.link_count ||
        !(is_core(recorder, recorder->stats.links[link].from) || is_core(recorder, bytes->initiator)))
        cnnvp_stats_transfer(&recorder->stats, link, bytes);
    if (recorder->trace != NULL) {
        const struct cnnvp_moved transfer = {link, bytes->flow, bytes->begin, bytes->end, bytes->read + bytes->write};

        cnnvp_trace_transfer(recorder->trace, &transfer);
    }
}

void cnnvp_recorder_moved(cnnvp_recorder *recorder, const struct cnnvp_request *request, uint64_t burst_bytes)
{
    if (!is_core(recorder, request->initiator))
        cnnvp_stats_moved(&recorder->stats, request, burst_bytes);
}

uint64_t cnnvp_recorder_total(const cnnvp_recorder *recorder, uint32_t instance, uint32_t stat)
{
    const struct cnnvp_stats *stats = &recorder->stats;

    if (instance >= stats->platform->instance_count || stat >= stats->instances[instance].stat_count)
        return 0;
    return stats->instances[instance].stats[stat].total;
}

/* Number of images whose first output has been written to memory since the description. */
static double images_done(const struct cnnvp_stats *stats)
{
    const struct cnnvp_work_info *work = &stats->work;
    const size_t output = cnnvp_stats_first_output(stats);
    if (output == work->tensor_count)
        return 0;
    const double written = (double)(stats->moved[output].write - stats->output_before);
    return floor((double)work->images * written / (double)work->tensors[output].least_write_bytes);
}

/* Share of the current image: the operations of the layers that have worked since the last layer did, or a reset. */
static double share_of_image(const struct cnnvp_stats *stats)
{
    const size_t count = stats->work.layer_count;
    const cnnvp_time last = count && stats->times[count].begun ? stats->times[count].end : 0;
    double done = 0, all = 0;
    for (size_t i = 0; i < count; ++i) {
        const double macs = (double)stats->work.layers[i].macs + 1;
        all += macs;
        done += stats->times[i + 1].begun && stats->times[i + 1].end > last ? macs : 0;
    }
    return all > 0 ? done / all : 0;
}

void cnnvp_recorder_progress(const cnnvp_recorder *recorder, struct cnnvp_progress *progress)
{
    const struct cnnvp_stats *stats = &recorder->stats;
    progress->layers = 0;
    for (uint32_t tag = 1; tag < stats->tags; ++tag)
        progress->layers += (uint64_t)stats->times[tag].begun;
    progress->share = 0;
    const uint64_t images = stats->work.images - (stats->continues ? stats->done_images : 0);
    if (images != 0 && stats->tags > stats->work.layer_count)
        progress->share = (images_done(stats) + share_of_image(stats)) / (double)images;
    progress->share = progress->share < 1 ? progress->share : 1;
}

void cnnvp_recorder_layer(const cnnvp_recorder *recorder, size_t layer, struct cnnvp_layer_result *result)
{
    const struct cnnvp_stats *stats = &recorder->stats;

    memset(result, 0, sizeof *result);
    if (layer + 1 >= stats->tags)
        return;

    const uint64_t *sums = stats->rows + (layer + 1) * stats->columns;

    result->cycles = cnnvp_stats_row_cycles(sums);
    result->dram_read_bytes = sums[CNNVP_COLUMN_dram_read_bytes];
    result->dram_write_bytes = sums[CNNVP_COLUMN_dram_write_bytes];
    result->dram_burst_bytes = sums[CNNVP_COLUMN_dram_burst_bytes];
    result->energy_pj = cnnvp_stats_layer_energy(stats, (uint32_t)layer + 1u);
}

void cnnvp_recorder_set_path(cnnvp_recorder *recorder, struct cnnvp_path *path, uint64_t end_ps)
{
    if (path != NULL)
        cnnvp_stats_set_path(&recorder->stats, path, end_ps);
}
