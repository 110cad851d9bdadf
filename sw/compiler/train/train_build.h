/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the training binary (train_binary.h): plans the tiles and the places in memory of everything that a training,
 * or an inference on the training engine, needs. */
#pragma once

#include "train_plan.h"

struct cnnvp_train_build_options {
    struct cnnvp_train_plan_options plan;
    uint32_t flags;          /* enum cnnvp_train_flag */
    uint32_t rounding;       /* enum cnnvp_round_mode */
    uint32_t error_rounding; /* as in struct cnnvp_train_binary */
    uint64_t seed;
    float rate, momentum, bn_momentum;
    uint64_t images;     /* images of the training's data set; 0: none */
    uint64_t evaluation; /* images of the evaluation, or of an inference */
    int labels;          /* 1: the evaluation has labels */
    uint64_t epochs;
};

struct cnnvp_train_build {
    struct cnnvp_train_binary header;
    struct cnnvp_train_layer *layers; /* one per node; freed by cnnvp_train_build_clear */
    size_t layer_count;
    uint64_t end;                    /* address after everything */
    struct cnnvp_place_info *places; /* places for traces; the graph owns the texts */
    size_t place_count;
};

CNNVP_MUST_USE cnnvp_result cnnvp_train_build(
    const struct cnnvp_graph *graph, const struct cnnvp_train_net *net, const struct cnnvp_train_target *target,
    const struct cnnvp_train_build_options *options, struct cnnvp_train_build *build, struct cnnvp_error *error);
void cnnvp_train_build_clear(struct cnnvp_train_build *build);

/* Writes header and layer table into the platform's memory. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_build_load(const struct cnnvp_train_build *build, cnnvp_platform *platform,
                                                   struct cnnvp_error *error);

/* Tells the platform which parts of header and layer table the guest software reads, and when. */
CNNVP_MUST_USE cnnvp_result cnnvp_train_build_hold(const struct cnnvp_train_build *build, cnnvp_platform *platform,
                                                   struct cnnvp_error *error);
