/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block of the multi-function module by itself, on a host without SystemC: a buffer at each of its ports for words,
 * and a record of what it hands on at its ports for tiles. Failures end the running test.
 */
#ifndef CNNVP_BLOCK_RIG_H
#define CNNVP_BLOCK_RIG_H

#include "cnnvp_tile.h"
#include "fake_host.h"

struct block_rig {
    struct fake_sim sim;
    struct cnnvp_host *block;
    struct cnnvp_host *buffers[FAKE_PORTS]; /* by port of the block; NULL where it has none */
    uint32_t handed_on;                     /* tiles, checks among them */
    struct cnnvp_access next;               /* the last of them */
    uint32_t next_kind;                     /* of the tile then */
};

/* Adds and connects; parameters may be set until the start. Buffers have 64 KiB in one piece, and no one waits. */
void block_rig_begin(struct block_rig *rig, const struct cnnvp_unit *unit, int timing_only);
void block_rig_start(struct block_rig *rig);
void block_rig_end(struct block_rig *rig);

/* The storage of the buffer at a port. */
void *block_rig_data(struct block_rig *rig, const char *port);

/* A tile of 1 or more images on 2 sets of 3 lanes; without a pool and entries. */
struct cnnvp_tile block_rig_tile(enum cnnvp_tile_kind kind, uint32_t images, uint32_t channels, uint32_t height,
                                 uint32_t width);

/* Sends a tile, with flags of an access, and lets its cycles go by. */
int block_rig_try(struct block_rig *rig, struct cnnvp_tile *tile, uint32_t flags);
/* One that has to work, and what the block says of its time: `cycles` in which it takes values, its pipeline apart. */
void block_rig_do(struct block_rig *rig, struct cnnvp_tile *tile, uint64_t cycles);

/* Checks that the last tile was handed on, and how many values, and of how many bytes, crossed. */
void block_rig_expect_next(const struct block_rig *rig, const struct cnnvp_tile *tile, uint64_t words,
                           uint32_t word_bytes);

/* Checks that the block refuses what is no tile, and tiles of all kinds but those whose bits are set in `kinds`. */
void block_rig_check_refusals(const struct cnnvp_unit *unit, uint32_t kinds);

#endif
