/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variance-update unit (S000 A4 L12-L16), kind `variance`: instruction vvar, by itself.
 *
 * Modelled: input_para channels side by side of fc_para lanes each (Part B 0-11); results, cycles and words as lanes.h
 * defines them. Not modelled: the single stages of the pipeline.
 */
#include "lanes/lanes.h"
#include "unit/parts.h"

#define UNIT_DEF "variance/variance.def"
#include "unit/unit_enums.inc"

/* ---- callbacks ---- */

static int variance_init(void *self, const struct cnnvp_init *init)
{
    const struct lanes_shape shape = {
        .lanes = init->ops->param(init->host, PARAM_fc_para),
        .units = init->ops->param(init->host, PARAM_input_para),
        .pipeline = init->ops->param(init->host, PARAM_pipeline),
        .div_cycles = init->ops->param(init->host, PARAM_div_cycles),
    };
    lanes_init(self, init, &shape, LANES_OP_vvar, "a variance-update unit takes vvar alone");
    return CNNVP_OK;
}

static void variance_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = params[PARAM_fc_para] * params[PARAM_input_para];
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, 3u * lanes, "differences, sums and their tree");
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, 16u, lanes, "squares");
    cnnvp_say_part(costs, CNNVP_PART_DIVIDER, 32u, 2u * params[PARAM_input_para], "division and root");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 80u, lanes, "operands and sums");
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_variance = {
    UNIT_TABLES,
    .kind = "variance",
    .version = "1.0",
    .summary = "variance-update unit (S000 A4 L12-L16): inverse standard deviations of channels",
    .instance_size = sizeof(struct lanes),
    .init = variance_init,
    .fini = lanes_fini,
    .reset = lanes_reset,
    .access = lanes_access,
    .costs = variance_costs,
};
