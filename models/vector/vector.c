/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vector unit, kind `vector`: S003's data calculation element (c3, c4, c5).
 *
 * Modelled: in each lane a multiplier or MAC, an adder, a subtractor, a divider and a comparator (Part B 3-1), each
 * with its own register, accumulation by the status field (3-3), output selection (vout); the ALU stage that S002 lacks
 * (2-2): division for average pooling, piecewise-linear activation; normalisation and softmax; pooling and convolution
 * (vpool, vconv) for what the PE array does not take. Results, cycles and words as lanes.h defines them.
 * Not modelled: the single stages of the pipeline; reuse of window inputs from lane to lane.
 */
#include "lanes/lanes.h"
#include "unit/parts.h"

#define UNIT_DEF "vector/vector.def"
#include "unit/unit_enums.inc"

/* ---- callbacks ---- */

static int vector_init(void *self, const struct cnnvp_init *init)
{
    const struct lanes_shape shape = {
        .lanes = init->ops->param(init->host, PARAM_lanes),
        .units = init->ops->param(init->host, PARAM_units),
        .pipeline = init->ops->param(init->host, PARAM_pipeline),
        .div_cycles = init->ops->param(init->host, PARAM_div_cycles),
    };
    lanes_init(self, init, &shape, LANES_OP_ANY, "");
    return CNNVP_OK;
}

static void vector_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t lanes = params[PARAM_lanes] * params[PARAM_units];
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, 16u, lanes, "multipliers");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 64u, 3u * lanes, "adders, subtractors, comparators");
    cnnvp_say_part(costs, CNNVP_PART_DIVIDER, 32u, lanes, "dividers");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 64u, LANES_OPERATORS * lanes, "a register for each operator");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 48u, lanes, "operands");
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_vector = {
    UNIT_TABLES,
    .kind = "vector",
    .version = "1.0",
    .summary = "lanes of MAC, add, subtract, divide, compare: activation, normalisation, softmax, pooling, convolution",
    .instance_size = sizeof(struct lanes),
    .init = vector_init,
    .fini = lanes_fini,
    .reset = lanes_reset,
    .access = lanes_access,
    .costs = vector_costs,
};
