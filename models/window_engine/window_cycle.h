/* SPDX-License-Identifier: Apache-2.0 */
/* The cycle-stepped window engine: whole commands, clock by clock. */
#ifndef CNNVP_WINDOW_CYCLE_H
#define CNNVP_WINDOW_CYCLE_H

#include "window_lane.h"

/* Values on their way from the multipliers to the output buffer. */
struct cnnvp_window_stage {
    uint32_t count;  /* 0: a bubble */
    uint64_t result; /* first one, and how far the next is */
    uint64_t stride;
    bool first; /* pass of these results */
    bool last;
};

/* Registers of the engine. All zero at first. */
struct cnnvp_window_engine {
    struct cnnvp_window_lane *lanes;   /* input_para */
    int16_t *kernel;                   /* [output_para][input_para][9] */
    struct cnnvp_window_stage *stages; /* pipeline */
    int64_t *values;                   /* [pipeline][width] */
    uint32_t width;
};
void cnnvp_window_engine_free(struct cnnvp_window_engine *engine);

/*
 * Steps a command: results (where there are data) and the whole cost come out of the stepping. CNNVP_OK,
 * CNNVP_E_NOMEM, or CNNVP_E_FATAL where a bank is asked for a row of another, which would be a fault of this
 * model.
 */
CNNVP_MUST_USE int cnnvp_window_cycle(const struct cnnvp_window_shape *shape, const struct cnnvp_fx16_tile *tile,
                                      const struct cnnvp_fx16_data *data, struct cnnvp_window_engine *engine,
                                      struct cnnvp_window_cost *cost);

#endif
