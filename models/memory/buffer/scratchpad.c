/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One on-chip memory for inputs, weights and results, as in many accelerators: a buffer (buffer.c) with three regions,
 * each behind a port of its own. Software sets where they begin, per layer or for all layers.
 *
 * Modelled: all that the buffer models, in one memory; its single port, which the words that a command moves to and
 * from all regions share. Not modelled: conflicts of two regions in one bank; clocks that the DMA takes from a
 * calculation.
 */
#include "buffer_internal.h"

#define UNIT_DEF "memory/buffer/scratchpad.def"
#define WINDOW BUFFER_WINDOW
#include "unit/unit_enums.inc"

#define UNIT_STORAGE(name) (offsetof(struct buffer, bases) + REG_##name * sizeof(uint32_t))

/* ---- callbacks ---- */

static int scratchpad_init(void *self, const struct cnnvp_init *init)
{
    struct buffer *buffer = self;
    buffer->region_count = BUFFER_REGIONS;
    return buffer_init(self, init);
}

/* ---- tables ---- */

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_scratchpad = {
    UNIT_TABLES,
    .kind = "scratchpad",
    .version = "1.0",
    .summary = "one on-chip memory with regions for inputs, weights and results",
    .instance_size = sizeof(struct buffer),
    .register_port = PORT_regs,
    .init = scratchpad_init,
    .fini = buffer_fini,
    .reset = buffer_reset,
    .access = buffer_access,
    .costs = buffer_costs,
    .show = buffer_show,
};
