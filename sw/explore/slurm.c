/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers on a cluster. The pool (pool.c) is the same as for local workers, but each worker is `srun cnnvp sweep --task
 * FILE` instead of a forked process. Slurm queues it, finds a node, notices the loss of a node or daemon, and ends the
 * worker with its srun. Since a start takes about a second, a worker takes points as long as there are any. It leaves
 * result files in RESULTS.work, which therefore lies on a file system that all nodes share.
 *
 * On the node, a local worker (worker.c) runs the points, so a point that crashes does not cost another turn in Slurm's
 * queue. The task file says what to run. Once it is deleted there is no driver, and the worker ends.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "worker.h"

enum { LOOK_MILLISECONDS = 3000 };

/* ---- in the driver ---- */

cnnvp_result cnnvp_slurm_begin(struct cnnvp_driver *driver, struct cnnvp_error *error)
{
    CNNVP_FREED char *spec = realpath(driver->sweep->file, NULL);
    CNNVP_FREED char *folder = realpath(driver->folder, NULL);
    CNNVP_JSON *task = json_pack("{s:s*, s:s*, s:s}", "spec", spec, "folder", folder, "program", driver->program);
    CNNVP_FREED char *text = task != NULL ? json_dumps(task, JSON_COMPACT) : NULL;
    driver->task_file =
        folder != NULL ? cnnvp_text_printf("%s/%ld-%lld.task", folder, (long)getpid(), (long long)time(NULL)) : NULL;
    return spec != NULL && text != NULL && driver->task_file != NULL
               ? cnnvp_write_text(driver->task_file, text, strlen(text), error)
               : cnnvp_config_no_memory(error);
}

void cnnvp_slurm_become(const struct cnnvp_driver *driver, int line, pid_t parent)
{
    /* Standard error stays open, so that the user sees Slurm's messages. Signals from the terminal go to the driver
     * only. */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && setpgid(0, 0) == 0 && dup2(line, 0) >= 0 && dup2(line, 1) >= 0)
        (void)execlp("srun", "srun", "--quiet", "--unbuffered", "--ntasks=1", "--exact", "--job-name=cnnvp-sweep",
                     driver->program, "sweep", "--task", driver->task_file, (char *)NULL);
    (void)fprintf(stderr, "srun: %s\n", strerror(errno));
    _exit(127);
}

/* ---- on the node ---- */

static int put(enum cnnvp_answer_kind kind, const struct cnnvp_error *error)
{
    struct cnnvp_answer answer = {.kind = kind};
    if (error != NULL)
        answer.error = *error;
    return fwrite(&answer, sizeof answer, 1, stdout) == 1 && fflush(stdout) == 0;
}

/* Waits until a descriptor is readable, and sends signs of life to the driver meanwhile; 0: the driver is gone. */
static int wait_for(const struct cnnvp_driver *driver, int descriptor)
{
    struct pollfd wait = {.fd = descriptor, .events = POLLIN};
    while (access(driver->task_file, F_OK) == 0)
        if (poll(&wait, 1, LOOK_MILLISECONDS) != 0)
            return 1;
        else if (!put(CNNVP_ANSWER_READY, NULL))
            return 0;
    return 0;
}

/* Writes a result file that says why the point failed. */
static cnnvp_result record_end(const struct cnnvp_driver *driver, struct cnnvp_point *point,
                               const struct cnnvp_worker_end *end, struct cnnvp_error *error)
{
    int failed;
    cnnvp_config_free(point->config);
    point->config = NULL;
    cnnvp_worker_describe(end, point->refused.text, sizeof point->refused.text);
    return cnnvp_point_work(driver->sweep, point, "", driver->folder, &failed, error);
}

/* Runs a point and leaves its result file. If the worker was killed there is none, and the driver notices that. */
static cnnvp_result run_point(const struct cnnvp_driver *driver, struct cnnvp_worker *worker,
                              const struct cnnvp_sweep_point *order, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_point_clear) struct cnnvp_point point = {.config = NULL};
    struct cnnvp_worker_end end;
    CNNVP_TRY(cnnvp_point_prepare(driver->sweep, order->number, &point, error));
    if (strcmp(order->key, point.key) != 0)
        return cnnvp_config_error(
            error, driver->sweep->file, "is not what it was when the sweep began, or this node has another cnnvp");
    for (;;) {
        enum cnnvp_worker_news news = CNNVP_WORKER_BUSY;
        CNNVP_TRY(cnnvp_worker_give(worker, driver, order, error));
        while (news == CNNVP_WORKER_BUSY) {
            if (!wait_for(driver, worker->line))
                return CNNVP_FAILED;
            news = cnnvp_worker_hear(worker, &end, error);
        }
        if (news != CNNVP_WORKER_ENDED)
            return news == CNNVP_WORKER_DONE ? CNNVP_DONE : CNNVP_FAILED;
        if (cnnvp_worker_was_killed(&end))
            return CNNVP_DONE;
        if (end.first)
            return record_end(driver, &point, &end, error);
    }
}

static cnnvp_result run_points(const struct cnnvp_driver *driver, struct cnnvp_error *error)
{
    struct cnnvp_worker worker = {.process = 0};
    struct cnnvp_sweep_point order;
    cnnvp_result result = CNNVP_DONE;
    int goes_on = put(CNNVP_ANSWER_READY, NULL);
    while (goes_on && result == CNNVP_DONE && wait_for(driver, 0) && fread(&order, sizeof order, 1, stdin) == 1 &&
           order.key[0] != '\0') {
        result = run_point(driver, &worker, &order, error);
        goes_on = put(result == CNNVP_DONE ? CNNVP_ANSWER_MORE : CNNVP_ANSWER_CANNOT_WRITE, error);
    }
    cnnvp_worker_stop(&worker, 0);
    return result;
}

cnnvp_result cnnvp_sweep_task(const char *task_file, struct cnnvp_error *error)
{
    CNNVP_DECIMAL_POINT;
    CNNVP_FREED char *text = NULL;
    CNNVP_TRY(cnnvp_input_text(task_file, 1 << 20, &text, NULL, error));
    CNNVP_JSON *task = json_loads(text, 0, NULL);
    struct cnnvp_driver driver = {.task_file = (char *)(uintptr_t)task_file};
    const char *spec;
    if (json_unpack(task, "{s:s, s:s, s:s}", "spec", &spec, "folder", &driver.folder, "program", &driver.program) != 0)
        return cnnvp_config_error(error, task_file, "is no task of a sweep");
    driver.sweep = calloc(1, sizeof *driver.sweep);
    if (driver.sweep != NULL)
        driver.sweep->file = cnnvp_arena_text(&driver.sweep->arena, spec);
    cnnvp_result result = driver.sweep != NULL && driver.sweep->file != NULL ? cnnvp_spec_read(driver.sweep, error)
                                                                             : cnnvp_config_no_memory(error);
    if (result == CNNVP_DONE)
        result = run_points(&driver, error);
    cnnvp_sweep_free(driver.sweep);
    return result;
}
