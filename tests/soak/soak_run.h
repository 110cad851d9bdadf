/* SPDX-License-Identifier: Apache-2.0 */
/* One `cnnvp run` with the words of its command line, as the program or inside of this process. */
#ifndef TEST_SOAK_RUN_H
#define TEST_SOAK_RUN_H

#include <jansson.h>
#include <stddef.h>

struct soak_run {
    int status;            /* as the program's exit status; negative: it could not be started */
    json_t *stats;         /* without wall_seconds; NULL: none */
    unsigned char *output; /* NULL: none was written */
    size_t output_size;
    char message[512]; /* the first line of standard error */
};

/* `words` begin with the program's name and end with NULL; they write stats.json and out.npy, if anything. */
void soak_run_program(const char *program, char *const *words, struct soak_run *run);

/* The same through cnnvp.h: "run", the network, -q, -p, -s, --seed, --rounding, --images, --cpu host, --timing-only,
 * --trace, --schedule, --block, --block-order, --on-chip; --stats and -o are kept in memory. */
void soak_run_library(char *const *words, struct soak_run *run);

void soak_run_clear(struct soak_run *run);

#endif
