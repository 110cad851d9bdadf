/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local executor: a forked process for each point. The driver resolves a point's configuration, which the process
 * inherits, and learns of its end by a pipe that closes (poll, so that progress can be shown while points run). Forking
 * costs some 0.3 ms, a point of LeNet-5 with timing only about 5 ms; in return a point that crashes is one failed point.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explore.h"

enum { ATTEMPTS = 3, CANNOT_WRITE = 3 };

struct slot {
    pid_t process; /* 0: free */
    int pipe;
    int attempts;
    struct cnnvp_point point;
};

/* In the new process: never returns. */
static void work(struct cnnvp_driver *driver, const struct cnnvp_point *point, int pipe, pid_t parent)
{
    static const int quiet[] = {SIGINT, SIGTERM, SIGHUP};
    struct cnnvp_error error = {""};
    int null = open("/dev/null", O_RDWR);
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        (void)signal(quiet[i], SIG_DFL);
    /* A driver that is killed takes its workers along: two of one point would only waste time. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
        _exit(1);
    if (cnnvp_point_work(driver->sweep, point, driver->program, driver->folder, &error) == CNNVP_DONE)
        _exit(0);
    ssize_t sent = write(pipe, error.text, strlen(error.text));
    _exit(sent >= 0 ? CANNOT_WRITE : 1);
}

static cnnvp_result launch(struct cnnvp_driver *driver, struct slot *slot, struct cnnvp_error *error)
{
    int ends[2];
    pid_t self = getpid();
    if (pipe(ends) != 0) {
        (void)cnnvp_config_error(error, NULL, "a worker cannot be started: %s", strerror(errno));
        return CNNVP_FAILED;
    }
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    slot->process = fork();
    if (slot->process == 0) {
        (void)close(ends[0]);
        work(driver, &slot->point, ends[1], self);
    }
    (void)close(ends[1]);
    if (slot->process < 0) {
        slot->process = 0;
        (void)close(ends[0]);
        (void)cnnvp_config_error(error, NULL, "a worker cannot be started: %s", strerror(errno));
        return CNNVP_FAILED;
    }
    slot->pipe = ends[0];
    slot->attempts++;
    return CNNVP_DONE;
}

static void release(struct slot *slot)
{
    cnnvp_point_clear(&slot->point);
    slot->process = 0;
    slot->attempts = 0;
}

/* Somebody else ended the worker: nothing is known of the point. */
static int was_killed(int status)
{
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM ||
                                   WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGHUP);
}

/* A worker has closed its pipe. */
static cnnvp_result collect(struct cnnvp_driver *driver, struct slot *slot, struct cnnvp_error *error)
{
    char message[sizeof error->text] = "";
    int status = 0, taken = 0;
    ssize_t got = read(slot->pipe, message, sizeof message - 1);
    (void)close(slot->pipe);
    while (waitpid(slot->process, &status, 0) < 0 && errno == EINTR)
        continue;
    slot->process = 0;
    cnnvp_result result = cnnvp_driver_take(driver, slot->point.key, &taken, error);
    if (result == CNNVP_DONE && !taken) {
        if (got > 0 && WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_WRITE) {
            (void)cnnvp_config_error(error, NULL, "%s", message);
            result = CNNVP_FAILED;
        } else if (was_killed(status) && cnnvp_sweep_interrupted()) {
            result = CNNVP_DONE; /* the loop sees it */
        } else if (was_killed(status) && slot->attempts < ATTEMPTS) {
            return launch(driver, slot, error);
        } else {
            (void)snprintf(message, sizeof message, WIFSIGNALED(status) ? "the worker was ended by signal %d, %d time(s)"
                                                                        : "the worker ended with status %d, %d time(s)",
                           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), slot->attempts);
            result = cnnvp_driver_fail(driver, &slot->point, message, error);
        }
    }
    release(slot);
    return result;
}

/* Waits until a worker ends or half a second has passed. */
static cnnvp_result wait_any(struct cnnvp_driver *driver, struct slot *slots, struct cnnvp_error *error)
{
    struct pollfd *waits = calloc(driver->jobs, sizeof *waits);
    if (!waits)
        return cnnvp_config_no_memory(error);
    for (uint32_t i = 0; i < driver->jobs; i++)
        waits[i] = (struct pollfd){.fd = slots[i].process ? slots[i].pipe : -1, .events = POLLIN};
    cnnvp_result result = CNNVP_DONE;
    if (poll(waits, driver->jobs, 500) > 0)
        for (uint32_t i = 0; i < driver->jobs && result == CNNVP_DONE; i++)
            if (slots[i].process && waits[i].revents)
                result = collect(driver, &slots[i], error);
    free(waits);
    if (result == CNNVP_DONE)
        result = cnnvp_driver_commit(driver, 0, error);
    cnnvp_driver_show(driver, 0);
    return result;
}

static void kill_all(struct cnnvp_driver *driver, struct slot *slots)
{
    for (uint32_t i = 0; i < driver->jobs; i++) {
        if (!slots[i].process)
            continue;
        (void)kill(slots[i].process, SIGKILL);
        (void)close(slots[i].pipe);
        while (waitpid(slots[i].process, NULL, 0) < 0 && errno == EINTR)
            continue;
        release(&slots[i]);
    }
}

static uint32_t busy(const struct cnnvp_driver *driver, const struct slot *slots, uint32_t *free_slot)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < driver->jobs; i++) {
        count += slots[i].process != 0;
        if (!slots[i].process)
            *free_slot = i;
    }
    return count;
}

/* Two points of one key: the second is what the first will be. */
static int is_running(const struct cnnvp_driver *driver, const struct slot *slots, const char *key)
{
    for (uint32_t i = 0; i < driver->jobs; i++)
        if (slots[i].process && strcmp(slots[i].point.key, key) == 0)
            return 1;
    return 0;
}

static cnnvp_result add(struct cnnvp_driver *driver, struct slot *slots, uint64_t number, struct cnnvp_error *error)
{
    struct cnnvp_point point;
    uint32_t chosen = 0;
    int known = 0;
    cnnvp_result result = cnnvp_point_prepare(driver->sweep, number, &point, error);
    if (result != CNNVP_DONE)
        return result;
    while (result == CNNVP_DONE && !cnnvp_sweep_interrupted() && is_running(driver, slots, point.key))
        result = wait_any(driver, slots, error);
    if (result == CNNVP_DONE)
        result = cnnvp_driver_meet(driver, &point, &known, error);
    if (result == CNNVP_DONE && !known && !point.config)
        result = cnnvp_driver_fail(driver, &point, point.refused.text, error);
    else if (result == CNNVP_DONE && !known) {
        while (result == CNNVP_DONE && !cnnvp_sweep_interrupted() && busy(driver, slots, &chosen) == driver->jobs)
            result = wait_any(driver, slots, error);
        if (result == CNNVP_DONE && !cnnvp_sweep_interrupted()) {
            slots[chosen].point = point;
            slots[chosen].attempts = 0;
            return launch(driver, &slots[chosen], error);
        }
    }
    cnnvp_point_clear(&point);
    if (result == CNNVP_DONE)
        result = cnnvp_driver_commit(driver, 0, error);
    cnnvp_driver_show(driver, 0);
    return result;
}

cnnvp_result cnnvp_pool_batch(struct cnnvp_driver *driver, const uint64_t *numbers, size_t count,
                              struct cnnvp_error *error)
{
    struct slot *slots = calloc(driver->jobs, sizeof *slots);
    uint32_t unused = 0;
    if (!slots)
        return cnnvp_config_no_memory(error);
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < count && result == CNNVP_DONE && !cnnvp_sweep_interrupted(); i++)
        result = add(driver, slots, numbers[i], error);
    while (result == CNNVP_DONE && !cnnvp_sweep_interrupted() && busy(driver, slots, &unused) > 0)
        result = wait_any(driver, slots, error);
    kill_all(driver, slots);
    free(slots);
    return result;
}
