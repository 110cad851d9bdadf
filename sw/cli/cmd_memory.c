/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp memory: replays a trace of bursts through the model of the off-chip memory alone. */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "cnnvp_memory.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct cli_options *options = state->input;
    if (key == ARGP_KEY_END && options->all.stream && options->file == NULL)
        return cli_parse_option(key, arg, state);
    if (key == ARGP_KEY_END && options->all.stream)
        cli_usage(state, "--stream takes no trace and leaves no statistics");
    return cli_parse_words(key, arg, state);
}

static void print_result(const struct cnnvp_memory_result *result)
{
    const uint64_t bursts = result->reads + result->writes;
    const uint64_t at_once = result->forwarded + result->merged; /* without access to the part */
    (void)printf("bursts             %" PRIu64 " (%" PRIu64 " reads, %" PRIu64 " writes)\n", bursts, result->reads,
                 result->writes);
    (void)printf("time               %.3f us, %" PRIu64 " memory clocks\n", (double)result->time_ps / 1e6,
                 result->clocks);
    (void)printf("bandwidth          %.3f GB/s", result->bytes_per_s / 1e9);
    if (at_once)
        (void)printf(", %.3f of it on the data buses",
                     result->bytes_per_s / 1e9 * (double)(bursts - at_once) / (double)bursts);
    (void)putchar('\n');
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

static cnnvp_result replay(const struct cli_options *options, const cnnvp_config *config)
{
    const struct cnnvp_memory_options memory = {
        .struct_size = sizeof memory,
        .outstanding = options->all.outstanding ? (uint32_t)options->all.outstanding : 32,
        .trace = options->all.trace,
        .untimed = options->all.untimed};
    struct cnnvp_memory_result result;
    CNNVP_FREED char *json = NULL;
    CNNVP_TRY(cli_report(cnnvp_memory_replay(
        config, options->file, &memory, &result, options->all.stats != NULL ? &json : NULL, &cli_error)));
    if (options->all.stats != NULL)
        CNNVP_TRY(cli_write_file(options->all.stats, json, strlen(json)));
    print_result(&result);
    return CNNVP_DONE;
}

static cnnvp_result stream(const struct cli_options *options, const cnnvp_config *config)
{
    struct cnnvp_memory_streams parts[64];
    size_t count;
    CNNVP_TRY(
        cli_report(cnnvp_memory_stream(config, options->all.outstanding ? (uint32_t)options->all.outstanding : 1024,
                                       parts, sizeof parts / sizeof *parts, &count, &cli_error)));
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

static cnnvp_result run(struct cli_options *options)
{
    CNNVP_SCOPED(cnnvp_config_drop) cnnvp_config *config = NULL;
    CNNVP_TRY(cli_check_command_files(options));
    CNNVP_TRY(cli_configure(options, &config));
    return options->all.stream ? stream(options, config) : replay(options, config);
}

const struct cli_command cli_memory = {
    .name = "memory",
    .summary = "replay a trace of bursts through the off-chip memory",
    .args_doc = "TRACE.txt\n--stream",
    .doc =
        "Replays a trace of bursts through the off-chip memory alone and prints bandwidth and latency."
        "\vThe trace has a line `R ADDRESS` or `W ADDRESS` for each burst of 64 bytes, decimal or 0x...; empty "
        "lines and comments after # are ignored. Bursts are sent in order, each as soon as the "
        "controllers take it. A burst with a time in ps after its address, as --memory-trace of a run writes "
        "it, is sent at that time; a line `Z TIME` is a reset, and a line `E TIME` ends such a trace: what a run had "
        "counted by then. `cnnvp models dram` lists the memory's parameters, such as -s dram.preset=ddr4-3200. Latency "
        "is from when the "
        "controller takes a read to its last data. The port before the controllers (port_bytes, arbiter, shares) "
        "is not replayed. Addresses beyond the parts' capacity begin again at 0.",
    .what = "trace",
    .argument = "TRACE.txt",
    .parse = parse,
    .run = run};
