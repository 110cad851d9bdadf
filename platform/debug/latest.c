/* SPDX-License-Identifier: Apache-2.0 */
#include "latest.h"

#include <stdlib.h>

#include "base.h"

/* Of instance i: tracks from tracks[i] to tracks[i + 1], counters likewise. */
struct cnnvp_latest {
    struct cnnvp_arena arena; /* of all that follows */
    uint32_t instances;
    uint32_t *tracks;
    uint32_t *counters;
    struct cnnvp_latest_span *spans;
    uint64_t *values;
};

struct cnnvp_latest *cnnvp_latest_new(const struct cnnvp_resolved *platform)
{
    const uint32_t count = (uint32_t)platform->instance_count;
    struct cnnvp_latest *latest = calloc(1, sizeof *latest);
    if (latest == NULL)
        return NULL;
    latest->instances = count;
    latest->tracks = cnnvp_arena_array(&latest->arena, count + 1u, sizeof *latest->tracks);
    latest->counters = cnnvp_arena_array(&latest->arena, count + 1u, sizeof *latest->counters);
    for (uint32_t i = 0; i < count && latest->tracks != NULL && latest->counters != NULL; ++i) {
        const struct cnnvp_unit *unit = platform->instances[i].unit;
        latest->tracks[i + 1u] = latest->tracks[i] + (unit != NULL ? (uint32_t)unit->track_count : 0);
        latest->counters[i + 1u] = latest->counters[i] + (unit != NULL ? (uint32_t)unit->counter_count : 0);
    }
    if (latest->tracks != NULL)
        latest->spans = cnnvp_arena_array(&latest->arena, latest->tracks[count], sizeof *latest->spans);
    if (latest->counters != NULL)
        latest->values = cnnvp_arena_array(&latest->arena, latest->counters[count], sizeof *latest->values);
    if (latest->spans != NULL && latest->values != NULL)
        return latest;
    cnnvp_latest_free(latest);
    return NULL;
}

void cnnvp_latest_free(struct cnnvp_latest *latest)
{
    if (latest == NULL)
        return;
    cnnvp_arena_free(&latest->arena);
    free(latest);
}

/* The place of an instance's entry; UINT32_MAX: there is none. */
static uint32_t place(const struct cnnvp_latest *latest, const uint32_t *first, uint32_t instance, uint32_t index)
{
    if (instance >= latest->instances || index >= first[instance + 1u] - first[instance])
        return UINT32_MAX;
    return first[instance] + index;
}

void cnnvp_latest_set_span(struct cnnvp_latest *latest, uint32_t instance, uint32_t track,
                           const struct cnnvp_latest_span *span)
{
    const uint32_t at = place(latest, latest->tracks, instance, track);
    if (at != UINT32_MAX)
        latest->spans[at] = *span;
}

void cnnvp_latest_set_counter(struct cnnvp_latest *latest, uint32_t instance, uint32_t counter, uint64_t value)
{
    const uint32_t at = place(latest, latest->counters, instance, counter);
    if (at != UINT32_MAX)
        latest->values[at] = value;
}

const struct cnnvp_latest_span *cnnvp_latest_get_span(const struct cnnvp_latest *latest, uint32_t instance,
                                                      uint32_t track)
{
    const uint32_t at = place(latest, latest->tracks, instance, track);
    return at != UINT32_MAX ? &latest->spans[at] : NULL;
}

uint64_t cnnvp_latest_get_counter(const struct cnnvp_latest *latest, uint32_t instance, uint32_t counter)
{
    const uint32_t at = place(latest, latest->counters, instance, counter);
    return at != UINT32_MAX ? latest->values[at] : 0;
}
