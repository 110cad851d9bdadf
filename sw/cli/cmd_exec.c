/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp exec: runs an RV32 bare-metal program on the platform's core, or a program of the instruction element. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cnnvp_asm.h"

struct program {
    const struct cli_options *options;
    cnnvp_config *config;
    cnnvp_platform *platform;
    char *words; /* program of the instruction element; NULL: it is an ELF file */
    size_t words_size;
};

/* Limit of a file with instruction words. The largest queue holds 8 MiB. */
static const size_t words_limit = (size_t)64 << 20;

/* The exit status for the program's exit code. A non-zero code whose low byte is 0 becomes 1, since 0 means success. */
static cnnvp_result exit_status(int code)
{
    return (cnnvp_result)(code && (code & 0xff) == 0 ? 1 : code & 0xff);
}

/* Reads a program of the instruction element, as `cnnvp asm` writes it, and checks each word. */
static cnnvp_result read_words(struct program *program)
{
    const char *file = program->options->file, *suffix = strrchr(file, '.');
    CNNVP_FREED char *text = NULL;
    if (suffix == NULL || strcmp(suffix, ".bin") != 0)
        return CNNVP_DONE;
    CNNVP_TRY(cli_read_file(file, words_limit, &program->words, &program->words_size));
    if (strncmp(program->words, "\177ELF", 4) == 0) {
        free(program->words);
        program->words = NULL;
        return CNNVP_DONE;
    }
    CNNVP_FREED const struct cnnvp_instruction **custom = cnnvp_config_instructions(program->config);
    if (custom == NULL)
        return CNNVP_FAILED;
    CNNVP_TRY(cli_report(
        cnnvp_disassemble(file, (const uint8_t *)program->words, program->words_size, custom, &text, &cli_error)));
    if (program->options->word_count > 1)
        return cli_bad("%s: a program of the instruction element takes no arguments, such as %s", file,
                       program->options->words[1]);
    return CNNVP_DONE;
}

static cnnvp_result load(const struct program *program)
{
    const struct cli_options *options = program->options;
    if (program->words != NULL)
        return cli_report(cnnvp_load_words(
            program->platform, program->config, (const uint8_t *)program->words, program->words_size, &cli_error));
    /* The loader adds the program's name as its first argument. */
    return cli_report(cnnvp_platform_load_elf(
        program->platform, options->file, (int)options->word_count - 1, options->words + 1, &cli_error));
}

/* Prints the tables of `cnnvp run` if the program has named its layers. For instruction words, which print nothing, it
 * prints the totals. Otherwise the console belongs to the program. */
static cnnvp_result show(const struct program *program, const char *json)
{
    json_t *stats = json_loads(json, 0, NULL);
    const int named = json_array_size(json_object_get(stats, "layers")) > 0;
    json_decref(stats);
    if (named)
        CNNVP_TRY(cli_print_layers(json, stdout));
    return named || program->words != NULL ? cli_print_totals(json, program->options->all.verbose, stdout) : CNNVP_DONE;
}

static cnnvp_result execute(const struct program *program)
{
    const struct cli_options *options = program->options;
    struct cnnvp_run_result end = {.end = CNNVP_END_EXIT};
    const struct cnnvp_work_info work = {.struct_size = sizeof work, .command = "exec", .seed = options->all.seed};
    CNNVP_TRY(load(program));
    if (cnnvp_platform_describe_work(program->platform, &work) != CNNVP_DONE)
        return CNNVP_FAILED;
    const cnnvp_result ran = cnnvp_platform_run(program->platform, &end);
    const int ended = end.end == CNNVP_END_EXIT;
    if (!ended)
        cli_report_end(&end);
    CNNVP_FREED char *json = NULL;
    cnnvp_result result =
        cli_write_statistics(options, cnnvp_statistics_with(program->platform, !ended, "", NULL, &json), &json);
    if (result == CNNVP_DONE && ended && !options->all.quiet)
        result = show(program, json);
    if (result == CNNVP_DONE && !options->all.quiet)
        cli_print_profile(program->platform, stdout);
    if (!ended || result != CNNVP_DONE)
        return CNNVP_FAILED;
    return ran == CNNVP_DONE ? CNNVP_DONE : exit_status(end.exit_code ? end.exit_code : CNNVP_FAILED);
}

static cnnvp_result prepare(struct cli_options *options, struct program *program)
{
    CNNVP_TRY(cli_check_command_files(options));
    CNNVP_TRY(cli_configure(options, &program->config));
    CNNVP_TRY(read_words(program));
    const struct cnnvp_platform_options platform = cli_platform_options_of(options);
    return cli_report(cnnvp_platform_new(program->config, &platform, &program->platform, &cli_error));
}

static cnnvp_result run(struct cli_options *options)
{
    struct program program = {.options = options};
    cli_catch_signals();
    cnnvp_result result = prepare(options, &program);
    if (result == CNNVP_DONE)
        result = execute(&program);
    result = cli_close_trace(program.platform, result);
    result = cli_report_results(options, program.platform, result);
    cnnvp_platform_free(program.platform);
    cnnvp_config_free(program.config);
    free(program.words);
    return result;
}

const struct cli_command cli_exec = {
    .name = "exec",
    .summary = "run an RV32 program on the platform's core",
    .args_doc = "PROGRAM.elf [ARG...]\nPROGRAM.bin",
    .doc = "Runs an RV32 bare-metal program on the platform's core. RAM begins at 0x80000000; UART and semihosting "
           "go to the terminal. Where the program names its layers, their table follows as of `cnnvp run`. Or runs "
           "a program of the instruction element, as `cnnvp asm` writes it: the element reads its words from "
           "memory until it halts or there are no more; memory after them is free for its data."
           "\vArguments of the program that begin with - come after --. The program ends by writing `tohost` (1 "
           "is success, otherwise value >> 1 is the exit status) or by a semihosting exit. Exit status: the "
           "program's own, 1 if it did not end by itself, 2 for bad usage or input.",
    .what = "program",
    .argument = "PROGRAM.elf or PROGRAM.bin",
    .most = SIZE_MAX,
    .run = run};
