/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact sums over a layer that is cut into tiles. Its steps and their slices come in few sorts: each dimension is a
 * whole tile's or the rest, and a slice is a step's first, last or neither. What one of a sort takes is worked out when
 * it is asked for first, for the sums and for the replay (plan_time.h).
 */
#ifndef CNNVP_COMPILER_PLAN_SUMS_H
#define CNNVP_COMPILER_PLAN_SUMS_H

#include "plan_cost.h"

#define CNNVP_PLAN_STEP_SORTS 8u
#define CNNVP_PLAN_SLICE_SORTS 16u

struct cnnvp_plan_slice {
    uint64_t cycles; /* 0: not worked out yet */
    uint64_t weights_ps;
};

struct cnnvp_plan_step {
    struct cnnvp_plan_extent extent; /* no channels: not worked out yet */
    uint64_t store_ps;
    struct cnnvp_plan_sweeps posts;
    struct cnnvp_plan_sweeps whole;                          /* calculation of a layer without weights */
    uint64_t second_ps;                                      /* the second operand of an addition */
    uint64_t input_ps[2];                                    /* tile_in channels, and fewer; 0: not worked out yet */
    struct cnnvp_plan_slice slices[CNNVP_PLAN_SLICE_SORTS]; /* of a layer with weights */
};

struct cnnvp_plan_sorts {
    const struct cnnvp_image_layer *layer;
    const struct cnnvp_plan_limits *limits;
    int one_by_one; /* 1: replays pass over no slices, as a judge of those that do */
    struct cnnvp_plan_step steps[CNNVP_PLAN_STEP_SORTS];
};

struct cnnvp_plan_step *cnnvp_plan_step_of(struct cnnvp_plan_sorts *sorts, const struct cnnvp_plan_extent *extent);

/* Loading so many channels of a step's input. */
uint64_t cnnvp_plan_input_ps(const struct cnnvp_plan_sorts *sorts, struct cnnvp_plan_step *step, uint32_t depth);

void cnnvp_plan_work_out(const struct cnnvp_plan_sorts *sorts, const struct cnnvp_engine_slice *slice,
                         struct cnnvp_plan_slice *known);

static inline const struct cnnvp_plan_slice *cnnvp_plan_slice_of(const struct cnnvp_plan_sorts *sorts,
                                                                 struct cnnvp_plan_step *step,
                                                                 const struct cnnvp_engine_slice *slice)
{
    const unsigned sort = (slice->in != sorts->layer->tile_in ? 8u : 0) |
                          (slice->out != sorts->layer->tile_out ? 4u : 0) | (slice->first ? 2u : 0) |
                          (slice->last ? 1u : 0);
    struct cnnvp_plan_slice *known = &step->slices[sort];
    if (known->cycles == 0)
        cnnvp_plan_work_out(sorts, slice, known);
    return known;
}

/* Calculation and loads of a step of a layer with weights that finds nothing on chip. */
struct cnnvp_plan_time cnnvp_plan_step_sums(const struct cnnvp_plan_sorts *sorts, struct cnnvp_plan_step *step);

/* Sums of the layer's calculation, transfers and the core's work. */
struct cnnvp_plan_time cnnvp_plan_sums(struct cnnvp_plan_sorts *sorts);

/* The same of a layer of which nothing else is asked. */
struct cnnvp_plan_time cnnvp_plan_totals(const struct cnnvp_image_layer *layer,
                                         const struct cnnvp_plan_limits *limits);

/* Less than this it cannot take. */
struct cnnvp_plan_time cnnvp_plan_least(struct cnnvp_plan_sorts *sorts);

#endif
