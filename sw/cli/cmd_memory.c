/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp memory: a trace of bursts through the model of the off-chip memory alone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cnnvp_memory.h"

enum { KEY_OUTSTANDING = 0x200, KEY_STATS, KEY_TRACE, KEY_UNTIMED, KEY_STREAM };

struct memory_options {
    struct cli_platform_options platform;
    const char *file;
    uint32_t outstanding;
    int untimed, stream;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct memory_options *options = state->hook;
    switch (key) {
    case ARGP_KEY_INIT:
        options = cli_parse_init(state);
        state->child_inputs[0] = &options->platform;
        return 0;
    case KEY_OUTSTANDING:
        options->outstanding = (uint32_t)cli_number(state, "--outstanding", arg, 1, 1024);
        return 0;
    case KEY_UNTIMED:
        options->untimed = 1;
        return 0;
    case KEY_STATS:
        options->platform.stats = arg;
        return 0;
    case KEY_TRACE:
        options->platform.trace = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (options->file != NULL)
            cli_usage(state, "one trace is expected, not also %s", arg);
        options->file = arg;
        return 0;
    case KEY_STREAM:
        options->stream = 1;
        return 0;
    case ARGP_KEY_END:
        if (options->file == NULL && !options->stream)
            cli_usage(state, "which trace? TRACE.txt is missing");
        if (options->stream && (options->file != NULL || options->untimed || options->platform.stats != NULL ||
                                options->platform.trace != NULL))
            cli_usage(state, "--stream takes no trace and leaves no statistics");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_result(const struct cnnvp_memory_result *result)
{
    (void)printf("bursts             %" PRIu64 " (%" PRIu64 " reads, %" PRIu64 " writes)\n",
                 result->reads + result->writes, result->reads, result->writes);
    (void)printf("time               %.3f us, %" PRIu64 " memory clocks\n", (double)result->time_ps / 1e6,
                 result->clocks);
    (void)printf("bandwidth          %.3f GB/s\n", result->bytes_per_s / 1e9);
    if (result->reads)
        (void)printf("mean read latency  %.1f ns\n", result->mean_read_latency_ps / 1e3);
    (void)printf("row hits           %" PRIu64 "\nrow misses         %" PRIu64 "\nrow conflicts      %" PRIu64 "\n",
                 result->row_hits, result->row_misses, result->row_conflicts);
    if (result->forwarded)
        (void)printf("forwarded reads    %" PRIu64 "\n", result->forwarded);
    if (result->merged)
        (void)printf("merged writes      %" PRIu64 "\n", result->merged);
    (void)printf("refreshes          %" PRIu64 "\nturnarounds        %" PRIu64 "\n", result->refreshes,
                 result->turnarounds);
}

static cnnvp_result replay(const struct memory_options *options, const cnnvp_config *config)
{
    const struct cnnvp_memory_options memory = {
        .struct_size = sizeof memory,
        .outstanding = options->outstanding ? options->outstanding : 32,
        .trace = options->platform.trace,
        .untimed = options->untimed};
    struct cnnvp_memory_result result;
    struct cnnvp_error error = {""};
    char *json = NULL;
    cnnvp_result status = cli_report(cnnvp_memory_replay(config, options->file, &memory, &result,
                                                         options->platform.stats != NULL ? &json : NULL, &error),
                                     &error);
    if (status == CNNVP_DONE && options->platform.stats != NULL)
        status = cli_write_file(options->platform.stats, json, strlen(json));
    if (status == CNNVP_DONE)
        print_result(&result);
    free(json);
    return status;
}

static cnnvp_result stream(const struct memory_options *options, const cnnvp_config *config)
{
    struct cnnvp_memory_streams parts[64];
    struct cnnvp_error error = {""};
    size_t count;
    const cnnvp_result result =
        cli_report(cnnvp_memory_stream(config, options->outstanding ? options->outstanding : 1024, parts,
                                       sizeof parts / sizeof *parts, &count, &error),
                   &error);
    if (result != CNNVP_DONE)
        return result;
    (void)printf("GB/s            %8s %12s %12s %12s %12s %12s\n", "peak", "reads", "writes", "mixed", "every 4 KiB",
                 "random");
    for (size_t i = 0; i < count; ++i) {
        (void)printf("%-14s  %8.2f", parts[i].preset, parts[i].peak / 1e9);
        for (size_t p = 0; p < CNNVP_MEMORY_PATTERNS; ++p)
            (void)printf(" %5.2f %4.0f %%", parts[i].bytes_per_s[p] / 1e9,
                         100.0 * parts[i].bytes_per_s[p] / parts[i].peak);
        (void)putchar('\n');
    }
    return CNNVP_DONE;
}

static int command(int argc, char **argv)
{
    static const struct argp_option option_list[] = {
        {"outstanding", KEY_OUTSTANDING, "N", 0, "Maximum number of reads in flight (default: 32; with --stream: 1024)",
         0},
        {"untimed", KEY_UNTIMED, NULL, 0,
         "Ignore times in the trace: send each burst as soon as the controllers take it", 0},
        {"stream", KEY_STREAM, NULL, 0,
         "No trace: what the part of dram.preset delivers beside its peak, or each part where that is not set: reads "
         "and "
         "writes one after the other, both mixed, reads every 4 KiB, at random",
         0},
        {"stats", KEY_STATS, "FILE.json", 0, "Write the statistics", 0},
        {"trace", KEY_TRACE, "FILE", 0, "Write bandwidth over time: .pftrace, .vcd or .fst", 0},
        {0}};
    const struct argp_child children[] = {{&cli_config_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = option_list,
        .parser = parse,
        .args_doc = "TRACE.txt\n--stream",
        .doc = "Replays a trace of bursts through the off-chip memory alone and prints bandwidth and latency."
               "\vThe trace has a line `R ADDRESS` or `W ADDRESS` for each burst of 64 bytes, decimal or 0x...; empty "
               "lines and comments after # are ignored. Bursts are sent in order, each as soon as the "
               "controllers take it. A burst with a time in ps after its address, as --memory-trace of a run writes "
               "it, is sent at that time; a line `E TIME` ends such a trace: what a run had counted by then. `cnnvp "
               "models dram` lists the memory's parameters, such as -s dram.preset=ddr4-3200. Latency is from when the "
               "controller takes a read to its last data. Addresses beyond the parts' capacity begin again at 0.",
        .children = children,
    };
    struct memory_options options = {.outstanding = 0};
    cli_parse(&argp, "cnnvp memory", 0, argc, argv, &options);
    cnnvp_config *config = NULL;
    const struct cli_named_file files[] = {
        {"", options.file, 0},
        {"--platform", options.platform.platform, 0},
        {"--stats", options.platform.stats, 1},
        {"--trace", options.platform.trace, 1}};
    cnnvp_result result = cli_check_files(files, sizeof files / sizeof *files);
    if (result == CNNVP_DONE)
        result = cli_configure(&options.platform, &config);
    if (result == CNNVP_DONE)
        result = options.stream ? stream(&options, config) : replay(&options, config);
    cnnvp_config_free(config);
    cli_platform_options_clear(&options.platform);
    return (int)result;
}

const struct cli_command cli_memory = {"memory", "replay a trace of bursts through the off-chip memory", command};
