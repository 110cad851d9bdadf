/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the blocks of the multi-function module have in common (no unit of its own): a tile comes in on a port, buffers
 * are borrowed, the tile goes on to the next block. The protocol is cnnvp_tile.h. A block says what a tile needs and
 * how to compute it; everything else is done here.
 */
#ifndef CNNVP_STAGE_H
#define CNNVP_STAGE_H

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

/* A piece of a buffer that a block works on. */
struct cnnvp_stage_piece {
    uint32_t port;
    enum cnnvp_op op;
    bool change;      /* it is read, and written back beside that */
    uint64_t address; /* bytes */
    uint64_t size;    /* bytes */
    uint32_t word_bytes;
    uint32_t streams; /* side by side */
    uint64_t cycles;  /* that it has for crossing */
};

enum { CNNVP_STAGE_PIECES = 4 };

/* A tile that is computed: the block, the access that brought it, where the plan's pieces are. */
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

/* What a block does with a tile. All zero at first, with an interval of 1: a tile that ends here untouched. */
struct cnnvp_stage_plan {
    /* its work: without one no time passes */
    cnnvp_stage_fn compute;
    const char *name;  /* of the span in the trace; NULL: none */
    uint64_t values;   /* that it takes of each image */
    uint64_t interval; /* cycles that a lane needs to take one */
    uint32_t busy_stat;
    struct cnnvp_stage_count work, counts[2];
    struct cnnvp_stage_piece pieces[CNNVP_STAGE_PIECES]; /* borrowed in this order */
    uint32_t piece_count;
    /* where the tile goes, as which kind, and how many values of how many bytes cross */
    bool passes;
    uint32_t port;
    uint32_t kind;
    uint32_t flags; /* more than the tile's own */
    bool of_errors; /* its errors are the values */
    uint64_t words;
    uint32_t word_bytes;
};

/* What a block is made of: so many parts for each value that it takes in a cycle, for each of these on its way through
 * the pipeline, and for each of its sets. */
enum { CNNVP_OF_LANES, CNNVP_OF_STAGES, CNNVP_OF_SETS };
void cnnvp_stage_costs(const struct cnnvp_parts_row *parts, size_t count, uint64_t pipeline,
                       const struct cnnvp_costs *costs);

/* Parameter 0 of every block is `pipeline`. */
int cnnvp_stage_init(void *self, const struct cnnvp_init *init);

/* A block's access. `plan_of` fills in a plan, or says by a negative status why the block does not take the tile. */
typedef int (*cnnvp_stage_plan_fn)(void *self, const struct cnnvp_tile *tile, struct cnnvp_stage_plan *plan);
CNNVP_MUST_USE int cnnvp_stage_run(void *self, struct cnnvp_access *access, cnnvp_stage_plan_fn plan_of);

/* ---- for plans ---- */

/* Its work on all values of the tile; `n` are counted. */
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

/* The next piece: entries first .. first + count - 1 for reading, or with `change` for writing back, too. After
 * `values` and `interval` are set. */
void cnnvp_stage_entries(struct cnnvp_stage_plan *plan, const struct cnnvp_tile *tile, uint32_t port, bool change,
                         uint64_t first, uint64_t count, uint64_t entry_bytes);
/* The next piece: a packed matrix of `bytes` for each image from `address` on, while the tile's values pass. */
void cnnvp_stage_matrix(struct cnnvp_stage_plan *plan, const struct cnnvp_tile *tile, uint32_t port, enum cnnvp_op op,
                        uint64_t address, uint64_t bytes);
/* The tile goes on as it is, all its values of `word_bytes`. */
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

/* Entries that values of a tile lie between: how many from the first to the last. */
uint64_t cnnvp_stage_entry_span(const struct cnnvp_tile *tile);

/* Images that the sets take side by side, each with a matrix of its own. */
uint32_t cnnvp_stage_streams(const struct cnnvp_tile *tile);

/* How words cross a buffer's port while a tile takes its cycles: in order, line by line, in as many streams side by
 * side, each in banks of its own; 2 ways: read, and written back beside that. */
struct cnnvp_buffer_clocks cnnvp_stage_clocks(uint32_t streams, uint32_t ways, uint64_t words, uint64_t cycles);

/* ---- while computing ---- */

void cnnvp_stage_count(const struct cnnvp_stage_call *call, uint32_t stat, uint64_t n);

#endif
