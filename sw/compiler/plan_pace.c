/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices of one sort soon follow each other at a steady pace: everything that the next one depends on has moved on by
 * as much as the array since the last one. Then all further ones go on so, to the picosecond, and need not be replayed
 * one by one. What they depend on: the last issue, loads, and the halves that they take in turn; not writes, once those
 * have been done, and not the core, while it is ahead of the element and its queue is not full.
 */
#include "plan_replay.h"

#include <string.h>

/* Notes where everything is: 1 if it lags as much behind as it did, and no writes are under way. */
static int keeps_pace(const struct cnnvp_replay *layer, struct cnnvp_pace *pace, int inputs)
{
    const struct cnnvp_timeline *r = &layer->timeline;
    const uint64_t array = r->unit[CNNVP_TIMELINE_ARRAY];
    const uint64_t *weight = r->half[CNNVP_TIMELINE_WEIGHT];
    const uint64_t *input = r->half[CNNVP_TIMELINE_INPUT];
    const uint64_t lags[CNNVP_PACE_LAGS] = {
        array - r->issue,
        array - r->unit[CNNVP_TIMELINE_READ],
        array - r->memory[0],
        array - weight[r->next[CNNVP_TIMELINE_WEIGHT]],
        array - weight[cnnvp_timeline_other(r, CNNVP_TIMELINE_WEIGHT)],
        inputs ? array - input[r->next[CNNVP_TIMELINE_INPUT]] : 0,
        inputs ? array - input[cnnvp_timeline_other(r, CNNVP_TIMELINE_INPUT)] : 0,
    };
    uint64_t differ = 0;
    for (size_t i = 0; i < CNNVP_PACE_LAGS; ++i)
        differ |= lags[i] ^ pace->lags[i];
    const int same = differ == 0 && pace->array != 0 && r->memory[1] <= pace->issue;
    *pace = (struct cnnvp_pace){array, r->issue, r->core, layer->compute_ps, layer->memory_ps, {0}};
    memcpy(pace->lags, lags, sizeof lags);
    return same;
}

/* For how many more the core, which pushes so long for each, keeps their pace, or neither holds back the element nor
 * waits for its queue. */
static uint64_t core_keeps_on(const struct cnnvp_timeline *r, int64_t pushed, int64_t time, uint64_t most)
{
    const int64_t ahead = (int64_t)r->issue - r->core;
    const int64_t room = (int64_t)r->timing->most_lead - ahead;
    if (pushed == time)
        return most;
    /* Between its first instruction and its last one `ahead` may have been less by its time, `room` by its pushes. */
    if (ahead <= time || room <= pushed)
        return 0;
    const int64_t count = pushed > time ? (ahead - time - 1) / (pushed - time) : (room - pushed - 1) / (time - pushed);
    return sooner((uint64_t)count, most);
}

static void move_on(struct cnnvp_timeline *r, uint64_t time, int64_t pushed, int inputs)
{
    r->core += pushed;
    r->issue += time;
    r->last += r->timing->strict ? time : 0;
    r->unit[CNNVP_TIMELINE_READ] += time;
    r->unit[CNNVP_TIMELINE_ARRAY] += time;
    r->memory[0] += time;
    r->half[CNNVP_TIMELINE_OUTPUT][r->next[CNNVP_TIMELINE_OUTPUT]] += time;
    for (uint32_t half = 0; half < CNNVP_TIMELINE_HALVES; ++half) {
        r->half[CNNVP_TIMELINE_WEIGHT][half] += time;
        if (inputs || half == r->next[CNNVP_TIMELINE_INPUT])
            r->half[CNNVP_TIMELINE_INPUT][half] += time;
    }
}

/* Tags from this one on are in no half. */
static int is_new(const struct cnnvp_timeline *r, enum cnnvp_timeline_buffer buffer, uint64_t tag)
{
    return r->tag[buffer][0] < tag && r->tag[buffer][1] < tag;
}

/* The halves hold what comes before this tag; which of two is which does not matter. */
static void renumber(struct cnnvp_timeline *r, enum cnnvp_timeline_buffer buffer, uint64_t tag)
{
    r->tag[buffer][cnnvp_timeline_other(r, buffer)] = tag - 2u;
    r->tag[buffer][r->next[buffer]] = tag - 1u;
}

uint64_t cnnvp_pace_pass(struct cnnvp_replay *r, struct cnnvp_pace *pace,
                         const struct cnnvp_pace_alike *alike)
{
    struct cnnvp_timeline *line = &r->timeline;
    const int inputs = alike->inputs != 0;
    if (r->one_by_one || !is_new(line, CNNVP_TIMELINE_WEIGHT, alike->weight_tag) ||
        (inputs && !is_new(line, CNNVP_TIMELINE_INPUT, alike->input_tag))) {
        pace->array = 0;
        return 0;
    }
    const struct cnnvp_pace last = *pace;
    if (!keeps_pace(r, pace, inputs))
        return 0;
    const uint64_t time = pace->array - last.array;
    const int64_t pushed = pace->core - last.core;
    const uint64_t compute = pace->compute_ps - last.compute_ps;
    const uint64_t memory = pace->memory_ps - last.memory_ps;
    const uint64_t count = core_keeps_on(line, pushed, (int64_t)time, sooner(alike->count, alike->most));
    if (count == 0)
        return 0;
    move_on(line, count * time, (int64_t)count * pushed, inputs);
    renumber(line, CNNVP_TIMELINE_WEIGHT, alike->weight_tag + count * alike->weights);
    if (inputs)
        renumber(line, CNNVP_TIMELINE_INPUT, alike->input_tag + count);
    r->compute_ps += count * compute;
    r->memory_ps += count * memory;
    /* Before the last of them. */
    pace->array = line->unit[CNNVP_TIMELINE_ARRAY] - time;
    pace->issue = line->issue - time;
    pace->core = line->core - pushed;
    pace->compute_ps = r->compute_ps - compute;
    pace->memory_ps = r->memory_ps - memory;
    return count;
}
