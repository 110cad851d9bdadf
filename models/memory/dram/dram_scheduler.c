/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedulers. Nothing is tried clock by clock: every possible next command is looked at once, and the earliest wins; at
 * the same clock, that of the oldest burst.
 */
#include "dram_policy.h"

/* Orders stay below 2^39 (half a trillion bursts), and no command waits 2^23 clocks for a timing. So (clock - from,
 * order) of a candidate fits in one word, and the smallest word wins. */
#define ORDER_BITS 40u
/* Added to the order of a PRE or ACT on a bus of its own: at the same clock, RD and WR go first. */
#define ROW_BUS (UINT64_C(1) << (ORDER_BITS - 1u))

struct best {
    uint64_t key;
    uint32_t bank;
    enum dram_command command;
};

static inline void take_less(struct best *best, uint64_t wait, uint64_t order, uint32_t bank, enum dram_command command)
{
    const uint64_t key = wait << ORDER_BITS | order;
    const int less = key < best->key;
    best->key = less ? key : best->key;
    best->bank = less ? bank : best->bank;
    best->command = less ? command : best->command;
}

/* Returns the bit of the bank with the oldest burst, and lowers `before` to exclude all younger bursts. */
static uint64_t oldest_bank(const struct dram_channel *channel, uint32_t write, uint64_t *before)
{
    uint64_t oldest = DRAM_NEVER, bit = 0;
    for (uint64_t banks = channel->waiting[write]; banks; banks &= banks - 1u) {
        const uint32_t bank = dram_lowest_bit(banks);
        if (channel->list[write][bank].first_order < oldest) {
            oldest = channel->list[write][bank].first_order;
            bit = UINT64_C(1) << bank;
        }
    }
    *before = bit && oldest + 1u < *before ? oldest + 1u : *before;
    return bit;
}

/* First clock at which any bank group can take an ACT. */
static uint64_t first_act(const struct dram_channel *channel)
{
    const uint32_t bits = channel->rank_bits - channel->bank_bits;
    uint64_t first = DRAM_NEVER;
    for (uint32_t i = 0; i < channel->ranks << bits; ++i)
        first = cnnvp_minimum(first, cnnvp_maximum(channel->rank[i >> bits].act, channel->group[i].act));
    return first;
}

static struct dram_candidate candidate_of(const struct dram_channel *channel, uint32_t write, uint64_t from,
                                          const struct best *best)
{
    if (best->key == DRAM_NEVER)
        return (struct dram_candidate){DRAM_NEVER, DRAM_NEVER, DRAM_NONE, DRAM_RD};
    const struct dram_list *list = &channel->list[write][best->bank];
    const uint32_t entry = best->command == DRAM_ACT   ? list->first
                           : best->command == DRAM_PRE ? list->other
                                                       : list->hit;
    return (struct dram_candidate){from + (best->key >> ORDER_BITS), channel->entry[entry].order, entry, best->command};
}

/* 1 if the bank's oldest burst to the open row entered no later than its oldest burst to another row. */
static inline int is_kept(const struct dram_channel *channel, const struct dram_list *list)
{
    return list->hit != DRAM_NONE && channel->entry[list->hit].entered <= channel->entry[list->other].entered;
}

/* The earliest candidate for bursts in `banks` with orders below `before`. A row is not closed before the burst that
 * opened it is served; with `keep`, it also stays open for bursts to it that are not younger than those to other
 * rows. */
static inline struct dram_candidate earliest(const struct dram_channel *channel, uint32_t write, uint64_t from,
                                             uint64_t banks, uint64_t before, int keep)
{
    const struct dram_list *lists = channel->list[write];
    const uint64_t column_from = cnnvp_maximum(from, channel->column_bus),
                   row_from = cnnvp_maximum(from, channel->row_bus);
    const uint64_t behind = channel->timing->buses == 1 ? 0 : ROW_BUS;
    struct best best = {DRAM_NEVER, 0, DRAM_RD};
    for (uint64_t left = channel->hits[write] & banks; left; left &= left - 1u) {
        const uint32_t i = dram_lowest_bit(left);
        if (lists[i].hit_order < before)
            take_less(&best, cnnvp_maximum(column_from, dram_column_ready(channel, i, write)) - from,
                      lists[i].hit_order, i, write ? DRAM_WR : DRAM_RD);
    }
    for (uint64_t left = channel->others[write] & banks & ~channel->active; left; left &= left - 1u) {
        const uint32_t i = dram_lowest_bit(left);
        if (lists[i].other_order < before && !(keep && is_kept(channel, &lists[i])))
            take_less(&best, cnnvp_maximum(row_from, channel->bank[i].pre) - from, lists[i].other_order + behind, i,
                      DRAM_PRE);
    }
    uint64_t closed = banks & ~channel->open;
    if (closed && best.key != DRAM_NEVER && cnnvp_maximum(row_from, first_act(channel)) - from > best.key >> ORDER_BITS)
        closed = 0;
    for (uint64_t left = closed; left; left &= left - 1u) {
        const uint32_t i = dram_lowest_bit(left);
        if (lists[i].first_order < before)
            take_less(&best, cnnvp_maximum(row_from, dram_act_ready(channel, i)) - from, lists[i].first_order + behind,
                      i, DRAM_ACT);
    }
    return candidate_of(channel, write, from, &best);
}

static struct dram_candidate fr_fcfs(const struct dram_channel *channel, uint32_t write, uint64_t from)
{
    return earliest(channel, write, from, channel->waiting[write], DRAM_NEVER, 0);
}

static struct dram_candidate fr_fcfs_row_hit(const struct dram_channel *channel, uint32_t write, uint64_t from)
{
    return earliest(channel, write, from, channel->waiting[write], DRAM_NEVER, 1);
}

/* Considers the oldest burst only. */
static struct dram_candidate fcfs(const struct dram_channel *channel, uint32_t write, uint64_t from)
{
    uint64_t before = DRAM_NEVER;
    const uint64_t bank = oldest_bank(channel, write, &before);
    return earliest(channel, write, from, bank, before, 0);
}

const struct dram_scheduler dram_scheduler_fr_fcfs = {.next = fr_fcfs};
const struct dram_scheduler dram_scheduler_fcfs = {.next = fcfs, .one_by_one = 1};
const struct dram_scheduler dram_scheduler_fr_fcfs_row_hit = {.next = fr_fcfs_row_hit};
