/* SPDX-License-Identifier: Apache-2.0 */
/* See dram_counts.h. */
#include "dram_counts.h"

#define UNIT_DEF "memory/dram/dram.def"
#include "unit/unit_enums.inc"

void cnnvp_dram_count(const struct dram_counter *counter, uint32_t stat, uint64_t n)
{
    if (n)
        counter->count(counter->context, stat, n);
}

void cnnvp_dram_count_traffic(const struct dram_counter *counter, const struct dram_traffic *traffic)
{
    const uint64_t bursts = traffic->bursts[0] + traffic->bursts[1];
    cnnvp_dram_count(counter, STAT_requests, traffic->requests);
    cnnvp_dram_count(counter, STAT_wait_ps, traffic->waited);
    cnnvp_dram_count(counter, STAT_read_bytes, traffic->bytes[0]);
    cnnvp_dram_count(counter, STAT_write_bytes, traffic->bytes[1]);
    cnnvp_dram_count(counter, STAT_bursts, bursts);
    cnnvp_dram_count(counter, STAT_burst_bytes, bursts * DRAM_BURST_BYTES);
    cnnvp_dram_count(counter, STAT_reads, traffic->bursts[0]);
    cnnvp_dram_count(counter, STAT_writes, traffic->bursts[1]);
    cnnvp_dram_count(counter, STAT_read_latency_ps, traffic->latency[0]);
    cnnvp_dram_count(counter, STAT_write_latency_ps, traffic->latency[1]);
    cnnvp_dram_count(counter, STAT_row_hits, traffic->hits);
    cnnvp_dram_count(counter, STAT_row_misses, traffic->misses);
    cnnvp_dram_count(counter, STAT_row_conflicts, traffic->conflicts);
    cnnvp_dram_count(counter, STAT_bus_read_bytes, traffic->carried[0] * DRAM_BURST_BYTES);
    cnnvp_dram_count(counter, STAT_bus_write_bytes, traffic->carried[1] * DRAM_BURST_BYTES);
}

void cnnvp_dram_count_channels(const struct dram_counter *counter, const struct dram_counts *old,
                               const struct dram_counts *now, const struct dram_timing *timing)
{
    cnnvp_dram_count(counter, STAT_forwarded, now->forwarded - old->forwarded);
    cnnvp_dram_count(counter, STAT_merged, now->merged - old->merged);
    cnnvp_dram_count(counter, STAT_activates, now->commands[DRAM_ACT] - old->commands[DRAM_ACT]);
    cnnvp_dram_count(counter, STAT_precharges, now->precharges - old->precharges);
    cnnvp_dram_count(counter, STAT_refreshes, now->commands[DRAM_REF] - old->commands[DRAM_REF]);
    cnnvp_dram_count(counter, STAT_turnarounds, now->turnarounds - old->turnarounds);
    cnnvp_dram_count(counter, STAT_data_clocks, now->data_clocks - old->data_clocks);
    cnnvp_dram_count(counter, STAT_idle_clocks, now->idle_clocks - old->idle_clocks);
    cnnvp_dram_count(counter, STAT_refresh_clocks, now->refresh_clocks - old->refresh_clocks);
    cnnvp_dram_count(counter, STAT_turnaround_clocks, now->turnaround_clocks - old->turnaround_clocks);
    cnnvp_dram_count(counter, STAT_row_clocks, now->row_clocks - old->row_clocks);
    cnnvp_dram_count(counter, STAT_read_queue_clocks, now->queue_clocks[0] - old->queue_clocks[0]);
    cnnvp_dram_count(counter, STAT_write_queue_clocks, now->queue_clocks[1] - old->queue_clocks[1]);
    for (uint32_t i = 0; i < DRAM_LOWS; ++i)
        cnnvp_dram_count(counter, STAT_active_power_down_ps + i,
                         (now->low_clocks[i] - old->low_clocks[i]) * timing->tck_ps);
    cnnvp_dram_count(counter, STAT_power_downs, now->power_downs - old->power_downs);
    cnnvp_dram_count(counter, STAT_self_refreshes, now->commands[DRAM_SRE] - old->commands[DRAM_SRE]);
}

void cnnvp_dram_count_standby(const struct dram_counter *counter, const struct dram_counts *counts,
                              const struct dram_options *options, const struct dram_timing *timing, uint64_t ps,
                              uint64_t *counted)
{
    uint64_t others = *counted;
    for (uint32_t i = 0; i < DRAM_LOWS; ++i)
        others += counts->low_clocks[i] * timing->tck_ps;
    const uint64_t all = ps * cnnvp_dram_ranks(options), more = all > others ? all - others : 0;
    *counted += more; /* 0 if the channels are decided further than `ps` */
    cnnvp_dram_count(counter, STAT_standby_ps, more);
}

void cnnvp_dram_count_peak(const struct dram_counter *counter, const struct dram_options *options,
                           const struct dram_timing *timing)
{
    cnnvp_dram_count(counter, STAT_bus_bytes_per_s, cnnvp_dram_bytes_per_s(options, timing));
}
