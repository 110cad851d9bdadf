/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Slurm executor: a job array (sbatch) whose tasks run many points each, since a task costs about a second to
 * schedule. A task is `cnnvp sweep --task FILE`; it leaves the same result files as a local worker in RESULTS.work, which
 * therefore lies on a file system that all nodes share. The driver looks for them, and asks squeue whether the array
 * still lives: only "Invalid job id" or an empty list end it, so a controller that is down for a while loses nothing.
 * Points that an array has not brought are submitted again, ROUNDS times in all.
 */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "explore.h"

enum { ROUNDS = 3, TASKS_PER_JOB = 2 };
#define LOOK_SECONDS 0.2
#define ASK_SECONDS 2.0

struct batch {
    struct cnnvp_driver *driver;
    struct cnnvp_sweep_point *pending; /* in order of keys */
    size_t count;
    char job[64];
};

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct cnnvp_sweep_point *)a)->key, ((const struct cnnvp_sweep_point *)b)->key);
}

/* A text in single quotes for the shell. NULL: out of memory. */
static char *quote(const char *text)
{
    char *quoted = malloc(4 * strlen(text) + 3), *at = quoted;
    if (!quoted)
        return NULL;
    *at++ = '\'';
    for (; *text; text++) {
        if (*text == '\'') {
            memcpy(at, "'\\''", 4);
            at += 4;
        } else {
            *at++ = *text;
        }
    }
    *at++ = '\'';
    *at = '\0';
    return quoted;
}

/* What a command prints, both streams, cut; its exit status, or -1. */
static int ask(const char *command, char *answer, size_t size)
{
    char rest[512];
    FILE *stream = popen(command, "r");
    if (!stream)
        return -1;
    size_t got = fread(answer, 1, size - 1, stream);
    answer[got] = '\0';
    while (fread(rest, 1, sizeof rest, stream) > 0)
        continue;
    int status = pclose(stream);
    return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- submitting ---- */

static cnnvp_result write_task(const struct batch *batch, size_t task, size_t tasks, struct cnnvp_error *error)
{
    struct cnnvp_driver *driver = batch->driver;
    json_t *points = json_array();
    char *spec = realpath(driver->sweep->file, NULL);
    char *folder = realpath(driver->folder, NULL);
    for (size_t i = task; i < batch->count && points; i += tasks)
        (void)json_array_append_new(points, json_pack("{s:I, s:s}", "number", (json_int_t)batch->pending[i].number, "key",
                                                      batch->pending[i].key));
    json_t *root = json_pack("{s:s*, s:s*, s:s, s:o*}", "spec", spec, "folder", folder, "program", driver->program, "points",
                             points);
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    char name[64];
    (void)snprintf(name, sizeof name, "/%zu.task", task);
    char *file = folder ? cnnvp_text_join(folder, name, "") : NULL;
    cnnvp_result result = spec && text && file ? cnnvp_write_text(file, text, strlen(text), error)
                                               : cnnvp_config_no_memory(error);
    json_decref(root);
    free(file);
    free(text);
    free(folder);
    free(spec);
    return result;
}

static cnnvp_result submit(struct batch *batch, struct cnnvp_error *error)
{
    struct cnnvp_driver *driver = batch->driver;
    size_t tasks = (size_t)driver->jobs * TASKS_PER_JOB < batch->count ? (size_t)driver->jobs * TASKS_PER_JOB : batch->count;
    char answer[512] = "", array[64];
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < tasks && result == CNNVP_DONE; i++)
        result = write_task(batch, i, tasks, error);
    if (result != CNNVP_DONE)
        return result;
    char *folder = realpath(driver->folder, NULL);
    char *program = quote(driver->program);
    char *script = program && folder ? quote(folder) : NULL;
    char *command = NULL;
    size_t size = 0;
    FILE *stream = script ? open_memstream(&command, &size) : NULL;
    if (stream) {
        (void)snprintf(array, sizeof array, "0-%zu%%%u", tasks - 1, (unsigned)driver->jobs);
        (void)fprintf(stream, "sbatch --parsable --job-name=cnnvp-sweep --output=/dev/null --open-mode=append --array=%s 2>&1 "
                      "<<'CNNVP_END'\n#!/bin/sh\nexec %s sweep --task %s/\"$SLURM_ARRAY_TASK_ID\".task\nCNNVP_END\n",
                      array, program, script);
        result = fclose(stream) == 0 ? CNNVP_DONE : CNNVP_FAILED;
    }
    if (!stream || result != CNNVP_DONE) {
        result = cnnvp_config_no_memory(error);
    } else if (ask(command, answer, sizeof answer) != 0 || strspn(answer, "0123456789") == 0) {
        (void)cnnvp_config_error(error, NULL, "sbatch does not take the sweep: %s", *answer ? answer : "it cannot be run");
        result = CNNVP_FAILED;
    } else {
        size_t digits = strspn(answer, "0123456789");
        (void)snprintf(batch->job, sizeof batch->job, "%.*s", (int)(digits < 60 ? digits : 60), answer);
    }
    free(command);
    free(script);
    free(program);
    free(folder);
    return result;
}

static void cancel(const char *job)
{
    char command[160], answer[256];
    if (!*job)
        return;
    (void)snprintf(command, sizeof command, "scancel %s 2>&1", job);
    (void)ask(command, answer, sizeof answer);
}

/* The number of the array stands in the folder, so that a later driver can end one that a killed driver left. */
static cnnvp_result note_job(const struct batch *batch, struct cnnvp_error *error)
{
    char *file = cnnvp_text_join(batch->driver->folder, "/slurm.task", "");
    cnnvp_result result = file ? cnnvp_write_text(file, batch->job, strlen(batch->job), error)
                               : cnnvp_config_no_memory(error);
    free(file);
    return result;
}

void cnnvp_slurm_cancel_left(const char *folder)
{
    char *file = cnnvp_text_join(folder, "/slurm.task", ""), *text = NULL;
    struct cnnvp_error unwanted;
    if (file && access(file, F_OK) == 0 && cnnvp_read_text(file, 60, &text, NULL, &unwanted) == CNNVP_DONE &&
        strspn(text, "0123456789") == strlen(text))
        cancel(text);
    free(text);
    free(file);
}

/* 1 while the array has tasks that wait or run, or while that cannot be known. */
static int is_alive(const char *job)
{
    char command[160], answer[512] = "";
    (void)snprintf(command, sizeof command, "squeue --noheader --jobs=%s --format=%%i 2>&1", job);
    int status = ask(command, answer, sizeof answer);
    if (status == 0)
        return *answer != '\0';
    return strstr(answer, "Invalid job id") == NULL;
}

/* ---- collecting ---- */

/* Takes the result files that are there, and drops their points from the list. */
static cnnvp_result look(struct batch *batch, struct cnnvp_error *error)
{
    DIR *folder = opendir(batch->driver->folder);
    const struct dirent *entry;
    cnnvp_result result = CNNVP_DONE;
    if (!folder)
        return cnnvp_config_error(error, batch->driver->folder, "cannot be read: %s", strerror(errno));
    while (result == CNNVP_DONE && (entry = readdir(folder)) != NULL) {
        struct cnnvp_sweep_point wanted = {.number = 0};
        int taken = 0;
        if (strlen(entry->d_name) != CNNVP_KEY_BYTES - 1 + strlen(".result") || !strstr(entry->d_name, ".result"))
            continue;
        memcpy(wanted.key, entry->d_name, CNNVP_KEY_BYTES - 1);
        struct cnnvp_sweep_point *found = bsearch(&wanted, batch->pending, batch->count, sizeof wanted, compare_keys);
        if (!found)
            continue;
        result = cnnvp_driver_take(batch->driver, found->key, &taken, error);
        size_t index = (size_t)(found - batch->pending);
        if (taken)
            memmove(found, found + 1, (--batch->count - index) * sizeof *found);
    }
    (void)closedir(folder);
    if (result == CNNVP_DONE)
        result = cnnvp_driver_commit(batch->driver, 1, error);
    cnnvp_driver_show(batch->driver, 0);
    return result;
}

static cnnvp_result follow(struct batch *batch, struct cnnvp_error *error)
{
    double asked = cnnvp_driver_now();
    int alive = 1;
    cnnvp_result result = CNNVP_DONE;
    while (result == CNNVP_DONE && batch->count && alive && !cnnvp_sweep_interrupted()) {
        const struct timespec pause = {0, (long)(LOOK_SECONDS * 1e9)};
        (void)nanosleep(&pause, NULL);
        if (cnnvp_driver_now() - asked >= ASK_SECONDS) {
            asked = cnnvp_driver_now();
            alive = is_alive(batch->job);
        }
        result = look(batch, error); /* after the question: what a task left before it ended is seen */
    }
    if (result != CNNVP_DONE || cnnvp_sweep_interrupted())
        cancel(batch->job);
    return result;
}

/* Points that are not in the database yet; those that cannot be are recorded at once. */
static cnnvp_result gather(struct batch *batch, const uint64_t *numbers, size_t count, struct cnnvp_error *error)
{
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < count && result == CNNVP_DONE && !cnnvp_sweep_interrupted(); i++) {
        struct cnnvp_point point;
        int known = 0;
        result = cnnvp_point_prepare(batch->driver->sweep, numbers[i], &point, error);
        if (result != CNNVP_DONE)
            break;
        result = cnnvp_driver_meet(batch->driver, &point, &known, error);
        if (result == CNNVP_DONE && !known && !point.config) {
            result = cnnvp_driver_fail(batch->driver, &point, point.refused.text, error);
        } else if (result == CNNVP_DONE && !known) {
            batch->pending[batch->count].number = point.number;
            memcpy(batch->pending[batch->count++].key, point.key, sizeof point.key);
        }
        cnnvp_point_clear(&point);
    }
    qsort(batch->pending, batch->count, sizeof *batch->pending, compare_keys);
    size_t kept = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (i == 0 || strcmp(batch->pending[i].key, batch->pending[i - 1].key) != 0)
            batch->pending[kept++] = batch->pending[i];
    batch->driver->progress.finished += batch->count - kept; /* twins are what the first will be */
    batch->count = kept;
    return result;
}

static cnnvp_result give_up(struct batch *batch, struct cnnvp_error *error)
{
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < batch->count && result == CNNVP_DONE; i++) {
        struct cnnvp_point point = {.number = batch->pending[i].number};
        memcpy(point.key, batch->pending[i].key, sizeof point.key);
        result = cnnvp_driver_fail(batch->driver, &point, "its task ended three times without a result", error);
    }
    return result;
}

cnnvp_result cnnvp_slurm_batch(struct cnnvp_driver *driver, const uint64_t *numbers, size_t count,
                               struct cnnvp_error *error)
{
    struct batch batch = {.driver = driver, .pending = calloc(count + 1, sizeof *batch.pending)};
    if (!batch.pending)
        return cnnvp_config_no_memory(error);
    cnnvp_result result = gather(&batch, numbers, count, error);
    for (int round = 0; round < ROUNDS && result == CNNVP_DONE && batch.count && !cnnvp_sweep_interrupted(); round++) {
        result = submit(&batch, error);
        if (result == CNNVP_DONE)
            result = note_job(&batch, error);
        if (result == CNNVP_DONE)
            result = follow(&batch, error);
    }
    if (result == CNNVP_DONE && batch.count && !cnnvp_sweep_interrupted())
        result = give_up(&batch, error);
    char name[64];
    for (size_t i = 0; i <= (size_t)driver->jobs * TASKS_PER_JOB && batch.job[0]; i++) {
        if (i < (size_t)driver->jobs * TASKS_PER_JOB)
            (void)snprintf(name, sizeof name, "/%zu.task", i);
        else
            (void)snprintf(name, sizeof name, "/slurm.task");
        char *file = cnnvp_text_join(driver->folder, name, "");
        if (file)
            (void)unlink(file);
        free(file);
    }
    free(batch.pending);
    return result;
}

/* ---- a task ---- */

/* A process for the point, so that one that crashes is one failed point. */
static cnnvp_result run_point(struct cnnvp_sweep *sweep, struct cnnvp_point *point, const char *program,
                              const char *folder, struct cnnvp_error *error)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(cnnvp_point_work(sweep, point, program, folder, error) == CNNVP_DONE ? 0 : 1);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) != 0)) {
        (void)cnnvp_config_error(error, folder, "a point's result cannot be written");
        return CNNVP_FAILED;
    }
    if (!WIFSIGNALED(status) || WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM)
        return CNNVP_DONE; /* the driver sees what is missing */
    cnnvp_config_free(point->config);
    point->config = NULL;
    (void)cnnvp_config_error(&point->refused, NULL, "the worker was ended by signal %d", WTERMSIG(status));
    return cnnvp_point_work(sweep, point, program, folder, error);
}

static cnnvp_result run_points(struct cnnvp_sweep *sweep, const json_t *task, struct cnnvp_error *error)
{
    const char *folder = json_string_value(json_object_get(task, "folder"));
    const char *program = json_string_value(json_object_get(task, "program"));
    cnnvp_result result = CNNVP_DONE;
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(task, "points"), index, entry) {
        const char *key = json_string_value(json_object_get(entry, "key"));
        struct cnnvp_point point;
        result = cnnvp_point_prepare(sweep, (uint64_t)json_integer_value(json_object_get(entry, "number")), &point, error);
        if (result != CNNVP_DONE)
            break;
        if (!key || strcmp(key, point.key) != 0)
            result = cnnvp_config_error(error, sweep->file, "is not what it was when the sweep began, or this node has "
                                                            "another cnnvp");
        else
            result = run_point(sweep, &point, program, folder, error);
        cnnvp_point_clear(&point);
        if (result != CNNVP_DONE)
            break;
    }
    return result;
}

cnnvp_result cnnvp_sweep_task(const char *task_file, struct cnnvp_error *error)
{
    char *text = NULL;
    cnnvp_result result = cnnvp_read_text(task_file, (size_t)1 << 28, &text, NULL, error);
    json_t *task = result == CNNVP_DONE ? json_loads(text, 0, NULL) : NULL;
    const char *spec = json_string_value(json_object_get(task, "spec"));
    free(text);
    if (result == CNNVP_DONE && (!spec || !json_string_value(json_object_get(task, "folder")) ||
                                 !json_string_value(json_object_get(task, "program"))))
        result = cnnvp_config_error(error, task_file, "is no task of a sweep");
    if (result == CNNVP_DONE) {
        struct cnnvp_sweep *sweep = calloc(1, sizeof *sweep);
        if (sweep)
            sweep->file = cnnvp_arena_copy(&sweep->arena, spec, strlen(spec));
        result = sweep && sweep->file ? cnnvp_spec_read(sweep, error) : cnnvp_config_no_memory(error);
        if (result == CNNVP_DONE)
            result = run_points(sweep, task, error);
        cnnvp_sweep_free(sweep);
    }
    json_decref(task);
    return result;
}
