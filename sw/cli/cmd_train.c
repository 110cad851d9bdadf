/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp train: an ONNX network learns on the training engine. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train.h"

enum {
    KEY_DATASET = 0x300,
    KEY_EVAL,
    KEY_LIMIT,
    KEY_EPOCHS,
    KEY_STEPS,
    KEY_BATCH,
    KEY_LR,
    KEY_MOMENTUM,
    KEY_BN,
    KEY_LOG,
    KEY_CHECKPOINT,
    KEY_EVERY,
    KEY_RESUME,
    KEY_INIT,
    KEY_ORDER,
    KEY_SPILL,
    KEY_BLOCK,
    KEY_MASTER,
    KEY_ROUNDING,
    KEY_ERRORS,
    KEY_GUEST,
    KEY_TIMING
};

static const struct argp_option options_of_train[] = {
    {"dataset", KEY_DATASET, "DATASET", 0,
     "Training images: idx:IMAGES,LABELS or cifar10:FILE[,FILE...], plain or gzip; images smaller than the network's "
     "input are centred in zeros",
     0},
    {"eval", KEY_EVAL, "DATASET", 0, "Images to classify after each epoch; they are not learned from", 0},
    {"limit", KEY_LIMIT, "N", 0, "Learn from the first N images", 0},
    {"output", 'o', "TRAINED.onnx", 0, "Write the trained network", 0},
    {"log", KEY_LOG, "FILE.csv", 0,
     "Write number, loss and accuracy of each step; with --resume a log that is there is continued", 0},
    {"checkpoint", KEY_CHECKPOINT, "FILE", 0, "Write the state of the training after each epoch and when interrupted",
     0},
    {"checkpoint-every", KEY_EVERY, "N", 0, "Write the checkpoint after every N steps instead", 0},
    {"resume", KEY_RESUME, "FILE", 0, "Continue from a checkpoint; weights come out as without the interruption", 0},
    {"epochs", KEY_EPOCHS, "N", 0, "Passes over all images (default: 1)", 5},
    {"steps", KEY_STEPS, "N", 0, "Stop after N steps in all, if the epochs have as many", 5},
    {"batch", KEY_BATCH, "N", 0, "Images per step (default: 32); the last step of an epoch takes the rest", 5},
    {"lr", KEY_LR, "F", 0, "Learning rate (default: 0.02)", 5},
    {"momentum", KEY_MOMENTUM, "F", 0, "Momentum (default: 0.9)", 5},
    {"bn", KEY_BN, "range|standard", 0, "Batch norm's sigma from the range or from the variance (default: range)", 5},
    {"init", KEY_INIT, "file|random", 0,
     "Start from the file's weights and draw the missing ones at random (default), or draw all of them", 5},
    {"rounding", KEY_ROUNDING, "truncate|nearest|stochastic|floor", 0,
     "Rounding of mantissas (default: stochastic, with images to nearest); floor: toward minus infinity", 6},
    {"errors", KEY_ERRORS, "plain|carried", 0,
     "Round errors like everything else, or to nearest with the remainder carried to the next value of the map "
     "(default: carried with --rounding nearest, otherwise plain)",
     6},
    {"exponents", KEY_BLOCK, "tensor|image|channel", 0, "Values that share an exponent (default: a tensor's)", 6},
    {"weight-bits", KEY_MASTER, "32|8", 0, "Update a 32-bit copy of the weights (default), or the 8-bit mantissas", 6},
    {"order", KEY_ORDER, "kernel|channel", 0,
     "Convolutions keep partial sums on chip (default), or spill them after each channel as in S001", 6},
    {"spill", KEY_SPILL, "early|late", 0,
     "Batch norm's inputs go to memory as their sums are taken (default), or wait in the idle half of the intermediate "
     "buffer and follow the results, as in S001",
     6},
    {"guest", KEY_GUEST, "FILE.elf", 0, "Your own guest program; it gets the same training binary", 6},
    {"timing-only", KEY_TIMING, NULL, 0, "No arithmetic: times and traffic only; -o writes nothing", 6},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct train_options *options = state->hook;
    struct cnnvp_error error = {""};
    switch (key) {
    case ARGP_KEY_INIT:
        options = cli_parse_init(state);
        state->child_inputs[0] = &options->platform;
        state->child_inputs[1] = &options->shapes;
        return 0;
    case KEY_DATASET:
        options->dataset = arg;
        return 0;
    case KEY_EVAL:
        options->evaluation = arg;
        return 0;
    case KEY_LIMIT:
        options->limit = cli_number(state, "--limit", arg, 1, UINT32_MAX);
        return 0;
    case 'o':
        options->output = arg;
        return 0;
    case KEY_LOG:
        options->log = arg;
        return 0;
    case KEY_CHECKPOINT:
        options->checkpoint = arg;
        return 0;
    case KEY_EVERY:
        options->checkpoint_every = cli_number(state, "--checkpoint-every", arg, 1, UINT64_MAX);
        return 0;
    case KEY_RESUME:
        options->resume = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (options->file != NULL)
            cli_usage(state, "one network is expected, not also %s", arg);
        options->file = arg;
        return 0;
    case ARGP_KEY_END:
        if (options->file == NULL)
            cli_usage(state, "which network? NETWORK is missing");
        if (options->dataset == NULL)
            cli_usage(state, "which data set? --dataset is missing");
        if (options->checkpoint_every && options->checkpoint == NULL)
            cli_usage(state, "--checkpoint-every needs --checkpoint");
        return 0;
    default:
        if (cli_long_name(options_of_train, key) == NULL)
            return ARGP_ERR_UNKNOWN;
        if (cnnvp_trainer_options_set(&options->trainer, cli_long_name(options_of_train, key),
                                      arg != NULL ? arg : "true", &error) != CNNVP_DONE)
            cli_usage(state, "%s", error.text);
        return 0;
    }
}

static cnnvp_result check_options(struct train_options *options)
{
    if (options->trainer.timing_only &&
        (options->checkpoint != NULL || options->resume != NULL || options->log != NULL))
        return cli_bad("%s needs the values that --timing-only leaves out",
                       options->checkpoint != NULL ? "--checkpoint"
                       : options->resume != NULL   ? "--resume"
                                                   : "--log");
    if (options->trainer.timing_only && options->platform.check_results)
        return cli_bad("--check-results compares the results that --timing-only leaves out");
    if (options->trainer.timing_only && options->output != NULL)
        cli_message("--output: nothing is learned with --timing-only, and %s is not written", options->output);
    /* A checkpoint may take the place of the one that was resumed from: that has been read by then. */
    const char *resume =
        options->resume != NULL && options->checkpoint != NULL && strcmp(options->resume, options->checkpoint) == 0
            ? NULL
            : options->resume;
    const struct cli_named_file files[] = {
        {"", options->file, 0},     {"--guest", options->trainer.guest, 0},
        {"--resume", resume, 0},    {"--output", options->output, 1},
        {"--log", options->log, 1}, {"--checkpoint", options->checkpoint, 1},
    };
    return cli_check_command_files(files, sizeof files / sizeof *files, &options->platform);
}

static cnnvp_result read_dataset(const struct train *train, const char *text, uint64_t limit, cnnvp_dataset **dataset)
{
    const struct train_options *options = train->options;
    struct cnnvp_dataset_info own, fitted;
    struct cnnvp_error error = {""};
    if (text == NULL)
        return CNNVP_DONE;
    cnnvp_result result = cnnvp_dataset_new(text, limit, dataset, &error);
    if (result != CNNVP_DONE)
        return cli_report(result, &error);
    cnnvp_dataset_describe(*dataset, &own);
    result = cnnvp_dataset_fit_network(*dataset, options->file, options->shapes.texts, options->shapes.count, &error);
    if (result != CNNVP_DONE)
        return cli_report(result, &error);
    cnnvp_dataset_describe(*dataset, &fitted);
    if (!options->platform.quiet)
        cli_print_centred(own.height, own.width, fitted.height, fitted.width, stdout);
    return CNNVP_DONE;
}

static cnnvp_result plan(struct train *train)
{
    struct train_options *options = train->options;
    struct cnnvp_error error = {""};
    options->trainer.seed = options->platform.seed;
    options->trainer.dataset = train->dataset;
    options->trainer.evaluation = train->evaluation;
    options->trainer.shapes = options->shapes.texts;
    options->trainer.shape_count = options->shapes.count;
    cnnvp_result result =
        cli_report(cnnvp_trainer_new(options->file, train->config, &options->trainer, &train->trainer, &error), &error);
    if (result == CNNVP_DONE && options->resume != NULL)
        result = train_checkpoint_read(train);
    if (result == CNNVP_DONE)
        result = train_read_log(train);
    if (result == CNNVP_DONE)
        cnnvp_trainer_info(train->trainer, &train->info);
    return result;
}

static cnnvp_result open_platform(struct train *train)
{
    struct cnnvp_error error = {""};
    const cnnvp_result result =
        cli_platform_open_console(&train->options->platform, train->config, train->options->trainer.timing_only,
                                  cnnvp_trainer_console, train->trainer, &train->platform);
    if (result != CNNVP_DONE)
        return result;
    return cli_report(cnnvp_trainer_load(train->trainer, train->platform, &error), &error);
}

/* Trains, and writes what there is to write. */
static cnnvp_result learn(struct train *train)
{
    const struct train_options *options = train->options;
    struct cnnvp_error error = {""};
    int complete = 0;
    if (cli_was_interrupted()) {
        cli_message("interrupted before the simulation began");
        return CNNVP_FAILED;
    }
    cnnvp_result result = train_loop(train, &complete);
    json_t *training = options->trainer.timing_only ? NULL : train_statistics(train);
    cnnvp_result written =
        cli_statistics_with(&options->platform, train->platform, !complete, "training", training, &train->json);
    json_decref(training);
    if (written == CNNVP_DONE && !options->trainer.timing_only)
        written = train_write_log(train);
    if (result == CNNVP_DONE && written == CNNVP_DONE && options->output != NULL && !options->trainer.timing_only)
        written = cli_report(cnnvp_trainer_export(train->trainer, train->platform, options->output, &error), &error);
    return result != CNNVP_DONE ? result : written;
}

/* A word of values that have become infinite or no numbers; the statistics have them by layer. */
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
    const struct train_options *options = train->options;
    if (options->platform.quiet)
        return CNNVP_DONE;
    if (!options->trainer.timing_only)
        train_show_curve(&train->history, stdout);
    print_nonfinite(train);
    cnnvp_result result = cli_print_layers(train->json, stdout);
    if (result == CNNVP_DONE)
        result = cli_print_totals(train->json, options->platform.verbose, stdout);
    cli_print_profile(train->platform, stdout);
    if (options->output != NULL && !options->trainer.timing_only)
        (void)printf("%-20s  %s\n", "trained network", options->output);
    if (options->log != NULL)
        (void)printf("%-20s  %s\n", "log", options->log);
    if (options->platform.stats != NULL)
        (void)printf("%-20s  %s\n", "statistics", options->platform.stats);
    if (options->platform.trace != NULL)
        (void)printf("%-20s  %s\n", "trace", options->platform.trace);
    return result;
}

static cnnvp_result run(struct train *train)
{
    struct train_options *options = train->options;
    cnnvp_result result = check_options(options);
    if (result == CNNVP_DONE)
        result = cli_configure(&options->platform, &train->config);
    if (result == CNNVP_DONE)
        result = read_dataset(train, options->dataset, options->limit, &train->dataset);
    if (result == CNNVP_DONE)
        result = read_dataset(train, options->evaluation, 0, &train->evaluation);
    if (result == CNNVP_DONE)
        result = plan(train);
    if (result == CNNVP_DONE)
        result = open_platform(train);
    if (result == CNNVP_DONE)
        result = learn(train);
    result = (cnnvp_result)cli_close_trace(train->platform, (int)result);
    if (result == CNNVP_DONE)
        result = print(train);
    result = (cnnvp_result)cli_report_results(&options->platform, train->platform, (int)result);
    cnnvp_platform_free(train->platform);
    train->platform = NULL;
    return result;
}

static int command(int argc, char **argv)
{
    const struct argp_child children[] = {{&cli_platform_argp, 0, NULL, 0}, {&cli_shape_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = options_of_train,
        .parser = parse,
        .args_doc = "NETWORK",
        .doc = "Trains a network on the simulated training engine: forward, backward, gradients and update. "
               "NETWORK is an ONNX file or the name of an installed network, such as digits."
               "\vThe platform is the preset `trainer` unless -p names another. The same seed gives the same weights, "
               "bit by bit, also through --checkpoint and --resume. Exit status: 0 done, 1 the run failed or was "
               "interrupted, 2 bad usage or input.",
        .children = children,
    };
    struct train_options chosen = {.platform = {.platform = cnnvp_command_platform("train")}};
    cnnvp_trainer_options_default(&chosen.trainer);
    struct train train = {.options = &chosen};
    cli_parse(&argp, "cnnvp train", 0, argc, argv, &chosen);
    cli_catch_signals();
    const int status = (int)run(&train);
    cnnvp_trainer_free(train.trainer);
    cnnvp_dataset_free(train.dataset);
    cnnvp_dataset_free(train.evaluation);
    cnnvp_config_free(train.config);
    free(train.history.steps);
    free(train.json);
    free(train.earlier_log);
    cli_platform_options_clear(&chosen.platform);
    return status;
}

const struct cli_command cli_train = {"train", "train a network on the platform", command};
