/* SPDX-License-Identifier: Apache-2.0 */
/* See dram_replay.h. */
#include "dram_replay.h"

#include <stdlib.h>

struct dram_replay {
    struct dram_timing timing;
    struct dram_map map;
    uint32_t channels;
    uint32_t outstanding;
    uint64_t clock; /* the next burst enters at this clock or later */
    struct dram_options options;
    struct dram_counts before; /* counts before the last reset */
    struct dram_replay_result result;
    void (*commands)(void *context, uint32_t channel, const struct dram_issued *issued);
    void *context;
    int timed;             /* bursts enter at given clocks, and reads in flight are not limited */
    uint32_t on_their_way; /* reads in flight */
    /* known ends of reads, ascending, in a ring */
    uint32_t end_first, end_count;
    uint64_t ends[DRAM_OUTSTANDING];
    struct dram_channel *channel;
};

struct dram_replay *cnnvp_dram_replay_new(
    const struct dram_options *options, const struct dram_timing *timing, uint32_t outstanding,
    void (*commands)(void *context, uint32_t channel, const struct dram_issued *issued), void *context)
{
    struct dram_replay *replay = calloc(1, sizeof *replay);
    if (replay == NULL)
        return NULL;
    replay->channel = calloc(options->channels, sizeof *replay->channel);
    if (replay->channel == NULL) {
        free(replay);
        return NULL;
    }
    replay->options = *options;
    replay->timing = *timing;
    cnnvp_dram_map_init(options, timing, &replay->map);
    replay->channels = options->channels;
    replay->outstanding = outstanding < DRAM_OUTSTANDING ? outstanding : DRAM_OUTSTANDING;
    replay->clock = 1;
    replay->commands = commands;
    replay->context = context;
    for (uint32_t i = 0; i < replay->channels; ++i)
        cnnvp_dram_channel_init(&replay->channel[i], options, &replay->timing, 1);
    return replay;
}

void cnnvp_dram_replay_free(struct dram_replay *replay)
{
    if (replay == NULL)
        return;
    free(replay->channel);
    free(replay);
}

void cnnvp_dram_replay_show(struct dram_replay *replay, struct dram_windows *windows)
{
    for (uint32_t i = 0; i < replay->channels; ++i)
        replay->channel[i].windows = windows;
}

/* Records the end of a read. */
static void note_end(struct dram_replay *replay, uint64_t end)
{
    if (end > replay->result.clocks)
        replay->result.clocks = end;
    if (!replay->timed)
        dram_keep_end(replay->ends, replay->end_first, &replay->end_count, end);
}

static struct dram_channel *first_channel(struct dram_replay *replay, uint64_t *clock)
{
    return dram_first_channel(replay->channel, replay->channels, clock);
}

static void issue(struct dram_replay *replay, struct dram_channel *channel)
{
    struct dram_issued issued;
    cnnvp_dram_channel_issue(channel, &issued);
    if (issued.command == DRAM_RD || issued.command == DRAM_RDA) {
        replay->result.read_clocks += issued.done - issued.entry.entered;
        note_end(replay, issued.done);
    }
    if (replay->commands != NULL && issued.command != DRAM_REFRESH_DUE)
        replay->commands(replay->context, (uint32_t)(channel - replay->channel), &issued);
    if (cnnvp_dram_is_column(issued.command) && issued.done > replay->result.last_data)
        replay->result.last_data = issued.done;
}

/* Issues all commands before `clock`. */
static void run_before(struct dram_replay *replay, uint64_t clock)
{
    for (uint32_t i = 0; i < replay->channels; ++i)
        cnnvp_dram_channel_skip(&replay->channel[i], clock - 1u);
    for (;;) {
        uint64_t next;
        struct dram_channel *channel = first_channel(replay, &next);
        if (next >= clock)
            return;
        issue(replay, channel);
    }
}

/* Frees the places of reads that ended before the present clock. */
static void take_ends(struct dram_replay *replay)
{
    while (replay->end_count && replay->ends[replay->end_first] < replay->clock) {
        replay->end_first = (replay->end_first + 1u) % DRAM_OUTSTANDING;
        --replay->end_count;
        --replay->on_their_way;
    }
}

static void wait_for_place(struct dram_replay *replay)
{
    for (;;) {
        take_ends(replay);
        if (replay->on_their_way < replay->outstanding)
            return;
        uint64_t next;
        struct dram_channel *channel = first_channel(replay, &next);
        const uint64_t end = replay->end_count ? replay->ends[replay->end_first] : DRAM_NEVER;
        if (next > end)
            replay->clock = end + 1u;
        else
            issue(replay, channel);
    }
}

static void wait_for_room(struct dram_replay *replay, const struct dram_place *place, uint32_t write)
{
    struct dram_channel *channel = &replay->channel[place->channel];
    while (!cnnvp_dram_channel_takes(channel, place, write)) {
        uint64_t next;
        issue(replay, first_channel(replay, &next));
        if (next + 1u > replay->clock)
            replay->clock = next + 1u;
    }
    while (cnnvp_dram_channel_next(channel) < replay->clock) /* commands left on the other command bus */
        issue(replay, channel);
}

static void enter(struct dram_replay *replay, const struct dram_place *place, uint32_t write, int bounded)
{
    struct dram_channel *channel = &replay->channel[place->channel];
    const uint64_t next = replay->clock;
    uint64_t done;
    wait_for_room(replay, place, write);
    if (cnnvp_dram_channel_enter(channel, place, write, replay->clock, NULL, 0, 0, &done) == DRAM_FORWARDED) {
        replay->result.read_clocks += done - replay->clock;
        note_end(replay, done);
    }
    if (write) {
        ++replay->result.writes;
    } else {
        ++replay->result.reads;
        replay->on_their_way += (uint32_t)bounded;
    }
    replay->result.wait_clocks[write] += replay->clock - next;
    if (replay->clock > replay->result.clocks)
        replay->result.clocks = replay->clock;
}

void cnnvp_dram_replay_burst(struct dram_replay *replay, uint32_t write, uint64_t address)
{
    const struct dram_place place = cnnvp_dram_map(&replay->map, address);
    if (!write)
        wait_for_place(replay);
    run_before(replay, replay->clock);
    enter(replay, &place, write, 1);
}

void cnnvp_dram_replay_timed(struct dram_replay *replay, uint32_t write, uint64_t address, uint64_t clock)
{
    const struct dram_place place = cnnvp_dram_map(&replay->map, address);
    replay->timed = 1;
    if (clock > replay->clock)
        replay->clock = clock;
    run_before(replay, replay->clock);
    enter(replay, &place, write, 0);
}

static void sum_counts(struct dram_replay *replay, uint64_t end, struct dram_counts *sum)
{
    *sum = replay->before;
    replay->result.end = end;
    for (uint32_t i = 0; i < replay->channels; ++i) {
        cnnvp_dram_channel_count_low(&replay->channel[i], end);
        cnnvp_dram_counts_add(sum, &replay->channel[i].counts);
    }
}

static void serve_waiting(struct dram_replay *replay)
{
    while (dram_channels_wait(replay->channel, replay->channels)) {
        uint64_t next;
        issue(replay, first_channel(replay, &next));
    }
}

/* Counts commands up to `until`, and row classes of all bursts. */
static void stop(struct dram_replay *replay, uint64_t until, struct dram_counts *counts)
{
    struct dram_counts last;
    run_before(replay, until + 1u);
    sum_counts(replay, until, counts);
    const struct dram_replay_result stopped = replay->result;
    cnnvp_dram_replay_show(replay, NULL);
    serve_waiting(replay);
    sum_counts(replay, until, &last);
    replay->result = stopped;
    counts->hits = last.hits;
    counts->misses = last.misses;
    counts->conflicts = last.conflicts;
}

uint64_t cnnvp_dram_replay_clock(const struct dram_replay *replay)
{
    return replay->clock;
}

void cnnvp_dram_replay_reset(struct dram_replay *replay, uint64_t clock)
{
    struct dram_windows *const windows = replay->channel[0].windows;
    struct dram_counts counts;
    stop(replay, clock, &counts);
    replay->before = counts;
    replay->clock = clock + 1u;
    replay->on_their_way = replay->end_count = 0;
    for (uint32_t i = 0; i < replay->channels; ++i)
        cnnvp_dram_channel_init(&replay->channel[i], &replay->options, &replay->timing, replay->clock);
    cnnvp_dram_replay_show(replay, windows);
}

void cnnvp_dram_replay_end(struct dram_replay *replay, uint64_t until, struct dram_replay_result *result)
{
    struct dram_counts counts;
    if (until != DRAM_NEVER) {
        stop(replay, until, &counts);
    } else {
        serve_waiting(replay);
        sum_counts(replay, cnnvp_maximum(replay->result.clocks, replay->result.last_data), &counts);
    }
    *result = replay->result;
    result->counts = counts;
}
