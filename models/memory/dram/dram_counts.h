/* SPDX-License-Identifier: Apache-2.0 */
/* Turns counts into the statistics of dram.def, in the same way for the unit and for a replay. Host-free. */
#pragma once

#include "dram_state.h"

/* What requests and their bursts add up to. [write]: reads, then writes. */
struct dram_traffic {
    uint64_t requests, waited;                /* waited: ps */
    uint64_t bytes[2], bursts[2], latency[2]; /* of completed requests and accesses; latency: ps */
    uint64_t hits, misses, conflicts;         /* bursts by the row state that their first command found */
    uint64_t carried[2];                      /* bursts on the data bus */
};

static inline void cnnvp_dram_traffic_add(struct dram_traffic *sum, const struct dram_traffic *more)
{
    sum->requests += more->requests;
    sum->waited += more->waited;
    for (uint32_t write = 0; write < 2; ++write) {
        sum->bytes[write] += more->bytes[write];
        sum->bursts[write] += more->bursts[write];
        sum->latency[write] += more->latency[write];
        sum->carried[write] += more->carried[write];
    }
}

/* Adds `n` of the command's row class, modulo 2^64. */
static inline void dram_traffic_classify(struct dram_traffic *sum, const struct dram_issued *issued, uint64_t n)
{
    sum->hits += issued->row_class == DRAM_HIT ? n : 0;
    sum->misses += issued->row_class == DRAM_MISS ? n : 0;
    sum->conflicts += issued->row_class == DRAM_CONFLICT ? n : 0;
}

/* Called for each statistic that is not 0. */
struct dram_counter {
    void (*count)(void *context, uint32_t stat, uint64_t n);
    void *context;
};

void cnnvp_dram_count(const struct dram_counter *counter, uint32_t stat, uint64_t n);
void cnnvp_dram_count_traffic(const struct dram_counter *counter, const struct dram_traffic *traffic);
/* Reports the other counts of the channels: `now` minus `old`. */
void cnnvp_dram_count_channels(const struct dram_counter *counter, const struct dram_counts *old,
                               const struct dram_counts *now, const struct dram_timing *timing);
/* Reports the standby time of all ranks up to `ps`, without the `counted` ps that were reported before, and updates
 * `counted`. */
void cnnvp_dram_count_standby(const struct dram_counter *counter, const struct dram_counts *counts,
                              const struct dram_options *options, const struct dram_timing *timing, uint64_t ps,
                              uint64_t *counted);
/* Reports the peak rate of the data buses. It is not a sum, so call this once. */
void cnnvp_dram_count_peak(const struct dram_counter *counter, const struct dram_options *options,
                           const struct dram_timing *timing);
