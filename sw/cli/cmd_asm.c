/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp asm and cnnvp disasm: the accelerator's instruction set, as text and as 64-bit little-endian words. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cnnvp_asm.h"

/* Of a source or a binary; a program of the largest queue takes 8 MiB. */
static const size_t file_limit = (size_t)64 << 20;

struct asm_options {
    const char *input;
    const char *output;
    const char *wanted; /* what is missing if there is no input */
    int needs_output;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct asm_options *options = state->hook;
    switch (key) {
    case ARGP_KEY_INIT:
        (void)cli_parse_init(state);
        return 0;
    case 'o':
        options->output = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (options->input != NULL)
            cli_usage(state, "one file is expected, not also %s", arg);
        options->input = arg;
        return 0;
    case ARGP_KEY_END:
        if (options->input == NULL)
            cli_usage(state, "which file? %s is missing", options->wanted);
        if (options->needs_output && options->output == NULL)
            cli_usage(state, "-o FILE.bin is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static cnnvp_result check_files(const struct asm_options *options)
{
    const struct cli_named_file files[] = {{"", options->input, 0}, {"--output", options->output, 1}};
    return cli_check_files(files, sizeof files / sizeof *files);
}

static cnnvp_result write_words(const char *file, const uint64_t *words, size_t count)
{
    unsigned char *bytes = malloc(count ? 8 * count : 1);
    if (bytes == NULL) {
        cli_message("out of memory");
        return CNNVP_FAILED;
    }
    for (size_t i = 0; i < 8 * count; ++i)
        bytes[i] = (unsigned char)(words[i / 8] >> 8 * (i % 8));
    cnnvp_result result = cli_write_file(file, bytes, 8 * count);
    free(bytes);
    return result;
}

static int command_asm(int argc, char **argv)
{
    static const struct argp_option option_list[] = {
        {"output", 'o', "FILE.bin", 0, "Write the words to this file", 0}, {0}};
    const struct argp argp = {
        .options = option_list,
        .parser = parse,
        .args_doc = "FILE.s -o FILE.bin",
        .doc = "Assembles a program of the accelerator's instruction element; `cnnvp exec FILE.bin` runs it. "
               "`cnnvp models isa` explains the instructions."};
    struct asm_options options = {.wanted = "FILE.s", .needs_output = 1};
    cli_parse(&argp, "cnnvp asm", 0, argc, argv, &options);
    struct cnnvp_error error = {""};
    char *text = NULL;
    uint64_t *words = NULL;
    size_t size = 0, count = 0;
    cnnvp_result result = check_files(&options);
    if (result == CNNVP_DONE)
        result = cli_read_file(options.input, file_limit, &text, &size);
    if (result == CNNVP_DONE && strlen(text) != size)
        result = cli_bad("%s: has a zero byte; it is not a text", options.input);
    else if (result == CNNVP_DONE)
        result = cli_report(cnnvp_assemble(options.input, text, &words, &count, &error), &error);
    if (result == CNNVP_DONE)
        result = write_words(options.output, words, count);
    free(words);
    free(text);
    return (int)result;
}

static int command_disasm(int argc, char **argv)
{
    static const struct argp_option option_list[] = {
        {"output", 'o', "FILE.s", 0, "Write the text to this file (default: standard output)", 0}, {0}};
    const struct argp argp = {
        .options = option_list,
        .parser = parse,
        .args_doc = "FILE.bin",
        .doc = "Prints a program of the accelerator's instruction element as text that assembles to the same words."};
    struct asm_options options = {.wanted = "FILE.bin"};
    cli_parse(&argp, "cnnvp disasm", 0, argc, argv, &options);
    struct cnnvp_error error = {""};
    char *bytes = NULL, *text = NULL;
    size_t size = 0;
    cnnvp_result result = check_files(&options);
    if (result == CNNVP_DONE)
        result = cli_read_file(options.input, file_limit, &bytes, &size);
    if (result == CNNVP_DONE)
        result = cli_report(cnnvp_disassemble(options.input, (const uint8_t *)bytes, size, &text, &error), &error);
    if (result == CNNVP_DONE && options.output != NULL)
        result = cli_write_file(options.output, text, strlen(text));
    else if (result == CNNVP_DONE)
        (void)fputs(text, stdout);
    free(text);
    free(bytes);
    return (int)result;
}

const struct cli_command cli_asm = {"asm", "assemble a program for the instruction element", command_asm};
const struct cli_command cli_disasm = {"disasm", "print such a program as text", command_disasm};
