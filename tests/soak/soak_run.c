/* SPDX-License-Identifier: Apache-2.0 */
#include "soak_run.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUN_SECONDS "120" /* limit of real time; a run takes some hundredths of a second */
#define WORDS_MAX 256

extern char **environ;

void soak_run_clear(struct soak_run *run)
{
    json_decref(run->stats);
    free(run->output);
    *run = (struct soak_run){0};
}

/* Appends a file's bytes to `data`. Returns 0 if there is no such file. */
static int append_file(const char *file, unsigned char **data, size_t *size)
{
    FILE *stream = fopen(file, "rb");
    if (stream == NULL)
        return 0;
    for (size_t got = 1; got != 0; *size += got) {
        unsigned char *more = realloc(*data, *size + 65536);
        if (more == NULL)
            break;
        *data = more;
        got = fread(*data + *size, 1, 65536, stream);
    }
    (void)fclose(stream);
    return 1;
}

static const char *value_of(char *const *words, const char *option)
{
    for (; words[0] != NULL && words[1] != NULL; ++words)
        if (strcmp(words[0], option) == 0)
            return words[1];
    return NULL;
}

/* Reads all outputs, one after the other, and removes them; then appends the checkpoint. */
static void read_output(const char *checkpoint, struct soak_run *run)
{
    char file[32] = "out.onnx";
    for (int i = 0; append_file(file, &run->output, &run->output_size) || i == 0; ++i) {
        (void)unlink(file);
        (void)snprintf(file, sizeof file, "out%d.npy", i);
    }
    if (run->output != NULL && checkpoint != NULL)
        (void)append_file(checkpoint, &run->output, &run->output_size);
}

static int spawn(char *const *words)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 2, "err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int why = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (why != 0)
        return -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void soak_run(char *text, const char *memory, struct soak_run *run)
{
    char *words[WORDS_MAX] = {(char[]){"timeout"}, (char[]){RUN_SECONDS}, (char[]){SOAK_PROGRAM}};
    unsigned char *errors = NULL;
    size_t count = 3, size = 0;
    char *rest = text;
    for (char *word = strtok_r(text, " ", &rest); word != NULL && count < WORDS_MAX - 1;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    (void)unlink("stats.json");
    (void)setenv(SOAK_MEMORY, memory, 1);
    *run = (struct soak_run){.status = spawn(words)};
    run->stats = json_load_file("stats.json", JSON_ALLOW_NUL, NULL);
    json_object_del(run->stats, "wall_seconds");
    read_output(value_of(words, "--checkpoint"), run);
    (void)append_file("err", &errors, &size);
    (void)snprintf(run->message, sizeof run->message, "%.*s", (int)(size < 500 ? size : 500),
                   errors != NULL ? (const char *)errors : "");
    free(errors);
}
