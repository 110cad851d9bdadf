/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp sweep: runs many points, each with other parameters. */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "cli.h"
#include "cnnvp_explore.h"

/* The file of the results database. */
static const char *results_of(const struct cnnvp_options *options)
{
    return cnnvp_option_last(&options->output);
}

/* ---- progress ---- */

struct display {
    struct cli_progress line; /* on a terminal; the next two members are for other outputs */
    uint64_t printed;         /* tenths of the points that have been reported */
    char waiting_for[48];     /* the last reported reason */
    const char *results;
    int said_others;
    int said_slow;
};

static void describe(const struct cnnvp_sweep_progress *progress, char *buffer, size_t size)
{
    char failed[60] = "", generation[40] = "", waiting[80] = "";
    if (progress->failed)
        (void)snprintf(failed, sizeof failed, "  failed %" PRIu64, progress->failed);
    if (progress->generation)
        (void)snprintf(generation, sizeof generation, "  generation %" PRIu32, progress->generation);
    if (*progress->waiting_for)
        (void)snprintf(waiting, sizeof waiting, "  waits for Slurm: %s", progress->waiting_for);
    (void)snprintf(buffer, size, "%" PRIu64 "/%" PRIu64 "  %.1f points/s%s%s%s", progress->finished, progress->points,
                   progress->points_per_s, generation, failed, waiting);
}

/* Prints progress where there is no terminal: a line for each tenth of the points, and one when Slurm's reason to wait
 * changes. */
static void print_progress(struct display *display, const struct cnnvp_sweep_progress *progress, const char *text)
{
    const uint64_t points = progress->points ? progress->points : 1;
    char left[32] = "-";
    if (progress->finished * 10 / points <= display->printed &&
        strcmp(progress->waiting_for, display->waiting_for) == 0)
        return;
    display->printed = progress->finished * 10 / points;
    memcpy(display->waiting_for, progress->waiting_for, sizeof display->waiting_for);
    if (progress->points_per_s > 0)
        (void)cli_duration_text(left, (double)(progress->points - progress->finished) / progress->points_per_s);
    (void)fprintf(stderr, "%s  ETA %s\n", text, left);
    (void)fflush(stderr);
}

static void show(void *context, const struct cnnvp_sweep_progress *progress)
{
    struct display *display = context;
    const uint64_t found = progress->found, points = progress->points > found ? progress->points - found : 1;
    char text[240];
    describe(progress, text, sizeof text);
    if (progress->others && !display->said_others) {
        cli_progress_clear(&display->line);
        cli_message("%s: %" PRIu64
                    " points are of another build of cnnvp and are not used; they run anew where this sweep "
                    "has them",
                    display->results, progress->others);
        display->said_others = 1;
    }
    /* Reported once until it ends. */
    if (*progress->slow && !display->said_slow) {
        cli_progress_clear(&display->line);
        cli_message("still under way, for much longer than any other: %s", progress->slow);
    }
    display->said_slow = *progress->slow != '\0';
    if (display->line.on)
        cli_progress_show(&display->line, (double)(progress->finished - found) / (double)points, text);
    else
        print_progress(display, progress, text);
}

/* ---- the command ---- */

static void on_signal(int number)
{
    (void)number;
    cnnvp_sweep_interrupt();
}

static cnnvp_result print_results(cnnvp_sweep *sweep, const struct cnnvp_options *options,
                                  const struct cnnvp_sweep_progress *done)
{
    CNNVP_FREED char *table = NULL;
    cnnvp_result result = CNNVP_DONE;
    if (!options->quiet && done->allowed && done->allowed < done->combinations)
        (void)printf("the constraints allow %" PRIu64 " of %" PRIu64 " combinations\n", done->allowed,
                     done->combinations);
    if (!options->quiet)
        (void)printf("%" PRIu64 " points: %" PRIu64 " ok, %" PRIu64 " failed; %" PRIu64 " were in %s already\n",
                     done->finished, done->finished - done->failed, done->failed, done->found, results_of(options));
    if (options->pareto)
        result = cnnvp_sweep_front(sweep, &table, &cli_error);
    if (table != NULL)
        (void)fputs(table, stdout);
    if (result == CNNVP_DONE && options->export != NULL)
        result = cnnvp_sweep_export(sweep, options->export, &cli_error);
    return cli_report(result);
}

/* Prints the first reason of each kind of failure, then the total number of failed points. */
static cnnvp_result report_failures(cnnvp_sweep *sweep, const struct cnnvp_options *options,
                                    const struct cnnvp_sweep_progress *done)
{
    CNNVP_FREED char *text = NULL;
    if (done->failed == 0)
        return CNNVP_DONE;
    CNNVP_TRY(cli_report(cnnvp_sweep_failures(sweep, &text, &cli_error)));
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        cli_message("%s", line);
    if (done->failed == done->finished)
        cli_message("all %" PRIu64 " points failed; their errors are in %s", done->failed, results_of(options));
    else
        cli_message("%" PRIu64 " of %" PRIu64 " points failed; their errors are in %s", done->failed, done->finished,
                    results_of(options));
    return CNNVP_FAILED;
}

/* Refuses outputs that the sweep reads: its specification, networks, arrays or platform. */
static cnnvp_result check_files(struct cli_options *chosen, const cnnvp_sweep *sweep)
{
    CNNVP_TRY(cli_check_command_files(chosen));
    const char *file;
    for (size_t i = 0; (file = cnnvp_sweep_input(sweep, i)) != NULL; ++i) {
        const struct cli_named_file pair[] = {
            {"", file, 0}, {"--output", results_of(&chosen->all), 1}, {"--export", chosen->all.export, 1}};
        CNNVP_TRY(cli_check_files(pair, sizeof pair / sizeof *pair));
    }
    return CNNVP_DONE;
}

/* Refuses a front of a sweep without objectives before its points run. */
static cnnvp_result check_front(cnnvp_sweep *sweep)
{
    CNNVP_FREED char *table = NULL;
    return cnnvp_sweep_front(sweep, &table, &cli_error) == CNNVP_BAD_INPUT ? cli_report(CNNVP_BAD_INPUT) : CNNVP_DONE;
}

static cnnvp_result run_sweep(struct cli_options *chosen)
{
    const struct cnnvp_options *all = &chosen->all;
    struct display display = {.results = results_of(all)};
    struct cnnvp_sweep_progress done = {.points = 0};
    const struct cnnvp_sweep_options options = {
        .struct_size = sizeof options,
        .results = results_of(all),
        .jobs = (uint32_t)all->jobs,
        .executor = (enum cnnvp_sweep_executor)all->executor,
        .seed = all->seed,
        .retry_failed = all->retry_failed,
        .progress = all->quiet ? NULL : show,
        .progress_context = &display,
    };
    cnnvp_sweep *sweep = NULL;
    cli_progress_begin(&display.line, all->quiet);
    CNNVP_TRY(cli_check_output("--export", all->export));
    cnnvp_result result = cli_report(cnnvp_sweep_new(chosen->file, &sweep, &cli_error));
    if (result == CNNVP_DONE)
        result = check_files(chosen, sweep);
    if (result == CNNVP_DONE && all->pareto)
        result = check_front(sweep);
    if (result == CNNVP_DONE) {
        result = cnnvp_sweep_run(sweep, &options, &done, &cli_error);
        cli_progress_end(&display.line);
        (void)cli_report(result);
    }
    if (result == CNNVP_DONE)
        result = print_results(sweep, all, &done);
    if (result == CNNVP_DONE)
        result = report_failures(sweep, all, &done);
    cnnvp_sweep_free(sweep);
    return result;
}

/* The internal command that a worker on a node of a cluster runs. */
static cnnvp_result run_task(const char *file)
{
    return cli_report(cnnvp_sweep_task(file, &cli_error));
}

static cnnvp_result run(struct cli_options *options)
{
    cli_handle(SIGINT, on_signal, (int)SA_RESETHAND);
    cli_handle(SIGTERM, on_signal, (int)SA_RESETHAND);
    cli_handle(SIGXFSZ, SIG_IGN, 0); /* the write fails instead, and is reported; workers inherit it */
    return run_sweep(options);
}

const struct cli_command cli_sweep = {
    .name = "sweep",
    .summary = "run many points, each with other parameters",
    .args_doc = "SPEC.yaml",
    .doc = "Runs a network, or a program for the core, with many combinations of parameters. A point that is in "
           "the database is not run again, so an interrupted sweep continues where it stopped."
           "\vSPEC.yaml has the keys command, network or program, platform, options, parameters, constraints, "
           "objectives and search (grid, {random: N} or {nsga2: {population: N, generations: N}}).",
    .what = "sweep",
    .argument = "SPEC.yaml",
    .run = run,
    .task = run_task};
