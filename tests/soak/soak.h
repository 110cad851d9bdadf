/* SPDX-License-Identifier: Apache-2.0 */
/* Random networks and platforms; all of a pair follows from one number. */
#ifndef TEST_SOAK_H
#define TEST_SOAK_H

#include <stddef.h>
#include <stdint.h>

/* A number from 0 to below `limit`, and the next state. */
uint32_t soak_random(uint64_t *state, uint32_t limit);

/* Writes a random network that the importer takes. 0: done. */
int soak_write_network(uint64_t seed, const char *file);

/* Buffer sizes lie apart: what is larger than another has to be known. */
struct soak_platform {
    char options[1024]; /* of `cnnvp run`, without the sizes */
    uint32_t buffers[3]; /* input, weight, output: bytes */
};

void soak_platform(uint64_t seed, struct soak_platform *platform);

/* Shared by the soak and its workers. */
struct soak_counts {
    uint64_t pair; /* the one at work, or the next one */
    uint64_t checked, refused, failed;
    uint64_t slower; /* pairs in which larger buffers took longer, within the limit */
};

struct soak {
    char folder[64];
    const char *program; /* NULL: in this process */
    uint64_t seed;
    struct soak_counts *counts;
    struct soak_platform platform;
};

/* All of a pair's checks, in the soak's folder. What fails is printed with the command that shows it, and kept. */
void soak_check_pair(struct soak *soak);

/* Keeps the network of the pair at work, which has failed, and counts it. */
void soak_keep_pair(struct soak *soak);

#endif
