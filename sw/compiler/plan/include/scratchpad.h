/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places in the halves of an on-chip buffer, for what is there for a time: whole maps, slots of fused groups, blocks of
 * depth-first chains. One after the other gets the place next to the edge that is free for as long as it is there.
 */
#ifndef CNNVP_COMPILER_SCRATCHPAD_H
#define CNNVP_COMPILER_SCRATCHPAD_H

#include <stddef.h>
#include <stdint.h>

#define CNNVP_SCRATCHPAD_HALVES 2u
/* Instead of a half: any of them, and that there is none. */
#define CNNVP_SCRATCHPAD_ANY CNNVP_SCRATCHPAD_HALVES
#define CNNVP_SCRATCHPAD_NONE (CNNVP_SCRATCHPAD_HALVES + 1u)

struct cnnvp_place {
    uint64_t bytes;
    size_t begin, end; /* It is there in these steps and between them. */
    uint32_t half;
    uint64_t address; /* in the half */
    const struct cnnvp_place *next;
};

struct cnnvp_scratchpad {
    uint32_t halves;
    uint64_t room[CNNVP_SCRATCHPAD_HALVES];
    int from_top; /* 1: the edge is the upper one, 0: the lower one. */
    const struct cnnvp_place *placed;
};

/* Sets half and address of a place whose other members are set, beside those that were put before: in the half `only`,
 * or from the half `first` on. 0: there is no room; *lack becomes the least number of bytes that a half lacks, if it
 * was not less. */
int cnnvp_scratchpad_put(struct cnnvp_scratchpad *pad, uint32_t first, uint32_t only, struct cnnvp_place *place,
                         uint64_t *lack);

/* Below it nothing lies in the half in steps `first` to `last`. `top` where nothing does at all. */
uint64_t cnnvp_scratchpad_free_below(const struct cnnvp_scratchpad *pad, uint32_t half, size_t first, size_t last,
                                     uint64_t top);

/* 1: they have bytes in common. */
static inline int cnnvp_places_overlap(const struct cnnvp_place *a, const struct cnnvp_place *b)
{
    return a->half == b->half && a->address < b->address + b->bytes && b->address < a->address + a->bytes;
}

#endif
