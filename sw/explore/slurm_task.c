/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task of a job array: `cnnvp sweep --task FILE`. It runs the points of its file one after the other and ends by itself
 * once that file is gone: its driver has ended, or a later one has taken over and shares the points out anew.
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explore.h"

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

static cnnvp_result run_points(struct cnnvp_sweep *sweep, const json_t *task, const char *task_file,
                               struct cnnvp_error *error)
{
    const char *folder = json_string_value(json_object_get(task, "folder"));
    const char *program = json_string_value(json_object_get(task, "program"));
    cnnvp_result result = CNNVP_DONE;
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(task, "points"), index, entry) {
        const char *key = json_string_value(json_object_get(entry, "key"));
        struct cnnvp_point point;
        if (access(task_file, F_OK) != 0)
            break;
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
            result = run_points(sweep, task, task_file, error);
        cnnvp_sweep_free(sweep);
    }
    json_decref(task);
    return result;
}
