/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of several accelerators (accelerators.h) in the process of host_cpu. */
#ifndef CNNVP_HOST_TASKS_H
#define CNNVP_HOST_TASKS_H

#include "accelerators.h"

/* Deep enough for the guest software and what device accesses lead to. */
#define HOST_STACK_BYTES (512u * 1024u)

struct host_tasks;

/* Makes the binary's tasks ready to run; `machine`, `binary` and `collected` must stay. NULL: no memory. NULL may be
 * freed. */
struct host_tasks *host_tasks_new(const struct cnnvp_machine *machine, const struct cnnvp_accelerators_binary *binary,
                                  struct cnnvp_word *collected);
void host_tasks_free(struct host_tasks *tasks);

/* See cnnvp_tasks_run. Returns early once they are stopped. */
int host_tasks_run(struct host_tasks *tasks);
/* They push nothing more; those that sleep are abandoned. */
void host_tasks_stop(struct host_tasks *tasks);

/* For a task that sleeps: serves an interrupt; 1 if a task is ready; goes on with the one whose turn it is, and returns
 * when it is the caller's again. */
void host_tasks_interrupt(struct host_tasks *tasks);
int host_tasks_ready(const struct host_tasks *tasks);
void host_tasks_change(struct host_tasks *tasks);

#endif
