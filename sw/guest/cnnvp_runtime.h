/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime: networks on the accelerator for cores that are not the platform's. It is the software of the platform's
 * own core on an MMIO layer: bare metal, a task of an operating system, a thread of a simulation.
 *
 *     static struct cnnvp_runtime_binary net = {
 *         .machine = {.host = ..., .read = ..., .write = ..., .memory = ..., .console = ..., .sleep = ...},
 *         .address = NET_BASE};                                     // net.h, net.bin: of `cnnvp compile`
 *     ...                                                           // net.bin lies at NET_BASE, zeros behind it
 *     int code = cnnvp_runtime_run(&net, input, output, NULL);
 *
 * Build: all of share/cnnvp/guest/runtime, include folder share/cnnvp/guest; on RISC-V with -DCNNVP_MMIO. Libc: memcpy
 * and memset. No globals: each accelerator has a struct, and its thread.
 *
 * The MMIO layer (struct cnnvp_machine):
 * - read, write: 32 bits of a register or of the accelerator's memory, at its address in the binary.
 * - memory: where the core reads the binary's bytes at that address: constant, in memory or in a copy of it.
 * - console: a character of the explanation why the accelerator stopped.
 * - sleep: waits for the interrupt, a level, and calls cnnvp_runtime_interrupt, or calls it at once, which is polling;
 *   where a handler calls it, sleep waits for the handler. Returns 1; 0 after cnnvp_runtime_stop.
 */
#ifndef CNNVP_RUNTIME_H
#define CNNVP_RUNTIME_H

#include "guest.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_runtime_binary {
    struct cnnvp_machine machine;
    uint32_t address;             /* --base */
    struct cnnvp_word *collected; /* CNNVP_COLLECTED_WORDS, for chains (--schedule depth-first) and a scheduler unit */
    struct cnnvp_guest guest;     /* the runtime's, as is */
    volatile int stopped;         /* cnnvp_runtime_stop */
};

enum cnnvp_runtime_code {
    CNNVP_RUNTIME_DONE = 0,
    CNNVP_RUNTIME_STOPPED = 1,   /* the accelerator has reported an error, as the console says, or was given up */
    CNNVP_RUNTIME_NO_BINARY = 2, /* that `address` holds, of this version and for one accelerator */
    CNNVP_RUNTIME_NO_ROOM = 3    /* `collected` is NULL, and the accelerator has a scheduler unit for the network */
};

/* Runs the network over all its images. The first input and the first output are dense words, image after image, in the
 * formats that the binary's header names; an input word that the memory's 8 bits do not hold becomes the nearest that
 * they do. NULL: they stay where the header says, as others do. `done`, unless NULL, is
 * called when all is done and the output is there. Returns the code; sleeps meanwhile. */
int cnnvp_runtime_run(struct cnnvp_runtime_binary *binary, const int16_t *input, int16_t *output,
                      void (*done)(struct cnnvp_runtime_binary *binary, int code));

/* To be called when the accelerator's interrupt is high. */
void cnnvp_runtime_interrupt(struct cnnvp_runtime_binary *binary);

/* Gives up what runs now: the network is left as it is, as soon as it sleeps, waits for room in the queue, or comes to
 * the next row of its input. May be called by another thread or an interrupt handler. */
void cnnvp_runtime_stop(struct cnnvp_runtime_binary *binary);

#ifdef __cplusplus
}
#endif

#endif
