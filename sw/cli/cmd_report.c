/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp report: a page of a sweep or of a run. */
#include <stdio.h>

#include "cli.h"
#include "cnnvp_explore.h"

struct report_options {
    const char *source;
    const char *page;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct report_options *options = state->hook;
    switch (key) {
    case ARGP_KEY_INIT:
        (void)cli_parse_init(state);
        return 0;
    case 'o':
        options->page = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (options->source != NULL)
            cli_usage(state, "one database or folder is expected, not also %s", arg);
        options->source = arg;
        return 0;
    case ARGP_KEY_END:
        if (options->source == NULL)
            cli_usage(state, "a report of what? RESULTS.sqlite or RUN-FOLDER is missing");
        if (options->page == NULL)
            cli_usage(state, "where to? -o REPORT.html is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"output", 'o', "REPORT.html", 0, "The page; needs no network", 0},
        {0},
    };
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "RESULTS.sqlite|RUN-FOLDER",
        .doc = "Makes one page of a sweep's results, or of a run that was recorded by `cnnvp run --report FOLDER`.",
    };
    struct report_options chosen = {.source = NULL};
    struct cnnvp_error error = {""};
    cli_parse(&argp, "cnnvp report", 0, argc, argv, &chosen);
    char stats[4096], series[4096];
    (void)snprintf(stats, sizeof stats, "%s/stats.json", chosen.source);
    (void)snprintf(series, sizeof series, "%s/run.series", chosen.source);
    const struct cli_named_file files[] = {
        {"", chosen.source, 0}, {"", stats, 0}, {"", series, 0}, {"--output", chosen.page, 1}};
    cnnvp_result result = cli_check_files(files, sizeof files / sizeof *files);
    if (result != CNNVP_DONE)
        return (int)result;
    result = cnnvp_report(chosen.source, chosen.page, &error);
    return (int)cli_report(result, &error);
}

const struct cli_command cli_report_page = {"report", "a page of a sweep or of a run", command};
