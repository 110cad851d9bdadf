/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the tasks of several accelerators (accelerators.h) within the process of host_cpu. */
#ifndef CNNVP_HOST_TASKS_H
#define CNNVP_HOST_TASKS_H

#include "accelerators.h"

/* Stack size of a task; enough for the guest software and for device accesses. */
#define HOST_STACK_BYTES (512u * 1024u)

struct host_tasks;

/* Creates the tasks of the binary. `machine`, `binary` and `collected` must outlive them. NULL: no memory.
 * host_tasks_free accepts NULL. */
struct host_tasks *host_tasks_new(const struct cnnvp_machine *machine, const struct cnnvp_accelerators_binary *binary,
                                  struct cnnvp_word *collected);
void host_tasks_free(struct host_tasks *tasks);

/* Like cnnvp_tasks_run, but returns early when the tasks are stopped. */
int host_tasks_run(struct host_tasks *tasks);
/* Makes the tasks issue nothing more; sleeping tasks are abandoned. */
void host_tasks_stop(struct host_tasks *tasks);

/* For a sleeping task: serve an interrupt; 1 if a task is ready; switch to the task whose turn it is, and return on the
 * caller's turn. */
void host_tasks_interrupt(struct host_tasks *tasks);
int host_tasks_ready(const struct host_tasks *tasks);
void host_tasks_change(struct host_tasks *tasks);

#endif
