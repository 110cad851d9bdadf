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

#endif
