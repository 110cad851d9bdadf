/* SPDX-License-Identifier: Apache-2.0 */
/* A DRAM channel's state, and what its parts ask of it and do to it: dram_channel.h says what is modelled. Host-free.
 */
#ifndef CNNVP_DRAM_STATE_H
#define CNNVP_DRAM_STATE_H

#include "cnnvp_integer.h"
#include "dram_timing.h"

#define DRAM_NEVER UINT64_MAX
#define DRAM_RANKS 4u
#define DRAM_BUSES 2u
#define DRAM_GROUPS (DRAM_RANKS * 4u)
/* waiting bursts: two full queues, and one burst in activation for each bank */
#define DRAM_ENTRIES (2u * DRAM_QUEUE + DRAM_BANKS)
#define DRAM_NONE 255u
#define DRAM_WRITTEN 256u

enum dram_command {
    DRAM_ACT,
    DRAM_ACT_2, /* its second command, of parts that have one; counted with it */
    DRAM_PRE,
    DRAM_PREA, /* all banks of a rank */
    DRAM_RD,
    DRAM_RDA, /* with precharge */
    DRAM_WR,
    DRAM_WRA,
    DRAM_REF,
    DRAM_SRE,         /* a rank refreshes itself from here on */
    DRAM_CAS,         /* before the RD or WR of the next clock, of parts with WCK */
    DRAM_REFRESH_DUE, /* no command: the time of a refresh has come */
    DRAM_COMMANDS
};

/* A burst that waits. */
struct dram_entry {
    uint64_t entered; /* clock */
    uint64_t order;   /* of entering */
    void *owner;      /* the caller's own: the queue's are a read's request and a write's address */
    uint32_t row;
    uint32_t column;
    uint32_t tag;    /* the caller's own */
    uint16_t source; /* the caller's own, below 64K */
    uint8_t bank;
    uint8_t write;
    uint8_t classified; /* as row hit, miss or conflict */
    uint8_t next;       /* entry after it in the bank's list, DRAM_NONE at the end */
};

/* Bursts of one bank and queue, in order. The oldest of each kind is kept beside the list, so that planning walks none.
 */
struct dram_list {
    uint64_t first_order;
    uint64_t hit_order;   /* of the oldest to the open row: hit */
    uint64_t other_order; /* of the oldest to another row while one is open: other */
    uint8_t first, last;
    uint8_t count;
    uint8_t hit, other; /* DRAM_NONE if there is none */
};

/* Ready times are the first clock at which the level allows the command; a command needs its rank, its group and its
 * bank. */
struct dram_bank {
    uint64_t act, pre, column; /* ACT, PRE, RD, and WR by the timing's `early` sooner */
    uint64_t activated;        /* number of its ACT among all of the channel */
    uint32_t row;
    uint8_t open;
    uint8_t active; /* entry that has opened the row and waits for its data, or DRAM_NONE */
};

struct dram_group {
    uint64_t act, column[2]; /* [write] */
};

/* Its column times include what the data bus demands. */
struct dram_rank {
    uint64_t act, column[2]; /* [write] */
    uint64_t pre_all, refresh;
    uint64_t window[4]; /* clocks of the last four ACT, plus tFAW */
    uint32_t window_at;
    uint32_t open;          /* banks */
    uint64_t low_from;      /* clock from which on CKE is low if nothing waits; DRAM_NEVER while a refresh does */
    uint64_t low;           /* clock up to which it has been counted as low, 0: it is high */
    uint64_t refreshed;     /* `low_from` after the last refresh */
    uint8_t self_refresh;   /* it refreshes itself, */
    uint8_t self_refreshes; /* or will by the refresh that waits */
};

/* What a rank takes less power in than in standby. */
enum dram_low { DRAM_ACTIVE_POWER_DOWN, DRAM_PRECHARGE_POWER_DOWN, DRAM_SELF_REFRESH, DRAM_LOWS };

/* A data bus: a pseudo channel's, or the channel's. */
struct dram_bus {
    int last_write;                    /* direction, -1: unused */
    uint64_t end;                      /* clock at which it has carried the last data so far */
    uint64_t empty_from;               /* clock from which on nothing has waited for it, while nothing does */
    uint64_t idle;                     /* clocks since `end` in which nothing waited */
    uint64_t refresh_from, refresh_to; /* the last refresh, from when it was due */
};

struct dram_counts {
    uint64_t commands[DRAM_COMMANDS];
    uint64_t hits, misses, conflicts; /* bursts, by what their first command found */
    uint64_t precharges;              /* PRE, PREA, and RDA and WRA */
    uint64_t forwarded, merged;       /* reads and writes answered from the write queue */
    uint64_t turnarounds;
    uint64_t queue_clocks[2]; /* [write] */
    /* Clocks of the data bus from the beginning to the last data, each counted once. A gap between two bursts' data is
     * the part in which nothing waited, then what lies between a refresh's being due and its end, then as much of the
     * rest as a change of direction takes at least, then what opening rows and the spacing of commands take. */
    uint64_t data_clocks, idle_clocks, refresh_clocks, turnaround_clocks, row_clocks;
    uint64_t low_clocks[DRAM_LOWS]; /* of ranks */
    uint64_t power_downs;           /* entries of the first two */
};

/* A command that has issued. For RD and WR the entry is free again. */
struct dram_issued {
    enum dram_command command;
    uint64_t clock;
    uint32_t rank;
    uint32_t bank;           /* not for PREA, REF */
    uint32_t row;            /* not for PREA, REF, PRE */
    uint64_t done;           /* RD, WR: clock at which the data are complete */
    struct dram_entry entry; /* RD, WR */
    uint32_t class_tag;      /* of the burst that it classified */
    uint32_t class_source;
    int turned; /* RD, WR: it has changed the direction of the data bus */
    enum { DRAM_UNCLASSIFIED, DRAM_HIT, DRAM_MISS, DRAM_CONFLICT } row_class;
};

/* A command that could be next, for the burst of an entry. */
struct dram_candidate {
    uint64_t clock, order;
    uint32_t entry; /* DRAM_NONE: there is none, and clock is DRAM_NEVER */
    enum dram_command command;
};

struct dram_plan {
    int valid;
    uint64_t from;  /* clock from which it was made */
    uint64_t clock; /* of the command */
    enum dram_command command;
    uint32_t entry; /* DRAM_NONE: of a rank */
    int looked;     /* the queues were looked at, */
    int write_mode; /* and this one is served */
};

struct dram_windows;
struct dram_scheduler; /* dram_policy.h */
struct dram_page;
struct dram_refresh;

struct dram_channel {
    const struct dram_timing *timing;
    uint32_t ranks; /* of all pseudo channels */
    /* a bank's group is its number >> bank_bits, its rank >> rank_bits, its pseudo channel >> bus_bits */
    uint32_t bank_bits, rank_bits, bus_bits;
    const struct dram_scheduler *scheduler;
    const struct dram_page *page;
    const struct dram_refresh *refresh;
    uint32_t capacity, drain_high, drain_low; /* entries */
    uint32_t longest;                         /* turn */
    uint64_t low_after;                       /* clocks without work, so many that CKE stays high if it is to */
    int may_self_refresh;

    uint64_t clock;               /* first one at which not every command has been decided */
    uint64_t column_bus, row_bus; /* clocks from which on the command bus takes RD and WR, and the other commands */
    int plain_bus;                /* there is one, and every command takes one clock of it */
    uint64_t second_by;           /* clock of the second command of an ACT at the latest, 0: none waits */
    uint32_t second_bank;
    uint32_t started; /* entry whose CAS was in the last clock, DRAM_NONE: none */
    uint64_t refresh_at;
    uint32_t refresh_waiting;        /* ranks that wait for one */
    uint32_t refresh_rank;           /* first of them */
    int write_mode;                  /* dram_serve */
    uint32_t turn;                   /* WRs that it still has while reads wait; or RDs that go before any drain */
    struct dram_bus bus[DRAM_BUSES]; /* of pseudo channels */
    uint64_t returned;               /* clock of the last read data */
    uint64_t order, activations;
    struct dram_plan plan;

    uint64_t waiting[2];    /* banks with entries, [write] */
    uint64_t hits[2];       /* open banks with entries to their row, */
    uint64_t others[2];     /* and with entries to other rows */
    uint64_t open;          /* banks */
    uint64_t active;        /* banks with a burst in activation, */
    uint64_t active_writes; /* and with a write */
    uint32_t count[2];      /* entries of the queues */
    uint32_t active_count;
    uint32_t free_count;
    uint8_t free[DRAM_ENTRIES];
    uint8_t written[DRAM_WRITTEN]; /* entries of the write queue by a hash of their place */
    struct dram_list list[2][DRAM_BANKS];
    struct dram_bank bank[DRAM_BANKS];
    struct dram_group group[DRAM_GROUPS];
    struct dram_rank rank[DRAM_RANKS];
    struct dram_entry entry[DRAM_ENTRIES];
    struct dram_counts counts;
    struct dram_windows *windows; /* that show the time of ranks in low power, or NULL */
};

static inline int cnnvp_dram_is_column(enum dram_command command)
{
    return command >= DRAM_RD && command <= DRAM_WRA;
}

/* For which a command holds its bus. */
static inline uint32_t dram_bus_clocks(const struct dram_timing *timing, enum dram_command command)
{
    if (cnnvp_dram_is_column(command))
        return timing->column_bus;
    if (command == DRAM_CAS)
        return 1;
    return timing->t[command <= DRAM_ACT_2 ? DRAM_T_cmd_act : DRAM_T_cmd_pre];
}

/* Bursts that wait, in the queues or in activation. */
static inline uint32_t cnnvp_dram_channel_waiting(const struct dram_channel *channel)
{
    return channel->count[0] + channel->count[1] + channel->active_count;
}

/* Its banks. */
static inline uint64_t dram_bus_banks(const struct dram_channel *channel, uint32_t bus)
{
    return (UINT64_MAX >> (64u - (1u << channel->bus_bits))) << (bus << channel->bus_bits);
}

static inline uint64_t dram_rank_banks(const struct dram_channel *channel, uint32_t rank)
{
    return (UINT64_MAX >> (64u - (1u << channel->rank_bits))) << (rank << channel->rank_bits);
}

/* 1 if bursts wait for some banks, in the queues or in activation. */
static inline int dram_waits(const struct dram_channel *channel, uint64_t banks)
{
    return ((channel->waiting[0] | channel->waiting[1] | channel->active) & banks) != 0;
}

static inline int dram_bus_waits(const struct dram_channel *channel, uint32_t bus)
{
    return dram_waits(channel, dram_bus_banks(channel, bus));
}

/* 1 if nothing has waited for a rank for so long that at `clock` CKE is low. */
static inline int dram_rank_is_low(const struct dram_channel *channel, uint32_t rank, uint64_t clock)
{
    return clock > channel->rank[rank].low_from && !dram_waits(channel, dram_rank_banks(channel, rank));
}

/* CKE of a rank for which that is so goes up, at `clock` or as soon as it has been low for long enough. */
void dram_power_up(struct dram_channel *channel, uint32_t rank, uint64_t clock);

/* The rank whose turn it is to be refreshed stays awake until it is. */
void dram_refresh_begin(struct dram_channel *channel, uint64_t clock);

/* It has had its turn. */
static inline void dram_refresh_pass(struct dram_channel *channel)
{
    --channel->refresh_waiting;
    if (++channel->refresh_rank == channel->ranks)
        channel->refresh_rank = 0;
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

static inline uint32_t dram_bus_of(const struct dram_channel *channel, uint32_t bank)
{
    return bank >> channel->bus_bits;
}

/* First clock at which the timings allow an RD or WR of a bank whose row is open. */
static inline uint64_t dram_column_ready(const struct dram_channel *channel, uint32_t bank, uint32_t write)
{
    const uint64_t outer = channel->rank[dram_rank_of(channel, bank)].column[write];
    const uint64_t group = channel->group[dram_group_of(channel, bank)].column[write];
    const uint64_t inner = channel->bank[bank].column - channel->timing->early[write];
    const uint64_t both = outer > group ? outer : group;
    return both > inner ? both : inner;
}

/* 1 if a CAS has to go before a command, an RD or WR of a bank at `clock`: WCK has stopped. */
static inline int dram_needs_cas(const struct dram_channel *channel, enum dram_command command, uint32_t bank,
                                 uint64_t clock)
{
    const uint32_t wck = channel->timing->t[DRAM_T_wck];
    return wck && cnnvp_dram_is_column(command) && clock >= channel->bus[dram_bus_of(channel, bank)].end + wck;
}

/* Which queue is served next, [write]. */
static inline int dram_next_mode(const struct dram_channel *channel)
{
    const uint32_t reads = channel->count[0], writes = channel->count[1];
    if (!channel->write_mode)
        return (writes * 100u > channel->drain_high && !channel->turn) || !reads;
    return (writes && writes * 100u >= channel->drain_low && channel->turn) || !reads;
}

/* Reads are in the turn that they get after a drain, or will be in it. */
static inline int dram_counts_reads(const struct dram_channel *channel)
{
    return channel->write_mode ? !channel->turn : channel->turn != 0;
}

/* It is. A drain that reads have ended gives way to as many of them. */
static inline void dram_serve(struct dram_channel *channel, int write)
{
    if (write != channel->write_mode)
        channel->turn = !write && channel->turn ? 0 : channel->longest;
    channel->write_mode = write;
}

/* The data of a burst are on the bus from `begin` on. */
static inline void dram_account(struct dram_channel *channel, struct dram_bus *bus, uint64_t begin, int write,
                                int turned)
{
    const uint32_t *t = channel->timing->t;
    struct dram_counts *counts = &channel->counts;
    uint64_t gap = begin - bus->end;
    const uint64_t idle = cnnvp_minimum(gap, bus->idle);
    gap -= idle;
    const uint64_t from = cnnvp_maximum(bus->refresh_from, bus->end), to = cnnvp_minimum(bus->refresh_to, begin);
    const uint64_t refresh = cnnvp_minimum(gap, to > from ? to - from : 0);
    gap -= refresh;
    const uint64_t turn = turned ? cnnvp_minimum(gap, write ? t[DRAM_T_rtw] : t[DRAM_T_wtr_s] + t[DRAM_T_cl]) : 0;
    counts->data_clocks += t[DRAM_T_bl];
    counts->idle_clocks += idle;
    counts->refresh_clocks += refresh;
    counts->turnaround_clocks += turn;
    counts->row_clocks += gap - turn;
    bus->end = begin + t[DRAM_T_bl];
    bus->idle = 0;
}

/* Reads and writes of the rank that has been accessed, and of the others on its data bus, by [write]. tCCD is at least
 * the data's length. */
static inline void dram_raise_columns(struct dram_channel *channel, uint32_t rank, const uint64_t same[2],
                                      const uint64_t other[2])
{
    const uint32_t bits = channel->bus_bits - channel->rank_bits, first = rank >> bits << bits;
    for (uint32_t i = first; i < first + (1u << bits); ++i) {
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
    dram_raise(&channel->rank[rank].low_from, clock + t[DRAM_T_cl] + t[DRAM_T_bl] + 1u + channel->low_after);
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
    dram_raise(&group->column[1], clock + t[DRAM_T_ccd_l_wr]);
    dram_raise(&channel->rank[rank].pre_all, end + t[DRAM_T_wr]);
    dram_raise(&channel->rank[rank].low_from, end + t[DRAM_T_wr] + channel->low_after);
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
    const uint64_t outer =
        cnnvp_maximum(channel->rank[dram_rank_of(channel, bank)].act, channel->group[dram_group_of(channel, bank)].act);
    return cnnvp_maximum(outer, channel->bank[bank].act);
}

/* A burst that enters takes a free entry of the queue, and ends the time in which nothing waited. */
static inline uint8_t dram_keep_burst(struct dram_channel *channel, const struct dram_place *place, uint32_t write,
                                      uint64_t clock, void *owner, uint32_t tag, uint32_t source)
{
    const uint8_t index = channel->free[--channel->free_count];
    struct dram_entry *entry = &channel->entry[index];
    *entry = (struct dram_entry){
        .entered = clock,
        .order = ++channel->order,
        .owner = owner,
        .row = place->row,
        .column = place->column,
        .tag = tag,
        .source = (uint16_t)source,
        .bank = (uint8_t)place->bank,
        .write = (uint8_t)write,
        .next = DRAM_NONE};
    struct dram_bus *bus = &channel->bus[dram_bus_of(channel, place->bank)];
    if (!dram_bus_waits(channel, dram_bus_of(channel, place->bank))) {
        const uint64_t from = cnnvp_maximum(bus->empty_from, bus->end);
        bus->idle += clock > from ? clock - from : 0;
    }
    if (dram_rank_is_low(channel, dram_rank_of(channel, place->bank), clock))
        dram_power_up(channel, dram_rank_of(channel, place->bank), clock);
    return index;
}

/* 1 if `a` goes before `b` where both have opened their row and can go: the one that entered first, then whose ACT was
 * first. */
static inline int dram_active_precedes(const struct dram_channel *channel, uint32_t a, uint32_t b)
{
    const uint64_t entered_a = channel->entry[channel->bank[a].active].entered;
    const uint64_t entered_b = channel->entry[channel->bank[b].active].entered;
    return entered_a < entered_b || (entered_a == entered_b && channel->bank[a].activated < channel->bank[b].activated);
}

#endif
