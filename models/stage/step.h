/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cycle-stepped depth of the blocks: single values move through a block's pipeline, clock by clock, and what the
 * block does to a value happens when that value leaves. Each block says in its own words what that is; the whole-tile
 * loops of the fast depth have no part in it. Shared by both depths: which buffers a tile needs, and that a tile's time
 * is that of its slowest block and of all pipelines.
 */
#ifndef CNNVP_STEP_H
#define CNNVP_STEP_H

#include "stage.h"

/* Value `index` of an image leaves. */
typedef void (*cnnvp_step_fn)(void *context, uint32_t image, uint64_t index);

struct cnnvp_step {
    uint32_t images; /* one to each set at a time */
    uint64_t values; /* of an image */
    uint32_t sets;
    uint32_t lanes;      /* values that a set takes at once */
    uint64_t interval;   /* clocks that taking them needs, 1 or more */
    uint64_t pipeline;   /* clocks from then to their leaving */
    cnnvp_step_fn leave; /* NULL: only time passes */
    void *context;
};

/* Clocks until the last value has left. Values leave in the order of clocks, sets, lanes. */
uint64_t cnnvp_step(const struct cnnvp_step *step);

/*
 * Cycles in which a block takes the tile's values, its pipeline apart: stepped where the tile is, else by the closed
 * form. `leave` is called where there is arithmetic to do. Shared: values that belong to no image, all sets take them.
 */
uint64_t cnnvp_stage_take(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                          const struct cnnvp_tile *tile, uint64_t values, uint64_t interval, cnnvp_step_fn leave,
                          void *context);
uint64_t cnnvp_stage_take_shared(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                                 const struct cnnvp_tile *tile, uint64_t values, uint64_t interval, cnnvp_step_fn leave,
                                 void *context);

/* True where a block computes a whole tile at once. */
static inline bool cnnvp_stage_computes_fast(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                                             const struct cnnvp_tile *tile)
{
    return cnnvp_stage_computes(stage, access) && tile->stepped == 0;
}

#endif
