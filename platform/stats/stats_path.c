/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path by layer and instance. */
#include "stats_builder.h"

#include <stdlib.h>

static void note_tag(void *context, uint32_t instance, uint32_t tag, uint32_t window, uint64_t ps)
{
    uint32_t *tags = context;

    (void)instance, (void)window, (void)ps;
    if (tag >= *tags)
        *tags = tag + 1u;
}

static void add_part(void *context, uint32_t instance, uint32_t tag, uint32_t window, uint64_t ps)
{
    struct cnnvp_stats *stats = context;

    (void)window;
    stats->path[(size_t)tag * stats->platform->instance_count + instance] += ps;
}

void cnnvp_stats_set_path(struct cnnvp_stats *stats, struct cnnvp_path *path, uint64_t end_ps)
{
    uint32_t tags = stats->tags;

    cnnvp_path_walk(path, end_ps, note_tag, &tags);
    free(stats->path);
    free(stats->path_gains);
    stats->path = calloc((size_t)tags * stats->platform->instance_count, sizeof *stats->path);
    stats->path_gains = calloc(stats->platform->instance_count, sizeof *stats->path_gains);
    stats->path_tags = tags;
    if (stats->path == NULL || stats->path_gains == NULL) {
        stats->out_of_memory = 1;
        return;
    }
    cnnvp_path_walk(path, end_ps, add_part, stats);
    for (uint32_t i = 0; i < stats->platform->instance_count; ++i)
        for (uint32_t tag = 0; tag < tags; ++tag)
            stats->path_gains[cnnvp_resolved_first(stats->platform, i)] +=
                stats->path[(size_t)tag * stats->platform->instance_count + i];
    for (uint32_t i = 0; i < stats->platform->instance_count; ++i) {
        const uint64_t gain = (uint64_t)cnnvp_path_gain(path, i), most = stats->path_gains[i] / 2;
        /* the last moment of a run that was stopped may lie beyond it */
        stats->path_gains[i] = gain < most ? gain : most;
    }
}

/* Sums over the tags from `first` to before `end`; with `all`, also units that nothing waited for. */
static void add_sums(struct stats_builder *b, json_t *object, uint32_t first, uint32_t end, int all)
{
    const struct cnnvp_stats *stats = b->stats;
    const size_t instances = stats->platform->instance_count;
    json_t *units = stats->path != NULL ? set_object(b, object, "critical_path") : NULL;
    CNNVP_FREED uint64_t *alike = calloc(instances, sizeof *alike); /* by the first accelerator's instance */
    const char *longest = "";
    uint64_t most = 0;

    b->failed |= alike == NULL;
    if (units == NULL || alike == NULL)
        return;
    for (size_t i = 0; i < instances; ++i) {
        uint64_t ps = 0;

        for (uint32_t tag = first; tag < end && tag < stats->path_tags; ++tag)
            ps += stats->path[tag * instances + i];
        const uint32_t like = cnnvp_resolved_first(stats->platform, (uint32_t)i);
        alike[like] += ps;
        if (alike[like] > most) {
            most = alike[like];
            longest = stats->platform->instances[like].name;
        }
        if (ps > 0 || (all && stats->platform->instances[i].unit != NULL))
            set_count(b, units, stats->platform->instances[i].name, ps);
    }
    set_text(b, object, "bound_by", longest);
}

/* The first accelerator's instances, by those of further accelerators that are like them, if there are any. */
static void add_alike(struct stats_builder *b, json_t *summary)
{
    const struct cnnvp_resolved *platform = b->stats->platform;
    json_t *alike = NULL;

    for (size_t i = 0; i < platform->instance_count; ++i) {
        const uint32_t first = cnnvp_resolved_first(platform, (uint32_t)i);
        if (first == i)
            continue;
        if (alike == NULL)
            alike = set_object(b, summary, "alike");
        set_text(b, alike, platform->instances[i].name, platform->instances[first].name);
    }
}

void cnnvp_stats_add_path(struct stats_builder *b, json_t *summary)
{
    const struct cnnvp_stats *stats = b->stats;
    json_t *gains = stats->path_gains != NULL ? set_object(b, summary, "gain_if_twice_as_fast") : NULL;
    for (size_t i = 0; gains != NULL && i < stats->platform->instance_count; ++i)
        if (stats->platform->instances[i].unit != NULL && cnnvp_resolved_first(stats->platform, (uint32_t)i) == i)
            set_count(b, gains, stats->platform->instances[i].name, stats->path_gains[i]);
    add_sums(b, summary, 0, UINT32_MAX, 1);
    add_alike(b, summary);
}

void cnnvp_stats_add_layer_path(struct stats_builder *b, json_t *layer, uint32_t tag)
{
    add_sums(b, layer, tag, tag + 1u, 0);
}
