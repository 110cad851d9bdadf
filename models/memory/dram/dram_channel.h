/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One DRAM channel and its controller, command by command. Host-free.
 *
 * Commands: banks have row buffers. ACT, PRE, PRE of all banks, RD, WR (also with precharge) and REF go one at a time
 * on a command bus, for as many clocks as the part's, and as early as the timings of its standard allow (dram.def).
 * Where ACT, PRE and REF have a bus of their own (HBM), one of them can issue at the same clock as an RD or WR, which
 * is decided first. Two pseudo channels of a channel share its command buses and queues, and have banks, a data bus and
 * refreshes of their own. Where an ACT is two commands (LPDDR5), the second goes when no other command can, before the
 * next ACT, and at the latest at its deadline. Where WCK has stopped (LPDDR5), a CAS goes a clock before an RD or WR. A
 * rank without work enters power-down or self-refresh, by policy (dram_low.c).
 *
 * Controller: as in the published simulator Ramulator 2.1. A burst that has opened its row goes first; then a refresh
 * that is due (while one waits, nothing else begins); then, from the queue that is served, the oldest burst whose next
 * command can issue. A row is not closed before the burst that opened it is served: bursts to other rows of its bank
 * are passed over. Writes are served while no read waits, or from when their queue is fuller than `drain_high` until it
 * is less full than `drain_low`. In that simulator an endless writer can stop all reads; here, after 4096 writes while
 * reads wait, as many reads go first. A burst to the location of a write in the write queue is answered there, even
 * when the queue is full: a read gets that write's data, a write replaces it. Read data return in the order in which
 * the reads issued or were answered.
 *
 * Not modelled: per-bank refresh, calibration.
 *
 * Time is counted in clocks from 1. A burst that enters at clock n can issue its first command at n. Nothing is
 * computed clock by clock: the next command is planned, and planned again when a burst enters before it.
 */
#pragma once

#include "dram_state.h"

/* ---- which command is next, and when: dram_plan.c ---- */

void dram_plan_make(struct dram_channel *channel);

/* Makes everything that was planned before `clock` final, and discards the plan. The next query makes a new one. */
void dram_plan_pass(struct dram_channel *channel, uint64_t clock);

/* Updates the plan for a burst that entered at `clock`. `behind`: others of its bank go before it. The plan is kept if
 * the burst can neither be the next command nor change which queue is served. */
void dram_plan_enter(struct dram_channel *channel, uint64_t clock, int behind);

/* ---- the channel ---- */

/* All banks closed at `clock`, queues empty, counts 0. */
void cnnvp_dram_channel_init(struct dram_channel *channel, const struct dram_options *options,
                             const struct dram_timing *timing, uint64_t clock);

int dram_find_write(const struct dram_channel *channel, const struct dram_place *place);

/* 1 if the write queue holds a write to this location. */
static inline int cnnvp_dram_channel_holds(const struct dram_channel *channel, const struct dram_place *place)
{
    return channel->written[dram_hash(place->bank, place->row, place->column)] && dram_find_write(channel, place);
}

/* 1 if the burst can enter: its queue has room, or a queued write answers it. */
static inline int cnnvp_dram_channel_takes(const struct dram_channel *channel, const struct dram_place *place,
                                           uint32_t write)
{
    return channel->count[write] < channel->capacity || cnnvp_dram_channel_holds(channel, place);
}

enum dram_enter { DRAM_QUEUED, DRAM_FORWARDED, DRAM_MERGED };

/* Enters a burst that can enter, at `clock`, which is not before the channel's present clock. For DRAM_FORWARDED,
 * `done` is the clock at which its data return. */
enum dram_enter cnnvp_dram_channel_enter(struct dram_channel *channel, const struct dram_place *place, uint32_t write,
                                         uint64_t clock, void *owner, uint32_t tag, uint32_t source, uint64_t *done);

/* Clock of the next command (or DRAM_REFRESH_DUE) if no burst enters until then. */
static inline uint64_t cnnvp_dram_channel_next(struct dram_channel *channel)
{
    if (!channel->plan.valid)
        dram_plan_make(channel);
    return channel->plan.clock;
}

/* On a channel with nothing to do up to clock `last`, whose windows nobody looks at: counts all but the last refresh
 * intervals at once, as if their commands had been issued. */
void cnnvp_dram_channel_skip(struct dram_channel *channel, uint64_t last);

/* Counts the low-power time of ranks up to `clock`; everything before `clock` is decided. */
void cnnvp_dram_channel_count_low(struct dram_channel *channel, uint64_t clock);

/* Issues the next command. */
void cnnvp_dram_channel_issue(struct dram_channel *channel, struct dram_issued *issued);

/* Opens a row by an ACT at `clock`, timings only: does not find which bursts hit it. */
void dram_open_bank(struct dram_channel *channel, uint32_t bank, uint32_t row, uint64_t clock);

/* Returns the channel whose next command is the earliest; `clock` is that command's. */
static inline struct dram_channel *dram_first_channel(struct dram_channel *channels, uint32_t count, uint64_t *clock)
{
    struct dram_channel *first = channels;
    *clock = cnnvp_dram_channel_next(first);
    for (uint32_t i = 1; i < count; ++i) {
        const uint64_t next = cnnvp_dram_channel_next(&channels[i]);
        if (next < *clock) {
            *clock = next;
            first = &channels[i];
        }
    }
    return first;
}

static inline int dram_channels_wait(const struct dram_channel *channels, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && !cnnvp_dram_channel_waiting(&channels[i]))
        ++i;
    return i < count;
}

/* Inserts the end of a read into a ring of `count` ends in ascending order, which begins at `first`. */
#define DRAM_OUTSTANDING 1024u /* maximum reads in flight; larger limits are cut to it */
static inline void dram_keep_end(uint64_t *ends, uint32_t first, uint32_t *count, uint64_t end)
{
    uint32_t place = (*count)++;
    for (; place > 0 && ends[(first + place - 1u) % DRAM_OUTSTANDING] > end; --place)
        ends[(first + place) % DRAM_OUTSTANDING] = ends[(first + place - 1u) % DRAM_OUTSTANDING];
    ends[(first + place) % DRAM_OUTSTANDING] = end;
}

void cnnvp_dram_counts_add(struct dram_counts *sum, const struct dram_counts *counts);
