/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the instruction element: pushes instruction words and follows their completion. It remembers the value that
 * each of the element's registers has after the words pushed so far, and pushes a `set` only where a value changes. */
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

/* Collects words instead of pushing them. Every register of a descriptor is assigned, even if it holds the value
 * already. `keep` is put into the high half of those that would always be pushed (`always` of
 * cnnvp_element_push_tile). */
struct cnnvp_capture {
    struct cnnvp_word *words;
    uint32_t count;
    uint32_t capacity;
    uint32_t overflow; /* 1: words did not fit */
    uint32_t keep;
    uint32_t touched[8]; /* bit n % 32 of word n / 32: register n is assigned */
};

/* Instruction words in memory, which the element reads. Two copies, one behind the other, serve alternate runs. The
 * patches say how words change from run to run. */
struct cnnvp_program {
    uint32_t address;
    uint32_t bytes;   /* size of one copy */
    uint32_t patches; /* address of the last patch; patches fill the memory from `end` down. A patch is the offset of a
                         word in a copy, and the growth of its low half per run */
    uint32_t end;
};

enum cnnvp_element_failure {
    CNNVP_ELEMENT_WORKS = 0,
    CNNVP_ELEMENT_STOPPED = 1,  /* the element reported an error */
    CNNVP_ELEMENT_NO_TABLE = 2, /* the scheduler's table has no room for a chain that only the scheduler may issue */
    CNNVP_ELEMENT_NO_LIST = 3   /* memory has no room for the instructions of a batch */
};

struct cnnvp_element {
    const struct cnnvp_machine *machine;
    uint32_t base;                 /* address of the element's registers */
    uint32_t free;                 /* words that the queue has room for, at least; 0 while words are collected */
    uint32_t tag;                  /* layer tag after the words pushed so far; UINT32_MAX: not known */
    uint32_t events;               /* irq instructions pushed */
    volatile uint32_t interrupts;  /* interrupts handled */
    volatile uint32_t failed;      /* enum cnnvp_element_failure */
    struct cnnvp_capture *capture; /* where words are collected; NULL: nowhere */
    uint32_t place, place_end;     /* memory that words go to (cnnvp_element_write); 0: they are pushed */
    uint32_t room;                 /* words that fit there, at least */
    uint32_t value[256];           /* register values after the words pushed so far; 0 at reset */
};

/* Resets and enables the element and its interrupts. Does not block. */
void cnnvp_element_init(struct cnnvp_element *element, const struct cnnvp_machine *machine, uint32_t base);

/* To be called by the interrupt handler when the element's line is up: notes and clears the causes. */
void cnnvp_element_interrupt(struct cnnvp_element *element);

/* Makes the element read `count` words from memory, each as two 32-bit words, the low one first. Words pushed later
 * wait until it has read them. Does not block. */
void cnnvp_element_read(struct cnnvp_element *element, uint32_t address, uint32_t count);

/* Sleeps until the element has read all of these words, or has failed. */
void cnnvp_element_wait_read(struct cnnvp_element *element);

/* Makes words go to memory from `address` up to `end`, in the form that cnnvp_element_read takes. 0, 0: they are pushed
 * again. */
void cnnvp_element_write(struct cnnvp_element *element, uint32_t address, uint32_t end);

/* Makes the patches from the differences of the two copies. Returns 0 if the copies differ in more than the values of
 * `set`, or memory has no room for the patches. */
int cnnvp_element_compare(const struct cnnvp_element *element, struct cnnvp_program *program);

/* Advances the copy at `copy` by two runs, for its next run. */
void cnnvp_element_patch(struct cnnvp_element *element, const struct cnnvp_program *program, uint32_t copy);

/* Register STATUS, and the number of the last irq instruction that has completed. */
uint32_t cnnvp_element_status(const struct cnnvp_element *element);
uint32_t cnnvp_element_event(const struct cnnvp_element *element);

/* Makes words go to `capture`; NULL: they are pushed again. */
void cnnvp_element_capture(struct cnnvp_element *element, struct cnnvp_capture *capture);

/* The following functions push words and sleep while the queue is full. Not for use in an interrupt handler. */
void cnnvp_element_irq(struct cnnvp_element *element, uint32_t number);
/* Pushes a tile instruction whose descriptor (`count` registers) lies from register `base` on. */
void cnnvp_element_tile(struct cnnvp_element *element, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                        uint32_t immediate, uint32_t base, const uint32_t *descriptor, uint32_t count);

/* The same, if the registers hold the descriptor already. */
void cnnvp_element_tile_again(struct cnnvp_element *element, enum cnnvp_opcode opcode, uint32_t status, uint32_t halves,
                              uint32_t immediate, uint32_t base);

/* Sets register `number` to `wanted`. */
void cnnvp_element_set(struct cnnvp_element *element, uint32_t number, uint32_t wanted);

/* Restores the registers in `touched` (struct cnnvp_capture), which words of another driver have assigned, to the
 * values that this driver remembers. */
void cnnvp_element_restore(struct cnnvp_element *element, const uint32_t *touched);

/* Sleeps until every irq instruction pushed so far has completed, or the element has failed. Returns 0, or -1 on
 * failure. */
int cnnvp_element_finish(struct cnnvp_element *element);

/* Prints to the console why the element stopped. */
void cnnvp_element_explain(const struct cnnvp_element *element);

/* ---- inline part: descriptors need not be in memory ---- */

/* The path for any descriptor, without certain room: waits for room, or collects the words. */
void cnnvp_element_push_slowly(struct cnnvp_element *element, uint32_t high, uint32_t immediate,
                               const uint32_t *descriptor, uint32_t count, uint32_t always);

/* Writes a word to `place`: the registers PUSH_LO and PUSH_HI, or memory. There must be room. */
static inline void cnnvp_element_put(const struct cnnvp_machine *machine, uint32_t place, uint32_t high, uint32_t low)
{
    cnnvp_device_write(machine, place, low);
    cnnvp_device_write(machine, place + CNNVP_ELEMENT_PUSH_HI - CNNVP_ELEMENT_PUSH_LO, high);
}

/* Pushes one word unchanged. */
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
        cnnvp_element_push_slowly(element, high, low, element->value, 0, 0);
    }
}

/* The words that follow belong to the layer with this tag. */
static inline void cnnvp_element_layer(struct cnnvp_element *element, uint32_t tag)
{
    if (element->tag == tag)
        return;
    element->tag = tag;
    cnnvp_element_push_word(element, cnnvp_word_high(CNNVP_OPCODE_layer, 0, 0, 0), tag);
}

/* Upper bound of the words of a tile instruction, if only the registers in the mask `changed` may differ. Counts bits
 * itself: the compiler's builtin may call a library that drivers elsewhere do not have. */
static inline uint32_t cnnvp_element_words(uint32_t count, uint32_t changed)
{
    uint32_t bits = changed - (changed >> 1 & 0x55555555u);
    bits = (bits & 0x33333333u) + (bits >> 2 & 0x33333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0fu;
    return 1u + (changed == UINT32_MAX ? count : bits * 0x01010101u >> 24);
}

/* Writes a tile instruction and its descriptor, without the last register if `last` is 0. There must be room. `changed`
 * and `always` are masks of registers: only those in `changed` may have a new value since the last push; those in
 * `always` are pushed even if the value is the same, because their values depend on data and the number of words must
 * not (models/documents.md, invariant 2). Words go to `place`, each `step` bytes after the one before. Returns the
 * place after the last word. */
static inline __attribute__((always_inline)) uint32_t cnnvp_element_put_tile(
    struct cnnvp_element *element, uint32_t place, uint32_t step, uint32_t base, uint32_t high, uint32_t immediate,
    const uint32_t *descriptor, uint32_t count, uint32_t last, uint32_t changed, uint32_t always)
{
    const struct cnnvp_machine *machine = element->machine;
    const int anchored = changed == UINT32_MAX && __builtin_constant_p(count);
    uint32_t set = cnnvp_word_high(CNNVP_OPCODE_set, 0, base, 0);
    uint32_t *value = &element->value[base];
    if (!__builtin_constant_p(base))
        __asm__("" : "+r"(value)); /* keeps it from being calculated twice */
#pragma GCC unroll 24
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t wanted = descriptor[i];
        if (anchored && i % 7u == 0) { /* the next seven registers are one addition away */
            set += i != 0 ? cnnvp_word_high(0, 0, 7, 0) : 0;
            __asm__("" : "+r"(set)); /* keeps it from being calculated anew for each of them */
        }
        if ((changed == UINT32_MAX || (changed >> i & 1u) != 0) && ((always >> i & 1u) != 0 || value[i] != wanted) &&
            (last != 0 || i + 1u != count)) {
            value[i] = wanted;
            cnnvp_element_put(machine, place, set + cnnvp_word_high(0, 0, anchored ? i % 7u : i, 0), wanted);
            place += step;
        }
    }
    cnnvp_element_put(machine, place, high, immediate);
    return place + step;
}

/* The same, whether there is room or not. */
static inline __attribute__((always_inline)) void cnnvp_element_push_tile(
    struct cnnvp_element *element, uint32_t base, uint32_t high, uint32_t immediate, const uint32_t *descriptor,
    uint32_t count, uint32_t last, uint32_t changed, uint32_t always)
{
    uint32_t copy[CNNVP_DESCRIPTOR_MAX];
    const uint32_t words = cnnvp_element_words(count, changed);
    if (element->free >= words) {
        element->free -= words; /* an upper bound: fewer may be pushed */
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
