/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedulers. Nothing is tried clock by clock; every command that could be next is looked at once, and the earliest
 * wins, of those the oldest burst's.
 */
#include "dram_policy.h"

/* Orders stay below 2^39 (half a trillion bursts) and no command waits 2^23 clocks for a timing, so (clock - from,
 * order) of a candidate fits one word, and the one to take has the least. */
#define ORDER_BITS 40u
/* Added to the order: at one clock the bus of RD and WR goes first. */
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

/* The bank with the oldest burst. */
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

/* First clock at which any bank group takes an ACT. */
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

/* Of the bank's bursts, one to the open row has entered no later than any to another. */
static inline int is_kept(const struct dram_channel *channel, const struct dram_list *list)
{
    return list->hit != DRAM_NONE && channel->entry[list->hit].entered <= channel->entry[list->other].entered;
}

/* Of some banks, and the bursts of orders below `before`. A row is not closed under a burst that has opened it: those
 * that want another go after it; with `keep` also after bursts to the row that are not younger. */
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

/* Of the oldest bank only the oldest burst. */
static struct dram_candidate fcfs(const struct dram_channel *channel, uint32_t write, uint64_t from)
{
    uint64_t before = DRAM_NEVER;
    const uint64_t bank = oldest_bank(channel, write, &before);
    return earliest(channel, write, from, bank, before, 0);
}

const struct dram_scheduler dram_scheduler_fr_fcfs = {.next = fr_fcfs};
const struct dram_scheduler dram_scheduler_fcfs = {.next = fcfs, .one_by_one = 1};
const struct dram_scheduler dram_scheduler_fr_fcfs_row_hit = {.next = fr_fcfs_row_hit};
