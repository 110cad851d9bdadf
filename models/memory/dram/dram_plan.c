/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the next command of a channel and its clock, by the rules in dram_channel.h. Nothing is tried clock by clock:
 * of all possible commands, the earliest wins. */
#include "dram_channel.h"

#include "dram_policy.h"

/* ---- bursts that have opened their row ---- */

static struct dram_candidate best_active(const struct dram_channel *channel, uint64_t from)
{
    uint64_t best = DRAM_NEVER;
    uint32_t at = 0;
    for (uint64_t banks = channel->active; banks; banks &= banks - 1u) {
        const uint32_t bank = dram_lowest_bit(banks);
        const uint32_t write = channel->active_writes >> bank & 1u;
        const uint64_t clock = cnnvp_maximum(from, dram_column_ready(channel, bank, write));
        if (clock < best || (clock == best && dram_active_precedes(channel, bank, at))) {
            best = clock;
            at = bank;
        }
    }
    if (best == DRAM_NEVER)
        return DRAM_NO_CANDIDATE;
    return (struct dram_candidate){
        best, channel->bank[at].active, channel->active_writes >> at & 1u ? DRAM_WR : DRAM_RD};
}

/* ---- the plan ---- */

void dram_plan_pass(struct dram_channel *channel, uint64_t clock)
{
    if (channel->plan.valid && channel->plan.looked && clock > channel->plan.from)
        dram_serve(channel, channel->plan.write_mode);
    channel->clock = cnnvp_maximum(channel->clock, clock);
    channel->plan.valid = 0;
}

void dram_plan_enter(struct dram_channel *channel, uint64_t clock, int behind)
{
    struct dram_plan *plan = &channel->plan;
    const int stays = behind && plan->valid && clock < plan->clock && !channel->second_by;
    dram_plan_pass(channel, clock);
    if (stays && (!plan->looked || plan->write_mode == dram_next_mode(channel))) {
        plan->from = channel->clock;
        plan->valid = 1;
    }
}

static void set_plan(struct dram_plan *plan, uint64_t clock, enum dram_command command, uint32_t entry)
{
    plan->clock = clock;
    plan->command = command;
    plan->entry = entry;
}

/* Plans the second command of an ACT if it can go before the planned command, if that command is another ACT, or if
 * that command would make it late. */
static void plan_second(const struct dram_channel *channel, struct dram_plan *plan)
{
    const uint64_t clock = cnnvp_maximum(plan->from, channel->row_bus);
    const int shares = channel->timing->buses == 1 || !cnnvp_dram_is_column(plan->command);
    const uint64_t cas = plan->entry != DRAM_NONE &&
                         dram_needs_cas(channel, plan->command, channel->entry[plan->entry].bank, plan->clock);
    if (clock < plan->clock || plan->command == DRAM_ACT ||
        (shares && plan->clock + cas + dram_bus_clocks(channel->timing, plan->command) > channel->second_by))
        set_plan(plan, clock, DRAM_ACT_2, DRAM_NONE);
}

/* Plans the next command, assuming that no burst enters before it. */
static void plan_any(struct dram_channel *channel, struct dram_plan *plan)
{
    const uint64_t from = plan->from;
    const struct dram_candidate active = best_active(channel, cnnvp_maximum(from, channel->column_bus));
    set_plan(plan, active.clock, active.command, active.entry);
    if (channel->refresh_waiting) {
        const struct dram_rank *rank = &channel->rank[channel->refresh_rank];
        const uint64_t banks = dram_rank_banks(channel, channel->refresh_rank);
        const int itself = rank->self_refreshes && !dram_waits(channel, banks);
        const uint64_t ready = rank->open ? rank->pre_all : rank->refresh + channel->timing->refresh_more;
        const uint64_t clock = cnnvp_maximum(cnnvp_maximum(from, channel->row_bus), ready);
        if (clock < plan->clock && !(rank->open && (channel->active & banks)))
            set_plan(plan, clock, rank->open ? DRAM_PREA : itself ? DRAM_SRE : DRAM_REF, DRAM_NONE);
    } else if (active.clock > from && !(channel->scheduler->one_by_one && channel->active)) {
        plan->looked = 1;
        plan->write_mode = dram_next_mode(channel);
        const struct dram_candidate queued = channel->scheduler->next(channel, (uint32_t)plan->write_mode, from);
        if (queued.clock < plan->clock)
            set_plan(plan, queued.clock, queued.command, queued.entry);
    }
    if (channel->second_by)
        plan_second(channel, plan);
    if (plan->entry != DRAM_NONE &&
        dram_needs_cas(channel, plan->command, channel->entry[plan->entry].bank, plan->clock))
        plan->command = DRAM_CAS;
}

void dram_plan_make(struct dram_channel *channel)
{
    struct dram_plan *plan = &channel->plan;
    plan->valid = 1;
    plan->from = channel->clock;
    plan->looked = 0;
    if (channel->started != DRAM_NONE)
        set_plan(plan, channel->clock, channel->entry[channel->started].write ? DRAM_WR : DRAM_RD, channel->started);
    else
        plan_any(channel, plan);
    if (channel->refresh_at <= plan->clock)
        set_plan(plan, channel->refresh_at, DRAM_REFRESH_DUE, DRAM_NONE);
}
