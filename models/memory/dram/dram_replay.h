/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays the bursts of one requester in program order, as fast as the controllers take them, with at most
 * `outstanding` reads in flight; a write is done when it is taken. Host-free. The memory used is bounded, except for
 * what the callback `commands` keeps.
 */
#pragma once

#include "dram_channel.h"

struct dram_replay_result {
    uint64_t clocks; /* until the last read data and the last write's acceptance */
    uint64_t reads, writes;
    uint64_t read_clocks;      /* sum over reads of the clocks from entry to the last data */
    uint64_t wait_clocks[2];   /* [write] sum over bursts of the clocks from when they could be sent to entry */
    uint64_t end;              /* clock up to which everything is counted */
    uint64_t last_data;        /* clock at which the last data that count end, also of writes */
    struct dram_counts counts; /* sums over all channels */
};

struct dram_replay;

/* `commands` (may be NULL) is called for every command of every channel. The caller has checked timing and options. */
struct dram_replay *cnnvp_dram_replay_new(
    const struct dram_options *options, const struct dram_timing *timing, uint32_t outstanding,
    void (*commands)(void *context, uint32_t channel, const struct dram_issued *issued), void *context);
void cnnvp_dram_replay_free(struct dram_replay *replay);
/* Sets the windows that show low power of the ranks. */
void cnnvp_dram_replay_show(struct dram_replay *replay, struct dram_windows *windows);
/* Sends the next burst. */
void cnnvp_dram_replay_burst(struct dram_replay *replay, uint32_t write, uint64_t address);
/* Sends the next burst to enter at `clock`, however many are in flight, or later if its queue is full then. */
void cnnvp_dram_replay_timed(struct dram_replay *replay, uint32_t write, uint64_t address, uint64_t clock);
/* The clock at which the last burst entered, or the next one enters at the earliest. */
uint64_t cnnvp_dram_replay_clock(const struct dram_replay *replay);
/* Resets the memory at `clock`, which is not before the last burst's entry: bursts that wait then count by their row
 * class only. */
void cnnvp_dram_replay_reset(struct dram_replay *replay, uint64_t clock);
/* Serves everything that waits. Commands after `until`, which is not before the last burst's entry, do not count
 * (DRAM_NEVER: all do); bursts that wait at `until` count by their row class only. */
void cnnvp_dram_replay_end(struct dram_replay *replay, uint64_t until, struct dram_replay_result *result);
