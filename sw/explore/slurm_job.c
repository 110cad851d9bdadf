/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's commands: sbatch, scancel, squeue. */
#define _XOPEN_SOURCE 700
#include "slurm_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "explore.h"

/* Numbers that are skipped at most: farther back lies a controller whose numbers began anew. */
#define SKIP_LIMIT 1000u

char *cnnvp_slurm_quote(const char *text)
{
    char *quoted = malloc(4 * strlen(text) + 3), *at = quoted;
    if (quoted == NULL)
        return NULL;
    *at++ = '\'';
    for (; *text; ++text) {
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

static int exit_status(FILE *stream)
{
    int status = pclose(stream);
    return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What a command prints, both streams, cut; its exit status, or -1. */
static int ask(const char *command, char *answer, size_t size)
{
    char rest[512];
    FILE *stream = popen(command, "r");
    *answer = '\0';
    if (stream == NULL)
        return -1;
    size_t got = fread(answer, 1, size - 1, stream);
    answer[got] = '\0';
    while (fread(rest, 1, sizeof rest, stream) > 0)
        continue;
    return exit_status(stream);
}

/* ---- submitting ---- */

/* The number stands in a line of its own; warnings may stand before it. */
static cnnvp_result take_number(const char *command, uint64_t *job, struct cnnvp_error *error)
{
    char answer[512];
    int status = ask(command, answer, sizeof answer);
    *job = 0;
    for (const char *line = answer; line != NULL && status == 0; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line >= '0' && *line <= '9')
            *job = strtoull(line, NULL, 10);
    }
    if (*job)
        return CNNVP_DONE;
    (void)cnnvp_config_error(error, NULL, "sbatch does not take the sweep: %s", *answer ? answer : "it cannot be run");
    return CNNVP_FAILED;
}

cnnvp_result cnnvp_slurm_submit(const char *script, size_t tasks, uint32_t at_once, uint64_t *job,
                                struct cnnvp_error *error)
{
    CNNVP_FREED char *command =
        cnnvp_text_printf("sbatch --parsable --job-name=cnnvp-sweep --output=/dev/null --open-mode=append "
                          "--array=0-%zu%%%" PRIu32 " 2>&1 <<'CNNVP_END'\n#!/bin/sh\n%s\nCNNVP_END\n",
                          tasks - 1, at_once, script);
    return command != NULL ? take_number(command, job, error) : cnnvp_config_no_memory(error);
}

cnnvp_result cnnvp_slurm_skip(uint64_t used, struct cnnvp_error *error)
{
    uint64_t job = 0;
    for (unsigned i = 0; i < SKIP_LIMIT && job < used && (job == 0 || used - job <= SKIP_LIMIT); ++i) {
        CNNVP_TRY(take_number("sbatch --parsable --hold --job-name=cnnvp-sweep-skip --output=/dev/null 2>&1 "
                              "<<'CNNVP_END'\n#!/bin/sh\nCNNVP_END\n",
                              &job, error));
        cnnvp_slurm_cancel(job);
    }
    return CNNVP_DONE;
}

void cnnvp_slurm_cancel(uint64_t job)
{
    char command[80], answer[256];
    (void)snprintf(command, sizeof command, "scancel %" PRIu64 " 2>&1", job);
    if (job)
        (void)ask(command, answer, sizeof answer);
}

/* ---- asking ---- */

/* Slurm put the task back because something of its own failed: it may wait for minutes, or for an administrator. */
static int is_lost(const char *reason)
{
    static const char *const reasons[] = {
        "BeginTime",         "JobLaunchFailure",           "launch failed requeued held",
        "JobHoldMaxRequeue", "job requeued in held state", "SystemFailure",
        "NodeDown"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; ++i)
        if (strcmp(reason, reasons[i]) == 0)
            return 1;
    return 0;
}

/* "NUMBER|STATE|REASON" */
static void count_line(char *line, struct cnnvp_slurm_state *state)
{
    char *end;
    uint64_t number = strtoull(line, &end, 10);
    char *reason = end != line && *end == '|' ? strchr(end + 1, '|') : NULL;
    if (reason == NULL)
        return;
    *reason++ = '\0';
    reason[strcspn(reason, "\n")] = '\0';
    if (number > state->highest)
        state->highest = number;
    if (strcmp(end + 1, "PENDING") == 0 || strcmp(end + 1, "SUSPENDED") == 0 || strcmp(end + 1, "STOPPED") == 0) {
        if (state->waiting++ == 0)
            (void)snprintf(state->reason, sizeof state->reason, "%.47s", reason);
        state->lost += is_lost(reason);
    } else if (strcmp(end + 1, "COMPLETING") != 0) { /* what completes has left its results */
        ++state->running;
    }
    state->gone = 0;
}

void cnnvp_slurm_ask(uint64_t job, struct cnnvp_slurm_state *state)
{
    char command[120], line[512];
    int invalid = 0;
    *state = (struct cnnvp_slurm_state){.gone = 1};
    (void)snprintf(command, sizeof command, "squeue --noheader --jobs=%" PRIu64 " --format='%%A|%%T|%%r' 2>&1", job);
    FILE *stream = popen(command, "r");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        invalid |= strstr(line, "Invalid job id") != NULL;
        count_line(line, state);
    }
    if (stream != NULL && (exit_status(stream) == 0 || invalid))
        return;
    state->gone = 0;
    state->silent = 1;
}
