/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bursts of one requester in the order of its program, sent as fast as the controllers take them with at most this many
 * reads on their way; a write is done when it is taken. Host-free. Everything but what a caller names in `commands` is
 * bounded memory.
 */
#ifndef CNNVP_DRAM_REPLAY_H
#define CNNVP_DRAM_REPLAY_H

#include "dram_channel.h"

struct dram_replay_result {
    uint64_t clocks; /* until the last read data and the last write's acceptance */
    uint64_t reads, writes;
    uint64_t read_clocks;      /* sum over reads from the clock at which they were taken to their last data */
    uint64_t wait_clocks[2];   /* [write], sum over bursts from the clock at which they could be sent until taken */
    uint64_t end;              /* clock up to which everything is counted */
    uint64_t last_data;        /* clock at which the bus has carried the last data that count, also of writes */
    struct dram_counts counts; /* of all channels */
};

struct dram_replay;

/* `commands` (may be NULL) is told of every command of every channel. Timing and options have been checked. */
struct dram_replay *cnnvp_dram_replay_new(
    const struct dram_options *options, const struct dram_timing *timing, uint32_t outstanding,
    void (*commands)(void *context, uint32_t channel, const struct dram_issued *issued), void *context);
void cnnvp_dram_replay_free(struct dram_replay *replay);
/* Windows that show its ranks' low power. */
void cnnvp_dram_replay_show(struct dram_replay *replay, struct dram_windows *windows);
/* The next burst. */
void cnnvp_dram_replay_burst(struct dram_replay *replay, uint32_t write, uint64_t address);
/* The next burst, which enters at `clock`, however many are on their way, or later if its queue is full then. */
void cnnvp_dram_replay_timed(struct dram_replay *replay, uint32_t write, uint64_t address, uint64_t clock);
/* Lets everything that waits come to its end. Commands and clocks after `until` do not count (DRAM_NEVER: all do);
 * bursts that wait then count by what their first command finds. */
void cnnvp_dram_replay_end(struct dram_replay *replay, uint64_t until, struct dram_replay_result *result);

#endif
