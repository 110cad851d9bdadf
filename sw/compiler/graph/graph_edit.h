/* SPDX-License-Identifier: Apache-2.0 */
/* Editing of a graph, for graph.c and graph_fold.c. */
#pragma once

#include <stddef.h>

#include "graph.h"

/* The first layer that makes the tensor, its base or a view of that base; -1: none. */
ptrdiff_t cnnvp_graph_producer(const struct cnnvp_graph *graph, int32_t tensor);
void cnnvp_graph_remove(struct cnnvp_graph *graph, size_t index);
/* Inserts a copy of the layer with this name at `index`. NULL: out of memory. */
struct cnnvp_graph_layer *cnnvp_graph_insert(struct cnnvp_graph *graph, size_t index,
                                             const struct cnnvp_graph_layer *layer, const char *name);
/* Removes layers whose results neither a layer nor an output of the network reads. */
void cnnvp_graph_drop_unused(struct cnnvp_graph *graph);

/* Gives a norm of one scale as many channels. 0: out of memory. */
int cnnvp_graph_spread_scale(struct cnnvp_graph *graph, struct cnnvp_graph_layer *norm, uint32_t channels);
/* 1: the layer only quantises: it divides by its output's step, rounds and applies limits. */
int cnnvp_graph_only_quantises(const struct cnnvp_graph_layer *layer);

/* graph_turn.c: leaves out permutations that undo one another, and quantises before the others. */
CNNVP_MUST_USE cnnvp_result cnnvp_graph_turn(struct cnnvp_graph *graph, struct cnnvp_error *error);
/* Lets a permutation that alone reads another one's result read what that reads, if one permutation can do both. */
CNNVP_MUST_USE cnnvp_result cnnvp_graph_join_turns(struct cnnvp_graph *graph, struct cnnvp_error *error);

/* graph_concat.c: leaves out copies of concatenations. */
void cnnvp_graph_join_parts(struct cnnvp_graph *graph);

/* graph_fold.c: folds normalisations, biases, scales and activations into the layers around them. */
CNNVP_MUST_USE cnnvp_result cnnvp_graph_fold(struct cnnvp_graph *graph, struct cnnvp_error *error);
