/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot.h"

#include <stdlib.h>

#include "base.h"

/* Instance i has the tracks from tracks[i] to tracks[i + 1]; counters likewise. */
struct cnnvp_snapshot {
    struct cnnvp_arena arena; /* memory of the following members */
    uint32_t instances;
    uint32_t *tracks;
    uint32_t *counters;
    struct cnnvp_snapshot_span *spans;
    uint64_t *values;
};

struct cnnvp_snapshot *cnnvp_snapshot_new(const struct cnnvp_resolved *platform)
{
    const uint32_t count = (uint32_t)platform->instance_count;
    struct cnnvp_snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (snapshot == NULL)
        return NULL;
    snapshot->instances = count;
    snapshot->tracks = cnnvp_arena_array(&snapshot->arena, count + 1u, sizeof *snapshot->tracks);
    snapshot->counters = cnnvp_arena_array(&snapshot->arena, count + 1u, sizeof *snapshot->counters);
    for (uint32_t i = 0; i < count && snapshot->tracks != NULL && snapshot->counters != NULL; ++i) {
        const struct cnnvp_unit *unit = platform->instances[i].unit;
        snapshot->tracks[i + 1u] = snapshot->tracks[i] + (unit != NULL ? (uint32_t)unit->track_count : 0);
        snapshot->counters[i + 1u] = snapshot->counters[i] + (unit != NULL ? (uint32_t)unit->counter_count : 0);
    }
    if (snapshot->tracks != NULL)
        snapshot->spans = cnnvp_arena_array(&snapshot->arena, snapshot->tracks[count], sizeof *snapshot->spans);
    if (snapshot->counters != NULL)
        snapshot->values = cnnvp_arena_array(&snapshot->arena, snapshot->counters[count], sizeof *snapshot->values);
    if (snapshot->spans != NULL && snapshot->values != NULL)
        return snapshot;
    cnnvp_snapshot_free(snapshot);
    return NULL;
}

void cnnvp_snapshot_free(struct cnnvp_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    cnnvp_arena_free(&snapshot->arena);
    free(snapshot);
}

/* Index of an instance's entry; UINT32_MAX: none. */
static uint32_t place(const struct cnnvp_snapshot *snapshot, const uint32_t *first, uint32_t instance, uint32_t index)
{
    if (instance >= snapshot->instances || index >= first[instance + 1u] - first[instance])
        return UINT32_MAX;
    return first[instance] + index;
}

void cnnvp_snapshot_set_span(struct cnnvp_snapshot *snapshot, uint32_t instance, uint32_t track,
                             const struct cnnvp_snapshot_span *span)
{
    const uint32_t at = place(snapshot, snapshot->tracks, instance, track);
    if (at != UINT32_MAX)
        snapshot->spans[at] = *span;
}

void cnnvp_snapshot_set_counter(struct cnnvp_snapshot *snapshot, uint32_t instance, uint32_t counter, uint64_t value)
{
    const uint32_t at = place(snapshot, snapshot->counters, instance, counter);
    if (at != UINT32_MAX)
        snapshot->values[at] = value;
}

const struct cnnvp_snapshot_span *cnnvp_snapshot_get_span(const struct cnnvp_snapshot *snapshot, uint32_t instance,
                                                          uint32_t track)
{
    const uint32_t at = place(snapshot, snapshot->tracks, instance, track);
    return at != UINT32_MAX ? &snapshot->spans[at] : NULL;
}

uint64_t cnnvp_snapshot_get_counter(const struct cnnvp_snapshot *snapshot, uint32_t instance, uint32_t counter)
{
    const uint32_t at = place(snapshot, snapshot->counters, instance, counter);
    return at != UINT32_MAX ? snapshot->values[at] : 0;
}
