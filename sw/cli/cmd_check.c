/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp check: validates a platform and prints it resolved with its memory map, or shows on which unit each of a
 * network's operators runs. */
#include <limits.h>
#include <string.h>

#include "base.h"
#include "cli.h"

/* 1: the argument ends in .onnx or is the name of an installed network. */
static int is_network(const char *arg)
{
    char file[PATH_MAX];
    return cnnvp_before_ending(arg, ".onnx") != 0 ||
           (strpbrk(arg, "./") == NULL && cnnvp_network_find(arg, file, sizeof file, &cli_error) == CNNVP_DONE);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cli_options *options = state->input;
    if (key != ARGP_KEY_ARG)
        return cli_parse_option(key, arg, state);
    const int network = is_network(arg);
    const char **what = network ? &options->file : &options->all.platform;
    if (*what != NULL)
        cli_usage(state, "one %s is expected, not also %s", network ? "network" : "platform", arg);
    *what = arg;
    return 0;
}

/* Prints the map as comments, so that the whole output is YAML and can be used as a platform file. */
static void print_commented(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        (void)printf("# %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* Refuses what a run would refuse later: units that do not accept their parameters, and connections that networks
 * cannot use. `reason`: why networks cannot run, if it is a platform for other programs. */
static cnnvp_result try_out(const cnnvp_config *config, char reason[sizeof(struct cnnvp_error)])
{
    CNNVP_TRY(cli_report(cnnvp_platform_check(config, &cli_error)));
    const cnnvp_result result = cnnvp_network_check(config, &cli_error);
    if (result != CNNVP_FAILED)
        return cli_report(result);
    (void)snprintf(reason, sizeof cli_error, "%s", cli_error.text);
    return CNNVP_DONE;
}

static cnnvp_result print_platform(const cnnvp_config *config, const char *no_networks)
{
    CNNVP_FREED char *yaml = NULL;
    CNNVP_FREED char *map = NULL;
    if (cnnvp_config_text(config, &yaml, &map) != CNNVP_DONE)
        return cli_no_memory();
    (void)printf("%s\n", yaml);
    print_commented(map);
    if (*no_networks)
        (void)printf("# networks cannot run on it: %s\n", no_networks);
    return CNNVP_DONE;
}

/* Prints the operators of a network. A refused network still gets the part of the text that could be made. */
static cnnvp_result print_operators(const struct cli_options *options, const cnnvp_config *config)
{
    CNNVP_FREED char *text = NULL;
    struct cnnvp_network_options network = cnnvp_network_options_of(&options->all);
    network.timing_only = 1;
    network.images = 1;
    const cnnvp_result result = cnnvp_network_operators(options->file, config, &network, &text, &cli_error);
    if (text != NULL)
        (void)fputs(text, stdout);
    return cli_report(result);
}

/* Writes one form of the platform to `file`; NULL: not wanted. */
static cnnvp_result write_form(const cnnvp_config *config, const char *file,
                               cnnvp_result (*form)(const cnnvp_config *config, char **text))
{
    CNNVP_FREED char *text = NULL;
    if (file == NULL)
        return CNNVP_DONE;
    return form(config, &text) == CNNVP_DONE ? cli_write_file(file, text, strlen(text)) : cli_no_memory();
}

static cnnvp_result check(struct cli_options *options)
{
    char no_networks[sizeof(struct cnnvp_error)] = "";
    CNNVP_SCOPED(cnnvp_config_drop) cnnvp_config *config = NULL;
    CNNVP_TRY(cli_check_command_files(options));
    CNNVP_TRY(cli_configure(options, &config));
    if (options->file != NULL)
        return options->all.header == NULL && options->all.svd == NULL
                   ? print_operators(options, config)
                   : cli_bad("--%s is of a platform: use it without a network",
                             options->all.header != NULL ? "header" : "svd");
    if (options->all.shape.count != 0 || options->all.until.count != 0 || options->all.from.count != 0)
        return cli_bad("--shape, --from and --until are of a network: name one");
    CNNVP_TRY(try_out(config, no_networks));
    CNNVP_TRY(print_platform(config, no_networks));
    CNNVP_TRY(write_form(config, options->all.header, cnnvp_config_header));
    return write_form(config, options->all.svd, cnnvp_config_svd);
}

const struct cli_command cli_check = {
    .name = "check",
    .summary = "validate a platform and print it resolved; say where a network's operators run",
    .args_doc = "[PLATFORM.yaml|PRESET]\nNETWORK.onnx",
    .doc = "Checks a platform and prints its resolved configuration, which is a platform file again, and its "
           "memory map (default: nfu); or a network, and prints which of its operators run on which unit of the "
           "platform (-p), which are not supported, and why it would be refused."
           "\vIts units are made and asked whether they take their parameters, and connections that networks could "
           "not use are refused. Exit status: 0 nothing is wrong, 2 something is.",
    .parse = parse,
    .run = check};
