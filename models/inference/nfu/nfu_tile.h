/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NFU's side of a command, free of any host: the array's shape and a command's cost. The command itself and its
 * exact sums are cnnvp_fx16.h's. Both depths share these structures and nothing else: fx16_compute.c, nfu_cost.c and
 * nfu_clocks.c compute, nfu_cycle.c and nfu_beat.c step.
 */
#ifndef CNNVP_NFU_TILE_H
#define CNNVP_NFU_TILE_H

#include "cnnvp_fx16.h"

/* The stage that is the write-out's register; those before are in the PEs: operands, product, P. */
#define CNNVP_NFU_REGISTER_STAGE 4u

/* The array as configured. */
struct cnnvp_nfu_shape {
    uint32_t rows;
    uint32_t cols;
    uint32_t kernel_piece; /* 0 whole kernel, or 3 */
    uint32_t acc_bits;     /* 16 .. 64 */
    uint32_t pipeline;     /* stages */
    uint32_t fifo_stride;  /* of FIFO-H and FIFO-V */
    bool propagation;
    bool single_neuron; /* mapping of fully connected tiles */
    bool extended_fifo_v;
};

/* Closed forms. (nfu_cost.c) */
void cnnvp_nfu_cost(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                    struct cnnvp_fx16_cost *cost);

/* What crosses the ports in a clock: classes are added to the traffic. (nfu_clocks.c) */
void cnnvp_nfu_clocks(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                      struct cnnvp_fx16_traffic *traffic);

/* Cycles in which one set of results leaves the array through the output port. */
uint32_t cnnvp_nfu_writeout_steps(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile);

/* True where values can pass between PEs: propagation is on, FIFOs are as deep as the strides need, and the kernel is
 * not dilated. */
bool cnnvp_nfu_propagates(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile);

#endif
