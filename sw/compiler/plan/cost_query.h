/* SPDX-License-Identifier: Apache-2.0 */
/* What the planner asks the platform's units, in commands as the guest software pushes them; answers are kept. */
#ifndef CNNVP_COMPILER_COST_QUERY_H
#define CNNVP_COMPILER_COST_QUERY_H

#include "cnnvp_command.h"
#include "plan.h"

/* What one conv, pool or matmul instruction calculates. */
struct cnnvp_plan_slice {
    uint32_t rows; /* of results */
    uint32_t columns;
    uint32_t in;
    uint32_t out;
    int first; /* of its results' input slices */
    int last;
};

/* 1: a convolution's rows are folded. */
int cnnvp_plan_is_folded(const struct cnnvp_layer *layer);
struct cnnvp_command cnnvp_plan_slice_command(const struct cnnvp_layer *layer, const struct cnnvp_plan_slice *slice);
void cnnvp_plan_put_descriptor(struct cnnvp_command *command, const void *descriptor, size_t bytes);
/* The instance that executes an instruction, by the element's table and connections. */
const char *cnnvp_plan_executor(const struct cnnvp_plan_limits *limits, uint32_t opcode);

#define CNNVP_PLAN_REFUSED UINT64_MAX

/* Until the instruction is done, in ps; CNNVP_PLAN_REFUSED: the unit does not take it. */
uint64_t cnnvp_plan_slice_ps(struct cnnvp_cost_query *query, const struct cnnvp_plan_slice *slice);
/* Rows of a tile of the array that are the fastest: all that it has, or fewer, where a buffer serves fewer at a time.
 */
uint32_t cnnvp_plan_strip_rows(struct cnnvp_cost_query *query, const struct cnnvp_tiling *tiling);
/* So many inputs of a slice, or a few more, that are the fastest: the vector unit's lanes read weights of as many
 * outputs, which lie as far apart as a slice has inputs, and the banks do not give all distances at once. */
uint32_t cnnvp_plan_spread_inputs(struct cnnvp_cost_query *query, uint32_t inputs);
/* Of the vector unit for a tile of results that lie side by side: an elementwise layer's operation, batch norm,
 * softmax, and what follows the calculation. */
struct cnnvp_plan_vectors {
    uint64_t ps;
    uint64_t count; /* of instructions */
};
struct cnnvp_plan_vectors cnnvp_plan_vectors_of(struct cnnvp_cost_query *query, uint32_t channels, uint32_t rows,
                                                uint32_t columns);
/* Of the DMA for a load's request, before it takes the next one. */
uint64_t cnnvp_plan_request_ps(struct cnnvp_cost_query *query);

/* What a refused instruction was told last, "" if none was. */
const char *cnnvp_plan_refusal(const struct cnnvp_cost_query *query);

#endif
