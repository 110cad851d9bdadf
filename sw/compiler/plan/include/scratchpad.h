/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates places in the halves of an on-chip buffer for data that live from one step to another: whole maps, slots of
 * fused groups, blocks of depth-first chains, weights. First fit: each place in turn gets the bytes nearest to one edge
 * of a half that are free for its whole lifetime.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CNNVP_SCRATCHPAD_HALVES 2u
/* Values in the place of a half: any half will do; no half will do. */
#define CNNVP_SCRATCHPAD_ANY CNNVP_SCRATCHPAD_HALVES
#define CNNVP_SCRATCHPAD_NONE (CNNVP_SCRATCHPAD_HALVES + 1u)

struct cnnvp_place {
    uint64_t bytes;
    size_t begin, end; /* lifetime: first and last step, both included */
    uint32_t half;
    uint64_t address; /* in the half */
    const struct cnnvp_place *next;
};

#define CNNVP_FOR_EVER SIZE_MAX /* the last step of a place that is never free again */

struct cnnvp_scratchpad {
    uint32_t halves;
    uint64_t room[CNNVP_SCRATCHPAD_HALVES];
    int from_top; /* 1: places are allocated from the upper edge down, 0: from the lower edge up */
    const struct cnnvp_place *placed;
    uint64_t taken[CNNVP_SCRATCHPAD_HALVES]; /* bytes from the edge that are in use for ever */
};

/* Sets half and address of a place whose bytes and lifetime are set, without overlap with places put before. It tries
 * the half `only` or, if that is CNNVP_SCRATCHPAD_ANY, all halves from `first` on. Returns 0 if there is no room; *lack
 * is then lowered to the least number of bytes that a half lacks. */
int cnnvp_scratchpad_put(struct cnnvp_scratchpad *pad, uint32_t first, uint32_t only, struct cnnvp_place *place,
                         uint64_t *lack);

/* The lowest address in the half that is in use in steps `first` to `last`; `top` if all is free. */
uint64_t cnnvp_scratchpad_free_below(const struct cnnvp_scratchpad *pad, uint32_t half, size_t first, size_t last,
                                     uint64_t top);

/* 1: the places have bytes in common, whatever their lifetimes. */
static inline int cnnvp_places_overlap(const struct cnnvp_place *a, const struct cnnvp_place *b)
{
    return a->half == b->half && a->address < b->address + b->bytes && b->address < a->address + a->bytes;
}
