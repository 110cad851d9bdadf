/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the platform's units for the time of commands, as the guest software pushes them, and keeps the answers. */
#pragma once

#include "cnnvp_command.h"
#include "plan.h"

/* The part of a layer that one conv, pool or matmul instruction calculates. */
struct cnnvp_plan_slice {
    uint32_t rows; /* of results */
    uint32_t columns;
    uint32_t in;
    uint32_t out;
    int first; /* 1: the first input slice of its results */
    int last;  /* 1: the last one */
};

/* 1: a convolution whose one row is folded into several rows of the array. */
int cnnvp_plan_is_folded(const struct cnnvp_layer *layer);
struct cnnvp_command cnnvp_plan_slice_command(const struct cnnvp_layer *layer, const struct cnnvp_plan_slice *slice);
void cnnvp_plan_put_descriptor(struct cnnvp_command *command, const void *descriptor, size_t bytes);
/* The instance that executes an instruction, by the element's table and connections. */
const char *cnnvp_plan_executor(const struct cnnvp_plan_limits *limits, uint32_t opcode);

#define CNNVP_PLAN_REFUSED UINT64_MAX

/* Time of the instruction in ps; CNNVP_PLAN_REFUSED: the unit refuses it. */
uint64_t cnnvp_plan_slice_ps(struct cnnvp_cost_query *query, const struct cnnvp_plan_slice *slice);
/* The fastest height of a tile: as many rows as the array has, or fewer if a buffer serves fewer rows at a time. */
uint32_t cnnvp_plan_strip_rows(struct cnnvp_cost_query *query, const struct cnnvp_tiling *tiling);
/* The number of inputs of a slice, from `inputs` on or a few more, that is the fastest an input. The lanes of the
 * vector unit read weights of several outputs at once; their stride is the inputs of a slice, and some strides hit the
 * same bank of the weight buffer. */
uint32_t cnnvp_plan_spread_inputs(struct cnnvp_cost_query *query, uint32_t inputs);
/* Work of the vector unit on a tile of contiguous results: an elementwise layer's operation, normalisation, softmax,
 * and the post-operations. */
struct cnnvp_plan_vectors {
    uint64_t ps;    /* CNNVP_PLAN_REFUSED: the unit refuses an instruction */
    uint64_t count; /* instructions */
};
struct cnnvp_plan_vectors cnnvp_plan_vectors_of(struct cnnvp_cost_query *query, uint32_t channels, uint32_t rows,
                                                uint32_t columns);
/* Time of the DMA to issue the request of one load, before it takes the next one. */
uint64_t cnnvp_plan_request_ps(struct cnnvp_cost_query *query);

/* The unit's reason for the last refused instruction; "": none was refused. */
const char *cnnvp_plan_refusal(const struct cnnvp_cost_query *query);
