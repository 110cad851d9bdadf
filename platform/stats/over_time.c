/* SPDX-License-Identifier: Apache-2.0 */
#include "over_time.h"

#include "windows.h"

static void widen(struct cnnvp_over_time *over)
{
    (void)cnnvp_windows_widen(over->read_bytes, CNNVP_OVER_TIME_WINDOWS, 2);
    (void)cnnvp_windows_widen(over->write_bytes, CNNVP_OVER_TIME_WINDOWS, 2);
    over->count = (over->count + 1) / 2;
    over->window_ps *= 2;
}

static void add(void *windows, uint64_t window, uint64_t bytes)
{
    ((uint64_t *)windows)[window] += bytes;
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
    cnnvp_windows_spread(over->window_ps, begin, end, read_bytes, add, over->read_bytes);
    cnnvp_windows_spread(over->window_ps, begin, end, write_bytes, add, over->write_bytes);
}
