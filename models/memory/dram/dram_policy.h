/* SPDX-License-Identifier: Apache-2.0 */
/* What can be chosen of a controller (dram_policies.h), as functions. Host-free. */
#ifndef CNNVP_DRAM_POLICY_H
#define CNNVP_DRAM_POLICY_H

#include "memory/dram/dram_policies.h"
#include "dram_state.h"

struct dram_scheduler {
    /* The next command for a burst of a queue, reads or writes, at `from` or later. A row must not be closed under a
     * burst that has opened it (`active`). */
    struct dram_candidate (*next)(const struct dram_channel *channel, uint32_t write, uint64_t from);
    int one_by_one; /* 1: it is not asked while a burst that has opened its row waits */
};

struct dram_page {
    /* 1: the bank is precharged with the RD or WR of a burst that has left the queue. Not asked while a burst that has
     * opened the bank's row waits. */
    int (*closes)(const struct dram_channel *channel, uint32_t bank);
};

struct dram_refresh {
    /* How many ranks, one after the other, are to be refreshed now, and in how many clocks this is asked again
     * (DRAM_NEVER: not). Also asked in the beginning, for these clocks alone. */
    uint32_t (*due)(const struct dram_channel *channel, uint64_t *again);
};

struct dram_queue;
struct dram_stream;

struct dram_arbiter {
    /* 1: a burst of `a` goes before one of `b` that can enter at the same clock, 0: after it; -1: this does not tell,
     * and round-robin decides. NULL: it always does. */
    int (*precedes)(const struct dram_queue *queue, const struct dram_stream *a, const struct dram_stream *b);
};

/* By the index of the choice. */
extern const struct dram_scheduler *const dram_schedulers[];
extern const struct dram_page *const dram_pages[];
extern const struct dram_refresh *const dram_refreshes[];
extern const struct dram_arbiter *const dram_arbiters[];

/* Each choice's index and functions. */
enum {
#define DRAM_INDEX(symbol, name, help) DRAM_SCHEDULER_##symbol,
    DRAM_SCHEDULERS(DRAM_INDEX)
#undef DRAM_INDEX
};
enum {
#define DRAM_INDEX(symbol, name, help) DRAM_PAGE_##symbol,
    DRAM_PAGES(DRAM_INDEX)
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
#define DRAM_DECLARE(symbol, name, help) extern const struct dram_page dram_page_##symbol;
DRAM_PAGES(DRAM_DECLARE)
#undef DRAM_DECLARE
#define DRAM_DECLARE(symbol, name, help) extern const struct dram_refresh dram_refresh_##symbol;
DRAM_REFRESHES(DRAM_DECLARE)
#undef DRAM_DECLARE
#define DRAM_DECLARE(symbol, name, help) extern const struct dram_arbiter dram_arbiter_##symbol;
DRAM_ARBITERS(DRAM_DECLARE)
#undef DRAM_DECLARE

#endif
