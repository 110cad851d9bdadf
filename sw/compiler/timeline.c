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

uint32_t cnnvp_timeline_take(struct cnnvp_timeline *r, enum cnnvp_timeline_buffer buffer)
{
    r->next[buffer] = cnnvp_timeline_other(r, buffer);
    return r->next[buffer];
}

uint32_t cnnvp_timeline_find(struct cnnvp_timeline *r, enum cnnvp_timeline_buffer buffer, uint64_t tag, int *found)
{
    for (uint32_t half = 0; half < r->halves[buffer]; ++half) {
        *found = r->tag[buffer][half] == tag;
        if (*found)
            return half;
    }
    const uint32_t half = cnnvp_timeline_take(r, buffer);
    r->tag[buffer][half] = tag;
    return half;
}

/* ---- memory ---- */

static uint64_t share(struct cnnvp_timeline *r, enum cnnvp_timeline_unit unit, uint64_t from, uint64_t busy)
{
    uint64_t *other = &r->memory[unit == CNNVP_TIMELINE_READ];
    if (*other <= from)
        return 0;
    const uint64_t overlap = sooner(*other - from, busy);
    const uint64_t both = r->rows_collide ? overlap : cnnvp_plan_shared_ps(r->timing, overlap);
    *other += both;
    r->unit[unit == CNNVP_TIMELINE_READ ? CNNVP_TIMELINE_WRITE : CNNVP_TIMELINE_READ] += both;
    return both;
}

/* When reads get a turn that are asked for: a queue of writes that was full is emptied first, but for a rest. */
static uint64_t after_writes(const struct cnnvp_timeline *r, uint64_t from)
{
    const uint64_t rest = r->timing->posted_rest;
    const uint64_t most = r->timing->posted - sooner(rest, r->timing->posted);
    return r->memory[1] <= from + rest ? from : from + sooner(r->memory[1] - from - rest, most);
}

/* ---- instructions ---- */

/* When an instruction issues that the core pushes after so many cycles, whose words have to be fetched, and which
 * waits for `ready`. */
static uint64_t issue(struct cnnvp_timeline *r, uint64_t core_cycles, uint64_t words, uint64_t ready)
{
    const struct cnnvp_plan_timing *timing = r->timing;
    const int64_t pushed = (int64_t)(core_cycles * timing->core);
    const int64_t most_lead = (int64_t)timing->most_lead;
    r->core += pushed;
    /* Of several instructions those that the queue has no room for are pushed when the first ones issue. */
    if (pushed > most_lead)
        r->core = latest(r->core, (int64_t)ready + pushed - most_lead);
    const uint64_t free = later(r->issue + words * timing->cycle, later(ready, r->last));
    r->issue = (uint64_t)latest(r->core, (int64_t)free);
    /* The core waits where the element's queue is full. */
    r->core = latest(r->core, (int64_t)r->issue - most_lead);
    return r->issue;
}

static void complete(struct cnnvp_timeline *r, enum cnnvp_timeline_unit unit, uint64_t end)
{
    r->unit[unit] = end;
    if (r->timing->strict)
        r->last = end;
}

/* The first of these halves. */
static uint64_t *first_half(struct cnnvp_timeline *r, uint32_t uses)
{
    const uint32_t half = (uint32_t)__builtin_ctz(uses);
    return &r->half[half / CNNVP_TIMELINE_HALVES][half % CNNVP_TIMELINE_HALVES];
}

void cnnvp_timeline_run(struct cnnvp_timeline *r, enum cnnvp_timeline_unit unit, uint64_t core_cycles, uint32_t uses,
                        uint64_t busy)
{
    uint64_t ready = r->unit[unit];
    for (uint32_t left = uses; left != 0; left &= left - 1u)
        ready = later(ready, *first_half(r, left));
    const uint64_t end = issue(r, core_cycles, WORDS_CALCULATE, ready) + busy;
    complete(r, unit, end);
    for (uint32_t left = uses; left != 0; left &= left - 1u)
        *first_half(r, left) = end;
}

void cnnvp_timeline_load(struct cnnvp_timeline *r, enum cnnvp_timeline_buffer buffer, uint32_t half, uint64_t busy)
{
    const struct cnnvp_plan_timing *timing = r->timing;
    const uint64_t requested = issue(r, timing->load_core, r->load_words, 0);
    const uint64_t received = issue(r, 0, 1, later(r->unit[CNNVP_TIMELINE_READ], r->half[buffer][half]));
    const uint64_t ahead = sooner(busy, (uint64_t)timing->ahead * timing->read);
    const uint64_t begin = later(after_writes(r, requested) + timing->latency, r->memory[0]);
    uint64_t end = begin + ahead;
    if (busy > ahead) {
        end = later(end, received + timing->hit);
        end += busy - ahead;
    }
    end += share(r, CNNVP_TIMELINE_READ, begin, busy);
    r->memory[0] = end;
    end = later(end, received + 2u * timing->cycle);
    complete(r, CNNVP_TIMELINE_READ, end);
    r->half[buffer][half] = end;
}

void cnnvp_timeline_store(struct cnnvp_timeline *r, uint32_t half, uint64_t busy, uint64_t through)
{
    const struct cnnvp_plan_timing *timing = r->timing;
    const uint64_t ready = later(r->unit[CNNVP_TIMELINE_WRITE], r->half[CNNVP_TIMELINE_OUTPUT][half]);
    const uint64_t at = issue(r, timing->store_core, WORDS_STORE, ready);
    const uint64_t begin = later(at + timing->write_latency, r->memory[1]);
    const uint64_t end = begin + busy + share(r, CNNVP_TIMELINE_WRITE, begin, busy);
    const uint64_t taken = later(later(begin, end - sooner(end, timing->posted)), at + through);
    r->memory[1] = end;
    complete(r, CNNVP_TIMELINE_WRITE, taken);
    r->half[CNNVP_TIMELINE_OUTPUT][half] = taken;
}

/* ---- what is not replayed ---- */

void cnnvp_timeline_pass(struct cnnvp_timeline *r, uint64_t more, int64_t core)
{
    r->core += core;
    r->issue += more;
    r->last += r->timing->strict ? more : 0;
    r->memory[0] += more;
    r->memory[1] += more;
    for (int i = 0; i < CNNVP_TIMELINE_UNITS; ++i)
        r->unit[i] += more;
    for (int i = 0; i < CNNVP_TIMELINE_BUFFERS; ++i)
        for (uint32_t half = 0; half < CNNVP_TIMELINE_HALVES; ++half)
            r->half[i][half] += more;
}

void cnnvp_timeline_pass_on(struct cnnvp_timeline *r, const struct cnnvp_timeline *before,
                            enum cnnvp_timeline_unit unit, uint64_t number, uint64_t more)
{
    const int64_t parts = (int64_t)more, of = (int64_t)number;
    cnnvp_timeline_pass(r, (r->unit[unit] - before->unit[unit]) * more / number, (r->core - before->core) * parts / of);
}

uint64_t cnnvp_timeline_end(const struct cnnvp_timeline *r)
{
    uint64_t end = (uint64_t)latest((int64_t)r->issue, r->core);
    for (int i = 0; i < CNNVP_TIMELINE_UNITS; ++i)
        end = later(end, r->unit[i]);
    return end;
}
