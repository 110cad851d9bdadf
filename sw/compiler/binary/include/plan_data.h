/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan as data: which layers are fused and how, how each layer is cut, which maps stay on chip whole. A plan comes
 * from the planner or from a file. A build follows a plan, and a finished build can be described as one.
 */
#pragma once

#include "graph.h"
#include "plan.h"

/* Names of enum cnnvp_group_halo. */
extern const char *const cnnvp_plan_halos[3];

/* Consecutive layers that are fused into a group. */
struct cnnvp_plan_run {
    size_t first, count; /* layers of the graph */
    uint32_t tile_h, tile_w;
    enum cnnvp_group_halo halo;
    const char *place; /* file:line:column, for messages; NULL: the run is not from a file */
};

/* The order of depth-first blocks. */
struct cnnvp_block_order {
    const char *name;  /* of a table: a word of plans, or the path of a file; NULL: there is none, blocks are counted */
    int by_rows;       /* 1: row by row, from the upper one on */
    const char *file;  /* of the list, or of the plan */
    const char *place; /* of the list in the file, or of the plan's key, for messages */
    uint32_t *blocks;  /* x | y << 16; NULL: no list is given */
    const char **places; /* of each block */
    size_t count;
};

struct cnnvp_plan {
    struct cnnvp_arena arena;
    const char *file;            /* from which it was read; messages about it begin with this; NULL: none */
    struct cnnvp_plan_run *runs; /* in the layers' order, disjoint */
    size_t run_count;
    struct cnnvp_plan_cut *cuts; /* of each layer; group_out 0: still to be chosen */
    const char **cut_places;
    const char *choice_place; /* place of the first of groups of layers, cuts, on_chip and tensors; NULL: no such */
    uint32_t halo;            /* halo of groups that the planner makes: 1 + enum cnnvp_group_halo; 0: it chooses */
    const char *halo_place;   /* NULL: not in the file */
    struct cnnvp_block_order order;
    const char *order_place;   /* NULL: not in the file, or only of chains */
    uint32_t block;            /* side of the chains' blocks; 0: there are no chains */
    int32_t *chained;          /* of each layer of a chain: the next one in it, or CNNVP_GRAPH_NONE */
    const char **chain_places; /* of each layer: its place in a chain; NULL: it is in none */
    uint32_t *blocks;          /* of each base tensor: channels that lie interleaved in memory; 0 and 1: planes */
    const char **block_places;
    unsigned char *on_chip; /* of each base tensor: 1: it stays on chip */
    const char **on_chip_places;
};

/* Makes a plan without runs, cuts and tensors. The caller clears it, also after an error. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_new(const struct cnnvp_graph *graph, struct cnnvp_plan *plan,
                                           struct cnnvp_error *error);
void cnnvp_plan_clear(struct cnnvp_plan *plan);

/* plan_file.c. BAD_INPUT: the file is wrong or does not match the network; the error has file:line:column. The build
 * checks later whether the plan fits the chip. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_read(const struct cnnvp_graph *graph, const char *file, struct cnnvp_plan *plan,
                                            struct cnnvp_error *error);
/* The name of a layer's unit in plans. */
const char *cnnvp_plan_unit_name(uint32_t unit);
/* The file of the order that the plan names; NULL: it names none. */
const char *cnnvp_plan_order_file(struct cnnvp_arena *arena, const char *plan);
/* Writes the plan; the file appears under its name only when complete. */
CNNVP_MUST_USE cnnvp_result cnnvp_plan_write(const struct cnnvp_graph *graph, const struct cnnvp_plan *plan,
                                             const char *file, struct cnnvp_error *error);
