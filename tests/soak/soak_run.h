/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the command once, as a process: `cnnvp run` or `cnnvp train`. */
#ifndef TEST_SOAK_RUN_H
#define TEST_SOAK_RUN_H

#include <jansson.h>
#include <stddef.h>

/* Environment variable that names a third-party memory (soak_memory.cpp). */
#define SOAK_MEMORY "CNNVP_SOAK_MEMORY"

struct soak_run {
    int status;            /* exit status of the program; negative: it could not be started */
    json_t *stats;         /* without wall_seconds; NULL: none */
    unsigned char *output; /* all outputs; NULL: none */
    size_t output_size;
    char message[512]; /* beginning of standard error */
};

/* The command writes stats.json, and out0.npy, out1.npy ... or, for a training, out.onnx and the file of --checkpoint.
 * Splits `text` in place. `memory`: "" for the platform's own. */
void soak_run(char *text, const char *memory, struct soak_run *run);

void soak_run_clear(struct soak_run *run);

/* Compares a VCD trace with the statistics of its run. Returns the first difference; "": none. */
const char *soak_trace_integrals(const char *file, const json_t *stats);

#endif
