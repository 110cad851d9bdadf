/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the cnnvp command as a user would and collects its results. */
#ifndef TEST_CLI_H
#define TEST_CLI_H

#include <jansson.h>
#include <stddef.h>

struct cli_file {
    unsigned char *data;
    size_t size;
};

struct cli_run {
    int status; /* exit status, 128 + n for signal n */
    char *out;  /* standard output and standard error, zero-terminated */
    char *err;
    json_t *stats;          /* NULL if none was written */
    struct cli_file output; /* file of option -o */
    struct cli_file trace;
};

/* Runs `cnnvp` with a space-separated command line (no quoting) in a new folder, with a time limit. The words @stats,
 * @output, @trace.pftrace and @trace.vcd stand for files in that folder, @name for other files there; $net and $data
 * for the folders of networks and test data. Fails the test if the command cannot be started. */
struct cli_run cli_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Runs "COMMAND MORE". Fails the test unless it exits with 0 and has written statistics. */
struct cli_run cli_run_ok(const char *command, const char *more);
void cli_free(struct cli_run *run);

/* Writes a file into the folder of the next cli_run, which finds it as @name. */
void cli_write(const char *name, const void *data, size_t size);

/* A copy of the statistics without members that may differ: wall_seconds, and those named (space-separated, may be
 * ""). */
json_t *cli_comparable(const json_t *stats, const char *without);
/* Fails the test if a and b differ, and prints the differences. */
void cli_assert_same_stats(const json_t *a, const json_t *b, const char *without);
void cli_assert_same_file(const struct cli_file *a, const struct cli_file *b, const char *what);

/* The value at a path such as "total.accel_cycles" or "layers.0.stall_cycles.bias"; fails the test if there is none. */
long long cli_number(const json_t *stats, const char *path);
double cli_real(const json_t *stats, const char *path);

#endif
