/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task of a job array: `cnnvp sweep --task FILE`. It runs the points of its file one after the other and ends by
 * itself once that file is gone: its driver has ended, or a later one has taken over and shares the points out anew.
 * While it lives it touches the file every few seconds, by which the driver knows.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker.h"

#define BEAT_MILLISECONDS 3000

static void beat(const char *task_file)
{
    (void)utimensat(AT_FDCWD, task_file, NULL, 0); /* it may be gone */
}

static enum cnnvp_worker_news hear(struct cnnvp_worker *worker, const char *task_file, struct cnnvp_worker_end *end,
                                   struct cnnvp_error *error)
{
    struct pollfd wait = {.fd = worker->line, .events = POLLIN};
    enum cnnvp_worker_news news;
    do {
        beat(task_file);
        (void)poll(&wait, 1, BEAT_MILLISECONDS);
        news = cnnvp_worker_hear(worker, end, error);
    } while (news == CNNVP_WORKER_BUSY);
    return news;
}

/* Leaves a result file that says why the point failed. */
static cnnvp_result record_end(const struct cnnvp_sweep *sweep, struct cnnvp_point *point, const char *folder,
                               const struct cnnvp_worker_end *end, struct cnnvp_error *error)
{
    int failed;
    cnnvp_config_free(point->config);
    point->config = NULL;
    cnnvp_worker_describe(end, point->refused.text, sizeof point->refused.text);
    return cnnvp_point_work(sweep, point, "", folder, &failed, error);
}

/* A point whose worker was killed is left out: the driver sees what is missing. */
static cnnvp_result run_point(const struct cnnvp_sweep *sweep, struct cnnvp_worker *worker, struct cnnvp_point *point,
                              const char *program, const char *folder, const char *task_file, struct cnnvp_error *error)
{
    const struct cnnvp_sweep_point name = cnnvp_point_name(point);
    for (;;) {
        struct cnnvp_worker_end end;
        CNNVP_TRY(cnnvp_worker_give(worker, sweep, program, folder, &name, error));
        switch (hear(worker, task_file, &end, error)) {
        case CNNVP_WORKER_DONE:
            return CNNVP_DONE;
        case CNNVP_WORKER_CANNOT_WRITE:
            return CNNVP_FAILED;
        case CNNVP_WORKER_BUSY: /* has been waited for */
        case CNNVP_WORKER_ENDED:
            break;
        }
        if (cnnvp_worker_was_killed(&end))
            return CNNVP_DONE;
        if (end.first)
            return record_end(sweep, point, folder, &end, error);
    }
}

static cnnvp_result run_points(struct cnnvp_sweep *sweep, const json_t *task, const char *task_file,
                               struct cnnvp_error *error)
{
    const char *folder = json_string_value(json_object_get(task, "folder"));
    const char *program = json_string_value(json_object_get(task, "program"));
    struct cnnvp_worker worker = {.process = 0};
    cnnvp_result result = CNNVP_DONE;
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(task, "points"), index, entry)
    {
        const char *key = json_string_value(json_object_get(entry, "key"));
        CNNVP_SCOPED(cnnvp_point_clear) struct cnnvp_point point = {.config = NULL};
        if (access(task_file, F_OK) != 0)
            break;
        result =
            cnnvp_point_prepare(sweep, (uint64_t)json_integer_value(json_object_get(entry, "number")), &point, error);
        if (result != CNNVP_DONE)
            break;
        if (key == NULL || strcmp(key, point.key) != 0)
            result = cnnvp_config_error(error, sweep->file,
                                        "is not what it was when the sweep began, or this node has "
                                        "another cnnvp");
        else
            result = run_point(sweep, &worker, &point, program, folder, task_file, error);
        if (result != CNNVP_DONE)
            break;
    }
    cnnvp_worker_stop(&worker);
    return result;
}

cnnvp_result cnnvp_sweep_task(const char *task_file, struct cnnvp_error *error)
{
    CNNVP_FREED char *text = NULL;
    CNNVP_TRY(cnnvp_input_text(task_file, (size_t)1 << 28, &text, NULL, error));
    CNNVP_JSON *task = json_loads(text, 0, NULL);
    const char *spec = json_string_value(json_object_get(task, "spec"));
    if (spec == NULL || json_string_value(json_object_get(task, "folder")) == NULL ||
        json_string_value(json_object_get(task, "program")) == NULL)
        return cnnvp_config_error(error, task_file, "is no task of a sweep");
    struct cnnvp_sweep *sweep = calloc(1, sizeof *sweep);
    if (sweep != NULL)
        sweep->file = cnnvp_arena_text(&sweep->arena, spec);
    cnnvp_result result =
        sweep != NULL && sweep->file != NULL ? cnnvp_spec_read(sweep, error) : cnnvp_config_no_memory(error);
    if (result == CNNVP_DONE)
        result = run_points(sweep, task, task_file, error);
    cnnvp_sweep_free(sweep);
    return result;
}
