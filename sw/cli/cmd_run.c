/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp run: inference of an ONNX network on the platform. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accuracy.h"
#include "advise.h"
#include "cli.h"
#include "cnnvp_explore.h"

enum { OUTPUTS = 64 };

struct run_options {
    struct cli_platform_options platform;
    struct cli_network_options network;
    struct cli_shapes shapes;
    const char *file;
    const char *input;
    char input_of[256];           /* the network's input that it is said to be; "": it is not said */
    const char *outputs[OUTPUTS]; /* files, in the order of the network's outputs */
    size_t output_count;
    const char *labels;
    const char *calibration;
    const char *dump;
    const char *csv;
    const char *plan_out;
    int advise;
};

enum { KEY_CSV = 0x200, KEY_ADVISE, KEY_PLAN_OUT };

/* One of the network's outputs, as far as it is wanted. */
struct result {
    struct cnnvp_array output, reference, block_reference;
    struct cnnvp_difference difference;
};

/* Everything that a run holds; freed together. */
struct run {
    struct run_options *options;
    struct cnnvp_array input, labels, calibration;
    struct result *results; /* as many as the network has outputs */
    cnnvp_config *config;
    cnnvp_network *network;
    cnnvp_platform *platform;
    struct cnnvp_accuracy accuracy; /* no images: there is none */
    char *json;
};

/* FILE.npy or NAME=FILE.npy; a file whose name has such a sign is one. */
static void take_input(struct argp_state *state, struct run_options *options, const char *text)
{
    const char *equals = strchr(text, '=');
    if (options->input != NULL)
        cli_usage(state, "--input: one file is taken, since networks here have one input; %s is a second", text);
    options->input = text;
    options->input_of[0] = '\0';
    if (equals == NULL || equals == text || access(text, F_OK) == 0)
        return;
    if ((size_t)(equals - text) >= sizeof options->input_of)
        cli_usage(state, "--input: the name in front of = is too long");
    memcpy(options->input_of, text, (size_t)(equals - text));
    options->input_of[equals - text] = '\0';
    options->input = equals + 1;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct run_options *options = state->hook;
    struct cnnvp_error error = {""};
    switch (key) {
    case ARGP_KEY_INIT:
        options = cli_parse_init(state);
        state->child_inputs[0] = &options->platform;
        state->child_inputs[1] = &options->network;
        state->child_inputs[2] = &options->shapes;
        return 0;
    case 'i':
        take_input(state, options, arg);
        return 0;
    case 'o':
        if (options->output_count == OUTPUTS)
            cli_usage(state, "--output: at most %d", OUTPUTS);
        options->outputs[options->output_count++] = arg;
        return 0;
    case 'l':
        options->labels = arg;
        return 0;
    case 'c':
        options->calibration = arg;
        return 0;
    case 'd':
        options->dump = arg;
        return 0;
    case KEY_CSV:
        options->csv = arg;
        return 0;
    case 'n':
        if (cnnvp_network_options_set(&options->network.set, "images", arg, &error) != CNNVP_DONE)
            cli_usage(state, "%s", error.text);
        return 0;
    case KEY_PLAN_OUT:
        options->plan_out = arg;
        return 0;
    case KEY_ADVISE:
        options->advise = 1;
        return 0;
    case ARGP_KEY_ARG:
        if (options->file != NULL)
            cli_usage(state, "one network is expected, not also %s", arg);
        options->file = arg;
        return 0;
    case ARGP_KEY_END:
        if (options->file == NULL)
            cli_usage(state, "which network? NETWORK is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --dump makes its folder, so the folder above must be there. */
static cnnvp_result check_dump_folder(const char *folder)
{
    struct stat status;
    if (folder == NULL)
        return CNNVP_DONE;
    if (stat(folder, &status) != 0)
        return cli_check_output("--dump", folder);
    if (!S_ISDIR(status.st_mode))
        return cli_bad("--dump: %s is not a folder", folder);
    if (access(folder, W_OK | X_OK) != 0)
        return cli_bad("--dump: %s cannot be written: %s", folder, strerror(errno));
    return CNNVP_DONE;
}

static cnnvp_result check_options(struct run_options *options)
{
    if (options->network.set.timing_only && options->dump != NULL)
        return cli_bad("--dump needs the values that --timing-only leaves out");
    if (options->network.set.timing_only && options->platform.check_results)
        return cli_bad("--check-results compares the results that --timing-only leaves out");
    if (options->network.set.timing_only && options->output_count > 0)
        cli_message("--output: nothing is computed with --timing-only, and %s is not written", options->outputs[0]);
    if (options->network.set.timing_only && options->calibration != NULL)
        cli_message("--calibration: nothing is computed with --timing-only, and number formats are not chosen");
    const struct cli_named_file fixed[] = {
        {"", options->file, 0},
        {"--input", options->input, 0},
        {"--labels", options->labels, 0},
        {"--calibration", options->calibration, 0},
        {"--guest", options->network.set.guest, 0},
        {"--csv", options->csv, 1},
        {"--plan", options->network.set.plan, 0},
        {"--plan-out", options->plan_out, 1},
    };
    struct cli_named_file files[sizeof fixed / sizeof *fixed + OUTPUTS];
    size_t count = sizeof fixed / sizeof *fixed;
    memcpy(files, fixed, sizeof fixed);
    for (size_t i = 0; i < options->output_count; ++i)
        files[count++] = (struct cli_named_file){"--output", options->outputs[i], 1};
    const cnnvp_result result = cli_check_command_files(files, count, &options->platform);
    return result == CNNVP_DONE ? check_dump_folder(options->dump) : result;
}

/* Keeps those of the first `images`; their memory stays as it is. */
static void limit_labels(struct cnnvp_array *labels, uint64_t images)
{
    if (images && labels->rank > 0 && labels->shape[0] > images)
        labels->shape[0] = (size_t)images;
}

static cnnvp_result read_arrays(struct run *run)
{
    const struct run_options *options = run->options;
    struct cnnvp_error error = {""};
    cnnvp_result result = CNNVP_DONE;
    if (options->input != NULL)
        result = cnnvp_npy_read(options->input, &run->input, &error);
    if (result == CNNVP_DONE && options->calibration != NULL)
        result = cnnvp_npy_read(options->calibration, &run->calibration, &error);
    if (result == CNNVP_DONE && options->labels != NULL)
        result = cnnvp_npy_read(options->labels, &run->labels, &error);
    if (result != CNNVP_DONE)
        return cli_report(result, &error);
    limit_labels(&run->labels, options->network.set.input_images);
    if (options->labels == NULL)
        return CNNVP_DONE;
    result = cli_report(cnnvp_labels_check(options->labels, &run->labels, &error), &error);
    /* An input of another rank may be one image; how many it is then shows when the run is over. */
    uint64_t images = options->network.set.input_images ? options->network.set.input_images
                      : run->input.rank == 4            ? run->input.shape[0]
                                                        : 0;
    if (result == CNNVP_DONE && images && images != run->labels.shape[0])
        result = cli_bad("%s: %zu labels for %" PRIu64 " images", options->labels, run->labels.shape[0], images);
    return result;
}

static cnnvp_result write_statistics(struct run *run, int partial)
{
    struct cnnvp_error error = {""};
    char *text = run->accuracy.images ? cnnvp_accuracy_json(&run->accuracy) : NULL;
    json_t *accuracy = text != NULL ? json_loads(text, 0, NULL) : NULL;
    cnnvp_result written =
        cli_statistics_with(&run->options->platform, run->platform, partial, "accuracy", accuracy, &run->json);
    json_decref(accuracy);
    free(text);
    if (written == CNNVP_DONE && run->options->csv != NULL)
        written = cli_report(cnnvp_layers_csv(run->json, run->options->csv, &error), &error);
    return written;
}

/* The user has given up before anything was simulated: statistics of nothing, marked as such. */
static cnnvp_result give_up(struct run *run)
{
    const struct cnnvp_work_info work = {
        .struct_size = sizeof work, .command = "run", .seed = run->options->platform.seed};
    cli_message("interrupted before the simulation began");
    cnnvp_result result = CNNVP_DONE;
    if (run->platform == NULL) {
        result = cli_platform_open(
            &run->options->platform, run->config, run->options->network.set.timing_only, &run->platform);
        if (result == CNNVP_DONE)
            result = cnnvp_platform_describe_work(run->platform, &work);
    }
    if (result == CNNVP_DONE)
        (void)write_statistics(run, 1);
    return CNNVP_FAILED;
}

static struct cnnvp_network_options network_options_of(const struct run *run)
{
    const struct run_options *options = run->options;
    struct cnnvp_network_options all = options->network.set;
    all.seed = options->platform.seed;
    all.input = options->input != NULL ? &run->input : NULL;
    all.calibration = options->calibration != NULL ? &run->calibration : NULL;
    all.input_name = options->input;
    all.calibration_name = options->calibration;
    all.stopped = cli_was_interrupted;
    all.shapes = options->shapes.texts;
    all.shape_count = options->shapes.count;
    return all;
}

static void show_tuning(void *context, double share)
{
    cli_progress_show(context, share, "of the trials of tilings and schedules");
}

/* After what was tuned, as a line of its own. */
static void show_computing(void *context, double share)
{
    struct cli_progress *progress = context;
    if (share <= 0) {
        cli_progress_clear(progress);
        cli_progress_begin(progress, 0);
    }
    cli_progress_show(progress, share, "of the images computed in float");
}

static cnnvp_result plan(struct run *run)
{
    const struct run_options *options = run->options;
    struct cnnvp_network_options network_options = network_options_of(run);
    struct cli_progress progress;
    struct cnnvp_error error = {""};
    cli_progress_begin(&progress, options->platform.quiet);
    network_options.tuning = progress.on ? show_tuning : NULL;
    network_options.computing = progress.on ? show_computing : NULL;
    network_options.tuning_context = &progress;
    cnnvp_result result = cnnvp_network_new(options->file, run->config, &network_options, &run->network, &error);
    cli_progress_end(&progress);
    if (result == CNNVP_DONE && options->plan_out != NULL)
        result = cnnvp_network_plan(run->network, NULL, &error);
    return result != CNNVP_DONE && cli_was_interrupted() ? give_up(run) : cli_report(result, &error);
}

/* Of a run that has come to its end. */
static cnnvp_result write_plan(const struct run *run)
{
    struct cnnvp_error error = {""};
    return run->options->plan_out != NULL
               ? cli_report(cnnvp_network_plan(run->network, run->options->plan_out, &error), &error)
               : CNNVP_DONE;
}

static cnnvp_result check_input(const struct run *run)
{
    const char *said = run->options->input_of, *name = cnnvp_network_input_name(run->network);
    if (!*said || strcmp(said, name) == 0)
        return CNNVP_DONE;
    return cli_bad("--input %s=%s: %s has no input of that name; its input is \"%s\"", said, run->options->input,
                   run->options->file, name);
}

static cnnvp_result check_outputs(const struct run *run)
{
    const size_t given = run->options->output_count, count = cnnvp_network_outputs(run->network);
    if (given <= count)
        return CNNVP_DONE;
    return cli_bad("--output: there are %zu files for %zu output%s of %s, the first of which is \"%s\"", given, count,
                   count == 1 ? "" : "s", run->options->file, cnnvp_network_output_name(run->network, 0));
}

static cnnvp_result simulate(struct run *run)
{
    struct cnnvp_error error = {""};
    struct cnnvp_run_result end = {.end = CNNVP_END_EXIT};
    cnnvp_result result =
        cli_platform_open(&run->options->platform, run->config, run->options->network.set.timing_only, &run->platform);
    if (result != CNNVP_DONE)
        return result;
    result = cnnvp_network_load(run->network, run->platform, &error);
    if (result != CNNVP_DONE)
        return cli_report(result, &error);
    if (cli_was_interrupted())
        return give_up(run);
    result = cli_platform_run(&run->options->platform, run->platform, &end);
    if (result != CNNVP_DONE) {
        cli_report_end(&end);
        (void)write_statistics(run, 1);
    }
    return result;
}

/* An output, and what it is compared with, as far as that is wanted. */
static cnnvp_result collect_output(struct run *run, size_t number)
{
    const struct run_options *options = run->options;
    struct cnnvp_error error = {""};
    struct result *to = &run->results[number];
    cnnvp_result result = cnnvp_network_output(run->network, run->platform, number, &to->output, &error);
    if (result == CNNVP_DONE)
        result = cnnvp_network_reference(run->network, number, &to->reference, &error);
    if (result == CNNVP_DONE && options->network.set.schedule == CNNVP_SCHEDULE_DEPTH_FIRST)
        result = cnnvp_network_block_reference(run->network, number, &to->block_reference, &error);
    if (result == CNNVP_DONE)
        result = cnnvp_compare(&to->output, to->block_reference.data != NULL ? &to->block_reference : &to->reference,
                               &to->difference, &error);
    if (result == CNNVP_DONE)
        accuracy_warn(cnnvp_network_output_name(run->network, number), &to->difference);
    return cli_report(result, &error);
}

/* What depends on values: the output files, the dump, the float model's output. */
static cnnvp_result collect(struct run *run)
{
    const struct run_options *options = run->options;
    struct cnnvp_error error = {""};
    cnnvp_result result = CNNVP_DONE;
    if (options->network.set.timing_only)
        return CNNVP_DONE;
    run->results = calloc(cnnvp_network_outputs(run->network), sizeof *run->results);
    if (run->results == NULL) {
        cli_message("out of memory");
        return CNNVP_FAILED;
    }
    for (size_t i = 0; i < cnnvp_network_outputs(run->network) && result == CNNVP_DONE; ++i)
        result = collect_output(run, i);
    if (result != CNNVP_DONE)
        return result;
    if (options->labels != NULL)
        result = cnnvp_accuracy_count(
            &run->results[0].output, &run->results[0].reference, &run->labels, &run->accuracy, &error);
    if (result == CNNVP_DONE && options->dump != NULL)
        result = cnnvp_network_dump(run->network, run->platform, options->dump, &error);
    for (size_t i = 0; i < options->output_count && result == CNNVP_DONE; ++i)
        result = cnnvp_npy_write(options->outputs[i], &run->results[i].output, &error);
    return cli_report(result, &error);
}

/* Its name where there are several. */
static const char *name_among_several(const struct run *run, size_t output)
{
    return cnnvp_network_outputs(run->network) > 1 ? cnnvp_network_output_name(run->network, output) : NULL;
}

static void print_differences(const struct run *run)
{
    for (size_t i = 0; run->results != NULL && i < cnnvp_network_outputs(run->network); ++i)
        accuracy_print_difference(name_among_several(run, i), &run->results[i].difference, stdout);
}

static void print_outputs(const struct run *run)
{
    for (size_t i = 0; run->results != NULL && i < run->options->output_count; ++i) {
        const char *name = name_among_several(run, i);
        (void)printf("%-20s  %s%s%s\n", "output", name != NULL ? name : "", name != NULL ? ": " : "",
                     run->options->outputs[i]);
    }
}

static void free_results(struct run *run)
{
    for (size_t i = 0; run->results != NULL && i < cnnvp_network_outputs(run->network); ++i) {
        cnnvp_array_clear(&run->results[i].output);
        cnnvp_array_clear(&run->results[i].reference);
        cnnvp_array_clear(&run->results[i].block_reference);
    }
    free(run->results);
}

static void print_centred(const struct run *run)
{
    size_t shape[8];
    if (cnnvp_network_input_shape(run->network, shape) == 3 && run->input.rank == 4)
        cli_print_centred(run->input.shape[2], run->input.shape[3], shape[1], shape[2], stdout);
}

/* What the table would have said. A map that is one block is padded as the network says. */
static void warn_of_blocks(const struct run *run)
{
    json_t *statistics = json_loads(run->json, 0, NULL);
    const json_t *chains = json_object_get(json_object_get(statistics, "schedule"), "chains");
    int cut = 0;
    for (size_t i = 0; i < json_array_size(chains); ++i)
        cut |= json_integer_value(json_object_get(json_array_get(chains, i), "blocks")) > 1;
    if (cut)
        cli_message(
            "--schedule depth-first pads each block by itself: this is block convolution, another function than "
            "the network's");
    json_decref(statistics);
}

static cnnvp_result print(struct run *run)
{
    const struct run_options *options = run->options;
    cnnvp_result result = CNNVP_DONE;
    if (!options->platform.quiet)
        result = cli_print_layers(run->json, stdout);
    else if (options->network.set.schedule == CNNVP_SCHEDULE_DEPTH_FIRST)
        warn_of_blocks(run);
    if (result == CNNVP_DONE && !options->platform.quiet) {
        print_centred(run);
        print_differences(run);
    }
    if (result == CNNVP_DONE && options->labels != NULL && options->network.set.timing_only)
        cli_message("--labels: no accuracy with --timing-only");
    else if (result == CNNVP_DONE && options->labels != NULL)
        accuracy_print(&run->accuracy, stdout);
    if (result == CNNVP_DONE && !options->platform.quiet) {
        result = cli_print_totals(run->json, options->platform.verbose, stdout);
        if (options->network.set.tune)
            (void)printf("%-20s  %zu tried\n", "tilings", cnnvp_network_trials(run->network));
        cli_print_profile(run->platform, stdout);
        if (options->platform.stats != NULL)
            (void)printf("%-20s  %s\n", "statistics", options->platform.stats);
        if (options->platform.trace != NULL)
            (void)printf("%-20s  %s\n", "trace", options->platform.trace);
        print_outputs(run);
        if (options->dump != NULL)
            (void)printf("%-20s  %s\n", "tensors", options->dump);
    }
    return result;
}

static cnnvp_result run_network(struct run *run)
{
    cnnvp_result result = check_options(run->options);
    if (result == CNNVP_DONE)
        result = cli_configure(&run->options->platform, &run->config);
    if (result == CNNVP_DONE)
        result = read_arrays(run);
    if (result == CNNVP_DONE)
        result = plan(run);
    if (result == CNNVP_DONE)
        result = check_input(run);
    if (result == CNNVP_DONE)
        result = check_outputs(run);
    if (result == CNNVP_DONE)
        result = simulate(run);
    if (result == CNNVP_DONE) {
        const cnnvp_result collected = collect(run), written = write_statistics(run, 0);
        result = collected != CNNVP_DONE ? collected : written;
    }
    result = (cnnvp_result)cli_close_trace(run->platform, (int)result);
    if (result == CNNVP_DONE)
        result = write_plan(run);
    if (result == CNNVP_DONE)
        result = print(run);
    result = (cnnvp_result)cli_report_results(&run->options->platform, run->platform, (int)result);
    cnnvp_platform_free(run->platform);
    run->platform = NULL;
    if (result == CNNVP_DONE && run->options->advise) {
        const struct cnnvp_network_options options = network_options_of(run);
        struct cnnvp_error error = {""};
        result = cli_report(advise(run->options->file, run->config, &options, stdout, &error), &error);
    }
    return result;
}

static int command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"input", 'i', "[NAME=]FILE.npy", 0,
         "Images (N, C, H, W) of float32, or of uint8 for x/255; smaller ones are centred in zeros (default: random "
         "normal values)",
         0},
        {"output", 'o', "FILE.npy", 0, "Write the network's output; repeat it for the next output", 0},
        {"labels", 'l', "FILE.npy", 0,
         "Expected classes: print the top-1 accuracy of the first output, and add it to the statistics", 0},
        {"calibration", 'c', "FILE.npy", 0, "Images from which number formats are chosen (default: the input)", 0},
        {"dump", 'd', "FOLDER", 0, "Write each tensor beside its float counterpart, and a table of SQNR", 0},
        {"plan-out", KEY_PLAN_OUT, "FILE.yaml", 0, "Write the plan of this run, for --plan", 0},
        {"csv", KEY_CSV, "FILE.csv", 0, "Write the table of layers", 0},
        {"images", 'n', "N", 0, "Use the first N images of the input; without -i, generate N (default: 1)", 0},
        {"advise", KEY_ADVISE, NULL, 0,
         "After the run, try each parameter doubled and halved, and each other choice, timing only; print the single "
         "changes that help most",
         0},
        {0},
    };
    const struct argp_child children[] = {
        {&cli_platform_argp, 0, NULL, 0}, {&cli_network_argp, 0, NULL, 0}, {&cli_shape_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "NETWORK",
        .doc =
            "Runs a network on the simulated accelerator and shows where every cycle and every byte goes. NETWORK is "
            "an ONNX file or the name of an installed network, such as lenet5."
            "\vThe statistics are those of schema cnnvp-stats/2. Exit status: 0 done, 1 the run failed, 2 bad usage or "
            "input.",
        .children = children,
    };
    struct run_options chosen = {.file = NULL};
    struct run run = {.options = &chosen};
    cli_catch_signals();
    cli_parse(&argp, "cnnvp run", 0, argc, argv, &chosen);
    const int status = (int)run_network(&run);
    free_results(&run);
    cnnvp_network_free(run.network);
    cnnvp_config_free(run.config);
    cnnvp_array_clear(&run.input);
    cnnvp_array_clear(&run.labels);
    cnnvp_array_clear(&run.calibration);
    free(run.json);
    cli_platform_options_clear(&chosen.platform);
    return status;
}

const struct cli_command cli_run = {"run", "run a network on the platform", command};
