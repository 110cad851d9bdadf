/* SPDX-License-Identifier: Apache-2.0 */
/* The memory's counters over time (dram.def): of the unit and of a replay the same. Host-free. */
#ifndef CNNVP_DRAM_WINDOWS_H
#define CNNVP_DRAM_WINDOWS_H

#include "dram_stream.h"
#include "unit/bandwidth.h"

enum { DRAM_WINDOWS = 9 };

struct dram_windows {
    uint64_t tck_ps, burst_ps; /* of a clock, of a burst's data */
    struct cnnvp_bandwidth counters[DRAM_WINDOWS];
    uint64_t (*low)[DRAM_LOWS]; /* ps of ranks in each window from `shown` on: how long it was is known at its end */
    uint64_t shown, count, room;
};

/* `show` is told of each change of a counter, by its number. */
void cnnvp_dram_windows_init(struct dram_windows *windows, const struct dram_timing *timing,
                             void (*show)(void *context, uint32_t counter, cnnvp_time at, uint64_t value),
                             void *context);
void cnnvp_dram_windows_command(struct dram_windows *windows, const struct dram_issued *issued);
void cnnvp_dram_windows_columns(struct dram_windows *windows, const struct dram_columns *columns);
/* A burst that waits is classified, at `at`. */
void cnnvp_dram_windows_class(struct dram_windows *windows, const struct dram_issued *issued, cnnvp_time at);
/* A rank has been in a state from clock `begin` to `end`. */
void cnnvp_dram_windows_low(struct dram_windows *windows, enum dram_low low, uint64_t begin, uint64_t end);
/* Of bursts that are in no queue, data up to `at`. */
void cnnvp_dram_windows_data(struct dram_windows *windows, cnnvp_time at, uint64_t bursts);
void cnnvp_dram_windows_end(struct dram_windows *windows);
void cnnvp_dram_windows_fini(struct dram_windows *windows);

#endif
