/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One DRAM channel and its controller, command by command. Host-free.
 *
 * Modelled: banks with their row buffers; ACT, PRE, PRE of all banks, RD, WR (also with precharge) and REF, one at a
 * time on a command bus, for as many clocks as the part's take, each as early as its standard's timings allow
 * (dram.def); where ACT, PRE and REF have a bus of their own (HBM), an RD or WR and one of these can issue at one
 * clock, that of the data first; where a channel has two pseudo channels, these share its command buses and queues, and
 * have banks, data and refreshes of their own; where an ACT is two commands (LPDDR5), the second goes when no other
 * can, before the next ACT, and at the latest when it must; where WCK has stopped (LPDDR5), a CAS goes a clock before
 * an RD or WR; read and write queues; the controller that the published simulator Ramulator 2.1 describes: a burst that
 * has opened its row goes first, then a refresh that is due (while one waits, nothing else begins), then the queue that
 * is served, of it the oldest burst whose next command can issue. A row is not closed under a burst that has opened it:
 * bursts that want another row of its bank are passed over. Writes are served while no read waits, or from when their
 * queue is fuller than `drain_high` until it is less full than `drain_low`. That simulator has no more of it, and a
 * writer without an end stops all reads; here 4096 writes while reads wait are followed by as many reads. A burst whose
 * write waits in the write queue is answered there, also where its queue is full: a read gets the data, a write takes
 * the other's place. Read data return in the order in which their commands issued or they were answered. A rank without
 * work is powered down or refreshes itself (dram_low.c), by policy. Not modelled:
 * per-bank refresh, calibration.
 *
 * Time is clocks, the first is 1. A burst that enters at clock n can issue its first command at n. Nothing is computed
 * clock by clock: the next command is planned, and planned again when a burst enters before it.
 */
#ifndef CNNVP_DRAM_CHANNEL_H
#define CNNVP_DRAM_CHANNEL_H

#include "dram_state.h"

/* ---- which command is next, and when: dram_plan.c ---- */

void dram_plan_make(struct dram_channel *channel);

/* Takes what was planned for the clocks before `clock` as decided, and makes the plan anew when it is asked for. */
void dram_plan_pass(struct dram_channel *channel, uint64_t clock);

/* A burst has entered at `clock`; `behind`: others of its bank go before it. The next command stays what it is where
 * that burst neither can be it nor changes which queue is served. */
void dram_plan_enter(struct dram_channel *channel, uint64_t clock, int behind);

/* ---- the channel ---- */

/* All banks closed at `clock`, queues empty, counts 0. */
void cnnvp_dram_channel_init(struct dram_channel *channel, const struct dram_options *options,
                             const struct dram_timing *timing, uint64_t clock);

/* 1 if a write of this burst waits in the write queue. */
int cnnvp_dram_channel_holds(const struct dram_channel *channel, const struct dram_place *place);

/* 1 if a burst can enter. */
static inline int cnnvp_dram_channel_takes(const struct dram_channel *channel, const struct dram_place *place,
                                           uint32_t write)
{
    return channel->count[write] < channel->capacity || cnnvp_dram_channel_holds(channel, place);
}

enum dram_enter { DRAM_QUEUED, DRAM_FORWARDED, DRAM_MERGED };

/* A burst that can enter does so at `clock`, not before the present one. For DRAM_FORWARDED `done` is when its data
 * return. */
enum dram_enter cnnvp_dram_channel_enter(struct dram_channel *channel, const struct dram_place *place, uint32_t write,
                                         uint64_t clock, void *owner, uint32_t tag, uint32_t source, uint64_t *done);

/* Clock of the next command (or DRAM_REFRESH_DUE) if nothing enters up to then. */
static inline uint64_t cnnvp_dram_channel_next(struct dram_channel *channel)
{
    if (!channel->plan.valid)
        dram_plan_make(channel);
    return channel->plan.clock;
}

/* Counts ranks whose CKE is low at `clock` as low up to then; everything before it is decided. */
void cnnvp_dram_channel_count_low(struct dram_channel *channel, uint64_t clock);

/* Issues it. */
void cnnvp_dram_channel_issue(struct dram_channel *channel, struct dram_issued *issued);

/* The row is open for the timings of an ACT at `clock`; which bursts hit it is not looked at. */
void dram_open_bank(struct dram_channel *channel, uint32_t bank, uint32_t row, uint64_t clock);

/* Of several channels, that whose next command is the earliest. */
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

/* The end of a read is known: it goes among `count` others of a ring, which are in order. */
#define DRAM_OUTSTANDING 1024u /* more on their way than this is never used */
static inline void dram_keep_end(uint64_t *ends, uint32_t first, uint32_t *count, uint64_t end)
{
    uint32_t place = (*count)++;
    for (; place > 0 && ends[(first + place - 1u) % DRAM_OUTSTANDING] > end; --place)
        ends[(first + place) % DRAM_OUTSTANDING] = ends[(first + place - 1u) % DRAM_OUTSTANDING];
    ends[(first + place) % DRAM_OUTSTANDING] = end;
}

void cnnvp_dram_counts_add(struct dram_counts *sum, const struct dram_counts *counts);

#endif
