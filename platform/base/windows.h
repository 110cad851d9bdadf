/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over windows of time. */
#pragma once

#include <stdint.h>

/* Makes the windows `factor` times as wide. Returns the new number of windows. */
static inline uint32_t cnnvp_windows_widen(uint64_t *windows, uint32_t count, uint32_t factor)
{
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t sum = windows[i];

        windows[i] = 0;
        windows[i / factor] += sum;
    }
    return (count + factor - 1) / factor;
}

/* Spreads bytes that move evenly from `begin` to `end` (later than begin) over the windows: calls `add` with the share
 * of each. Shares are differences of rounded-down running sums, so they add up exactly. */
static inline void cnnvp_windows_spread(uint64_t width, uint64_t begin, uint64_t end, uint64_t bytes,
                                        void (*add)(void *context, uint64_t window, uint64_t bytes), void *context)
{
    const uint64_t last = (end - 1) / width;
    const uint64_t unit = ((end - begin) >> 31) + 1; /* unit of time, chosen so that products fit into 64 bits */
    const uint64_t length = (end - begin) / unit;
    uint64_t done = 0;

    for (uint64_t i = begin / width; i < last; ++i) {
        const uint64_t part = ((i + 1) * width - begin) / unit;
        const uint64_t sum = bytes / length * part + bytes % length * part / length;

        add(context, i, sum - done);
        done = sum;
    }
    add(context, last, bytes - done);
}
