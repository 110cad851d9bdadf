/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp report: a page of a sweep, of a run, or of several runs side by side. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cnnvp_explore.h"

enum { MAX_SOURCES = 64 };

struct report_options {
    struct cli_options options;
    const char *sources[MAX_SOURCES];
    size_t count;
};

/* What the page of results could be called: without folders before it, its ending, a slash after it. */
static const char *page_of(const char *source, char name[256])
{
    size_t end = strlen(source);
    while (end > 1 && source[end - 1] == '/')
        --end;
    size_t begin = end;
    while (begin > 0 && source[begin - 1] != '/')
        --begin;
    (void)snprintf(name, 256, "%.*s", (int)(end - begin < 200 ? end - begin : 200), source + begin);
    char *ending = strstr(name, ".sqlite");
    if (ending != NULL && ending != name)
        *ending = '\0';
    return *name != '\0' && *name != '.' ? name : "report";
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct report_options *options = state->input;
    char name[256];
    if (key == ARGP_KEY_END && options->count == 0)
        cli_usage(state, "which results? RESULTS.sqlite or RUN-FOLDER is missing");
    if (key == ARGP_KEY_END && options->options.all.output.count == 0)
        cli_usage(state, "which page? -o REPORT.html is missing: cnnvp report %s -o %s.html", options->sources[0],
                  page_of(options->sources[0], name));
    if (key != ARGP_KEY_ARG)
        return cli_parse_option(key, arg, state);
    if (options->count == MAX_SOURCES)
        cli_usage(state, "at most %d runs fit on one page", MAX_SOURCES);
    options->sources[options->count++] = arg;
    return 0;
}

/* The page may not be what it is made of. */
static cnnvp_result check_files(const struct report_options *chosen, const char *page)
{
    for (size_t i = 0; i < chosen->count; ++i) {
        char stats[4096], series[4096];
        (void)snprintf(stats, sizeof stats, "%s/stats.json", chosen->sources[i]);
        (void)snprintf(series, sizeof series, "%s/run.series", chosen->sources[i]);
        const struct cli_named_file files[] = {
            {"", chosen->sources[i], 0}, {"", stats, 0}, {"", series, 0}, {"--output", page, 1}};
        CNNVP_TRY(cli_check_files(files, sizeof files / sizeof *files));
    }
    return CNNVP_DONE;
}

static void watch(void *context, double share)
{
    cli_progress_show(context, share, "points read");
}

static int command(int argc, char **argv)
{
    const struct argp argp = {
        .options = cli_option_table("report"),
        .parser = parse,
        .args_doc = "RESULTS.sqlite|RUN-FOLDER...",
        .doc = "Makes one page of a sweep's results, of a run that was recorded by `cnnvp run --report FOLDER`, or of "
               "several such runs side by side. Runs of a sweep's points that were recorded in RESULTS.sqlite.runs/KEY "
               "get pages in REPORT.html.runs, which the sweep's page links.",
    };
    struct report_options chosen = {.count = 0};
    struct cnnvp_error error = {""};
    cnnvp_options_init(&chosen.options.all, "report");
    cli_parse(&argp, "cnnvp report", 0, argc, argv, &chosen);
    const char *page = cnnvp_option_last(&chosen.options.all.output);
    const int quiet = chosen.options.all.quiet;
    cli_options_clear(&chosen.options);
    cnnvp_result result = check_files(&chosen, page);
    if (result != CNNVP_DONE)
        return (int)result;
    struct cli_progress progress;
    cli_progress_begin(&progress, quiet);
    result = chosen.count == 1 ? cnnvp_report(chosen.sources[0], page, watch, &progress, &error)
                               : cnnvp_report_runs(chosen.sources, chosen.count, page, &error);
    cli_progress_end(&progress);
    if (result == CNNVP_DONE && !quiet)
        (void)printf("%s is written; open it in any browser, such as: xdg-open %s\n", page, page);
    return (int)cli_report(result, &error);
}

const struct cli_command cli_report_page = {"report", "make a page of a sweep, of a run, or of several runs", command};
