/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The most frequent case of a channel, without planning: reads are served, all of their rows are open, and no refresh
 * waits. The next command then is an RD, and the decision of dram_plan.c becomes a comparison of a few banks. All
 * counts and clocks are the same as with planning: tests/models/memory/dram compares both. Host-free, internal to the
 * model.
 */
#pragma once

#include "dram_channel.h"

/* The next RD; clock is DRAM_NEVER if nothing waits. */
struct dram_next_column {
    uint64_t clock;
    uint32_t bank;
    int active; /* its read opened the row */
    int looked; /* see struct dram_plan */
};

/* 1 if an RD is next, unless a burst enters, a refresh waits or writes are served. */
static inline int dram_reads_are_open(const struct dram_channel *channel)
{
    return channel->waiting[0] == channel->hits[0] && !channel->others[0] && !channel->second_by &&
           !channel->active_writes;
}

/* Orders stay below 2^39 (half a trillion bursts), and no command waits 2^23 clocks for a timing. So the clocks from
 * now to a command and the order of its burst fit in one word, and the smallest word wins. */
#define DRAM_ORDER_BITS 40u

struct dram_best {
    uint64_t key;
    uint32_t bank;
};

static inline void dram_take_less(struct dram_best *best, uint64_t wait, uint64_t order, uint32_t bank)
{
    const uint64_t key = wait << DRAM_ORDER_BITS | order;
    const int less = key < best->key;
    best->key = less ? key : best->key;
    best->bank = less ? bank : best->bank;
}

/* Takes the best RD or WR of a queue, `from` or later, if it is better. */
static inline void dram_take_columns(const struct dram_channel *channel, uint32_t write, uint64_t from,
                                     struct dram_best *best)
{
    const uint64_t bus = cnnvp_maximum(from, channel->column_bus);
    for (uint32_t rank = 0; rank < channel->ranks; ++rank) {
        const uint64_t first = cnnvp_maximum(bus, channel->rank[rank].column[write]) + channel->timing->early[write];
        for (uint64_t left = channel->hits[write] & dram_rank_banks(channel, rank); left; left &= left - 1u) {
            const uint32_t i = dram_lowest_bit(left);
            const uint64_t inner = cnnvp_maximum(first, channel->bank[i].column) - channel->timing->early[write];
            const uint64_t group = channel->group[dram_group_of(channel, i)].column[write];
            dram_take_less(best, cnnvp_maximum(inner, group) - from, channel->list[write][i].hit_order, i);
        }
    }
}

static inline struct dram_next_column dram_next_read(const struct dram_channel *channel)
{
    const uint64_t from = cnnvp_maximum(channel->clock, channel->column_bus);
    struct dram_next_column next = {.clock = DRAM_NEVER, .looked = 1};
    for (uint64_t banks = channel->active; banks; banks &= banks - 1u) {
        const uint32_t bank = dram_lowest_bit(banks);
        const uint64_t clock = cnnvp_maximum(from, dram_column_ready(channel, bank, 0));
        if (clock < next.clock || (clock == next.clock && dram_active_precedes(channel, bank, next.bank)))
            next = (struct dram_next_column){clock, bank, 1, 1};
    }
    if (next.clock <= channel->clock) {
        next.looked = 0;
        return next;
    }
    /* orders begin at 1: at the same clock, a burst in activation goes first */
    const uint64_t active = next.active ? (next.clock - from) << DRAM_ORDER_BITS : DRAM_NEVER;
    struct dram_best best = {active, 0};
    dram_take_columns(channel, 0, from, &best);
    if (best.key < active)
        return (struct dram_next_column){from + (best.key >> DRAM_ORDER_BITS), best.bank, 0, 1};
    return next;
}

/* 1 if writes wait and are served next. */
static inline int dram_writes_are_due(const struct dram_channel *channel, const struct dram_next_column *next)
{
    return channel->count[1] && next->looked && dram_next_mode(channel);
}

/* Makes everything before `clock` final. */
static inline void dram_columns_pass(struct dram_channel *channel, uint64_t clock, int looked)
{
    if (looked && clock > channel->clock)
        dram_serve(channel, dram_next_mode(channel));
    channel->clock = cnnvp_maximum(channel->clock, clock);
    channel->plan.valid = 0;
}

/* Holds the command bus for an RD at `clock`. */
static inline void dram_hold_bus(struct dram_channel *channel, uint64_t clock)
{
    channel->column_bus = clock + channel->timing->column_bus;
    if (channel->timing->buses == 1)
        channel->row_bus = channel->column_bus;
}

/* Makes everything up to an RD at `clock` final. With two command buses, another command can follow at the same clock,
 * and the queue to serve is chosen again. */
static inline void dram_columns_issue(struct dram_channel *channel, uint64_t clock, int looked)
{
    if (looked)
        dram_serve(channel, dram_next_mode(channel));
    channel->clock = clock + (channel->timing->buses == 1);
    channel->plan.valid = 0;
    dram_hold_bus(channel, clock);
}

static inline int dram_row_is_open(const struct dram_channel *channel, const struct dram_place *place)
{
    return (channel->open >> place->bank & 1u) && channel->bank[place->bank].row == place->row;
}

/* 1 if a read would only wait for its turn: its row is open, and no queued write answers it. */
static inline int dram_read_is_open(const struct dram_channel *channel, const struct dram_place *place)
{
    return dram_row_is_open(channel, place) &&
           !((channel->waiting[1] >> place->bank & 1u) && cnnvp_dram_channel_holds(channel, place));
}

/* Enters a read whose row is open, as the youngest of its bank. */
static inline void dram_read_enters(struct dram_channel *channel, const struct dram_place *place, uint64_t clock,
                                    void *owner, uint32_t tag, uint32_t source)
{
    const uint8_t index = dram_keep_burst(channel, place, 0, clock, owner, tag, source);
    struct dram_list *list = &channel->list[0][place->bank];
    ++channel->count[0];
    if (list->count++) {
        channel->entry[list->last].next = index;
    } else {
        list->first = list->hit = index;
        list->first_order = list->hit_order = channel->entry[index].order;
        channel->waiting[0] |= UINT64_C(1) << place->bank;
        channel->hits[0] |= UINT64_C(1) << place->bank;
    }
    list->last = index;
}

/* Removes the oldest read of a bank, whose row is open, from the queue. */
static inline uint8_t dram_take_read(struct dram_channel *channel, uint32_t bank)
{
    struct dram_list *list = &channel->list[0][bank];
    const uint8_t index = list->first, after = channel->entry[index].next;
    --channel->count[0];
    list->first = list->hit = after;
    if (--list->count) {
        list->first_order = list->hit_order = channel->entry[after].order;
    } else {
        list->last = DRAM_NONE;
        list->first_order = list->hit_order = 0;
        channel->waiting[0] &= ~(UINT64_C(1) << bank);
        channel->hits[0] &= ~(UINT64_C(1) << bank);
    }
    return index;
}

/* Removes the burst of an RD. Its entry stays valid until another burst enters. */
static inline uint32_t dram_read_leaves(struct dram_channel *channel, const struct dram_next_column *next)
{
    struct dram_bank *bank = &channel->bank[next->bank];
    uint32_t index;
    dram_columns_issue(channel, next->clock, next->looked);
    if (next->active) {
        index = bank->active;
        bank->active = DRAM_NONE;
        channel->active &= ~(UINT64_C(1) << next->bank);
        --channel->active_count;
    } else {
        index = dram_take_read(channel, next->bank);
    }
    channel->free[channel->free_count++] = (uint8_t)index;
    if (!cnnvp_dram_channel_waiting(channel))
        channel->bus[0].empty_from = next->clock;
    return index;
}
