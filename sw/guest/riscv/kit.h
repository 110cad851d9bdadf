/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program of your own for the core begins with: its start, traps and interrupts, printf to the UART, and the
 * instruction element ready for use. Made for picolibc, whose start-up code and linker script it takes (kit.mk);
 * addresses and interrupts are those of platform.h, which `cnnvp check PLATFORM --header platform.h` writes.
 *
 * The instruction set, its descriptors as structs: cnnvp_isa.h; `cnnvp models isa` explains it. What pushes
 * instructions: element.h.
 */
#ifndef CNNVP_KIT_H
#define CNNVP_KIT_H

#include "cnnvp_command.h"
#include "element.h"

/* The instruction element, enabled, its queue empty, every register 0. The same at each call. */
struct cnnvp_element *cnnvp_kit_element(void);

/* Waits for all that has been pushed. Returns 0, or -1 where the element has stopped, after an explanation on the
 * console. */
int cnnvp_kit_finish(void);

/* Calls `handler` when interrupt `line` (1 to 31, not the element's) is up; it has to clear its cause. */
void cnnvp_kit_handle(uint32_t line, void (*handler)(void *context), void *context);

/* What follows in the queue is work of layer `tag` (1 and more) of this name (letters, digits, _ and -), `op` conv,
 * pool, ..., phase forward, backward or gradient; `macs` products of a weight and an input in what follows. Where a
 * layer's work comes in several pieces, each has its call: the `macs` of one tag add up, of names the last counts. The
 * statistics have a row for it, the trace its name. */
struct cnnvp_kit_layer {
    uint32_t tag;
    const char *name, *op, *phase;
    uint64_t macs;
};
void cnnvp_kit_layer(const struct cnnvp_kit_layer *layer);

/* A number by name, `program.reported` of the statistics, such as an objective of a sweep. */
void cnnvp_kit_report(const char *name, int64_t value);

/* Clock cycles of the core since its start. */
uint64_t cnnvp_kit_cycles(void);

/* Address in memory of an object of the program, as descriptors want it. The DMA sees what the core has written. */
static inline uint32_t cnnvp_kit_address(const void *object)
{
    return (uint32_t)(uintptr_t)object;
}

/* Pushes instruction `mnemonic` with a descriptor, a struct of cnnvp_isa.h, that is to stand at register `base` on. Of
 * a unit of one's own both are in platform.h, the struct as cnnvp_custom_MNEMONIC. */
#define CNNVP_KIT_PUSH(element, mnemonic, status, halves, base, descriptor)                         \
    cnnvp_element_tile((element), CNNVP_OPCODE_##mnemonic, (uint32_t)(status), (halves), 0, (base), \
                       (const uint32_t *)(const void *)(descriptor), sizeof *(descriptor) / sizeof(uint32_t))

#endif
