/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp train: trains an ONNX network on the training engine. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "train.h"

static cnnvp_result check_files(struct cli_options *options)
{
    if (options->all.timing_only && options->all.output.count > 0)
        cli_message("--output: nothing is learned with --timing-only, and %s is not written",
                    options->all.output.texts[0]);
    return cli_check_command_files(options);
}

/* The file for the trained network: the last --output. NULL: none. */
static const char *output_of(const struct train *train)
{
    return train->options->all.timing_only ? NULL : cnnvp_option_last(&train->options->all.output);
}

static cnnvp_result read_dataset(const struct train *train, const char *text, uint64_t limit, cnnvp_dataset **dataset)
{
    const struct cnnvp_options *options = &train->options->all;
    struct cnnvp_dataset_info own, fitted;
    if (text == NULL)
        return CNNVP_DONE;
    CNNVP_TRY(cli_report(cnnvp_dataset_new(text, limit, dataset, &cli_error)));
    cnnvp_dataset_describe(*dataset, &own);
    CNNVP_TRY(cli_report(cnnvp_dataset_fit_network(
        *dataset, train->options->file, options->shape.texts, options->shape.count, &cli_error)));
    cnnvp_dataset_describe(*dataset, &fitted);
    if (!options->quiet)
        cli_print_centred(own.height, own.width, fitted.height, fitted.width, stdout);
    return CNNVP_DONE;
}

static cnnvp_result plan(struct train *train)
{
    struct cnnvp_trainer_options trainer = cnnvp_trainer_options_of(&train->options->all);
    trainer.dataset = train->dataset;
    trainer.evaluation = train->evaluation;
    CNNVP_TRY(
        cli_report(cnnvp_trainer_new(train->options->file, train->config, &trainer, &train->trainer, &cli_error)));
    if (train->options->all.resume != NULL)
        CNNVP_TRY(train_checkpoint_read(train));
    CNNVP_TRY(train_read_log(train));
    cnnvp_trainer_info(train->trainer, &train->info);
    return CNNVP_DONE;
}

static cnnvp_result open_platform(struct train *train)
{
    struct cnnvp_platform_options options = cli_platform_options_of(train->options);
    options.console = cnnvp_trainer_console;
    options.console_context = train->trainer;
    CNNVP_TRY(cli_report(cnnvp_platform_new(train->config, &options, &train->platform, &cli_error)));
    return cli_report(cnnvp_trainer_load(train->trainer, train->platform, &cli_error));
}

/* Trains, then writes the statistics, the log and the trained network. */
static cnnvp_result learn(struct train *train)
{
    const struct cnnvp_options *options = &train->options->all;
    int complete = 0;
    if (cli_was_interrupted()) {
        cli_message("interrupted before the simulation began");
        return CNNVP_FAILED;
    }
    cnnvp_result result = train_loop(train, &complete);
    json_t *training = options->timing_only ? NULL : train_statistics(train);
    cnnvp_result written = cli_write_statistics(
        train->options, cnnvp_statistics_with(train->platform, !complete, "training", training, &train->json),
        &train->json);
    json_decref(training);
    if (written == CNNVP_DONE && !options->timing_only)
        written = train_write_log(train);
    if (result == CNNVP_DONE && written == CNNVP_DONE && output_of(train) != NULL)
        written = cli_report(cnnvp_trainer_export(train->trainer, train->platform, output_of(train), &cli_error));
    return result != CNNVP_DONE ? result : written;
}

/* Reports values that have become infinite or NaN. The statistics list them by layer. */
static void print_nonfinite(const struct train *train)
{
    json_t *root = json_loads(train->json, 0, NULL);
    json_t *layers = json_object_get(json_object_get(root, "values"), "nonfinite"), *count;
    const char *name;
    uint64_t values = 0;
    json_object_foreach(layers, name, count) values += (uint64_t)json_integer_value(count);
    json_decref(root);
    if (values || train->history.nonfinite)
        (void)printf("%-20s  %" PRIu64 " values of layers, %" PRIu64 " outputs of the network\n", "not finite", values,
                     train->history.nonfinite);
}

static cnnvp_result print(const struct train *train)
{
    const struct cnnvp_options *options = &train->options->all;
    if (options->quiet)
        return CNNVP_DONE;
    if (!options->timing_only)
        train_show_curve(&train->history, stdout);
    print_nonfinite(train);
    cnnvp_result result = cli_print_layers(train->json, stdout);
    if (result == CNNVP_DONE)
        result = cli_print_totals(train->json, options->verbose, stdout);
    cli_print_profile(train->platform, stdout);
    if (output_of(train) != NULL)
        (void)printf("%-20s  %s\n", "trained network", output_of(train));
    if (options->log != NULL)
        (void)printf("%-20s  %s\n", "log", options->log);
    if (options->stats != NULL)
        (void)printf("%-20s  %s\n", "statistics", options->stats);
    if (options->trace != NULL)
        (void)printf("%-20s  %s\n", "trace", options->trace);
    return result;
}

static cnnvp_result train_network(struct train *train)
{
    const struct cnnvp_options *options = &train->options->all;
    CNNVP_TRY(check_files(train->options));
    CNNVP_TRY(cli_configure(train->options, &train->config));
    CNNVP_TRY(read_dataset(train, options->dataset, options->limit, &train->dataset));
    CNNVP_TRY(read_dataset(train, options->eval, 0, &train->evaluation));
    CNNVP_TRY(plan(train));
    CNNVP_TRY(open_platform(train));
    return learn(train);
}

static cnnvp_result run(struct cli_options *options)
{
    struct train train = {.options = options, .epoch_loss = NAN, .epoch_accuracy = NAN};
    cli_catch_signals();
    cnnvp_result result = train_network(&train);
    result = cli_close_trace(train.platform, result);
    if (result == CNNVP_DONE)
        result = print(&train);
    result = cli_report_results(options, train.platform, result);
    cnnvp_platform_free(train.platform);
    cnnvp_trainer_free(train.trainer);
    cnnvp_dataset_free(train.dataset);
    cnnvp_dataset_free(train.evaluation);
    cnnvp_config_free(train.config);
    free(train.history.steps);
    free(train.json);
    free(train.earlier_log);
    return result;
}

const struct cli_command cli_train = {
    .name = "train",
    .summary = "train a network on the platform",
    .args_doc = "NETWORK",
    .doc = "Trains a network on the simulated training engine: forward, backward, gradients and update. "
           "NETWORK is an ONNX file or the name of an installed network, such as digits."
           "\vThe platform is the preset `trainer` unless -p names another. The same seed gives the same weights, "
           "bit by bit, also through --checkpoint and --resume. Exit status: 0 done, 1 the run failed or was "
           "interrupted, 2 bad usage or input.",
    .what = "network",
    .argument = "NETWORK",
    .run = run};
