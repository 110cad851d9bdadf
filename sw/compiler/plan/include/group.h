/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups (network_binary.h). Of fused ones (layer.h): which lines of each map a tile needs, and where they lie in the
 * input buffer. Lines are rows or columns; each axis is computed separately, from the last layer back to the first.
 */
#pragma once

#include "plan.h"
#include "scratchpad.h"

#define CNNVP_PLAN_NO_SLOT SIZE_MAX

/* A layer of a group. Slots and what follows them are those of fused groups. */
struct cnnvp_plan_member {
    size_t source;            /* its number in the network */
    struct cnnvp_layer layer; /* has the shapes of its maps, and the places of tensors that are whole on chip */
    size_t in, in2, out;      /* slots; CNNVP_PLAN_NO_SLOT: the map is not in a slot */
    int done;                 /* 1: an addition that the member before it computes; this member has no work */
    uint64_t tile_bytes;      /* bytes from address 0 of a half that are free for tiles of maps in memory */
    uint32_t tile_half;       /* halves with these bytes: 0: both; 1 or 2: only the first or second */
    uint32_t stays;           /* 1: its weights stay while the group runs */
};

/* A map that is made and read within the group. */
struct cnnvp_plan_slot {
    struct cnnvp_tensor map; /* its shape and words */
    size_t first, last;      /* first member that makes the map, last member that reads it */
    uint32_t rows, columns;  /* size of the slot, in lines of the map */
    struct cnnvp_place place;
};

static inline uint64_t cnnvp_plan_slot_bytes(const struct cnnvp_plan_slot *slot)
{
    return (uint64_t)slot->map.channels * slot->rows * slot->columns << slot->map.word_shift;
}

struct cnnvp_binary_level;
struct cnnvp_plan_group {
    size_t first, count; /* layers of the network */
    struct cnnvp_plan_member *members;
    struct cnnvp_plan_slot *slots;
    size_t slot_count;
    uint32_t tile_h, tile_w; /* of the last layer's results */
    enum cnnvp_group_halo halo;
    uint32_t tile_rows, tile_columns;
    struct cnnvp_group_reach *rows, *columns; /* [tile][member] */
    uint64_t stream; /* bytes from address 0 of each half of the weight buffer for weights that do not stay */
    /* Of depth-first chains: */
    struct cnnvp_binary_level *levels; /* of its features, one more than members; NULL: it is a fused group */
    const char *issue_reason;          /* why the guest or the scheduler issues it; a static text */
};

static inline uint64_t cnnvp_plan_group_tiles(const struct cnnvp_plan_group *group)
{
    return (uint64_t)group->tile_rows * group->tile_columns;
}

void cnnvp_plan_group_clear(struct cnnvp_plan_group *group);

/* Fills `rows` and `columns` of the group and of its slots for the group's tile size and halo. FAILED: no memory. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_group_reach(struct cnnvp_plan_group *group);

/* Places the slots below address `top` of each half and sets the members' tile_bytes and tile_half. Returns 0 if there
 * is no room; *lack is then the number of missing bytes. */
int cnnvp_plan_group_place(struct cnnvp_plan_group *group, const uint64_t top[2], uint32_t halves, uint64_t *lack);

/* The most rows or columns of a member's results that any tile calculates. */
uint32_t cnnvp_plan_group_rows(const struct cnnvp_plan_group *group, size_t member);
uint32_t cnnvp_plan_group_columns(const struct cnnvp_plan_group *group, size_t member);
