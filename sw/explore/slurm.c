/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Slurm executor: a job array (sbatch) whose tasks run many points each, since a task costs about a second to
 * schedule. A task (slurm_task.c) leaves the same result files as a local worker in RESULTS.work, which therefore lies
 * on a file system that all nodes share. The driver looks for them, and asks squeue for the array.
 *
 * A controller that does not answer is waited for. An array that the controller does not know (any more), or whose
 * tasks all wait because of a failure of Slurm's own, ends; the points that it has not brought are submitted again,
 * until ROUNDS arrays in succession have brought nothing. So does one whose tasks all run, as the controller says, and
 * none of which has touched its task file for SILENT_SECONDS: a node that has lost its tasks and its slurmd in one may
 * come back and not be asked for them for half an hour. Waiting for resources or for other people's jobs has no limit.
 *
 * RESULTS.work/slurm.task tells a later driver of the array: it is cancelled, its task files are removed (which ends
 * tasks that the controller has forgotten), and its numbers are not used again.
 */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "explore.h"
#include "slurm_job.h"

enum { ROUNDS = 3, TASKS_PER_JOB = 2 };
#define LOOK_SECONDS 0.2
#define ASK_SECONDS 2.0
/* Without a task that runs: what Slurm has put back is submitted anew; the user is told why nothing happens. */
#define LOST_SECONDS 10.0
#define TELL_SECONDS 5.0
#define SILENT_SECONDS 30.0

struct batch {
    struct cnnvp_driver *driver;
    struct cnnvp_sweep_point *pending; /* in order of keys */
    size_t count;
    uint64_t job; /* 0: none was submitted */
    size_t tasks;
    char name[40];        /* of its task files: NAME-INDEX.task, never used twice */
    double idle;          /* since when no task runs; 0: one does */
    struct timespec beat; /* of the task file that was touched last */
    double beaten;        /* when that was seen, or no task was to run */
};

/* NULL: out of memory. */
static char *file_of(const struct cnnvp_driver *driver, const char *name)
{
    return cnnvp_text_printf("%s/%s", driver->folder, name);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct cnnvp_sweep_point *)a)->key, ((const struct cnnvp_sweep_point *)b)->key);
}

/* ---- submitting ---- */

static cnnvp_result write_task(const struct batch *batch, size_t task, size_t tasks, struct cnnvp_error *error)
{
    struct cnnvp_driver *driver = batch->driver;
    json_t *points = json_array();
    CNNVP_FREED char *spec = realpath(driver->sweep->file, NULL);
    CNNVP_FREED char *folder = realpath(driver->folder, NULL);
    for (size_t i = task; i < batch->count && points != NULL; i += tasks)
        (void)json_array_append_new(points, json_pack("{s:I, s:s}", "number", (json_int_t)batch->pending[i].number,
                                                      "key", batch->pending[i].key));
    CNNVP_JSON *root = json_pack(
        "{s:s*, s:s*, s:s, s:o*}", "spec", spec, "folder", folder, "program", driver->program, "points", points);
    CNNVP_FREED char *text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
    CNNVP_FREED char *file = folder != NULL ? cnnvp_text_printf("%s/%s-%zu.task", folder, batch->name, task) : NULL;
    return spec != NULL && text != NULL && file != NULL
               ? cnnvp_write_text(file, text, strlen(text), error)
               : cnnvp_config_no_memory(error);
}

/* "JOB HIGHEST": the array, and the highest number that one of its tasks may have. */
static cnnvp_result note_job(const struct batch *batch, struct cnnvp_error *error)
{
    char text[64];
    CNNVP_FREED char *file = file_of(batch->driver, "slurm.task");
    (void)snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 "\n", batch->job, batch->driver->slurm_used);
    return file != NULL ? cnnvp_write_text(file, text, strlen(text), error) : cnnvp_config_no_memory(error);
}

static cnnvp_result submit_script(struct batch *batch, struct cnnvp_error *error)
{
    CNNVP_FREED char *folder = realpath(batch->driver->folder, NULL);
    CNNVP_FREED char *where = folder != NULL ? cnnvp_slurm_quote(folder) : NULL;
    CNNVP_FREED char *program = cnnvp_slurm_quote(batch->driver->program);
    CNNVP_FREED char *script =
        where != NULL && program != NULL
            ? cnnvp_text_printf("exec %s sweep --task %s/%s-\"$SLURM_ARRAY_TASK_ID\".task", program, where, batch->name)
            : NULL;
    return script != NULL ? cnnvp_slurm_submit(script, batch->tasks, batch->driver->jobs, &batch->job, error)
                          : cnnvp_config_no_memory(error);
}

static cnnvp_result submit(struct batch *batch, struct cnnvp_error *error)
{
    struct cnnvp_driver *driver = batch->driver;
    size_t most = (size_t)driver->jobs * TASKS_PER_JOB;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(batch->name, sizeof batch->name, "%" PRIx64 "-%" PRIx64, (uint64_t)getpid(),
                   (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec);
    batch->tasks = most < batch->count ? most : batch->count;
    for (size_t i = 0; i < batch->tasks; ++i)
        CNNVP_TRY(write_task(batch, i, batch->tasks, error));
    CNNVP_TRY(cnnvp_slurm_skip(driver->slurm_used, error));
    CNNVP_TRY(submit_script(batch, error));
    driver->slurm_used = batch->job + batch->tasks - 1;
    return note_job(batch, error);
}

static void remove_file(const struct batch *batch, const char *name)
{
    CNNVP_FREED char *file = file_of(batch->driver, name);
    if (file != NULL)
        (void)unlink(file);
}

/* Ends what is left of the array: also tasks that the controller does not know, once their point is done. */
static void end_job(struct batch *batch)
{
    char name[80];
    if (batch->count)
        cnnvp_slurm_cancel(batch->job);
    for (size_t i = 0; i < batch->tasks; ++i) {
        (void)snprintf(name, sizeof name, "%s-%zu.task", batch->name, i);
        remove_file(batch, name);
    }
}

void cnnvp_slurm_cancel_left(struct cnnvp_driver *driver)
{
    CNNVP_FREED char *file = file_of(driver, "slurm.task");
    CNNVP_FREED char *text = NULL;
    char *end = NULL;
    struct cnnvp_error unwanted;
    if (file != NULL && access(file, F_OK) == 0 && cnnvp_input_text(file, 60, &text, NULL, &unwanted) == CNNVP_DONE) {
        uint64_t job = strtoull(text, &end, 10);
        driver->slurm_used = strtoull(end, NULL, 10);
        if (end != text)
            cnnvp_slurm_cancel(job);
    }
}

/* ---- collecting ---- */

/* Takes the result files that are there, and drops their points from the list. */
static cnnvp_result look(struct batch *batch, struct cnnvp_error *error)
{
    DIR *folder = opendir(batch->driver->folder);
    const struct dirent *entry;
    cnnvp_result result = CNNVP_DONE;
    if (folder == NULL)
        return cnnvp_config_error(error, batch->driver->folder, "cannot be read: %s", strerror(errno));
    while (result == CNNVP_DONE && (entry = readdir(folder)) != NULL) {
        struct cnnvp_sweep_point wanted = {.number = 0};
        int taken = 0;
        if (strlen(entry->d_name) != CNNVP_KEY_BYTES - 1 + strlen(".result") ||
            strstr(entry->d_name, ".result") == NULL)
            continue;
        memcpy(wanted.key, entry->d_name, CNNVP_KEY_BYTES - 1);
        struct cnnvp_sweep_point *found = bsearch(&wanted, batch->pending, batch->count, sizeof wanted, compare_keys);
        if (found == NULL)
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

/* When a task file was touched. It is opened, since a network file system asks its server then. */
static struct timespec touched(const struct batch *batch, size_t task)
{
    char name[80];
    struct stat status = {.st_size = 0};
    (void)snprintf(name, sizeof name, "%s-%zu.task", batch->name, task);
    CNNVP_FREED char *file = file_of(batch->driver, name);
    int descriptor = file != NULL ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    if (descriptor >= 0) {
        (void)fstat(descriptor, &status);
        (void)close(descriptor);
    }
    return status.st_mtim;
}

/* 1: for too long no task has shown that it lives. */
static int is_silent(struct batch *batch, double now)
{
    struct timespec last = {0, 0};
    for (size_t i = 0; i < batch->tasks; ++i) {
        const struct timespec time = touched(batch, i);
        if (time.tv_sec > last.tv_sec || (time.tv_sec == last.tv_sec && time.tv_nsec > last.tv_nsec))
            last = time;
    }
    if (last.tv_sec != batch->beat.tv_sec || last.tv_nsec != batch->beat.tv_nsec)
        batch->beaten = now;
    batch->beat = last;
    return now - batch->beaten >= SILENT_SECONDS;
}

/* 1 while results may still come. */
static int is_alive(struct batch *batch)
{
    struct cnnvp_slurm_state state;
    char *note = batch->driver->progress.waiting_for;
    double now = cnnvp_driver_now();
    cnnvp_slurm_ask(batch->job, &state);
    if (state.highest > batch->driver->slurm_used)
        batch->driver->slurm_used = state.highest;
    if (state.gone)
        return 0;
    if (state.running)
        batch->idle = 0;
    else if (batch->idle == 0)
        batch->idle = now;
    if (!state.running)
        batch->beaten = now;
    else if (is_silent(batch, now))
        return 0;
    *note = '\0';
    if (batch->idle > 0 && now - batch->idle >= TELL_SECONDS)
        (void)snprintf(note, sizeof batch->driver->progress.waiting_for, "%s",
                       state.silent ? "the controller does not answer" : state.reason);
    return state.silent || batch->idle == 0 || state.waiting > state.lost || now - batch->idle < LOST_SECONDS;
}

static cnnvp_result follow(struct batch *batch, struct cnnvp_error *error)
{
    double asked = cnnvp_driver_now();
    int alive = 1;
    cnnvp_result result = CNNVP_DONE;
    batch->idle = 0;
    batch->beaten = asked;
    while (result == CNNVP_DONE && batch->count && alive && !cnnvp_sweep_interrupted()) {
        const struct timespec pause = {0, (long)(LOOK_SECONDS * 1e9)};
        (void)nanosleep(&pause, NULL);
        if (cnnvp_driver_now() - asked >= ASK_SECONDS) {
            uint64_t used = batch->driver->slurm_used;
            asked = cnnvp_driver_now();
            alive = is_alive(batch);
            if (batch->driver->slurm_used != used)
                result = note_job(batch, error);
        }
        if (result == CNNVP_DONE)
            result = look(batch, error); /* after the question: what a task left before it ended is seen */
    }
    *batch->driver->progress.waiting_for = '\0';
    end_job(batch);
    return result;
}

/* Points that are not in the database yet; those that cannot be are recorded at once. */
static cnnvp_result gather(struct batch *batch, const uint64_t *numbers, size_t count, struct cnnvp_error *error)
{
    for (size_t i = 0; i < count && !cnnvp_sweep_interrupted(); ++i) {
        CNNVP_SCOPED(cnnvp_point_clear) struct cnnvp_point point = {.config = NULL};
        int known = 0;
        CNNVP_TRY(cnnvp_point_prepare(batch->driver->sweep, numbers[i], &point, error));
        const struct cnnvp_sweep_point name = cnnvp_point_name(&point);
        CNNVP_TRY(cnnvp_driver_meet(batch->driver, &name, &known, error));
        if (!known && point.config == NULL)
            CNNVP_TRY(cnnvp_driver_fail(batch->driver, &name, point.refused.text, error));
        else if (!known)
            batch->pending[batch->count++] = name;
    }
    qsort(batch->pending, batch->count, sizeof *batch->pending, compare_keys);
    size_t kept = 0;
    for (size_t i = 0; i < batch->count; ++i)
        if (i == 0 || strcmp(batch->pending[i].key, batch->pending[i - 1].key) != 0)
            batch->pending[kept++] = batch->pending[i];
    batch->driver->progress.finished += batch->count - kept; /* twins are what the first will be */
    batch->count = kept;
    return CNNVP_DONE;
}

static cnnvp_result give_up(struct batch *batch, struct cnnvp_error *error)
{
    for (size_t i = 0; i < batch->count; ++i)
        CNNVP_TRY(cnnvp_driver_fail(
            batch->driver, &batch->pending[i], "its tasks ended three times without a result", error));
    return CNNVP_DONE;
}

cnnvp_result cnnvp_slurm_batch(struct cnnvp_driver *driver, const uint64_t *numbers, size_t count,
                               struct cnnvp_error *error)
{
    struct batch batch = {.driver = driver, .pending = calloc(count + 1, sizeof *batch.pending)};
    if (batch.pending == NULL)
        return cnnvp_config_no_memory(error);
    cnnvp_result result = gather(&batch, numbers, count, error);
    for (int fruitless = 0; fruitless < ROUNDS && result == CNNVP_DONE && batch.count && !cnnvp_sweep_interrupted();) {
        size_t before = batch.count;
        result = submit(&batch, error);
        if (result == CNNVP_DONE)
            result = follow(&batch, error);
        else
            end_job(&batch);
        fruitless = batch.count < before ? 0 : fruitless + 1;
    }
    if (result == CNNVP_DONE && batch.count && !cnnvp_sweep_interrupted())
        result = give_up(&batch, error);
    if (batch.tasks)
        remove_file(&batch, "slurm.task");
    free(batch.pending);
    return result;
}
