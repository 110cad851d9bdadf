/* SPDX-License-Identifier: Apache-2.0 */
/* Between the parts of a channel: its state and what commands change (dram_channel.c), which command is next (dram_plan.c),
 * and both while rows are open (dram_columns.h). Host-free. */
#ifndef CNNVP_DRAM_PLAN_H
#define CNNVP_DRAM_PLAN_H

#include "dram_channel.h"

static inline uint64_t dram_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline void dram_raise(uint64_t *ready, uint64_t clock)
{
    if (*ready < clock)
        *ready = clock;
}

static inline uint32_t dram_lowest_bit(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits);
}

static inline uint32_t dram_group_of(const struct dram_channel *channel, uint32_t bank)
{
    return bank >> channel->bank_bits;
}

static inline uint32_t dram_rank_of(const struct dram_channel *channel, uint32_t bank)
{
    return bank >> channel->rank_bits;
}

/* First clock at which the timings allow an RD or WR of a bank whose row is open. */
static inline uint64_t dram_column_ready(const struct dram_channel *channel, uint32_t bank, uint32_t write)
{
    const uint64_t outer = channel->rank[dram_rank_of(channel, bank)].column[write];
    const uint64_t group = channel->group[dram_group_of(channel, bank)].column[write];
    const uint64_t inner = channel->bank[bank].column;
    const uint64_t both = outer > group ? outer : group;
    return both > inner ? both : inner;
}

/* Which queue is served next, [write]. */
static inline int dram_next_mode(const struct dram_channel *channel)
{
    const uint32_t reads = channel->count[0], writes = channel->count[1];
    if (!channel->write_mode)
        return writes * 100u > channel->drain_high || !reads;
    return !((!writes || writes * 100u < channel->drain_low) && reads);
}

static inline uint64_t dram_lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The data of a burst are on the bus from `begin` on. */
static inline void dram_account(struct dram_channel *channel, uint64_t begin, int write, int turned)
{
    const uint32_t *t = channel->timing->t;
    struct dram_counts *counts = &channel->counts;
    uint64_t gap = begin - channel->bus_end;
    const uint64_t idle = dram_lesser(gap, channel->idle);
    gap -= idle;
    const uint64_t from = dram_later(channel->refresh_from, channel->bus_end), to = dram_lesser(channel->refresh_to, begin);
    const uint64_t refresh = dram_lesser(gap, to > from ? to - from : 0);
    gap -= refresh;
    const uint64_t turn = turned ? dram_lesser(gap, write ? t[DRAM_T_rtw] : t[DRAM_T_wtr_s] + t[DRAM_T_cl]) : 0;
    counts->data_clocks += t[DRAM_T_bl];
    counts->idle_clocks += idle;
    counts->refresh_clocks += refresh;
    counts->turnaround_clocks += turn;
    counts->row_clocks += gap - turn;
    channel->bus_end = begin + t[DRAM_T_bl];
    channel->idle = 0;
}

/* Reads and writes of the rank that has been accessed, and of the others, by [write]. tCCD is at least the data's length. */
static inline void dram_raise_columns(struct dram_channel *channel, uint32_t rank, const uint64_t same[2], const uint64_t other[2])
{
    for (uint32_t i = 0; i < channel->ranks; ++i) {
        const uint64_t *ready = i == rank ? same : other;
        dram_raise(&channel->rank[i].column[0], ready[0]);
        dram_raise(&channel->rank[i].column[1], ready[1]);
    }
}

/* What an RD at `clock` demands of later commands, but for its bank's PRE. */
static inline void dram_space_reads(struct dram_channel *channel, uint32_t bank, uint64_t clock)
{
    const uint32_t *t = channel->timing->t;
    const uint32_t rank = dram_rank_of(channel, bank);
    const uint64_t turn = clock + t[DRAM_T_cl] + t[DRAM_T_bl] + t[DRAM_T_rtw] - t[DRAM_T_cwl];
    const uint64_t same[2] = {clock + t[DRAM_T_ccd_s], turn};
    const uint64_t other[2] = {clock + t[DRAM_T_bl] + t[DRAM_T_cs], turn};
    dram_raise_columns(channel, rank, same, other);
    dram_raise(&channel->group[dram_group_of(channel, bank)].column[0], clock + t[DRAM_T_ccd_l]);
    dram_raise(&channel->rank[rank].pre_all, clock + t[DRAM_T_rtp]);
}

static inline void dram_space_read(struct dram_channel *channel, uint32_t bank, uint64_t clock)
{
    dram_space_reads(channel, bank, clock);
    dram_raise(&channel->bank[bank].pre, clock + channel->timing->t[DRAM_T_rtp]);
}

/* What a WR at `clock` demands of later commands. */
static inline void dram_space_write(struct dram_channel *channel, uint32_t bank, uint64_t clock)
{
    const uint32_t *t = channel->timing->t;
    const uint32_t rank = dram_rank_of(channel, bank);
    const uint64_t end = clock + t[DRAM_T_cwl] + t[DRAM_T_bl], gap = end + t[DRAM_T_cs];
    const uint64_t same[2] = {end + t[DRAM_T_wtr_s], clock + t[DRAM_T_ccd_s]};
    const uint64_t other[2] = {gap > t[DRAM_T_cl] ? gap - t[DRAM_T_cl] : 0, clock + t[DRAM_T_bl] + t[DRAM_T_cs]};
    struct dram_group *group = &channel->group[dram_group_of(channel, bank)];
    dram_raise_columns(channel, rank, same, other);
    dram_raise(&group->column[0], end + t[DRAM_T_wtr_l]);
    dram_raise(&group->column[1], clock + t[DRAM_T_ccd_l]);
    dram_raise(&channel->rank[rank].pre_all, end + t[DRAM_T_wr]);
    dram_raise(&channel->bank[bank].pre, end + t[DRAM_T_wr]);
}

/* Place in `written`. */
static inline uint32_t dram_hash(uint32_t bank, uint32_t row, uint32_t column)
{
    return (column + 37u * bank + 101u * row) % DRAM_WRITTEN;
}

/* First clock at which the timings allow an ACT of a closed bank. */
static inline uint64_t dram_act_ready(const struct dram_channel *channel, uint32_t bank)
{
    const uint64_t outer = dram_later(channel->rank[dram_rank_of(channel, bank)].act,
                                      channel->group[dram_group_of(channel, bank)].act);
    return dram_later(outer, channel->bank[bank].act);
}

/* The row is open for the timings of an ACT at `clock`; which bursts hit it is not looked at. */
void dram_open_bank(struct dram_channel *channel, uint32_t bank, uint32_t row, uint64_t clock);

/* Takes what was planned for the clocks before `clock` as decided, and makes the plan anew when it is asked for. */
void dram_plan_pass(struct dram_channel *channel, uint64_t clock);

/* A burst that enters takes a free entry of the queue, and ends the time in which nothing waited. */
static inline uint8_t dram_keep_burst(struct dram_channel *channel, const struct dram_place *place, uint32_t write,
                                      uint64_t clock, void *owner, uint32_t tag, uint32_t source)
{
    const uint8_t index = channel->free[--channel->free_count];
    struct dram_entry *entry = &channel->entry[index];
    *entry = (struct dram_entry){.entered = clock, .order = ++channel->order, .owner = owner, .row = place->row,
                                 .column = place->column, .tag = tag, .source = (uint16_t)source,
                                 .bank = (uint8_t)place->bank, .write = (uint8_t)write, .next = DRAM_NONE};
    if (!cnnvp_dram_channel_waiting(channel)) {
        const uint64_t from = dram_later(channel->empty_from, channel->bus_end);
        channel->idle += clock > from ? clock - from : 0;
    }
    return index;
}

#endif
