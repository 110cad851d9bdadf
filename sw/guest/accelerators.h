/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several accelerators that share a network's images. A task drives each: the software for one accelerator, on a stack
 * of its own. One task runs at a time, until it sleeps or has pushed a batch; then the next ready task runs. Switching
 * tasks is up to the machine (riscv/tasks.c, tests/rig/host_tasks.c). One more task, number `count`, is the caller of
 * cnnvp_tasks_run, which waits for all others.
 */
#ifndef CNNVP_GUEST_ACCELERATORS_H
#define CNNVP_GUEST_ACCELERATORS_H

#include "guest.h"

struct cnnvp_tasks {
    const struct cnnvp_machine *machine;
    uint32_t plic;
    uint32_t clint; /* address of the core-local interrupt registers */
    uint32_t count;
    uint32_t current;            /* the task that runs */
    volatile uint32_t ended;     /* tasks that have ended */
    volatile uint32_t abandoned; /* 1: the simulation ends; do not wait for tasks */
    struct cnnvp_guest *guests[CNNVP_ACCELERATORS];
    uint32_t ready[CNNVP_ACCELERATORS + 1u];          /* 1: the task can run */
    volatile uint32_t turns[CNNVP_ACCELERATORS + 1u]; /* how often the task's turn came */
    uint32_t has_ended[CNNVP_ACCELERATORS];
    int codes[CNNVP_ACCELERATORS]; /* exit codes of ended tasks */
};

/* The binary of several accelerators, or NULL if memory holds none. */
const struct cnnvp_accelerators_binary *cnnvp_accelerators_binary(const struct cnnvp_machine *machine);

/* Initialises the contexts that tasks->guests point to, and the accelerators. */
void cnnvp_tasks_init(struct cnnvp_tasks *tasks, const struct cnnvp_machine *machine,
                      const struct cnnvp_accelerators_binary *binary, struct cnnvp_word *collected);

/* Runs all tasks to their ends. Returns 0, or the exit code of the first task with another code. Sleeps. All
 * accelerators count time from the common start to the common end. */
int cnnvp_tasks_run(struct cnnvp_tasks *tasks);

/* Body of a task. Afterwards the task is never ready again. */
void cnnvp_task_run(struct cnnvp_tasks *tasks, uint32_t number);

/* Provided by the machine. Called when the set of ready tasks may have changed, so that a task switch follows when the
 * running task sleeps. */
void cnnvp_tasks_bell(const struct cnnvp_tasks *tasks);

/* Claims, serves and completes an interrupt, and makes its task ready. Returns 0 if there is none. */
int cnnvp_tasks_interrupt(struct cnnvp_tasks *tasks);

/* Makes the next ready task, in turn, the current one; it may be the same. Returns 0 if none is ready. */
int cnnvp_tasks_turn(struct cnnvp_tasks *tasks);
int cnnvp_tasks_ready(const struct cnnvp_tasks *tasks);

#endif
