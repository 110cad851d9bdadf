/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiling: chooses group_out, tile_h, tile_w, tile_in and tile_out of a layer (network_image.h) so that what the guest
 * brings on chip fits into one half of each buffer.
 *
 * - Edges of tiles are multiples of the engine's (engine.h), or the rest of the layer's: buffer sizes change no
 *   compute cycle.
 * - Which tiles are looked at does not depend on the buffers' sizes but through what fits, and a platform with larger
 *   buffers knows what those with smaller ones get: it takes another plan only where that is as fast by the estimate
 *   (plan_choice.c), a replay of the layers' instructions (plan_time.h).
 * - A layer is refused only if even its smallest tile does not fit.
 */
#ifndef CNNVP_COMPILER_PLAN_H
#define CNNVP_COMPILER_PLAN_H

#include "engine.h"

/* What the estimate of a layer's time is made from; ps are picoseconds. */
struct cnnvp_plan_timing {
    uint32_t cycle;            /* ps of the accelerator's */
    uint32_t core;             /* ps of the core's */
    uint32_t strict;           /* 1: each instruction waits for the one before */
    uint32_t lanes;            /* of the vector unit */
    uint32_t units;            /* of it, sums at the same time */
    uint32_t division;         /* cycles that a division takes further */
    uint32_t vector_pipeline;  /* cycles */
    uint32_t sweep_port;       /* words of the output buffer that the vector unit reads in a cycle; 0: any number */
    uint32_t read_port;        /* the same of the input buffer, for the output buffer */
    uint32_t burst;            /* ps of 64 bytes that follow others */
    uint32_t read;             /* the same of reads: so many may be on their way */
    uint32_t bus;              /* ps of 64 bytes on the bus, where bank groups take turns */
    uint32_t turning;          /* the same, reads and writes between each other */
    uint32_t refresh;          /* 1024ths of the time */
    uint32_t row;              /* ps from opening a row to opening another one of its bank */
    uint32_t reopen;           /* ps from the last burst of a row to the first of another one of its bank */
    uint32_t most_hidden;      /* ps of that, and of a burst, that others' bursts hide at most */
    uint32_t row_bytes;
    uint32_t banks;
    uint32_t latency;          /* ps from a read to its data */
    uint32_t hit;              /* the same where the row is open */
    uint32_t write_latency;    /* ps until the memory has taken a write */
    uint32_t outstanding;      /* bursts that are read and on their way, at most */
    uint32_t queued;           /* bursts that wait in the memory while it writes */
    uint64_t posted;           /* ps of writing that the memory has taken and not done yet, at most */
    uint64_t posted_rest;      /* of these, what reads need not wait for */
    uint32_t port;             /* ps of 64 bytes at the DMA's port */
    uint32_t sides[CNNVP_ENGINE_PORTS]; /* the same where a buffer's own port may be narrower */
    uint32_t ahead;            /* bursts that are read before the buffer is free */
    uint64_t lead;             /* ps that the core may be ahead when the layer begins */
    uint64_t most_lead;        /* until the element's queue is full */
    uint32_t load_core, calculate_core, post_core, store_core, step_core, layer_core; /* cycles of the core */
    uint32_t window_core;      /* and for a step's of a layer with a window, which has borders */
};

struct cnnvp_plan_limits {
    uint64_t input_bytes;  /* of one half */
    uint64_t weight_bytes;
    uint64_t output_bytes;
    uint32_t input_halves;
    uint32_t weight_halves;
    uint32_t output_halves;
    struct cnnvp_engine engine;
    struct cnnvp_plan_timing timing;
};

/* From the platform's memory, DMA, clocks and vector unit; what it has not, and NULL, count as the presets' own. */
struct cnnvp_plan_timing cnnvp_plan_timing_of(const cnnvp_config *config);

/* Bytes of one half that the layer's tiles need at most. */
struct cnnvp_plan_use {
    uint64_t input_bytes;
    uint64_t weight_bytes;
    uint64_t output_bytes;
};

/* Needs op, shapes, window, bias, posts and the tiles of the layer. */
struct cnnvp_plan_use cnnvp_plan_use_of(const struct cnnvp_image_layer *layer, const struct cnnvp_engine *engine);

/* A layer's tiles. */
struct cnnvp_plan_cut {
    uint32_t group_out, tile_h, tile_w, tile_in, tile_out;
};
void cnnvp_plan_cut_layer(struct cnnvp_image_layer *layer, const struct cnnvp_plan_cut *cut);

/* How the layer is cut. */
struct cnnvp_plan_counts {
    uint32_t groups;
    uint32_t tiles;         /* spatial, of a group */
    uint32_t input_slices;
    uint32_t output_slices; /* of a full group */
    uint32_t blobs;         /* of the layer */
};
struct cnnvp_plan_counts cnnvp_plan_counts_of(const struct cnnvp_image_layer *layer);

int cnnvp_plan_has_weights(const struct cnnvp_image_layer *layer);
/* Input and output channels are one: what a group gives depends on as many input channels. */
int cnnvp_plan_is_channelwise(const struct cnnvp_image_layer *layer);
/* Rows and columns of the window that are swept at once. */
uint32_t cnnvp_plan_window_rows(const struct cnnvp_image_layer *layer);
uint32_t cnnvp_plan_window_columns(const struct cnnvp_image_layer *layer);
/* Of the input, for so many of the results. */
uint64_t cnnvp_plan_input_rows(const struct cnnvp_image_layer *layer, uint32_t rows);
uint64_t cnnvp_plan_input_columns(const struct cnnvp_image_layer *layer, uint32_t columns);
/* Of the largest blob. */
uint64_t cnnvp_plan_blob_bytes(const struct cnnvp_image_layer *layer);

/* Words of the piecewise-linear table, 0 if there is none. */
uint32_t cnnvp_plan_table_words(const struct cnnvp_image_layer *layer);

/* Of the layers of a network, in the order in which they run: while one calculates the core goes on to the next. */
struct cnnvp_plan;
CNNVP_MUST_USE cnnvp_result cnnvp_plan_new(const struct cnnvp_plan_limits *limits, size_t layers,
                                           struct cnnvp_plan **plan, struct cnnvp_error *error);
/* The layer stays the caller's, where it is, until the plan is made. The error names it, the buffer and the bytes. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_add(struct cnnvp_plan *plan, struct cnnvp_image_layer *layer, const char *name,
                                           struct cnnvp_error *error);
/* Sets the tiles of all layers. Returns what two images take by the estimate, in ps. */
uint64_t cnnvp_plan_make(struct cnnvp_plan *plan);

/*
 * Plans that may be as fast as the one that was made: it is the first, the others follow by their estimates. What a
 * smaller platform has, a larger one has too, but for what it knows to be much slower than another one.
 */
struct cnnvp_plan_rivals {
    size_t count;
    size_t layers;                /* that were planned */
    struct cnnvp_plan_cut cuts[]; /* [plan][layer] */
};
/* Of a plan that is made; to be freed. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_rivals_of(const struct cnnvp_plan *plan, struct cnnvp_plan_rivals **rivals,
                                                 struct cnnvp_error *error);
void cnnvp_plan_free(struct cnnvp_plan *plan);

/* Gives layers outside of chains the tiles of others, which were planned for the same limits: 1 if they differ in
 * formats, addresses and such at most, which a plan does not depend on; 0: no tiles were set. */
CNNVP_MUST_USE int cnnvp_plan_repeat(struct cnnvp_image_layer *layers, const struct cnnvp_image_layer *planned,
                                     size_t count);

/* One tile for the whole layer, for layers that stay on chip; fully connected blobs of as many outputs as the engine's
 * edge. */
void cnnvp_plan_whole(struct cnnvp_image_layer *layer, const struct cnnvp_plan_limits *limits);

#endif
