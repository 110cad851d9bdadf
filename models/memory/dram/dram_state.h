/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a DRAM channel, and the functions by which the parts of the controller read and change it.
 * dram_channel.h says what is modelled. Host-free. */
#pragma once

#include "cnnvp_integer.h"
#include "dram_timing.h"

#define DRAM_NEVER UINT64_MAX
#define DRAM_RANKS 4u
#define DRAM_BUSES 2u
#define DRAM_GROUPS (DRAM_RANKS * 4u)
/* maximum waiting bursts: two full queues, and one burst in activation for each bank */
#define DRAM_ENTRIES (2u * DRAM_QUEUE + DRAM_BANKS)
#define DRAM_NONE 255u
#define DRAM_WRITTEN 256u

enum dram_command {
    DRAM_ACT,
    DRAM_ACT_2, /* second command of an ACT, in parts that have one; counted with the ACT */
    DRAM_PRE,
    DRAM_PREA, /* PRE of all banks of a rank */
    DRAM_RD,
    DRAM_RDA, /* RD with precharge */
    DRAM_WR,
    DRAM_WRA,
    DRAM_REF,
    DRAM_SRE,         /* a rank enters self-refresh */
    DRAM_CAS,         /* starts WCK a clock before an RD or WR, in parts with WCK */
    DRAM_REFRESH_DUE, /* not a command: a refresh is due */
    DRAM_COMMANDS
};

/* A waiting burst. */
struct dram_entry {
    uint64_t entered; /* clock of its entry */
    uint64_t order;   /* sequence number of its entry */
    void *owner;      /* the caller's; dram_queue.c stores the request of a read, the address of a write */
    uint32_t row;
    uint32_t column;
    uint32_t tag;    /* the caller's */
    uint16_t source; /* the caller's, below 64K */
    uint8_t bank;
    uint8_t write;
    uint8_t classified; /* already counted as row hit, miss or conflict */
    uint8_t next;       /* next entry in the bank's list, DRAM_NONE at the end */
};

/* Bursts of one bank in one queue, oldest first. The oldest burst of each kind is also kept here, so that planning does
 * not walk the list. */
struct dram_list {
    uint64_t first_order;
    uint64_t hit_order;   /* order of `hit` */
    uint64_t other_order; /* order of `other` */
    uint8_t first, last;
    uint8_t count;
    uint8_t hit, other; /* oldest to the open row; oldest to another row while one is open; DRAM_NONE: none */
};

/* A ready time is the first clock at which a rank, group or bank allows a command. A command needs all three. */
struct dram_bank {
    uint64_t act, pre, column; /* ACT, PRE and RD; a WR may come `early` clocks sooner (struct dram_timing) */
    uint64_t activated;        /* number of its last ACT among all ACTs of the channel */
    uint32_t row;
    uint8_t open;
    uint8_t active; /* entry that opened the row and waits for its RD or WR, or DRAM_NONE */
};

struct dram_group {
    uint64_t act, column[2]; /* [write] */
};

/* The column times also keep the data bus free of conflicts. */
struct dram_rank {
    uint64_t act, column[2]; /* [write] */
    uint64_t pre_all, refresh;
    uint64_t window[4]; /* clocks of the last four ACT, plus tFAW */
    uint32_t window_at;
    uint32_t open;          /* number of open banks */
    uint64_t low_from;      /* clock from which CKE is low if nothing waits; DRAM_NEVER while a refresh waits */
    uint64_t low;           /* clock up to which its low-power time is counted; 0: CKE is high */
    uint64_t refreshed;     /* `low_from` after the last refresh; if they are equal, the rank has had no work since */
    uint8_t self_refresh;   /* the rank is in self-refresh */
    uint8_t self_refreshes; /* the refresh that waits will be an entry into self-refresh */
};

/* Low-power states of a rank. */
enum dram_low { DRAM_ACTIVE_POWER_DOWN, DRAM_PRECHARGE_POWER_DOWN, DRAM_SELF_REFRESH, DRAM_LOWS };

/* The data bus of a pseudo channel, or of the whole channel. */
struct dram_bus {
    int last_write;                    /* direction of the last data: 1 write, 0 read, -1 none yet */
    uint64_t end;                      /* clock at which the last data so far end */
    uint64_t empty_from;               /* clock since which nothing waits for the bus; valid while nothing waits */
    uint64_t idle;                     /* clocks since `end` in which nothing waited */
    uint64_t refresh_from, refresh_to; /* the last refresh: when it became due, when it ended */
};

struct dram_counts {
    uint64_t commands[DRAM_COMMANDS];
    uint64_t hits, misses, conflicts; /* bursts, by the row state that their first command found */
    uint64_t precharges;              /* by PRE, PREA, RDA and WRA */
    uint64_t forwarded, merged;       /* reads answered from the write queue, writes merged into it */
    uint64_t turnarounds;
    uint64_t queue_clocks[2]; /* [write] time of bursts in the queues and in activation */
    /* Clocks of the data bus from the start to the last data, each counted once. A gap between the data of two bursts
     * is divided in this order: clocks in which nothing waited; clocks between a refresh becoming due and its end; the
     * least that a change of direction takes; the rest, for opening rows and spacing commands. */
    uint64_t data_clocks, idle_clocks, refresh_clocks, turnaround_clocks, row_clocks;
    uint64_t low_clocks[DRAM_LOWS]; /* clocks of ranks in each state */
    uint64_t power_downs;           /* entries into the two power-down states */
};

/* An issued command. The entry of an RD or WR is free again. */
struct dram_issued {
    enum dram_command command;
    uint64_t clock;
    uint32_t rank;
    uint32_t bank;           /* unset for PREA, REF and SRE */
    uint32_t row;            /* row of the burst, also for a PRE; unset for PREA, REF and SRE */
    uint64_t done;           /* RD, WR: clock at which the data are complete */
    struct dram_entry entry; /* RD, WR */
    uint32_t class_tag;      /* of the burst that the command classified */
    uint32_t class_source;
    int turned; /* RD, WR: the command changed the direction of the data bus */
    enum { DRAM_UNCLASSIFIED, DRAM_HIT, DRAM_MISS, DRAM_CONFLICT } row_class;
};

/* A possible next command, for the burst of an entry. */
struct dram_candidate {
    uint64_t clock;
    uint32_t entry;
    enum dram_command command;
};
#define DRAM_NO_CANDIDATE ((struct dram_candidate){DRAM_NEVER, DRAM_NONE, DRAM_RD})

struct dram_plan {
    int valid;
    uint64_t from;  /* earliest clock considered */
    uint64_t clock; /* clock of the command */
    enum dram_command command;
    uint32_t entry; /* DRAM_NONE: the command serves no burst */
    int looked;     /* the queues were looked at */
    int write_mode; /* if so, the queue that is served: 1 writes */
};

struct dram_windows;
struct dram_scheduler; /* dram_policy.h */
struct dram_row_policy;
struct dram_refresh;

struct dram_channel {
    const struct dram_timing *timing;
    uint32_t ranks; /* ranks of all pseudo channels */
    /* a bank's number >> bank_bits is its group, >> rank_bits its rank, >> bus_bits its pseudo channel */
    uint32_t bank_bits, rank_bits, bus_bits;
    uint64_t group_banks, rank_banks, bus_banks; /* banks of the first of these, one bit each */
    const struct dram_scheduler *scheduler;
    const struct dram_row_policy *row_policy;
    const struct dram_refresh *refresh;
    uint32_t capacity, drain_high, drain_low; /* capacity in entries, drain levels in hundredths of an entry */
    uint32_t longest;                         /* maximum `turn` */
    uint64_t low_after; /* clocks without work until CKE goes low; effectively unlimited if CKE stays high */
    int may_self_refresh;

    uint64_t clock;               /* every command before this clock is decided */
    uint64_t column_bus, row_bus; /* first free clock of the command bus for RD and WR; for the others */
    int plain_bus;                /* there is one command bus, and every command takes one clock of it */
    uint64_t second_by;           /* latest clock for the second command of an ACT; 0: none waits */
    uint32_t second_bank;
    uint32_t started; /* entry whose CAS issued in the last clock; DRAM_NONE: none */
    uint64_t refresh_at;
    uint32_t refresh_waiting; /* ranks that wait for a refresh */
    uint32_t refresh_rank;    /* the first of them */
    int write_mode;           /* queue that is served: 1 writes; set by dram_serve() */
    uint32_t turn;            /* write mode: WRs left while reads wait; read mode: RDs that go before the next drain */
    struct dram_bus bus[DRAM_BUSES]; /* one per pseudo channel */
    uint64_t returned;               /* clock at which the last read data end */
    uint64_t order, activations;
    struct dram_plan plan;

    uint64_t waiting[2];    /* [write] banks with queued bursts; here and below, one bit per bank */
    uint64_t hits[2];       /* [write] banks with bursts to their open row */
    uint64_t others[2];     /* [write] open banks with bursts to another row */
    uint64_t open;          /* open banks */
    uint64_t active;        /* banks with a burst in activation */
    uint64_t active_writes; /* those whose burst is a write */
    uint32_t count[2];      /* [write] entries of the queues */
    uint32_t active_count;
    uint32_t free_count;
    uint8_t free[DRAM_ENTRIES];
    uint8_t written[DRAM_WRITTEN]; /* number of write queue entries, by a hash of their location */
    struct dram_list list[2][DRAM_BANKS];
    struct dram_bank bank[DRAM_BANKS];
    struct dram_group group[DRAM_GROUPS];
    struct dram_rank rank[DRAM_RANKS];
    struct dram_entry entry[DRAM_ENTRIES];
    struct dram_counts counts;
    struct dram_windows *windows; /* show the low-power time of ranks over time; or NULL */
};

static inline int cnnvp_dram_is_column(enum dram_command command)
{
    return command >= DRAM_RD && command <= DRAM_WRA;
}

/* Clocks for which a command holds its command bus. */
static inline uint32_t dram_bus_clocks(const struct dram_timing *timing, enum dram_command command)
{
    if (cnnvp_dram_is_column(command))
        return timing->column_bus;
    if (command == DRAM_CAS)
        return 1;
    return timing->t[command <= DRAM_ACT_2 ? DRAM_T_cmd_act : DRAM_T_cmd_pre];
}

/* Number of bursts that wait, in the queues or in activation. */
static inline uint32_t cnnvp_dram_channel_waiting(const struct dram_channel *channel)
{
    return channel->count[0] + channel->count[1] + channel->active_count;
}

/* Bit mask of the banks on a data bus. */
static inline uint64_t dram_bus_banks(const struct dram_channel *channel, uint32_t bus)
{
    return channel->bus_banks << (bus << channel->bus_bits);
}

static inline uint64_t dram_rank_banks(const struct dram_channel *channel, uint32_t rank)
{
    return channel->rank_banks << (rank << channel->rank_bits);
}

/* 1 if a burst waits for any of these banks, in the queues or in activation. */
static inline int dram_waits(const struct dram_channel *channel, uint64_t banks)
{
    return ((channel->waiting[0] | channel->waiting[1] | channel->active) & banks) != 0;
}

static inline int dram_bus_waits(const struct dram_channel *channel, uint32_t bus)
{
    return dram_waits(channel, dram_bus_banks(channel, bus));
}

/* 1 if CKE of a rank is low at `clock`: nothing waits for the rank, and its `low_from` has passed. */
static inline int dram_rank_is_low(const struct dram_channel *channel, uint32_t rank, uint64_t clock)
{
    return clock > channel->rank[rank].low_from && !dram_waits(channel, dram_rank_banks(channel, rank));
}

/* Raises CKE of a rank that is low, at `clock`, or later if it has not been low for the minimum time. */
void dram_power_up(struct dram_channel *channel, uint32_t rank, uint64_t clock);

/* Prepares the refresh of the first waiting rank that is not in self-refresh: wakes it, and keeps it awake until its
 * refresh. */
void dram_refresh_begin(struct dram_channel *channel, uint64_t clock);

/* Ends the refresh turn of a rank. */
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

/* 1 if an RD or WR of a bank at `clock` needs a CAS before it because WCK has stopped. */
static inline int dram_needs_cas(const struct dram_channel *channel, enum dram_command command, uint32_t bank,
                                 uint64_t clock)
{
    const uint32_t wck = channel->timing->t[DRAM_T_wck];
    return wck && cnnvp_dram_is_column(command) && clock >= channel->bus[dram_bus_of(channel, bank)].end + wck;
}

/* Returns the queue that is served next: 1 writes, 0 reads. */
static inline int dram_next_mode(const struct dram_channel *channel)
{
    const uint32_t reads = channel->count[0], writes = channel->count[1];
    if (!channel->write_mode)
        return (writes * 100u > channel->drain_high && !channel->turn) || !reads;
    return (writes && writes * 100u >= channel->drain_low && channel->turn) || !reads;
}

/* 1 if reads have the turn that follows an exhausted drain, or get it next. */
static inline int dram_counts_reads(const struct dram_channel *channel)
{
    return channel->write_mode ? !channel->turn : channel->turn != 0;
}

/* Serves a queue. When a drain has used up its turn, reads get a turn of the same length. */
static inline void dram_serve(struct dram_channel *channel, int write)
{
    if (write != channel->write_mode)
        channel->turn = !write && channel->turn ? 0 : channel->longest;
    channel->write_mode = write;
}

/* Accounts for the bus clocks from the last data to the end of a burst's data, which begin at `begin`. */
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

/* Delays RDs and WRs after an access: to `same` in the accessed rank, to `other` in the other ranks on its data bus,
 * both [write]. tCCD is at least the length of the data, so it keeps the bus free, too. */
static inline void dram_raise_columns(struct dram_channel *channel, uint32_t rank, const uint64_t same[2],
                                      const uint64_t other[2])
{
    const uint32_t bits = channel->bus_bits - channel->rank_bits, first = rank >> bits << bits;
    dram_raise(&channel->rank[rank].column[0], same[0]);
    dram_raise(&channel->rank[rank].column[1], same[1]);
    for (uint32_t i = first; bits && i < first + (1u << bits); ++i)
        if (i != rank) {
            dram_raise(&channel->rank[i].column[0], other[0]);
            dram_raise(&channel->rank[i].column[1], other[1]);
        }
}

/* Delays later commands after an RD at `clock`, except the PRE of its bank. */
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

/* Delays later commands after a WR at `clock`. */
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

/* Index in `written`. */
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

/* Before a burst enters: ends the idle time of its data bus, and powers up its rank. */
static inline void dram_wake(struct dram_channel *channel, uint32_t bank, uint64_t clock)
{
    struct dram_bus *bus = &channel->bus[dram_bus_of(channel, bank)];
    if (!dram_bus_waits(channel, dram_bus_of(channel, bank))) {
        const uint64_t from = cnnvp_maximum(bus->empty_from, bus->end);
        bus->idle += clock > from ? clock - from : 0;
    }
    if (dram_rank_is_low(channel, dram_rank_of(channel, bank), clock))
        dram_power_up(channel, dram_rank_of(channel, bank), clock);
}

/* Puts a burst that enters into a free entry. */
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
    return index;
}

/* 1 if the burst in activation of bank `a` goes before that of bank `b` when both can go: the one that entered first,
 * then the one whose ACT was first. */
static inline int dram_active_precedes(const struct dram_channel *channel, uint32_t a, uint32_t b)
{
    const uint64_t entered_a = channel->entry[channel->bank[a].active].entered;
    const uint64_t entered_b = channel->entry[channel->bank[b].active].entered;
    return entered_a < entered_b || (entered_a == entered_b && channel->bank[a].activated < channel->bank[b].activated);
}
