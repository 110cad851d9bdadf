/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test rig with an FX16 array (NFU, window engine) between real buffers, on a host without SystemC. A failure ends
 * the running test.
 */
#ifndef CNNVP_ARRAY_RIG_H
#define CNNVP_ARRAY_RIG_H

#include "cnnvp_command.h"
#include "fake_host.h"

struct array_rig {
    struct fake_sim sim;
    struct cnnvp_host *array;
    struct cnnvp_host *input;
    struct cnnvp_host *weight;
    struct cnnvp_host *output;
};

/* begin adds and connects the units, start starts them; parameters may be set in between. */
void array_rig_begin(struct array_rig *rig, const struct cnnvp_unit *unit, uint64_t mhz, int timing_only);
void array_rig_start(struct array_rig *rig);
/* begin and start for the units of S000 that consist of lanes: `units` units of `lanes` lanes at 1 GHz. */
struct array_rig_lanes {
    uint64_t units, lanes;
    int timing_only;
};
void array_rig_start_lanes(struct array_rig *rig, const struct cnnvp_unit *unit, const struct array_rig_lanes *lanes);
void array_rig_end(struct array_rig *rig);

/* Debug access to a buffer's storage; `address` in bytes. */
void *array_rig_peek(struct cnnvp_host *buffer, uint32_t half, uint32_t address, uint64_t size);
void array_rig_poke(struct cnnvp_host *buffer, uint32_t half, uint32_t address, const int16_t *words, uint64_t count);

/* Sends the command and runs until it ends. Returns the unit's status; `delay` may be NULL. */
int array_rig_send(struct array_rig *rig, struct cnnvp_command *command, cnnvp_time *delay);

/* A command with the descriptor `registers`, a struct machine_<form> (instructions.h), on half 0 of all buffers, for
 * layer 1. */
struct cnnvp_command array_rig_command(uint32_t opcode, uint32_t status, const void *registers, size_t size);
#define ARRAY_RIG_COMMAND(opcode, status, registers) array_rig_command(opcode, status, &(registers), sizeof(registers))
/* Sends a command that must succeed. Returns its duration in cycles. */
uint64_t array_rig_do(struct array_rig *rig, struct cnnvp_command command);
/* Checks that the unit refuses the command with this status and message, and counts only the refusal. */
void array_rig_check_refused(struct array_rig *rig, struct cnnvp_command command, int expected, const char *why);

#endif
