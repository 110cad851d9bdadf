/* SPDX-License-Identifier: Apache-2.0 */
/* The policies of a controller (dram_policies.h) as function tables. Host-free. */
#pragma once

#include "memory/dram/dram_policies.h"
#include "dram_state.h"

struct dram_scheduler {
    /* Returns the next command for a burst of one queue, reads or writes, at `from` or later. Must not close a row
     * before the burst that opened it (`active`) is served. */
    struct dram_candidate (*next)(const struct dram_channel *channel, uint32_t write, uint64_t from);
    int one_by_one; /* 1: not called while a burst that has opened its row waits */
};

struct dram_row_policy {
    /* 1: the RD or WR of a burst that has just left the queue also precharges the bank. Not called while a burst that
     * has opened the bank's row waits. */
    int (*closes)(const struct dram_channel *channel, uint32_t bank);
};

struct dram_refresh {
    /* Returns how many ranks are to be refreshed at this clock, one after the other. `again`: clocks until the next
     * call (DRAM_NEVER: none). Also called at the start, for `again` alone. */
    uint32_t (*due)(const struct dram_channel *channel, uint64_t *again);
};

struct dram_queue;
struct dram_stream;

struct dram_arbiter {
    /* 1: a burst of `a` goes before one of `b` that can enter at the same clock; 0: after it; -1: round-robin decides.
     * NULL: round-robin always decides. */
    int (*precedes)(const struct dram_queue *queue, const struct dram_stream *a, const struct dram_stream *b);
};

/* Indexed by the parameter's choice. */
extern const struct dram_scheduler *const dram_schedulers[];
extern const struct dram_row_policy *const dram_row_policies[];
extern const struct dram_refresh *const dram_refreshes[];
extern const struct dram_arbiter *const dram_arbiters[];

/* The index and the functions of each choice. */
enum {
#define DRAM_INDEX(symbol, name, help) DRAM_SCHEDULER_##symbol,
    DRAM_SCHEDULERS(DRAM_INDEX)
#undef DRAM_INDEX
};
enum {
#define DRAM_INDEX(symbol, name, help) DRAM_ROW_POLICY_##symbol,
    DRAM_ROW_POLICIES(DRAM_INDEX)
#undef DRAM_INDEX
};
enum {
#define DRAM_INDEX(symbol, name, help) DRAM_REFRESH_##symbol,
    DRAM_REFRESHES(DRAM_INDEX)
#undef DRAM_INDEX
};
enum {
#define DRAM_INDEX(symbol, name, help) DRAM_ARBITER_##symbol,
    DRAM_ARBITERS(DRAM_INDEX)
#undef DRAM_INDEX
};
#define DRAM_DECLARE(symbol, name, help) extern const struct dram_scheduler dram_scheduler_##symbol;
DRAM_SCHEDULERS(DRAM_DECLARE)
#undef DRAM_DECLARE
#define DRAM_DECLARE(symbol, name, help) extern const struct dram_row_policy dram_row_policy_##symbol;
DRAM_ROW_POLICIES(DRAM_DECLARE)
#undef DRAM_DECLARE
#define DRAM_DECLARE(symbol, name, help) extern const struct dram_refresh dram_refresh_##symbol;
DRAM_REFRESHES(DRAM_DECLARE)
#undef DRAM_DECLARE
#define DRAM_DECLARE(symbol, name, help) extern const struct dram_arbiter dram_arbiter_##symbol;
DRAM_ARBITERS(DRAM_DECLARE)
#undef DRAM_DECLARE
