/* SPDX-License-Identifier: Apache-2.0 */
/* Refresh policies: when, and how many ranks at a time. */
#include "dram_policy.h"

static uint32_t all_ranks(const struct dram_channel *channel, uint64_t *again)
{
    *again = channel->timing->t[DRAM_T_refi];
    return channel->ranks;
}

static uint32_t staggered(const struct dram_channel *channel, uint64_t *again)
{
    *again = channel->timing->t[DRAM_T_refi] / channel->ranks;
    return 1;
}

static uint32_t ideal(const struct dram_channel *channel, uint64_t *again)
{
    (void)channel;
    *again = DRAM_NEVER;
    return 0;
}

const struct dram_refresh dram_refresh_all_ranks = {.due = all_ranks};
const struct dram_refresh dram_refresh_staggered = {.due = staggered};
const struct dram_refresh dram_refresh_ideal = {.due = ideal};
