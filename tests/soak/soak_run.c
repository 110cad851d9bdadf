/* SPDX-License-Identifier: Apache-2.0 */
#include "soak_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cnnvp_explore.h"
#include "soak_memory.h"

extern char **environ;

void soak_run_clear(struct soak_run *run)
{
    json_decref(run->stats);
    free(run->output);
    *run = (struct soak_run){0};
}

/* ---- as a program ---- */

void *soak_read_file(const char *file, size_t *size)
{
    FILE *stream = fopen(file, "rb");
    unsigned char *data = NULL;
    *size = 0;
    if (stream == NULL)
        return NULL;
    size_t room = 0;
    for (size_t got = 1; got != 0; *size += got) {
        if (*size == room) {
            room = room * 2 + 65536;
            unsigned char *more = realloc(data, room);
            if (more == NULL)
                break;
            data = more;
        }
        got = fread(data + *size, 1, room - *size, stream);
    }
    (void)fclose(stream);
    return data;
}

void soak_read_learned(const char *checkpoint, struct soak_run *run)
{
    size_t size = 0;
    unsigned char *state = checkpoint != NULL ? soak_read_file(checkpoint, &size) : NULL;
    run->output = soak_read_file("out.onnx", &run->output_size);
    unsigned char *both = run->output != NULL && state != NULL ? realloc(run->output, run->output_size + size) : NULL;
    if (both != NULL) {
        memcpy(both + run->output_size, state, size);
        run->output = both;
        run->output_size += size;
    }
    free(state);
    (void)unlink("out.onnx");
}

static const char *value_of(char *const *words, const char *option)
{
    for (; words[0] != NULL && words[1] != NULL; ++words)
        if (strcmp(words[0], option) == 0)
            return words[1];
    return NULL;
}

void soak_run_program(const char *program, char *const *words, struct soak_run *run)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    *run = (struct soak_run){.status = -1};
    (void)unlink("stats.json");
    (void)unlink("out.npy");
    (void)unlink("out.onnx");
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 2, "err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int why = posix_spawn(&child, program, &actions, NULL, words, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (why != 0)
        return;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    run->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    run->stats = json_load_file("stats.json", JSON_ALLOW_NUL, NULL);
    json_object_del(run->stats, "wall_seconds");
    if (strcmp(words[1], "train") == 0)
        soak_read_learned(value_of(words, "--checkpoint"), run);
    else
        run->output = soak_read_file("out.npy", &run->output_size);
    size_t size;
    char *errors = soak_read_file("err", &size);
    (void)snprintf(run->message, sizeof run->message, "%.*s", (int)(size < 500 ? size : 500),
                   errors != NULL ? errors : "");
    free(errors);
}

/* ---- in this process ---- */

struct library_run {
    struct cnnvp_network_options network_options;
    const char *network_file, *preset, *trace, *memory;
    cnnvp_config *config;
    cnnvp_network *network;
    cnnvp_platform *platform;
    struct cnnvp_error error;
};

static int is(const char *word, const char *option)
{
    return strcmp(word, option) == 0;
}

enum cnnvp_rounding soak_rounding(const char *name)
{
    return is(name, "stochastic") ? CNNVP_ROUND_STOCHASTIC
           : is(name, "truncate") ? CNNVP_ROUND_TRUNCATE
                                  : CNNVP_ROUND_NEAREST;
}

/* How many words an option takes with its value; 0: not one of ours. */
static int option_words(struct library_run *library, const char *word, const char *value)
{
    struct cnnvp_network_options *options = &library->network_options;
    if (is(word, "-q"))
        return 1;
    if (is(word, "--timing-only")) {
        options->timing_only = 1;
        return 1;
    }
    if (is(word, "--tune")) {
        library->network_options.tune = 1;
        return 1;
    }
    if (is(word, "--on-chip")) {
        options->on_chip = 1;
        return 1;
    }
    if (value == NULL)
        return 0;
    if (is(word, "run"))
        library->network_file = value;
    else if (is(word, "-p"))
        library->preset = value;
    else if (is(word, "--trace"))
        library->trace = value;
    else if (is(word, "--memory"))
        library->memory = value;
    else if (is(word, "--seed"))
        options->seed = strtoull(value, NULL, 10);
    else if (is(word, "--images"))
        options->images = strtoull(value, NULL, 10);
    else if (is(word, "--batch"))
        options->batch = (uint32_t)strtoul(value, NULL, 10);
    else if (is(word, "--cpu"))
        options->cpu_host = is(value, "host");
    else if (is(word, "--rounding"))
        options->rounding = soak_rounding(value);
    else if (is(word, "--schedule"))
        options->schedule = is(value, "layer") ? CNNVP_SCHEDULE_LAYER : CNNVP_SCHEDULE_DEPTH_FIRST;
    else if (is(word, "--block"))
        options->block = (uint32_t)strtoul(value, NULL, 10);
    else if (is(word, "--block-order"))
        options->block_order = is(value, "table") ? CNNVP_BLOCK_ORDER_TABLE : CNNVP_BLOCK_ORDER_MORTON;
    else if (!is(word, "-s") && !is(word, "--stats") && !is(word, "-o"))
        return 0;
    return 2;
}

cnnvp_result soak_configure(const char *preset, int cpu_host, char *const *words, cnnvp_config **config,
                            struct cnnvp_error *error)
{
    cnnvp_result result = cnnvp_config_new(preset, config, error);
    if (result == CNNVP_DONE && cpu_host)
        result = cnnvp_config_set(*config, "cpu.model=host_cpu", error);
    for (char *const *word = words; *word != NULL && result == CNNVP_DONE; ++word)
        if (is(*word, "-s"))
            result = cnnvp_config_set(*config, word[1], error);
    return result == CNNVP_DONE ? cnnvp_config_resolve(*config, error) : result;
}

static cnnvp_result configure(struct library_run *library, char *const *words)
{
    for (char *const *word = words; *word != NULL;) {
        const int taken = option_words(library, word[0], word[1]);
        if (taken == 0) {
            (void)snprintf(library->error.text, sizeof library->error.text, "the soak does not know %s", *word);
            return CNNVP_FAILED;
        }
        word += taken;
    }
    return soak_configure(library->preset, library->network_options.cpu_host, words, &library->config, &library->error);
}

/* The training engine's guest says by characters where it is. */
static void no_console(void *context, const void *data, size_t size)
{
    (void)context;
    (void)data;
    (void)size;
}

static cnnvp_result simulate(struct library_run *library)
{
    const struct cnnvp_platform_options options = {
        .struct_size = sizeof options,
        .timing_only = library->network_options.timing_only,
        .verbosity = -1,
        .trace = library->trace,
        .console = no_console};
    struct cnnvp_run_result end;
    cnnvp_result result =
        library->memory != NULL
            ? soak_memory_platform(library->config, &options, library->memory, &library->platform, &library->error)
            : cnnvp_platform_new(library->config, &options, &library->platform, &library->error);
    if (result == CNNVP_DONE)
        result = cnnvp_network_load(library->network, library->platform, &library->error);
    if (result != CNNVP_DONE)
        return result;
    result = cnnvp_platform_run(library->platform, &end);
    if (result != CNNVP_DONE)
        (void)snprintf(library->error.text, sizeof library->error.text, "%s", end.reason);
    return result;
}

/* Appends the network's output of that number to the run's. */
static cnnvp_result collect_output(struct library_run *library, size_t number, struct soak_run *run)
{
    struct cnnvp_array output = {.rank = 0};
    cnnvp_result result = cnnvp_network_output(library->network, library->platform, number, &output, &library->error);
    if (result != CNNVP_DONE)
        return result;
    size_t size = sizeof(float);
    for (size_t i = 0; i < output.rank; ++i)
        size *= output.shape[i];
    unsigned char *all = realloc(run->output, run->output_size + size);
    if (all != NULL) {
        memcpy(all + run->output_size, output.data, size);
        run->output = all;
        run->output_size += size;
    }
    cnnvp_array_clear(&output);
    return all != NULL ? CNNVP_DONE : CNNVP_FAILED;
}

static cnnvp_result collect(struct library_run *library, struct soak_run *run)
{
    char *json = NULL;
    cnnvp_result result = cnnvp_platform_stats(library->platform, &json);
    if (result == CNNVP_DONE)
        run->stats = json_loads(json, JSON_ALLOW_NUL, NULL);
    free(json);
    json_object_del(run->stats, "wall_seconds");
    if (library->network_options.timing_only)
        return result;
    for (size_t i = 0; i < cnnvp_network_outputs(library->network) && result == CNNVP_DONE; ++i)
        result = collect_output(library, i, run);
    return result;
}

void soak_run_library(char *const *words, struct soak_run *run)
{
    struct library_run library = {
        .network_options = {
            .struct_size = sizeof library.network_options, .schedule = CNNVP_SCHEDULE_LAYER, .block = 8, .images = 1}};
    *run = (struct soak_run){0};
    cnnvp_result result = configure(&library, words + 1);
    if (result == CNNVP_DONE)
        result = cnnvp_network_new(
            library.network_file, library.config, &library.network_options, &library.network, &library.error);
    if (result == CNNVP_DONE)
        result = simulate(&library);
    if (result == CNNVP_DONE)
        result = collect(&library, run);
    const uint64_t broken = soak_memory_broken();
    if (broken != 0 && result == CNNVP_DONE) {
        (void)snprintf(library.error.text, sizeof library.error.text, "%" PRIu64 " rules of the protocol broken",
                       broken);
        result = CNNVP_FAILED;
    }
    cnnvp_platform_free(library.platform);
    cnnvp_network_free(library.network);
    cnnvp_config_free(library.config);
    run->status = (int)result;
    if (result != CNNVP_DONE)
        (void)snprintf(run->message, sizeof run->message, "cnnvp: %.500s", library.error.text);
}
