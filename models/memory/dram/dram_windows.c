/* SPDX-License-Identifier: Apache-2.0 */
/* See dram_windows.h. */
#include "dram_windows.h"

#include <stdlib.h>
#include <string.h>

#define UNIT_DEF "memory/dram/dram.def"
#include "unit/unit_enums.inc"

_Static_assert((int)COUNTER_COUNT == (int)DRAM_WINDOWS, "a counter of dram.def has no windows");

void cnnvp_dram_windows_init(struct dram_windows *windows, const struct dram_timing *timing,
                             void (*show)(void *context, uint32_t counter, cnnvp_time at, uint64_t value),
                             void *context)
{
    *windows = (struct dram_windows){.tck_ps = timing->tck_ps, .burst_ps = timing->t[DRAM_T_bl] * timing->tck_ps};
    for (uint32_t i = 0; i < DRAM_WINDOWS; ++i)
        windows->counters[i] = (struct cnnvp_bandwidth){
            .scale = i == COUNTER_bandwidth ? CNNVP_BANDWIDTH_SCALE : 1,
            .counter = i,
            .show = show,
            .context = context};
}

void cnnvp_dram_windows_class(struct dram_windows *windows, const struct dram_issued *issued, cnnvp_time at)
{
    static const uint32_t counters[] = {
        [DRAM_HIT] = COUNTER_row_hits, [DRAM_MISS] = COUNTER_row_misses, [DRAM_CONFLICT] = COUNTER_row_conflicts};
    if (issued->row_class != DRAM_UNCLASSIFIED)
        cnnvp_bandwidth_add(&windows->counters[counters[issued->row_class]], at, 1);
}

/* Counts the data of this many bursts: those of the first end at `done`, the others in the same window. */
static inline void carry(struct dram_windows *windows, cnnvp_time done, uint64_t bursts)
{
    struct cnnvp_bandwidth *bandwidth = &windows->counters[COUNTER_bandwidth];
    cnnvp_bandwidth_add_from(bandwidth, done - windows->burst_ps, done, DRAM_BURST_BYTES);
    if (bursts > 1)
        cnnvp_bandwidth_add(bandwidth, done, (bursts - 1u) * DRAM_BURST_BYTES);
}

void cnnvp_dram_windows_command(struct dram_windows *windows, const struct dram_issued *issued)
{
    const cnnvp_time at = issued->clock * windows->tck_ps;
    cnnvp_dram_windows_class(windows, issued, at);
    if (cnnvp_dram_is_column(issued->command)) {
        carry(windows, issued->done * windows->tck_ps, 1);
        if (issued->turned)
            cnnvp_bandwidth_add(&windows->counters[COUNTER_turnarounds], at, 1);
    } else if (issued->command == DRAM_REF) {
        cnnvp_bandwidth_add(&windows->counters[COUNTER_refreshes], at, 1);
    }
}

void cnnvp_dram_windows_columns(struct dram_windows *windows, const struct dram_columns *columns)
{
    const cnnvp_time at = columns->clock * windows->tck_ps;
    if (columns->turned)
        cnnvp_bandwidth_add(&windows->counters[COUNTER_turnarounds], at, 1);
    if (columns->hits)
        cnnvp_bandwidth_add(&windows->counters[COUNTER_row_hits], at, columns->hits);
    carry(windows, columns->done * windows->tck_ps, columns->bursts);
}

void cnnvp_dram_windows_data(struct dram_windows *windows, cnnvp_time at, uint64_t bursts)
{
    cnnvp_bandwidth_add(&windows->counters[COUNTER_bandwidth], at, bursts * DRAM_BURST_BYTES);
}

/* Makes room for windows up to number `last`; returns 0 if out of memory. */
static int reach(struct dram_windows *windows, uint64_t last)
{
    const uint64_t count = last - windows->shown + 1u;
    if (count > windows->room) {
        const uint64_t room = cnnvp_maximum(count, 2u * windows->room + 64u);
        uint64_t(*low)[DRAM_LOWS] = realloc(windows->low, room * sizeof *low);
        if (low == NULL)
            return 0;
        windows->low = low;
        windows->room = room;
    }
    if (count > windows->count) {
        memset(windows->low + windows->count, 0, (count - windows->count) * sizeof *windows->low);
        windows->count = count;
    }
    return 1;
}

void cnnvp_dram_windows_low(struct dram_windows *windows, enum dram_low low, uint64_t begin, uint64_t end)
{
    cnnvp_time next = 0;
    for (cnnvp_time at = begin * windows->tck_ps; at < end * windows->tck_ps; at = next) {
        const uint64_t window = cnnvp_maximum(at / CNNVP_BANDWIDTH_WINDOW_PS, windows->shown);
        next = cnnvp_minimum((window + 1u) * CNNVP_BANDWIDTH_WINDOW_PS, end * windows->tck_ps);
        if (!reach(windows, window))
            return; /* out of memory: the trace lacks this time */
        windows->low[window - windows->shown][low] += next - at;
    }
}

void cnnvp_dram_windows_end(struct dram_windows *windows)
{
    for (uint64_t i = 0; i < windows->count; ++i)
        for (uint32_t low = 0; low < DRAM_LOWS; ++low)
            cnnvp_bandwidth_add(&windows->counters[COUNTER_active_power_down + low],
                                (windows->shown + i + 1u) * CNNVP_BANDWIDTH_WINDOW_PS, windows->low[i][low]);
    windows->shown += windows->count ? windows->count - 1u : 0; /* the last window may get more */
    windows->count = 0;
    for (uint32_t i = 0; i < DRAM_WINDOWS; ++i)
        cnnvp_bandwidth_end(&windows->counters[i]);
}

void cnnvp_dram_windows_fini(struct dram_windows *windows)
{
    free(windows->low);
    windows->low = NULL;
}
