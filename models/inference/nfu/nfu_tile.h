/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape of the NFU and cost of a command. Independent of any host. cnnvp_fx16.h describes the command and computes its
 * exact sums. The two levels of detail share these structures and nothing else: `fast` uses fx16_compute.c, nfu_cost.c
 * and nfu_clocks.c, `cycle` steps in nfu_cycle.c and nfu_beat.c.
 */
#pragma once

#include "cnnvp_fx16.h"

/* The pipeline stage that is the write-out's register. The stages before it are in the PEs: operands, product, P. */
#define CNNVP_NFU_REGISTER_STAGE 4u

/* Configuration of the array. */
struct cnnvp_nfu_shape {
    uint32_t rows;
    uint32_t cols;
    uint32_t kernel_piece; /* 0: whole kernel; 3: pieces of 3x3 */
    uint32_t acc_bits;     /* 16 .. 64 */
    uint32_t pipeline;     /* stages */
    uint32_t fifo_stride;  /* longest stride that FIFO-H and FIFO-V are deep enough for */
    bool propagation;
    bool single_neuron; /* mapping of fully connected tiles: all PEs on one neuron */
    bool extended_fifo_v;
};

/* Computes the cost by closed forms (nfu_cost.c). */
void cnnvp_nfu_cost(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                    struct cnnvp_fx16_cost *cost);

/* Adds to the traffic the classes of clocks at each port (nfu_clocks.c). */
void cnnvp_nfu_clocks(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                      struct cnnvp_fx16_traffic *traffic);

/* Cycles that one set of results takes through the output port. */
uint32_t cnnvp_nfu_writeout_steps(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile);

/* True if values can pass between PEs: propagation is on, FIFOs are deep enough for the strides, and the kernel is not
 * dilated. */
bool cnnvp_nfu_propagates(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile);
