/* SPDX-License-Identifier: Apache-2.0 */
/* One `cnnvp run` or `cnnvp train`: a process of the command. */
#ifndef TEST_SOAK_RUN_H
#define TEST_SOAK_RUN_H

#include <jansson.h>
#include <stddef.h>

/* Of the environment: a third-party memory (soak_memory.cpp). */
#define SOAK_MEMORY "CNNVP_SOAK_MEMORY"

struct soak_run {
    int status;            /* the program's exit status; negative: it could not be started */
    json_t *stats;         /* without wall_seconds; NULL: none */
    unsigned char *output; /* all that was written; NULL: nothing */
    size_t output_size;
    char message[512]; /* the beginning of standard error */
};

/* What the command writes are stats.json and out0.npy, out1.npy and so on or, of a training, out.onnx and the file of
 * --checkpoint. `text` loses its spaces. `memory`: "" for the platform's own. */
void soak_run(char *text, const char *memory, struct soak_run *run);

void soak_run_clear(struct soak_run *run);

/* What of a trace (VCD) is not as the statistics of its run say; "": nothing. */
const char *soak_trace_integrals(const char *file, const json_t *stats);

#endif
