/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts of a part, and the clocks that they take. */
#ifndef CNNVP_TESTS_TIMING_CASE_H
#define CNNVP_TESTS_TIMING_CASE_H

#include "test.h"

#include "dram_patterns.h"
#include "cnnvp_integer.h"

#define LOG 4096u
/* ddr4-2400: 128 bursts of a row, then the next bank group, 4 groups of 4 banks */
#define ROW_BYTES 8192u
#define GROUP_BYTES 8192u
#define BANK_BYTES 32768u
#define SAME_BANK_BYTES 131072u

struct bench {
    struct dram_options options;
    struct dram_timing timing;
    struct dram_replay *replay;
    struct dram_replay_result result;
    struct dram_issued log[LOG];
    uint32_t count;
};

/* `change` alters the options, may be NULL. */
struct bench *begin(uint32_t preset, uint32_t outstanding, void (*change)(struct dram_options *options));

void read_at(struct bench *bench, uint64_t address);

void end(struct bench *bench);

void done(struct bench *bench);

/* The n-th (from 0) of a kind of command. */
const struct dram_issued *nth(const struct bench *bench, enum dram_command command, uint32_t n);

#endif
