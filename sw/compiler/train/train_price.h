/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the time of a pass of a layer with given tiles. The guest's own layer function runs on a machine that only
 * records what it pushes; the units are asked how long each instruction takes on its own. The price has three parts:
 * the longest of the total work of the PE array, the multi-function module, the transfers and the core; the most work
 * of the other units between two commands of the busiest unit, including before its first and after its last command;
 * and a small part of all work. This file does not know how units work, how instructions are issued, or in which order
 * they are pushed.
 */
#pragma once

#include "train_plan.h"

enum cnnvp_train_pass {
    CNNVP_TRAIN_PASS_FORWARD,
    CNNVP_TRAIN_PASS_ERROR,
    CNNVP_TRAIN_PASS_LEARN,
    CNNVP_TRAIN_PASS_POST,
    CNNVP_TRAIN_PASS_POST_BACK
};

struct cnnvp_train_pricer;

/* Returns NULL if out of memory. The target must outlive the pricer. */
struct cnnvp_train_pricer *cnnvp_train_pricer_new(const struct cnnvp_train_target *target,
                                                  const struct cnnvp_train_plan_options *options);
/* NULL is allowed. */
void cnnvp_train_pricer_free(struct cnnvp_train_pricer *pricer);

/* Returns the price in ps for `images` images; UINT64_MAX if it reaches `bound`, or if a unit refuses an
 * instruction. `layer` has shape, block and the pass's tiles. `first`: its images come from the data set, each
 * from its own place. */
uint64_t cnnvp_train_price(struct cnnvp_train_pricer *pricer, enum cnnvp_train_pass pass,
                           const struct cnnvp_train_layer *layer, int first, uint32_t images, uint64_t bound);
