/* SPDX-License-Identifier: Apache-2.0 */
/* Shape of the systolic array and cost of a command (systolic_cost.c). Independent of any host. */
#pragma once

#include "cnnvp_fx16.h"

/* In the order of the parameters' choices. */
enum cnnvp_systolic_dataflow { CNNVP_SYSTOLIC_WS, CNNVP_SYSTOLIC_OS, CNNVP_SYSTOLIC_IS };
enum cnnvp_systolic_folds { CNNVP_SYSTOLIC_SINGLE, CNNVP_SYSTOLIC_DOUBLE, CNNVP_SYSTOLIC_PIPELINED };

struct cnnvp_systolic_shape {
    uint32_t rows, cols;
    uint32_t dataflow;  /* enum cnnvp_systolic_dataflow */
    uint32_t folds;     /* enum cnnvp_systolic_folds */
    uint32_t pipeline;  /* stages below the columns */
    uint32_t sum_words; /* 16-bit words of a sum */
    uint64_t depth;     /* sums that the accumulators of a column hold, 1 or more */
    bool one_at_a_time; /* accumulators either read or write in a cycle */
};

void cnnvp_systolic_cost(const struct cnnvp_systolic_shape *shape, const struct cnnvp_fx16_tile *tile,
                         struct cnnvp_fx16_cost *cost, struct cnnvp_fx16_traffic *traffic);

/* True for a depthwise convolution with a channel in each column, where every PE reads its own word. */
static inline bool cnnvp_systolic_apart(const struct cnnvp_systolic_shape *shape, const struct cnnvp_fx16_tile *tile)
{
    return tile->per_channel && shape->dataflow != CNNVP_SYSTOLIC_IS;
}
