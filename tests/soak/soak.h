/* SPDX-License-Identifier: Apache-2.0 */
/* Random networks and platforms; all of a pair follows from one number. */
#ifndef TEST_SOAK_H
#define TEST_SOAK_H

#include <stddef.h>
#include <stdint.h>

/* A number from 0 to below `limit`, and the next state. */
uint32_t soak_random(uint64_t *state, uint32_t limit);

/* What suits a platform. */
enum soak_kind {
    SOAK_ANY,
    SOAK_HEADS,     /* any, with several outputs */
    SOAK_CHAIN,     /* much of it can run depth first */
    SOAK_ODD,       /* windows with strides drop the last rows and columns of odd maps */
    SOAK_LEARNER,   /* the training engine takes it */
    SOAK_QUANTISED, /* whole numbers of 8 bits */
    SOAK_TRAINING   /* it learns from a data set */
};

/* Buffer sizes lie apart: what is larger than another has to be known. */
struct soak_platform {
    char options[2048];   /* of the command, without the sizes */
    size_t outputs;       /* of the network */
    uint32_t buffers[3];  /* input, weight, output: bytes */
    const char *names[3]; /* of these */
    int unified;          /* they are one, of these bytes together */
    enum soak_kind kind;
    int on_chip;
    int groups;       /* fused, or auto */
    int trains;       /* `cnnvp train` */
    uint32_t images;  /* of its data set */
    uint32_t halfway; /* the step after which it can be interrupted; 0: it has one */
    char memory[32];  /* a third-party one, as soak_memory.cpp has it; "": the platform's own */
    char fault[48];   /* the same with errors from some transaction on */
    char memory_options[256];
};

/* Write a random network that the importer takes, for a platform, which gets the number of its outputs. 0: done. */
int soak_write_network(uint64_t seed, struct soak_platform *platform, const char *file);

/* A training's data set, too: the files `images` and `labels`. */
int soak_write_more(uint64_t seed, struct soak_platform *platform, const char *file);

void soak_platform(uint64_t seed, struct soak_platform *platform);
void soak_more_platform(uint64_t seed, struct soak_platform *platform);

struct soak_counts {
    uint64_t pair; /* the one at work, or the next one */
    uint64_t checked, refused, failed;
};

struct soak {
    char folder[64];
    uint64_t seed;
    int more; /* --more: another numbering */
    struct soak_counts counts;
    struct soak_platform platform;
};

/* All of a pair's checks, in the soak's folder. What fails is printed with the command that shows it, and kept. */
void soak_check_pair(struct soak *soak);

#endif
