/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiling: chooses group_out, tile_h, tile_w, tile_in and tile_out of a layer (network_image.h) so that what the guest
 * brings on chip fits into one half of each buffer.
 *
 * - Edges of tiles are multiples of the engine's (engine.h), or the rest of the layer's: buffer sizes change no compute
 * cycle.
 * - Which tiles are looked at does not depend on the buffers' sizes but through what fits: a larger buffer chooses from
 *   more. The choice is by an estimate of the layer's time on this platform: calculation, traffic or the core's work,
 *   whichever takes longest, plus what cannot overlap (first load, last store).
 * - A layer is refused only if even its smallest tile does not fit.
 */
#ifndef CNNVP_COMPILER_PLAN_H
#define CNNVP_COMPILER_PLAN_H

#include "engine.h"

/* What the estimate of a layer's time is made from, in the accelerator's cycles. */
struct cnnvp_plan_timing {
    uint64_t memory_bytes;   /* that cross the memory's pins in 1000 cycles, one after the other */
    uint64_t request_cycles; /* latency of a transfer that nothing hides */
    uint64_t core_cycles;    /* of the accelerator for 1000 of the core's */
    uint64_t lanes;          /* of the vector unit */
    uint64_t division_beats; /* of the vector unit for one set of lanes */
};

/* From the platform's memory, DMA, clocks and vector unit; what it has not, and NULL, count as the presets' own. */
struct cnnvp_plan_timing cnnvp_plan_timing_of(const cnnvp_config *config);

struct cnnvp_plan_limits {
    uint64_t input_bytes;  /* of one half */
    uint64_t weight_bytes;
    uint64_t output_bytes;
    uint32_t input_halves;
    uint32_t weight_halves;
    struct cnnvp_engine engine;
    struct cnnvp_plan_timing timing;
};

/* Bytes of one half that the layer's tiles need at most. */
struct cnnvp_plan_use {
    uint64_t input_bytes;
    uint64_t weight_bytes;
    uint64_t output_bytes;
};

/* Needs op, shapes, window, bias, posts and the tiles of the layer. */
struct cnnvp_plan_use cnnvp_plan_use_of(const struct cnnvp_image_layer *layer, const struct cnnvp_engine *engine);

/* How the layer is cut. */
struct cnnvp_plan_counts {
    uint32_t groups;
    uint32_t tiles;         /* spatial, of a group */
    uint32_t input_slices;
    uint32_t output_slices; /* of a full group */
    uint32_t blobs;         /* of the layer */
};
struct cnnvp_plan_counts cnnvp_plan_counts_of(const struct cnnvp_image_layer *layer);

/* Words of the piecewise-linear table, 0 if there is none. */
uint32_t cnnvp_plan_table_words(const struct cnnvp_image_layer *layer);

/* Sets the tiles. The error names the layer, the buffer and the bytes. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_layer(struct cnnvp_image_layer *layer, const char *name,
                                             const struct cnnvp_plan_limits *limits, struct cnnvp_error *error);

/* One tile for the whole layer, for layers that stay on chip; fully connected blobs of as many outputs as the engine's
 * edge. */
void cnnvp_plan_whole(struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits);

#endif
