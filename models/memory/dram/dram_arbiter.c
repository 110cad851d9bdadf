/* SPDX-License-Identifier: Apache-2.0 */
/* Arbiters of the memory's port. */
#include "dram_policy.h"
#include "dram_stream.h"

static int by_share(const struct dram_queue *queue, const struct dram_stream *a, const struct dram_stream *b)
{
    (void)queue;
    return a->each == b->each ? -1 : a->each < b->each;
}

/* Start-time fair queueing: the stream that has had the least for its share goes first. */
static int by_time(const struct dram_queue *queue, const struct dram_stream *a, const struct dram_stream *b)
{
    const uint64_t time_a = dram_fair_time(queue, a), time_b = dram_fair_time(queue, b);
    return time_a == time_b ? -1 : time_a < time_b;
}

const struct dram_arbiter dram_arbiter_round_robin = {.precedes = NULL};
const struct dram_arbiter dram_arbiter_priority = {.precedes = by_share};
const struct dram_arbiter dram_arbiter_weighted = {.precedes = by_time};
