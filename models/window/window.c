/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The convolution unit of S000 (A1), kind `window`: instruction conv.
 *
 * Modelled: for each pair of input_para and output_para channels a window of 3x3 multipliers, an adder tree for each
 * output channel; results, cycles and words as window_engine/engine.c and window_cost.c have them. Not modelled: what
 * engine.c says.
 */
#include "window_engine/engine.h"
#include "unit/parts.h"

#define UNIT_DEF "window/window.def"
#include "unit/unit_enums.inc"

/* ---- callbacks ---- */

static int window_init(void *self, const struct cnnvp_init *init)
{
    const struct cnnvp_window_shape shape = {
        .input_para = (uint32_t)init->ops->param(init->host, PARAM_input_para),
        .output_para = (uint32_t)init->ops->param(init->host, PARAM_output_para),
        .fc_para = 1,
        .acc_bits = (uint32_t)init->ops->param(init->host, PARAM_acc_bits),
        .pipeline = (uint32_t)init->ops->param(init->host, PARAM_pipeline),
    };
    cnnvp_window_init(self, init, &shape, CNNVP_WINDOW_OP_conv,
                      "the convolution unit takes conv alone: pool is for a unit pooling, matmul for fully_connected");
    return CNNVP_OK;
}

static void window_costs(const uint64_t *params, const struct cnnvp_costs *costs)
{
    const uint64_t channels = params[PARAM_input_para];
    const uint64_t trees = params[PARAM_output_para];
    const uint64_t taps = CNNVP_WINDOW_TAPS * channels * trees;
    const uint32_t acc_bits = (uint32_t)params[PARAM_acc_bits];
    cnnvp_say_part(costs, CNNVP_PART_MULTIPLIER, 16u, taps, "a multiplier for each tap of each channel pair");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, 36u, taps, "adder trees");
    cnnvp_say_part(costs, CNNVP_PART_ADDER, acc_bits, trees, "update");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 16u, CNNVP_WINDOW_TAPS * channels, "shift registers of the windows");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 16u, taps, "kernels");
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 36u, 2u * taps, "stages of multipliers and trees");
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_window = {
    UNIT_TABLES,
    .kind = "window",
    .version = "1.0",
    .summary = "convolution unit: a window of 3x3 multipliers for each pair of channels",
    .instance_size = sizeof(struct cnnvp_window_unit),
    .init = window_init,
    .fini = cnnvp_window_fini,
    .access = cnnvp_window_access,
    .tiling = cnnvp_window_tiling,
    .costs = window_costs,
};
