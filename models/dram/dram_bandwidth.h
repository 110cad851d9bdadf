/* SPDX-License-Identifier: Apache-2.0 */
/* Data on the bus in windows of a fixed length, as a counter over time shows them. Host-free. */
#ifndef CNNVP_DRAM_BANDWIDTH_H
#define CNNVP_DRAM_BANDWIDTH_H

#include "dram_timing.h"

#define DRAM_WINDOW_PS UINT64_C(1000000)

struct dram_bandwidth {
    uint64_t window; /* number of the one that is being filled */
    uint64_t bytes;  /* in it so far */
    /* told of each change of the counter: when, bytes a second */
    void (*show)(void *context, cnnvp_time at, uint64_t value);
    void *context;
};

/* Shows the window that is being filled. */
static inline void cnnvp_dram_bandwidth_show(const struct dram_bandwidth *bandwidth)
{
    if (bandwidth->bytes)
        bandwidth->show(bandwidth->context, bandwidth->window * DRAM_WINDOW_PS,
                        bandwidth->bytes * (UINT64_C(1000000000000) / DRAM_WINDOW_PS));
}

/* The last of so many bytes is on the bus at `end`. */
static inline void cnnvp_dram_bandwidth_add(struct dram_bandwidth *bandwidth, cnnvp_time end, uint64_t bytes)
{
    const uint64_t window = end ? (end - 1u) / DRAM_WINDOW_PS : 0;
    if (window > bandwidth->window) {
        cnnvp_dram_bandwidth_show(bandwidth);
        bandwidth->bytes = 0;
        if (window > bandwidth->window + 1u)
            bandwidth->show(bandwidth->context, (bandwidth->window + 1u) * DRAM_WINDOW_PS, 0);
        bandwidth->window = window;
    }
    bandwidth->bytes += bytes;
}

static inline void cnnvp_dram_bandwidth_burst(struct dram_bandwidth *bandwidth, cnnvp_time end)
{
    cnnvp_dram_bandwidth_add(bandwidth, end, DRAM_BURST_BYTES);
}

#endif
