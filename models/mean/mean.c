/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mean-update unit (S000 A4 L7-L11), kind `mean`: instruction vmean, by itself.
 *
 * Modelled: input_para channels side by side of fc_para lanes each (Part B 0-11); results, cycles and words as lanes.h
 * defines them. Not modelled: the single stages of the pipeline.
 */
#include "lanes/lanes.h"
#include "unit/parts.h"

#define UNIT_DEF "mean/mean.def"
#include "unit/unit_enums.inc"

/* ---- callbacks ---- */

static int mean_init(void *self, const struct cnnvp_init *init)
{
    const struct lanes_shape shape = {
        .lanes = init->ops->param(init->host, PARAM_fc_para),
        .units = init->ops->param(init->host, PARAM_input_para),
        .pipeline = init->ops->param(init->host, PARAM_pipeline),
        .div_cycles = init->ops->param(init->host, PARAM_div_cycles),
    };
    lanes_init(self, init, &shape, LANES_OP_vmean, "a mean-update unit takes vmean alone");
    return CNNVP_OK;
}

static void mean_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = params[PARAM_fc_para] * params[PARAM_input_para];
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, 2u * lanes, "sums and their tree");
    cnnvp_say_part(costs, CNNVP_PART_DIVIDER, 32u, params[PARAM_input_para], "division by the count");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 48u, lanes, "operands and sums");
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_mean = {
    UNIT_TABLES,
    .kind = "mean",
    .version = "1.0",
    .summary = "mean-update unit (S000 A4 L7-L11): means of channels",
    .instance_size = sizeof(struct lanes),
    .init = mean_init,
    .fini = lanes_fini,
    .reset = lanes_reset,
    .access = lanes_access,
    .costs = mean_costs,
};
