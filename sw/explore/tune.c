/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans by trial: a process for each plan of a network, which runs it and says what it took. The simulation kernel
 * has one simulation a process, and somebody else's unit may do anything to its own.
 *
 * The fewest cycles win, of equals the first plan: that does not depend on which trials run at the same time. What a
 * run takes beside the accelerator's cycles, at its start and its end, is the same for all plans, so a trial that has
 * come to the simulated time of the best one's end is given up.
 *
 * A trial is over when its process is: what that leaves behind, such as a process that somebody else's unit has
 * started, may hold the line open for as long as it likes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explore.h"

enum { JOBS = 64, WAIT_MS = 200 };

/* What a run took; 0 cycles: it did not come to its end. */
struct took {
    uint64_t cycles;
    uint64_t ps;
};

struct trial {
    pid_t process; /* 0: none */
    int line;
    uint64_t plan;
};

struct tuning {
    const cnnvp_network *network;
    const cnnvp_config *config;
    const struct cnnvp_tune_options *options;
    struct cnnvp_tuned *tuned;
    struct trial trials[JOBS];
    size_t jobs;
    size_t running;
    uint64_t killed;    /* trials that somebody else ended */
    uint64_t not_begun; /* for lack of memory, or because the platform cannot be made */
    uint64_t next;    /* plan */
    uint64_t best_ps; /* of the simulation; 0: none has come to its end */
};

/* ---- one trial, in its process ---- */

static void no_console(void *context, const void *data, size_t size)
{
    (void)context;
    (void)data;
    (void)size;
}

/* Cycle-stepped PEs take the same cycles, and longer. */
static cnnvp_config *trial_config(const cnnvp_config *config)
{
    struct cnnvp_error error;
    uint64_t value;
    const char *text;
    cnnvp_config *made = cnnvp_config_copy(config);
    if (!made || cnnvp_config_get(made, "pe_array.detail", &value, &text) != CNNVP_DONE || strcmp(text, "cycle") != 0)
        return made;
    if (cnnvp_config_set(made, "pe_array.detail=fast", &error) == CNNVP_DONE &&
        cnnvp_config_resolve(made, &error) == CNNVP_DONE)
        return made;
    cnnvp_config_free(made);
    return NULL;
}

static uint64_t accelerator_cycles(cnnvp_platform *platform)
{
    json_error_t reason;
    char *json = NULL;
    json_t *root = cnnvp_platform_stats(platform, &json) == CNNVP_DONE ? json_loads(json, JSON_ALLOW_NUL, &reason)
                                                                       : NULL;
    const json_t *cycles = json_object_get(json_object_get(root, "total"), "accel_cycles");
    const uint64_t number = (uint64_t)json_integer_value(cycles);
    json_decref(root);
    free(json);
    return number;
}

/* CNNVP_FAILED: it could not begin. */
static cnnvp_result run_trial(const struct tuning *tuning, uint64_t plan, struct took *took)
{
    const uint64_t max = tuning->options->max_time_ps;
    const uint64_t enough = tuning->best_ps ? tuning->best_ps + 1 : 0;
    const struct cnnvp_platform_options options = {
        .struct_size = sizeof options,
        .timing_only = 1,
        .verbosity = -1,
        .max_time_ps = !enough || (max && max < enough) ? max : enough,
        .console = no_console,
    };
    cnnvp_platform *platform = NULL;
    struct cnnvp_run_result end = {.end = CNNVP_END_EXIT};
    const cnnvp_config *config = trial_config(tuning->config);
    *took = (struct took){0, 0};
    if (!config || cnnvp_platform_new(config, &options, &platform, NULL) != CNNVP_DONE ||
        cnnvp_network_load_trial(tuning->network, (size_t)plan, platform, NULL) != CNNVP_DONE)
        return CNNVP_FAILED;
    if (cnnvp_platform_run(platform, &end) == CNNVP_DONE)
        *took = (struct took){accelerator_cycles(platform), end.time_ps};
    return CNNVP_DONE;
}

/* Never returns. */
static void become_trial(const struct tuning *tuning, uint64_t plan, int line, pid_t parent)
{
    struct took took;
    cnnvp_process_begin(parent);
    const cnnvp_result result = run_trial(tuning, plan, &took);
    _exit(result == CNNVP_DONE && write(line, &took, sizeof took) == (ssize_t)sizeof took ? 0 : 1);
}

/* ---- all trials ---- */

static cnnvp_result start(struct tuning *tuning, struct cnnvp_error *error)
{
    struct trial *trial = tuning->trials;
    int ends[2] = {-1, -1};
    const pid_t self = getpid();
    while (trial->process)
        trial++;
    pid_t process = pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0 ? fork() : -1;
    if (process == 0)
        become_trial(tuning, tuning->next, ends[1], self);
    if (process < 0) {
        (void)cnnvp_config_error(error, NULL, "a trial of a plan cannot be started: %s", strerror(errno));
        if (ends[0] >= 0)
            (void)close(ends[0]);
    } else {
        *trial = (struct trial){process, ends[0], tuning->next++};
        tuning->running++;
    }
    if (ends[1] >= 0)
        (void)close(ends[1]);
    return process < 0 ? CNNVP_FAILED : CNNVP_DONE;
}

static void forget(struct tuning *tuning, struct trial *trial)
{
    (void)close(trial->line);
    trial->process = 0;
    tuning->running--;
}

/* It says nothing of its plan, and another time it may answer. */
static void count_lost(struct tuning *tuning, int status)
{
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    tuning->killed += signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
    tuning->not_begun += WIFEXITED(status);
}

/* A trial has answered, or closed its line, or its process has ended without. */
static void take(struct tuning *tuning, struct trial *trial)
{
    struct cnnvp_tuned *tuned = tuning->tuned;
    struct took took;
    ssize_t got;
    int status = 0;
    const int ended = cnnvp_process_ended(trial->process, WNOHANG, &status);
    do
        got = read(trial->line, &took, sizeof took);
    while (got < 0 && errno == EINTR);
    if (!ended && got < 0)
        return;
    if (!ended)
        (void)cnnvp_process_ended(trial->process, 0, &status);
    forget(tuning, trial);
    if (got != (ssize_t)sizeof took)
        count_lost(tuning, status);
    if (got != (ssize_t)sizeof took || took.cycles == 0)
        return;
    if (trial->plan == 0)
        tuned->first_cycles = took.cycles;
    if (tuned->cycles != 0 &&
        (took.cycles > tuned->cycles || (took.cycles == tuned->cycles && trial->plan > tuned->plan)))
        return;
    tuned->plan = trial->plan;
    tuned->cycles = took.cycles;
    tuning->best_ps = took.ps;
}

static void wait_for_some(struct tuning *tuning)
{
    struct pollfd lines[JOBS];
    for (size_t i = 0; i < tuning->jobs; i++)
        lines[i] = (struct pollfd){.fd = tuning->trials[i].process ? tuning->trials[i].line : -1, .events = POLLIN};
    (void)poll(lines, tuning->jobs, WAIT_MS);
    for (size_t i = 0; i < tuning->jobs; i++)
        if (tuning->trials[i].process)
            take(tuning, &tuning->trials[i]);
}

static cnnvp_result run_all(struct tuning *tuning, struct cnnvp_error *error)
{
    const struct cnnvp_tune_options *options = tuning->options;
    cnnvp_result result = CNNVP_DONE;
    while (result == CNNVP_DONE && (tuning->next < tuning->tuned->plans || tuning->running)) {
        if (options->stopped && options->stopped()) {
            (void)cnnvp_config_error(error, NULL, "interrupted during the trials of plans");
            result = CNNVP_FAILED;
        } else if (tuning->running < tuning->jobs && tuning->next < tuning->tuned->plans) {
            result = start(tuning, error);
        } else {
            wait_for_some(tuning);
        }
    }
    for (size_t i = 0; i < tuning->jobs; i++) {
        if (!tuning->trials[i].process)
            continue;
        int status;
        (void)kill(tuning->trials[i].process, SIGKILL);
        (void)cnnvp_process_ended(tuning->trials[i].process, 0, &status);
        forget(tuning, &tuning->trials[i]);
    }
    return result;
}

/* The choice would depend on what happened to be ended. Where no trial can begin, the run says why. */
static cnnvp_result check_lost(const struct tuning *tuning, struct cnnvp_error *error)
{
    const uint64_t lost = tuning->killed + tuning->not_begun;
    if (lost == 0 || (tuning->killed == 0 && lost == tuning->tuned->plans))
        return CNNVP_DONE;
    (void)cnnvp_config_error(error, NULL, "%llu of %llu trials of plans were killed or found no memory: run it again",
                             (unsigned long long)lost, (unsigned long long)tuning->tuned->plans);
    return CNNVP_FAILED;
}

/* Those that this process may use. */
static size_t processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

cnnvp_result cnnvp_tune(cnnvp_network *network, const cnnvp_config *config, const struct cnnvp_tune_options *options,
                        struct cnnvp_tuned *tuned, struct cnnvp_error *error)
{
    if (options->struct_size != sizeof *options)
        return cnnvp_config_error(error, NULL, "struct cnnvp_tune_options does not match this library");
    *tuned = (struct cnnvp_tuned){.plans = cnnvp_network_plans(network)};
    struct tuning tuning = {.network = network, .config = config, .options = options, .tuned = tuned,
                            .jobs = options->jobs ? options->jobs : processors()};
    tuning.jobs = tuning.jobs < JOBS ? tuning.jobs : JOBS;
    cnnvp_result result = tuned->plans > 1 ? run_all(&tuning, error) : CNNVP_DONE;
    if (result == CNNVP_DONE)
        result = check_lost(&tuning, error);
    if (result == CNNVP_DONE)
        result = cnnvp_network_choose(network, (size_t)tuned->plan, error);
    return result;
}
