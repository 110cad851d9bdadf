/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp diff: what changed between two runs. */

#include "cli.h"
#include "cnnvp_explore.h"

struct diff_options {
    struct cli_options options;
    const char *files[2];
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct diff_options *options = state->input;
    if (key == ARGP_KEY_END && state->arg_num < 2)
        cli_usage(state, "which runs? A.json and B.json are expected");
    if (key != ARGP_KEY_ARG)
        return cli_parse_option(key, arg, state);
    if (state->arg_num >= 2)
        cli_usage(state, "two files are expected, not also %s", arg);
    options->files[state->arg_num] = arg;
    return 0;
}

static int command(int argc, char **argv)
{
    const struct argp argp = {
        .options = cli_option_table("diff"),
        .parser = parse,
        .args_doc = "A.json B.json",
        .doc =
            "Shows what changed from one run to another: what was set, totals and costs, the layers that changed most; "
            "with --all each number of the run, its layers and units. The files are those of `cnnvp run --stats`.",
    };
    struct diff_options chosen = {.files = {NULL}};
    const struct cnnvp_options *all = &chosen.options.all;
    struct cnnvp_error error = {""};
    CNNVP_FREED char *table = NULL;
    cnnvp_options_init(&chosen.options.all, "diff");
    cli_parse(&argp, "cnnvp diff", 0, argc, argv, &chosen);
    const struct cli_named_file files[] = {{"", chosen.files[0], 0}, {"", chosen.files[1], 0}, {"--csv", all->csv, 1}};
    cnnvp_result result = cli_check_files(files, sizeof files / sizeof *files);
    if (result != CNNVP_DONE)
        return (int)result;
    result = cnnvp_stats_diff(
        chosen.files[0], chosen.files[1], all->threshold / 100.0, all->all, all->csv, &table, NULL, &error);
    if (table != NULL)
        cli_print_sections(table, stdout);
    return (int)cli_report(result, &error);
}

const struct cli_command cli_diff = {"diff", "show what changed between two runs", command};
