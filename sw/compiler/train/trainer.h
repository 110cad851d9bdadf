/* SPDX-License-Identifier: Apache-2.0 */
/* A training on its way: what cnnvp_train.h calls cnnvp_trainer. */
#ifndef CNNVP_COMPILER_TRAINER_H
#define CNNVP_COMPILER_TRAINER_H

#include "cnnvp_train.h"
#include "train_build.h"
#include "train_image_order.h"

/* Weights, batch norm and biases of the graph, as a step leaves them. `wide` mantissas as the target says. */
struct cnnvp_train_source {
    const struct cnnvp_graph *graph;
    const struct cnnvp_train_net *net;
    const struct cnnvp_train_target *target;
    const struct cnnvp_train_build *build;
    int narrow;
};

struct cnnvp_trainer {
    char *file;
    struct cnnvp_graph graph;
    struct cnnvp_train_net net;
    struct cnnvp_train_target target;
    struct cnnvp_trainer_options options;
    struct cnnvp_train_build build;
    struct cnnvp_train_source source; /* of these */
    uint64_t images;                  /* of the training's data set */
    uint64_t evaluation;
    struct cnnvp_train_image_order order;
    uint64_t hash;  /* of all that a state is bound to */
    uint8_t *state; /* to begin with; NULL: weights of the graph */
    /* Where the run is. */
    int marked;    /* the guest has said that something is complete */
    int evaluates; /* what comes next is an evaluation */
    uint64_t next_step;
    uint64_t trained_images; /* of this run, for its statistics */
    uint64_t evaluated_images;
};

/* ---- train_memory.c: between the graph's numbers and the platform's memory ---- */

CNNVP_MUST_USE cnnvp_result cnnvp_train_put_weights(const struct cnnvp_train_source *source, cnnvp_platform *platform,
                                                    struct cnnvp_error *error);

/* Image number i as words of float, into the images' mantissas and exponents. `rounding`: enum cnnvp_round_mode. */
struct cnnvp_train_reader {
    void *context;
    void (*read)(void *context, uint64_t index, float *values);
    uint64_t images;
    uint32_t channels;
    uint64_t plane;
};
CNNVP_MUST_USE cnnvp_result cnnvp_train_put_images(
    const struct cnnvp_train_source *source, const struct cnnvp_train_images *images, uint32_t block,
    const struct cnnvp_train_reader *reader, cnnvp_platform *platform, struct cnnvp_error *error);

/* Regions that training goes on from, in a fixed order; calls the function for each. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_each_region(
    const struct cnnvp_train_source *source, cnnvp_result (*function)(void *context, uint32_t address, size_t bytes),
    void *context);

#endif
