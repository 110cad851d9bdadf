/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp diff: what changed between two runs. */
#include <stdlib.h>

#include "cli.h"
#include "cnnvp_explore.h"

struct diff_options {
    const char *files[2];
    const char *csv;
    double threshold;
    int all;
};

enum { KEY_CSV = 0x200, KEY_THRESHOLD, KEY_ALL };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct diff_options *options = state->hook;
    switch (key) {
    case ARGP_KEY_INIT:
        (void)cli_parse_init(state);
        return 0;
    case KEY_CSV:
        options->csv = arg;
        return 0;
    case KEY_ALL:
        options->all = 1;
        return 0;
    case KEY_THRESHOLD:
        options->threshold = cli_real(state, "--threshold", arg, 0, 1, 1e6) / 100.0;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= 2)
            cli_usage(state, "two files are expected, not also %s", arg);
        options->files[state->arg_num] = arg;
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            cli_usage(state, "which runs? A.json and B.json are expected");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"all", KEY_ALL, NULL, 0, "Show every number that differs, not only the lines that matter first", 0},
        {"csv", KEY_CSV, "FILE.csv", 0, "Write every number of both runs, equal ones too", 0},
        {"threshold", KEY_THRESHOLD, "PERCENT", 0, "Leave out numbers that differ by less than this", 0},
        {0},
    };
    const struct argp_child children[] = {{&cli_style_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = options,
        .parser = parse,
        .children = children,
        .args_doc = "A.json B.json",
        .doc =
            "Shows what changed from one run to another: what was set, totals and costs, the layers that changed most; "
            "with --all each number of the run, its layers and units. The files are those of `cnnvp run --stats`.",
    };
    struct diff_options chosen = {.csv = NULL};
    struct cnnvp_error error = {""};
    char *table = NULL;
    cli_parse(&argp, "cnnvp diff", 0, argc, argv, &chosen);
    const struct cli_named_file files[] = {
        {"", chosen.files[0], 0}, {"", chosen.files[1], 0}, {"--csv", chosen.csv, 1}};
    cnnvp_result result = cli_check_files(files, sizeof files / sizeof *files);
    if (result != CNNVP_DONE)
        return (int)result;
    result = cnnvp_stats_diff(
        chosen.files[0], chosen.files[1], chosen.threshold, chosen.all, chosen.csv, &table, NULL, &error);
    if (table != NULL)
        cli_print_sections(table, stdout);
    free(table);
    return (int)cli_report(result, &error);
}

const struct cli_command cli_diff = {"diff", "show what changed between two runs", command};
