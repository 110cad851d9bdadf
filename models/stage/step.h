/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cycle-stepped depth of the blocks: single values move through a block's pipeline, clock by clock. Each block has
 * its own stages, which say what happens to a value in one clock and what it carries to the next; the whole-tile loops
 * of the fast depth have no part in it. `pipeline` registers lie between the first stage and the last: with as many as
 * there are stages but one, each stage has a clock of its own, with more values only wait between them, with fewer
 * stages share a clock. Words of buffers cross as values reach them. Shared by both depths: which buffers a tile needs,
 * and that a tile's time is that of its slowest block and of all pipelines.
 */
#ifndef CNNVP_STEP_H
#define CNNVP_STEP_H

#include "stage.h"

/* What a value carries from stage to stage. */
struct cnnvp_step_value {
    float a, b, c;
    int32_t number;
    double wide;
};

/* One clock of a stage: value `index` of an image. */
typedef void (*cnnvp_step_fn)(void *context, uint32_t image, uint64_t index, struct cnnvp_step_value *value);

#define CNNVP_STAGES_MAX 4u

/* A block's pipeline, in the order in which values pass; count 0: only time passes. */
struct cnnvp_stages {
    uint32_t count;
    cnnvp_step_fn work[CNNVP_STAGES_MAX];
};

struct cnnvp_step {
    uint32_t images; /* one to each set at a time */
    uint64_t values; /* of an image */
    uint32_t sets;
    uint32_t lanes;    /* values that a set takes at once */
    uint64_t interval; /* clocks that taking them needs, 1 or more */
    uint64_t pipeline; /* registers from the entrance to where values leave */
    uint32_t stage_count;
    const cnnvp_step_fn *stages;
    void *context;
};

/* Clocks until the last value has left. In a clock a stage takes values in the order of sets and lanes.
 * CNNVP_E_NOMEM: nothing has happened. */
CNNVP_MUST_USE int cnnvp_step(const struct cnnvp_step *step, uint64_t *clocks);

/*
 * Cycles in which a block takes the tile's values, its pipeline apart: stepped where the tile is, else by the closed
 * form. Stages work where there is arithmetic to do.
 */
CNNVP_MUST_USE int cnnvp_stage_take(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                                    const struct cnnvp_tile *tile, uint64_t values, uint64_t interval,
                                    const struct cnnvp_stages *stages, void *context, uint64_t *cycles);

/* Words of a piece that cross, and cycles over which the block spreads them. CNNVP_E_NOMEM: nothing has happened. */
CNNVP_MUST_USE int cnnvp_stage_cross(const struct cnnvp_access *access, const struct cnnvp_stage_piece *piece,
                                     uint64_t *words, uint64_t *cycles);

/* True where a block computes a whole tile at once. */
static inline bool cnnvp_stage_computes_fast(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                                             const struct cnnvp_tile *tile)
{
    return cnnvp_stage_computes(stage, access) && tile->stepped == 0;
}

#endif
