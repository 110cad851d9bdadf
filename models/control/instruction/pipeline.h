/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruction queue, fetch, decode and instruction sequence (S003 c2), as recurrences over accelerator cycles.
 * Host-free.
 *
 * For each word: pushed at cycle p; fetched at f = max(p + 1, f_before + 1, resume, cycle in which the word
 * `sequence_depth` places ahead issued); decoded at f + 1; may issue from f + 2 on. One word a cycle. Behind a jump,
 * branch, loop or halt fetch waits for its issue at e and resumes at e + 1, so each costs two cycles, taken or not.
 * Going from the end of a loop's body to its start costs nothing.
 */
#ifndef CNNVP_INSTRUCTION_PIPELINE_H
#define CNNVP_INSTRUCTION_PIPELINE_H

#include <stdint.h>

#include "cnnvp_model.h"
#include "isa/isa.h"

#define PIPELINE_NEVER UINT64_MAX
#define PIPELINE_LOOPS 4u

struct pipeline_entry {
    uint64_t word;
    uint64_t pc;
    uint64_t ready;              /* first cycle in which it may issue */
    const struct isa_opcode *op; /* NULL: it is no legal instruction, and the rest does not count */
    struct cnnvp_word_parts fields;
    uint32_t resources, causes; /* see cnnvp_isa_usage() */
    int pushed_last;            /* its fetch waited for nothing but its push */
};

struct pipeline_loop {
    uint64_t start; /* first word of the body */
    uint64_t end;   /* word after the body */
    uint32_t left;  /* iterations to come, the present one included */
};

struct pipeline {
    struct isa_extension *extension; /* instructions of units of one's own, freed with it; NULL: none */
    /* queue: word n, counted from 0 since reset, is words[n & queue_mask] */
    uint64_t *words;
    uint64_t *pushed; /* cycle of the push */
    /* rings are as long as the next power of two: a division would take longer than the rest */
    uint32_t queue_depth, queue_mask;
    uint32_t sequence_depth, sequence_mask;
    uint64_t tail; /* words pushed */
    uint64_t pc;   /* word that is fetched next; beyond tail after a jump over words to come */
    struct pipeline_loop loops[PIPELINE_LOOPS];
    uint32_t loop_count;
    /* sequence: entry n is entries[n & sequence_mask] */
    struct pipeline_entry *entries;
    uint64_t *left; /* cycle in which entry n issued */
    uint64_t fetched;
    uint64_t issued;
    uint64_t next_fetch; /* earliest cycle of the next fetch */
    int redirecting;     /* a jump, branch, loop or halt has been fetched and has not issued */
    int enabled;
    int halted;
};

enum pipeline_fault { PIPELINE_GOOD = 0, PIPELINE_BAD_TARGET, PIPELINE_BAD_NESTING };

CNNVP_MUST_USE int cnnvp_pipeline_init(struct pipeline *pipeline, uint32_t queue_depth, uint32_t sequence_depth);
void cnnvp_pipeline_fini(struct pipeline *pipeline);
/* Forgets every word; keeps `enabled`. */
void cnnvp_pipeline_reset(struct pipeline *pipeline);

/* 1 if the next word's fetch will have waited for nothing but its push. */
static inline int cnnvp_pipeline_starves(const struct pipeline *pipeline)
{
    return pipeline->pc >= pipeline->tail;
}

/* The oldest word that must stay in the queue. */
static inline uint64_t cnnvp_pipeline_head(const struct pipeline *pipeline)
{
    return pipeline->loop_count ? pipeline->loops[0].start : pipeline->pc;
}

/* Words that can be pushed now. */
static inline uint32_t cnnvp_pipeline_free(const struct pipeline *pipeline)
{
    const uint64_t head = cnnvp_pipeline_head(pipeline);
    return pipeline->tail > head ? pipeline->queue_depth - (uint32_t)(pipeline->tail - head) : pipeline->queue_depth;
}

/* A word in cycle `cycle`; there must be room. */
void cnnvp_pipeline_push(struct pipeline *pipeline, uint64_t word, uint64_t cycle);

/* Cycle of the next fetch, PIPELINE_NEVER while something unknown must come first. `full_wait` (may be NULL): cycles of
 * it spent waiting for room in the sequence. */
uint64_t cnnvp_pipeline_next_fetch(const struct pipeline *pipeline, uint64_t *full_wait);
/* Does that fetch. */
void cnnvp_pipeline_fetch(struct pipeline *pipeline, uint64_t cycle);

/* The oldest entry that has not issued, NULL if none. */
static inline const struct pipeline_entry *cnnvp_pipeline_oldest(const struct pipeline *pipeline)
{
    return pipeline->issued == pipeline->fetched ? NULL
                                                 : &pipeline->entries[pipeline->issued & pipeline->sequence_mask];
}

/* It leaves the sequence in `cycle`. */
void cnnvp_pipeline_issue(struct pipeline *pipeline, uint64_t cycle);

/* How the redirecting instruction at `pc` ends, in `cycle`. On a fault fetch goes on with the following word. */
enum pipeline_fault cnnvp_pipeline_branch(struct pipeline *pipeline, uint64_t pc, int taken, int32_t offset,
                                          uint64_t cycle);
enum pipeline_fault cnnvp_pipeline_loop(struct pipeline *pipeline, uint32_t count, uint32_t body, uint64_t cycle);
void cnnvp_pipeline_halt(struct pipeline *pipeline, uint64_t cycle);
/* CTRL.enable was written in `cycle`. */
void cnnvp_pipeline_enable(struct pipeline *pipeline, int enabled, uint64_t cycle);

/* 1 if a word waits in queue, pipeline or sequence. */
static inline int cnnvp_pipeline_waiting(const struct pipeline *pipeline)
{
    return pipeline->issued != pipeline->fetched || pipeline->pc < pipeline->tail;
}

#endif
