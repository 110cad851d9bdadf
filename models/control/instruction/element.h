/* SPDX-License-Identifier: Apache-2.0 */
/* State of one instruction element, shared by its files: instruction.c (registers, callbacks, tables), advance.c and
 * execute.c. */
#ifndef CNNVP_INSTRUCTION_ELEMENT_H
#define CNNVP_INSTRUCTION_ELEMENT_H

#include <stdint.h>

#include "cnnvp_model.h"
#include "ledger.h"
#include "pipeline.h"

#define UNIT_DEF "control/instruction/instruction.def"
#include "unit/unit_enums.inc"

enum element_error {
    ERROR_none = 0,
#define CNNVP_ERROR_CAUSE(name, value, help) ERROR_##name = (value),
#include "control/instruction/instruction.def"
};

enum element_event { EVENT_ADVANCE, EVENT_KINDS };

/* Moments of the critical path: the last issue and the next one, the completion after which a command is sent again,
 * the last irq, the last ends of commands that have used each resource, the ends of commands in flight, the pushes of
 * words (word n, counted from 0 since reset, in a ring that is longer than queue and sequence). */
enum element_moment {
    MOMENT_ISSUE,
    MOMENT_NEXT,
    MOMENT_RETRY,
    MOMENT_EVENT,
    MOMENT_RESOURCES,
    MOMENT_COMMANDS = MOMENT_RESOURCES + 32,
    MOMENT_WORDS = MOMENT_COMMANDS + LEDGER_COMMANDS
};

enum {
    IRQ_EVENT = 1u << 0,
    IRQ_ERROR = 1u << 1,
    IRQ_SPACE = 1u << 2,
    IRQ_REFUSED = 1u << 3,
    ELEMENT_FETCH_MAX = 512 /* words of one read of a program: limit of parameter fetch_words */
};

struct element_registers {
#define CNNVP_REGISTER(name, offset, access, reset, mask, help) uint32_t name;
#include "control/instruction/instruction.def"
};

/* An error that becomes visible in `cycle`. */
struct element_fault {
    uint32_t cause; /* enum element_error; ERROR_none: there is none */
    int32_t status;
    uint64_t cycle;
    uint64_t pc;
    uint64_t word;
    int published; /* the guest has been told */
};

/* Reading of a program from memory. */
struct element_fetch {
    struct cnnvp_request request;
    uint64_t address;   /* of the next word to ask for */
    uint64_t remaining; /* words that have not arrived */
    int in_memory;      /* the request is with the memory */
    int discard;        /* its words are not wanted any more */
    uint8_t bytes[ELEMENT_FETCH_MAX * 8];
};

struct element {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    struct element_registers reg;
    struct pipeline pipeline;
    struct ledger ledger;
    struct element_fault fault;
    struct element_fetch fetch;
    uint32_t r[256];
    uint64_t mhz;
    uint64_t sequence;   /* instructions issued since the simulation began */
    uint64_t next_issue; /* earliest cycle of the next issue */
    uint64_t retry;      /* earliest cycle in which a refused command is sent again */
    cnnvp_time notified; /* time of the pending event */
    uint32_t fetch_words;
    uint32_t blocker;  /* resources that the oldest instruction has waited for last */
    uint32_t led;      /* moment that the oldest instruction has waited for last */
    uint32_t tail_tag; /* layer in effect at the queue's end */
    uint32_t peak;
    uint64_t pushed;                     /* words, and */
    uint64_t issued[ISA_CLASS_calc + 1]; /* instructions by class that the statistics do not have yet */
    int strict;
    int refused;    /* the unit has refused the oldest instruction; wait for a completion */
    int waited_all; /* the oldest instruction waits for every completion */
    int space_armed;
    int advancing;
    int in_event;
    int touched; /* something outside the element: a unit, the memory, the interrupt */
};

/* Last accelerator cycle whose edge is at or before `time`. */
static inline uint64_t cnnvp_element_cycle(const struct element *self, cnnvp_time time)
{
    return cnnvp_edge_at_or_after(self->mhz, time + 1u) - 1u;
}

/* First accelerator cycle whose edge is now or later. */
static inline uint64_t cnnvp_element_next_cycle(const struct element *self)
{
    return cnnvp_edge_at_or_after(self->mhz, self->ops->now(self->host));
}

/* Slot of the push of a word. */
static inline uint32_t cnnvp_element_push_moment(const struct element *self, uint64_t word)
{
    return MOMENT_WORDS + (uint32_t)(word & (2u * (self->pipeline.queue_mask | self->pipeline.sequence_mask) + 1u));
}

/* What was followed is done. In the element's own event the rest, room in the queue, comes from what has been issued.
 */
static inline void cnnvp_element_end_follow(struct element *self)
{
    self->ops->follow(self->host, self->in_event ? (uint32_t)MOMENT_ISSUE : CNNVP_PATH_NOW, self->ledger.layer);
}

/* execute.c */

/* The end of a command in flight, which is kept at its place, is the last one of what it has used. */
void cnnvp_element_note_end(struct element *self, const struct ledger_command *command);

/* The element's port for commands to a unit. */
uint32_t cnnvp_element_port(enum isa_unit unit);
/* First cycle in which the oldest instruction can issue; PIPELINE_NEVER while that is unknown. */
uint64_t cnnvp_element_issue_cycle(struct element *self);
/* Issues the oldest instruction if its cycle is `limit` or earlier; what others can see at once only up to cycle `now`.
 * Returns 1 if it did. */
int cnnvp_element_issue(struct element *self, uint64_t now, uint64_t limit);
/* Tells the ledger from `cycle` on whether instructions wait. */
void cnnvp_element_supply(struct element *self, uint64_t cycle);

/* show.c */

/* Callback of the unit. */
void cnnvp_element_show(void *instance, const struct cnnvp_show *show);

/* advance.c */

/* Stops the element by an error that becomes visible in fault->cycle; the first one counts. */
void cnnvp_element_fail(struct element *self, const struct element_fault *fault);
/* Reading a program from memory has failed. */
void cnnvp_element_fail_fetch(struct element *self, int32_t status);
/* Sets bits of IRQ_STATUS. */
void cnnvp_element_raise(struct element *self, uint32_t bits);
/* Recomputes the interrupt's level. */
void cnnvp_element_update_irq(struct element *self);
/* 1 while room in the queue is waited for by the guest or by a program being read. */
int cnnvp_element_wants_room(const struct element *self);
/* Gives room that there is to who waits for it. */
void cnnvp_element_serve_room(struct element *self);
/* Puts a word into the queue in `cycle`. */
void cnnvp_element_enqueue(struct element *self, uint64_t word, uint64_t cycle);
/* Shows how many words the queue holds. */
void cnnvp_element_note_occupancy(struct element *self);
/* Brings everything up to the present; with `ahead` also what can be computed now for later. `schedule` is still to be
 * called. */
void cnnvp_element_bring_up(struct element *self, int ahead);
/* Both. */
void cnnvp_element_advance(struct element *self, int ahead);
/* Sets the event for the next thing that is due. */
void cnnvp_element_schedule(struct element *self);

#endif
