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

struct cnnvp_extent {
    uint32_t half;
    uint64_t offset; /* from the edge of the half, the lower or the upper one, to the nearer end */
    uint64_t bytes;
};

struct cnnvp_scratchpad {
    uint32_t halves;
    uint64_t room[CNNVP_SCRATCHPAD_HALVES];
    const void *of; /* what the functions are given */
    /* Of those that have a place. */
    struct cnnvp_extent (*extent)(const void *of, size_t number);
    /* 1: both are there at some time. */
    int (*together)(const void *of, size_t number, size_t other);
};

/* Finds the place of number `number`, beside those with lower numbers: in the half `only`, or from the half `first` on.
 * Sets half and offset of *extent, whose bytes are set. 0: there is no room; *lack becomes the least number of bytes
 * that a half lacks, if it was not less. */
int cnnvp_scratchpad_find(const struct cnnvp_scratchpad *pad, size_t number, uint32_t first, uint32_t only,
                          struct cnnvp_extent *extent, uint64_t *lack);

#endif
