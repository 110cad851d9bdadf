/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two parts of a channel: its state and what commands change (dram_channel.c), and which command is next
 * (dram_plan.c). Host-free. */
#ifndef CNNVP_DRAM_PLAN_H
#define CNNVP_DRAM_PLAN_H

#include "dram_channel.h"

static inline uint64_t dram_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint32_t dram_lowest_bit(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits);
}

static inline uint32_t dram_group_of(const struct dram_channel *channel, uint32_t bank)
{
    return bank >> channel->bank_bits;
}

/* Takes what was planned for the clocks before `clock` as decided, and makes the plan anew when it is asked for. */
void dram_plan_pass(struct dram_channel *channel, uint64_t clock);

/* An entry has come at `clock`. 1 if the plan holds, or has been changed to its command; 0 if it must be made anew. */
int dram_plan_revise(struct dram_channel *channel, uint32_t index, uint64_t clock);

#endif
