/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of workers (worker.c), which run on this machine or under Slurm (slurm.c). Each worker runs one point at a
 * time. While all workers are busy, the driver stores finished results and prepares the next point, so that the next
 * free worker gets it at once.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worker.h"

enum { ATTEMPTS = 3 };

struct slot {
    struct cnnvp_worker worker;
    struct cnnvp_sweep_point point;
    int busy;     /* 1: the worker runs `point` */
    int attempts; /* number of times that `point` was given to a worker */
    struct cnnvp_sweep_point finished;
    int unsettled; /* 1: the result of `finished` is not in the database yet */
    double given;
};

/* A point is reported as slow after QUIET_SECONDS and SLOWER times the time of the slowest point so far. */
#define QUIET_SECONDS 10.0
#define SLOWER 4.0
/* The user is told after this time without a running worker. */
#define TELL_SECONDS 5.0

static cnnvp_result give(struct cnnvp_driver *driver, struct slot *slot, struct cnnvp_error *error)
{
    slot->busy = 1;
    slot->given = cnnvp_clock();
    ++slot->attempts;
    return cnnvp_worker_give(&slot->worker, driver, &slot->point, error);
}

static int is_queued(const struct slot *slot)
{
    return slot->busy && slot->worker.is_far && !slot->worker.is_ready;
}

/* Moves the results of finished points into the database. */
static cnnvp_result settle(struct cnnvp_driver *driver, struct slot *slots, struct cnnvp_error *error)
{
    for (uint32_t i = 0; i < driver->jobs; ++i) {
        int taken = 1;
        if (!slots[i].unsettled)
            continue;
        slots[i].unsettled = 0;
        CNNVP_TRY(cnnvp_driver_take(driver, slots[i].finished.key, &taken, error));
        if (!taken)
            CNNVP_TRY(cnnvp_driver_fail(driver, &slots[i].finished, "its result file has vanished", error));
    }
    return CNNVP_DONE;
}

/* Handles the end of a worker's process. An unfinished point runs again unless it is to blame. */
static cnnvp_result replace(struct cnnvp_driver *driver, struct slot *slot, const struct cnnvp_worker_end *end,
                            struct cnnvp_error *error)
{
    char reason[80], message[160];
    int taken = 0;
    slot->busy = 0;
    cnnvp_result result = cnnvp_driver_take(driver, slot->point.key, &taken, error);
    if (result != CNNVP_DONE || taken || (cnnvp_worker_was_killed(end) && cnnvp_sweep_interrupted()))
        return result; /* the caller's loop sees the interrupt */
    (void)sleep(end->is_lost ? 1 : 0);
    if (slot->attempts < ATTEMPTS && (cnnvp_worker_was_killed(end) || !end->first))
        return give(driver, slot, error);
    cnnvp_worker_describe(end, reason, sizeof reason);
    if (end->is_lost) {
        (void)cnnvp_config_error(
            error, NULL, "Slurm gives no worker: srun has ended %d times before one began", slot->attempts);
        return CNNVP_FAILED;
    }
    (void)snprintf(message, sizeof message, "%s, %d time(s)%s", reason, slot->attempts,
                   cnnvp_worker_was_killed(end) ? "; --retry-failed runs it again" : "");
    return cnnvp_driver_fail(driver, &slot->point, message, error);
}

static cnnvp_result hear(struct cnnvp_driver *driver, struct slot *slot, struct cnnvp_error *error)
{
    struct cnnvp_worker_end end;
    switch (cnnvp_worker_hear(&slot->worker, &end, error)) {
    case CNNVP_WORKER_BUSY:
        if (is_queued(slot))
            slot->given = cnnvp_clock();
        return CNNVP_DONE;
    case CNNVP_WORKER_DONE:
        slot->busy = 0;
        if (cnnvp_clock() - slot->given > driver->slowest)
            driver->slowest = cnnvp_clock() - slot->given;
        slot->unsettled = 1;
        slot->finished = slot->point;
        return CNNVP_DONE;
    case CNNVP_WORKER_CANNOT_WRITE:
        slot->busy = 0;
        return CNNVP_FAILED;
    case CNNVP_WORKER_ENDED:
        break;
    }
    return replace(driver, slot, &end, error);
}

/* 1: a signal or a debugger has stopped the process. */
static int is_stopped(pid_t process)
{
    char file[64], line[256] = "";
    (void)snprintf(file, sizeof file, "/proc/%ld/stat", (long)process);
    FILE *stream = fopen(file, "r");
    if (stream == NULL)
        return 0;
    const char *end = fgets(line, sizeof line, stream) != NULL ? strrchr(line, ')') : NULL; /* PID (NAME) STATE */
    (void)fclose(stream);
    return end != NULL && strlen(end) > 2 && (end[2] == 'T' || end[2] == 't');
}

/* Describes the running points that take much longer than all points before. */
static void describe_slow(struct cnnvp_driver *driver, const struct slot *slots)
{
    char *text = driver->progress.slow;
    const double now = cnnvp_clock(), limit = SLOWER * driver->slowest;
    FILE *stream = NULL;
    *text = '\0';
    for (uint32_t i = 0; i < driver->jobs; ++i) {
        const double seconds = now - slots[i].given;
        if (!slots[i].busy || seconds < QUIET_SECONDS || seconds < limit)
            continue;
        if (stream == NULL && !(stream = fmemopen(text, sizeof driver->progress.slow, "w")))
            return;
        (void)fputs(ftell(stream) > 0 ? "; " : "", stream);
        cnnvp_point_describe(driver->sweep, slots[i].point.number, stream);
        (void)fprintf(stream, " (process %ld%s)", (long)slots[i].worker.process,
                      is_stopped(slots[i].worker.process) ? ", stopped" : "");
    }
    if (stream != NULL)
        (void)fclose(stream);
    text[sizeof driver->progress.slow - 1] = '\0';
}

/* Describes the queue if Slurm has run no worker for a while. */
static void describe_queue(struct cnnvp_driver *driver, const struct slot *slots)
{
    char *text = driver->progress.waiting_for;
    unsigned queued = 0, busy = 0;
    for (uint32_t i = 0; i < driver->jobs; ++i) {
        queued += is_queued(&slots[i]) != 0;
        busy += slots[i].busy != 0;
    }
    if (!queued || queued < busy)
        driver->idle = cnnvp_clock();
    *text = '\0';
    if (cnnvp_clock() - driver->idle >= TELL_SECONDS)
        (void)snprintf(text, sizeof driver->progress.waiting_for, "%u worker(s) are queued", queued);
}

/* Waits until a worker answers or half a second has passed. */
static cnnvp_result wait_any(struct cnnvp_driver *driver, struct slot *slots, struct cnnvp_error *error)
{
    CNNVP_FREED struct pollfd *waits = calloc(driver->jobs, sizeof *waits);
    CNNVP_TRY_MEMORY(waits != NULL, error);
    CNNVP_TRY(settle(driver, slots, error));
    CNNVP_TRY(cnnvp_driver_commit(driver, 0, error));
    describe_slow(driver, slots);
    describe_queue(driver, slots);
    cnnvp_driver_show(driver, 0);
    for (uint32_t i = 0; i < driver->jobs; ++i)
        waits[i] = (struct pollfd){.fd = slots[i].busy ? slots[i].worker.line : -1, .events = POLLIN};
    (void)poll(waits, driver->jobs, 500);
    for (uint32_t i = 0; i < driver->jobs; ++i)
        if (slots[i].busy)
            CNNVP_TRY(hear(driver, &slots[i], error));
    return CNNVP_DONE;
}

static uint32_t count_busy(const struct cnnvp_driver *driver, const struct slot *slots, uint32_t *free_slot)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < driver->jobs; ++i) {
        count += slots[i].busy != 0;
        if (!slots[i].busy)
            *free_slot = i;
    }
    return count;
}

/* 1: a point with the same key is running; its result will serve both. */
static int is_running(const struct cnnvp_driver *driver, const struct slot *slots, const char *key)
{
    for (uint32_t i = 0; i < driver->jobs; ++i)
        if ((slots[i].busy && strcmp(slots[i].point.key, key) == 0) ||
            (slots[i].unsettled && strcmp(slots[i].finished.key, key) == 0))
            return 1;
    return 0;
}

/* Gives a point to a free worker, after waiting for one. */
static cnnvp_result run(struct cnnvp_driver *driver, struct slot *slots, const struct cnnvp_sweep_point *point,
                        struct cnnvp_error *error)
{
    uint32_t chosen = 0;
    while (!cnnvp_sweep_interrupted() && count_busy(driver, slots, &chosen) == driver->jobs)
        CNNVP_TRY(wait_any(driver, slots, error));
    if (cnnvp_sweep_interrupted())
        return CNNVP_DONE;
    slots[chosen].point = *point;
    slots[chosen].attempts = 0;
    return give(driver, &slots[chosen], error);
}

static cnnvp_result add(struct cnnvp_driver *driver, struct slot *slots, uint64_t number, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_point_clear) struct cnnvp_point point = {.config = NULL};
    int known = 0;
    CNNVP_TRY(cnnvp_point_prepare(driver->sweep, number, &point, error));
    const struct cnnvp_sweep_point chosen = cnnvp_point_name(&point);
    while (!cnnvp_sweep_interrupted() && is_running(driver, slots, point.key))
        CNNVP_TRY(wait_any(driver, slots, error));
    CNNVP_TRY(cnnvp_driver_meet(driver, &chosen, &known, error));
    if (!known && point.config == NULL)
        CNNVP_TRY(cnnvp_driver_fail(driver, &chosen, point.refused.text, error));
    else if (!known)
        CNNVP_TRY(run(driver, slots, &chosen, error));
    CNNVP_TRY(cnnvp_driver_commit(driver, 0, error));
    cnnvp_driver_show(driver, 0);
    return CNNVP_DONE;
}

/* Lets idle workers take over points whose workers are still queued in Slurm. */
static cnnvp_result take_over(struct cnnvp_driver *driver, struct slot *slots, struct cnnvp_error *error)
{
    for (uint32_t i = 0, k = 0; i < driver->jobs; ++i) {
        if (slots[i].busy || !slots[i].worker.is_ready)
            continue;
        while (k < driver->jobs && !is_queued(&slots[k]))
            ++k;
        if (k == driver->jobs)
            break;
        cnnvp_worker_stop(&slots[k].worker, 1);
        slots[k].busy = 0;
        slots[i].point = slots[k].point;
        CNNVP_TRY(give(driver, &slots[i], error));
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_pool_batch(struct cnnvp_driver *driver, const uint64_t *numbers, size_t count,
                              struct cnnvp_error *error)
{
    CNNVP_FREED struct slot *slots = calloc(driver->jobs, sizeof *slots);
    driver->idle = cnnvp_clock();
    uint32_t unused = 0;
    CNNVP_TRY_MEMORY(slots != NULL, error);
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < count && result == CNNVP_DONE && !cnnvp_sweep_interrupted(); ++i)
        result = add(driver, slots, numbers[i], error);
    while (result == CNNVP_DONE && !cnnvp_sweep_interrupted() && count_busy(driver, slots, &unused) > 0) {
        result = take_over(driver, slots, error);
        if (result == CNNVP_DONE)
            result = wait_any(driver, slots, error);
    }
    if (result == CNNVP_DONE)
        result = settle(driver, slots, error);
    for (uint32_t i = 0; i < driver->jobs; ++i)
        cnnvp_worker_stop(&slots[i].worker, slots[i].busy);
    return result;
}
