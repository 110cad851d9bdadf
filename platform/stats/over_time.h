/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in windows of time: few enough for statistics, and exact sums. Host-free. */
#ifndef CNNVP_OVER_TIME_H
#define CNNVP_OVER_TIME_H

#include <stdint.h>

#include "cnnvp_model.h"

#define CNNVP_OVER_TIME_WINDOWS 256u
/* Of a new one; each time that they do not suffice, windows become twice as wide. */
#define CNNVP_OVER_TIME_PS UINT64_C(1000000)

struct cnnvp_over_time {
    uint64_t window_ps;
    uint32_t count; /* of windows up to the last one with bytes */
    uint64_t read_bytes[CNNVP_OVER_TIME_WINDOWS];
    uint64_t write_bytes[CNNVP_OVER_TIME_WINDOWS];
};

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that moved from `begin` to `end`, spread evenly. */
void cnnvp_over_time_add(struct cnnvp_over_time *over, cnnvp_time begin, cnnvp_time end, uint64_t read_bytes,
                         uint64_t write_bytes);

#ifdef __cplusplus
}
#endif

#endif
