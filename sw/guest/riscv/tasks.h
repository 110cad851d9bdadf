/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks on the RISC-V core: they run with interrupts off, and change in the trap that ends their sleep. */
#ifndef CNNVP_GUEST_TASKS_H
#define CNNVP_GUEST_TASKS_H

#include "accelerators.h"

/* Rooms of CNNVP_CONTEXT_BYTES and of CNNVP_COLLECTED_WORDS, see link.ld. */
extern uint32_t guest_context[];
extern struct cnnvp_word guest_collected[];

/* Runs the tasks of the binary of several accelerators, see cnnvp_tasks_run. Interrupts are off when it is called, and
 * from then on but in a task's sleep. -1: there is no such binary. */
int cnnvp_tasks_main(const struct cnnvp_machine *machine);

#endif
