/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan as data: which layers are fused and how, how each layer is cut, which maps stay on chip whole. Made by the
 * planner or read from a file; a build takes one, and what a build has become is one again.
 */
#ifndef CNNVP_COMPILER_PLAN_DATA_H
#define CNNVP_COMPILER_PLAN_DATA_H

#include "graph.h"
#include "plan.h"

/* A run of layers that are fused. */
struct cnnvp_plan_run {
    size_t first, count; /* layers of the graph */
    uint32_t tile_h, tile_w;
    enum cnnvp_group_halo halo;
    const char *place; /* in a file, for messages; NULL: in none */
};

struct cnnvp_plan {
    struct cnnvp_arena arena;
    const char *file;            /* that it was read from, with which messages about it begin; NULL: from none */
    struct cnnvp_plan_run *runs; /* in the layers' order, disjoint */
    size_t run_count;
    struct cnnvp_plan_cut *cuts; /* of each layer; group_out 0: still to be chosen */
    const char **cut_places;
    const char *choice_place; /* of groups, cuts or on_chip in the file; NULL: it has none of them */
    uint32_t halo;            /* of groups that the planner makes: 1 + enum cnnvp_group_halo; 0: it chooses */
    const char *halo_place;   /* in the file; NULL: it is not there */
    int order_table;          /* of depth-first blocks: from a table instead of by counting */
    const char *order_place;  /* likewise */
    uint32_t *blocks;         /* of the same: so many channels lie interleaved in memory; 0 and 1: planes */
    const char **block_places;
    unsigned char *on_chip; /* of each tensor that is its own base: 1: it stays */
    const char **on_chip_places;
};

/* Without runs, cuts or tensors. FAILED: no memory. To be cleared, whatever the result. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_new(const struct cnnvp_graph *graph, struct cnnvp_plan *plan,
                                           struct cnnvp_error *error);
void cnnvp_plan_clear(struct cnnvp_plan *plan);

/* plan_file.c. BAD_INPUT: the file, or what it says of this network, with file:line:column. Whether it fits the chip is
 * for the build to say. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_read(const struct cnnvp_graph *graph, const char *file, struct cnnvp_plan *plan,
                                            struct cnnvp_error *error);
/* Writes it; the file appears under its name only when complete. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_write(const struct cnnvp_graph *graph, const struct cnnvp_plan *plan,
                                             const char *file, struct cnnvp_error *error);

#endif
