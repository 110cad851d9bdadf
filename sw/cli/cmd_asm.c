/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp asm and cnnvp disasm: the accelerator's instruction set, as text and as 64-bit little-endian words. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cnnvp_asm.h"

/* Of a source or a binary; a program of the largest queue takes 8 MiB. */
static const size_t file_limit = (size_t)64 << 20;

static cnnvp_result write_words(const char *file, const uint64_t *words, size_t count)
{
    CNNVP_FREED unsigned char *bytes = malloc(count ? 8 * count : 1);
    if (bytes == NULL) {
        cli_message("out of memory");
        return CNNVP_FAILED;
    }
    for (size_t i = 0; i < 8 * count; ++i)
        bytes[i] = (unsigned char)(words[i / 8] >> 8 * (i % 8));
    return cli_write_file(file, bytes, 8 * count);
}

/* The instructions that the platform's units bring; without a platform both stay NULL. */
static cnnvp_result configure(const struct cli_options *options, cnnvp_config **config,
                              const struct cnnvp_instruction ***custom)
{
    if (options->all.platform == NULL)
        return CNNVP_DONE;
    const cnnvp_result result = cli_configure(options, config);
    if (result != CNNVP_DONE)
        return result;
    *custom = cnnvp_config_instructions(*config);
    return *custom != NULL ? CNNVP_DONE : CNNVP_FAILED;
}

static int command_asm(int argc, char **argv)
{
    const struct argp argp = {
        .options = cli_option_table("asm"),
        .parser = cli_parse_file,
        .args_doc = "FILE.s -o FILE.bin",
        .doc = "Assembles a program of the accelerator's instruction element; `cnnvp exec FILE.bin` runs it. "
               "`cnnvp models isa` explains the instructions."};
    struct cli_options options = {.what = "file", .name = "FILE.s"};
    cnnvp_options_init(&options.all, "asm");
    cli_parse(&argp, "cnnvp asm", 0, argc, argv, &options);
    const char *output = cnnvp_option_last(&options.all.output);
    struct cnnvp_error error = {""};
    char *text = NULL;
    uint64_t *words = NULL;
    size_t size = 0, count = 0;
    cnnvp_config *config = NULL;
    const struct cnnvp_instruction **custom = NULL;
    cnnvp_result result = cli_check_command_files(&options);
    if (result == CNNVP_DONE)
        result = configure(&options, &config, &custom);
    if (result == CNNVP_DONE)
        result = cli_read_file(options.file, file_limit, &text, &size);
    if (result == CNNVP_DONE && strlen(text) != size)
        result = cli_bad("%s: has a zero byte; it is not a text", options.file);
    else if (result == CNNVP_DONE)
        result = cli_report(cnnvp_assemble(options.file, text, custom, &words, &count, &error), &error);
    if (result == CNNVP_DONE)
        result = write_words(output, words, count);
    free(words);
    free(custom);
    cnnvp_config_free(config);
    free(text);
    cli_options_clear(&options);
    return (int)result;
}

static int command_disasm(int argc, char **argv)
{
    const struct argp argp = {
        .options = cli_option_table("disasm"),
        .parser = cli_parse_file,
        .args_doc = "FILE.bin",
        .doc = "Prints a program of the accelerator's instruction element as text that assembles to the same words."};
    struct cli_options options = {.what = "file", .name = "FILE.bin"};
    cnnvp_options_init(&options.all, "disasm");
    cli_parse(&argp, "cnnvp disasm", 0, argc, argv, &options);
    const char *output = cnnvp_option_last(&options.all.output);
    struct cnnvp_error error = {""};
    char *bytes = NULL, *text = NULL;
    size_t size = 0;
    cnnvp_config *config = NULL;
    const struct cnnvp_instruction **custom = NULL;
    cnnvp_result result = cli_check_command_files(&options);
    if (result == CNNVP_DONE)
        result = configure(&options, &config, &custom);
    if (result == CNNVP_DONE)
        result = cli_read_file(options.file, file_limit, &bytes, &size);
    if (result == CNNVP_DONE)
        result =
            cli_report(cnnvp_disassemble(options.file, (const uint8_t *)bytes, size, custom, &text, &error), &error);
    if (result == CNNVP_DONE && output != NULL)
        result = cli_write_file(output, text, strlen(text));
    else if (result == CNNVP_DONE)
        (void)fputs(text, stdout);
    free(text);
    free(bytes);
    free(custom);
    cnnvp_config_free(config);
    cli_options_clear(&options);
    return (int)result;
}

const struct cli_command cli_asm = {"asm", "assemble a program for the instruction element", command_asm};
const struct cli_command cli_disasm = {"disasm", "print such a program as text", command_disasm};
