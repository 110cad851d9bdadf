/* SPDX-License-Identifier: Apache-2.0 */
/* One `cnnvp run` or `cnnvp train` with the words of its command line, as the program or inside of this process. */
#ifndef TEST_SOAK_RUN_H
#define TEST_SOAK_RUN_H

#include <jansson.h>
#include <stddef.h>

#include "cnnvp_network.h"

struct soak_run {
    int status;            /* as the program's exit status; negative: it could not be started */
    json_t *stats;         /* without wall_seconds; NULL: none */
    unsigned char *output; /* NULL: none was written */
    size_t output_size;
    char message[512]; /* the first line of standard error */
};

/* `words` begin with the program's name and end with NULL; they write stats.json and out.npy, if anything, or,
 * trainings, out.onnx and the file of --checkpoint. */
void soak_run_program(const char *program, char *const *words, struct soak_run *run);

/* The same through the C API: "run", the network, -q, -p, -s, --seed, --rounding, --images, --cpu host, --timing-only,
 * --trace, --schedule, --block, --block-order, --on-chip, --batch, --tune; --stats and -o are kept in memory. --memory
 * is of the soak alone: a third-party memory (soak_memory.h). */
void soak_run_library(char *const *words, struct soak_run *run);
/* "train", by cnnvp_train.h: -s and what it says of learning, --checkpoint and --resume with a state alone. */
void soak_train_library(char *const *words, struct soak_run *run);

void soak_run_clear(struct soak_run *run);

/* ---- shared ---- */

/* A platform with what each -s among the words says. */
CNNVP_MUST_USE cnnvp_result soak_configure(const char *preset, int cpu_host, char *const *words, cnnvp_config **config,
                                           struct cnnvp_error *error);
enum cnnvp_rounding soak_rounding(const char *name);
/* A file's bytes, to be given back with free(). NULL: none. */
void *soak_read_file(const char *file, size_t *size);
/* out.onnx, and the checkpoint after it, as the output. */
void soak_read_learned(const char *checkpoint, struct soak_run *run);

#endif
