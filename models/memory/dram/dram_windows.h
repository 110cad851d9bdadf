/* SPDX-License-Identifier: Apache-2.0 */
/* The memory's counters over time (dram.def), the same for the unit and for a replay. Host-free. */
#pragma once

#include "dram_stream.h"
#include "unit/bandwidth.h"

enum { DRAM_WINDOWS = 9 };

struct dram_windows {
    uint64_t tck_ps, burst_ps; /* of a clock; of a burst's data */
    struct cnnvp_bandwidth counters[DRAM_WINDOWS];
    uint64_t (*low)[DRAM_LOWS]; /* ps of ranks in each state, by window from `shown` on; kept here, as a period is known
                                   only at its end */
    uint64_t shown, count, room;
};

/* `show` is called for each change of a counter, with its number. */
void cnnvp_dram_windows_init(struct dram_windows *windows, const struct dram_timing *timing,
                             void (*show)(void *context, uint32_t counter, cnnvp_time at, uint64_t value),
                             void *context);
void cnnvp_dram_windows_command(struct dram_windows *windows, const struct dram_issued *issued);
void cnnvp_dram_windows_columns(struct dram_windows *windows, const struct dram_columns *columns);
/* Counts the row class of a burst at `at`. */
void cnnvp_dram_windows_class(struct dram_windows *windows, const struct dram_issued *issued, cnnvp_time at);
/* Counts a rank's time in a low-power state, from clock `begin` to `end`. */
void cnnvp_dram_windows_low(struct dram_windows *windows, enum dram_low low, uint64_t begin, uint64_t end);
/* Counts the data, up to `at`, of bursts that are in no queue. */
void cnnvp_dram_windows_data(struct dram_windows *windows, cnnvp_time at, uint64_t bursts);
void cnnvp_dram_windows_end(struct dram_windows *windows);
void cnnvp_dram_windows_fini(struct dram_windows *windows);
