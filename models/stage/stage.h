/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the blocks of the multi-function module have in common (no unit of its own): a tile comes in on a port, buffers
 * are borrowed, the tile goes on to the next block. The protocol is cnnvp_tile.h.
 */
#ifndef CNNVP_STAGE_H
#define CNNVP_STAGE_H

#include "cnnvp_tile.h"

#include <stdbool.h>

/* First member of each block's state. */
struct cnnvp_stage {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint64_t pipeline;
    bool timing_only;
};

/* Units of a piece that a block has gone through when a value has passed, from the piece's first one. */
typedef uint64_t (*cnnvp_reach_fn)(const struct cnnvp_tile *tile, uint32_t image, uint64_t index);

/* Values that pass a block while a piece of a buffer crosses its port. */
struct cnnvp_stage_flow {
    uint64_t values;   /* of an image */
    uint64_t interval; /* clocks that taking them needs */
    cnnvp_reach_fn reach;
};

/* A piece of a buffer that a block works on. */
struct cnnvp_stage_piece {
    uint32_t port;
    enum cnnvp_op op;
    uint64_t address; /* bytes */
    uint64_t size;    /* bytes */
    uint32_t word_bytes;
    uint64_t unit_bytes; /* of what the flow's values reach */
    struct cnnvp_stage_flow flow;
    uint32_t streams; /* addresses side by side */
};

/* Parameter 0 of every block is `pipeline`. */
int cnnvp_stage_init(void *self, const struct cnnvp_init *init);

/* The tile of an access, or why there is none. */
CNNVP_MUST_USE int cnnvp_stage_tile(const struct cnnvp_access *access, struct cnnvp_tile **tile);

/* True where the access only asks whether the tile could be done. */
static inline bool cnnvp_stage_asks(const struct cnnvp_access *access)
{
    return (access->flags & CNNVP_DEBUG) != 0;
}

/* True where there is arithmetic to do. */
static inline bool cnnvp_stage_computes(const struct cnnvp_stage *stage, const struct cnnvp_access *access)
{
    return !stage->timing_only && !cnnvp_stage_asks(access);
}

/* Borrows a piece on behalf of an access; only checks where that only asks. *data is NULL in timing-only. Words that
 * cross, and the cycles that they have for it, are those of the whole piece; of a stepped tile, what its values reach
 * clock by clock. What the block waits for it counts with its next cnnvp_stage_charge. */
CNNVP_MUST_USE int cnnvp_stage_borrow(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                                      const struct cnnvp_stage_piece *piece, void **data);

/* Borrows entries first .. first + count - 1 for reading, or for reading and writing back side by side, while
 * the values of `flow` pass. */
CNNVP_MUST_USE int cnnvp_stage_entries(const struct cnnvp_stage *stage, const struct cnnvp_access *access,
                                       uint32_t port, bool change, uint64_t first, uint64_t count, uint64_t entry_bytes,
                                       const struct cnnvp_stage_flow *flow, void **data);

/* What values reach: their bits in the packed planes of a tile; windows that have begun; their positions; the tile's
 * entries; an entry of each channel; one of each value. */
uint64_t cnnvp_reach_bit(const struct cnnvp_tile *tile, uint32_t image, uint64_t index);
uint64_t cnnvp_reach_window(const struct cnnvp_tile *tile, uint32_t image, uint64_t index);
uint64_t cnnvp_reach_position(const struct cnnvp_tile *tile, uint32_t image, uint64_t index);
uint64_t cnnvp_reach_entry(const struct cnnvp_tile *tile, uint32_t image, uint64_t index);
uint64_t cnnvp_reach_channel(const struct cnnvp_tile *tile, uint32_t image, uint64_t index);
uint64_t cnnvp_reach_value(const struct cnnvp_tile *tile, uint32_t image, uint64_t index);

/* Entries that values of a tile lie between: how many from the first to the last. */
uint64_t cnnvp_stage_entry_span(const struct cnnvp_tile *tile);

/* Images that the sets take side by side, each with a matrix of its own. */
uint32_t cnnvp_stage_streams(const struct cnnvp_tile *tile);

/* The block's share in the tile's time, its span in the trace and two of its statistics: `busy` (cycles, waiting for
 * its buffers included) and `work`. */
struct cnnvp_stage_work {
    const char *name; /* of the span; NULL: none */
    uint32_t busy_stat;
    uint32_t work_stat;
    uint64_t cycles;
    uint64_t work;
};
void cnnvp_stage_charge(const struct cnnvp_stage *stage, const struct cnnvp_access *access, struct cnnvp_tile *tile,
                        const struct cnnvp_stage_work *work);

void cnnvp_stage_count(const struct cnnvp_stage *stage, const struct cnnvp_access *access, uint32_t stat, uint64_t n);

/* Hands the tile on: `words` values of `word_bytes` cross. */
CNNVP_MUST_USE int cnnvp_stage_pass(const struct cnnvp_stage *stage, struct cnnvp_access *access, uint32_t port,
                                    struct cnnvp_tile *tile, uint64_t words, uint32_t word_bytes);

#endif
