/* SPDX-License-Identifier: Apache-2.0 */
/* `cnnvp train` in this process, by cnnvp_train.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cnnvp_train.h"
#include "soak_run.h"

struct training {
    struct cnnvp_trainer_options options;
    const char *file, *preset, *trace, *data, *evaluation_data, *checkpoint, *resume;
    cnnvp_config *config;
    cnnvp_dataset *dataset, *evaluation;
    cnnvp_trainer *trainer;
    cnnvp_platform *platform;
    json_t *records;
    struct cnnvp_error error;
};

static int is(const char *word, const char *text)
{
    return strcmp(word, text) == 0;
}

static int learning_option(struct cnnvp_trainer_options *options, const char *word, const char *value)
{
    if (is(word, "--epochs"))
        options->epochs = strtoull(value, NULL, 10);
    else if (is(word, "--steps"))
        options->steps = strtoull(value, NULL, 10);
    else if (is(word, "--batch"))
        options->batch = (uint32_t)strtoul(value, NULL, 10);
    else if (is(word, "--lr"))
        options->rate = strtof(value, NULL);
    else if (is(word, "--momentum"))
        options->momentum = strtof(value, NULL);
    else if (is(word, "--bn"))
        options->bn = is(value, "range") ? CNNVP_TRAIN_BN_RANGE : CNNVP_TRAIN_BN_STANDARD;
    else if (is(word, "--init"))
        options->random_weights = is(value, "random");
    else if (is(word, "--errors"))
        options->errors = is(value, "plain") ? CNNVP_TRAIN_ERRORS_PLAIN : CNNVP_TRAIN_ERRORS_CARRIED;
    else if (is(word, "--weight-bits"))
        options->narrow = is(value, "8");
    else if (is(word, "--order"))
        options->order = is(value, "kernel") ? CNNVP_TRAIN_ORDER_KERNEL : CNNVP_TRAIN_ORDER_CHANNEL;
    else if (is(word, "--exponents"))
        options->block = is(value, "tensor")  ? CNNVP_TRAIN_BLOCK_TENSOR
                         : is(value, "image") ? CNNVP_TRAIN_BLOCK_IMAGE
                                              : CNNVP_TRAIN_BLOCK_CHANNEL;
    else if (is(word, "--rounding"))
        options->rounding = soak_rounding(value);
    else
        return 0;
    return 1;
}

/* How many words an option takes with its value; 0: not one of ours. */
static int option_words(struct training *training, const char *word, const char *value)
{
    if (is(word, "-q"))
        return 1;
    if (is(word, "--timing-only")) {
        training->options.timing_only = 1;
        return 1;
    }
    if (value == NULL)
        return 0;
    if (is(word, "train"))
        training->file = value;
    else if (is(word, "-p"))
        training->preset = value;
    else if (is(word, "--trace"))
        training->trace = value;
    else if (is(word, "--seed"))
        training->options.seed = strtoull(value, NULL, 10);
    else if (is(word, "--cpu"))
        training->options.cpu_host = is(value, "host");
    else if (is(word, "--dataset"))
        training->data = value;
    else if (is(word, "--eval"))
        training->evaluation_data = value;
    else if (is(word, "--checkpoint"))
        training->checkpoint = value;
    else if (is(word, "--resume"))
        training->resume = value;
    else if (!is(word, "-s") && !is(word, "--stats") && !is(word, "-o") &&
             !learning_option(&training->options, word, value))
        return 0;
    return 2;
}

static cnnvp_result read_data(struct training *training, const char *text, cnnvp_dataset **dataset)
{
    if (text == NULL)
        return CNNVP_DONE;
    const cnnvp_result result = cnnvp_dataset_new(text, 0, dataset, &training->error);
    return result == CNNVP_DONE ? cnnvp_dataset_fit_network(*dataset, training->file, NULL, 0, &training->error)
                                : result;
}

static cnnvp_result plan(struct training *training)
{
    cnnvp_result result = read_data(training, training->data, &training->dataset);
    if (result == CNNVP_DONE)
        result = read_data(training, training->evaluation_data, &training->evaluation);
    training->options.dataset = training->dataset;
    training->options.evaluation = training->evaluation;
    if (result == CNNVP_DONE)
        result = cnnvp_trainer_new(
            training->file, training->config, &training->options, &training->trainer, &training->error);
    if (result != CNNVP_DONE || training->resume == NULL)
        return result;
    size_t size = 0;
    void *state = soak_read_file(training->resume, &size);
    result = cnnvp_trainer_set_state(training->trainer, state, size, &training->error);
    free(state);
    return result;
}

static cnnvp_result learn(struct training *training)
{
    const struct cnnvp_platform_options options = {
        .struct_size = sizeof options,
        .timing_only = training->options.timing_only,
        .verbosity = -1,
        .trace = training->trace,
        .console = cnnvp_trainer_console,
        .console_context = training->trainer};
    struct cnnvp_train_record record = {.event = CNNVP_TRAIN_STEP};
    struct cnnvp_run_result end = {.end = CNNVP_END_EXIT};
    cnnvp_result result = cnnvp_platform_new(training->config, &options, &training->platform, &training->error);
    if (result == CNNVP_DONE)
        result = cnnvp_trainer_load(training->trainer, training->platform, &training->error);
    while (result == CNNVP_DONE && record.event != CNNVP_TRAIN_END) {
        result = cnnvp_trainer_step(training->trainer, training->platform, &record, &end, &training->error);
        (void)json_array_append_new(
            training->records,
            json_pack("[I,I,f,I]", (json_int_t)record.step, (json_int_t)record.correct,
                      record.event == CNNVP_TRAIN_END ? 0.0 : fmin(record.loss, 1e300), (json_int_t)record.time_ps));
    }
    if (result != CNNVP_DONE && training->error.text[0] == '\0')
        (void)snprintf(training->error.text, sizeof training->error.text, "%s", end.reason);
    return result;
}

static int write_file(const char *file, const void *data, size_t size)
{
    FILE *stream = fopen(file, "wb");
    const int written = stream != NULL && fwrite(data, 1, size, stream) == size;
    return stream != NULL && fclose(stream) == 0 && written;
}

/* What was learned: the network, and what training would go on from. */
static cnnvp_result collect_learned(struct training *training, struct soak_run *run)
{
    void *state = NULL;
    size_t state_size = 0;
    cnnvp_result result = cnnvp_trainer_export(training->trainer, training->platform, "out.onnx", &training->error);
    if (result == CNNVP_DONE)
        result = cnnvp_trainer_get_state(training->trainer, training->platform, &state, &state_size, &training->error);
    if (result == CNNVP_DONE && training->checkpoint != NULL && !write_file(training->checkpoint, state, state_size))
        result = CNNVP_FAILED;
    free(state);
    if (result == CNNVP_DONE)
        soak_read_learned(training->checkpoint, run);
    return result;
}

static cnnvp_result collect(struct training *training, struct soak_run *run)
{
    char *json = NULL;
    const cnnvp_result result = cnnvp_platform_stats(training->platform, &json);
    if (result == CNNVP_DONE)
        run->stats = json_loads(json, JSON_ALLOW_NUL, NULL);
    free(json);
    json_object_del(run->stats, "wall_seconds");
    (void)json_object_set(run->stats, "training", training->records);
    if (result != CNNVP_DONE || training->options.timing_only)
        return result;
    return collect_learned(training, run);
}

static cnnvp_result configure(struct training *training, char *const *words)
{
    for (char *const *word = words; *word != NULL;) {
        const int taken = option_words(training, word[0], word[1]);
        if (taken == 0) {
            (void)snprintf(training->error.text, sizeof training->error.text, "the soak does not know %s", *word);
            return CNNVP_FAILED;
        }
        word += taken;
    }
    return soak_configure(training->preset, training->options.cpu_host, words, &training->config, &training->error);
}

void soak_train_library(char *const *words, struct soak_run *run)
{
    struct training training = {
        .options = {.struct_size = sizeof training.options,
                    .rounding = CNNVP_ROUND_STOCHASTIC,
                    .batch = 32,
                    .rate = 0.02f,
                    .momentum = 0.9f,
                    .epochs = 1},
        .records = json_array()};
    *run = (struct soak_run){0};
    cnnvp_result result = configure(&training, words + 1);
    if (result == CNNVP_DONE)
        result = plan(&training);
    if (result == CNNVP_DONE)
        result = learn(&training);
    if (result == CNNVP_DONE)
        result = collect(&training, run);
    cnnvp_platform_free(training.platform);
    cnnvp_trainer_free(training.trainer);
    cnnvp_dataset_free(training.dataset);
    cnnvp_dataset_free(training.evaluation);
    cnnvp_config_free(training.config);
    json_decref(training.records);
    run->status = (int)result;
    if (result != CNNVP_DONE)
        (void)snprintf(run->message, sizeof run->message, "cnnvp: %.500s", training.error.text);
}
