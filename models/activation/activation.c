/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The activation unit (S000 A3), kind `activation`: instruction vact, by itself.
 *
 * Modelled: input_para channels side by side of fc_para lanes each (Part B 0-11); results, cycles and words as lanes.h
 * defines them. Not modelled: the single stages of the pipeline.
 */
#include "lanes/lanes.h"
#include "unit/parts.h"

#define UNIT_DEF "activation/activation.def"
#include "unit/unit_enums.inc"

/* ---- callbacks ---- */

static int activation_init(void *self, const struct cnnvp_init *init)
{
    const struct lanes_shape shape = {
        .lanes = init->ops->param(init->host, PARAM_fc_para),
        .units = init->ops->param(init->host, PARAM_input_para),
        .pipeline = init->ops->param(init->host, PARAM_pipeline),
    };
    lanes_init(self, init, &shape, LANES_OP_vact, "an activation unit takes vact alone");
    return CNNVP_OK;
}

static void activation_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = params[PARAM_fc_para] * params[PARAM_input_para];
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, 16u, lanes, "slope");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, 2u * lanes, "segment and intercept");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 96u, lanes, "operands and results");
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_activation = {
    UNIT_TABLES,
    .kind = "activation",
    .version = "1.0",
    .summary = "activation unit (S000 A3): piecewise-linear functions of feature values",
    .instance_size = sizeof(struct lanes),
    .init = activation_init,
    .fini = lanes_fini,
    .reset = lanes_reset,
    .access = lanes_access,
    .costs = activation_costs,
};
