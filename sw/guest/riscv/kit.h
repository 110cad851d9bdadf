/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The base of a program of your own for the core: its start, traps and interrupts, printf to the UART, and the
 * instruction element ready for use. It is made for picolibc and uses its start-up code and linker script (kit.mk).
 * Addresses and interrupts come from platform.h, which `cnnvp check PLATFORM --header platform.h` writes.
 *
 * cnnvp_isa.h has the instruction set and its descriptors as structs; `cnnvp models isa` explains it. element.h has the
 * functions that push instructions.
 */
#ifndef CNNVP_KIT_H
#define CNNVP_KIT_H

#include "cnnvp_command.h"
#include "element.h"

/* Returns the instruction element: enabled, with an empty queue and all registers 0 at the start. Every call returns
 * the same one. */
struct cnnvp_element *cnnvp_kit_element(void);

/* Waits until all that has been pushed is done. Returns 0, or -1 after an explanation on the console if the element has
 * stopped. */
int cnnvp_kit_finish(void);

/* Makes interrupt `line` (1 to 31, not the element's) call `handler`, which must clear the interrupt's cause. */
void cnnvp_kit_handle(uint32_t line, void (*handler)(void *context), void *context);

/* The words that follow belong to layer `tag` (1 and more): its name (letters, digits, _ and -), `op` (conv, pool,
 * ...), phase (forward, backward or gradient), and `macs`, the products of a weight and an input. A layer whose work
 * comes in several pieces has a call for each: the `macs` of a tag add up, and the last name counts. The statistics
 * have a row for the layer; the trace shows its name. */
struct cnnvp_kit_layer {
    uint32_t tag;
    const char *name, *op, *phase;
    uint64_t macs;
};
void cnnvp_kit_layer(const struct cnnvp_kit_layer *layer);

/* Reports a number by name: `program.reported` of the statistics, which may be an objective of a sweep. */
void cnnvp_kit_report(const char *name, int64_t value);

/* Clock cycles of the core since its start. */
uint64_t cnnvp_kit_cycles(void);

/* Address of an object of the program, for descriptors. The DMA sees what the core has written. */
static inline uint32_t cnnvp_kit_address(const void *object)
{
    return (uint32_t)(uintptr_t)object;
}

/* Pushes instruction `mnemonic` with a descriptor, a struct of cnnvp_isa.h, in the registers from `base` on. For
 * instructions of your own units, both come from platform.h; the struct is cnnvp_custom_MNEMONIC. */
#define CNNVP_KIT_PUSH(element, mnemonic, status, halves, base, descriptor)                         \
    cnnvp_element_tile((element), CNNVP_OPCODE_##mnemonic, (uint32_t)(status), (halves), 0, (base), \
                       (const uint32_t *)(const void *)(descriptor), sizeof *(descriptor) / sizeof(uint32_t))

#endif
