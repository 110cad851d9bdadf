/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The normalise-and-reconstruct unit (S000 A4 L17-L21), kind `normalise`: instruction vnorm, by itself.
 *
 * Modelled: input_para channels side by side of fc_para lanes each (Part B 0-11); results, cycles and words as lanes.h
 * defines them. Not modelled: the single stages of the pipeline.
 */
#include "lanes/lanes.h"
#include "unit/parts.h"

#define UNIT_DEF "normalise/normalise.def"
#include "unit/unit_enums.inc"

/* ---- callbacks ---- */

static int normalise_init(void *self, const struct cnnvp_init *init)
{
    const struct lanes_shape shape = {
        .lanes = init->ops->param(init->host, PARAM_fc_para),
        .units = init->ops->param(init->host, PARAM_input_para),
        .pipeline = init->ops->param(init->host, PARAM_pipeline),
    };
    lanes_init(self, init, &shape, LANES_OP_vnorm, "a normalise-and-reconstruct unit takes vnorm alone");
    return CNNVP_OK;
}

static void normalise_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = params[PARAM_fc_para] * params[PARAM_input_para];
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, 16u, lanes, "scale");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 32u, lanes, "offset");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 80u, lanes, "operands and results");
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_normalise = {
    UNIT_TABLES,
    .kind = "normalise",
    .version = "1.0",
    .summary = "normalise-and-reconstruct unit (S000 A4 L17-L21): scale and offset of each channel",
    .instance_size = sizeof(struct lanes),
    .init = normalise_init,
    .fini = lanes_fini,
    .reset = lanes_reset,
    .access = lanes_access,
    .costs = normalise_costs,
};
