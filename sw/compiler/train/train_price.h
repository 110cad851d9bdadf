/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pass of a layer takes with given tiles. The guest's own layer function runs on a machine that only notes what
 * it pushes; the units are asked what each instruction takes, as if it were alone. The price is the longest of what the
 * PE array, the multi-function module, the transfers and the core have to do; what the others do at most between two
 * commands of the busiest unit, which begins and ends the pass; and a little of all work. Nothing here knows how a unit
 * works, how instructions are issued, or in which order they are pushed.
 */
#ifndef CNNVP_COMPILER_TRAIN_PRICE_H
#define CNNVP_COMPILER_TRAIN_PRICE_H

#include "train_plan.h"

enum cnnvp_train_pass {
    CNNVP_TRAIN_PASS_FORWARD,
    CNNVP_TRAIN_PASS_ERROR,
    CNNVP_TRAIN_PASS_LEARN,
    CNNVP_TRAIN_PASS_POST,
    CNNVP_TRAIN_PASS_POST_BACK
};

struct cnnvp_train_pricer;

/* NULL: out of memory. The target must outlive it. */
struct cnnvp_train_pricer *cnnvp_train_pricer_new(const struct cnnvp_train_target *target,
                                                  const struct cnnvp_train_plan_options *options);
/* NULL is allowed. */
void cnnvp_train_pricer_free(struct cnnvp_train_pricer *pricer);

/* In ps, for `images` images; UINT64_MAX: `bound` or more, or a unit refuses. `layer` has shape, block and the pass's
 * tiles. first: its images come from the data set, from places of their own. */
uint64_t cnnvp_train_price(struct cnnvp_train_pricer *pricer, enum cnnvp_train_pass pass,
                           const struct cnnvp_train_layer *layer, int first, uint32_t images, uint64_t bound);

#endif
