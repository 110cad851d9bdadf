/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks on the RISC-V core. They run with interrupts off. A task switch happens in the trap that ends a sleep. */
#ifndef CNNVP_GUEST_TASKS_H
#define CNNVP_GUEST_TASKS_H

#include "accelerators.h"

/* Memory of CNNVP_CONTEXT_BYTES, and of CNNVP_COLLECTED_WORDS words, see link.ld. */
extern uint32_t guest_context[];
extern struct cnnvp_word guest_collected[];

/* Runs the tasks of the binary of several accelerators, see cnnvp_tasks_run. Returns -1 if there is no such binary.
 * Interrupts must be off at the call; afterwards they are on only while a task sleeps. */
int cnnvp_tasks_main(const struct cnnvp_machine *machine);

#endif
