/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window engine's side of a command, free of any host: its shape, and what a command costs. The command itself
 * and its exact sums are cnnvp_fx16.h's.
 */
#ifndef CNNVP_WINDOW_TILE_H
#define CNNVP_WINDOW_TILE_H

#include "cnnvp_fx16.h"

enum {
    CNNVP_WINDOW_SIDE = 3, /* of a kernel piece, banks, columns of a shift register */
    CNNVP_WINDOW_TAPS = CNNVP_WINDOW_SIDE * CNNVP_WINDOW_SIDE
};

/* The engine as configured. */
struct cnnvp_window_shape {
    uint32_t input_para;
    uint32_t output_para;
    uint32_t fc_para;
    uint32_t acc_bits;
    uint32_t pipeline;
    uint32_t write_out; /* enum cnnvp_write_out_has */
    uint32_t word_bits; /* of multipliers and paths */
};

/* Closed forms. (window_cost.c) */
void cnnvp_window_cost(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                       struct cnnvp_fx16_cost *cost);

/* What crosses the ports in a clock: classes are added to the traffic. (window_clocks.c) */
void cnnvp_window_clocks(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                         const struct cnnvp_fx16_cost *cost, struct cnnvp_fx16_traffic *traffic);

#endif
