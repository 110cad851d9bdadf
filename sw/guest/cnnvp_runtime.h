/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime: runs networks on the accelerator for cores that are not the platform's own. It is the software of the
 * platform's core on an MMIO layer that you provide: bare metal, a task of an operating system, or a thread of a
 * simulation.
 *
 *     static struct cnnvp_runtime_binary net = {
 *         .machine = {.host = ..., .read = ..., .write = ..., .memory = ..., .console = ..., .sleep = ...},
 *         .address = NET_BASE};                                     // net.h, net.bin: from `cnnvp compile`
 *     ...                                                           // net.bin lies at NET_BASE, zeros behind it
 *     int code = cnnvp_runtime_run(&net, input, output, NULL);
 *
 * To build it, compile all of share/cnnvp/guest/runtime with include folder share/cnnvp/guest; on RISC-V with
 * -DCNNVP_MMIO. It needs memcpy and memset of a libc. It has no globals: each accelerator has a struct
 * cnnvp_runtime_binary and a thread.
 *
 * The MMIO layer (struct cnnvp_machine):
 * - read, write: access 32 bits of a register or of the accelerator's memory, at its address in the binary.
 * - memory: returns where the core can read the binary's bytes at an address: in memory, or in a constant copy of it.
 * - console: prints a character of the explanation why the accelerator stopped.
 * - sleep: waits for the interrupt (level-triggered) and calls cnnvp_runtime_interrupt, or calls it at once, which is
 *   polling. If an interrupt handler calls it, sleep waits for the handler. Returns 1; 0 after cnnvp_runtime_stop.
 */
#ifndef CNNVP_RUNTIME_H
#define CNNVP_RUNTIME_H

#include "guest.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cnnvp_runtime_binary {
    struct cnnvp_machine machine;
    uint32_t address;             /* address of the binary: --base of `cnnvp compile` */
    struct cnnvp_word *collected; /* CNNVP_COLLECTED_WORDS; for chains (--schedule depth-first) on a scheduler unit */
    struct cnnvp_guest guest;     /* internal */
    volatile int stopped;         /* internal: cnnvp_runtime_stop was called */
};

enum cnnvp_runtime_code {
    CNNVP_RUNTIME_DONE = 0,
    CNNVP_RUNTIME_STOPPED = 1,   /* the accelerator reported an error (see the console), or the run was stopped */
    CNNVP_RUNTIME_NO_BINARY = 2, /* `address` holds no binary of this version for one accelerator */
    CNNVP_RUNTIME_NO_ROOM = 3    /* `collected` is NULL, and the accelerator has a scheduler unit for the network */
};

/* Runs the network over all its images. `input` and `output` are the first input and the first output: dense words,
 * image after image, in the formats that the binary's header names. An input word that does not fit into 8 bits
 * saturates if memory has 8-bit words. NULL: the tensor stays where the header says, like all other inputs and outputs.
 * `done`, unless NULL, is called at the end of the run, when the output has been copied. Sleeps meanwhile, and returns
 * the code. */
int cnnvp_runtime_run(struct cnnvp_runtime_binary *binary, const int16_t *input, int16_t *output,
                      void (*done)(struct cnnvp_runtime_binary *binary, int code));

/* To be called when the accelerator's interrupt is high. */
void cnnvp_runtime_interrupt(struct cnnvp_runtime_binary *binary);

/* Gives up the run. It ends the next time that it sleeps, waits for room in the queue, or begins a row of its input.
 * Another thread or an interrupt handler may call this. */
void cnnvp_runtime_stop(struct cnnvp_runtime_binary *binary);

#ifdef __cplusplus
}
#endif

#endif
