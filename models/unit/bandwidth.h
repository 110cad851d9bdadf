/* SPDX-License-Identifier: Apache-2.0 */
/* Sums events over windows of fixed length, for the bandwidth counters of a trace. Independent of any host. */
#pragma once

#include "cnnvp_model.h"

#define CNNVP_BANDWIDTH_WINDOW_PS UINT64_C(1000000)

/* One counter. It shows, for each window, the sum of the window times `scale`. */
struct cnnvp_bandwidth {
    uint64_t window; /* number of the current window */
    uint64_t sum;    /* sum of the current window so far */
    uint64_t shown;  /* last value reported through `show` */
    uint64_t closed; /* number of the window from which on 0 has been reported; 0: none */
    uint64_t scale;
    uint32_t counter; /* number that is passed to `show` */
    /* called for each change of the counter's value */
    void (*show)(void *context, uint32_t counter, cnnvp_time at, uint64_t value);
    void *context;
};

/* Scale of a counter that sums bytes and shows bytes/s. */
#define CNNVP_BANDWIDTH_SCALE (UINT64_C(1000000000000) / CNNVP_BANDWIDTH_WINDOW_PS)

/* Reports the value of the current window, if it differs from the last one reported. */
static inline void cnnvp_bandwidth_show(struct cnnvp_bandwidth *bandwidth)
{
    const uint64_t value = bandwidth->sum * bandwidth->scale;
    if (value == bandwidth->shown)
        return;
    bandwidth->show(bandwidth->context, bandwidth->counter, bandwidth->window * CNNVP_BANDWIDTH_WINDOW_PS, value);
    bandwidth->shown = value;
}

/* Closes the current window: reports its value, then 0 from its end on. The integral of the counter is then the total
 * number of events. More events may still be added afterwards. */
static inline void cnnvp_bandwidth_end(struct cnnvp_bandwidth *bandwidth)
{
    cnnvp_bandwidth_show(bandwidth);
    if (bandwidth->shown != 0 && bandwidth->closed != bandwidth->window + 1u) {
        bandwidth->closed = bandwidth->window + 1u;
        bandwidth->show(bandwidth->context, bandwidth->counter, bandwidth->closed * CNNVP_BANDWIDTH_WINDOW_PS, 0);
    }
}

/* Begins a window. What was reported of windows that follow the present one, before events were taken back, is
 * corrected. */
static inline void cnnvp_bandwidth_begin(struct cnnvp_bandwidth *bandwidth, uint64_t window)
{
    const uint64_t closed = bandwidth->closed;
    if (closed > bandwidth->window + 1u && closed <= window)
        bandwidth->show(bandwidth->context, bandwidth->counter, (closed - 1u) * CNNVP_BANDWIDTH_WINDOW_PS, 0);
    if (closed > bandwidth->window)
        bandwidth->shown = closed <= window ? 0 : UINT64_MAX;
    bandwidth->window = window;
}

/* End of the window that contains `end`. */
static inline cnnvp_time cnnvp_bandwidth_window_end(cnnvp_time end)
{
    return (end ? (end - 1u) / CNNVP_BANDWIDTH_WINDOW_PS + 1u : 1u) * CNNVP_BANDWIDTH_WINDOW_PS;
}

/* Adds `n` events that ended at `end`. The `end` of a later call may be earlier, by at most one window. */
static inline void cnnvp_bandwidth_add(struct cnnvp_bandwidth *bandwidth, cnnvp_time end, uint64_t n)
{
    const uint64_t window = end ? (end - 1u) / CNNVP_BANDWIDTH_WINDOW_PS : 0;
    if (window > bandwidth->window) {
        cnnvp_bandwidth_show(bandwidth);
        bandwidth->sum = 0;
        if (window > bandwidth->window + 1u) {
            cnnvp_bandwidth_begin(bandwidth, bandwidth->window + 1u);
            cnnvp_bandwidth_show(bandwidth);
        }
        cnnvp_bandwidth_begin(bandwidth, window);
    }
    bandwidth->sum += n;
}

/* As cnnvp_bandwidth_add, for events spread evenly over `begin` .. `end`, which is less than one window. */
static inline void cnnvp_bandwidth_add_from(struct cnnvp_bandwidth *bandwidth, cnnvp_time begin, cnnvp_time end,
                                            uint64_t n)
{
    const cnnvp_time edge = cnnvp_bandwidth_window_end(end) - CNNVP_BANDWIDTH_WINDOW_PS;
    const uint64_t before = begin < edge ? n * (edge - begin) / (end - begin) : 0;
    if (before)
        cnnvp_bandwidth_add(bandwidth, edge, before);
    cnnvp_bandwidth_add(bandwidth, end, n - before);
}
