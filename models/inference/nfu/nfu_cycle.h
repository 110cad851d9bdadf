/* SPDX-License-Identifier: Apache-2.0 */
/* The control of the cycle-stepped NFU: whole commands on the array. */
#ifndef CNNVP_NFU_CYCLE_H
#define CNNVP_NFU_CYCLE_H

#include "nfu_array.h"
#include "nfu_beat.h"

/* The ports of the buffers; their `late` is what a command's words are late, of a buffer that says its shape. */
enum cnnvp_nfu_port { CNNVP_NFU_INPUT, CNNVP_NFU_WEIGHT, CNNVP_NFU_OUTPUT, CNNVP_NFU_PORTS };

/*
 * Steps a command clock by clock: results (where there are data) and cost come out of the stepping; only the cycles
 * that a set of results needs through the output port and the pipeline's fill are those of nfu_cost.c. CNNVP_OK,
 * CNNVP_E_NOMEM, or CNNVP_E_FATAL where a FIFO under- or overflows, which would be a fault of this model.
 */
CNNVP_MUST_USE int cnnvp_nfu_cycle(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                                   const struct cnnvp_fx16_data *data, struct cnnvp_nfu_array *array,
                                   struct cnnvp_fx16_cost *cost, struct cnnvp_nfu_beat ports[CNNVP_NFU_PORTS]);

#endif
