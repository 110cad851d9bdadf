/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the transfers and calculations of a layer take that is cut into tiles, one by one, and all together roughly.
 *
 * Calculation takes what the units' closed forms and the ports of the buffers say. A transfer takes its bursts at the
 * rate that one bank group sustains, or the bus where bursts of several rows are on their way, what rows of the same
 * bank wait for each other, and refreshes on average. The core takes a fixed time for each instruction that it pushes.
 * Not counted: which rows are open, when refreshes fall.
 */
#ifndef CNNVP_COMPILER_PLAN_COST_H
#define CNNVP_COMPILER_PLAN_COST_H

#include "plan.h"

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Results of a step: channels x rows x columns. */
struct cnnvp_plan_extent {
    uint32_t channels, rows, columns;
};

/* Instructions of the vector unit and their cycles in all. */
struct cnnvp_plan_sweeps {
    uint64_t instructions;
    uint64_t cycles;
};

/* Busy time of the memory, in ps: one operand of a step or a slice of it with so many channels; results; weights. */
uint64_t cnnvp_plan_operand_ps(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_timing *timing,
                               const struct cnnvp_image_tensor *operand, const struct cnnvp_plan_extent *extent,
                               uint32_t depth);
uint64_t cnnvp_plan_store_ps(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_timing *timing,
                             const struct cnnvp_plan_extent *extent);
uint64_t cnnvp_plan_weights_ps(const struct cnnvp_plan_timing *timing, uint64_t bytes);
/* Without buffers' ports: pieces of so many bytes, whose starts lie so many apart, read or written. */
uint64_t cnnvp_plan_pieces_ps(const struct cnnvp_plan_timing *timing, uint64_t pieces, uint64_t bytes,
                              uint64_t distance, int written);

/* What loads and stores that run beside each other for so long take more. */
uint64_t cnnvp_plan_shared_ps(const struct cnnvp_plan_timing *timing, uint64_t busy);

/* The step's calculation on the vector unit (layers without an array's), and what follows calculation. */
struct cnnvp_plan_sweeps cnnvp_plan_main_sweeps(const struct cnnvp_image_layer *layer,
                                                const struct cnnvp_plan_timing *timing,
                                                const struct cnnvp_plan_extent *extent);
struct cnnvp_plan_sweeps cnnvp_plan_post_sweeps(const struct cnnvp_image_layer *layer,
                                                const struct cnnvp_plan_timing *timing,
                                                const struct cnnvp_plan_extent *extent);

/* Bytes of the weights of a slice. */
uint64_t cnnvp_plan_slice_bytes(const struct cnnvp_image_layer *layer, uint32_t depth, uint32_t outputs, int last);

/* Cycles of the core for a step, without its instructions. */
uint64_t cnnvp_plan_step_core(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_timing *timing);

/* All of a layer, in ps. */
struct cnnvp_plan_time {
    uint64_t ps;         /* from its first instruction to its last result */
    uint64_t cost_ps;    /* of it, and of the core's work a part, which other layers need */
    uint64_t compute_ps; /* of the unit that calculates */
    uint64_t core_ps;    /* of the core that pushes its instructions, mostly beforehand */
    uint64_t memory_ps;  /* what all transfers would take one after the other */
    uint64_t loaded_ps;  /* of it, loads */
};

/* time->cost_ps from the rest, where the core is ahead by `lead` ps when the layer begins. */
void cnnvp_plan_weigh(struct cnnvp_plan_time *time, const struct cnnvp_plan_timing *timing, uint64_t lead);

/* What ways to cut a layer compete by: time, the core's work, which later layers may need, and traffic. */
uint64_t cnnvp_plan_preference(const struct cnnvp_plan_time *time);

/* What a plan is weighed by: so many images, and a part of the core's work, which costs host time, like time. */
#define CNNVP_PLAN_IMAGES 2u
#define CNNVP_PLAN_CORE_PRICE_PART 64u

/* What a way costs: cost_ps, and a little of traffic and of the core's work. */
uint64_t cnnvp_plan_price(const struct cnnvp_plan_time *time);

/* All roughly and quickly: ps is the longer of calculation and transfers (strict: both), and what nothing hides. */
struct cnnvp_plan_time cnnvp_plan_bound(const struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits);

#endif
