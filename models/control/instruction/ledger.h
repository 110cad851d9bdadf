/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands in flight, and where the PE array's waiting cycles go (models/documents.md, Accounting). Host-free.
 *
 * Cycles in which a command of the array is in flight are counted by the array. Every other cycle from the first
 * doorbell to the last completion is given away here, interval by interval: to the first cause that matches of vector,
 * input, weight, output (something of that kind is in flight), instruction (words wait in queue, pipeline or sequence,
 * or are being read from memory), host; on behalf of the oldest command in flight, otherwise of the layer in effect at
 * issue. An interval is closed only by what ends it, so the time after the last completion is counted only if work
 * follows.
 */
#ifndef CNNVP_INSTRUCTION_LEDGER_H
#define CNNVP_INSTRUCTION_LEDGER_H

#include <stdint.h>

#include "isa/isa.h"

#define LEDGER_COMMANDS 64u
#define LEDGER_UNKNOWN UINT64_MAX

enum ledger_cause { LEDGER_INSTRUCTION = ISA_CAUSE_COUNT, LEDGER_HOST, LEDGER_CAUSES };

struct ledger_command {
    uint64_t sequence;
    uint64_t word;
    uint64_t pc;
    uint64_t end; /* cycle of its completion; LEDGER_UNKNOWN until that is known */
    uint32_t unit;
    uint32_t resources;
    uint32_t causes;
    uint32_t tag;
    uint32_t place; /* one of LEDGER_COMMANDS, its own while it is in the table */
    int forgotten;  /* from before a reset by the guest */
};

struct ledger {
    struct ledger_command commands[LEDGER_COMMANDS]; /* oldest first */
    uint32_t count;
    int started;        /* the first doorbell has come */
    int supply;         /* words wait: instruction, otherwise host */
    uint32_t layer;     /* tag in effect at issue */
    uint64_t accounted; /* cycles before this one have been given away */
    uint64_t last_completion;
    void (*give)(void *context, uint32_t cause, uint32_t tag, uint64_t cycles);
    void *context;
};

void cnnvp_ledger_reset(struct ledger *ledger);

/* Gives away the cycles before `cycle`; drops commands that have ended before it. */
void cnnvp_ledger_account(struct ledger *ledger, uint64_t cycle);

/* The first doorbell is in `cycle`; later ones change nothing. */
void cnnvp_ledger_start(struct ledger *ledger, uint64_t cycle);

/* From `cycle` on words wait, or not. */
void cnnvp_ledger_supply(struct ledger *ledger, uint64_t cycle, int supply);

/* A command starts in `cycle`; there must be room. Valid until the next call of a ledger function. */
struct ledger_command *cnnvp_ledger_add(struct ledger *ledger, uint64_t cycle, const struct ledger_command *command);
/* The newest command was not accepted after all. */
void cnnvp_ledger_drop(struct ledger *ledger, uint64_t sequence);
/* The command of this number that has no end yet, NULL if none. */
struct ledger_command *cnnvp_ledger_find(struct ledger *ledger, uint64_t sequence);
/* It ends in `cycle`. */
void cnnvp_ledger_end(struct ledger *ledger, struct ledger_command *command, uint64_t cycle);

/* First cycle, `from` or later, in which nothing that uses one of `resources` is in flight (all: nothing at all);
 * LEDGER_UNKNOWN if that depends on a completion to come. `blocker`: resources of what was in the way last. `last`: its
 * place, unchanged if there was none. */
uint64_t cnnvp_ledger_clear(const struct ledger *ledger, uint32_t resources, int all, uint64_t from, uint32_t *blocker,
                            uint32_t *last);
/* The same for a free place in the table. */
uint64_t cnnvp_ledger_room(const struct ledger *ledger, uint64_t from, uint32_t *last);
/* First cycle after `from` in which a command of `unit` ends, LEDGER_UNKNOWN if unknown, `from` if none is in flight.
 */
uint64_t cnnvp_ledger_unit_end(const struct ledger *ledger, uint32_t unit, uint64_t from);
/* Commands in flight in `cycle`; those from before a guest's reset only if `forgotten`. */
uint32_t cnnvp_ledger_in_flight(const struct ledger *ledger, uint64_t cycle, int forgotten);

#endif
