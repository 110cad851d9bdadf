/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which command a channel issues next, and when: see dram_channel.h for the rules. Nothing is tried clock by clock;
 * every command that could be next is looked at once, and the earliest wins, of those the oldest burst's.
 */
#include "dram_plan.h"

/* A command that could be next. */
struct candidate {
    uint64_t clock, order;
    uint32_t entry;
    enum dram_command command;
};

/* ---- bursts that have opened their row ---- */

static struct candidate best_active(const struct dram_channel *channel, uint64_t from)
{
    uint64_t best = DRAM_NEVER;
    uint32_t at = 0;
    for (uint64_t banks = channel->active; banks; banks &= banks - 1u) {
        const uint32_t bank = dram_lowest_bit(banks);
        const uint32_t write = channel->entry[channel->bank[bank].active].write;
        const uint64_t clock = dram_later(from, dram_column_ready(channel, bank, write));
        if (clock < best || (clock == best && dram_active_precedes(channel, bank, at))) {
            best = clock;
            at = bank;
        }
    }
    if (best == DRAM_NEVER)
        return (struct candidate){DRAM_NEVER, DRAM_NEVER, DRAM_NONE, DRAM_RD};
    const uint32_t index = channel->bank[at].active;
    return (struct candidate){best, 0, index, channel->entry[index].write ? DRAM_WR : DRAM_RD};
}

/* ---- the queues ---- */

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

/* fcfs: of the banks only the one with the oldest burst, and of that bank only this burst. */
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
        first = dram_lesser(first, dram_later(channel->rank[i >> bits].act, channel->group[i].act));
    return first;
}

static struct candidate candidate_of(const struct dram_channel *channel, uint32_t write, uint64_t from,
                                     const struct best *best)
{
    if (best->key == DRAM_NEVER)
        return (struct candidate){DRAM_NEVER, DRAM_NEVER, DRAM_NONE, DRAM_RD};
    const struct dram_list *list = &channel->list[write][best->bank];
    const uint32_t entry = best->command == DRAM_ACT ? list->first : best->command == DRAM_PRE ? list->other : list->hit;
    return (struct candidate){from + (best->key >> ORDER_BITS), channel->entry[entry].order, entry, best->command};
}

/* Of a queue. A row is not closed under a burst that has opened it: those that want another go after it. */
static struct candidate best_queued(const struct dram_channel *channel, uint32_t write, uint64_t from)
{
    const struct dram_list *lists = channel->list[write];
    const uint64_t column_from = dram_later(from, channel->column_bus), row_from = dram_later(from, channel->row_bus);
    const uint64_t behind = channel->timing->buses == 1 ? 0 : ROW_BUS;
    struct best best = {DRAM_NEVER, 0, DRAM_RD};
    uint64_t before = DRAM_NEVER;
    const uint64_t banks = channel->fcfs ? oldest_bank(channel, write, &before) : channel->waiting[write];
    for (uint64_t left = channel->hits[write] & banks; left; left &= left - 1u) {
        const uint32_t i = dram_lowest_bit(left);
        if (lists[i].hit_order < before)
            take_less(&best, dram_later(column_from, dram_column_ready(channel, i, write)) - from, lists[i].hit_order,
                      i, write ? DRAM_WR : DRAM_RD);
    }
    for (uint64_t left = channel->others[write] & banks & ~channel->active; left; left &= left - 1u) {
        const uint32_t i = dram_lowest_bit(left);
        if (lists[i].other_order < before)
            take_less(&best, dram_later(row_from, channel->bank[i].pre) - from, lists[i].other_order + behind, i,
                      DRAM_PRE);
    }
    uint64_t closed = banks & ~channel->open;
    if (closed && best.key != DRAM_NEVER && dram_later(row_from, first_act(channel)) - from > best.key >> ORDER_BITS)
        closed = 0;
    for (uint64_t left = closed; left; left &= left - 1u) {
        const uint32_t i = dram_lowest_bit(left);
        if (lists[i].first_order < before)
            take_less(&best, dram_later(row_from, dram_act_ready(channel, i)) - from, lists[i].first_order + behind, i,
                      DRAM_ACT);
    }
    return candidate_of(channel, write, from, &best);
}

/* ---- the plan ---- */

void dram_plan_pass(struct dram_channel *channel, uint64_t clock)
{
    if (channel->plan.valid && channel->plan.looked && clock > channel->plan.from)
        channel->write_mode = channel->plan.write_mode;
    channel->clock = dram_later(channel->clock, clock);
    channel->plan.valid = 0;
}

static void set_plan(struct dram_plan *plan, uint64_t clock, enum dram_command command, uint32_t entry)
{
    plan->clock = clock;
    plan->command = command;
    plan->entry = entry;
}

static void make_plan(struct dram_channel *channel)
{
    struct dram_plan *plan = &channel->plan;
    const uint64_t from = channel->clock;
    *plan = (struct dram_plan){.valid = 1, .from = from};
    const struct candidate active = best_active(channel, dram_later(from, channel->column_bus));
    set_plan(plan, active.clock, active.command, active.entry);
    if (channel->refresh_waiting) {
        const struct dram_rank *rank = &channel->rank[channel->refresh_rank];
        const uint32_t first = channel->refresh_rank << channel->rank_bits;
        const uint64_t banks = ((UINT64_C(1) << (1u << channel->rank_bits)) - 1u) << first;
        const uint64_t ready = rank->open ? rank->pre_all : rank->refresh + channel->timing->refresh_more;
        const uint64_t clock = dram_later(dram_later(from, channel->row_bus), ready);
        if (clock < plan->clock && !(rank->open && (channel->active & banks)))
            set_plan(plan, clock, rank->open ? DRAM_PREA : DRAM_REF, DRAM_NONE);
    } else if (active.clock > from && !(channel->fcfs && channel->active)) {
        plan->looked = 1;
        plan->write_mode = dram_next_mode(channel);
        const struct candidate queued = best_queued(channel, (uint32_t)plan->write_mode, from);
        if (queued.clock < plan->clock)
            set_plan(plan, queued.clock, queued.command, queued.entry);
    }
    if (channel->refresh_at <= plan->clock)
        set_plan(plan, channel->refresh_at, DRAM_REFRESH_DUE, DRAM_NONE);
}

uint64_t dram_plan_next(struct dram_channel *channel)
{
    if (!channel->plan.valid)
        make_plan(channel);
    return channel->plan.clock;
}
