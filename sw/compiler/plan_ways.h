/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All ways to cut a layer are one list that does not depend on the buffers' sizes. A way has a place: for each buffer
 * the smallest power of two of a half that holds its tiles. The places are a lattice; a platform sees those up to its
 * own sizes. Of each place's ways a few are kept, by their bound (plan_cost.h).
 */
#ifndef CNNVP_COMPILER_PLAN_WAYS_H
#define CNNVP_COMPILER_PLAN_WAYS_H

#include "plan_cost.h"

#define CNNVP_PLAN_FINALISTS 4u

enum cnnvp_plan_known { CNNVP_PLAN_BOUND, CNNVP_PLAN_LEAST, CNNVP_PLAN_TIME };

struct cnnvp_plan_way {
    uint64_t bound; /* UINT64_MAX: there is none */
    struct cnnvp_plan_cut cut;
    /* Worked out when it is asked for: */
    enum cnnvp_plan_known known; /* what `time` is */
    struct cnnvp_plan_time time; /* of a core that is far ahead */
    uint64_t behind_ps;          /* of a core without a lead; 0: not known */
};

struct cnnvp_plan_place {
    int wanted; /* up to here there are ways with the edges that the engine wants (engine.h) */
    struct cnnvp_plan_way finalists[CNNVP_PLAN_FINALISTS]; /* by their bound */
};

struct cnnvp_plan_ways {
    uint32_t powers[3];        /* places of the input, weight and output buffer */
    int single;                /* 1: one place, which stands for the platform's own sizes: they are no powers of two */
    uint32_t tile_ky, tile_kx; /* of a pooling window that is swept in parts */
    struct cnnvp_plan_place places[]; /* [input][weight][output] */
};

/* Places up to the powers of two that halves of so many bytes hold; 0: not even the least. */
uint32_t cnnvp_plan_places(uint64_t bytes);

/* *ways: to be freed. The error names the layer, the buffer and the bytes. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_ways_of(const struct cnnvp_image_layer *layer, const char *name,
                                               const struct cnnvp_plan_limits *limits, struct cnnvp_plan_ways **ways,
                                               struct cnnvp_error *error);

#endif
