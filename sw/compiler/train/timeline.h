/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An accelerator while the instructions of a layer are replayed, for the estimates of how long ways to cut it take. The
 * element issues in order, each instruction when its unit and its halves of buffers are free (order overlap) or when
 * the one before has completed (strict); the core is ahead by as much as the element's queue holds. Loads and stores at
 * the same time share the memory. A store is complete when the memory has taken it; the memory's queue of writes is
 * emptied behind it, before further reads where it was full.
 *
 * All times are in ps from the layer's first moment on.
 */
#ifndef CNNVP_COMPILER_TIMELINE_H
#define CNNVP_COMPILER_TIMELINE_H

#include "train_timing.h"

#define CNNVP_TIMELINE_HALVES 2u

enum cnnvp_timeline_unit {
    CNNVP_TIMELINE_ARRAY,
    CNNVP_TIMELINE_VECTOR, /* of the training engine: the multi-function module */
    CNNVP_TIMELINE_READ,
    CNNVP_TIMELINE_WRITE,
    CNNVP_TIMELINE_UNITS
};
enum cnnvp_timeline_buffer {
    CNNVP_TIMELINE_INPUT,
    CNNVP_TIMELINE_WEIGHT,
    CNNVP_TIMELINE_OUTPUT, /* of the training engine: the intermediate buffer */
    CNNVP_TIMELINE_BUFFERS
};

struct cnnvp_timeline {
    const struct cnnvp_train_timing *timing;
    uint32_t load_words; /* of the element for a transfer: what changes of its descriptor */
    int rows_collide;    /* loads and stores at the same time keep closing each other's rows */
    int64_t core;        /* it has pushed until then; below 0 while it is ahead of the layer */
    uint64_t issue;      /* of the last instruction */
    uint64_t last;       /* strict: the last one is complete */
    uint64_t unit[CNNVP_TIMELINE_UNITS];
    uint64_t memory[2];  /* reads and writes: the memory has done them until then */
    uint64_t half[CNNVP_TIMELINE_BUFFERS][CNNVP_TIMELINE_HALVES];
    uint64_t tag[CNNVP_TIMELINE_BUFFERS][CNNVP_TIMELINE_HALVES]; /* what a half holds; 0: nothing of this layer */
    uint32_t next[CNNVP_TIMELINE_BUFFERS];   /* the half taken last: the next one is another, if there is one */
    uint32_t halves[CNNVP_TIMELINE_BUFFERS]; /* that there are */
};

static inline uint32_t cnnvp_timeline_other(const struct cnnvp_timeline *line, enum cnnvp_timeline_buffer buffer)
{
    return line->next[buffer] ^ (line->halves[buffer] - 1u);
}

/* The half after the one that was taken last, which it becomes. */
uint32_t cnnvp_timeline_take(struct cnnvp_timeline *line, enum cnnvp_timeline_buffer buffer);
/* The half that holds what has the tag, or the next one, which holds it from now on. */
uint32_t cnnvp_timeline_find(struct cnnvp_timeline *line, enum cnnvp_timeline_buffer buffer, uint64_t tag, int *found);

/* A half among those that an instruction uses. */
static inline uint32_t cnnvp_timeline_use(enum cnnvp_timeline_buffer buffer, uint32_t half)
{
    return 1u << ((uint32_t)buffer * CNNVP_TIMELINE_HALVES + half);
}

/* An instruction, or several at once, of a unit that uses these halves for so long; the core needs so many cycles. */
void cnnvp_timeline_run(struct cnnvp_timeline *line, enum cnnvp_timeline_unit unit, uint64_t core_cycles, uint32_t uses,
                        uint64_t busy);
/* A transfer into a half that keeps the memory busy for so long. */
void cnnvp_timeline_load(struct cnnvp_timeline *line, enum cnnvp_timeline_buffer buffer, uint32_t half, uint64_t busy);
/* And one out of a half of the output buffer, whose ports need `through`. */
void cnnvp_timeline_store(struct cnnvp_timeline *line, uint32_t half, uint64_t busy, uint64_t through);

/* What is not replayed takes so long, and the core by itself. */
void cnnvp_timeline_pass(struct cnnvp_timeline *line, uint64_t more, int64_t core);
/* So many more parts, each as the last `number`, since `before`, on average; by the end of `unit`. */
void cnnvp_timeline_pass_on(struct cnnvp_timeline *line, const struct cnnvp_timeline *before,
                            enum cnnvp_timeline_unit unit, uint64_t number, uint64_t more);

/* All that was replayed is done; but for what the memory has taken and not written yet. */
uint64_t cnnvp_timeline_end(const struct cnnvp_timeline *line);

#endif
