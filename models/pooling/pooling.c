/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pooling unit of S000 (A2), kind `pooling`: instruction pool.
 *
 * Modelled: a window of 3x3 values for each of input_para channels, with a tree of comparators or adders behind it;
 * results, cycles and words as window_engine/engine.c and window_cost.c have them. Not modelled: the division for
 * averages (Part B 0-5), which is the vector unit's.
 */
#include "window_engine/engine.h"
#include "unit/parts.h"

#define UNIT_DEF "pooling/pooling.def"
#include "unit/unit_enums.inc"

/* ---- callbacks ---- */

static int pooling_init(void *self, const struct cnnvp_init *init)
{
    const struct cnnvp_window_shape shape = {
        .input_para = (uint32_t)init->ops->param(init->host, PARAM_input_para),
        .output_para = 1,
        .fc_para = 1,
        .acc_bits = (uint32_t)init->ops->param(init->host, PARAM_acc_bits),
        .pipeline = (uint32_t)init->ops->param(init->host, PARAM_pipeline),
    };
    cnnvp_window_init(self, init, &shape, CNNVP_WINDOW_OP_pool, "a pooling unit takes pool alone");
    return CNNVP_OK;
}

static void pooling_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t channels = params[PARAM_input_para];
    const uint32_t acc_bits = (uint32_t)params[PARAM_acc_bits];
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 20u, CNNVP_WINDOW_TAPS * channels, "tree of comparators and adders");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, acc_bits, channels, "update");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 20u, 2u * CNNVP_WINDOW_TAPS * channels,
                   "windows and stages of the tree");
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_pooling = {
    UNIT_TABLES,
    .kind = "pooling",
    .version = "1.0",
    .summary = "pooling unit: a window of 3x3 values for each channel, maximum or sum",
    .instance_size = sizeof(struct cnnvp_window_unit),
    .init = pooling_init,
    .fini = cnnvp_window_fini,
    .access = cnnvp_window_access,
    .tiling = cnnvp_window_tiling,
    .costs = pooling_costs,
};
