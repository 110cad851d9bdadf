/* SPDX-License-Identifier: Apache-2.0 */
/* Random networks and platforms. One number determines everything about a pair. */
#ifndef TEST_SOAK_H
#define TEST_SOAK_H

#include <stddef.h>
#include <stdint.h>

/* A random number in 0 .. limit - 1; advances the state. */
uint32_t soak_random(uint64_t *state, uint32_t limit);

/* The kind of network that suits a platform. */
enum soak_kind {
    SOAK_ANY,
    SOAK_HEADS,     /* like SOAK_ANY, with several outputs */
    SOAK_CHAIN,     /* much of it can run depth first */
    SOAK_ODD,       /* odd maps, with strided windows that drop the last rows and columns */
    SOAK_LEARNER,   /* the training engine supports it */
    SOAK_QUANTISED, /* 8-bit integers */
    SOAK_TRAINING   /* trained on a data set */
};

/* Buffer sizes are separate from the other options, since a variant runs with larger ones. */
struct soak_platform {
    char options[2048];   /* command-line options, without the sizes */
    size_t outputs;       /* number of the network's outputs */
    uint32_t buffers[3];  /* input, weight, output: size in bytes */
    const char *names[3]; /* of these buffers */
    int unified;          /* 1: one memory with the sum of these sizes */
    enum soak_kind kind;
    int on_chip;
    int groups;       /* 1: schedule fused or auto */
    int trains;       /* 1: `cnnvp train` */
    uint32_t images;  /* number of images in its data set */
    uint32_t halfway; /* the step after which the training is interrupted; 0: it has only one step */
    char memory[32];  /* third-party memory, in the format of soak_memory.cpp; "": the platform's own memory */
    char fault[48];   /* the same with errors from some transaction on */
    char memory_options[256];
};

/* Writes a random network that the importer supports and sets the number of the platform's outputs. Returns 0 on
 * success. */
int soak_write_network(uint64_t seed, struct soak_platform *platform, const char *file);

/* The same for pairs with --more; a training also gets its data set, the files `images` and `labels`. */
int soak_write_more(uint64_t seed, struct soak_platform *platform, const char *file);

void soak_platform(uint64_t seed, struct soak_platform *platform);
void soak_more_platform(uint64_t seed, struct soak_platform *platform);

struct soak_counts {
    uint64_t pair; /* the current pair, or the next one */
    uint64_t checked, refused, failed;
};

struct soak {
    char folder[64];
    uint64_t seed;
    int more; /* 1: pairs of --more */
    struct soak_counts counts;
    struct soak_platform platform;
};

/* Runs all checks of a pair in the soak's folder. A failure is printed with the command that reproduces it, and the
 * network is kept. */
void soak_check_pair(struct soak *soak);

#endif
