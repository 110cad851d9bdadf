/* SPDX-License-Identifier: Apache-2.0 */
/* See dram_channel.h. */
#include "dram_channel.h"

#include <string.h>

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void raise_to(uint64_t *ready, uint64_t clock)
{
    if (*ready < clock)
        *ready = clock;
}

static uint32_t lowest_bit(uint64_t bits)
{
    return (uint32_t)__builtin_ctzll(bits);
}

static uint32_t group_of(const struct dram_channel *channel, uint32_t bank)
{
    return bank >> channel->bank_bits;
}

static uint32_t rank_of(const struct dram_channel *channel, uint32_t bank)
{
    return bank >> channel->rank_bits;
}

/* ---- state ---- */

void cnnvp_dram_channel_init(struct dram_channel *channel, const struct dram_options *options,
                             const struct dram_timing *timing, uint64_t clock)
{
    memset(channel, 0, sizeof *channel);
    channel->timing = timing;
    channel->ranks = options->ranks;
    channel->bank_bits = lowest_bit(timing->banks);
    channel->rank_bits = channel->bank_bits + lowest_bit(timing->groups);
    channel->fcfs = options->fcfs;
    channel->closed_page = options->closed_page;
    channel->capacity = options->queue;
    channel->drain_high = options->queue * options->drain_high;
    channel->drain_low = options->queue * options->drain_low;
    channel->clock = clock;
    channel->refresh_at = clock - 1u + timing->t[DRAM_T_refi];
    channel->last_write = -1;
    channel->free_count = DRAM_ENTRIES;
    for (uint32_t i = 0; i < DRAM_ENTRIES; ++i)
        channel->free[i] = (uint8_t)(DRAM_ENTRIES - 1u - i);
    for (uint32_t i = 0; i < DRAM_BANKS; ++i) {
        channel->bank[i].active = DRAM_NONE;
        channel->list[0][i].first = channel->list[1][i].first = DRAM_NONE;
    }
}

int cnnvp_dram_channel_room(const struct dram_channel *channel, uint32_t write)
{
    return channel->count[write] < channel->capacity;
}

/* Takes what was planned for the clocks before `clock` as decided. */
static void pass(struct dram_channel *channel, uint64_t clock)
{
    if (channel->plan.valid && channel->plan.looked && clock > channel->plan.from)
        channel->write_mode = channel->plan.write_mode;
    raise_to(&channel->clock, clock);
    channel->plan.valid = 0;
}

static int write_waits(const struct dram_channel *channel, const struct dram_place *place)
{
    const uint8_t active = channel->bank[place->bank].active;
    if (active != DRAM_NONE && channel->entry[active].write && channel->entry[active].row == place->row
        && channel->entry[active].column == place->column)
        return 1;
    for (uint32_t i = channel->list[1][place->bank].first; i != DRAM_NONE; i = channel->entry[i].next)
        if (channel->entry[i].row == place->row && channel->entry[i].column == place->column)
            return 1;
    return 0;
}

static void leave_queue(struct dram_channel *channel, uint32_t index)
{
    const struct dram_entry *entry = &channel->entry[index];
    const struct dram_bank *bank = &channel->bank[entry->bank];
    struct dram_list *list = &channel->list[entry->write][entry->bank];
    uint32_t before = DRAM_NONE;
    for (uint32_t i = list->first; i != index; i = channel->entry[i].next)
        before = i;
    if (before == DRAM_NONE)
        list->first = entry->next;
    else
        channel->entry[before].next = entry->next;
    if (list->last == index)
        list->last = (uint8_t)before;
    if (bank->open && bank->row == entry->row)
        --list->hits;
    if (--list->count == 0)
        channel->waiting[entry->write] &= ~(UINT64_C(1) << entry->bank);
    --channel->count[entry->write];
}

static void count_hits(struct dram_channel *channel, uint32_t number)
{
    const struct dram_bank *bank = &channel->bank[number];
    for (uint32_t write = 0; write < 2; ++write) {
        struct dram_list *list = &channel->list[write][number];
        list->hits = 0;
        if (bank->open && list->count)
            for (uint32_t i = list->first; i != DRAM_NONE; i = channel->entry[i].next)
                list->hits = (uint8_t)(list->hits + (channel->entry[i].row == bank->row));
    }
}

/* ---- what can issue when ---- */

static uint64_t column_ready(const struct dram_channel *channel, uint32_t bank, uint32_t write)
{
    const uint64_t high = later(channel->bus[write], channel->rank[rank_of(channel, bank)].column[write]);
    return later(high, later(channel->group[group_of(channel, bank)].column[write], channel->bank[bank].column));
}

static uint64_t act_ready(const struct dram_channel *channel, uint32_t bank)
{
    const struct dram_rank *rank = &channel->rank[rank_of(channel, bank)];
    const uint64_t high = later(rank->act, rank->window[rank->window_at]);
    return later(high, later(channel->group[group_of(channel, bank)].act, channel->bank[bank].act));
}

/* A command that could be next: the earliest, of those the oldest. */
struct candidate {
    uint64_t clock, order;
    uint32_t entry;
    enum dram_command command;
};

static void consider(struct candidate *best, uint64_t clock, uint64_t order, uint32_t entry, enum dram_command command)
{
    if (clock < best->clock || (clock == best->clock && order < best->order))
        *best = (struct candidate){clock, order, entry, command};
}

/* Of the bursts whose row is open for them. Ties: the one that entered first, then whose ACT was first. */
static struct candidate best_active(const struct dram_channel *channel, uint64_t from)
{
    struct candidate best = {DRAM_NEVER, DRAM_NEVER, DRAM_NONE, DRAM_RD};
    for (uint64_t banks = channel->active; banks; banks &= banks - 1u) {
        const uint32_t bank = lowest_bit(banks);
        const uint32_t index = channel->bank[bank].active;
        const struct dram_entry *entry = &channel->entry[index];
        const uint64_t clock = later(from, column_ready(channel, bank, entry->write));
        int better = clock < best.clock;
        if (clock == best.clock) {
            const struct dram_entry *other = &channel->entry[best.entry];
            better = entry->entered < other->entered
                     || (entry->entered == other->entered
                         && channel->bank[bank].activated < channel->bank[other->bank].activated);
        }
        if (better)
            best = (struct candidate){clock, 0, index, entry->write ? DRAM_WR : DRAM_RD};
    }
    return best;
}

static void consider_bank(const struct dram_channel *channel, struct candidate *best, uint32_t number, uint32_t write,
                          uint64_t from, uint64_t before)
{
    const struct dram_bank *bank = &channel->bank[number];
    const struct dram_list *list = &channel->list[write][number];
    uint32_t index = list->first;
    if (!bank->open) {
        if (channel->entry[index].order < before)
            consider(best, later(from, act_ready(channel, number)), channel->entry[index].order, index, DRAM_ACT);
        return;
    }
    int hit = list->hits > 0, other = list->hits < list->count; /* still to be found: the oldest of each */
    for (; hit || other; index = channel->entry[index].next) {
        const struct dram_entry *entry = &channel->entry[index];
        if (entry->order >= before)
            return;
        if (entry->row == bank->row) {
            if (hit)
                consider(best, later(from, column_ready(channel, number, write)), entry->order, index,
                         write ? DRAM_WR : DRAM_RD);
            hit = 0;
        } else {
            if (other)
                consider(best, later(from, bank->pre), entry->order, index, DRAM_PRE);
            other = 0;
        }
    }
}

/* Clock before which no rank can take an ACT. */
static uint64_t first_act(const struct dram_channel *channel)
{
    uint64_t first = DRAM_NEVER;
    for (uint32_t i = 0; i < channel->ranks; ++i) {
        const uint64_t ready = later(channel->rank[i].act, channel->rank[i].window[channel->rank[i].window_at]);
        first = ready < first ? ready : first;
    }
    return first;
}

/* Of a queue, entries with an order less than `before`. */
static struct candidate best_queued(const struct dram_channel *channel, uint32_t write, uint64_t from, uint64_t before)
{
    struct candidate best = {DRAM_NEVER, DRAM_NEVER, DRAM_NONE, DRAM_RD};
    uint64_t banks = channel->waiting[write];
    if (channel->fcfs && banks) {
        uint64_t oldest = DRAM_NEVER;
        for (uint64_t left = banks; left; left &= left - 1u) {
            const uint32_t bank = lowest_bit(left);
            const uint64_t order = channel->entry[channel->list[write][bank].first].order;
            if (order < oldest) {
                oldest = order;
                banks = UINT64_C(1) << bank;
            }
        }
        before = oldest + 1u < before ? oldest + 1u : before;
    }
    uint64_t closed = banks & ~channel->open;
    for (banks &= channel->open; banks; banks &= banks - 1u)
        consider_bank(channel, &best, lowest_bit(banks), write, from, before);
    if (closed && later(from, first_act(channel)) > best.clock)
        return best;
    for (; closed; closed &= closed - 1u)
        consider_bank(channel, &best, lowest_bit(closed), write, from, before);
    return best;
}

/* A row is not closed under a burst that has opened it: then nothing issues until that burst or an older one can go. */
static struct candidate best_unblocked(const struct dram_channel *channel, uint32_t write, uint64_t from, uint64_t limit,
                                       int *blocked)
{
    uint64_t before = DRAM_NEVER;
    for (;;) {
        const struct candidate best = best_queued(channel, write, from, before);
        if (best.clock >= limit || best.command != DRAM_PRE
            || channel->bank[channel->entry[best.entry].bank].active == DRAM_NONE)
            return best;
        *blocked = 1;
        before = best.order;
        from = best.clock;
    }
}

static int next_mode(const struct dram_channel *channel)
{
    const uint32_t reads = channel->count[0], writes = channel->count[1];
    if (!channel->write_mode)
        return writes * 100u > channel->drain_high || !reads;
    return !((!writes || writes * 100u < channel->drain_low) && reads);
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
    const struct candidate active = best_active(channel, from);
    set_plan(plan, active.clock, active.command, active.entry);
    if (channel->refresh_waiting) {
        const struct dram_rank *rank = &channel->rank[channel->refresh_rank];
        const uint32_t first = channel->refresh_rank << channel->rank_bits;
        const uint64_t banks = ((UINT64_C(1) << (1u << channel->rank_bits)) - 1u) << first;
        const uint64_t clock = later(from, rank->open ? rank->pre_all : rank->refresh);
        if (clock < plan->clock && !(rank->open && (channel->active & banks)))
            set_plan(plan, clock, rank->open ? DRAM_PREA : DRAM_REF, DRAM_NONE);
    } else if (active.clock > from && !(channel->fcfs && channel->active)) {
        plan->looked = 1;
        plan->write_mode = next_mode(channel);
        const struct candidate queued = best_unblocked(channel, (uint32_t)plan->write_mode, from, active.clock, &plan->blocked);
        if (queued.clock < plan->clock)
            set_plan(plan, queued.clock, queued.command, queued.entry);
    }
    if (channel->refresh_at <= plan->clock)
        set_plan(plan, channel->refresh_at, DRAM_REFRESH_DUE, DRAM_NONE);
}

uint64_t cnnvp_dram_channel_next(struct dram_channel *channel)
{
    if (!channel->plan.valid)
        make_plan(channel);
    return channel->plan.clock;
}

/* ---- entering ---- */

/* The entry is the last of its bank's list: what it adds to the commands that could be next; 0 if nothing, because an older one of
 * the bank wants the same. */
static int adds(const struct dram_channel *channel, uint32_t index, uint64_t from, struct candidate *candidate)
{
    const struct dram_entry *entry = &channel->entry[index];
    const struct dram_bank *bank = &channel->bank[entry->bank];
    const struct dram_list *list = &channel->list[entry->write][entry->bank];
    const uint64_t order = entry->order;
    if (!bank->open) {
        if (list->count > 1)
            return 0;
        *candidate = (struct candidate){later(from, act_ready(channel, entry->bank)), order, index, DRAM_ACT};
    } else if (entry->row == bank->row) {
        if (list->hits > 1)
            return 0;
        *candidate = (struct candidate){later(from, column_ready(channel, entry->bank, entry->write)), order, index,
                                        entry->write ? DRAM_WR : DRAM_RD};
    } else {
        if (list->count - list->hits > 1)
            return 0;
        *candidate = (struct candidate){later(from, bank->pre), order, index, DRAM_PRE};
    }
    return 1;
}

/* An entry that has come at `clock` and what is planned: 1 if the plan holds, or has been changed to its command; 0 if it must be made
 * anew. */
static int revise(struct dram_channel *channel, uint32_t index, uint64_t clock)
{
    struct dram_plan *plan = &channel->plan;
    const struct dram_entry *entry = &channel->entry[index];
    struct candidate candidate;
    if (!plan->valid || plan->blocked || channel->fcfs || clock >= plan->clock)
        return 0;
    if (!plan->looked)
        return 1; /* refreshes go first */
    if (clock > plan->from)
        channel->write_mode = plan->write_mode;
    channel->clock = clock;
    plan->from = clock;
    if (next_mode(channel) != plan->write_mode)
        return 0;
    if (entry->write != plan->write_mode || !adds(channel, index, clock, &candidate) || candidate.clock >= plan->clock)
        return 1;
    if (candidate.command == DRAM_PRE && channel->bank[entry->bank].active != DRAM_NONE)
        return 0;
    set_plan(plan, candidate.clock, candidate.command, index);
    return 1;
}

enum dram_enter cnnvp_dram_channel_enter(struct dram_channel *channel, const struct dram_place *place, uint32_t write,
                                         uint64_t clock, void *owner, uint32_t tag, uint64_t *done)
{
    if (!write && channel->count[1] + channel->active_count && write_waits(channel, place)) {
        channel->returned = later(clock, channel->returned + 1u);
        ++channel->counts.forwarded;
        *done = channel->returned;
        return DRAM_FORWARDED;
    }
    const uint8_t index = channel->free[--channel->free_count];
    struct dram_entry *entry = &channel->entry[index];
    *entry = (struct dram_entry){.entered = clock, .order = ++channel->order, .owner = owner, .row = place->row,
                                 .column = place->column, .tag = tag, .bank = (uint8_t)place->bank,
                                 .write = (uint8_t)write, .next = DRAM_NONE};
    struct dram_list *list = &channel->list[write][place->bank];
    if (list->count++)
        channel->entry[list->last].next = index;
    else
        list->first = index;
    list->last = index;
    const struct dram_bank *bank = &channel->bank[place->bank];
    if (bank->open && bank->row == place->row)
        ++list->hits;
    channel->waiting[write] |= UINT64_C(1) << place->bank;
    ++channel->count[write];
    if (!revise(channel, index, clock))
        pass(channel, clock);
    return DRAM_QUEUED;
}

/* ---- what a command changes ---- */

static void close_bank(struct dram_channel *channel, uint32_t number)
{
    struct dram_bank *bank = &channel->bank[number];
    if (!bank->open)
        return;
    bank->open = 0;
    channel->open &= ~(UINT64_C(1) << number);
    --channel->rank[rank_of(channel, number)].open;
    channel->list[0][number].hits = channel->list[1][number].hits = 0;
}

static void do_act(struct dram_channel *channel, const struct dram_issued *issued)
{
    const uint32_t *t = channel->timing->t;
    const uint64_t clock = issued->clock;
    struct dram_rank *rank = &channel->rank[issued->rank];
    struct dram_bank *bank = &channel->bank[issued->bank];
    rank->window[rank->window_at] = clock + t[DRAM_T_faw];
    rank->window_at = (rank->window_at + 1u) % 4u;
    ++rank->open;
    raise_to(&rank->act, clock + t[DRAM_T_rrd_s]);
    raise_to(&rank->pre_all, clock + t[DRAM_T_ras]);
    raise_to(&rank->refresh, clock + t[DRAM_T_rc]);
    raise_to(&channel->group[group_of(channel, issued->bank)].act, clock + t[DRAM_T_rrd_l]);
    raise_to(&bank->act, clock + t[DRAM_T_rc]);
    raise_to(&bank->column, clock + t[DRAM_T_rcd]);
    raise_to(&bank->pre, clock + t[DRAM_T_ras]);
    bank->activated = ++channel->activations;
    bank->open = 1;
    channel->open |= UINT64_C(1) << issued->bank;
    bank->row = issued->row;
    bank->active = (uint8_t)channel->plan.entry;
    channel->active |= UINT64_C(1) << issued->bank;
    ++channel->active_count;
    count_hits(channel, issued->bank);
}

static void do_pre(struct dram_channel *channel, uint32_t number, uint64_t clock)
{
    const uint32_t *t = channel->timing->t;
    ++channel->counts.precharges;
    raise_to(&channel->bank[number].act, clock + t[DRAM_T_rp]);
    raise_to(&channel->rank[rank_of(channel, number)].refresh, clock + t[DRAM_T_rp]);
    close_bank(channel, number);
}

static void do_pre_all(struct dram_channel *channel, uint32_t number, uint64_t clock)
{
    const uint32_t rpab = channel->timing->t[DRAM_T_rpab];
    struct dram_rank *rank = &channel->rank[number];
    ++channel->counts.precharges;
    raise_to(&rank->act, clock + rpab);
    raise_to(&rank->refresh, clock + rpab);
    for (uint32_t i = 0; i < 1u << channel->rank_bits; ++i)
        close_bank(channel, (number << channel->rank_bits) + i);
}

static void do_refresh(struct dram_channel *channel, uint32_t number, uint64_t clock)
{
    struct dram_rank *rank = &channel->rank[number];
    raise_to(&rank->act, clock + channel->timing->t[DRAM_T_rfc]);
    raise_to(&rank->refresh, clock + channel->timing->t[DRAM_T_rfc]);
    --channel->refresh_waiting;
    if (++channel->refresh_rank == channel->ranks)
        channel->refresh_rank = 0;
}

static void do_read(struct dram_channel *channel, const struct dram_issued *issued)
{
    const uint32_t *t = channel->timing->t;
    const uint64_t clock = issued->clock;
    const uint64_t turn = clock + t[DRAM_T_cl] + t[DRAM_T_bl] + t[DRAM_T_rtw] - t[DRAM_T_cwl];
    struct dram_rank *rank = &channel->rank[issued->rank];
    raise_to(&channel->bus[0], clock + t[DRAM_T_bl]);
    raise_to(&rank->column[0], clock + t[DRAM_T_ccd_s]);
    raise_to(&rank->column[1], turn);
    raise_to(&rank->pre_all, clock + t[DRAM_T_rtp]);
    raise_to(&channel->group[group_of(channel, issued->bank)].column[0], clock + t[DRAM_T_ccd_l]);
    raise_to(&channel->bank[issued->bank].pre, clock + t[DRAM_T_rtp]);
    for (uint32_t i = 0; i < channel->ranks; ++i)
        if (i != issued->rank) {
            raise_to(&channel->rank[i].column[0], clock + t[DRAM_T_bl] + t[DRAM_T_cs]);
            raise_to(&channel->rank[i].column[1], turn);
        }
}

static void do_write(struct dram_channel *channel, const struct dram_issued *issued)
{
    const uint32_t *t = channel->timing->t;
    const uint64_t clock = issued->clock, end = clock + t[DRAM_T_cwl] + t[DRAM_T_bl];
    struct dram_rank *rank = &channel->rank[issued->rank];
    struct dram_group *group = &channel->group[group_of(channel, issued->bank)];
    raise_to(&channel->bus[1], clock + t[DRAM_T_bl]);
    raise_to(&rank->column[1], clock + t[DRAM_T_ccd_s]);
    raise_to(&rank->column[0], end + t[DRAM_T_wtr_s]);
    raise_to(&rank->pre_all, end + t[DRAM_T_wr]);
    raise_to(&group->column[1], clock + t[DRAM_T_ccd_l]);
    raise_to(&group->column[0], end + t[DRAM_T_wtr_l]);
    raise_to(&channel->bank[issued->bank].pre, end + t[DRAM_T_wr]);
    for (uint32_t i = 0; i < channel->ranks; ++i)
        if (i != issued->rank) {
            raise_to(&channel->rank[i].column[1], clock + t[DRAM_T_bl] + t[DRAM_T_cs]);
            if (end + t[DRAM_T_cs] > t[DRAM_T_cl])
                raise_to(&channel->rank[i].column[0], end + t[DRAM_T_cs] - t[DRAM_T_cl]);
        }
}

/* RD or WR: the burst is served. */
static void do_column(struct dram_channel *channel, struct dram_issued *issued)
{
    const uint32_t *t = channel->timing->t;
    const uint32_t index = channel->plan.entry;
    struct dram_bank *bank = &channel->bank[issued->bank];
    const int write = channel->entry[index].write;
    issued->entry = channel->entry[index];
    if (bank->active == index) {
        bank->active = DRAM_NONE;
        channel->active &= ~(UINT64_C(1) << issued->bank);
        --channel->active_count;
    } else {
        leave_queue(channel, index);
    }
    channel->free[channel->free_count++] = (uint8_t)index;
    channel->counts.turnarounds += channel->last_write >= 0 && channel->last_write != write;
    channel->last_write = write;
    channel->counts.queue_clocks[write] += issued->clock - issued->entry.entered;
    if (write) {
        do_write(channel, issued);
        issued->done = issued->clock + t[DRAM_T_cwl] + t[DRAM_T_bl];
    } else {
        do_read(channel, issued);
        channel->returned = later(issued->clock + t[DRAM_T_cl] + t[DRAM_T_bl], channel->returned + 1u);
        issued->done = channel->returned;
    }
    if (channel->closed_page && bank->active == DRAM_NONE
        && !(channel->list[0][issued->bank].hits + channel->list[1][issued->bank].hits)) {
        issued->command = write ? DRAM_WRA : DRAM_RDA;
        do_pre(channel, issued->bank, bank->pre);
    }
}

/* What the burst's first command finds. */
static void classify(struct dram_channel *channel, struct dram_issued *issued)
{
    struct dram_entry *entry = &channel->entry[channel->plan.entry];
    if (entry->classified)
        return;
    entry->classified = 1;
    issued->class_tag = entry->tag;
    if (issued->command == DRAM_PRE) {
        issued->row_class = DRAM_CONFLICT;
        ++channel->counts.conflicts;
    } else if (issued->command == DRAM_ACT) {
        issued->row_class = DRAM_MISS;
        ++channel->counts.misses;
    } else {
        issued->row_class = DRAM_HIT;
        ++channel->counts.hits;
    }
}

void cnnvp_dram_channel_issue(struct dram_channel *channel, struct dram_issued *issued)
{
    const uint64_t clock = cnnvp_dram_channel_next(channel);
    const struct dram_plan *plan = &channel->plan;
    issued->command = plan->command;
    issued->clock = clock;
    issued->row_class = DRAM_UNCLASSIFIED;
    if (plan->command == DRAM_REFRESH_DUE) {
        pass(channel, clock);
        channel->refresh_waiting += channel->ranks;
        channel->refresh_at += channel->timing->t[DRAM_T_refi];
        return;
    }
    pass(channel, clock + 1u);
    if (plan->entry == DRAM_NONE) {
        issued->rank = channel->refresh_rank;
        if (plan->command == DRAM_REF)
            do_refresh(channel, issued->rank, clock);
        else
            do_pre_all(channel, issued->rank, clock);
        ++channel->counts.commands[issued->command];
        return;
    }
    const struct dram_entry *entry = &channel->entry[plan->entry];
    issued->bank = entry->bank;
    issued->rank = rank_of(channel, entry->bank);
    issued->row = entry->row;
    classify(channel, issued);
    if (plan->command == DRAM_ACT) {
        leave_queue(channel, plan->entry);
        do_act(channel, issued);
    } else if (plan->command == DRAM_PRE) {
        do_pre(channel, issued->bank, clock);
    } else {
        do_column(channel, issued);
    }
    ++channel->counts.commands[issued->command];
}

void cnnvp_dram_counts_add(struct dram_counts *sum, const struct dram_counts *counts)
{
    for (size_t i = 0; i < DRAM_COMMANDS; ++i)
        sum->commands[i] += counts->commands[i];
    sum->hits += counts->hits;
    sum->misses += counts->misses;
    sum->conflicts += counts->conflicts;
    sum->precharges += counts->precharges;
    sum->forwarded += counts->forwarded;
    sum->turnarounds += counts->turnarounds;
    sum->queue_clocks[0] += counts->queue_clocks[0];
    sum->queue_clocks[1] += counts->queue_clocks[1];
}
