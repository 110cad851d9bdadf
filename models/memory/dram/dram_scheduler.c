/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedulers. Nothing is tried clock by clock: every possible next command is looked at once, and the earliest wins; at
 * the same clock, that of the oldest burst.
 */
#include "dram_columns.h"
#include "dram_policy.h"

/* Added to the order of a PRE or ACT on a bus of its own: at the same clock, RD and WR go first. */
#define ROW_BUS (UINT64_C(1) << (DRAM_ORDER_BITS - 1u))

/* 1 if the bank's oldest burst to the open row entered no later than its oldest burst to another row. */
static inline int is_kept(const struct dram_channel *channel, const struct dram_list *list)
{
    return list->hit != DRAM_NONE && channel->entry[list->hit].entered <= channel->entry[list->other].entered;
}

/* PREs of `banks`, which are open. */
static inline void take_precharges(const struct dram_channel *channel, uint32_t write, uint64_t from, uint64_t banks,
                                   int keep, struct dram_best *best)
{
    const uint64_t first = cnnvp_maximum(from, channel->row_bus), behind = channel->timing->buses == 1 ? 0 : ROW_BUS;
    for (uint64_t left = banks; left; left &= left - 1u) {
        const uint32_t i = dram_lowest_bit(left);
        const struct dram_list *list = &channel->list[write][i];
        if (!(keep && is_kept(channel, list)))
            dram_take_less(best, cnnvp_maximum(first, channel->bank[i].pre) - from, list->other_order + behind, i);
    }
}

/* ACTs of `banks`, which are closed. */
static inline void take_acts(const struct dram_channel *channel, uint32_t write, uint64_t from, uint64_t banks,
                             struct dram_best *best)
{
    const uint64_t bus = cnnvp_maximum(from, channel->row_bus), behind = channel->timing->buses == 1 ? 0 : ROW_BUS;
    for (uint32_t rank = 0; rank < channel->ranks; ++rank) {
        const uint64_t first = cnnvp_maximum(bus, channel->rank[rank].act);
        if (first - from > best->key >> DRAM_ORDER_BITS)
            continue;
        for (uint64_t left = banks & dram_rank_banks(channel, rank); left; left &= left - 1u) {
            const uint32_t i = dram_lowest_bit(left);
            const uint64_t inner = cnnvp_maximum(channel->group[dram_group_of(channel, i)].act, channel->bank[i].act);
            dram_take_less(best, cnnvp_maximum(first, inner) - from, channel->list[write][i].first_order + behind, i);
        }
    }
}

/* The earliest candidate. A row is not closed before the burst that opened it is served; with `keep`, it also stays
 * open for bursts to it that are not younger than those to other rows. */
static inline struct dram_candidate earliest(const struct dram_channel *channel, uint32_t write, uint64_t from,
                                             int keep)
{
    struct dram_best best = {DRAM_NEVER, 0};
    dram_take_columns(channel, write, from, &best);
    const uint64_t column = best.key;
    take_precharges(channel, write, from, channel->others[write] & ~channel->active, keep, &best);
    const uint64_t precharge = best.key;
    take_acts(channel, write, from, channel->waiting[write] & ~channel->open, &best);
    const struct dram_list *list = &channel->list[write][best.bank];
    const uint64_t clock = from + (best.key >> DRAM_ORDER_BITS);
    if (best.key < precharge)
        return (struct dram_candidate){clock, list->first, DRAM_ACT};
    if (best.key < column)
        return (struct dram_candidate){clock, list->other, DRAM_PRE};
    if (best.key < DRAM_NEVER)
        return (struct dram_candidate){clock, list->hit, write ? DRAM_WR : DRAM_RD};
    return DRAM_NO_CANDIDATE;
}

static struct dram_candidate fr_fcfs(const struct dram_channel *channel, uint32_t write, uint64_t from)
{
    return earliest(channel, write, from, 0);
}

static struct dram_candidate fr_fcfs_row_hit(const struct dram_channel *channel, uint32_t write, uint64_t from)
{
    return earliest(channel, write, from, 1);
}

/* Considers the oldest burst only. */
static struct dram_candidate fcfs(const struct dram_channel *channel, uint32_t write, uint64_t from)
{
    const uint64_t column_from = cnnvp_maximum(from, channel->column_bus),
                   row_from = cnnvp_maximum(from, channel->row_bus);
    uint64_t oldest = DRAM_NEVER;
    uint32_t bank = 0;
    for (uint64_t banks = channel->waiting[write]; banks; banks &= banks - 1u)
        if (channel->list[write][dram_lowest_bit(banks)].first_order < oldest) {
            bank = dram_lowest_bit(banks);
            oldest = channel->list[write][bank].first_order;
        }
    if (oldest == DRAM_NEVER)
        return DRAM_NO_CANDIDATE;
    const uint8_t first = channel->list[write][bank].first;
    if (!(channel->open >> bank & 1u))
        return (struct dram_candidate){cnnvp_maximum(row_from, dram_act_ready(channel, bank)), first, DRAM_ACT};
    if (channel->list[write][bank].hit != first)
        return (struct dram_candidate){cnnvp_maximum(row_from, channel->bank[bank].pre), first, DRAM_PRE};
    return (struct dram_candidate){
        cnnvp_maximum(column_from, dram_column_ready(channel, bank, write)), first, write ? DRAM_WR : DRAM_RD};
}

const struct dram_scheduler dram_scheduler_fr_fcfs = {.next = fr_fcfs};
const struct dram_scheduler dram_scheduler_fcfs = {.next = fcfs, .one_by_one = 1};
const struct dram_scheduler dram_scheduler_fr_fcfs_row_hit = {.next = fr_fcfs_row_hit};
