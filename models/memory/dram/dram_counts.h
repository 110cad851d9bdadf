/* SPDX-License-Identifier: Apache-2.0 */
/* What the statistics (dram.def) have of counts: of the unit and of a replay the same. Host-free. */
#ifndef CNNVP_DRAM_COUNTS_H
#define CNNVP_DRAM_COUNTS_H

#include "dram_state.h"

/* What is complete. */
struct dram_traffic {
    uint64_t requests, waited;                /* waited: ps */
    uint64_t bytes[2], bursts[2], latency[2]; /* [write]; latency: ps */
};

/* What commands have done for bursts. */
struct dram_served {
    uint64_t hits, misses, conflicts; /* by what the first command found */
    uint64_t carried[2];              /* by the data bus, [write] */
};

static inline void cnnvp_dram_traffic_add(struct dram_traffic *sum, const struct dram_traffic *more)
{
    sum->requests += more->requests;
    sum->waited += more->waited;
    for (uint32_t write = 0; write < 2; ++write) {
        sum->bytes[write] += more->bytes[write];
        sum->bursts[write] += more->bursts[write];
        sum->latency[write] += more->latency[write];
    }
}

static inline void dram_served_classify(struct dram_served *sum, const struct dram_issued *issued)
{
    sum->hits += issued->row_class == DRAM_HIT;
    sum->misses += issued->row_class == DRAM_MISS;
    sum->conflicts += issued->row_class == DRAM_CONFLICT;
}

/* Told of each statistic that is not 0. */
struct dram_counter {
    void (*count)(void *context, uint32_t stat, uint64_t n);
    void *context;
};

void cnnvp_dram_count(const struct dram_counter *counter, uint32_t stat, uint64_t n);
void cnnvp_dram_count_traffic(const struct dram_counter *counter, const struct dram_traffic *traffic);
void cnnvp_dram_count_served(const struct dram_counter *counter, const struct dram_served *served);
/* All of the channels' counts but those above, since they were `old`. */
void cnnvp_dram_count_channels(const struct dram_counter *counter, const struct dram_counts *old,
                               const struct dram_counts *now, const struct dram_timing *timing);
/* Of all ranks' time up to `ps`, what is none of low power, and more than `counted`, which is brought up to it. */
void cnnvp_dram_count_standby(const struct dram_counter *counter, const struct dram_counts *counts,
                              const struct dram_options *options, const struct dram_timing *timing, uint64_t ps,
                              uint64_t *counted);
/* What the data buses carry at most, which is no sum: once. */
void cnnvp_dram_count_peak(const struct dram_counter *counter, const struct dram_options *options,
                           const struct dram_timing *timing);

#endif
