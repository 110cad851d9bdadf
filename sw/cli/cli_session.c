/* SPDX-License-Identifier: Apache-2.0 */
/* Running a platform: signals, how a run ended, statistics. */
#include "cli.h"

#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The last signal, or 0. */
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    interrupted = number;
    cnnvp_platform_interrupt();
    (void)alarm(2);
}

/* The run should have ended by now, unless a unit does not return. */
static void on_alarm(int number)
{
    (void)number;
    if (cli_name_running(" does not return from "))
        cli_say("; a second signal ends the program at once\n");
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

void cli_catch_signals(void)
{
    /* Once: a second signal ends the program at once. Whoever stops reading standard output signals many times. */
    handle(SIGINT, on_signal, (int)SA_RESETHAND);
    handle(SIGTERM, on_signal, (int)SA_RESETHAND);
    handle(SIGPIPE, on_signal, 0);
    handle(SIGALRM, on_alarm, SA_RESTART);
    /* Writing fails in its place, and says so. */
    handle(SIGXFSZ, SIG_IGN, 0);
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        handle(SIGHUP, on_signal, (int)SA_RESETHAND);
}

int cli_was_interrupted(void)
{
    return interrupted != 0;
}

int cli_reader_gone(void)
{
    return interrupted == SIGPIPE;
}

cnnvp_result cli_platform_open(const struct cli_platform_options *options, const cnnvp_config *config, int timing_only,
                               cnnvp_platform **platform)
{
    return cli_platform_open_console(options, config, timing_only, NULL, NULL, platform);
}

cnnvp_result cli_platform_open_console(const struct cli_platform_options *options, const cnnvp_config *config,
                                       int timing_only, void (*console)(void *context, const void *data, size_t size),
                                       void *context, cnnvp_platform **platform)
{
    struct cnnvp_error error = {""};
    const struct cnnvp_platform_options platform_options = {
        .struct_size = sizeof platform_options,
        .timing_only = timing_only,
        .check_costs = options->check_costs,
        .check_results = options->check_results,
        .strict = options->strict,
        .verbosity = options->quiet         ? -1
                     : options->verbose > 2 ? 2
                                            : options->verbose,
        .trace = options->trace,
        .series = options->report_series,
        .memory_trace = options->memory_trace,
        .profile = options->profile,
        .gdb = options->gdb,
        .max_time_ps = options->max_time_ps,
        .console = console,
        .console_context = context,
    };
    return cli_report(cnnvp_platform_new(config, &platform_options, platform, &error), &error);
}

/* The statistics with "partial": true, and with values.NAME (`value` may be NULL). */
static char *complete_statistics(const char *json, int partial, const char *name, json_t *value)
{
    json_error_t error;
    json_t *root = json_loads(json, JSON_ALLOW_NUL, &error);
    json_t *values = root != NULL ? json_object_get(root, "values") : NULL;
    char *text = NULL;
    int failed = root == NULL || (partial && json_object_set_new(root, "partial", json_true()) != 0);
    if (!failed && value != NULL && values == NULL) {
        values = json_object();
        failed = json_object_set_new(root, "values", values) != 0;
    }
    failed = failed || (value != NULL && json_object_set(values, name, value) != 0);
    if (!failed)
        text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    return text;
}

cnnvp_result cli_statistics(const struct cli_platform_options *options, cnnvp_platform *platform, int partial,
                            char **json)
{
    return cli_statistics_with(options, platform, partial, "", NULL, json);
}

cnnvp_result cli_statistics_with(const struct cli_platform_options *options, cnnvp_platform *platform, int partial,
                                 const char *name, json_t *value, char **json)
{
    *json = NULL;
    cnnvp_result result = cnnvp_platform_stats(platform, json);
    if (result == CNNVP_DONE && (partial || value != NULL)) {
        char *text = complete_statistics(*json, partial, name, value);
        free(*json);
        *json = text;
        result = text != NULL ? CNNVP_DONE : CNNVP_FAILED;
    }
    if (result != CNNVP_DONE) {
        cli_message("the statistics could not be made");
        return CNNVP_FAILED;
    }
    if (options->stats != NULL)
        result = cli_write_file(options->stats, *json, strlen(*json));
    if (result == CNNVP_DONE && options->report_stats != NULL)
        result = cli_write_file(options->report_stats, *json, strlen(*json));
    return result;
}

int cli_close_trace(cnnvp_platform *platform, int result)
{
    struct cnnvp_error error = {""};
    if (platform == NULL || cli_report(cnnvp_platform_close_trace(platform, &error), &error) == CNNVP_DONE)
        return result;
    return result ? result : CNNVP_FAILED;
}

int cli_report_results(const struct cli_platform_options *options, const cnnvp_platform *platform, int result)
{
    struct cnnvp_results_check results;
    if (platform == NULL || !options->check_results || cnnvp_platform_results(platform, &results) != CNNVP_DONE)
        return result;
    if (results.wrong != 0)
        cli_message("--check-results: %" PRIu64 " of %" PRIu64 " commands are wrong", results.wrong, results.compared);
    else if (results.compared == 0 && result == CNNVP_DONE)
        cli_message("--check-results: no command was compared%s%s",
                    results.without != 0 ? "; without a reference: " : "", results.kinds);
    if (!options->quiet && results.compared != 0) {
        (void)printf("%-20s  %" PRIu64 " commands compared, %" PRIu64 " wrong", "results", results.compared,
                     results.wrong);
        (void)printf("%s%s\n", results.without != 0 ? "; not compared, without a reference: " : "", results.kinds);
    }
    return results.wrong != 0 && result == CNNVP_DONE ? CNNVP_FAILED : result;
}

void cli_report_end(const struct cnnvp_run_result *result)
{
    static const char *const ends[] = {
        "the guest ended with an error", "--max-time was reached",
        "the run makes no progress, and the guest has not ended it", "the run cannot continue", "interrupted"};
    char time[32];
    cli_message("%s at %s of simulated time%s%s", ends[result->end], cli_time_text(time, (double)result->time_ps),
                *result->reason ? ": " : "", result->reason);
}
