/* SPDX-License-Identifier: Apache-2.0 */
/* The burst patterns of the reference figures: burst i of a pattern. */
#ifndef DRAM_PATTERNS_H
#define DRAM_PATTERNS_H

#include "memory/dram/dram_replay.h"

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
    /* further ones: reads and writes at random, in tenths */
    RANDOM_90_10,
    RANDOM_50_50,
    RANDOM_10_90,
    /* steps */
    STRIDE_256,
    STRIDE_1M,
    WRITE_STRIDE_8K,
    WRITE_STRIDE_128K,
    /* streams in turn: far apart, through rows of one bank, through banks of one group (ddr4), through bank groups */
    TWO_STREAMS,
    TWO_ROWS,
    FOUR_ROWS,
    SAME_GROUP,
    FOUR_GROUPS,
    /* tiles: this many bursts at each pitch */
    TILE_3X896,
    TILE_7X56K,
    WRITE_TILE_16X8K,
    /* blocks read and then written elsewhere, or two blocks read and a burst written */
    BLOCK_COPY_512,
    BLOCK_COPY_64K,
    PRODUCTS_4,
    /* the same bursts again: read and written back, written and read back by blocks, read what was written this many
     * bursts ago, at random within a few rows, within a few bursts */
    IN_PLACE,
    WRITE_READ_24,
    WRITE_READ_128,
    READ_BACK_4,
    READ_BACK_16,
    HOT_ROWS_8,
    HOT_BURSTS_40,
    /* bursts of layers (dram_layers.def), again and again */
    RESNET_LAYERS,
    MOBILENET_LAYERS,
    DRAM_PATTERNS
};

struct dram_pattern_burst {
    uint32_t write;
    uint64_t address;
};

/* `random` is the state of the random patterns. */
struct dram_pattern_burst dram_pattern_burst(enum dram_pattern pattern, uint64_t i, uint64_t *random);

/* hbm2's timings of DRAMsim3, of both pseudo channels side by side. */
void dram_pattern_hbm2_of_dramsim3(struct dram_options *options);

const char *dram_pattern_name(enum dram_pattern pattern);

/* Replays `bursts` of a pattern; the options have been checked. */
void dram_pattern_replay(const struct dram_options *options, enum dram_pattern pattern, uint64_t bursts,
                         uint32_t outstanding, uint64_t seed, struct dram_replay_result *result, uint32_t *tck_ps);

#endif
