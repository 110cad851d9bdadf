/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test rig with one block of the multi-function module, on a host without SystemC: a buffer at each of its word
 * ports, and a record of the tiles that it passes on at its tile ports. A failure ends the running test.
 */
#ifndef CNNVP_BLOCK_RIG_H
#define CNNVP_BLOCK_RIG_H

#include "cnnvp_tile.h"
#include "fake_host.h"

struct block_rig {
    struct fake_sim sim;
    struct cnnvp_host *block;
    struct cnnvp_host *buffers[FAKE_PORTS]; /* by port of the block; NULL where it has none */
    uint32_t handed_on;                     /* tiles passed on, checks (debug accesses) included */
    struct cnnvp_access next;               /* the last of these accesses */
    uint32_t next_kind;                     /* kind of its tile at that time */
};

/* begin adds and connects, start starts; parameters may be set in between. Buffers have 64 KiB in one half and cause
 * no waits. */
void block_rig_begin(struct block_rig *rig, const struct cnnvp_unit *unit, int timing_only);
void block_rig_start(struct block_rig *rig);
void block_rig_end(struct block_rig *rig);

/* The storage of the buffer at a port. */
void *block_rig_data(struct block_rig *rig, const char *port);

/* A tile on 2 sets of 3 lanes, without a pool and without buffer entries. */
struct cnnvp_tile block_rig_tile(enum cnnvp_tile_kind kind, uint32_t images, uint32_t channels, uint32_t height,
                                 uint32_t width);

/* Sends a tile with these access flags and runs for its cycles. Returns the block's status. */
int block_rig_try(struct block_rig *rig, struct cnnvp_tile *tile, uint32_t flags);
/* Sends a tile that must succeed and checks its timing: `cycles` in which the block takes values, plus its pipeline
 * depth. */
void block_rig_do(struct block_rig *rig, struct cnnvp_tile *tile, uint64_t cycles);

/* Checks that the last tile was passed on, with this number of words of this size. */
void block_rig_expect_next(const struct block_rig *rig, const struct cnnvp_tile *tile, uint64_t words,
                           uint32_t word_bytes);

/* Checks that the block refuses accesses that are not tiles, and tiles of all kinds whose bit in `kinds` is 0. */
void block_rig_check_refusals(const struct cnnvp_unit *unit, uint32_t kinds);

#endif
