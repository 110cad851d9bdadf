/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training engine while instructions are replayed: the element issues in order; an instruction waits for its unit
 * and for the halves that it takes, the core is ahead by as much as the element's queue holds. A transfer takes its
 * bytes as the planner's estimate of the memory says (plan_memory.c), and its latency where nothing else is on its way.
 * All times in ps.
 */
#ifndef CNNVP_COMPILER_TRAIN_REPLAY_H
#define CNNVP_COMPILER_TRAIN_REPLAY_H

#include "train_plan.h"

#define CNNVP_TRAIN_REPLAY_HALVES 2u

enum cnnvp_train_replay_unit {
    CNNVP_TRAIN_REPLAY_ARRAY,
    CNNVP_TRAIN_REPLAY_MODULE,
    CNNVP_TRAIN_REPLAY_READ,
    CNNVP_TRAIN_REPLAY_WRITE,
    CNNVP_TRAIN_REPLAY_UNITS
};

enum cnnvp_train_replay_buffer {
    CNNVP_TRAIN_REPLAY_INPUT,
    CNNVP_TRAIN_REPLAY_WEIGHT,
    CNNVP_TRAIN_REPLAY_MIDDLE,
    CNNVP_TRAIN_REPLAY_BUFFERS
};

struct cnnvp_train_replay {
    const struct cnnvp_train_target *target;
    uint64_t core;  /* it has pushed until then */
    uint64_t issue; /* of the last instruction */
    uint64_t last;  /* strict: the last one is complete */
    uint64_t unit[CNNVP_TRAIN_REPLAY_UNITS];
    uint64_t memory;
    uint64_t half[CNNVP_TRAIN_REPLAY_BUFFERS][CNNVP_TRAIN_REPLAY_HALVES];
    uint64_t tag[CNNVP_TRAIN_REPLAY_BUFFERS][CNNVP_TRAIN_REPLAY_HALVES]; /* what a half holds; 0: nothing */
    uint32_t next[CNNVP_TRAIN_REPLAY_BUFFERS];
};

/* Nothing under way, and the core ahead by so much. */
struct cnnvp_train_replay cnnvp_train_replay_begin(const struct cnnvp_train_target *target, uint64_t lead);

/* What is not replayed takes so long, and the core by itself, whose lead may end. */
void cnnvp_train_replay_pass(struct cnnvp_train_replay *r, uint64_t more, uint64_t core);
/* So many more parts, each as the last `number`, since `before`, on average; by the end of `unit`. */
void cnnvp_train_replay_pass_on(struct cnnvp_train_replay *r, const struct cnnvp_train_replay *before,
                                enum cnnvp_train_replay_unit unit, uint64_t number, uint64_t more);

/* The half that holds what has the tag, or the one after the last one taken, which holds it from now on. */
uint32_t cnnvp_train_replay_find(struct cnnvp_train_replay *r, enum cnnvp_train_replay_buffer buffer, uint64_t tag,
                                 int *found);
/* The half of the intermediate buffer after the last one taken. */
uint32_t cnnvp_train_replay_next(struct cnnvp_train_replay *r);

/* An instruction of a unit that takes so long, with halves of the intermediate buffer, bit by bit. Returns its end. */
uint64_t cnnvp_train_replay_run(struct cnnvp_train_replay *r, enum cnnvp_train_replay_unit unit, uint64_t core_cycles,
                                uint32_t middle, uint64_t ready, uint64_t busy);
/* A transfer into a half, and one out of a half of the intermediate buffer. */
void cnnvp_train_replay_load(struct cnnvp_train_replay *r, enum cnnvp_train_replay_buffer buffer, uint32_t half,
                             uint64_t busy);
void cnnvp_train_replay_store(struct cnnvp_train_replay *r, uint32_t half, uint64_t busy);

/* All that was replayed is done, the core included. */
uint64_t cnnvp_train_replay_end(const struct cnnvp_train_replay *r);

/* ---- how long units are busy ---- */

/* Pieces of so many bytes whose starts lie so many apart; count 0 or 1: one, or none of 0 bytes. */
struct cnnvp_train_pieces {
    uint64_t count, bytes, distance;
};
/* Into a buffer whose port takes so many bytes in a cycle, and out of one. */
uint64_t cnnvp_train_read_ps(const struct cnnvp_train_target *target, struct cnnvp_train_pieces pieces,
                             uint32_t width);
uint64_t cnnvp_train_write_ps(const struct cnnvp_train_target *target, struct cnnvp_train_pieces pieces,
                              uint32_t width);
/* Cycles by which so many bytes need the port of a buffer longer than PEs need them. */
uint64_t cnnvp_train_port_cycles(uint64_t bytes, uint32_t width, uint64_t cycles);
/* So many values through so many sets of the multi-function module. */
uint64_t cnnvp_train_module_ps(const struct cnnvp_train_target *target, uint64_t values, uint64_t sets);

#endif
