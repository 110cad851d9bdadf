/* SPDX-License-Identifier: Apache-2.0 */
/* Between plan_time.c and plan_pace.c: a replay under way. */
#ifndef CNNVP_COMPILER_PLAN_REPLAY_H
#define CNNVP_COMPILER_PLAN_REPLAY_H

#include "plan_sums.h"

#define CNNVP_REPLAY_HALVES 2u
#define CNNVP_REPLAY_WAITING 2u

enum cnnvp_replay_unit {
    CNNVP_REPLAY_ARRAY,
    CNNVP_REPLAY_VECTOR,
    CNNVP_REPLAY_READ,
    CNNVP_REPLAY_WRITE,
    CNNVP_REPLAY_UNITS
};
enum cnnvp_replay_buffer { CNNVP_REPLAY_INPUT, CNNVP_REPLAY_WEIGHT, CNNVP_REPLAY_OUTPUT, CNNVP_REPLAY_BUFFERS };

struct cnnvp_replay_epilogue {
    uint32_t half;
    uint32_t weight_half;
    const struct cnnvp_plan_step *step;
};

/* All times in ps. */
struct cnnvp_replay {
    const struct cnnvp_image_layer *layer;
    const struct cnnvp_plan_limits *limits;
    const struct cnnvp_plan_timing *timing;
    struct cnnvp_plan_sorts *sorts;
    int64_t core;       /* it has pushed until then; below 0 while it is ahead of the layer */
    uint64_t issue;     /* of the last instruction */
    uint64_t last;      /* strict: the last one is complete */
    uint64_t unit[CNNVP_REPLAY_UNITS];
    uint64_t memory[2]; /* reads and writes: the memory has done them until then */
    uint64_t half[CNNVP_REPLAY_BUFFERS][CNNVP_REPLAY_HALVES];
    uint64_t tag[CNNVP_REPLAY_BUFFERS][CNNVP_REPLAY_HALVES]; /* what a half holds; 0: nothing of this layer */
    uint32_t next[CNNVP_REPLAY_BUFFERS];   /* the half that was taken last: the next one is another, if there is one */
    uint32_t halves[CNNVP_REPLAY_BUFFERS]; /* that there are */
    struct cnnvp_replay_epilogue waiting[CNNVP_REPLAY_WAITING];
    uint32_t waiting_count;
    int uses_table;      /* behind calculation */
    int one_by_one;      /* slices are replayed: tables share the weight buffer's halves with blobs */
    uint64_t slices;     /* that were replayed, and of these: */
    uint64_t compute_ps;
    uint64_t memory_ps;
};

static inline uint32_t cnnvp_replay_other(const struct cnnvp_replay *r, enum cnnvp_replay_buffer buffer)
{
    return r->next[buffer] ^ (r->halves[buffer] - 1u);
}

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
uint64_t cnnvp_pace_pass(struct cnnvp_replay *r, struct cnnvp_pace *pace, const struct cnnvp_pace_alike *alike);

#endif
