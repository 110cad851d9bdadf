/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a channel does most of the time, without planning: reads are served, the rows of all of them are open, and no refresh
 * waits. Then the next command is an RD, and what dram_plan.c decides comes down to a comparison of a few banks. Results are the
 * same in every count and clock: tests/dram holds both ways together. Host-free, internal to the model.
 */
#ifndef CNNVP_DRAM_READS_H
#define CNNVP_DRAM_READS_H

#include "dram_plan.h"

/* The next RD; clock is DRAM_NEVER if nothing waits. */
struct dram_next_read {
    uint64_t clock;
    uint32_t bank;
    int active; /* it is of the burst that has opened the row */
    int looked; /* see struct dram_plan */
};

/* 1 if an RD is next unless something enters, or writes get their turn. */
static inline int dram_reads_are_open(const struct dram_channel *channel)
{
    if (channel->refresh_waiting || channel->fcfs || channel->closed_page
        || channel->waiting[0] != channel->hits[0] || channel->others[0])
        return 0;
    for (uint64_t banks = channel->active; banks; banks &= banks - 1u)
        if (channel->entry[channel->bank[dram_lowest_bit(banks)].active].write)
            return 0;
    return 1;
}

/* 1 if `a` goes before `b` where both have opened their row and can go: the one that entered first, then whose ACT was first. */
static inline int dram_active_precedes(const struct dram_channel *channel, uint32_t a, uint32_t b)
{
    const uint64_t entered_a = channel->entry[channel->bank[a].active].entered;
    const uint64_t entered_b = channel->entry[channel->bank[b].active].entered;
    return entered_a < entered_b
           || (entered_a == entered_b && channel->bank[a].activated < channel->bank[b].activated);
}

static inline struct dram_next_read dram_next_read(const struct dram_channel *channel)
{
    const uint64_t from = channel->clock;
    struct dram_next_read next = {.clock = DRAM_NEVER, .looked = 1};
    for (uint64_t banks = channel->active; banks; banks &= banks - 1u) {
        const uint32_t bank = dram_lowest_bit(banks);
        const uint64_t clock = dram_later(from, dram_column_ready(channel, bank, 0));
        if (clock < next.clock || (clock == next.clock && dram_active_precedes(channel, bank, next.bank)))
            next = (struct dram_next_read){clock, bank, 1, 1};
    }
    if (next.clock <= from) {
        next.looked = 0;
        return next;
    }
    uint64_t oldest = 0; /* one in activation goes first */
    for (uint64_t banks = channel->hits[0]; banks; banks &= banks - 1u) {
        const uint32_t bank = dram_lowest_bit(banks);
        const uint64_t clock = dram_later(from, dram_column_ready(channel, bank, 0));
        const uint64_t order = channel->list[0][bank].hit_order;
        if (clock < next.clock || (clock == next.clock && order < oldest)) {
            next = (struct dram_next_read){clock, bank, 0, 1};
            oldest = order;
        }
    }
    return next;
}

/* Writes wait and get their turn. */
static inline int dram_writes_are_due(const struct dram_channel *channel, const struct dram_next_read *next)
{
    return channel->count[1] && next->looked && dram_next_mode(channel);
}

static inline void dram_reads_pass(struct dram_channel *channel, uint64_t clock, int looked)
{
    if (looked && clock > channel->clock)
        channel->write_mode = dram_next_mode(channel);
    channel->clock = dram_later(channel->clock, clock);
    channel->plan.valid = 0;
}

/* 1 if a read would wait for nothing but its turn: its row is open, and no write waits that could answer it. */
static inline int dram_read_is_open(const struct dram_channel *channel, const struct dram_place *place)
{
    return !(channel->waiting[1] >> place->bank & 1u) && (channel->open >> place->bank & 1u) && channel->bank[place->bank].row == place->row;
}

/* A burst becomes the youngest of its bank, whose row is open for it. */
static inline void dram_add_read(struct dram_channel *channel, uint8_t index)
{
    const struct dram_entry *entry = &channel->entry[index];
    struct dram_list *list = &channel->list[0][entry->bank];
    ++channel->count[0];
    if (list->count++) {
        channel->entry[list->last].next = index;
    } else {
        list->first = list->hit = index;
        list->first_order = list->hit_order = entry->order;
        channel->waiting[0] |= UINT64_C(1) << entry->bank;
        channel->hits[0] |= UINT64_C(1) << entry->bank;
    }
    list->last = index;
}

/* A read that is open enters. */
static inline void dram_read_enters(struct dram_channel *channel, const struct dram_place *place, uint64_t clock,
                                    void *owner, uint32_t tag, uint32_t source)
{
    const uint8_t index = channel->free[--channel->free_count];
    struct dram_entry *entry = &channel->entry[index];
    *entry = (struct dram_entry){.entered = clock, .order = ++channel->order, .owner = owner, .row = place->row,
                                 .column = place->column, .tag = tag, .source = (uint16_t)source, .bank = (uint8_t)place->bank,
                                 .next = DRAM_NONE};
    if (!cnnvp_dram_channel_waiting(channel)) {
        const uint64_t from = dram_later(channel->empty_from, channel->bus_end);
        channel->idle += clock > from ? clock - from : 0;
    }
    dram_add_read(channel, index);
}

/* The oldest of a bank leaves the queue. */
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

/* The burst of an RD leaves; its entry is valid until another enters. */
static inline uint32_t dram_read_leaves(struct dram_channel *channel, const struct dram_next_read *next)
{
    struct dram_bank *bank = &channel->bank[next->bank];
    uint32_t index;
    dram_reads_pass(channel, next->clock + 1u, next->looked);
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
        channel->empty_from = next->clock;
    return index;
}

#endif
