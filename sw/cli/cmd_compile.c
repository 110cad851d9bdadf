/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp compile: makes a network's binary for a core outside the platform. */
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "cli.h"

/* Derives the names of the map and header from that of the binary. */
static cnnvp_result name_files(const char *binary, char **map, char **header)
{
    const char *dot = strrchr(binary, '.'), *slash = strrchr(binary, '/');
    const size_t length = dot != NULL && (slash == NULL || dot > slash + 1) ? (size_t)(dot - binary) : strlen(binary);
    *map = cnnvp_text_printf("%.*s.map", (int)length, binary);
    *header = cnnvp_text_printf("%.*s.h", (int)length, binary);
    return *map != NULL && *header != NULL ? CNNVP_DONE : cli_no_memory();
}

static void forget(struct cnnvp_network_image *image)
{
    free(image->binary);
    free(image->map);
    free(image->header);
}

static cnnvp_result compile(struct cli_options *options)
{
    CNNVP_SCOPED(cnnvp_run_clear) struct cnnvp_run run = {.file = options->file, .options = &options->all};
    const char *binary = cnnvp_option_last(&options->all.output);
    CNNVP_FREED char *map = NULL;
    CNNVP_FREED char *header = NULL;
    CNNVP_SCOPED(cnnvp_config_drop) cnnvp_config *config = NULL;
    CNNVP_SCOPED(forget) struct cnnvp_network_image image = {NULL, 0, NULL, NULL};
    CNNVP_TRY(cli_check_command_files(options));
    CNNVP_TRY(name_files(binary, &map, &header));
    const struct cli_named_file files[] = {
        {"", options->file, 0}, {"--output", binary, 1}, {"--output", map, 1}, {"--output", header, 1}};
    CNNVP_TRY(cli_check_files(files, sizeof files / sizeof *files));
    CNNVP_TRY(cli_configure(options, &config));
    CNNVP_TRY(cli_report(cnnvp_run_plan(&run, config, &cli_error)));
    CNNVP_TRY(cli_report(cnnvp_network_make_image(run.network, binary, &image, &cli_error)));
    CNNVP_TRY(cli_write_file(binary, image.binary, image.size));
    CNNVP_TRY(cli_write_file(map, image.map, strlen(image.map)));
    return cli_write_file(header, image.header, strlen(image.header));
}

const struct cli_command cli_compile = {
    .name = "compile",
    .summary = "make a network's binary for a core of your own",
    .args_doc = "NETWORK -o NET.bin",
    .doc = "Compiles a network for an accelerator in somebody else's design (cnnvp::accelerator), whose core runs it "
           "by the runtime (share/cnnvp/guest/cnnvp_runtime.h)."
           "\vMemory from --base on is the network's: the binary, then zeros, among which inputs and outputs lie as "
           "the load map and the header say. Registers are where the platform (-p) has them; -s "
           "instruction.at=ADDRESS moves them. Exit status: 0 done, 2 bad usage or input.",
    .what = "network",
    .argument = "NETWORK",
    .run = compile};
