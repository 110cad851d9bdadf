/* SPDX-License-Identifier: Apache-2.0 */
#include "train_replay.h"

#include "plan_cost.h"

#define BURST_BYTES 64u

/* Words of the element for a transfer and a command: what changes of their descriptors. */
#define WORDS_LOAD 4u
#define WORDS_COMMAND 8u

/* Cycles of a tile in the module besides its values. */
#define MODULE_CYCLES 4u

void cnnvp_train_replay_pass(struct cnnvp_train_replay *r, uint64_t more, uint64_t core)
{
    r->core += core;
    r->issue += more;
    r->last += more;
    r->memory += more;
    for (int i = 0; i < CNNVP_TRAIN_REPLAY_UNITS; ++i)
        r->unit[i] += more;
    for (int i = 0; i < CNNVP_TRAIN_REPLAY_BUFFERS; ++i)
        for (uint32_t half = 0; half < CNNVP_TRAIN_REPLAY_HALVES; ++half)
            r->half[i][half] += more;
}

void cnnvp_train_replay_pass_on(struct cnnvp_train_replay *r, const struct cnnvp_train_replay *before,
                                enum cnnvp_train_replay_unit unit, uint64_t number, uint64_t more)
{
    cnnvp_train_replay_pass(r, (r->unit[unit] - before->unit[unit]) * more / number,
                            (r->core - before->core) * more / number);
}

struct cnnvp_train_replay cnnvp_train_replay_begin(const struct cnnvp_train_target *target, uint64_t lead)
{
    struct cnnvp_train_replay r = {.target = target};
    cnnvp_train_replay_pass(&r, lead, 0);
    return r;
}

uint32_t cnnvp_train_replay_find(struct cnnvp_train_replay *r, enum cnnvp_train_replay_buffer buffer, uint64_t tag,
                                 int *found)
{
    const struct cnnvp_train_target *target = r->target;
    const uint32_t halves = buffer == CNNVP_TRAIN_REPLAY_INPUT ? target->input_halves : target->weight_halves;
    for (uint32_t half = 0; half < halves; ++half) {
        *found = r->tag[buffer][half] == tag;
        if (*found)
            return half;
    }
    r->next[buffer] = (r->next[buffer] + 1u) % halves;
    r->tag[buffer][r->next[buffer]] = tag;
    return r->next[buffer];
}

uint32_t cnnvp_train_replay_next(struct cnnvp_train_replay *r)
{
    uint32_t *next = &r->next[CNNVP_TRAIN_REPLAY_MIDDLE];
    *next = (*next + 1u) % r->target->output_halves;
    return *next;
}

static uint64_t issue(struct cnnvp_train_replay *r, uint64_t core_cycles, uint64_t words, uint64_t ready)
{
    const struct cnnvp_plan_timing *timing = &r->target->timing;
    r->core = later(r->core, r->issue - sooner(r->issue, timing->most_lead)) + core_cycles * timing->core;
    r->issue = later(later(r->issue + words * timing->cycle, ready), r->core);
    if (timing->strict)
        r->issue = later(r->issue, r->last);
    return r->issue;
}

uint64_t cnnvp_train_replay_run(struct cnnvp_train_replay *r, enum cnnvp_train_replay_unit unit, uint64_t core_cycles,
                                uint32_t middle, uint64_t ready, uint64_t busy)
{
    uint64_t *halves = r->half[CNNVP_TRAIN_REPLAY_MIDDLE];
    ready = later(ready, r->unit[unit]);
    for (uint32_t half = 0; half < CNNVP_TRAIN_REPLAY_HALVES; ++half)
        ready = (middle >> half & 1u) != 0 ? later(ready, halves[half]) : ready;
    const uint64_t end = issue(r, core_cycles, WORDS_COMMAND, ready) + busy;
    r->unit[unit] = end;
    for (uint32_t half = 0; half < CNNVP_TRAIN_REPLAY_HALVES; ++half)
        halves[half] = (middle >> half & 1u) != 0 ? end : halves[half];
    r->last = end;
    return end;
}

void cnnvp_train_replay_load(struct cnnvp_train_replay *r, enum cnnvp_train_replay_buffer buffer, uint32_t half,
                             uint64_t busy)
{
    const struct cnnvp_plan_timing *timing = &r->target->timing;
    uint64_t *read = &r->unit[CNNVP_TRAIN_REPLAY_READ];
    const uint64_t requested = issue(r, timing->load_core, WORDS_LOAD, 0);
    const uint64_t received = issue(r, 0, 1, later(*read, r->half[buffer][half]));
    const uint64_t ahead = sooner(busy, (uint64_t)timing->ahead * timing->burst);
    uint64_t end = later(requested + timing->latency, r->memory) + ahead;
    if (busy > ahead)
        end = later(end, received + timing->latency) + busy - ahead;
    r->memory = end;
    *read = r->half[buffer][half] = r->last = later(end, received + 2u * timing->cycle);
}

void cnnvp_train_replay_store(struct cnnvp_train_replay *r, uint32_t half, uint64_t busy)
{
    const uint64_t end = cnnvp_train_replay_run(r, CNNVP_TRAIN_REPLAY_WRITE, r->target->timing.store_core, 1u << half,
                                                r->memory, busy);
    r->memory = later(r->memory, end);
}

uint64_t cnnvp_train_replay_end(const struct cnnvp_train_replay *r)
{
    uint64_t end = later(r->issue, r->core);
    for (int i = 0; i < CNNVP_TRAIN_REPLAY_UNITS; ++i)
        end = later(end, r->unit[i]);
    return end;
}

static uint64_t pieces_ps(const struct cnnvp_train_target *target, struct cnnvp_train_pieces pieces, uint32_t width,
                          int written)
{
    const struct cnnvp_plan_timing *timing = &target->timing;
    if (pieces.count == 0 || pieces.bytes == 0)
        return 0;
    const uint64_t memory = cnnvp_plan_pieces_ps(timing, pieces.count, pieces.bytes, pieces.distance, written);
    const uint64_t port = later(timing->port, timing->cycle * BURST_BYTES / later(width, 1u));
    return later(memory, pieces.count * pieces.bytes * port / BURST_BYTES);
}

uint64_t cnnvp_train_read_ps(const struct cnnvp_train_target *target, struct cnnvp_train_pieces pieces, uint32_t width)
{
    return pieces_ps(target, pieces, width, 0);
}

uint64_t cnnvp_train_write_ps(const struct cnnvp_train_target *target, struct cnnvp_train_pieces pieces,
                              uint32_t width)
{
    return pieces_ps(target, pieces, width, 1);
}

uint64_t cnnvp_train_port_cycles(uint64_t bytes, uint32_t width, uint64_t cycles)
{
    const uint64_t needed = cnnvp_divide_up(bytes, later(width, 1u));
    return needed > cycles ? needed - cycles : 0;
}

uint64_t cnnvp_train_module_ps(const struct cnnvp_train_target *target, uint64_t values, uint64_t sets)
{
    const uint64_t at_once = later(sets * target->module_lanes, 1u);
    return (cnnvp_divide_up(values, at_once) + MODULE_CYCLES) * target->timing.cycle;
}
