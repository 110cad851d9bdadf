/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruction queue, fetch, decode and instruction sequence (S003 c2), as recurrences over accelerator cycles.
 * Independent of any host.
 *
 * A word that is pushed in cycle p is fetched in f = max(p + 1, fetch of the word before + 1, resume, cycle in which
 * the instruction `sequence_depth` places ahead issued), decoded in f + 1, and may issue from f + 2 on. One word a
 * cycle. Behind a jump, branch, loop or halt, fetch waits for its issue in cycle e and resumes in e + 1, so each of
 * them costs two cycles, taken or not. Going from the end of a loop's body to its start costs nothing.
 */
#pragma once

#include <stdint.h>

#include "cnnvp_model.h"
#include "isa/isa.h"

#define PIPELINE_NEVER UINT64_MAX
#define PIPELINE_LOOPS 4u

struct pipeline_entry {
    uint64_t word;
    uint64_t pc;
    uint64_t ready;              /* first cycle in which it may issue */
    const struct isa_opcode *op; /* NULL: illegal instruction; the members below are undefined */
    struct cnnvp_word_parts fields;
    uint32_t resources, causes; /* see cnnvp_isa_usage() */
    int pushed_last;            /* its fetch waited for its push only */
};

struct pipeline_loop {
    uint64_t start; /* first word of the body */
    uint64_t end;   /* word after the body */
    uint32_t left;  /* iterations left, including the current one */
};

struct pipeline {
    struct isa_extension *extension; /* custom instructions, freed with the pipeline; NULL: none */
    /* queue: word n, counted from 0 since reset, is words[n & queue_mask] */
    uint64_t *words;
    uint64_t *pushed; /* cycle of the push */
    /* rings have a power of two of entries, because a division would take longer than the rest of the access */
    uint32_t queue_depth, queue_mask;
    uint32_t sequence_depth, sequence_mask;
    uint64_t tail; /* number of words pushed */
    uint64_t pc;   /* next word to fetch; beyond tail after a jump over words that are still to come */
    struct pipeline_loop loops[PIPELINE_LOOPS];
    uint32_t loop_count;
    /* sequence: entry n is entries[n & sequence_mask] */
    struct pipeline_entry *entries;
    uint64_t *left; /* cycle in which entry n was issued */
    uint64_t fetched;
    uint64_t issued;
    uint64_t next_fetch; /* earliest cycle of the next fetch */
    int redirecting;     /* a jump, branch, loop or halt is fetched but not issued */
    int enabled;
    int halted;
};

enum pipeline_fault { PIPELINE_GOOD = 0, PIPELINE_BAD_TARGET, PIPELINE_BAD_NESTING };

CNNVP_MUST_USE int cnnvp_pipeline_init(struct pipeline *pipeline, uint32_t queue_depth, uint32_t sequence_depth);
void cnnvp_pipeline_fini(struct pipeline *pipeline);
/* Removes every word; keeps `enabled`. */
void cnnvp_pipeline_reset(struct pipeline *pipeline);

/* Returns 1 if the next word's fetch waits for its push only. */
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

/* Adds a word in `cycle`; there must be room. */
void cnnvp_pipeline_push(struct pipeline *pipeline, uint64_t word, uint64_t cycle);

/* Cycle of the next fetch; PIPELINE_NEVER if it depends on something unknown. `full_wait` (may be NULL): how many of
 * these cycles it waits for room in the sequence. */
uint64_t cnnvp_pipeline_next_fetch(const struct pipeline *pipeline, uint64_t *full_wait);
/* Fetches the next word in `cycle`, the result of cnnvp_pipeline_next_fetch. */
void cnnvp_pipeline_fetch(struct pipeline *pipeline, uint64_t cycle);

/* The oldest entry that has not issued; NULL if there is none. */
static inline const struct pipeline_entry *cnnvp_pipeline_oldest(const struct pipeline *pipeline)
{
    return pipeline->issued == pipeline->fetched ? NULL
                                                 : &pipeline->entries[pipeline->issued & pipeline->sequence_mask];
}

/* Removes the oldest entry, which issues in `cycle`. */
void cnnvp_pipeline_issue(struct pipeline *pipeline, uint64_t cycle);

/* Completes a redirecting instruction in `cycle`. After a fault, fetch continues with the following word. */
enum pipeline_fault cnnvp_pipeline_branch(struct pipeline *pipeline, uint64_t pc, int taken, int32_t offset,
                                          uint64_t cycle);
enum pipeline_fault cnnvp_pipeline_loop(struct pipeline *pipeline, uint32_t count, uint32_t body, uint64_t cycle);
void cnnvp_pipeline_halt(struct pipeline *pipeline, uint64_t cycle);
/* CTRL.enable is written in `cycle`. */
void cnnvp_pipeline_enable(struct pipeline *pipeline, int enabled, uint64_t cycle);

/* Returns 1 if a word waits in the queue, pipeline or sequence. */
static inline int cnnvp_pipeline_waiting(const struct pipeline *pipeline)
{
    return pipeline->issued != pipeline->fetched || pipeline->pc < pipeline->tail;
}
