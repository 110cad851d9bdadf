/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training engine without instruction element, DMA and memory: the PE module, the multi-function module, its blocks
 * and all buffers, connected as the preset has them, on a host without SystemC. Commands go in one after the other.
 */
#ifndef CNNVP_TEST_MACHINE_H
#define CNNVP_TEST_MACHINE_H

#include "fake_host.h"
#include "instructions.h"

#include "cnnvp_tile.h"

#include <stdbool.h>

enum machine_instance {
    M_ARRAY,
    M_INPUT,
    M_WEIGHT,
    M_INTERMEDIATE,
    M_MODULE,
    M_STATISTICS,
    M_SUM,
    M_NORM,
    M_RELU,
    M_QUANTISE,
    M_POOL,
    M_ENCODE,
    M_POOL_BACK,
    M_RELU_BACK,
    M_UPDATE,
    M_BN_UPDATE,
    M_SOFTMAX,
    M_MAX_MIN,
    M_SUMS,
    M_NORMS,
    M_MASK,
    M_IDS,
    M_OUTPUT,
    M_INSTANCES
};

/* Halves of the buffers: the working one is 0, the idle one 1. */
enum { MACHINE_HALF = 1 << 20, MACHINE_IDLE = 1 };

struct machine {
    struct fake_sim sim;
    struct cnnvp_host *units[M_INSTANCES];
    uint64_t sequence;
    cnnvp_time delay; /* of the last command */
};

struct machine_options {
    uint32_t bits;
    bool timing_only;
    bool staged; /* positions pass the ReLU buffer */
    uint32_t sets, lanes;
    uint32_t width_words, banks;                   /* of the large buffers; 0: more than anyone takes. Lines: 2 words */
    uint32_t held_words, held_banks, held_latency; /* of the blocks' buffers; 0: more than anyone takes; none */
};

void machine_begin(struct machine *machine, const struct machine_options *options);
void machine_end(struct machine *machine);

/* Storage of a buffer's half at an address; NULL in timing-only. */
void *machine_at(struct machine *machine, enum machine_instance buffer, uint32_t half, uint32_t address);

/* A command with the descriptor `registers`, a struct machine_<form>. Time goes on to its end. */
int machine_try(struct machine *machine, uint32_t opcode, uint32_t status, uint32_t halves, const void *registers,
                size_t size);
/* One that has to work. */
void machine_do(struct machine *machine, uint32_t opcode, uint32_t status, const void *registers, size_t size);
#define MACHINE_DO(machine, opcode, status, registers) \
    machine_do(machine, opcode, status, &(registers), sizeof(registers))

#endif
