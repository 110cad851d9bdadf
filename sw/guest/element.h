/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver of the instruction element: pushes instruction words, follows completion. It remembers what each of the
 * element's registers holds at the end of what was pushed, and pushes a `set` only where a value changes.
 */
#ifndef CNNVP_GUEST_ELEMENT_H
#define CNNVP_GUEST_ELEMENT_H

#include "cnnvp_command.h"
#include "cnnvp_isa.h"
#include "machine.h"

#include <stddef.h>

struct cnnvp_word {
    uint32_t high;
    uint32_t low;
};

/* Words that are collected instead of pushed: every register of a descriptor is assigned, whatever it holds. `keep`
 * marks the high half of those that are pushed in any case (`always` of cnnvp_element_push_tile). */
struct cnnvp_capture {
    struct cnnvp_word *words;
    uint32_t count;
    uint32_t capacity;
    uint32_t overflow; /* did not fit */
    uint32_t keep;
    uint32_t touched[8]; /* bit n of all: register n is assigned */
};

/* Words in memory, as the element reads them: two copies, one behind the other, for every other run of them, and how
 * they change from one run to the next. */
struct cnnvp_program {
    uint32_t address; /* of the first copy */
    uint32_t bytes;   /* of one copy */
    uint32_t patches; /* address of the last patch: which byte of a copy a word's low half is, and how much that grows
                         from run to run; they fill the memory from its end on */
    uint32_t end;
};

enum cnnvp_element_failure {
    CNNVP_ELEMENT_WORKS = 0,
    CNNVP_ELEMENT_STOPPED = 1,  /* it reported an error */
    CNNVP_ELEMENT_NO_TABLE = 2, /* the scheduler's table has no room for a chain that only it may issue */
    CNNVP_ELEMENT_NO_LIST = 3   /* memory has no room for the instructions of a batch */
};

struct cnnvp_element {
    const struct cnnvp_machine *machine;
    uint32_t base;                 /* address of the element's registers */
    uint32_t free;                 /* words that fit for certain; 0 while words are collected */
    uint32_t tag;                  /* layer tag in effect at the end of what was pushed; UINT32_MAX: not known */
    uint32_t events;               /* irq instructions pushed */
    volatile uint32_t interrupts;  /* interrupts handled */
    volatile uint32_t failed;      /* enum cnnvp_element_failure */
    struct cnnvp_capture *capture; /* cnnvp_element_capture */
    uint32_t place, place_end;     /* where words go instead (cnnvp_element_write); 0: they are pushed */
    uint32_t room;                 /* words that fit there for certain */
    uint32_t value[256];           /* of the element's registers at the end of what was pushed; 0 at reset */
};

/* Enables the element and its interrupts. Does not block. */
void cnnvp_element_init(struct cnnvp_element *element, const struct cnnvp_machine *machine, uint32_t base);

/* Called by the interrupt handler when the element's line is up: notes and clears the causes. */
void cnnvp_element_interrupt(struct cnnvp_element *element);

/* Has the element read `count` words from memory, two words of 32 bits each, the low one first; nothing else is pushed
 * before it has. Does not block. */
void cnnvp_element_read(struct cnnvp_element *element, uint32_t address, uint32_t count);

/* Sleeps until the element has read all of it, or has failed. */
void cnnvp_element_wait_read(struct cnnvp_element *element);

/* From now on words go to memory from `address` up to `end`, as cnnvp_element_read takes them; 0, 0: they are pushed.
 */
void cnnvp_element_write(struct cnnvp_element *element, uint32_t address, uint32_t end);

/* Makes the patches from both copies. 0 where the copies differ in more than what registers are set to, or the patches
 * have no room. */
int cnnvp_element_compare(const struct cnnvp_element *element, struct cnnvp_program *program);

/* Prepares the copy at `copy`, last read for the run before the one before, for the next run. */
void cnnvp_element_patch(struct cnnvp_element *element, const struct cnnvp_program *program, uint32_t copy);

/* STATUS, and the number of the last irq instruction that has completed. */
uint32_t cnnvp_element_status(const struct cnnvp_element *element);
uint32_t cnnvp_element_event(const struct cnnvp_element *element);

/* From now on words go to `capture`; NULL: they are pushed. */
void cnnvp_element_capture(struct cnnvp_element *element, struct cnnvp_capture *capture);

/* All of these push words, and sleep while the queue is full. Not for use in an interrupt handler. */
void cnnvp_element_irq(struct cnnvp_element *element, uint32_t number);
/* What follows is of the layer with this tag. */
void cnnvp_element_layer(struct cnnvp_element *element, uint32_t tag);
/* A tile instruction whose descriptor (`count` registers) is to stand at register `base` on. */
void cnnvp_element_tile(struct cnnvp_element *element, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                        uint32_t immediate, uint32_t base, const uint32_t *descriptor, uint32_t count);

/* One whose descriptor stands there already. */
void cnnvp_element_tile_again(struct cnnvp_element *element, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                              uint32_t immediate, uint32_t base);

/* Register `number`, which an instruction before has used, is to hold `wanted`. */
void cnnvp_element_set(struct cnnvp_element *element, uint32_t number, uint32_t wanted);

/* Another driver has pushed words that assigned these registers (struct cnnvp_capture): gives them back what this
 * driver believes they hold. */
void cnnvp_element_restore(struct cnnvp_element *element, const uint32_t *touched);

/* Sleeps until every irq instruction pushed so far has completed or the element has failed. Returns 0, or -1 on
 * failure. */
int cnnvp_element_finish(struct cnnvp_element *element);

/* Prints why the element stopped to the console. */
void cnnvp_element_explain(const struct cnnvp_element *element);

/* ---- the same, inline: a descriptor's words need not be in memory ---- */

/* What follows where there is no room for certain: waits for it, or collects the words. */
void cnnvp_element_push_slowly(struct cnnvp_element *element, uint32_t high, uint32_t immediate,
                               const uint32_t *descriptor, uint32_t count, uint32_t always);

/* A word that there is room for goes to `place`: PUSH_LO and PUSH_HI, or memory. */
static inline void cnnvp_element_put(const struct cnnvp_machine *machine, uint32_t place, uint32_t high, uint32_t low)
{
    cnnvp_device_write(machine, place, low);
    cnnvp_device_write(machine, place + CNNVP_ELEMENT_PUSH_HI - CNNVP_ELEMENT_PUSH_LO, high);
}

/* A word as it is. */
static inline void cnnvp_element_push_word(struct cnnvp_element *element, uint32_t high, uint32_t low)
{
    if (element->free != 0) {
        --element->free;
        cnnvp_element_put(element->machine, element->base + CNNVP_ELEMENT_PUSH_LO, high, low);
    } else if (element->room != 0) {
        --element->room;
        cnnvp_element_put(element->machine, element->place, high, low);
        element->place += sizeof(struct cnnvp_word);
    } else {
        cnnvp_element_push_slowly(element, high, low, NULL, 0, 0);
    }
}

/* Words that a tile instruction has at most where the registers of a mask may differ. The compiler's own count of bits
 * may be a call into a library that a driver elsewhere has not. */
static inline uint32_t cnnvp_element_words(uint32_t count, uint32_t changed)
{
    uint32_t bits = changed - (changed >> 1 & 0x55555555u);
    bits = (bits & 0x33333333u) + (bits >> 2 & 0x33333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0fu;
    return 1u + (changed == UINT32_MAX ? count : bits * 0x01010101u >> 24);
}

/* A tile instruction's base register and high half, and a descriptor, without its last register where `last` is 0;
 * there is room for the words. Masks of registers: those of `changed` alone may hold something else since it was pushed
 * last; those of `always` are pushed even if they hold what they are to hold: their value depends on data, and how many
 * words are pushed must not (models/documents.md, invariant 2). They go to `place`, each `step` bytes after the one
 * before. Returns the place of the next one. */
static inline __attribute__((always_inline)) uint32_t cnnvp_element_put_tile(
    struct cnnvp_element *element, uint32_t place, uint32_t step, uint32_t base, uint32_t high, uint32_t immediate,
    const uint32_t *descriptor, uint32_t count, uint32_t last, uint32_t changed, uint32_t always)
{
    const struct cnnvp_machine *machine = element->machine;
    const uint32_t set = cnnvp_word_high(CNNVP_OPCODE_set, 0, base, 0);
    uint32_t *value = &element->value[base];
#pragma GCC unroll 24
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t wanted = descriptor[i];
        if ((changed == UINT32_MAX || (changed >> i & 1u) != 0) && ((always >> i & 1u) != 0 || value[i] != wanted) &&
            (last != 0 || i + 1u != count)) {
            value[i] = wanted;
            cnnvp_element_put(machine, place, set + cnnvp_word_high(0, 0, i, 0), wanted);
            place += step;
        }
    }
    cnnvp_element_put(machine, place, high, immediate);
    return place + step;
}

/* The same with room or without. */
static inline __attribute__((always_inline)) void cnnvp_element_push_tile(
    struct cnnvp_element *element, uint32_t base, uint32_t high, uint32_t immediate, const uint32_t *descriptor,
    uint32_t count, uint32_t last, uint32_t changed, uint32_t always)
{
    uint32_t copy[CNNVP_DESCRIPTOR_MAX];
    const uint32_t words = cnnvp_element_words(count, changed);
    if (element->free >= words) {
        element->free -= words; /* whether all of them are pushed or not */
        (void)cnnvp_element_put_tile(element, element->base + CNNVP_ELEMENT_PUSH_LO, 0, base, high, immediate,
                                     descriptor, count, last, changed, always);
        return;
    }
    if (element->room >= words) {
        element->room -= words;
        element->place = cnnvp_element_put_tile(element, element->place, sizeof(struct cnnvp_word), base, high,
                                                immediate, descriptor, count, last, changed, always);
        return;
    }
#pragma GCC unroll 24
    for (uint32_t i = 0; i < count; ++i)
        copy[i] = descriptor[i];
    cnnvp_element_push_slowly(element, high, immediate, copy, count - (last ^ 1u), always);
}

#endif
