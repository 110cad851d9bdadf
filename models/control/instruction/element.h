/* SPDX-License-Identifier: Apache-2.0 */
/* State of an instruction element, shared by its files: instruction.c (registers, callbacks, tables), advance.c,
 * execute.c and show.c. */
#pragma once

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

enum { ELEMENT_PARTS = 32 }; /* of a ring that is twice as long as the queue */

/* Moments of the critical path: the last issue and the next one; the completion after which a refused command is sent
 * again; the last irq; for each resource the last end of a command that used it; the ends of commands in flight; for
 * each part of the queue the last issue of a word from it; the pushes of words (word n, counted from 0 since reset, in
 * a ring at least as long as queue and sequence together). */
enum element_moment {
    MOMENT_ISSUE,
    MOMENT_NEXT,
    MOMENT_RETRY,
    MOMENT_EVENT,
    MOMENT_RESOURCES,
    MOMENT_COMMANDS = MOMENT_RESOURCES + 32,
    MOMENT_ROOM = MOMENT_COMMANDS + LEDGER_COMMANDS,
    MOMENT_WORDS = MOMENT_ROOM + ELEMENT_PARTS
};

enum {
    IRQ_EVENT = 1u << 0,
    IRQ_ERROR = 1u << 1,
    IRQ_SPACE = 1u << 2,
    IRQ_REFUSED = 1u << 3,
    ELEMENT_FETCH_MAX = 512 /* words of one read of a program: maximum of the parameter fetch_words */
};

struct element_registers {
#define CNNVP_REGISTER(name, offset, access, reset, mask, help) uint32_t name;
#include "control/instruction/instruction.def"
};

/* An error, which becomes visible in `cycle`. */
struct element_fault {
    uint32_t cause; /* enum element_error; ERROR_none: no error */
    int32_t status;
    uint64_t cycle;
    uint64_t pc;
    uint64_t word;
    int published; /* has been reported to the guest */
};

/* A program that is being read from memory. */
struct element_fetch {
    struct cnnvp_request request;
    uint64_t address;   /* address of the next word to request */
    uint64_t remaining; /* words that have not arrived yet */
    int in_memory;      /* a request is in flight */
    int discard;        /* discard the words of the request in flight */
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
    uint64_t retry;      /* earliest cycle in which a refused command may be sent again */
    cnnvp_time notified; /* time of the pending event */
    uint32_t fetch_words;
    uint32_t part_words; /* words in a part of the queue; a power of two */
    int is_alone;        /* no other element gets the core's work while this queue is full */
    uint32_t blocker;    /* resources that the oldest instruction waits for, by the last check */
    uint32_t led;        /* moment that the oldest instruction waits for, by the last check */
    uint32_t tail_tag;   /* layer that is in effect at the end of the queue */
    uint32_t peak;
    uint64_t pushed;                     /* words pushed that the statistics do not contain yet */
    uint64_t issued[ISA_CLASS_calc + 1]; /* instructions by class that the statistics do not contain yet */
    int strict;
    int refused;    /* the unit has refused the oldest instruction: wait for a completion */
    int waited_all; /* the oldest instruction waits for every completion */
    int space_armed;
    int advancing;
    int in_event;
    int touched; /* something outside the element was used: a unit, the memory, the interrupt */
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

/* The critical path's moment of a word's push. */
static inline uint32_t cnnvp_element_push_moment(const struct element *self, uint64_t word)
{
    return MOMENT_WORDS + (uint32_t)(word & (2u * (self->pipeline.queue_mask | self->pipeline.sequence_mask) + 1u));
}

/* Slot of the last issue from the part of the queue that contains `word`. */
static inline uint32_t cnnvp_element_room_moment(const struct element *self, uint64_t word)
{
    return MOMENT_ROOM + (uint32_t)(word / self->part_words % ELEMENT_PARTS);
}

/* Ends the host's `follow`. In the element's own event, what comes afterwards (room in the queue) depends on the last
 * issue. */
static inline void cnnvp_element_end_follow(struct element *self)
{
    self->ops->follow(self->host, self->in_event ? (uint32_t)MOMENT_ISSUE : CNNVP_PATH_NOW, self->ledger.layer);
}

/* execute.c */

/* Makes the end of a command, which has its own moment, the last end of each resource that it used. */
void cnnvp_element_note_end(struct element *self, const struct ledger_command *command);

/* Port of the element for commands to a unit. */
uint32_t cnnvp_element_port(enum isa_unit unit);
/* First cycle in which the oldest instruction can issue; PIPELINE_NEVER while that is unknown. */
uint64_t cnnvp_element_issue_cycle(struct element *self);
/* Issues the oldest instruction if its cycle is at most `limit`; if others can see its effect, at most `now`. Returns 1
 * if it was issued. */
int cnnvp_element_issue(struct element *self, uint64_t now, uint64_t limit);
/* Tells the ledger whether instructions wait from `cycle` on. */
void cnnvp_element_supply(struct element *self, uint64_t cycle);

/* show.c */

/* Callback of the unit. */
void cnnvp_element_show(void *instance, const struct cnnvp_show *show);

/* advance.c */

/* Stops the element by an error that becomes visible in fault->cycle. Later errors are only logged. */
void cnnvp_element_fail(struct element *self, const struct element_fault *fault);
/* Stops the element because reading the program from memory has failed. */
void cnnvp_element_fail_fetch(struct element *self, int32_t status);
/* Sets bits of IRQ_STATUS. */
void cnnvp_element_raise(struct element *self, uint32_t bits);
/* Recomputes the interrupt's level. */
void cnnvp_element_update_irq(struct element *self);
/* Returns 1 while the guest or a program in memory waits for room in the queue. */
int cnnvp_element_wants_room(const struct element *self);
/* Gives free room to the guest or to the program in memory that waits for it. */
void cnnvp_element_serve_room(struct element *self);
/* Puts a word into the queue in `cycle`. */
void cnnvp_element_enqueue(struct element *self, uint64_t word, uint64_t cycle);
/* Updates the trace counter and the peak of the number of words in the queue at a time. */
void cnnvp_element_note_occupancy(struct element *self, cnnvp_time at);
/* Computes the state up to the present; with `ahead`, also what can already be computed for later. Call
 * cnnvp_element_schedule afterwards. */
void cnnvp_element_bring_up(struct element *self, int ahead);
/* Calls bring_up and schedule. */
void cnnvp_element_advance(struct element *self, int ahead);
/* Sets the event for the element's next activity. */
void cnnvp_element_schedule(struct element *self);
