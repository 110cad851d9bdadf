/* SPDX-License-Identifier: Apache-2.0 */
/* The fused groups of a build. */
#pragma once

#include "binary_internal.h"

/* Why the layer cannot be part of a group; NULL: it can. */
const char *cnnvp_group_why_not(const struct cnnvp_graph *graph, size_t index);

/* 1: the layer is a convolution that can do the addition after it with its own results, if both are in one group.
 * Nothing else reads its map. */
int cnnvp_group_adds(const struct cnnvp_graph *graph, const struct cnnvp_build *build, size_t layer);
/* The convolution together with that addition. */
struct cnnvp_layer cnnvp_group_added(const struct cnnvp_graph *graph, const struct cnnvp_build *build, size_t layer);

/* The tensors that a member reads and makes. */
struct cnnvp_group_ends {
    int32_t in, in2, out; /* tensors of the graph; in2 may be CNNVP_GRAPH_NONE */
    int adds;             /* 1: it does the addition after it */
};
struct cnnvp_group_ends cnnvp_group_ends(const struct cnnvp_graph *graph, const struct cnnvp_build *build,
                                         const struct cnnvp_plan_group *group, size_t number);

/* Makes the members and slots of a run whose layers are described. BAD_INPUT: the run cannot be one group; the error
 * has its place. The caller clears the group if the result is DONE. */
CNNVP_MUST_USE cnnvp_result cnnvp_group_make(const struct cnnvp_graph *graph, const struct cnnvp_build *build,
                                             const struct cnnvp_plan_run *run, struct cnnvp_plan_group *group,
                                             struct cnnvp_error *error);

/* Places the slots of the group below what stays on chip while it runs, as cnnvp_plan_group_place does. */
int cnnvp_group_place(const struct cnnvp_target *target, const struct cnnvp_build *build,
                      struct cnnvp_plan_group *group, uint64_t *lack);

/* Makes the groups of the plan: places their slots and cuts their layers. Other layers stay as they are. */
CNNVP_MUST_USE cnnvp_result cnnvp_fused_plan(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                             const struct cnnvp_plan *plan, struct cnnvp_build *build,
                                             struct cnnvp_error *error);
/* Tries the same with one run. If it fits, its layers' cuts go into the plan. BAD_INPUT: it does not fit. */
CNNVP_MUST_USE cnnvp_result cnnvp_fused_try(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                            const struct cnnvp_plan_run *run, struct cnnvp_build *build,
                                            struct cnnvp_plan *plan, struct cnnvp_error *error);
/* group_search.c: finds the runs to fuse by the objective. build->finalists has the plans of the single layers. */
CNNVP_MUST_USE cnnvp_result cnnvp_fused_search(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                               const struct cnnvp_binary_options *options, struct cnnvp_build *build,
                                               struct cnnvp_plan *plan, struct cnnvp_error *error);
/* Bytes of a layer's weights, each counted once however the layer is cut. */
uint64_t cnnvp_fused_weight_bytes(const struct cnnvp_layer *layer);
/* Sets the members' `stays` and the group's `stream`. */
void cnnvp_fused_choose_weights(struct cnnvp_plan_group *group, const struct cnnvp_plan_limits *limits);
/* Places the weight tiles of a group that stay. The weight tile table is complete. */
CNNVP_MUST_USE cnnvp_result cnnvp_fused_place_weights(const struct cnnvp_target *target, struct cnnvp_build *build,
                                                      size_t number, struct cnnvp_error *error);
/* Takes over the zero points of the maps in the groups' slots. */
void cnnvp_groups_take_zeros(const struct cnnvp_graph *graph, struct cnnvp_build *build);
/* Completes the layers of groups and of chains, whose maps lie in slots. Tensors have their addresses. */
void cnnvp_groups_complete(const struct cnnvp_graph *graph, struct cnnvp_build *build);
