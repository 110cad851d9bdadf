/* SPDX-License-Identifier: Apache-2.0 */
/* A training in progress: the type cnnvp_trainer of cnnvp_train.h. */
#pragma once

#include "command_options.h"
#include "cnnvp_train.h"
#include "train_build.h"
#include "train_image_order.h"

/* A network and its places in memory: what is needed to move weights, biases and batch norm between the graph and
 * memory. `narrow`: weights exist in block floating point only. */
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
    struct cnnvp_option_echo echo; /* in the graph's arena */
    struct cnnvp_train_build build;
    struct cnnvp_train_source source; /* refers to the members above */
    uint64_t images;                  /* images of the training's data set */
    uint64_t evaluation;
    struct cnnvp_train_image_order order;
    uint64_t hash;  /* hash of everything that a saved state depends on */
    uint8_t *state; /* state to start from; NULL: the graph's weights */
    int loaded;     /* 1: a platform's memory has had the learned values */
    /* Progress of the run. */
    int marked;    /* 1: the guest has written CNNVP_TRAIN_MARK */
    int evaluates; /* 1: an evaluation comes next */
    uint64_t next_step;
    uint64_t trained_images; /* images of this run, for its statistics */
    uint64_t evaluated_images;
};

/* train_options.c: the options that are not the defaults, for the statistics. */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_echo(const struct cnnvp_trainer_options *members, struct cnnvp_arena *arena,
                                               struct cnnvp_option_echo *echo, struct cnnvp_error *error);

/* BAD_INPUT: no platform has learned values of this training yet. */
CNNVP_MUST_USE cnnvp_result cnnvp_trainer_check_loaded(const struct cnnvp_trainer *trainer, struct cnnvp_error *error);

/* ---- train_memory.c: moves numbers between the graph and the platform's memory ---- */

CNNVP_MUST_USE cnnvp_result cnnvp_train_put_weights(const struct cnnvp_train_source *source, cnnvp_platform *platform,
                                                    struct cnnvp_error *error);

/* Source of images: `read` gives image number `index` as float values. cnnvp_train_put_images quantises all images into
 * mantissas and exponents. */
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

/* Calls the function for each memory region of a training's state, in a fixed order. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_each_region(
    const struct cnnvp_train_source *source, cnnvp_result (*function)(void *context, uint32_t address, size_t bytes),
    void *context);

/* Describes the network's layers and places to the platform. `work` has the rest; its images are those that are learned
 * or inferred, and `evaluated` more only pass forward. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_describe(const struct cnnvp_train_source *source, struct cnnvp_work_info work,
                                                 uint64_t evaluated, cnnvp_platform *platform,
                                                 struct cnnvp_error *error);
