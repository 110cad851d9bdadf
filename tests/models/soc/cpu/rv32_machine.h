/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine for tests of the core: 1 MiB of RAM at 0x80000000, and a device at 0x10000000 through the bus callbacks.
 *   +0x00 W  byte to standard output          +0x10 W  MSIP level
 *   +0x20 R  slots before this instruction    +0x14 W  MEIP level
 *   +0x24 RW scratch word                     +0x18 W  MTIP rises this many slots from now, 0: falls
 *   +0x30 W  request to exit with the value
 * Everything else outside RAM is an access fault.
 */
#ifndef RV32_MACHINE_H
#define RV32_MACHINE_H

#include "rv32.h"

#define MACHINE_RAM 0x80000000u
#define MACHINE_RAM_SIZE 0x00100000u
#define MACHINE_DEVICE 0x10000000u

struct machine {
    struct cnnvp_rv32 *core;
    uint8_t *ram;
    uint64_t slots_before_run;
    uint64_t timer_at; /* slots, UINT64_MAX: off */
    uint64_t accesses;
    uint32_t scratch;
    uint32_t semihost_op;
    uint32_t semihost_arg;
    uint64_t limit; /* of the run in progress */
    int quiet;      /* 1: nothing goes to standard output */
};

/* 0, or -1 where memory ran out. */
int machine_init(struct machine *machine);
void machine_fini(struct machine *machine);
/* Copies words to an address in RAM. */
void machine_poke(struct machine *machine, uint32_t address, const uint32_t *words, size_t count);
/* Loads a 32-bit ELF; *entry and *tohost (0 if there is no such symbol). 0, or -1 with a message on standard error. */
int machine_load_elf(struct machine *machine, const char *path, uint32_t *entry, uint32_t *tohost);
/* Runs up to `slots` slots in pieces of `quantum`, with timer interrupts at the exact slot and WFI slept through. */
enum cnnvp_rv32_reason machine_run(struct machine *machine, uint64_t slots, uint64_t quantum);

#endif
