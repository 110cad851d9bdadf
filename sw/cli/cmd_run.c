/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp run: runs inference of an ONNX network on the platform. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "cnnvp_explore.h"
#include "plan_memory.h"

/* Everything that a run owns; freed together. */
struct run {
    struct cli_options *options;
    struct cnnvp_run all;
    cnnvp_config *config;
    char *json;
};

/* --dump creates its folder, so only the parent folder must exist. */
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

static cnnvp_result check_files(struct cli_options *options)
{
    const struct cnnvp_options *all = &options->all;
    if (all->timing_only && all->output.count > 0)
        cli_message("--output: nothing is computed with --timing-only, and %s is not written", all->output.texts[0]);
    if (all->timing_only && all->calibration != NULL)
        cli_message("--calibration: nothing is computed with --timing-only, and number formats are not chosen");
    CNNVP_TRY(cli_check_command_files(options));
    return check_dump_folder(all->dump);
}

static cnnvp_result write_statistics(struct run *run, int partial)
{
    cnnvp_result written =
        cli_write_statistics(run->options, cnnvp_run_statistics(&run->all, partial, &run->json), &run->json);
    if (written == CNNVP_DONE && run->options->all.csv != NULL)
        written = cli_report(cnnvp_layers_csv(run->json, run->options->all.csv, &cli_error));
    return written;
}

/* Handles an interrupt before the simulation began: writes empty statistics, marked as partial. */
static cnnvp_result give_up(struct run *run)
{
    const struct cnnvp_work_info work = {.struct_size = sizeof work, .command = "run", .seed = run->options->all.seed};
    cnnvp_result result = CNNVP_DONE;
    cli_message("interrupted before the simulation began");
    if (run->all.platform == NULL) {
        result =
            cli_report(cnnvp_platform_new(run->config, &run->all.platform_options, &run->all.platform, &cli_error));
        if (result == CNNVP_DONE)
            result = cnnvp_platform_describe_work(run->all.platform, &work);
    }
    if (result == CNNVP_DONE)
        (void)write_statistics(run, 1);
    return CNNVP_FAILED;
}

static void show_tuning(void *context, double share)
{
    cli_progress_show(context, share, "of the trials of tilings and schedules");
}

/* Restarts the progress line, which may have shown the tuning before. */
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
    struct cli_progress progress;
    cli_progress_begin(&progress, run->options->all.quiet);
    run->all.stopped = cli_was_interrupted;
    run->all.tuning = progress.on ? show_tuning : NULL;
    run->all.computing = progress.on ? show_computing : NULL;
    run->all.context = &progress;
    run->all.platform_options = cli_platform_options_of(run->options);
    run->all.memory = run->options->all.advise ? cnnvp_plan_memory_new() : NULL;
    const cnnvp_result result = cnnvp_run_plan(&run->all, run->config, &cli_error);
    cli_progress_end(&progress);
    return result != CNNVP_DONE && cli_was_interrupted() ? give_up(run) : cli_report(result);
}

/* Writes the plan of a completed run, if --plan-out asks for it. */
static cnnvp_result write_plan(const struct run *run)
{
    const char *file = run->options->all.plan_out;
    return file != NULL ? cli_report(cnnvp_network_plan(run->all.network, file, &cli_error)) : CNNVP_DONE;
}

static cnnvp_result simulate(struct run *run)
{
    struct cnnvp_run_result end = {.end = CNNVP_END_EXIT};
    cnnvp_result result = cnnvp_run_load(&run->all, run->config, &cli_error);
    if (result != CNNVP_DONE)
        return cli_report(result);
    if (cli_was_interrupted())
        return give_up(run);
    result = cli_platform_run(run->options, run->all.platform, &end);
    if (result != CNNVP_DONE) {
        cli_report_end(&end);
        (void)write_statistics(run, 1);
    }
    return result;
}

/* Collects all results that depend on values: the output files, the dump, the comparison with the float model. */
static cnnvp_result collect(struct run *run)
{
    const struct cnnvp_options *options = &run->options->all;
    if (options->timing_only)
        return CNNVP_DONE;
    cnnvp_result result = cnnvp_run_collect(&run->all, cnnvp_network_outputs(run->all.network), &cli_error);
    for (size_t i = 0; i < run->all.output_count; ++i)
        accuracy_warn(cnnvp_network_output_name(run->all.network, i), &run->all.outputs[i].difference);
    if (result == CNNVP_DONE && options->dump != NULL)
        result = cnnvp_network_dump(run->all.network, run->all.platform, options->dump, &cli_error);
    for (size_t i = 0; i < options->output.count && result == CNNVP_DONE; ++i)
        result = cnnvp_npy_write(options->output.texts[i], &run->all.outputs[i].output, &cli_error);
    return cli_report(result);
}

/* The output's name, or NULL if there is only one output. */
static const char *name_among_several(const struct run *run, size_t output)
{
    return cnnvp_network_outputs(run->all.network) > 1 ? cnnvp_network_output_name(run->all.network, output) : NULL;
}

static void print_differences(const struct run *run)
{
    for (size_t i = 0; i < run->all.output_count; ++i)
        accuracy_print_difference(name_among_several(run, i), &run->all.outputs[i].difference, stdout);
}

static void print_outputs(const struct run *run)
{
    for (size_t i = 0; run->all.outputs != NULL && i < run->options->all.output.count; ++i) {
        const char *name = name_among_several(run, i);
        (void)printf("%-20s  %s%s%s\n", "output", name != NULL ? name : "", name != NULL ? ": " : "",
                     run->options->all.output.texts[i]);
    }
}

static void print_centred(const struct run *run)
{
    size_t shape[8];
    const struct cnnvp_array *images = run->options->all.input.count == 1 ? run->all.inputs[0].array : NULL;
    if (cnnvp_network_input_shape(run->all.network, shape) == 3 && images != NULL && images->rank == 4)
        cli_print_centred(images->shape[2], images->shape[3], shape[1], shape[2], stdout);
}

/* Gives with --quiet the warning that the table would have given. A map of a single block has the network's own
 * padding. */
static void warn_of_blocks(const struct run *run)
{
    json_t *statistics = json_loads(run->json, 0, NULL);
    const json_t *chains = json_object_get(json_object_get(statistics, "schedule"), "chains");
    int cut = 0;
    for (size_t i = 0; i < json_array_size(chains); ++i)
        cut |= json_integer_value(json_object_get(json_array_get(chains, i), "blocks")) > 1;
    if (cut)
        cli_message(
            "the depth-first schedule pads each block by itself: this is block convolution, another function than "
            "the network's");
    json_decref(statistics);
}

/* Products of weights and inputs are calculated by the accelerator alone. */
static void warn_of_guest(const struct run *run)
{
    json_t *statistics = run->options->all.guest != NULL ? json_loads(run->json, 0, NULL) : NULL;
    const json_t *layers = json_object_get(statistics, "layers");
    json_int_t macs = 0, cycles = 0;
    for (size_t i = 0; i < json_array_size(layers); ++i) {
        macs += json_integer_value(json_object_get(json_array_get(layers, i), "macs"));
        cycles += json_integer_value(json_object_get(json_array_get(layers, i), "cycles"));
    }
    if (macs != 0 && cycles == 0)
        cli_message("warning: --guest %s: it has ended without work of the accelerator, so no output has been "
                    "calculated",
                    run->options->all.guest);
    json_decref(statistics);
}

static cnnvp_result print(struct run *run)
{
    const struct cnnvp_options *options = &run->options->all;
    warn_of_guest(run);
    if (!options->quiet) {
        CNNVP_TRY(cli_print_layers(run->json, stdout));
        print_centred(run);
        print_differences(run);
    } else if (cnnvp_network_runs_blocks(run->all.network)) {
        warn_of_blocks(run);
    }
    if (options->labels != NULL && options->timing_only)
        cli_message("--labels: no accuracy with --timing-only");
    else if (options->labels != NULL)
        accuracy_print(&run->all.accuracy, stdout);
    if (options->quiet)
        return CNNVP_DONE;
    const cnnvp_result result = cli_print_totals(run->json, options->verbose, stdout);
    if (cnnvp_network_is_widened(run->all.network))
        (void)printf("%-20s  have 16 bits, the file's numbers 8: --precision int8, if the array takes it "
                     "(pe_array.precision)\n",
                     "words");
    if (options->tune)
        (void)printf("%-20s  %zu tried\n", "tilings", cnnvp_network_trials(run->all.network));
    cli_print_profile(run->all.platform, stdout);
    if (options->stats != NULL)
        (void)printf("%-20s  %s\n", "statistics", options->stats);
    if (options->trace != NULL)
        (void)printf("%-20s  %s\n", "trace", options->trace);
    print_outputs(run);
    if (options->dump != NULL)
        (void)printf("%-20s  %s\n", "tensors", options->dump);
    return result;
}

static cnnvp_result compute(struct run *run)
{
    CNNVP_TRY(check_files(run->options));
    CNNVP_TRY(cli_configure(run->options, &run->config));
    CNNVP_TRY(plan(run));
    CNNVP_TRY(simulate(run));
    const cnnvp_result collected = collect(run), written = write_statistics(run, 0);
    return collected != CNNVP_DONE ? collected : written;
}

static cnnvp_result run_network(struct run *run)
{
    const time_t at = time(NULL);
    cnnvp_result result = compute(run);
    const unsigned seconds = (unsigned)(time(NULL) - at);
    result = cli_close_trace(run->all.platform, result);
    if (result == CNNVP_DONE)
        result = write_plan(run);
    if (result == CNNVP_DONE)
        result = print(run);
    result = cli_report_results(run->options, run->all.platform, result);
    cnnvp_platform_free(run->all.platform);
    run->all.platform = NULL;
    if (run->options->report_advice != NULL)
        (void)remove(run->options->report_advice); /* from an earlier run */
    if (result == CNNVP_DONE && run->options->all.advise)
        result = cli_report(
            advise(&run->all, run->config, run->json, seconds, run->options->report_advice, stdout, &cli_error));
    else if (result == CNNVP_DONE && !run->options->all.quiet)
        result = cli_report(advise_way(&run->all, run->config, run->json, stdout, &cli_error));
    return result;
}

static cnnvp_result run(struct cli_options *options)
{
    cli_catch_signals();
    struct run run = {.options = options, .all = {.file = options->file, .options = &options->all}};
    const cnnvp_result result = run_network(&run);
    cnnvp_run_clear(&run.all);
    cnnvp_plan_memory_free(run.all.memory);
    cnnvp_config_free(run.config);
    free(run.json);
    return result;
}

const struct cli_command cli_run = {
    .name = "run",
    .summary = "run a network on the platform",
    .args_doc = "NETWORK",
    .doc = "Runs a network on the simulated accelerator and shows where every cycle and every byte goes. NETWORK is "
           "an ONNX file or the name of an installed network, such as lenet5."
           "\vThe statistics are those of schema cnnvp-stats/2. Exit status: 0 done, 1 the run failed, 2 bad usage or "
           "input.",
    .what = "network",
    .argument = "NETWORK",
    .run = run};
