/* SPDX-License-Identifier: Apache-2.0 */
/* A process that runs points one after the other, see worker.c. */
#ifndef CNNVP_EXPLORE_WORKER_H
#define CNNVP_EXPLORE_WORKER_H

#include <sys/types.h>

#include "explore.h"

/* All zero: no process yet. */
struct cnnvp_worker {
    pid_t process;  /* 0: there is none */
    int line;       /* readable when there is news */
    unsigned given; /* points, to this process */
    int is_far;     /* 1: `process` is Slurm's program, which has the worker run elsewhere */
    int is_ready;   /* 1: a worker that is far has been heard of */
    double heard;   /* when that was last */
};

/* What a worker says of the point that it was given last. */
struct cnnvp_answer {
    enum cnnvp_answer_kind {
        CNNVP_ANSWER_READY, /* nothing; it runs, elsewhere, and says so from time to time */
        CNNVP_ANSWER_MORE,
        CNNVP_ANSWER_LAST, /* it takes no other */
        CNNVP_ANSWER_CANNOT_WRITE
    } kind;
    struct cnnvp_error error;
};

struct cnnvp_worker_end {
    int status;  /* as waitpid says */
    int first;   /* 1: the point was the first of its process */
    int is_far;  /* 1: nothing is known of the point, since the machine or Slurm may be to blame */
    int is_lost; /* 1: nor has the worker ever begun */
};

enum cnnvp_worker_news {
    CNNVP_WORKER_BUSY,         /* no news */
    CNNVP_WORKER_DONE,         /* the point's result file is there */
    CNNVP_WORKER_CANNOT_WRITE, /* it cannot be written, for the reason in `error` */
    CNNVP_WORKER_ENDED         /* the process is gone, perhaps with the point */
};

/* Gives a point to a worker that has none, starting the process if need be. */
CNNVP_MUST_USE cnnvp_result cnnvp_worker_give(struct cnnvp_worker *worker, const struct cnnvp_driver *driver,
                                              const struct cnnvp_sweep_point *point, struct cnnvp_error *error);
/* What has become of the point, at once. `end` is of use after CNNVP_WORKER_ENDED. What the worker leaves behind may
 * keep its line from ever becoming readable: ask from time to time, too. */
CNNVP_MUST_USE enum cnnvp_worker_news cnnvp_worker_hear(struct cnnvp_worker *worker, struct cnnvp_worker_end *end,
                                                        struct cnnvp_error *error);
/* It was killed from outside: nothing is known of the point. */
int cnnvp_worker_was_killed(const struct cnnvp_worker_end *end);
void cnnvp_worker_describe(const struct cnnvp_worker_end *end, char *text, size_t size);
/* Ends it at once, with whatever it does if it is busy. */
void cnnvp_worker_stop(struct cnnvp_worker *worker, int is_busy);
/* In the new process, in place of one that runs points: srun with a worker (slurm.c) at its standard input and output.
 * Never returns. */
void cnnvp_slurm_become(const struct cnnvp_driver *driver, int line, pid_t parent);

#endif
