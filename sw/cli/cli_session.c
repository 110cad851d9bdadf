/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of a platform: signals, reports of how a run ended, statistics. */
#include "cli.h"

#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
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

/* The run has not ended in time, so probably a unit does not return. */
static void on_alarm(int number)
{
    (void)number;
    if (cli_name_running(" does not return from "))
        cli_say("; a second signal ends the program at once\n");
}

void cli_handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

void cli_catch_signals(void)
{
    /* The handlers are reset, so that a second signal ends the program at once. SIGPIPE keeps its handler: it may
     * arrive many times. */
    cli_handle(SIGINT, on_signal, (int)SA_RESETHAND);
    cli_handle(SIGTERM, on_signal, (int)SA_RESETHAND);
    cli_handle(SIGPIPE, on_signal, 0);
    cli_handle(SIGALRM, on_alarm, SA_RESTART);
    /* The write fails instead, and its error is reported. */
    cli_handle(SIGXFSZ, SIG_IGN, 0);
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        cli_handle(SIGHUP, on_signal, (int)SA_RESETHAND);
}

int cli_was_interrupted(void)
{
    return interrupted != 0;
}

int cli_reader_gone(void)
{
    return interrupted == SIGPIPE;
}

struct cnnvp_platform_options cli_platform_options_of(const struct cli_options *options)
{
    struct cnnvp_platform_options all = cnnvp_platform_options_of(&options->all);
    all.series = options->report_series;
    return all;
}

cnnvp_result cli_write_statistics(const struct cli_options *options, cnnvp_result made, char *const *json)
{
    if (made != CNNVP_DONE) {
        cli_message("the statistics could not be made");
        return CNNVP_FAILED;
    }
    const cnnvp_result result =
        options->all.stats != NULL ? cli_write_file(options->all.stats, *json, strlen(*json)) : CNNVP_DONE;
    return result == CNNVP_DONE && options->report_stats != NULL
               ? cli_write_file(options->report_stats, *json, strlen(*json))
               : result;
}

cnnvp_result cli_close_trace(cnnvp_platform *platform, cnnvp_result result)
{
    if (platform == NULL || cli_report(cnnvp_platform_close_trace(platform, &cli_error)) == CNNVP_DONE)
        return result;
    return result != CNNVP_DONE ? result : CNNVP_FAILED;
}

cnnvp_result cli_report_results(const struct cli_options *options, const cnnvp_platform *platform, cnnvp_result result)
{
    struct cnnvp_results_check results;
    if (platform == NULL || !options->all.check_results || cnnvp_platform_results(platform, &results) != CNNVP_DONE)
        return result;
    if (results.wrong != 0)
        cli_message("--check-results: %" PRIu64 " of %" PRIu64 " commands are wrong", results.wrong, results.compared);
    else if (results.compared == 0 && result == CNNVP_DONE)
        cli_message("--check-results: no command was compared%s%s",
                    results.without != 0 ? "; without a reference: " : "", results.kinds);
    if (!options->all.quiet && results.compared != 0) {
        (void)printf("%-20s  %" PRIu64 " commands compared, %" PRIu64 " wrong", "results", results.compared,
                     results.wrong);
        (void)printf("%s%s\n", results.without != 0 ? "; not compared, without a reference: " : "", results.kinds);
    }
    return results.wrong != 0 && result == CNNVP_DONE ? CNNVP_FAILED : result;
}

void cli_report_end(const struct cnnvp_run_result *result)
{
    char time[32];
    cli_message("%s at %s of simulated time%s%s", cnnvp_end_text(result->end),
                cli_time_text(time, (double)result->time_ps), *result->reason ? ": " : "", result->reason);
}
