/* SPDX-License-Identifier: Apache-2.0 */
/* A worker: a process that runs one point after another, see worker.c. */
#pragma once

#include <sys/types.h>

#include "explore.h"

/* The driver's view of one worker. All zero: no process yet. */
struct cnnvp_worker {
    pid_t process;  /* 0: none */
    int line;       /* socket to the worker, readable when it has answered */
    unsigned given; /* number of points given to this process */
    int is_far;     /* 1: `process` is srun, which runs the worker on another machine */
    int is_ready;   /* 1: a worker under Slurm has begun to run */
    double heard;   /* time of its last answer */
};

/* A worker's answer about its current point. */
struct cnnvp_answer {
    enum cnnvp_answer_kind {
        CNNVP_ANSWER_READY, /* no result yet: a periodic sign of life under Slurm */
        CNNVP_ANSWER_MORE,  /* done; the worker takes more points */
        CNNVP_ANSWER_LAST,  /* done; the worker exits */
        CNNVP_ANSWER_CANNOT_WRITE
    } kind;
    struct cnnvp_error error;
};

struct cnnvp_worker_end {
    int status;  /* as waitpid says */
    int first;   /* 1: the point was the first of its process */
    int is_far;  /* 1: ran under Slurm. The machine or Slurm may be to blame, not the point. */
    int is_lost; /* 1: the worker never began to run under Slurm */
};

enum cnnvp_worker_news {
    CNNVP_WORKER_BUSY,         /* no news */
    CNNVP_WORKER_DONE,         /* the point's result file exists */
    CNNVP_WORKER_CANNOT_WRITE, /* the result file cannot be written; `error` has the reason */
    CNNVP_WORKER_ENDED         /* the process has ended, perhaps without a result file */
};

/* Gives a point to an idle worker. Starts its process first if there is none. */
CNNVP_MUST_USE cnnvp_result cnnvp_worker_give(struct cnnvp_worker *worker, const struct cnnvp_driver *driver,
                                              const struct cnnvp_sweep_point *point, struct cnnvp_error *error);
/* Polls a busy worker without waiting. `end` is valid after CNNVP_WORKER_ENDED. Also call this from time to time when
 * the line is not readable: child processes that a worker leaves behind may keep its socket open. */
CNNVP_MUST_USE enum cnnvp_worker_news cnnvp_worker_hear(struct cnnvp_worker *worker, struct cnnvp_worker_end *end,
                                                        struct cnnvp_error *error);
/* 1: the worker was killed from outside or ran under Slurm, so its point may not be to blame. */
int cnnvp_worker_was_killed(const struct cnnvp_worker_end *end);
void cnnvp_worker_describe(const struct cnnvp_worker_end *end, char *text, size_t size);
/* Ends the worker at once. A busy worker loses its point. */
void cnnvp_worker_stop(struct cnnvp_worker *worker, int is_busy);
/* Call in a new child process: replaces it with srun, which runs a worker (slurm.c) and connects the worker's standard
 * input and output to `line`. Never returns. */
void cnnvp_slurm_become(const struct cnnvp_driver *driver, int line, pid_t parent);
