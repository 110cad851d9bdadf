/* SPDX-License-Identifier: Apache-2.0 */
/* S000's units that sweep windows: what their files share. */
#ifndef CNNVP_WINDOW_ENGINE_H
#define CNNVP_WINDOW_ENGINE_H

#include "cnnvp_fx16.h"
#include "cnnvp_isa.h"
#include "window_tile.h"

/* An instance of such a unit. */
struct cnnvp_window_unit {
    struct cnnvp_fx16_unit unit;
    struct cnnvp_window_shape shape;
    uint32_t opcode; /* the instruction that it takes */
    const char *refusal;
};

/*
 * The units' callbacks (engine_units.c). shape: 1 for what the unit does not have. opcode: the instruction that it
 * takes; refusal: what it says of others.
 */
void cnnvp_window_init(struct cnnvp_window_unit *window, const struct cnnvp_init *init,
                       const struct cnnvp_window_shape *shape, uint32_t opcode, const char *refusal);
void cnnvp_window_fini(void *self);
int cnnvp_window_access(void *self, uint32_t port, struct cnnvp_access *access);
/* Whole groups of channels. */
int cnnvp_window_tiling(void *self, uint32_t port, const struct cnnvp_access *access, struct cnnvp_tiling *tiling);

#endif
