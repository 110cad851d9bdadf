/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and argument parsing, shared by all commands. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>

static const char *command_name; /* for usage lines: "cnnvp run" */
static char **command_argv;

static void name_command(struct argp_state *state)
{
    state->name = (char *)(uintptr_t)command_name;
}

static void write_message(const char *format, va_list args)
{
    (void)fflush(stdout);
    (void)fputs("cnnvp: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
}

void cli_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_message(format, args);
    va_end(args);
}

cnnvp_result cli_bad(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_message(format, args);
    va_end(args);
    return CNNVP_BAD_INPUT;
}

cnnvp_result cli_no_memory(void)
{
    cli_message("out of memory");
    return CNNVP_FAILED;
}

void cli_usage(struct argp_state *state, const char *format, ...)
{
    va_list args;
    name_command(state);
    va_start(args, format);
    write_message(format, args);
    va_end(args);
    argp_state_help(state, stderr, ARGP_HELP_SEE | ARGP_HELP_EXIT_ERR);
    exit(CNNVP_BAD_INPUT);
}

struct cnnvp_error cli_error;

cnnvp_result cli_report(cnnvp_result result)
{
    if (result != CNNVP_DONE)
        cli_message("%s", cli_error.text);
    return result;
}

static const struct argp_option help_options[] = {
    {"help", '?', NULL, 0, "Print this help", -1},
    {NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1},
    {"usage", 'u', NULL, OPTION_HIDDEN, NULL, -1},
    {"version", 'V', NULL, 0, "Print the versions of cnnvp, the model ABI and SystemC", -1},
    {0},
};

/* Replaces argp's own --help, which would not name the command: it takes the name from argv[0], and getopt prints that
 * in its messages. */
static error_t parse_help(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    name_command(state);
    switch (key) {
    case '?':
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    case 'u':
        argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
        return 0;
    case 'V':
        argp_program_version_hook(stdout, state);
        exit(CNNVP_DONE);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_root(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = state->input;
        state->argv = command_argv;
    }
    return ARGP_ERR_UNKNOWN;
}

void cli_parse(const struct argp *argp, const char *command, unsigned flags, int argc, char **argv, void *input)
{
    static const struct argp help = {.options = help_options, .parser = parse_help};
    const struct argp_child children[] = {{argp, 0, NULL, 0}, {&help, 0, NULL, -1}, {0}};
    const struct argp root = {.parser = parse_root, .children = children};
    command_name = command;
    command_argv = argv;
    /* For an option that getopt refuses, argp prints a hint at --help with the name from argv[0]. If a parser has
     * replaced its argv, it uses the program's short name instead, which is set to the command here. */
    program_invocation_short_name = (char *)(uintptr_t)command;
    char *other[] = {argc > 0 ? argv[0] : NULL, NULL};
    (void)argp_parse(&root, argc, other, flags | ARGP_NO_HELP, NULL, input);
}
