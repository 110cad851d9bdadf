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
    CNNVP_WINDOW_TAPS = CNNVP_WINDOW_SIDE * CNNVP_WINDOW_SIDE,
    CNNVP_WINDOW_SLOT_WORDS = 4 /* 16-bit words of a partial sum */
};

/* The engine as configured. */
struct cnnvp_window_shape {
    uint32_t input_para;
    uint32_t output_para;
    uint32_t fc_para;
    uint32_t acc_bits;
    uint32_t pipeline;
    uint32_t write_out; /* enum cnnvp_write_out_has */
};

/* What a command takes, in cycles, words and operations. */
struct cnnvp_window_cost {
    uint64_t compute_cycles;
    uint64_t bias_cycles;
    uint64_t bias_loads;  /* among them: cycles in which biases come */
    uint64_t load_cycles; /* of kernel pieces; cause fill, as the pipeline's */
    uint64_t pipeline_cycles;
    uint64_t input_words; /* ones included */
    uint64_t ones_words;
    uint64_t reused_words;
    uint64_t weight_words; /* biases included */
    uint64_t bias_words;
    uint64_t kernel_loads;
    uint64_t passes;       /* updates of each result */
    uint64_t output_words; /* of all of them */
    uint64_t macs;
};

/* Closed forms. (window_cost.c) */
void cnnvp_window_cost(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                       struct cnnvp_window_cost *cost);

/* What crosses the ports in a clock: classes are added to the traffic. (window_clocks.c) */
void cnnvp_window_clocks(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                         const struct cnnvp_window_cost *cost, struct cnnvp_fx16_traffic *traffic);

#endif
