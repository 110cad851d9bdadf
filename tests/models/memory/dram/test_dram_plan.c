/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller against a plain one that goes clock by clock, looks at every burst at every clock and asks the table
 * of timings (dram_rules.c) what is allowed: the same commands at the same clocks, and none that breaks a timing.
 * Random traffic, all presets, ranks, channels, schedulers, page policies, mappings, queue lengths.
 */

#include "test.h"

#include "dram_options.h"
#include "memory/dram/dram_policy.h"
#include "memory/dram/dram_replay.h"
#include "dram_rules.h"
#include "random.h"

#define BURSTS 800u
#define MAX_COMMANDS 20000u

struct burst {
    uint32_t write;
    uint64_t address;
};

struct plain_entry {
    struct dram_place place;
    uint32_t write;
    uint64_t entered;
};

struct plain_list {
    uint32_t count;
    struct plain_entry entries[DRAM_QUEUE + DRAM_BANKS];
};

struct plain_channel {
    struct rules rules;
    struct plain_list queue[2], active;
    uint32_t refreshes; /* waiting, rank after rank */
    uint32_t next_rank;
    int write_mode;
    uint32_t drained, owed; /* writes of this drain while reads waited; reads that go before the next */
    uint64_t returned;
    uint64_t wck; /* clock from which on WCK has stopped */
    int started;  /* a CAS was in the last clock: */
    uint32_t of;  /* place of its burst in this list */
    struct plain_list *in;
    struct rules_command *commands;
    uint32_t command_count;
};

struct plain {
    struct dram_options options;
    struct dram_timing timing;
    struct dram_map map;
    struct plain_channel channel[4];
    uint64_t ends[BURSTS]; /* of reads whose end is known and not yet passed */
    uint32_t end_count;
    uint32_t on_their_way;
    uint64_t clocks, read_clocks, forwarded, merged;
};

static uint64_t random_state;

/* ---- the plain controller ---- */

static uint32_t rank_of(const struct plain *plain, uint32_t bank)
{
    return bank / (plain->timing.groups * plain->timing.banks);
}

static enum dram_command next_command(const struct plain_channel *channel, const struct plain_entry *entry)
{
    if (!channel->rules.open[entry->place.bank])
        return DRAM_ACT;
    if (channel->rules.row[entry->place.bank] != entry->place.row)
        return DRAM_PRE;
    return entry->write ? DRAM_WR : DRAM_RD;
}

/* It would close a row under a burst that has opened it. */
static int disturbs(const struct plain_channel *channel, const struct plain_entry *entry)
{
    if (next_command(channel, entry) == DRAM_PRE)
        for (uint32_t i = 0; i < channel->active.count; ++i)
            if (channel->active.entries[i].place.bank == entry->place.bank)
                return 1;
    return 0;
}

/* The scheduler keeps the row for a burst that has not come after this one. */
static int is_kept(const struct plain *plain, const struct plain_channel *channel, const struct plain_list *list,
                   uint32_t index)
{
    const struct plain_entry *entry = &list->entries[index];
    if (plain->options.scheduler != DRAM_SCHEDULER_fr_fcfs_row_hit || next_command(channel, entry) != DRAM_PRE)
        return 0;
    for (uint32_t i = 0; i < list->count; ++i)
        if (list->entries[i].entered <= entry->entered && list->entries[i].place.bank == entry->place.bank &&
            list->entries[i].place.row == channel->rules.row[entry->place.bank])
            return 1;
    return 0;
}

static int is_ready(const struct plain *plain, const struct plain_channel *channel, const struct plain_entry *entry,
                    uint64_t clock)
{
    return !disturbs(channel, entry) && rules_earliest(&channel->rules, next_command(channel, entry),
                                                       rank_of(plain, entry->place.bank), entry->place.bank) <= clock;
}

enum buses { COLUMN_BUS = 1, ROW_BUS = 2, BOTH_BUSES = 3 };

/* The oldest that is ready for a command on one of the buses, or -1; with fcfs the oldest if it is. */
static int best_of(const struct plain *plain, const struct plain_channel *channel, const struct plain_list *list,
                   uint64_t clock, enum buses buses, int fcfs)
{
    int best = -1;
    for (uint32_t i = 0; i < list->count; ++i) {
        const enum dram_command command = next_command(channel, &list->entries[i]);
        const enum buses bus = command == DRAM_ACT || command == DRAM_PRE ? ROW_BUS : COLUMN_BUS;
        if ((bus & buses) && !is_kept(plain, channel, list, i) && is_ready(plain, channel, &list->entries[i], clock) &&
            (best < 0 || list->entries[i].entered < list->entries[best].entered))
            best = (int)i;
        if (fcfs)
            break;
    }
    return best;
}

static void emit(struct plain *plain, struct plain_channel *channel, enum dram_command command, uint64_t clock,
                 uint32_t rank, const struct plain_entry *entry)
{
    (void)plain;
    const struct rules_command issued = {command, clock, rank, entry != NULL ? entry->place.bank : 0,
                                         entry != NULL && command != DRAM_PRE ? entry->place.row : 0};
    assert_null(rules_issue(&channel->rules, &issued));
    assert_true(channel->command_count < MAX_COMMANDS);
    channel->commands[channel->command_count++] = issued;
}

static int wanted_again(const struct plain_channel *channel, const struct plain_entry *entry)
{
    const struct plain_list *const lists[] = {&channel->queue[0], &channel->queue[1], &channel->active};
    for (size_t k = 0; k < 3; ++k)
        for (uint32_t i = 0; i < lists[k]->count; ++i)
            if (lists[k]->entries[i].place.bank == entry->place.bank &&
                lists[k]->entries[i].place.row == entry->place.row)
                return 1;
    return 0;
}

static int needs_cas(const struct plain *plain, const struct plain_channel *channel, uint64_t clock)
{
    return plain->timing.t[DRAM_T_wck] && clock >= channel->wck;
}

/* The second command of an ACT is before the next ACT, and before what would be on the bus when it has to be. */
static int gives_way(const struct plain *plain, const struct plain_channel *channel, enum dram_command command,
                     uint64_t clock)
{
    const int column = cnnvp_dram_is_column(command);
    const uint64_t length = plain->timing.t[column ? DRAM_T_cmd_column : DRAM_T_cmd_pre] +
                            (uint32_t)(column && needs_cas(plain, channel, clock));
    return channel->rules.second_by && !(column && plain->timing.buses > 1) &&
           (command == DRAM_ACT || clock + length > channel->rules.second_by);
}

/* 1: a command has issued. */
static int serve(struct plain *plain, struct plain_channel *channel, struct plain_list *list, uint32_t index,
                 uint64_t clock)
{
    const struct plain_entry entry = list->entries[index];
    const enum dram_command command = next_command(channel, &entry);
    const uint32_t rank = rank_of(plain, entry.place.bank);
    if (!channel->started && gives_way(plain, channel, command, clock))
        return 0;
    if (command == DRAM_PRE) {
        emit(plain, channel, command, clock, rank, &entry);
        return 1;
    }
    if (command != DRAM_ACT && !channel->started && needs_cas(plain, channel, clock)) {
        channel->started = 1;
        channel->of = index;
        channel->in = list;
        return 1;
    }
    if (command != DRAM_ACT && channel->queue[0].count != 0 && (int)entry.write == channel->write_mode) {
        channel->drained += entry.write && channel->drained < plain->options.turn;
        channel->owed -= !entry.write && channel->owed != 0;
    }
    memmove(&list->entries[index], &list->entries[index + 1], (list->count - index - 1u) * sizeof entry);
    --list->count;
    if (command == DRAM_ACT) {
        channel->active.entries[channel->active.count++] = entry;
        emit(plain, channel, command, clock, rank, &entry);
        return 1;
    }
    enum dram_command issued = command;
    if (plain->options.row_policy && !wanted_again(channel, &entry))
        issued = command == DRAM_RD ? DRAM_RDA : DRAM_WRA;
    emit(plain, channel, issued, clock, rank, &entry);
    channel->started = 0;
    channel->wck = clock + plain->timing.t[entry.write ? DRAM_T_cwl : DRAM_T_cl] + plain->timing.t[DRAM_T_bl] +
                   plain->timing.t[DRAM_T_wck];
    if (entry.write)
        return 1;
    const uint64_t data = clock + plain->timing.t[DRAM_T_cl] + plain->timing.t[DRAM_T_bl];
    channel->returned = data > channel->returned ? data : channel->returned;
    plain->read_clocks += channel->returned - entry.entered;
    plain->ends[plain->end_count++] = channel->returned;
    if (channel->returned > plain->clocks)
        plain->clocks = channel->returned;
    return 1;
}

/* Of a channel, in all its pseudo channels. */
static uint32_t ranks_of(const struct plain *plain)
{
    return plain->options.ranks * plain->options.pseudo_channels;
}

static int refresh(struct plain *plain, struct plain_channel *channel, uint64_t clock)
{
    const uint32_t banks = plain->timing.groups * plain->timing.banks, first = channel->next_rank * banks;
    int open = 0;
    for (uint32_t i = 0; i < banks; ++i)
        open |= channel->rules.open[first + i];
    const enum dram_command command = open ? DRAM_PREA : DRAM_REF;
    if (rules_earliest(&channel->rules, command, channel->next_rank, 0) > clock ||
        gives_way(plain, channel, command, clock))
        return 0;
    if (open)
        for (uint32_t i = 0; i < channel->active.count; ++i)
            if (rank_of(plain, channel->active.entries[i].place.bank) == channel->next_rank)
                return 0;
    emit(plain, channel, command, clock, channel->next_rank, NULL);
    if (command == DRAM_REF) {
        --channel->refreshes;
        channel->next_rank = (channel->next_rank + 1u) % ranks_of(plain);
    }
    return 1;
}

static int serve_best(struct plain *plain, struct plain_channel *channel, uint64_t clock, enum buses buses)
{
    int best = best_of(plain, channel, &channel->active, clock, buses, 0);
    if (best >= 0)
        return serve(plain, channel, &channel->active, (uint32_t)best, clock);
    if (channel->refreshes)
        return (buses & ROW_BUS) && refresh(plain, channel, clock);
    const int fcfs = plain->options.scheduler == DRAM_SCHEDULER_fcfs;
    if (fcfs && channel->active.count)
        return 0;
    const uint32_t reads = channel->queue[0].count, writes = channel->queue[1].count, size = plain->options.queue;
    if (!channel->write_mode) {
        channel->write_mode = (writes * 100u > size * plain->options.drain_high && channel->owed == 0) || reads == 0;
        channel->drained = 0;
    } else if (reads != 0 && (writes == 0 || channel->drained == plain->options.turn ||
                              writes * 100u < size * plain->options.drain_low)) {
        channel->write_mode = 0;
        channel->owed = channel->drained == plain->options.turn ? plain->options.turn : 0;
    }
    struct plain_list *queue = &channel->queue[channel->write_mode];
    best = best_of(plain, channel, queue, clock, buses, fcfs);
    return best >= 0 && serve(plain, channel, queue, (uint32_t)best, clock);
}

static void tick_buses(struct plain *plain, struct plain_channel *channel, uint64_t clock, enum buses buses)
{
    const uint32_t bank = channel->rules.second_bank, rank = rank_of(plain, bank);
    if (!serve_best(plain, channel, clock, buses) && (buses & ROW_BUS) && channel->rules.second_by &&
        rules_earliest(&channel->rules, DRAM_ACT_2, rank, bank) <= clock) {
        const struct plain_entry entry = {.place = {.bank = bank, .row = channel->rules.row[bank]}};
        emit(plain, channel, DRAM_ACT_2, clock, rank, &entry);
    }
}

static void tick(struct plain *plain, struct plain_channel *channel, uint64_t clock)
{
    const uint32_t refi = plain->timing.t[DRAM_T_refi], ranks = ranks_of(plain);
    if (plain->options.refresh == DRAM_REFRESH_all_ranks && clock % refi == 0)
        channel->refreshes += ranks;
    else if (plain->options.refresh == DRAM_REFRESH_staggered && clock % (refi / ranks) == 0)
        ++channel->refreshes;
    if (channel->started) {
        (void)serve(plain, channel, channel->in, channel->of, clock);
        return;
    }
    if (plain->timing.buses == 1) {
        tick_buses(plain, channel, clock, BOTH_BUSES);
        return;
    }
    tick_buses(plain, channel, clock, COLUMN_BUS);
    tick_buses(plain, channel, clock, ROW_BUS);
}

static int is_waiting_write(const struct plain_channel *channel, const struct dram_place *place)
{
    for (uint32_t i = 0; i < channel->queue[1].count; ++i) {
        const struct dram_place *waiting = &channel->queue[1].entries[i].place;
        if (waiting->bank == place->bank && waiting->row == place->row && waiting->column == place->column)
            return 1;
    }
    return 0;
}

/* 1 if the burst could enter. */
static int enter(struct plain *plain, const struct burst *burst, uint32_t outstanding, uint64_t clock)
{
    const struct dram_place place = cnnvp_dram_map(&plain->map, burst->address);
    struct plain_channel *channel = &plain->channel[place.channel];
    const int waits = is_waiting_write(channel, &place);
    if ((!burst->write && plain->on_their_way == outstanding) ||
        (!waits && channel->queue[burst->write].count == plain->options.queue))
        return 0;
    if (clock > plain->clocks)
        plain->clocks = clock;
    plain->on_their_way += !burst->write;
    if (waits && burst->write) {
        ++plain->merged;
        return 1;
    }
    if (waits) {
        channel->returned = clock > channel->returned ? clock : channel->returned;
        plain->ends[plain->end_count++] = channel->returned;
        plain->read_clocks += channel->returned - clock;
        if (channel->returned > plain->clocks)
            plain->clocks = channel->returned;
        ++plain->forwarded;
        return 1;
    }
    struct plain_list *queue = &channel->queue[burst->write];
    queue->entries[queue->count++] = (struct plain_entry){place, burst->write, clock};
    return 1;
}

static int any_waits(const struct plain *plain)
{
    for (uint32_t i = 0; i < plain->options.channels; ++i)
        if (plain->channel[i].queue[0].count + plain->channel[i].queue[1].count + plain->channel[i].active.count)
            return 1;
    return 0;
}

static void run_plain(struct plain *plain, const struct burst *bursts, uint32_t outstanding)
{
    uint32_t next = 0;
    for (uint64_t clock = 1; next < BURSTS || any_waits(plain); ++clock) {
        for (uint32_t i = 0; i < plain->end_count;)
            if (plain->ends[i] < clock) {
                plain->ends[i] = plain->ends[--plain->end_count];
                --plain->on_their_way;
            } else {
                ++i;
            }
        while (next < BURSTS && enter(plain, &bursts[next], outstanding, clock))
            ++next;
        for (uint32_t i = 0; i < plain->options.channels; ++i)
            tick(plain, &plain->channel[i], clock);
    }
}

/* ---- comparing ---- */

struct comparison {
    struct plain *plain;
    uint32_t at[4];
};

static void compare(void *context, uint32_t number, const struct dram_issued *issued)
{
    struct comparison *comparison = context;
    struct plain_channel *channel = &comparison->plain->channel[number];
    if (issued->command == DRAM_CAS) /* what follows it tells */
        return;
    /* after its last burst the plain one stops */
    assert_true(comparison->at[number] < channel->command_count);
    const struct rules_command *plain = &channel->commands[comparison->at[number]++];
    assert_int_equal(issued->clock, plain->clock);
    assert_int_equal(issued->command, plain->command);
    assert_int_equal(issued->rank, plain->rank);
    if (issued->command == DRAM_PREA || issued->command == DRAM_REF)
        return;
    assert_int_equal(issued->bank, plain->bank);
    if (issued->command != DRAM_PRE)
        assert_int_equal(issued->row, plain->row);
}

/* Runs of neighbours, strides and scattered addresses on few rows, so that everything happens. */
static void make_bursts(struct burst *bursts)
{
    const uint32_t writes = below(&random_state, 3) ? below(&random_state, 80) : 0,
                   far = 1u << (10 + below(&random_state, 14));
    uint64_t address = 0;
    for (uint32_t i = 0; i < BURSTS; ++i) {
        const uint32_t kind = below(&random_state, 10);
        if (kind < 5)
            address += 64;
        else if (kind < 7)
            address = (uint64_t)below(&random_state, far) * 64;
        else if (kind < 8)
            address += 131072;
        else if (kind < 9)
            address ^= 8192;
        bursts[i] = (struct burst){below(&random_state, 100) < writes, address % (UINT64_C(1) << 30)};
    }
}

enum { HBM2 = 4, HBM3 = 7 };
#define DDR5 5u /* of which four ranks are more banks than a channel has, and a refresh takes 710 clocks */

static void random_options(struct dram_options *options, uint32_t preset)
{
    cnnvp_dram_options_init(options);
    options->preset = preset;
    options->ranks = 1u << (below(&random_state, 2) ? below(&random_state, preset == DDR5 ? 2 : 3) : 0);
    options->channels = below(&random_state, 3) ? 1 : 1 + below(&random_state, 4);
    options->scheduler = below(&random_state, 4) == 0;
    options->row_policy = below(&random_state, 3) == 0;
    options->refresh = below(&random_state, 2) ? DRAM_REFRESH_all_ranks : below(&random_state, 3);
    options->mapping = below(&random_state, 5);
    if (below(&random_state, 2)) {
        options->queue = 4 + below(&random_state, 60);
        options->drain_high = 30 + below(&random_state, 60);
        options->drain_low = below(&random_state, 30);
        options->turn = 1 + below(&random_state, 40);
    }
    if (below(&random_state, 3) == 0)
        options->timings[DRAM_T_refi] = (preset == DDR5 ? 1300 : 800) + below(&random_state, 1000);
    if (below(&random_state, 3) == 0) {
        options->timings[DRAM_T_cmd_column] = 1 + below(&random_state, 2);
        options->timings[DRAM_T_cmd_pre] = 1 + below(&random_state, 3);
        options->timings[DRAM_T_cmd_act] = options->timings[DRAM_T_cmd_pre] + below(&random_state, 4);
    }
    const uint64_t aside = random_state; /* the bursts stay what they are */
    if ((preset == HBM2 || preset == HBM3) && options->ranks < 4 && below(&random_state, 2))
        options->pseudo_channels = 2;
    if (options->scheduler == DRAM_SCHEDULER_fr_fcfs && below(&random_state, 2))
        options->scheduler = DRAM_SCHEDULER_fr_fcfs_row_hit;
    if (below(&random_state, 4) == 0)
        options->timings[DRAM_T_aad] = cnnvp_maximum32(options->timings[DRAM_T_cmd_act], 4) + below(&random_state, 3);
    random_state = aside;
}

static void run_both(uint32_t preset, uint64_t seed)
{
    static struct burst bursts[BURSTS];
    static struct plain plain;
    char message[200];
    uint32_t wrong;
    random_state = seed;
    memset(&plain, 0, sizeof plain);
    random_options(&plain.options, preset);
    make_bursts(bursts);
    const uint32_t outstanding = 1 + below(&random_state, below(&random_state, 2) ? 8 : 100);
    assert_int_equal(cnnvp_dram_timing_init(&plain.options, &plain.timing, message, sizeof message, &wrong), CNNVP_OK);
    cnnvp_dram_map_init(&plain.options, &plain.timing, &plain.map);
    for (uint32_t i = 0; i < plain.options.channels; ++i) {
        rules_init(&plain.channel[i].rules, &plain.timing, plain.options.ranks);
        plain.channel[i].commands = calloc(MAX_COMMANDS, sizeof *plain.channel[i].commands);
        assert_non_null(plain.channel[i].commands);
    }
    run_plain(&plain, bursts, outstanding);
    struct comparison comparison = {.plain = &plain};
    struct dram_replay_result result;
    struct dram_replay *replay =
        cnnvp_dram_replay_new(&plain.options, &plain.timing, outstanding, compare, &comparison);
    assert_non_null(replay);
    for (uint32_t i = 0; i < BURSTS; ++i)
        cnnvp_dram_replay_burst(replay, bursts[i].write, bursts[i].address);
    cnnvp_dram_replay_end(replay, DRAM_NEVER, &result);
    cnnvp_dram_replay_free(replay);
    assert_int_equal(result.clocks, plain.clocks);
    assert_int_equal(result.read_clocks, plain.read_clocks);
    assert_int_equal(result.counts.forwarded, plain.forwarded);
    assert_int_equal(result.counts.merged, plain.merged);
    assert_int_equal(result.counts.hits + result.counts.misses + result.counts.conflicts + result.counts.forwarded +
                         result.counts.merged,
                     BURSTS);
    for (uint32_t i = 0; i < plain.options.channels; ++i)
        free(plain.channel[i].commands);
}

static void test_against_plain(void **state)
{
    (void)state;
    for (uint32_t preset = 0; preset < 8; ++preset)
        for (uint64_t seed = 1; seed <= 24; seed += TEST_EVERY)
            run_both(preset, seed * 8 + preset);
}

/* The rules find what they should: commands a clock too early are refused. */
static void test_rules(void **state)
{
    (void)state;
    struct dram_options options;
    struct dram_timing timing;
    static struct rules rules;
    char message[200];
    uint32_t wrong;
    cnnvp_dram_options_init(&options);
    assert_int_equal(cnnvp_dram_timing_init(&options, &timing, message, sizeof message, &wrong), CNNVP_OK);
    static const struct {
        struct rules_command first, second;
    } early[] = {
        {{DRAM_ACT, 100, 0, 0, 7}, {DRAM_RD, 115, 0, 0, 7}},   {{DRAM_ACT, 100, 0, 0, 7}, {DRAM_PRE, 138, 0, 0, 0}},
        {{DRAM_ACT, 100, 0, 0, 7}, {DRAM_ACT, 105, 0, 1, 7}},  {{DRAM_ACT, 100, 0, 0, 7}, {DRAM_ACT, 103, 0, 4, 7}},
        {{DRAM_REF, 100, 0, 0, 0}, {DRAM_ACT, 532, 0, 4, 7}},  {{DRAM_PRE, 100, 0, 0, 0}, {DRAM_ACT, 115, 0, 0, 7}},
        {{DRAM_PREA, 100, 0, 0, 0}, {DRAM_REF, 115, 0, 0, 0}}, {{DRAM_ACT, 100, 0, 0, 7}, {DRAM_ACT, 200, 0, 0, 8}},
        {{DRAM_ACT, 100, 0, 0, 7}, {DRAM_RD, 200, 0, 0, 8}},   {{DRAM_ACT, 100, 0, 0, 7}, {DRAM_PRE, 100, 0, 4, 0}},
    };
    for (size_t i = 0; i < sizeof early / sizeof early[0]; ++i) {
        rules_init(&rules, &timing, 1);
        assert_null(rules_issue(&rules, &early[i].first));
        assert_non_null(rules_issue(&rules, &early[i].second));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_against_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
