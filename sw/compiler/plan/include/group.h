/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fused groups (layer.h): which lines of which maps a tile needs, and where they lie in the input buffer.
 * Along each axis by itself, from the last layer back.
 */
#ifndef CNNVP_COMPILER_GROUP_H
#define CNNVP_COMPILER_GROUP_H

#include "plan.h"
#include "scratchpad.h"

#define CNNVP_PLAN_NO_SLOT SIZE_MAX

/* A layer of a group. */
struct cnnvp_plan_member {
    struct cnnvp_layer layer; /* its maps' shapes; tensors that are whole on chip have their places */
    size_t in, in2, out;      /* slots; CNNVP_PLAN_NO_SLOT: elsewhere */
    int done;                 /* an addition that the member before it has done: nothing is left of it */
    uint64_t tile_bytes;      /* from 0 on of each half, or of one, that serve tiles of maps in memory */
    uint32_t tile_half;       /* 1 or 2: of this one alone; 0: of each */
};

/* A map that is made and read within the group. */
struct cnnvp_plan_slot {
    uint32_t channels, height, width; /* of the map */
    uint32_t word_shift;              /* of its words, as in struct cnnvp_tensor */
    int32_t zero;                     /* the same */
    size_t first, last;               /* the first member that makes it, the last that reads it */
    uint32_t rows, columns;           /* lines that the slot has room for */
    struct cnnvp_place place;
};

static inline uint64_t cnnvp_plan_slot_bytes(const struct cnnvp_plan_slot *slot)
{
    return (uint64_t)slot->channels * slot->rows * slot->columns << slot->word_shift;
}

struct cnnvp_plan_group {
    size_t first, count; /* layers of the network */
    struct cnnvp_plan_member *members;
    struct cnnvp_plan_slot *slots;
    size_t slot_count;
    uint32_t tile_h, tile_w; /* of the last layer's results */
    enum cnnvp_group_halo halo;
    uint32_t tile_rows, tile_columns;
    struct cnnvp_group_reach *rows, *columns; /* [tile][member] */
};

void cnnvp_plan_group_clear(struct cnnvp_plan_group *group);

/* Fills rows, columns, and the slots' room for lines, for the tile and halo that are set. FAILED: no memory. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_group_reach(struct cnnvp_plan_group *group);

/* Places the slots, below `top` of each half, and sets the members' room for tiles. 0: there is no room; *lack has the
 * bytes that are missing. */
int cnnvp_plan_group_place(struct cnnvp_plan_group *group, const uint64_t top[2], uint32_t halves, uint64_t *lack);

/* Lines of a member's results that a tile calculates at most. */
uint32_t cnnvp_plan_group_rows(const struct cnnvp_plan_group *group, size_t member);
uint32_t cnnvp_plan_group_columns(const struct cnnvp_plan_group *group, size_t member);

#endif
