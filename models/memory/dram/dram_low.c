/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Low power of ranks. CKE of a rank goes low `power_down_after` clocks after its last command has had its effect: a
 * clock after the last read data, tWR after the last written data, tRFC after a refresh. Nothing else happens then, so
 * the model finds out when a burst enters for the rank or its refresh is due. CKE goes up at that clock, but not before
 * it has been low for tCKE (one clock longer for self-refresh, which a command begins). Other commands follow tXP later
 * (tXS after self-refresh; RD and WR tXSDLL).
 */
#include "dram_channel.h"
#include "dram_windows.h"

/* Counts a rank as low up to `clock`. */
static void count_low(struct dram_channel *channel, struct dram_rank *rank, uint64_t clock)
{
    const enum dram_low low =
        rank->self_refresh ? DRAM_SELF_REFRESH
        : rank->open       ? DRAM_ACTIVE_POWER_DOWN
                           : DRAM_PRECHARGE_POWER_DOWN;
    channel->counts.power_downs += !rank->low && !rank->self_refresh;
    rank->low = cnnvp_maximum(rank->low, rank->low_from);
    channel->counts.low_clocks[low] += clock - rank->low;
    if (channel->windows != NULL)
        cnnvp_dram_windows_low(channel->windows, low, rank->low, clock);
    rank->low = clock;
}

void cnnvp_dram_channel_count_low(struct dram_channel *channel, uint64_t clock)
{
    for (uint32_t i = 0; i < channel->ranks; ++i)
        if (dram_rank_is_low(channel, i, clock))
            count_low(channel, &channel->rank[i], clock);
}

void dram_power_up(struct dram_channel *channel, uint32_t number, uint64_t clock)
{
    const uint32_t *t = channel->timing->t;
    struct dram_rank *rank = &channel->rank[number];
    const uint64_t up = cnnvp_maximum(clock, rank->low_from + t[DRAM_T_cke] + rank->self_refresh);
    const uint64_t ready = up + t[rank->self_refresh ? DRAM_T_xs : DRAM_T_xp];
    const uint64_t locked = rank->self_refresh ? cnnvp_maximum(ready, up + t[DRAM_T_xsdll]) : ready;
    count_low(channel, rank, up);
    rank->low = rank->self_refresh = 0;
    rank->low_from = ready + channel->low_after;
    dram_raise(&rank->act, ready);
    dram_raise(&rank->column[0], locked);
    dram_raise(&rank->column[1], locked);
    dram_raise(&rank->pre_all, ready);
    dram_raise(&rank->refresh, ready);
    for (uint64_t banks = channel->open & dram_rank_banks(channel, number); banks; banks &= banks - 1u)
        dram_raise(&channel->bank[dram_lowest_bit(banks)].pre, ready);
}

/* Ranks in self-refresh have no turn. */
void dram_refresh_begin(struct dram_channel *channel, uint64_t clock)
{
    while (channel->refresh_waiting && channel->rank[channel->refresh_rank].self_refresh)
        dram_refresh_pass(channel);
    struct dram_rank *rank = &channel->rank[channel->refresh_rank];
    if (!channel->refresh_waiting || rank->low_from == DRAM_NEVER)
        return;
    const int low = dram_rank_is_low(channel, channel->refresh_rank, clock);
    rank->self_refreshes = channel->may_self_refresh && low && rank->low_from == rank->refreshed;
    if (low)
        dram_power_up(channel, channel->refresh_rank, clock);
    rank->low_from = DRAM_NEVER;
}
