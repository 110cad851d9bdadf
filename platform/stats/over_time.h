/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes over time, in a fixed number of windows for the statistics. Sums are exact. Independent of the simulation
 * kernel. */
#pragma once

#include <stdint.h>

#include "cnnvp_model.h"

#define CNNVP_OVER_TIME_WINDOWS 256u
/* Initial window size in ps; windows double in width whenever there are too few. */
#define CNNVP_OVER_TIME_PS UINT64_C(1000000)

struct cnnvp_over_time {
    uint64_t window_ps;
    uint32_t count; /* number of windows up to the last one with bytes */
    uint64_t read_bytes[CNNVP_OVER_TIME_WINDOWS];
    uint64_t write_bytes[CNNVP_OVER_TIME_WINDOWS];
};

/* Adds bytes that moved from `begin` to `end`, spread evenly. */
void cnnvp_over_time_add(struct cnnvp_over_time *over, cnnvp_time begin, cnnvp_time end, uint64_t read_bytes,
                         uint64_t write_bytes);
