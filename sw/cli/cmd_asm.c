/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp asm and cnnvp disasm: convert the accelerator's programs between text and 64-bit little-endian words. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cnnvp_asm.h"

/* Limit for sources and binaries. A program that fills the largest queue takes 8 MiB. */
static const size_t file_limit = (size_t)64 << 20;

/* Finds the instructions that the platform's units add. Without a platform, both results stay NULL. */
static cnnvp_result configure(const struct cli_options *options, cnnvp_config **config,
                              const struct cnnvp_instruction ***custom)
{
    if (options->all.platform == NULL)
        return CNNVP_DONE;
    CNNVP_TRY(cli_configure(options, config));
    *custom = cnnvp_config_instructions(*config);
    return *custom != NULL ? CNNVP_DONE : CNNVP_FAILED;
}

static cnnvp_result assemble(struct cli_options *options)
{
    CNNVP_FREED char *text = NULL;
    CNNVP_FREED uint64_t *words = NULL;
    size_t size = 0, count = 0;
    CNNVP_SCOPED(cnnvp_config_drop) cnnvp_config *config = NULL;
    CNNVP_FREED const struct cnnvp_instruction **custom = NULL;
    CNNVP_TRY(cli_check_command_files(options));
    CNNVP_TRY(configure(options, &config, &custom));
    CNNVP_TRY(cli_read_file(options->file, file_limit, &text, &size));
    if (strlen(text) != size)
        return cli_bad("%s: has a zero byte; it is not a text", options->file);
    CNNVP_TRY(cli_report(cnnvp_assemble(options->file, text, custom, &words, &count, &cli_error)));
    return cli_write_file(cnnvp_option_last(&options->all.output), words, count * sizeof *words);
}

static cnnvp_result disassemble(struct cli_options *options)
{
    CNNVP_FREED char *bytes = NULL;
    CNNVP_FREED char *text = NULL;
    size_t size = 0;
    CNNVP_SCOPED(cnnvp_config_drop) cnnvp_config *config = NULL;
    CNNVP_FREED const struct cnnvp_instruction **custom = NULL;
    const char *output = cnnvp_option_last(&options->all.output);
    CNNVP_TRY(cli_check_command_files(options));
    CNNVP_TRY(configure(options, &config, &custom));
    CNNVP_TRY(cli_read_file(options->file, file_limit, &bytes, &size));
    CNNVP_TRY(cli_report(cnnvp_disassemble(options->file, (const uint8_t *)bytes, size, custom, &text, &cli_error)));
    if (output != NULL)
        return cli_write_file(output, text, strlen(text));
    (void)fputs(text, stdout);
    return CNNVP_DONE;
}

const struct cli_command cli_asm = {
    .name = "asm",
    .summary = "assemble a program for the instruction element",
    .args_doc = "FILE.s -o FILE.bin",
    .doc = "Assembles a program of the accelerator's instruction element; `cnnvp exec FILE.bin` runs it. "
           "`cnnvp models isa` explains the instructions.",
    .what = "file",
    .argument = "FILE.s",
    .run = assemble};

const struct cli_command cli_disasm = {
    .name = "disasm",
    .summary = "print such a program as text",
    .args_doc = "FILE.bin",
    .doc = "Prints a program of the accelerator's instruction element as text that assembles to the same words.",
    .what = "file",
    .argument = "FILE.bin",
    .run = disassemble};
