/* SPDX-License-Identifier: Apache-2.0 */
/* How long units of the training engine and transfers of its tensors are busy, in ps or in cycles, and how its
 * instructions are replayed. */
#ifndef CNNVP_COMPILER_TRAIN_COST_H
#define CNNVP_COMPILER_TRAIN_COST_H

#include "timeline.h"
#include "train_plan.h"

/* Pieces of so many bytes whose starts lie so many apart; count 0 or 1: one, or none of 0 bytes. */
struct cnnvp_train_pieces {
    uint64_t count, bytes, distance;
};

/* Into a buffer whose port takes so many bytes in a cycle. */
uint64_t cnnvp_train_read_ps(const struct cnnvp_train_target *target, struct cnnvp_train_pieces pieces,
                             uint32_t width);

/* Out of the intermediate buffer: of the memory, and through the ports on the way. */
struct cnnvp_train_write {
    uint64_t busy_ps, through_ps;
};
struct cnnvp_train_write cnnvp_train_write_of(const struct cnnvp_train_target *target,
                                              struct cnnvp_train_pieces pieces);

/* Cycles by which so many bytes need the port of a buffer longer than PEs need them. */
uint64_t cnnvp_train_port_cycles(uint64_t bytes, uint32_t width, uint64_t cycles);
/* So many values through so many sets of the multi-function module. */
uint64_t cnnvp_train_module_ps(const struct cnnvp_train_target *target, uint64_t values, uint64_t sets);

/* Nothing under way, and the core ahead by so much. */
struct cnnvp_timeline cnnvp_train_timeline(const struct cnnvp_train_target *target, uint64_t lead);

static inline void cnnvp_train_store(struct cnnvp_timeline *line, uint32_t half, struct cnnvp_train_write write)
{
    cnnvp_timeline_store(line, half, write.busy_ps, write.through_ps);
}

#endif
