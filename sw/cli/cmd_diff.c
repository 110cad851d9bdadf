/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp diff: shows what changed between two runs. */

#include <stdio.h>

#include "cli.h"
#include "cnnvp_explore.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
    if (key == ARGP_KEY_END && state->arg_num < 2)
        cli_usage(state, "which runs? A.json and B.json, or folders of runs, are expected");
    if (key == ARGP_KEY_ARG && state->arg_num >= 2)
        cli_usage(state, "two files are expected, not also %s", arg);
    return cli_parse_words(key, arg, state);
}

static cnnvp_result diff(struct cli_options *options)
{
    const struct cnnvp_options *all = &options->all;
    const char *first = options->words[0], *second = options->words[1];
    CNNVP_FREED char *table = NULL;
    char in_first[4096], in_second[4096];
    (void)snprintf(in_first, sizeof in_first, "%s/stats.json", first);
    (void)snprintf(in_second, sizeof in_second, "%s/stats.json", second);
    const struct cli_named_file files[] = {
        {"", first, 0}, {"", second, 0}, {"", in_first, 0}, {"", in_second, 0}, {"--csv", all->csv, 1}};
    CNNVP_TRY(cli_check_files(files, sizeof files / sizeof *files));
    const cnnvp_result result =
        cnnvp_stats_diff(first, second, all->threshold / 100.0, all->all, all->csv, &table, NULL, &cli_error);
    if (table != NULL)
        cli_print_sections(table, stdout);
    return cli_report(result);
}

const struct cli_command cli_diff = {
    .name = "diff",
    .summary = "show what changed between two runs",
    .args_doc = "A.json|RUN-FOLDER B.json|RUN-FOLDER",
    .doc = "Shows what changed from one run to another: what was set, totals and costs, the layers that changed most; "
           "with --all each number of the run, its layers and units. The files are those of `cnnvp run --stats`, the "
           "folders those of `cnnvp run --report`.",
    .most = 2,
    .parse = parse,
    .run = diff};
