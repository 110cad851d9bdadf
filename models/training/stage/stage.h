/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that the blocks of the multi-function module share (not a unit): a tile arrives at a port, buffers are borrowed,
 * the tile is processed and goes on to the next block, by the protocol of cnnvp_tile.h. A block says what a tile needs
 * and how to compute it; everything else is done here.
 */
#pragma once

#include "cnnvp_bfp.h"
#include "cnnvp_buffer.h"
#include "cnnvp_tile.h"
#include "unit/parts.h"

#include <stdbool.h>

/* First member of each block's state. */
struct cnnvp_stage {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint64_t pipeline;
    bool timing_only;
};

/* A range of a buffer that a block works on. */
struct cnnvp_stage_piece {
    uint32_t port;
    enum cnnvp_op op;
    bool change;      /* read and written back at the same time */
    uint64_t address; /* bytes */
    uint64_t size;    /* bytes */
    uint32_t word_bytes;
    uint32_t streams; /* streams that cross in parallel */
    uint64_t cycles;  /* cycles over which it crosses the port */
};

enum { CNNVP_STAGE_PIECES = 4 };

/* A tile that is being computed: the block, the access that brought it, and the plan's pieces. */
struct cnnvp_stage_call {
    void *self;
    const struct cnnvp_access *access;
    void *data[CNNVP_STAGE_PIECES];
};
typedef void (*cnnvp_stage_fn)(const struct cnnvp_stage_call *call, struct cnnvp_tile *tile);

struct cnnvp_stage_count {
    uint32_t stat;
    uint64_t n;
};

/* What a block does with a tile. Initialised with zeros and an interval of 1: the tile ends here unchanged. */
struct cnnvp_stage_plan {
    /* the block's work; NULL: none, and no time passes */
    cnnvp_stage_fn compute;
    const char *name;  /* name of the span in the trace; NULL: no span */
    uint64_t values;   /* values of each image that the block takes */
    uint64_t interval; /* cycles that a lane needs for one value */
    uint32_t busy_stat;
    struct cnnvp_stage_count work, counts[2];
    struct cnnvp_stage_piece pieces[CNNVP_STAGE_PIECES]; /* borrowed in this order */
    uint32_t piece_count;
    /* whether and where the tile goes on, as which kind, and how many values of how many bytes cross */
    bool passes;
    uint32_t port;
    uint32_t kind;
    uint32_t flags; /* added to the tile's own */
    bool of_errors; /* the tile's errors go on as its values */
    uint64_t words;
    uint32_t word_bytes;
};

/* What a block's parts are counted by: the values that it takes in a cycle (lanes), the values in its pipeline stages,
 * and its sets. */
enum { CNNVP_OF_LANES, CNNVP_OF_STAGES, CNNVP_OF_SETS };
void cnnvp_stage_costs(const struct cnnvp_parts_row *parts, size_t count, uint64_t pipeline,
                       const struct cnnvp_costs *costs);

/* Initialises a block. Parameter 0 of every block is `pipeline`. */
int cnnvp_stage_init(void *self, const struct cnnvp_init *init);

/* Serves a block's access. `plan_of` fills in a plan, or refuses the tile with a negative status. */
typedef int (*cnnvp_stage_plan_fn)(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan);
CNNVP_MUST_USE int cnnvp_stage_run(void *self, struct cnnvp_access *access, cnnvp_stage_plan_fn plan_of);

/* ---- for plans ---- */

/* Sets the block's work to all values of the tile; `n` is what the statistic `stat` counts. */
static inline void cnnvp_stage_work(struct cnnvp_stage_plan *plan, const struct cnnvp_tile *tile,
                                    cnnvp_stage_fn compute, const char *name, uint32_t busy_stat, uint32_t stat,
                                    uint64_t n)
{
    plan->values = tile->channels * tile->plane;
    plan->compute = compute;
    plan->name = name;
    plan->busy_stat = busy_stat;
    plan->work = (struct cnnvp_stage_count){stat, n};
}

/* Adds a piece: entries first .. first + count - 1, read, and with `change` also written back. Set `values` and
 * `interval` before. */
void cnnvp_stage_entries(struct cnnvp_stage_plan *plan, const struct cnnvp_tile *tile, uint32_t port, bool change,
                         uint64_t first, uint64_t count, uint64_t entry_bytes);
/* Adds a piece: a packed matrix of `bytes` for each image from `address` on, which crosses while the tile's values
 * pass. */
void cnnvp_stage_matrix(struct cnnvp_stage_plan *plan, const struct cnnvp_tile *tile, uint32_t port, enum cnnvp_op op,
                        uint64_t address, uint64_t bytes);
/* Lets the tile go on to `port`, with `words` values of `word_bytes` bytes. */
void cnnvp_stage_pass(struct cnnvp_stage_plan *plan, const struct cnnvp_tile *tile, uint32_t port, uint64_t words,
                      uint32_t word_bytes);

/* Values of a tile. */
static inline uint64_t cnnvp_stage_values(const struct cnnvp_tile *tile)
{
    return (uint64_t)tile->images * tile->channels * tile->plane;
}

/* Bytes of a value after the quantiser. */
static inline uint32_t cnnvp_stage_mantissa_bytes(const struct cnnvp_tile *tile)
{
    return (tile->flags & CNNVP_TILE_FLOAT) != 0 ? 4u : cnnvp_bfp_bytes(tile->mantissa_bits);
}

/* Number of entries from the first to the last that the tile's values have. */
uint64_t cnnvp_stage_entry_span(const struct cnnvp_tile *tile);

/* Number of images that the sets process in parallel, each with its own matrix. */
uint32_t cnnvp_stage_streams(const struct cnnvp_tile *tile);

/* How words cross a buffer's port during a tile's cycles: in order, line by line, in parallel streams, each in its own
 * banks. 2 ways: read and written back at the same time. */
struct cnnvp_buffer_clocks cnnvp_stage_clocks(uint32_t streams, uint32_t ways, uint64_t words, uint64_t cycles);

/* ---- while computing ---- */

void cnnvp_stage_count(const struct cnnvp_stage_call *call, uint32_t stat, uint64_t n);
