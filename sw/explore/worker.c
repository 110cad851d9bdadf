/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker: a process, forked from one that has read the specification, that runs points one after the other. It is
 * told which over a socket and answers once the point's result file lies under its name.
 *
 * A platform leaves nothing behind for the next one in its process, but that need not be believed. A worker ends after
 * POINTS points, when it has grown by GROWTH bytes, after a point that failed, and after one whose units come from
 * a third-party library. A worker that crashes has ended none but the point in its hands; whether that point is to
 * blame shows a worker that has run nothing before.
 */
#define _XOPEN_SOURCE 700
#include "worker.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POINTS = 128 };
/* Blocks from this size on come from the kernel, zeroed and untouched, for every platform: by itself the C library
 * serves those of the second from what the first has freed, and writes the zeros of all its empty memories. */
enum { FRESH_BYTES = 1 << 20 };
#define GROWTH ((size_t)64 << 20)

struct order {
    uint64_t number;
    char key[CNNVP_KEY_BYTES];
};

struct answer {
    enum { ANSWER_MORE, ANSWER_LAST, ANSWER_CANNOT_WRITE } kind;
    struct cnnvp_error error;
};

/* Bytes in memory; 0: not known. */
static size_t resident(void)
{
    FILE *stream = fopen("/proc/self/statm", "r");
    char line[128] = ""; /* pages of the address space, those in memory, ... */
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

/* Runs a point; *last 1 if this process should run no other. */
static cnnvp_result run_point(const struct cnnvp_sweep *sweep, const struct order *order, const char *program,
                              const char *folder, int *last, struct cnnvp_error *error)
{
    struct cnnvp_point point;
    int failed = 0;
    CNNVP_TRY(cnnvp_point_configure(sweep, order->number, &point, error));
    memcpy(point.key, order->key, sizeof point.key);
    *last = point.config == NULL || has_foreign_units(point.config);
    cnnvp_result result = cnnvp_point_work(sweep, &point, program, folder, &failed, error);
    *last |= failed;
    cnnvp_point_clear(&point);
    return result;
}

/* In the new process: never returns. */
static void serve(const struct cnnvp_sweep *sweep, const char *program, const char *folder, int line)
{
    const size_t begin = resident();
    for (unsigned ran = 1;; ++ran) {
        struct order order;
        struct answer answer = {.kind = ANSWER_MORE};
        int last = 0;
        if (recv(line, &order, sizeof order, 0) != (ssize_t)sizeof order)
            _exit(0);
        if (run_point(sweep, &order, program, folder, &last, &answer.error) != CNNVP_DONE)
            answer.kind = ANSWER_CANNOT_WRITE;
        else if (last || ran == POINTS || resident() > begin + GROWTH)
            answer.kind = ANSWER_LAST;
        if (send(line, &answer, sizeof answer, MSG_NOSIGNAL) != (ssize_t)sizeof answer || answer.kind != ANSWER_MORE)
            _exit(0);
    }
}

static void become_worker(const struct cnnvp_sweep *sweep, const char *program, const char *folder, int line,
                          pid_t parent)
{
    /* A driver that is killed takes its workers along: two of one point would only waste time. */
    cnnvp_process_begin(parent);
    (void)mallopt(M_MMAP_THRESHOLD, FRESH_BYTES);
    serve(sweep, program, folder, line);
}

static cnnvp_result start(struct cnnvp_worker *worker, const struct cnnvp_sweep *sweep, const char *program,
                          const char *folder, struct cnnvp_error *error)
{
    int ends[2];
    pid_t self = getpid();
    *worker = (struct cnnvp_worker){.process = -1, .line = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
        worker->process = fork();
        if (worker->process == 0) {
            (void)close(ends[0]);
            become_worker(sweep, program, folder, ends[1], self);
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

static void forget(struct cnnvp_worker *worker)
{
    (void)close(worker->line);
    worker->process = 0;
}

static void reap(struct cnnvp_worker *worker)
{
    int status;
    (void)cnnvp_process_ended(worker->process, 0, &status);
    forget(worker);
}

cnnvp_result cnnvp_worker_give(struct cnnvp_worker *worker, const struct cnnvp_sweep *sweep, const char *program,
                               const char *folder, const struct cnnvp_sweep_point *point, struct cnnvp_error *error)
{
    struct order order = {.number = point->number};
    memcpy(order.key, point->key, sizeof order.key);
    for (;;) {
        const int fresh = worker->process == 0;
        CNNVP_TRY(fresh ? start(worker, sweep, program, folder, error) : CNNVP_DONE);
        ++worker->given;
        if (send(worker->line, &order, sizeof order, MSG_NOSIGNAL) == (ssize_t)sizeof order || fresh)
            return CNNVP_DONE; /* of a new one that is gone already its end will tell */
        reap(worker);          /* it was ended while it had nothing to do */
    }
}

enum cnnvp_worker_news cnnvp_worker_hear(struct cnnvp_worker *worker, struct cnnvp_worker_end *end,
                                         struct cnnvp_error *error)
{
    struct answer answer;
    *end = (struct cnnvp_worker_end){.first = worker->given == 1};
    const int ended = cnnvp_process_ended(worker->process, WNOHANG, &end->status);
    const ssize_t got = recv(worker->line, &answer, sizeof answer, MSG_DONTWAIT);
    if (!ended && got < 0)
        return CNNVP_WORKER_BUSY;
    if (!ended && got == (ssize_t)sizeof answer && answer.kind == ANSWER_MORE)
        return CNNVP_WORKER_DONE;
    if (!ended)
        (void)cnnvp_process_ended(worker->process, 0, &end->status);
    forget(worker);
    if (got != (ssize_t)sizeof answer)
        return CNNVP_WORKER_ENDED;
    if (answer.kind != ANSWER_CANNOT_WRITE)
        return CNNVP_WORKER_DONE;
    *error = answer.error;
    return CNNVP_WORKER_CANNOT_WRITE;
}

int cnnvp_worker_was_killed(const struct cnnvp_worker_end *end)
{
    return WIFSIGNALED(end->status) && (WTERMSIG(end->status) == SIGKILL || WTERMSIG(end->status) == SIGTERM ||
                                        WTERMSIG(end->status) == SIGINT || WTERMSIG(end->status) == SIGHUP);
}

void cnnvp_worker_describe(const struct cnnvp_worker_end *end, char *text, size_t size)
{
    if (WIFSIGNALED(end->status))
        (void)snprintf(text, size, "the worker was ended by signal %d (%s)", WTERMSIG(end->status),
                       strsignal(WTERMSIG(end->status)));
    else
        (void)snprintf(text, size, "the worker ended with status %d", WEXITSTATUS(end->status));
}

void cnnvp_worker_stop(struct cnnvp_worker *worker)
{
    if (worker->process == 0)
        return;
    (void)kill(worker->process, SIGKILL);
    reap(worker);
}
