/* SPDX-License-Identifier: Apache-2.0 */
/* The control of the cycle-stepped NFU: executes whole commands on the array. */
#pragma once

#include "nfu_array.h"
#include "nfu_beat.h"

/* The buffers' ports. `late` of a port is the delay of a command's words there, if the buffer reports its shape. */
enum cnnvp_nfu_port { CNNVP_NFU_INPUT, CNNVP_NFU_WEIGHT, CNNVP_NFU_OUTPUT, CNNVP_NFU_PORTS };

/*
 * Steps a command clock by clock. Results (if there are data) and cost come out of the stepping, except the words of a
 * set of results and the fill of the pipeline, which are as in nfu_cost.c. Returns CNNVP_OK, CNNVP_E_NOMEM, or
 * CNNVP_E_FATAL if a FIFO under- or overflows, which would be a fault of this model.
 */
CNNVP_MUST_USE int cnnvp_nfu_cycle(const struct cnnvp_nfu_shape *shape, const struct cnnvp_fx16_tile *tile,
                                   const struct cnnvp_fx16_data *data, struct cnnvp_nfu_array *array,
                                   struct cnnvp_fx16_cost *cost, struct cnnvp_nfu_beat ports[CNNVP_NFU_PORTS]);
