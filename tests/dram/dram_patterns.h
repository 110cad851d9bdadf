/* SPDX-License-Identifier: Apache-2.0 */
/* The burst patterns of the reference figures: burst i of a pattern. */
#ifndef DRAM_PATTERNS_H
#define DRAM_PATTERNS_H

#include "dram/dram_replay.h"

enum dram_pattern {
    SEQ_READ,
    SEQ_WRITE,
    COPY,
    READ2_WRITE1,
    RANDOM_READ,
    RANDOM_70_30,
    STRIDE_8K,
    STRIDE_128K,
    TILE_4X1K,
    BLOCK_COPY_4K,
    DRAM_PATTERNS
};

struct dram_pattern_burst {
    uint32_t write;
    uint64_t address;
};

/* `random` is the state of the random patterns. */
struct dram_pattern_burst dram_pattern_burst(enum dram_pattern pattern, uint64_t i, uint64_t *random);

/* Replays `bursts` of a pattern; the options have been checked. */
void dram_pattern_replay(const struct dram_options *options, enum dram_pattern pattern, uint64_t bursts,
                         uint32_t outstanding, uint64_t seed, struct dram_replay_result *result, uint32_t *tck_ps);

#endif
