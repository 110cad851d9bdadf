/* SPDX-License-Identifier: Apache-2.0 */
/* Between plan_time.c and plan_pace.c: a layer's replay under way. */
#ifndef CNNVP_COMPILER_PLAN_REPLAY_H
#define CNNVP_COMPILER_PLAN_REPLAY_H

#include "plan_sums.h"
#include "timeline.h"

#define CNNVP_PLAN_WAITING 2u

struct cnnvp_plan_epilogue {
    uint32_t half;
    uint32_t weight_half;
    const struct cnnvp_plan_step *step;
};

struct cnnvp_replay {
    struct cnnvp_timeline timeline;
    const struct cnnvp_image_layer *layer;
    struct cnnvp_plan_sorts *sorts;
    struct cnnvp_plan_epilogue waiting[CNNVP_PLAN_WAITING];
    uint32_t waiting_count;
    int uses_table;  /* behind calculation */
    int one_by_one;  /* slices are replayed: tables share the weight buffer's halves with blobs */
    uint64_t slices; /* that were replayed, and of these, in ps: */
    uint64_t compute_ps;
    uint64_t memory_ps;
};

/* How slices follow each other. */
#define CNNVP_PACE_LAGS 7u
struct cnnvp_pace {
    uint64_t array; /* when the last one was calculated; 0: not known */
    uint64_t issue;
    int64_t core;
    uint64_t compute_ps;
    uint64_t memory_ps;
    uint64_t lags[CNNVP_PACE_LAGS]; /* of what the next one depends on, behind the array */
};

/* Slices, or inputs with several slices each, of one sort that follow. */
struct cnnvp_pace_alike {
    uint64_t count;
    uint64_t most;    /* of these may be passed over */
    uint64_t inputs;  /* loads of each, 0 or 1 */
    uint64_t weights; /* and of weights */
    uint64_t input_tag; /* of the next one */
    uint64_t weight_tag;
};

/* Passes over those alike, as many as may be, where they follow each other at a steady pace: how many. *pace: as it was
 * when this was asked last, which was before the last of them, or zeros. */
uint64_t cnnvp_pace_pass(struct cnnvp_replay *r, struct cnnvp_pace *pace,
                         const struct cnnvp_pace_alike *alike);

#endif
