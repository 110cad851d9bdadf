/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands in flight, and the accounting of the PE array's waiting cycles (models/documents.md, Accounting).
 * Independent of any host.
 *
 * The array itself counts cycles in which one of its commands is in flight. Every other cycle from the first doorbell
 * to the last completion is accounted here, interval by interval. Its cause is the first one that applies of vector,
 * input, weight, output (such a command is in flight), instruction (words wait in queue, pipeline or sequence, or are
 * being read from memory), host. It counts for the layer of the oldest command in flight, or else for the layer in
 * effect at issue. An interval is accounted only when a later event ends it, so the time after the last completion
 * counts only if work follows.
 */
#pragma once

#include <stdint.h>

#include "isa/isa.h"

#define LEDGER_COMMANDS 64u
#define LEDGER_UNKNOWN UINT64_MAX

enum ledger_cause { LEDGER_INSTRUCTION = ISA_CAUSE_COUNT, LEDGER_HOST, LEDGER_CAUSES };

struct ledger_command {
    uint64_t sequence;
    uint64_t word;
    uint64_t pc;
    uint64_t end; /* cycle of its completion; LEDGER_UNKNOWN: not known yet */
    uint32_t unit;
    uint32_t resources;
    uint32_t causes;
    uint32_t tag;
    uint32_t place; /* number below LEDGER_COMMANDS that the command keeps while it is in the table */
    int forgotten;  /* issued before a reset by the guest */
};

struct ledger {
    struct ledger_command commands[LEDGER_COMMANDS]; /* oldest first */
    uint32_t count;
    int started;        /* the first doorbell has been written */
    int supply;         /* 1: words wait (cause instruction); 0: none (cause host) */
    uint32_t layer;     /* tag in effect at issue */
    uint64_t accounted; /* cycles before this one are accounted */
    uint64_t last_completion;
    void (*give)(void *context, uint32_t cause, uint32_t tag, uint64_t cycles);
    void *context;
};

void cnnvp_ledger_reset(struct ledger *ledger);

/* Accounts the cycles before `cycle`, and drops commands that ended before it. */
void cnnvp_ledger_account(struct ledger *ledger, uint64_t cycle);

/* Starts the accounting in `cycle`, the first doorbell. Later calls change nothing. */
void cnnvp_ledger_start(struct ledger *ledger, uint64_t cycle);

/* Sets whether words wait from `cycle` on. */
void cnnvp_ledger_supply(struct ledger *ledger, uint64_t cycle, int supply);

/* Adds a command that starts in `cycle`; there must be room. The result is valid until the next call of a ledger
 * function. */
struct ledger_command *cnnvp_ledger_add(struct ledger *ledger, uint64_t cycle, const struct ledger_command *command);
/* Removes the newest command, which its unit did not accept. */
void cnnvp_ledger_drop(struct ledger *ledger, uint64_t sequence);
/* The command with this number whose end is unknown; NULL if there is none. */
struct ledger_command *cnnvp_ledger_find(struct ledger *ledger, uint64_t sequence);
/* Sets the cycle in which a command ends. */
void cnnvp_ledger_end(struct ledger *ledger, struct ledger_command *command, uint64_t cycle);

/* First cycle, `from` or later, in which no command in flight uses one of `resources` (all: no command is in flight).
 * LEDGER_UNKNOWN if that depends on a completion to come. `blocker` and `last`: shared resources and place of the
 * command that ends last; unchanged if no command is in the way. */
uint64_t cnnvp_ledger_clear(const struct ledger *ledger, uint32_t resources, int all, uint64_t from, uint32_t *blocker,
                            uint32_t *last);
/* First cycle, `from` or later, in which the table has room. `last` is as above. */
uint64_t cnnvp_ledger_room(const struct ledger *ledger, uint64_t from, uint32_t *last);
/* First cycle after `from` in which a command of `unit` ends; LEDGER_UNKNOWN if unknown, `from` if none is in
 * flight. */
uint64_t cnnvp_ledger_unit_end(const struct ledger *ledger, uint32_t unit, uint64_t from);
/* Number of commands in flight in `cycle`; those from before a guest's reset count only if `forgotten`. */
uint32_t cnnvp_ledger_in_flight(const struct ledger *ledger, uint64_t cycle, int forgotten);
