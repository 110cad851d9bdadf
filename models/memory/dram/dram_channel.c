/* SPDX-License-Identifier: Apache-2.0 */
/* See dram_channel.h. */
#include "dram_channel.h"

#include "dram_policy.h"

#include <string.h>

/* Idle time of fewer refresh intervals is not skipped. */
enum { INTERVALS = 12 };

/* ---- state ---- */

/* Returns how many ranks are to be refreshed at `clock`, and sets when to ask again. */
static uint32_t set_refresh(struct dram_channel *channel, uint64_t clock)
{
    uint64_t again;
    const uint32_t ranks = channel->refresh->due(channel, &again);
    channel->refresh_at = again == DRAM_NEVER ? DRAM_NEVER : clock + again;
    return ranks;
}

static uint64_t first_banks(uint32_t bits)
{
    return UINT64_MAX >> (64u - (1u << bits));
}

void cnnvp_dram_channel_init(struct dram_channel *channel, const struct dram_options *options,
                             const struct dram_timing *timing, uint64_t clock)
{
    memset(channel, 0, sizeof *channel);
    channel->timing = timing;
    channel->ranks = options->ranks * options->pseudo_channels;
    channel->bank_bits = dram_lowest_bit(timing->banks);
    channel->rank_bits = channel->bank_bits + dram_lowest_bit(timing->groups);
    channel->bus_bits = channel->rank_bits + dram_lowest_bit(options->ranks);
    channel->group_banks = first_banks(channel->bank_bits);
    channel->rank_banks = first_banks(channel->rank_bits);
    channel->bus_banks = first_banks(channel->bus_bits);
    channel->scheduler = dram_schedulers[options->scheduler];
    channel->row_policy = dram_row_policies[options->row_policy];
    channel->refresh = dram_refreshes[options->refresh];
    channel->capacity = options->queue;
    channel->drain_high = options->queue * options->drain_high;
    channel->drain_low = options->queue * options->drain_low;
    channel->longest = options->turn;
    channel->low_after = options->power_down != DRAM_POWER_DOWN_off ? options->power_down_after : DRAM_NEVER / 2u;
    channel->may_self_refresh = options->power_down == DRAM_POWER_DOWN_self_refresh;
    for (uint32_t i = 0; i < DRAM_RANKS; ++i)
        channel->rank[i].low_from = clock + channel->low_after;
    channel->clock = channel->column_bus = channel->row_bus = clock;
    channel->plain_bus = timing->buses == 1 && timing->t[DRAM_T_cmd_act] == 1 && timing->column_bus == 1 &&
                         timing->t[DRAM_T_cmd_pre] == 1;
    (void)set_refresh(channel, clock - 1u);
    for (uint32_t i = 0; i < DRAM_BUSES; ++i)
        channel->bus[i] = (struct dram_bus){.last_write = -1, .end = clock, .empty_from = clock};
    channel->free_count = DRAM_ENTRIES;
    channel->started = DRAM_NONE;
    for (uint32_t i = 0; i < DRAM_ENTRIES; ++i)
        channel->free[i] = (uint8_t)(DRAM_ENTRIES - 1u - i);
    for (uint32_t i = 0; i < DRAM_BANKS; ++i) {
        channel->bank[i].active = DRAM_NONE;
        for (uint32_t write = 0; write < 2; ++write)
            channel->list[write][i] =
                (struct dram_list){.first = DRAM_NONE, .last = DRAM_NONE, .hit = DRAM_NONE, .other = DRAM_NONE};
    }
}

static int is_at(const struct dram_channel *channel, uint32_t index, const struct dram_place *place)
{
    return index != DRAM_NONE && channel->entry[index].row == place->row &&
           channel->entry[index].column == place->column;
}

int dram_find_write(const struct dram_channel *channel, const struct dram_place *place)
{
    if (is_at(channel, channel->list[1][place->bank].last, place)) /* pieces of one burst come one after the other */
        return 1;
    for (uint32_t i = channel->list[1][place->bank].first; i != DRAM_NONE; i = channel->entry[i].next)
        if (is_at(channel, i, place))
            return 1;
    return 0;
}

static void set_bank(uint64_t *banks, uint32_t bank, int on)
{
    *banks = on ? *banks | UINT64_C(1) << bank : *banks & ~(UINT64_C(1) << bank);
}

static void set_hit(struct dram_channel *channel, uint32_t write, uint32_t bank, uint8_t index)
{
    struct dram_list *list = &channel->list[write][bank];
    list->hit = index;
    list->hit_order = index == DRAM_NONE ? 0 : channel->entry[index].order;
    set_bank(&channel->hits[write], bank, index != DRAM_NONE);
}

static void set_other(struct dram_channel *channel, uint32_t write, uint32_t bank, uint8_t index)
{
    struct dram_list *list = &channel->list[write][bank];
    list->other = index;
    list->other_order = index == DRAM_NONE ? 0 : channel->entry[index].order;
    set_bank(&channel->others[write], bank, index != DRAM_NONE);
}

/* Appends a burst to its queue. Returns 1 if an older burst of its bank always goes before it: one of the same kind (to
 * the open row or not) if a row is open, any one otherwise. */
static int append(struct dram_channel *channel, uint8_t index)
{
    const struct dram_entry *entry = &channel->entry[index];
    const uint32_t write = entry->write, number = entry->bank;
    const struct dram_bank *bank = &channel->bank[number];
    struct dram_list *list = &channel->list[write][number];
    const int is_first = list->count++ == 0;
    if (!is_first) {
        channel->entry[list->last].next = index;
    } else {
        list->first = index;
        list->first_order = entry->order;
        channel->waiting[write] |= UINT64_C(1) << number;
    }
    list->last = index;
    ++channel->count[write];
    channel->written[dram_hash(number, entry->row, entry->column)] += (uint8_t)write;
    if (bank->open && bank->row == entry->row && list->hit == DRAM_NONE)
        set_hit(channel, write, number, index);
    else if (bank->open && bank->row != entry->row && list->other == DRAM_NONE)
        set_other(channel, write, number, index);
    return !is_first && list->hit != index && list->other != index;
}

/* Removes a burst from its queue. While a row is open, only bursts to it leave, so `other` stays as it is. */
static void leave_queue(struct dram_channel *channel, uint32_t index)
{
    const struct dram_entry *entry = &channel->entry[index];
    const uint32_t write = entry->write;
    struct dram_list *list = &channel->list[write][entry->bank];
    uint8_t after = entry->next;
    if (list->first == index) {
        list->first = after;
        list->first_order = after == DRAM_NONE ? 0 : channel->entry[after].order;
        if (after == DRAM_NONE)
            list->last = DRAM_NONE;
    } else {
        uint8_t before = list->first;
        while (channel->entry[before].next != index)
            before = channel->entry[before].next;
        channel->entry[before].next = after;
        if (list->last == index)
            list->last = before;
    }
    if (list->hit == index) {
        while (after != DRAM_NONE && channel->entry[after].row != entry->row)
            after = channel->entry[after].next;
        set_hit(channel, write, entry->bank, after);
    }
    if (--list->count == 0)
        set_bank(&channel->waiting[write], entry->bank, 0);
    --channel->count[write];
    channel->written[dram_hash(entry->bank, entry->row, entry->column)] -= (uint8_t)write;
}

/* Finds the oldest bursts of a bank to the row just opened, and to another row. */
static void find_hits(struct dram_channel *channel, uint32_t number)
{
    const uint32_t row = channel->bank[number].row;
    for (uint32_t write = 0; write < 2; ++write) {
        uint8_t oldest[2] = {DRAM_NONE, DRAM_NONE}; /* [0]: to another row, [1]: to this one */
        for (uint8_t i = channel->list[write][number].first; i != DRAM_NONE; i = channel->entry[i].next) {
            const int hit = channel->entry[i].row == row;
            if (oldest[hit] == DRAM_NONE)
                oldest[hit] = i;
        }
        set_hit(channel, write, number, oldest[1]);
        set_other(channel, write, number, oldest[0]);
    }
}

/* ---- entering ---- */

enum dram_enter cnnvp_dram_channel_enter(struct dram_channel *channel, const struct dram_place *place, uint32_t write,
                                         uint64_t clock, void *owner, uint32_t tag, uint32_t source, uint64_t *done)
{
    if (channel->count[1] && cnnvp_dram_channel_holds(channel, place)) {
        if (write) {
            ++channel->counts.merged;
            return DRAM_MERGED;
        }
        channel->returned = cnnvp_maximum(clock, channel->returned);
        ++channel->counts.forwarded;
        *done = channel->returned;
        return DRAM_FORWARDED;
    }
    dram_wake(channel, place->bank, clock);
    const uint8_t index = dram_keep_burst(channel, place, write, clock, owner, tag, source);
    const int behind = append(channel, index);
    dram_plan_enter(channel, clock, behind);
    return DRAM_QUEUED;
}

/* ---- effects of commands ---- */

static void close_bank(struct dram_channel *channel, uint32_t number)
{
    struct dram_bank *bank = &channel->bank[number];
    if (!bank->open)
        return;
    bank->open = 0;
    channel->open &= ~(UINT64_C(1) << number);
    --channel->rank[dram_rank_of(channel, number)].open;
    for (uint32_t write = 0; write < 2; ++write) {
        set_hit(channel, write, number, DRAM_NONE);
        set_other(channel, write, number, DRAM_NONE);
    }
}

void dram_open_bank(struct dram_channel *channel, uint32_t number, uint32_t row, uint64_t clock)
{
    const uint32_t *t = channel->timing->t;
    struct dram_rank *rank = &channel->rank[dram_rank_of(channel, number)];
    struct dram_bank *bank = &channel->bank[number];
    rank->window[rank->window_at] = clock + t[DRAM_T_faw];
    rank->window_at = (rank->window_at + 1u) % 4u;
    ++rank->open;
    dram_raise(&rank->act, cnnvp_maximum(clock + t[DRAM_T_rrd_s], rank->window[rank->window_at]));
    dram_raise(&rank->pre_all, clock + t[DRAM_T_ras]);
    dram_raise(&rank->refresh, clock + t[DRAM_T_rc]);
    dram_raise(&channel->group[dram_group_of(channel, number)].act, clock + t[DRAM_T_rrd_l]);
    dram_raise(&bank->act, clock + t[DRAM_T_rc]);
    dram_raise(&bank->column, clock + t[DRAM_T_rcd]);
    dram_raise(&bank->pre, clock + t[DRAM_T_ras]);
    bank->activated = ++channel->activations;
    bank->open = 1;
    channel->open |= UINT64_C(1) << number;
    bank->row = row;
}

static void do_act(struct dram_channel *channel, const struct dram_issued *issued)
{
    dram_open_bank(channel, issued->bank, issued->row, issued->clock);
    channel->bank[issued->bank].active = (uint8_t)channel->plan.entry;
    channel->active |= UINT64_C(1) << issued->bank;
    channel->active_writes |= (uint64_t)channel->entry[channel->plan.entry].write << issued->bank;
    ++channel->active_count;
    if (channel->timing->t[DRAM_T_aad]) {
        channel->second_by = issued->clock + channel->timing->t[DRAM_T_aad];
        channel->second_bank = issued->bank;
    }
    find_hits(channel, issued->bank);
}

static void do_pre(struct dram_channel *channel, uint32_t number, uint64_t clock)
{
    const uint32_t *t = channel->timing->t;
    ++channel->counts.precharges;
    dram_raise(&channel->bank[number].act, clock + t[DRAM_T_rp]);
    dram_raise(&channel->rank[dram_rank_of(channel, number)].refresh, clock + t[DRAM_T_rp]);
    close_bank(channel, number);
}

static void do_pre_all(struct dram_channel *channel, uint32_t number, uint64_t clock)
{
    const uint32_t rpab = channel->timing->t[DRAM_T_rpab];
    struct dram_rank *rank = &channel->rank[number];
    ++channel->counts.precharges;
    dram_raise(&rank->act, clock + rpab);
    dram_raise(&rank->refresh, clock + rpab);
    for (uint32_t i = 0; i < 1u << channel->rank_bits; ++i)
        close_bank(channel, (number << channel->rank_bits) + i);
}

/* Refreshes a rank by a REF; with `itself`, the rank enters self-refresh instead. */
static void do_refresh(struct dram_channel *channel, uint32_t number, int itself, uint64_t clock)
{
    struct dram_rank *rank = &channel->rank[number];
    const uint64_t end = clock + channel->timing->t[DRAM_T_rfc];
    rank->self_refresh = (uint8_t)itself;
    rank->low_from = clock;
    if (!itself) {
        rank->low_from = rank->refreshed = end + channel->low_after;
        dram_raise(&rank->act, end);
        dram_raise(&rank->refresh, end);
        channel->bus[number << channel->rank_bits >> channel->bus_bits].refresh_to = end;
    }
    dram_refresh_pass(channel);
    dram_refresh_begin(channel, clock);
}

/* Serves the planned burst by its RD or WR. */
static void do_column(struct dram_channel *channel, struct dram_issued *issued)
{
    const uint32_t *t = channel->timing->t;
    const uint32_t index = channel->plan.entry;
    struct dram_bank *bank = &channel->bank[issued->bank];
    struct dram_bus *bus = &channel->bus[dram_bus_of(channel, issued->bank)];
    const int write = channel->entry[index].write;
    if (channel->turn && write == channel->write_mode && channel->count[0])
        --channel->turn;
    issued->entry = channel->entry[index];
    if (bank->active == index) {
        bank->active = DRAM_NONE;
        channel->active &= ~(UINT64_C(1) << issued->bank);
        channel->active_writes &= channel->active;
        --channel->active_count;
    } else {
        leave_queue(channel, index);
    }
    channel->free[channel->free_count++] = (uint8_t)index;
    issued->turned = bus->last_write >= 0 && bus->last_write != write;
    channel->counts.turnarounds += (uint64_t)issued->turned;
    bus->last_write = write;
    dram_account(channel, bus, issued->clock + t[write ? DRAM_T_cwl : DRAM_T_cl], write, issued->turned);
    if (!dram_bus_waits(channel, dram_bus_of(channel, issued->bank)))
        bus->empty_from = issued->clock;
    channel->counts.queue_clocks[write] += issued->clock - issued->entry.entered;
    if (write) {
        dram_space_write(channel, issued->bank, issued->clock);
        issued->done = issued->clock + t[DRAM_T_cwl] + t[DRAM_T_bl];
    } else {
        dram_space_read(channel, issued->bank, issued->clock);
        channel->returned = cnnvp_maximum(issued->clock + t[DRAM_T_cl] + t[DRAM_T_bl], channel->returned);
        issued->done = channel->returned;
    }
    if (bank->active == DRAM_NONE && channel->row_policy->closes(channel, issued->bank)) {
        issued->command = write ? DRAM_WRA : DRAM_RDA;
        do_pre(channel, issued->bank, bank->pre);
    }
}

/* Classifies a burst by its first command: a PRE is a conflict, an ACT a miss, an RD or WR a hit. */
static void classify(struct dram_channel *channel, struct dram_issued *issued)
{
    struct dram_entry *entry = &channel->entry[channel->plan.entry];
    if (entry->classified)
        return;
    entry->classified = 1;
    issued->class_tag = entry->tag;
    issued->class_source = entry->source;
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

/* Holds the bus for the planned command, at `clock`, and moves time on. With two command buses, an ACT, PRE or REF can
 * follow an RD or WR at the same clock. */
static void take_bus(struct dram_channel *channel, uint64_t clock)
{
    const enum dram_command command = channel->plan.command;
    const int column = cnnvp_dram_is_column(command), alone = channel->timing->buses == 1;
    const uint64_t end = clock + dram_bus_clocks(channel->timing, command);
    if (column || alone)
        channel->column_bus = end;
    if (!column || alone)
        channel->row_bus = end;
    if (channel->plan.looked)
        dram_serve(channel, channel->plan.write_mode);
    dram_plan_pass(channel, clock + (!column || alone));
}

void cnnvp_dram_channel_issue(struct dram_channel *channel, struct dram_issued *issued)
{
    const uint64_t clock = cnnvp_dram_channel_next(channel);
    const struct dram_plan *plan = &channel->plan;
    issued->command = plan->command;
    issued->clock = clock;
    issued->row_class = DRAM_UNCLASSIFIED;
    if (plan->command == DRAM_REFRESH_DUE) {
        dram_plan_pass(channel, clock);
        channel->refresh_waiting += set_refresh(channel, clock);
        dram_refresh_begin(channel, clock);
        channel->bus[0].refresh_from = channel->bus[1].refresh_from = clock;
        return;
    }
    if (channel->plain_bus)
        dram_plan_pass(channel, clock + 1u);
    else
        take_bus(channel, clock);
    if (plan->command == DRAM_ACT_2) {
        issued->bank = channel->second_bank;
        issued->rank = dram_rank_of(channel, issued->bank);
        issued->row = channel->bank[issued->bank].row;
        channel->second_by = 0;
        return;
    }
    if (plan->entry == DRAM_NONE) {
        issued->rank = channel->refresh_rank;
        if (plan->command == DRAM_PREA)
            do_pre_all(channel, issued->rank, clock);
        else
            do_refresh(channel, issued->rank, plan->command == DRAM_SRE, clock);
        ++channel->counts.commands[issued->command];
        return;
    }
    const struct dram_entry *entry = &channel->entry[plan->entry];
    issued->bank = entry->bank;
    issued->rank = dram_rank_of(channel, entry->bank);
    issued->row = entry->row;
    channel->started = plan->command == DRAM_CAS ? plan->entry : DRAM_NONE;
    if (plan->command == DRAM_CAS)
        return;
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

/* ---- long idle times ---- */

/* Issues the refreshes of one interval, from where every rank's turn has passed and the next is due to where it is so
 * again. Returns the clock at which it is due. */
static uint64_t pass_interval(struct dram_channel *channel)
{
    struct dram_issued issued;
    do
        cnnvp_dram_channel_issue(channel, &issued);
    while (cnnvp_dram_channel_next(channel) != channel->refresh_at || channel->refresh_waiting ||
           channel->refresh_rank);
    return channel->refresh_at;
}

/* Adds `times` intervals of `clocks` clocks, in each of which `from` became `counts`. Timings that have passed by the
 * end of an interval need not move. */
static void add_intervals(struct dram_channel *channel, const struct dram_counts *from, uint64_t clocks, uint64_t times)
{
    struct dram_counts *const counts = &channel->counts;
    for (size_t i = 0; i < DRAM_COMMANDS; ++i)
        counts->commands[i] += times * (counts->commands[i] - from->commands[i]);
    for (size_t i = 0; i < DRAM_LOWS; ++i)
        counts->low_clocks[i] += times * (counts->low_clocks[i] - from->low_clocks[i]);
    counts->power_downs += times * (counts->power_downs - from->power_downs);
    for (uint32_t i = 0; i < channel->ranks; ++i)
        if (!channel->rank[i].self_refresh) {
            channel->rank[i].low_from += times * clocks;
            channel->rank[i].refreshed += times * clocks;
        }
    channel->clock += times * clocks;
    channel->refresh_at += times * clocks;
    channel->plan.valid = 0;
}

/* Commands of the same refresh interval as before, twice. */
static int is_alike(const struct dram_counts counts[3])
{
    int alike = counts[2].precharges == counts[1].precharges &&
                counts[2].power_downs - counts[1].power_downs == counts[1].power_downs - counts[0].power_downs;
    for (size_t i = 0; i < DRAM_COMMANDS; ++i)
        alike &= counts[2].commands[i] - counts[1].commands[i] == counts[1].commands[i] - counts[0].commands[i];
    for (size_t i = 0; i < DRAM_LOWS; ++i)
        alike &= counts[2].low_clocks[i] - counts[1].low_clocks[i] == counts[1].low_clocks[i] - counts[0].low_clocks[i];
    return alike;
}

void cnnvp_dram_channel_skip(struct dram_channel *channel, uint64_t last)
{
    struct dram_counts counts[3] = {{.hits = 0}};
    uint64_t ends[3] = {0};
    /* the intervals are those that are looked at, and one at the end that is issued command by command */
    if (channel->windows != NULL || cnnvp_dram_channel_waiting(channel) || channel->refresh_at > last ||
        (last - channel->refresh_at) / INTERVALS < channel->timing->t[DRAM_T_refi])
        return;
    for (uint32_t i = 0; i < INTERVALS - 3u; ++i) {
        memmove(counts, counts + 1, sizeof counts - sizeof *counts);
        memmove(ends, ends + 1, sizeof ends - sizeof *ends);
        ends[2] = pass_interval(channel);
        counts[2] = channel->counts;
        if (i >= 2 && ends[2] - ends[1] == ends[1] - ends[0] && is_alike(counts)) {
            const uint64_t clocks = ends[2] - ends[1];
            add_intervals(channel, &counts[1], clocks, (last - ends[2]) / clocks - 1u);
            return;
        }
    }
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
    sum->merged += counts->merged;
    sum->turnarounds += counts->turnarounds;
    sum->queue_clocks[0] += counts->queue_clocks[0];
    sum->queue_clocks[1] += counts->queue_clocks[1];
    sum->data_clocks += counts->data_clocks;
    sum->idle_clocks += counts->idle_clocks;
    sum->refresh_clocks += counts->refresh_clocks;
    sum->turnaround_clocks += counts->turnaround_clocks;
    sum->row_clocks += counts->row_clocks;
    for (size_t i = 0; i < DRAM_LOWS; ++i)
        sum->low_clocks[i] += counts->low_clocks[i];
    sum->power_downs += counts->power_downs;
}
