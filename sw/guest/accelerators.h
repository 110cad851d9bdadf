/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several accelerators that share a network's images. Each is driven by a task: the software for one accelerator, on a
 * stack of its own. One task runs at a time, until it sleeps or has pushed a batch; then it is another one's turn, if
 * one is ready. How tasks change is the machine's (riscv/tasks.c, tests/rig/host_tasks.c), the rest is here. One more
 * waits for all of them: number `count`, the caller of cnnvp_tasks_run.
 */
#ifndef CNNVP_GUEST_ACCELERATORS_H
#define CNNVP_GUEST_ACCELERATORS_H

#include "guest.h"

struct cnnvp_tasks {
    const struct cnnvp_machine *machine;
    uint32_t plic;
    uint32_t clint; /* registers of the core's own interrupts */
    uint32_t count;
    uint32_t current;            /* the task that runs */
    volatile uint32_t ended;     /* tasks that have come to their end */
    volatile uint32_t abandoned; /* 1: the simulation ends, no task is waited for */
    struct cnnvp_guest *guests[CNNVP_ACCELERATORS];
    uint32_t ready[CNNVP_ACCELERATORS + 1u];          /* 1: it has something to do when its turn comes */
    volatile uint32_t turns[CNNVP_ACCELERATORS + 1u]; /* how often it was its turn */
    uint32_t has_ended[CNNVP_ACCELERATORS];
    int codes[CNNVP_ACCELERATORS]; /* of those that have ended: the exit code */
};

/* The binary of several accelerators, NULL: there is none in memory. */
const struct cnnvp_accelerators_binary *cnnvp_accelerators_binary(const struct cnnvp_machine *machine);

/* Makes tasks->guests, which point to room for their contexts, ready, and what they drive. */
void cnnvp_tasks_init(struct cnnvp_tasks *tasks, const struct cnnvp_machine *machine,
                      const struct cnnvp_accelerators_binary *binary, struct cnnvp_word *collected);

/* Runs all tasks to their ends and returns the exit code, 0 if all of theirs are. Every accelerator's time begins with
 * the first one's and ends with the last one's. Sleeps. */
int cnnvp_tasks_run(struct cnnvp_tasks *tasks);

/* What a task does; afterwards it is not ready any more. */
void cnnvp_task_run(struct cnnvp_tasks *tasks, uint32_t number);

/* The machine's: a task has become ready while another one runs, which is to see it when that sleeps. */
void cnnvp_tasks_bell(const struct cnnvp_tasks *tasks);

/* Claims an interrupt, serves and completes it; 0: there is none. Its task becomes ready. */
int cnnvp_tasks_interrupt(struct cnnvp_tasks *tasks);

/* Makes the next task that is ready the current one, in turn, which may be the same. 0: none is. */
int cnnvp_tasks_turn(struct cnnvp_tasks *tasks);
/* 1: a task is ready. */
int cnnvp_tasks_ready(const struct cnnvp_tasks *tasks);

#endif
