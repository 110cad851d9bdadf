/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline.h"

/* Words of the element for a calculation: what changes of its descriptor. */
#define WORDS_CALCULATE 8u
#define WORDS_STORE 8u

static int64_t latest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- halves ---- */

uint32_t cnnvp_timeline_take(struct cnnvp_timeline *line, enum cnnvp_timeline_buffer buffer)
{
    line->next[buffer] = cnnvp_timeline_other(line, buffer);
    return line->next[buffer];
}

uint32_t cnnvp_timeline_find(struct cnnvp_timeline *line, enum cnnvp_timeline_buffer buffer, uint64_t tag, int *found)
{
    for (uint32_t half = 0; half < line->halves[buffer]; ++half) {
        *found = line->tag[buffer][half] == tag;
        if (*found)
            return half;
    }
    const uint32_t half = cnnvp_timeline_take(line, buffer);
    line->tag[buffer][half] = tag;
    return half;
}

/* ---- memory ---- */

static uint64_t share(struct cnnvp_timeline *line, enum cnnvp_timeline_unit unit, uint64_t from, uint64_t busy)
{
    uint64_t *other = &line->memory[unit == CNNVP_TIMELINE_READ];
    if (*other <= from)
        return 0;
    const uint64_t overlap = sooner(*other - from, busy);
    const uint64_t both = line->rows_collide ? overlap : cnnvp_train_shared_ps(line->timing, overlap);
    *other += both;
    line->unit[unit == CNNVP_TIMELINE_READ ? CNNVP_TIMELINE_WRITE : CNNVP_TIMELINE_READ] += both;
    return both;
}

/* When reads get a turn that are asked for: a queue of writes that was full is emptied first, but for a rest. */
static uint64_t after_writes(const struct cnnvp_timeline *line, uint64_t from)
{
    const uint64_t rest = line->timing->posted_rest;
    const uint64_t most = line->timing->posted - sooner(rest, line->timing->posted);
    return line->memory[1] <= from + rest ? from : from + sooner(line->memory[1] - from - rest, most);
}

/* ---- instructions ---- */

/* When an instruction issues that the core pushes after so many cycles, whose words have to be fetched, and which
 * waits for `ready`. */
static uint64_t issue(struct cnnvp_timeline *line, uint64_t core_cycles, uint64_t words, uint64_t ready)
{
    const struct cnnvp_train_timing *timing = line->timing;
    const int64_t pushed = (int64_t)(core_cycles * timing->core);
    const int64_t most_lead = (int64_t)timing->most_lead;
    line->core += pushed;
    /* Of several instructions those that the queue has no room for are pushed when the first ones issue. */
    if (pushed > most_lead)
        line->core = latest(line->core, (int64_t)ready + pushed - most_lead);
    const uint64_t free = later(line->issue + words * timing->cycle, later(ready, line->last));
    line->issue = (uint64_t)latest(line->core, (int64_t)free);
    /* The core waits where the element's queue is full. */
    line->core = latest(line->core, (int64_t)line->issue - most_lead);
    return line->issue;
}

static void complete(struct cnnvp_timeline *line, enum cnnvp_timeline_unit unit, uint64_t end)
{
    line->unit[unit] = end;
    if (line->timing->strict)
        line->last = end;
}

/* The first of these halves. */
static uint64_t *first_half(struct cnnvp_timeline *line, uint32_t uses)
{
    const uint32_t half = (uint32_t)__builtin_ctz(uses);
    return &line->half[half / CNNVP_TIMELINE_HALVES][half % CNNVP_TIMELINE_HALVES];
}

void cnnvp_timeline_run(struct cnnvp_timeline *line, enum cnnvp_timeline_unit unit, uint64_t core_cycles, uint32_t uses,
                        uint64_t busy)
{
    uint64_t ready = line->unit[unit];
    for (uint32_t left = uses; left != 0; left &= left - 1u)
        ready = later(ready, *first_half(line, left));
    const uint64_t end = issue(line, core_cycles, WORDS_CALCULATE, ready) + busy;
    complete(line, unit, end);
    for (uint32_t left = uses; left != 0; left &= left - 1u)
        *first_half(line, left) = end;
}

void cnnvp_timeline_load(struct cnnvp_timeline *line, enum cnnvp_timeline_buffer buffer, uint32_t half, uint64_t busy)
{
    const struct cnnvp_train_timing *timing = line->timing;
    const uint64_t requested = issue(line, timing->load_core, line->load_words, 0);
    const uint64_t received = issue(line, 0, 1, later(line->unit[CNNVP_TIMELINE_READ], line->half[buffer][half]));
    const uint64_t ahead = sooner(busy, (uint64_t)timing->ahead * timing->read);
    const uint64_t begin = later(after_writes(line, requested) + timing->latency, line->memory[0]);
    uint64_t end = begin + ahead;
    if (busy > ahead) {
        end = later(end, received + timing->hit);
        end += busy - ahead;
    }
    end += share(line, CNNVP_TIMELINE_READ, begin, busy);
    line->memory[0] = end;
    end = later(end, received + 2u * timing->cycle);
    complete(line, CNNVP_TIMELINE_READ, end);
    line->half[buffer][half] = end;
}

void cnnvp_timeline_store(struct cnnvp_timeline *line, uint32_t half, uint64_t busy, uint64_t through)
{
    const struct cnnvp_train_timing *timing = line->timing;
    const uint64_t ready = later(line->unit[CNNVP_TIMELINE_WRITE], line->half[CNNVP_TIMELINE_OUTPUT][half]);
    const uint64_t at = issue(line, timing->store_core, WORDS_STORE, ready);
    const uint64_t begin = later(at + timing->write_latency, line->memory[1]);
    const uint64_t end = begin + busy + share(line, CNNVP_TIMELINE_WRITE, begin, busy);
    const uint64_t taken = later(later(begin, end - sooner(end, timing->posted)), at + through);
    line->memory[1] = end;
    complete(line, CNNVP_TIMELINE_WRITE, taken);
    line->half[CNNVP_TIMELINE_OUTPUT][half] = taken;
}

/* ---- what is not replayed ---- */

void cnnvp_timeline_pass(struct cnnvp_timeline *line, uint64_t more, int64_t core)
{
    line->core += core;
    line->issue += more;
    line->last += line->timing->strict ? more : 0;
    line->memory[0] += more;
    line->memory[1] += more;
    for (int i = 0; i < CNNVP_TIMELINE_UNITS; ++i)
        line->unit[i] += more;
    for (int i = 0; i < CNNVP_TIMELINE_BUFFERS; ++i)
        for (uint32_t half = 0; half < CNNVP_TIMELINE_HALVES; ++half)
            line->half[i][half] += more;
}

void cnnvp_timeline_pass_on(struct cnnvp_timeline *line, const struct cnnvp_timeline *before,
                            enum cnnvp_timeline_unit unit, uint64_t number, uint64_t more)
{
    const int64_t parts = (int64_t)more, of = (int64_t)number;
    const uint64_t time = (line->unit[unit] - before->unit[unit]) * more / number;
    cnnvp_timeline_pass(line, time, (line->core - before->core) * parts / of);
}

uint64_t cnnvp_timeline_end(const struct cnnvp_timeline *line)
{
    uint64_t end = (uint64_t)latest((int64_t)line->issue, line->core);
    for (int i = 0; i < CNNVP_TIMELINE_UNITS; ++i)
        end = later(end, line->unit[i]);
    return end;
}
