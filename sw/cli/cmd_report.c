/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp report: makes a page of a sweep, of a run, or of several runs side by side. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cnnvp_explore.h"

enum { MAX_SOURCES = 64 };

/* Suggests a name for the page: that of the results without folders, ending or trailing slash. */
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
    const struct cli_options *options = state->input;
    char name[256];
    if (key == ARGP_KEY_END && options->file != NULL && options->all.output.count == 0)
        cli_usage(state, "which page? -o REPORT.html is missing: cnnvp report %s -o %s.html", options->file,
                  page_of(options->file, name));
    if (key == ARGP_KEY_ARG && options->word_count == MAX_SOURCES)
        cli_usage(state, "at most %d runs fit on one page", MAX_SOURCES);
    return cli_parse_words(key, arg, state);
}

/* Refuses a page that would overwrite one of its sources. */
static cnnvp_result check_files(const struct cli_options *options, const char *page)
{
    for (size_t i = 0; i < options->word_count; ++i) {
        char stats[4096], series[4096];
        (void)snprintf(stats, sizeof stats, "%s/stats.json", options->words[i]);
        (void)snprintf(series, sizeof series, "%s/run.series", options->words[i]);
        const struct cli_named_file files[] = {
            {"", options->words[i], 0}, {"", stats, 0}, {"", series, 0}, {"--output", page, 1}};
        CNNVP_TRY(cli_check_files(files, sizeof files / sizeof *files));
    }
    return CNNVP_DONE;
}

static void watch(void *context, double share)
{
    cli_progress_show(context, share, "points read");
}

static cnnvp_result report(struct cli_options *options)
{
    const char *page = cnnvp_option_last(&options->all.output);
    struct cli_progress progress;
    CNNVP_TRY(check_files(options, page));
    cli_progress_begin(&progress, options->all.quiet);
    const cnnvp_result result =
        options->word_count == 1
            ? cnnvp_report(options->file, page, watch, &progress, &cli_error)
            : cnnvp_report_runs((const char *const *)options->words, options->word_count, page, &cli_error);
    cli_progress_end(&progress);
    if (result == CNNVP_DONE && !options->all.quiet)
        (void)printf("%s is written; open it in any browser, such as: xdg-open %s\n", page, page);
    return cli_report(result);
}

const struct cli_command cli_report_page = {
    .name = "report",
    .summary = "make a page of a sweep, of a run, or of several runs",
    .args_doc = "RESULTS.sqlite|RUN-FOLDER...",
    .doc = "Makes one page of a sweep's results, of a run that was recorded by `cnnvp run --report FOLDER`, or of "
           "several such runs side by side. Runs of a sweep's points that were recorded in RESULTS.sqlite.runs/KEY "
           "get pages in REPORT.html.runs, which the sweep's page links.",
    .what = "results",
    .argument = "RESULTS.sqlite or RUN-FOLDER",
    .most = MAX_SOURCES,
    .parse = parse,
    .run = report};
