/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a DDR4-2400, as the parameters' defaults have them. */
#ifndef CNNVP_TESTS_DRAM_OPTIONS_H
#define CNNVP_TESTS_DRAM_OPTIONS_H

#include "memory/dram/dram_timing.h"

static inline void cnnvp_dram_options_init(struct dram_options *options)
{
    *options = (struct dram_options){
        .preset = 1,
        .channels = 1,
        .pseudo_channels = 1,
        .ranks = 1,
        .queue = 32,
        .drain_high = 80,
        .drain_low = 20,
        .turn = 4096};
}

#endif
