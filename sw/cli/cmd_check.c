/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp check: validate a platform, print it resolved, and its memory map. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cli_platform_options *options = state->hook;
    switch (key) {
    case ARGP_KEY_INIT:
        options = cli_parse_init(state);
        state->child_inputs[0] = options;
        return 0;
    case ARGP_KEY_ARG:
        if (options->platform)
            cli_usage(state, "one platform is due, not also %s", arg);
        options->platform = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The map as comments: all of the output is YAML that can be used as a platform file. */
static void print_commented(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        (void)printf("# %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static int command(int argc, char **argv)
{
    const struct argp_child children[] = {{&cli_config_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {
        .parser = parse,
        .args_doc = "[PLATFORM.yaml|PRESET]",
        .doc = "Checks a platform and prints its resolved configuration, which is a platform file again, and its "
               "memory map (default: nfu)."
               "\vExit status: 0 nothing is wrong, 2 something is.",
        .children = children,
    };
    struct cli_platform_options options = {.platform = NULL};
    cli_parse(&argp, "cnnvp check", 0, argc, argv, &options);
    cnnvp_config *config = NULL;
    char *yaml = NULL, *map = NULL;
    cnnvp_result result = cli_configure(&options, 0, &config);
    if (result == CNNVP_DONE) {
        result = cnnvp_config_text(config, &yaml, &map);
        if (result != CNNVP_DONE)
            cli_message("out of memory");
    }
    if (result == CNNVP_DONE) {
        (void)printf("%s\n", yaml);
        print_commented(map);
    }
    free(yaml);
    free(map);
    cnnvp_config_free(config);
    cli_platform_options_clear(&options);
    return (int)result;
}

const struct cli_command cli_check = {"check", "validate a platform, print it resolved", command};
