/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An FX16 array (NFU, window engine) between real buffers, on a host without SystemC. Failures end the running test.
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

/* Adds and connects; parameters may be set until the start. */
void array_rig_begin(struct array_rig *rig, const struct cnnvp_unit *unit, uint64_t mhz, int timing_only);
void array_rig_start(struct array_rig *rig);
/* Both, for S000's units made of lanes: `units` of some lanes, at 1 GHz. */
struct array_rig_lanes {
    uint64_t units, lanes;
    int timing_only;
};
void array_rig_start_lanes(struct array_rig *rig, const struct cnnvp_unit *unit, const struct array_rig_lanes *lanes);
void array_rig_end(struct array_rig *rig);

/* Debug access to a buffer's storage: address in bytes. */
void *array_rig_peek(struct cnnvp_host *buffer, uint32_t half, uint32_t address, uint64_t size);
void array_rig_poke(struct cnnvp_host *buffer, uint32_t half, uint32_t address, const int16_t *words, uint64_t count);

/* Sends the command and runs to its end; returns the unit's status. delay may be NULL. */
int array_rig_send(struct array_rig *rig, struct cnnvp_command *command, cnnvp_time *delay);

/* A command with the descriptor `registers`, a struct machine_<form> (instructions.h), on halves 0, of layer 1. */
struct cnnvp_command array_rig_command(uint32_t opcode, uint32_t status, const void *registers, size_t size);
#define ARRAY_RIG_COMMAND(opcode, status, registers) array_rig_command(opcode, status, &(registers), sizeof(registers))
/* One that has to work: cycles to its end. */
uint64_t array_rig_do(struct array_rig *rig, struct cnnvp_command command);
/* Checks that one is refused for this reason, and that nothing but the refusal is counted. */
void array_rig_check_refused(struct array_rig *rig, struct cnnvp_command command, int expected, const char *why);

#endif
