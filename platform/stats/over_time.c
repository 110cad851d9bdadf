/* SPDX-License-Identifier: Apache-2.0 */
#include "over_time.h"

static void widen(struct cnnvp_over_time *over)
{
    for (uint32_t i = 0; i < CNNVP_OVER_TIME_WINDOWS; ++i) {
        const uint64_t read_bytes = over->read_bytes[i], write_bytes = over->write_bytes[i];

        over->read_bytes[i] = over->write_bytes[i] = 0;
        over->read_bytes[i / 2] += read_bytes;
        over->write_bytes[i / 2] += write_bytes;
    }
    over->count = (over->count + 1) / 2;
    over->window_ps *= 2;
}

/* Shares are differences of rounded-down running sums. */
static void spread(uint64_t *windows, uint64_t width, cnnvp_time begin, cnnvp_time end, uint64_t bytes)
{
    const uint64_t last = (end - 1) / width;
    const uint64_t unit = ((end - begin) >> 31) + 1; /* of time, so that products fit into 64 bits */
    const uint64_t length = (end - begin) / unit;
    uint64_t done = 0;

    for (uint64_t i = begin / width; i < last; ++i) {
        const uint64_t part = ((i + 1) * width - begin) / unit;
        const uint64_t sum = bytes / length * part + bytes % length * part / length;

        windows[i] += sum - done;
        done = sum;
    }
    windows[last] += bytes - done;
}

void cnnvp_over_time_add(struct cnnvp_over_time *over, cnnvp_time begin, cnnvp_time end, uint64_t read_bytes,
                         uint64_t write_bytes)
{
    if (end <= begin)
        end = begin + 1;
    if (over->window_ps == 0)
        over->window_ps = CNNVP_OVER_TIME_PS;
    while ((end - 1) / over->window_ps >= CNNVP_OVER_TIME_WINDOWS)
        widen(over);
    if ((end - 1) / over->window_ps >= over->count)
        over->count = (uint32_t)((end - 1) / over->window_ps) + 1;
    spread(over->read_bytes, over->window_ps, begin, end, read_bytes);
    spread(over->write_bytes, over->window_ps, begin, end, write_bytes);
}
