/* SPDX-License-Identifier: Apache-2.0 */
/* Fused groups of a build. */
#ifndef CNNVP_COMPILER_GROUP_BUILD_H
#define CNNVP_COMPILER_GROUP_BUILD_H

#include "binary.h"
#include "binary/network_binary.h"
#include "group.h"

/* NULL: the layer can be part of a group. */
const char *cnnvp_group_why_not(const struct cnnvp_graph *graph, size_t index);

/* The addition that comes after the layer is done with its results: a convolution whose map nothing else reads. The two
 * are in one group. */
int cnnvp_group_adds(const struct cnnvp_graph *graph, const struct cnnvp_build *build, size_t layer);
/* The convolution with that addition. */
struct cnnvp_layer cnnvp_group_added(const struct cnnvp_graph *graph, const struct cnnvp_build *build, size_t layer);

/* What a member reads and makes. */
struct cnnvp_group_ends {
    int32_t in, in2, out; /* tensors of the graph; in2 may be CNNVP_GRAPH_NONE */
    int adds;             /* it does the addition after it */
};
struct cnnvp_group_ends cnnvp_group_ends(const struct cnnvp_graph *graph, const struct cnnvp_build *build,
                                         const struct cnnvp_plan_group *group, size_t number);

/* Members and slots of a run whose layers are described. BAD_INPUT: it cannot be one group, with the run's place. To be
 * cleared when DONE. */
CNNVP_MUST_USE cnnvp_result cnnvp_group_make(const struct cnnvp_graph *graph, const struct cnnvp_build *build,
                                             const struct cnnvp_plan_run *run, struct cnnvp_plan_group *group,
                                             struct cnnvp_error *error);

/* The groups of a build. */
struct cnnvp_fused {
    struct cnnvp_plan_group *groups;
    size_t count;
    struct cnnvp_binary_group *table;
    struct cnnvp_binary_member *members; /* of all groups, one group's after the other's */
    size_t member_count;
    struct cnnvp_group_reach *reaches; /* rows, then columns, of one group after the other's */
    size_t reach_count;
};

/* Groups of the plan, with slots placed, and cuts for their layers. Layers that are in none are left alone. */
CNNVP_MUST_USE cnnvp_result cnnvp_fused_plan(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                             const struct cnnvp_plan *plan, struct cnnvp_build *build,
                                             struct cnnvp_error *error);
/* The same of one run, to see whether it fits: its layers' cuts go to the plan's. BAD_INPUT: it does not. */
CNNVP_MUST_USE cnnvp_result cnnvp_fused_try(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                            const struct cnnvp_plan_run *run, struct cnnvp_build *build,
                                            struct cnnvp_plan *plan, struct cnnvp_error *error);
/* group_search.c: the runs that are to be fused by the objective; build->finalists has each layer's. */
CNNVP_MUST_USE cnnvp_result cnnvp_fused_search(const struct cnnvp_graph *graph, const struct cnnvp_target *target,
                                               const struct cnnvp_binary_options *options, struct cnnvp_build *build,
                                               struct cnnvp_plan *plan, struct cnnvp_error *error);
/* A layer's weights, but for what slices repeat. */
uint64_t cnnvp_fused_weight_bytes(const struct cnnvp_layer *layer);
/* Which members' weights stay while the group runs, and the bytes of each half that serve the others. */
uint64_t cnnvp_fused_choose_weights(const struct cnnvp_plan_group *group, const struct cnnvp_plan_limits *limits,
                                    unsigned char *stays);
/* Places for the weight tiles that stay; the weight tile table is complete. */
CNNVP_MUST_USE cnnvp_result cnnvp_fused_place_weights(const struct cnnvp_target *target, struct cnnvp_build *build,
                                                      struct cnnvp_error *error);
/* The layers as tiles see them; tensors have their addresses. */
void cnnvp_fused_complete(const struct cnnvp_graph *graph, struct cnnvp_build *build);

#endif
