/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pooling unit of S000 (A2), kind `pooling`: instruction pool.
 *
 * Modelled: a window of 3x3 values for each of input_para channels, with a tree of comparators or adders behind it;
 * results, cycles and words as window_engine/engine.c and window_cost.c have them. Not modelled: the division for
 * averages (Part B 0-5), which is the vector unit's.
 */
#include "window_engine/engine.h"

#define UNIT_DEF "pooling/pooling.def"
#include "unit/unit_enums.inc"

enum { DETAIL_fast, DETAIL_cycle };

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
    cnnvp_window_init(self, init, &shape, CNNVP_WINDOW_OP_pool,
                      init->ops->param(init->host, PARAM_detail) == DETAIL_cycle, "a pooling unit takes pool alone");
    return CNNVP_OK;
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
};
