/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp exec: any RV32 bare-metal program on the platform's core, or a program of the instruction element. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cnnvp_asm.h"

struct exec_options {
    struct cli_options options;
    char **program; /* ELF file and its arguments; as many places as the command line has words */
    int program_count;
    char *words; /* of a program of the instruction element; NULL: the program is an ELF file */
    size_t words_size;
};

/* Of instruction words; the largest queue holds 8 MiB. */
static const size_t words_limit = (size_t)64 << 20;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct exec_options *options = state->input;
    if (key == ARGP_KEY_END && !options->program_count)
        cli_usage(state, "which program? PROGRAM.elf or PROGRAM.bin is missing");
    if (key != ARGP_KEY_ARG)
        return cli_parse_option(key, arg, state);
    options->program[options->program_count++] = arg;
    return 0;
}

/* The program's own code as exit status; one whose low byte would say "done" becomes 1. */
static int exit_status(int code)
{
    return code && (code & 0xff) == 0 ? 1 : code & 0xff;
}

/* A program of the instruction element, as `cnnvp asm` writes it, which is checked word by word. */
static cnnvp_result read_words(struct exec_options *options, const cnnvp_config *config)
{
    const char *file = options->program[0], *suffix = strrchr(file, '.');
    struct cnnvp_error error = {""};
    CNNVP_FREED char *text = NULL;
    if (suffix == NULL || strcmp(suffix, ".bin") != 0)
        return CNNVP_DONE;
    CNNVP_TRY(cli_read_file(file, words_limit, &options->words, &options->words_size));
    if (strncmp(options->words, "\177ELF", 4) == 0) {
        free(options->words);
        options->words = NULL;
        return CNNVP_DONE;
    }
    CNNVP_FREED const struct cnnvp_instruction **custom = cnnvp_config_instructions(config);
    if (custom == NULL)
        return CNNVP_FAILED;
    CNNVP_TRY(cli_report(
        cnnvp_disassemble(file, (const uint8_t *)options->words, options->words_size, custom, &text, &error), &error));
    if (options->program_count > 1)
        return cli_bad("%s: a program of the instruction element takes no arguments, such as %s", file,
                       options->program[1]);
    return CNNVP_DONE;
}

static cnnvp_result load(const struct exec_options *options, const cnnvp_config *config, cnnvp_platform *platform)
{
    struct cnnvp_error error = {""};
    if (options->words != NULL)
        return cli_report(
            cnnvp_load_words(platform, config, (const uint8_t *)options->words, options->words_size, &error), &error);
    /* The loader puts the program's name in front of its arguments itself. */
    return cli_report(cnnvp_platform_load_elf(
                          platform, options->program[0], options->program_count - 1, options->program + 1, &error),
                      &error);
}

/* What `run` shows, if the program has named its work or says nothing of its own; the console belongs to the program
 * otherwise. */
static cnnvp_result show(const struct exec_options *options, const char *json)
{
    json_t *stats = json_loads(json, 0, NULL);
    const int named = json_array_size(json_object_get(stats, "layers")) > 0;
    json_decref(stats);
    if (named)
        CNNVP_TRY(cli_print_layers(json, stdout));
    return named || options->words != NULL ? cli_print_totals(json, options->options.all.verbose, stdout) : CNNVP_DONE;
}

static int execute(const struct exec_options *options, const cnnvp_config *config, cnnvp_platform *platform)
{
    struct cnnvp_run_result end = {.end = CNNVP_END_EXIT};
    const struct cnnvp_work_info work = {
        .struct_size = sizeof work, .command = "exec", .seed = options->options.all.seed};
    cnnvp_result result = load(options, config, platform);
    if (result != CNNVP_DONE)
        return (int)result;
    if (cnnvp_platform_describe_work(platform, &work) != CNNVP_DONE)
        return CNNVP_FAILED;
    cnnvp_result ran = cnnvp_platform_run(platform, &end);
    int ended = end.end == CNNVP_END_EXIT;
    if (!ended)
        cli_report_end(&end);
    CNNVP_FREED char *json = NULL;
    result = cli_write_statistics(&options->options, cnnvp_statistics_with(platform, !ended, "", NULL, &json), &json);
    if (result == CNNVP_DONE && ended && !options->options.all.quiet)
        result = show(options, json);
    if (result == CNNVP_DONE && !options->options.all.quiet)
        cli_print_profile(platform, stdout);
    if (!ended || result != CNNVP_DONE)
        return CNNVP_FAILED;
    return ran == CNNVP_DONE ? CNNVP_DONE : exit_status(end.exit_code ? end.exit_code : CNNVP_FAILED);
}

static int command(int argc, char **argv)
{
    const struct argp argp = {
        .options = cli_option_table("exec"),
        .parser = parse,
        .args_doc = "PROGRAM.elf [ARG...]\nPROGRAM.bin",
        .doc = "Runs an RV32 bare-metal program on the platform's core. RAM begins at 0x80000000; UART and semihosting "
               "go to the terminal. Where the program names its layers, their table follows as of `cnnvp run`. Or runs "
               "a program of the instruction element, as `cnnvp asm` writes it: the element reads its words from "
               "memory until it halts or there are no more; memory after them is free for its data."
               "\vArguments of the program that begin with - come after --. The program ends by writing `tohost` (1 "
               "is success, otherwise value >> 1 is the exit status) or by a semihosting exit. Exit status: the "
               "program's own, 1 if it did not end by itself, 2 for bad usage or input.",
    };
    struct exec_options options = {.program = calloc((size_t)argc + 1, sizeof *options.program)};
    if (options.program == NULL) {
        cli_message("out of memory");
        return CNNVP_FAILED;
    }
    cnnvp_options_init(&options.options.all, "exec");
    cli_parse(&argp, "cnnvp exec", 0, argc, argv, &options);
    cli_catch_signals();
    cnnvp_config *config = NULL;
    cnnvp_platform *platform = NULL;
    struct cnnvp_error error = {""};
    options.options.file = options.program[0];
    int status = (int)cli_check_command_files(&options.options);
    if (status == CNNVP_DONE)
        status = (int)cli_configure(&options.options, &config);
    if (status == CNNVP_DONE)
        status = (int)read_words(&options, config);
    const struct cnnvp_platform_options platform_options = cli_platform_options_of(&options.options);
    if (status == CNNVP_DONE)
        status = (int)cli_report(cnnvp_platform_new(config, &platform_options, &platform, &error), &error);
    if (status == CNNVP_DONE)
        status = execute(&options, config, platform);
    status = cli_close_trace(platform, status);
    status = cli_report_results(&options.options, platform, status);
    cnnvp_platform_free(platform);
    cnnvp_config_free(config);
    cli_options_clear(&options.options);
    free(options.program);
    free(options.words);
    return status;
}

const struct cli_command cli_exec = {"exec", "run an RV32 program on the platform's core", command};
