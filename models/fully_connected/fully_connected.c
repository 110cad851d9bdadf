/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fully connected unit of S000 (A5), kind `fully_connected`: instruction matmul.
 *
 * Modelled: fc_para multipliers share an input, each has a neuron (Part B 0-12); results, cycles and words as
 * window_engine/engine.c and window_cost.c have them. Not modelled: what engine.c says.
 */
#include "window_engine/engine.h"
#include "unit/parts.h"

#define UNIT_DEF "fully_connected/fully_connected.def"
#include "unit/unit_enums.inc"

/* ---- callbacks ---- */

static int fully_connected_init(void *self, const struct cnnvp_init *init)
{
    const struct cnnvp_window_shape shape = {
        .input_para = 1,
        .output_para = 1,
        .fc_para = (uint32_t)init->ops->param(init->host, PARAM_fc_para),
        .acc_bits = (uint32_t)init->ops->param(init->host, PARAM_acc_bits),
        .pipeline = (uint32_t)init->ops->param(init->host, PARAM_pipeline),
    };
    cnnvp_window_init(self, init, &shape, CNNVP_WINDOW_OP_matmul, "a fully connected unit takes matmul alone");
    return CNNVP_OK;
}

static void fully_connected_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = params[PARAM_fc_para];
    const uint32_t acc_bits = (uint32_t)params[PARAM_acc_bits];
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, 16u, lanes, "a multiplier for each lane");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, acc_bits, lanes, "update");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 16u + 32u + acc_bits, lanes, "weight, product, sum");
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_fully_connected = {
    UNIT_TABLES,
    .kind = "fully_connected",
    .version = "1.0",
    .summary = "fully connected unit: lanes of one multiplier that share an input",
    .instance_size = sizeof(struct cnnvp_window_unit),
    .init = fully_connected_init,
    .fini = cnnvp_window_fini,
    .access = cnnvp_window_access,
    .tiling = cnnvp_window_tiling,
    .costs = fully_connected_costs,
};
