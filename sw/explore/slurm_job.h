/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's commands, as the executor of slurm.c uses them. */
#ifndef CNNVP_EXPLORE_SLURM_JOB_H
#define CNNVP_EXPLORE_SLURM_JOB_H

#include "cnnvp.h"

/* What squeue says of a job array. */
struct cnnvp_slurm_state {
    int gone;         /* 1: the controller answers and knows no task that waits or runs */
    int silent;       /* 1: the controller does not answer */
    int running;      /* tasks that hold a node */
    int waiting;      /* entries that wait or are suspended */
    int lost;         /* of them, those that Slurm has put back after a failure of its own */
    uint64_t highest; /* number of a task's job, the highest seen; each task of an array has one of its own */
    char reason[48];  /* why the first entry waits, in Slurm's words */
};

/* Submits a job array with `tasks` tasks, `at_once` of them at a time; each is `sh -c SCRIPT` with its index in
 * SLURM_ARRAY_TASK_ID. */
CNNVP_MUST_USE cnnvp_result cnnvp_slurm_submit(const char *script, size_t tasks, uint32_t at_once, uint64_t *job,
                                               struct cnnvp_error *error);
/* A controller that was killed gives out again the numbers of the jobs that it had not yet saved (it saves every few
 * seconds). A node that still knows such a number refuses the new job and is drained. So numbers up to `used` are taken
 * by jobs that are cancelled at once. */
CNNVP_MUST_USE cnnvp_result cnnvp_slurm_skip(uint64_t used, struct cnnvp_error *error);
void cnnvp_slurm_cancel(uint64_t job);
void cnnvp_slurm_ask(uint64_t job, struct cnnvp_slurm_state *state);
/* A text in single quotes for the shell. NULL: out of memory. Free with free(). */
char *cnnvp_slurm_quote(const char *text);

#endif
