/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One DRAM channel and its controller, command by command. Host-free.
 *
 * Modelled: banks with their row buffers; ACT, PRE, PRE of all banks, RD, WR (also with precharge) and REF, one at a
 * time on a command bus, for as many clocks as the part's take, each as early as its standard's timings allow
 * (dram.def); where ACT, PRE and REF have a bus of their own (HBM), an RD or WR and one of these can issue at one
 * clock, that of the data first; read and write queues; the controller that the
 * published simulator Ramulator 2.1 describes: a burst that has opened its row goes first, then a refresh that is due
 * (while one waits, nothing else begins), then the queue that is served, of it the oldest burst whose next command can
 * issue. A row is not closed under a burst that has opened it: bursts that want another row of its bank are passed
 * over. Writes are served while no read waits, or from when their queue is fuller than `drain_high` until it is less
 * full than `drain_low`. A burst whose write waits in the write queue is answered there, also where its queue is full:
 * a read gets the data, a write takes the other's place. Read data return in the order in which their commands issued
 * or they were answered.
 * Not modelled: power-down, per-bank refresh, calibration.
 *
 * Time is clocks, the first is 1. A burst that enters at clock n can issue its first command at n. Nothing is computed clock by
 * clock: the next command is planned, and planned again when a burst enters before it.
 */
#ifndef CNNVP_DRAM_CHANNEL_H
#define CNNVP_DRAM_CHANNEL_H

#include <stdint.h>

#include "dram_timing.h"

#define DRAM_NEVER UINT64_MAX
#define DRAM_RANKS 4u
#define DRAM_GROUPS (DRAM_RANKS * 4u)
/* waiting bursts: two full queues, and one burst in activation for each bank */
#define DRAM_ENTRIES (2u * DRAM_QUEUE + DRAM_BANKS)
#define DRAM_NONE 255u
#define DRAM_WRITTEN 256u

enum dram_command {
    DRAM_ACT,
    DRAM_PRE,
    DRAM_PREA, /* all banks of a rank */
    DRAM_RD,
    DRAM_RDA, /* with precharge */
    DRAM_WR,
    DRAM_WRA,
    DRAM_REF,
    DRAM_REFRESH_DUE, /* no command: the time of a refresh has come */
    DRAM_COMMANDS
};

/* A burst that waits. */
struct dram_entry {
    uint64_t entered; /* clock */
    uint64_t order;   /* of entering */
    void *owner;      /* the caller's own */
    uint32_t row;
    uint32_t column;
    uint32_t tag; /* the caller's own */
    uint16_t source; /* the caller's own, below 64K */
    uint8_t bank;
    uint8_t write;
    uint8_t classified; /* as row hit, miss or conflict */
    uint8_t next;       /* entry behind it in the bank's list, DRAM_NONE at the end */
};

/* Bursts of one bank and queue, in order. The oldest of each kind is kept beside the list, so that planning walks none. */
struct dram_list {
    uint64_t first_order;
    uint64_t hit_order; /* of the oldest to the open row: hit */
    uint64_t other_order; /* of the oldest to another row while one is open: other */
    uint8_t first, last;
    uint8_t count;
    uint8_t hit, other; /* DRAM_NONE if there is none */
};

/* Ready times are the first clock at which the level allows the command; a command needs its rank, its group and its bank. */
struct dram_bank {
    uint64_t act, pre, column; /* ACT, PRE, RD or WR */
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
    uint32_t open; /* banks */
};

struct dram_counts {
    uint64_t commands[DRAM_COMMANDS];
    uint64_t hits, misses, conflicts; /* bursts, by what their first command found */
    uint64_t precharges;              /* PRE, PREA, and RDA and WRA */
    uint64_t forwarded, merged;       /* reads and writes answered from the write queue */
    uint64_t turnarounds;
    uint64_t queue_clocks[2]; /* [write] */
    /* Clocks of the data bus from the beginning to the last data, each counted once. A gap between two bursts' data is the
     * part in which nothing waited, then what lies between a refresh's being due and its end, then as much of the rest as
     * a change of direction takes at least, then what opening rows and the spacing of commands take. */
    uint64_t data_clocks, idle_clocks, refresh_clocks, turnaround_clocks, row_clocks;
};

/* A command that has issued. For RD and WR the entry is free again. */
struct dram_issued {
    enum dram_command command;
    uint64_t clock;
    uint32_t rank;
    uint32_t bank; /* not for PREA, REF */
    uint32_t row;  /* not for PREA, REF, PRE */
    uint64_t done; /* RD, WR: clock at which the data are complete */
    struct dram_entry entry; /* RD, WR */
    uint32_t class_tag; /* of the burst that it classified */
    uint32_t class_source;
    int turned; /* RD, WR: it has changed the direction of the data bus */
    enum { DRAM_UNCLASSIFIED, DRAM_HIT, DRAM_MISS, DRAM_CONFLICT } row_class;
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

struct dram_channel {
    const struct dram_timing *timing;
    uint32_t ranks;
    uint32_t bank_bits, rank_bits; /* a bank's group is its number >> bank_bits, its rank >> rank_bits */
    uint32_t fcfs, closed_page;
    uint32_t capacity, drain_high, drain_low; /* entries */

    uint64_t clock; /* first one at which not every command has been decided */
    uint64_t column_bus, row_bus; /* clocks from which on the command bus takes RD and WR, and the other commands */
    int plain_bus;  /* there is one, and every command takes one clock of it */
    uint64_t refresh_at;
    uint32_t refresh_waiting; /* ranks that wait for one */
    uint32_t refresh_rank;    /* first of them */
    int write_mode;
    int last_write; /* direction of the bus, -1: unused */
    uint64_t bus_end; /* clock at which the bus has carried the last data so far */
    uint64_t empty_from; /* clock from which on nothing has waited, while nothing does */
    uint64_t idle;    /* clocks since bus_end in which nothing waited */
    uint64_t refresh_from, refresh_to; /* the last refresh, from when it was due */
    uint64_t returned; /* clock of the last read data */
    uint64_t order, activations;
    struct dram_plan plan;

    uint64_t waiting[2]; /* banks with entries, [write] */
    uint64_t hits[2];    /* open banks with entries to their row, */
    uint64_t others[2];  /* and with entries to other rows */
    uint64_t open;       /* banks */
    uint64_t active;     /* banks with a burst in activation */
    uint32_t count[2];   /* entries of the queues */
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
};

static inline int cnnvp_dram_is_column(enum dram_command command)
{
    return command >= DRAM_RD && command <= DRAM_WRA;
}

/* All banks closed at `clock`, queues empty, counts 0. */
void cnnvp_dram_channel_init(struct dram_channel *channel, const struct dram_options *options,
                             const struct dram_timing *timing, uint64_t clock);

/* 1 if a write of this burst waits in the write queue. */
int cnnvp_dram_channel_holds(const struct dram_channel *channel, const struct dram_place *place);

/* 1 if a burst can enter. */
static inline int cnnvp_dram_channel_takes(const struct dram_channel *channel, const struct dram_place *place,
                                           uint32_t write)
{
    return channel->count[write] < channel->capacity || cnnvp_dram_channel_holds(channel, place);
}

enum dram_enter { DRAM_QUEUED, DRAM_FORWARDED, DRAM_MERGED };

/* A burst that can enter does so at `clock`, not before the present one. For DRAM_FORWARDED `done` is when its data
 * return. */
enum dram_enter cnnvp_dram_channel_enter(struct dram_channel *channel, const struct dram_place *place, uint32_t write,
                                         uint64_t clock, void *owner, uint32_t tag, uint32_t source, uint64_t *done);

/* Clock of the next command (or DRAM_REFRESH_DUE) if nothing enters up to then. */
uint64_t cnnvp_dram_channel_next(struct dram_channel *channel);

/* Issues it. */
void cnnvp_dram_channel_issue(struct dram_channel *channel, struct dram_issued *issued);

void cnnvp_dram_counts_add(struct dram_counts *sum, const struct dram_counts *counts);

/* Bursts that wait, in the queues or in activation. */
static inline uint32_t cnnvp_dram_channel_waiting(const struct dram_channel *channel)
{
    return channel->count[0] + channel->count[1] + channel->active_count;
}

#endif
