/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape of the window engine and cost of a command. Independent of any host. cnnvp_fx16.h describes the command and
 * computes its exact sums.
 */
#pragma once

#include "cnnvp_fx16.h"

enum {
    CNNVP_WINDOW_SIDE = 3, /* side of a kernel piece; also banks, and columns of a shift register */
    CNNVP_WINDOW_TAPS = CNNVP_WINDOW_SIDE * CNNVP_WINDOW_SIDE
};

/* Configuration of the engine. */
struct cnnvp_window_shape {
    uint32_t input_para;
    uint32_t output_para;
    uint32_t fc_para;
    uint32_t acc_bits;
    uint32_t pipeline;
    uint32_t write_out; /* enum cnnvp_write_out_has */
    uint32_t precision; /* enum cnnvp_fx16_precision */
    uint32_t word_bits; /* width of multipliers and data paths */
};

/* Computes the cost by closed forms (window_cost.c). */
void cnnvp_window_cost(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                       struct cnnvp_fx16_cost *cost);

/* Adds to the traffic the classes of clocks at each port (window_clocks.c). */
void cnnvp_window_clocks(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                         const struct cnnvp_fx16_cost *cost, struct cnnvp_fx16_traffic *traffic);
