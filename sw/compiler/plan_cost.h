/* SPDX-License-Identifier: Apache-2.0 */
/* What a way to cut a layer takes, roughly; and the shape of its slices, for plan.c and plan_cost.c. */
#ifndef CNNVP_COMPILER_PLAN_COST_H
#define CNNVP_COMPILER_PLAN_COST_H

#include "plan.h"

#define CNNVP_PLAN_WORD_BYTES 2u

struct cnnvp_plan_cost {
    uint64_t cycles;
    uint64_t bytes; /* moved, in bursts */
};

struct cnnvp_plan_cost cnnvp_plan_cost_of(const struct cnnvp_image_layer *layer,
                                          const struct cnnvp_plan_limits *limits);
/* Cycles of the unit that does the work, in so many spatial tiles. */
uint64_t cnnvp_plan_compute_cycles(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits,
                                   uint32_t tiles);
/* The order of preference: traffic counts a little where calculation hides it, since it costs energy. */
uint64_t cnnvp_plan_preference(const struct cnnvp_plan_cost *cost);

/* ---- shapes (plan.c) ---- */

int cnnvp_plan_has_weights(const struct cnnvp_image_layer *layer);
/* Input and output channels are one: what a group gives depends on as many input channels. */
int cnnvp_plan_is_channelwise(const struct cnnvp_image_layer *layer);
uint64_t cnnvp_plan_input_rows(const struct cnnvp_image_layer *layer, uint32_t rows);
uint64_t cnnvp_plan_input_columns(const struct cnnvp_image_layer *layer, uint32_t columns);
/* Of the largest blob. */
uint64_t cnnvp_plan_blob_words(const struct cnnvp_image_layer *layer);

#endif
