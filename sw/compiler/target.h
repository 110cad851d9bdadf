/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler knows of the accelerator that it compiles for: read from a resolved configuration. */
#ifndef CNNVP_COMPILER_TARGET_H
#define CNNVP_COMPILER_TARGET_H

#include "plan.h"

struct cnnvp_target {
    struct cnnvp_plan_limits limits;
    uint32_t output_halves;
    uint32_t acc_bits;     /* of the PE array's sums */
    uint64_t pes;          /* its processing elements */
    uint32_t cycle_ps;     /* of the PE array */
    uint64_t memory_base;  /* off-chip memory's window on the bus */
    uint64_t memory_size;
    uint32_t element;      /* registers of the instruction element */
    uint32_t plic;         /* and of the interrupt controller */
    uint32_t element_irq;  /* the element's line there */
    uint32_t scheduler;    /* registers of the depth-first scheduler, 0: there is none */
    uint32_t scheduler_irq;
};

/* To be cleared, whatever the result. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_read(const cnnvp_config *config, struct cnnvp_target *target,
                                              struct cnnvp_error *error);
void cnnvp_target_clear(struct cnnvp_target *target);

/* BAD_INPUT: its connections or parameters are not those that the guest software takes for granted. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_wiring(const cnnvp_config *config, struct cnnvp_error *error);

/* Its parts. Half of a ping-pong buffer, all of another one; memory, element and interrupt controller. */
CNNVP_MUST_USE cnnvp_result cnnvp_target_buffer(const cnnvp_config *config, const char *instance, uint64_t *half,
                                                uint32_t *halves, struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_target_map(const cnnvp_config *config, struct cnnvp_target *target,
                                             struct cnnvp_error *error);

#endif
