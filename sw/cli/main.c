/* SPDX-License-Identifier: Apache-2.0 */
/* The `cnnvp` program: finds the command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "base.h"

static const struct cli_command *const commands[] = {
    &cli_run, &cli_train,  &cli_exec,  &cli_models, &cli_check,       &cli_compile,   &cli_memory,
    &cli_asm, &cli_disasm, &cli_sweep, &cli_diff,   &cli_report_page, &cli_new_guest, &cli_new_unit};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_version(FILE *stream, struct argp_state *state)
{
    (void)state;
    (void)fprintf(stream, "cnnvp %s\nbuild %s\nmodel ABI %u.%u\nSystemC %s\n", CNNVP_VERSION, cnnvp_build(),
                  CNNVP_ABI_MAJOR, CNNVP_ABI_MINOR, cnnvp_systemc_version());
}

/* The command and its arguments, as given to `cnnvp`. */
struct call {
    const struct cli_command *command;
    int argc;
    char **argv;
    char *help_argv[3]; /* arguments for `help COMMAND`, which means `COMMAND --help` */
};

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; ++i)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static void unknown_command(struct argp_state *state, const char *name)
{
    const char *names[COMMAND_COUNT + 2] = {NULL};
    char list[200] = "";
    for (size_t i = 0; i < COMMAND_COUNT; ++i) {
        names[i] = commands[i]->name;
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", names[i]);
    }
    names[COMMAND_COUNT] = "help";
    const char *meant = cnnvp_did_you_mean(name, names);
    if (meant != NULL)
        cli_usage(state, "there is no command \"%s\"; did you mean \"%s\"?", name, meant);
    else
        cli_usage(state, "there is no command \"%s\"; there are %s", name, list);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct call *call = state->input;
    static char help_option[] = "--help";
    switch (key) {
    case ARGP_KEY_ARG:
        if (strcmp(arg, "help") == 0 && (state->next == state->argc || strcmp(state->argv[state->next], "help") == 0))
            argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        if (strcmp(arg, "help") == 0 && (call->command = find_command(state->argv[state->next])) != NULL) {
            call->help_argv[1] = help_option;
            call->argv = call->help_argv;
            call->argc = 2;
            state->next = state->argc;
            return 0;
        }
        if (strcmp(arg, "help") == 0)
            unknown_command(state, state->argv[state->next]);
        call->command = find_command(arg);
        if (call->command == NULL)
            unknown_command(state, arg);
        call->argc = state->argc - state->next + 1;
        call->argv = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (call->command == NULL)
            argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The list of commands, for --help. Free with free(). */
static char *help_text(void)
{
    struct cnnvp_printed printed;
    FILE *stream = cnnvp_print_begin(&printed);
    if (stream == NULL)
        return NULL;
    (void)fputs("A SystemC virtual platform for CNN accelerators.\vCommands:\n", stream);
    for (size_t i = 0; i < COMMAND_COUNT; ++i)
        (void)fprintf(stream, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    (void)fputs(
        "\n`cnnvp COMMAND --help` explains one. Exit status: 0 done, 1 the run failed (exec: the program's own), 2 bad "
        "usage or bad input.",
        stream);
    return cnnvp_print_end(&printed);
}

/* If a standard stream is closed, the next opened file would get its descriptor, and messages would go there. /dev/null
 * takes its place, read-only so that writing fails as before. */
static void keep_standard_streams(void)
{
    for (int stream = 0; stream <= 2; ++stream)
        if (fcntl(stream, F_GETFD) < 0)
            (void)open("/dev/null", O_RDONLY);
}

/* Flushes standard output at exit, since a full disk may only show then. argp exits by itself after --help and
 * --version. */
static void flush_output(int status, void *context)
{
    (void)context;
    /* The reason of an earlier failure is unknown. */
    const char *reason = ferror(stdout) ? "an earlier write failed" : NULL;
    if (fflush(stdout) != 0)
        reason = strerror(errno);
    if (reason == NULL)
        return;
    if (!cli_reader_gone())
        cli_message("standard output cannot be written: %s", reason);
    _exit(status ? status : CNNVP_FAILED);
}

int main(int argc, char **argv)
{
    static char name[] = "cnnvp";
    keep_standard_streams();
    cli_name_crashes();
    (void)on_exit(flush_output, NULL);
    argp_err_exit_status = CNNVP_BAD_INPUT;
    argp_program_version_hook = print_version;
    if (argc > 0)
        argv[0] = name;
    struct call call = {.command = NULL};
    char *help = help_text();
    const struct argp argp = {.parser = parse, .args_doc = "COMMAND [ARG...]", .doc = help};
    cli_parse(&argp, name, ARGP_IN_ORDER, argc, argv, &call);
    free(help);
    call.argv[0] = name;
    return cli_run_command(call.command, call.argc, call.argv);
}
