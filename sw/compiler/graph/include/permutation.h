/* SPDX-License-Identifier: Apache-2.0 */
/* Permutations of dimensions: of one copy, or of several behind one another, between which dimensions may merge and
 * split. */
#pragma once

#include "graph.h"

/* A permutation of words that lie in `count` dimensions of these sizes: dimension i of the result is dimension
 * from[i]. */
struct cnnvp_permutation {
    uint32_t count;
    uint32_t sizes[CNNVP_GRAPH_RANK];
    uint32_t from[CNNVP_GRAPH_RANK];
};

/* That of the tensor's channels, rows and columns. */
struct cnnvp_permutation cnnvp_permutation_of(const struct cnnvp_graph_tensor *tensor, const uint32_t from[3]);
/* The one that reverses it. */
struct cnnvp_permutation cnnvp_permutation_inverse(const struct cnnvp_permutation *order);
/* Leaves out dimensions of 1, and makes one of dimensions that stay adjacent. One that moves nothing has no more than
 * one dimension then. */
void cnnvp_permutation_reduce(struct cnnvp_permutation *order);
/* The permutation that does what one does and then another one of its result, whatever dimensions that reads it in. It
 * is of the parts into which the edges of both cut the words. 0: an edge lies within a part of the other's. */
int cnnvp_permutation_join(const struct cnnvp_permutation *first, const struct cnnvp_permutation *second,
                           struct cnnvp_permutation *both);
/* 1: the layer does nothing but to permute the dimensions of what it copies. */
int cnnvp_graph_is_turn(const struct cnnvp_graph_layer *layer);
/* Such a layer that makes all words of `in`; NULL: none does. */
const struct cnnvp_graph_layer *cnnvp_graph_turning(const struct cnnvp_graph *graph, int32_t in);
/* The tensor that `in` is a copy of with permuted dimensions, if one permutation of it, *both, does what the copy and
 * then `order` of `in` do; else CNNVP_GRAPH_NONE. */
int32_t cnnvp_graph_see_through(const struct cnnvp_graph *graph, int32_t in, const struct cnnvp_permutation *order,
                                struct cnnvp_permutation *both);
