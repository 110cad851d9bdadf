/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker is a process that runs one point after another. It is forked from a process that has read the specification.
 * It receives each point over a socket, and answers when the point's result file is complete.
 *
 * A worker under Slurm works the same way: srun (slurm.c) starts it on another machine and connects its standard input
 * and output to the socket. Messages may then arrive in pieces.
 *
 * A platform should not affect later ones in its process, but this limits any effect: a worker ends after POINTS
 * points, when it has grown by GROWTH bytes, after a failed point, and after a point with units from a third-party
 * library. A crash of a worker costs only its current point. That point runs again in a new worker, which shows whether
 * the point itself is to blame.
 */
#include "worker.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POINTS = 128 };
/* Blocks of at least this size come from the kernel with mmap, so they are already zero. Otherwise malloc would reuse
 * blocks of an earlier platform, and calloc would have to clear all its large memories. */
enum { FRESH_BYTES = 1 << 20 };
/* Slurm does not notice a node that has lost both its worker and Slurm's daemons and has come back, so a worker that is
 * silent for this time is ended. */
#define SILENT_SECONDS 30.0
#define GRACE_SECONDS 10.0
#define GROWTH ((size_t)64 << 20)

/* Resident memory in bytes; 0: unknown. */
static size_t resident(void)
{
    FILE *stream = fopen("/proc/self/statm", "r");
    char line[128] = ""; /* pages: address space, resident, ... */
    if (stream == NULL)
        return 0;
    const char *second = fgets(line, sizeof line, stream) != NULL ? strchr(line, ' ') : NULL;
    (void)fclose(stream);
    return second != NULL ? (size_t)strtoul(second, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static int has_foreign_units(const cnnvp_config *config)
{
    struct cnnvp_config_instance instance;
    for (size_t i = 0; cnnvp_config_instance(config, i, &instance) == CNNVP_DONE; ++i)
        if (instance.model != NULL && strchr(instance.model, ':') != NULL)
            return 1;
    return 0;
}

/* Runs a point; *last 1: this process should not run another one. */
static cnnvp_result run_point(const struct cnnvp_driver *driver, const struct cnnvp_sweep_point *order, int *last,
                              struct cnnvp_error *error)
{
    const struct cnnvp_sweep *sweep = driver->sweep;
    struct cnnvp_point point;
    int failed = 0;
    CNNVP_TRY(cnnvp_point_configure(sweep, order->number, &point, error));
    memcpy(point.key, order->key, sizeof point.key);
    *last = point.config == NULL || has_foreign_units(point.config);
    cnnvp_result result = cnnvp_point_work(sweep, &point, driver->program, driver->folder, &failed, error);
    *last |= failed;
    cnnvp_point_clear(&point);
    return result;
}

/* Runs points in the child process. Never returns. */
static void serve(const struct cnnvp_driver *driver, int line)
{
    const size_t begin = resident();
    for (unsigned ran = 1;; ++ran) {
        struct cnnvp_sweep_point order;
        struct cnnvp_answer answer = {.kind = CNNVP_ANSWER_MORE};
        int last = 0;
        if (recv(line, &order, sizeof order, MSG_WAITALL) != (ssize_t)sizeof order)
            _exit(0);
        if (run_point(driver, &order, &last, &answer.error) != CNNVP_DONE)
            answer.kind = CNNVP_ANSWER_CANNOT_WRITE;
        else if (last || ran == POINTS || resident() > begin + GROWTH)
            answer.kind = CNNVP_ANSWER_LAST;
        if (send(line, &answer, sizeof answer, MSG_NOSIGNAL) != (ssize_t)sizeof answer ||
            answer.kind != CNNVP_ANSWER_MORE)
            _exit(0);
    }
}

static void become_worker(const struct cnnvp_driver *driver, int line, pid_t parent)
{
    if (cnnvp_driver_is_far(driver))
        cnnvp_slurm_become(driver, line, parent);
    /* Workers end with their driver: otherwise a resumed sweep would run their points a second time. */
    cnnvp_process_begin(parent);
    (void)mallopt(M_MMAP_THRESHOLD, FRESH_BYTES);
    serve(driver, line);
}

static cnnvp_result start(struct cnnvp_worker *worker, const struct cnnvp_driver *driver, struct cnnvp_error *error)
{
    int ends[2];
    pid_t self = getpid();
    *worker = (struct cnnvp_worker){.process = -1, .line = -1, .is_far = cnnvp_driver_is_far(driver)};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        worker->process = fork();
        if (worker->process == 0) {
            (void)close(ends[0]);
            become_worker(driver, ends[1], self);
        }
        (void)close(ends[1]);
        worker->line = ends[0];
    }
    if (worker->process > 0)
        return CNNVP_DONE;
    (void)cnnvp_config_error(error, NULL, "a worker cannot be started: %s", strerror(errno));
    if (worker->line >= 0)
        (void)close(worker->line);
    worker->process = 0;
    return CNNVP_FAILED;
}

static void press(const struct cnnvp_worker *worker, double overdue)
{
    if (overdue > 0)
        (void)kill(worker->process, overdue > GRACE_SECONDS ? SIGKILL : SIGTERM);
}

static void forget(struct cnnvp_worker *worker)
{
    (void)close(worker->line);
    worker->process = worker->is_ready = 0;
}

/* Waits for a process that should end by itself. It is killed if it does not, as srun if its node is lost. */
static void reap(struct cnnvp_worker *worker, int *status)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    const double since = cnnvp_clock();
    while (!cnnvp_process_ended(worker->process, WNOHANG, status)) {
        press(worker, cnnvp_clock() - since - GRACE_SECONDS);
        (void)nanosleep(&pause, NULL);
    }
    forget(worker);
}

cnnvp_result cnnvp_worker_give(struct cnnvp_worker *worker, const struct cnnvp_driver *driver,
                               const struct cnnvp_sweep_point *point, struct cnnvp_error *error)
{
    for (;;) {
        const int fresh = worker->process == 0;
        CNNVP_TRY(fresh ? start(worker, driver, error) : CNNVP_DONE);
        ++worker->given;
        worker->heard = cnnvp_clock();
        int status;
        if (send(worker->line, point, sizeof *point, MSG_NOSIGNAL) == (ssize_t)sizeof *point || fresh)
            return CNNVP_DONE; /* if a new one has already ended, the caller learns it from its end */
        reap(worker, &status); /* it ended while idle */
    }
}

enum cnnvp_worker_news cnnvp_worker_hear(struct cnnvp_worker *worker, struct cnnvp_worker_end *end,
                                         struct cnnvp_error *error)
{
    struct cnnvp_answer answer;
    *end = (struct cnnvp_worker_end){.first = worker->given == 1, .is_far = worker->is_far, .is_lost = worker->is_far};
    const int ended = cnnvp_process_ended(worker->process, WNOHANG, &end->status);
    ssize_t got = recv(worker->line, &answer, sizeof answer, MSG_DONTWAIT | MSG_PEEK);
    if (got == (ssize_t)sizeof answer)
        got = recv(worker->line, &answer, sizeof answer, MSG_DONTWAIT);
    if (got == (ssize_t)sizeof answer)
        worker->heard = cnnvp_clock();
    if (got == (ssize_t)sizeof answer && answer.kind == CNNVP_ANSWER_READY)
        worker->is_ready = 1;
    if (worker->is_ready)
        press(worker, cnnvp_clock() - worker->heard - SILENT_SECONDS);
    end->is_lost &= !worker->is_ready;
    if (!ended && got != 0 && (got != (ssize_t)sizeof answer || answer.kind == CNNVP_ANSWER_READY))
        return CNNVP_WORKER_BUSY;
    if (!ended && got != 0 && answer.kind == CNNVP_ANSWER_MORE)
        return CNNVP_WORKER_DONE;
    if (ended)
        forget(worker);
    else
        reap(worker, &end->status);
    if (got != (ssize_t)sizeof answer || answer.kind == CNNVP_ANSWER_READY)
        return CNNVP_WORKER_ENDED;
    if (answer.kind != CNNVP_ANSWER_CANNOT_WRITE)
        return CNNVP_WORKER_DONE;
    *error = answer.error;
    return CNNVP_WORKER_CANNOT_WRITE;
}

int cnnvp_worker_was_killed(const struct cnnvp_worker_end *end)
{
    return end->is_far ||
           (WIFSIGNALED(end->status) && (WTERMSIG(end->status) == SIGKILL || WTERMSIG(end->status) == SIGTERM ||
                                         WTERMSIG(end->status) == SIGINT || WTERMSIG(end->status) == SIGHUP));
}

void cnnvp_worker_describe(const struct cnnvp_worker_end *end, char *text, size_t size)
{
    if (WIFSIGNALED(end->status))
        (void)snprintf(text, size, "the worker was ended by signal %d (%s)", WTERMSIG(end->status),
                       strsignal(WTERMSIG(end->status)));
    else
        (void)snprintf(text, size, "the worker ended with status %d", WEXITSTATUS(end->status));
}

void cnnvp_worker_stop(struct cnnvp_worker *worker, int is_busy)
{
    const struct cnnvp_sweep_point no_point = {.number = 0};
    int status;
    if (worker->process == 0)
        return;
    if (worker->is_far && !is_busy)
        (void)send(worker->line, &no_point, sizeof no_point, MSG_NOSIGNAL); /* Slurm may lose the end of the input */
    else
        (void)kill(worker->process, worker->is_far ? SIGTERM : SIGKILL); /* srun ends its worker */
    reap(worker, &status);
}
