/* SPDX-License-Identifier: Apache-2.0 */
/* What happens in windows of a fixed length, as a memory's counters over time show it. Free of any host. */
#ifndef CNNVP_BANDWIDTH_H
#define CNNVP_BANDWIDTH_H

#include "cnnvp_model.h"

#define CNNVP_BANDWIDTH_WINDOW_PS UINT64_C(1000000)

/* One counter: a sum for each window, shown times `scale`. */
struct cnnvp_bandwidth {
    uint64_t window; /* number of the one that is being filled */
    uint64_t sum;    /* in it so far */
    uint64_t shown;  /* the counter's value */
    uint64_t scale;
    uint32_t counter; /* the caller's own */
    /* told of each change of the counter */
    void (*show)(void *context, uint32_t counter, cnnvp_time at, uint64_t value);
    void *context;
};

/* Scale of a counter of bytes that is shown in bytes/s. */
#define CNNVP_BANDWIDTH_SCALE (UINT64_C(1000000000000) / CNNVP_BANDWIDTH_WINDOW_PS)

/* Shows the window that is being filled. */
static inline void cnnvp_bandwidth_show(struct cnnvp_bandwidth *bandwidth)
{
    const uint64_t value = bandwidth->sum * bandwidth->scale;
    if (value == bandwidth->shown)
        return;
    bandwidth->show(bandwidth->context, bandwidth->counter, bandwidth->window * CNNVP_BANDWIDTH_WINDOW_PS, value);
    bandwidth->shown = value;
}

/* Nothing more happens in the window that is being filled, or nothing is known of more: it is shown, then 0 from its
 * end on, so that the counter's integral is what has happened. More may be added even so. */
static inline void cnnvp_bandwidth_end(struct cnnvp_bandwidth *bandwidth)
{
    cnnvp_bandwidth_show(bandwidth);
    if (bandwidth->shown != 0)
        bandwidth->show(bandwidth->context, bandwidth->counter, (bandwidth->window + 1u) * CNNVP_BANDWIDTH_WINDOW_PS,
                        0);
    bandwidth->shown = 0;
}

/* Time of the end of the window in which `end` lies. */
static inline cnnvp_time cnnvp_bandwidth_window_end(cnnvp_time end)
{
    return (end ? (end - 1u) / CNNVP_BANDWIDTH_WINDOW_PS + 1u : 1u) * CNNVP_BANDWIDTH_WINDOW_PS;
}

/* So much has happened up to `end`, which no later call is before by more than a window. */
static inline void cnnvp_bandwidth_add(struct cnnvp_bandwidth *bandwidth, cnnvp_time end, uint64_t n)
{
    const uint64_t window = end ? (end - 1u) / CNNVP_BANDWIDTH_WINDOW_PS : 0;
    if (window > bandwidth->window) {
        cnnvp_bandwidth_show(bandwidth);
        bandwidth->sum = 0;
        if (window > bandwidth->window + 1u) {
            ++bandwidth->window;
            cnnvp_bandwidth_show(bandwidth);
        }
        bandwidth->window = window;
    }
    bandwidth->sum += n;
}

/* The same, for what goes on evenly from `begin`, which is less than a window before `end`. */
static inline void cnnvp_bandwidth_add_from(struct cnnvp_bandwidth *bandwidth, cnnvp_time begin, cnnvp_time end,
                                            uint64_t n)
{
    const cnnvp_time edge = cnnvp_bandwidth_window_end(end) - CNNVP_BANDWIDTH_WINDOW_PS;
    const uint64_t before = begin < edge ? n * (edge - begin) / (end - begin) : 0;
    if (before)
        cnnvp_bandwidth_add(bandwidth, edge, before);
    cnnvp_bandwidth_add(bandwidth, end, n - before);
}

#endif
